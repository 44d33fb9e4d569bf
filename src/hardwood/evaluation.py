"""Accuracy when values really do shift at random: computed exactly on average, or sampled for whole tables.

Each value changes on its own, by the distribution that its certainty stands for (`calibration`); labels stay. What a
tree sees of a value is only the side of each of its tests, so a feature is cut into the cells between the thresholds in
use, and each value lands in a cell with a known probability.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardwood._support.arguments import by_feature, numbers_of, whole_number
from hardwood.data.columns import MISSING
from hardwood.data.features import BELOW_ALL, NO_ANSWER, Feature, IntArray, Table, encode
from hardwood.data.labels import Labels, encode_labels
from hardwood.shift.calibration import (
    FloatArray,
    Reach,
    below_probability,
    by_feature_and_sample,
    feature_certainty,
    missing_price,
    on_scale,
    reaches,
)
from hardwood.shift.description import ShiftDescription
from hardwood.shift.tables import chance_table, is_table
from hardwood.trees.tree import Branch, Leaf, Node, Tree

CHUNK = 4_000_000  # values drawn at a time


@dataclass(frozen=True)
class Cells:
    """The cells of a feature that some trees tell apart, and how likely each sample ends up in each.

    codes    thresholds, ascending; for a categorical feature, the categories asked for (all others are a cell, too)
    borders  samples by cells but the last: probability of ending in that cell or in one before
    missing  whether the last cell is for no answer
    """

    ordered: bool
    codes: tuple[int, ...]
    borders: FloatArray
    missing: bool = False

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return int(self.borders.shape[1]) + 1

    def draw(self, uniform: NDArray[np.float32]) -> NDArray[np.uint16]:
        """The cell of each sample for numbers drawn between 0 and 1; the last axis is the samples."""
        cells = np.zeros(uniform.shape, dtype=np.uint16)
        for border in self.borders.T.astype(np.float32):
            cells += uniform >= border
        return cells

    def left(self, branch: Branch) -> NDArray[np.bool_]:
        """Which cells a test sends to the left."""
        cells = np.arange(self.n_cells)
        if branch.code == BELOW_ALL:
            on_left = np.zeros(self.n_cells, dtype=bool)
        else:
            at = self.codes.index(branch.code)
            on_left = cells <= at if self.ordered else cells == at
        if self.missing:
            on_left[-1] = branch.missing_left
        return on_left

    def probability(self, cells: NDArray[np.bool_]) -> FloatArray:
        """Of ending in one of some cells, for each sample."""
        ends = np.column_stack([np.zeros(len(self.borders)), self.borders, np.ones(len(self.borders))])
        return np.asarray(np.diff(ends, axis=1)[:, cells].sum(axis=1))


def expected_accuracy(tree: Tree, table: Table, labels: Labels, shifts: ShiftDescription) -> float:
    """The share of samples that are correct on average over all random shifts: exact, nothing is drawn.

    Features change independently, so a sample ends in a leaf with the product of the probabilities of its limits.
    """
    tree.check_table(table)
    cells = _cells([tree], table, labels, shifts)
    worth = labels.row_people * labels.row_worth

    def correct(node: Node, allowed: dict[int, NDArray[np.bool_]]) -> float:
        if isinstance(node, Leaf):
            chance = np.ones(table.n_samples)
            for j, own in allowed.items():
                chance *= cells[j].probability(own)
            return float((chance * worth)[labels.codes == node.label].sum())
        total = 0.0
        left = cells[node.feature].left(node)
        everywhere = np.ones(len(left), dtype=bool)
        for child, side in ((node.left, left), (node.right, ~left)):
            total += correct(child, allowed | {node.feature: allowed.get(node.feature, everywhere) & side})
        return total

    return correct(tree.root, {}) / labels.total


def simulate_shifts(
    trees: Sequence[Tree],
    table: Any,
    labels: Any,
    shifts: ShiftDescription,
    *,
    n_tables: int = 5000,
    seed: int = 0,
    missing_values: Any = None,
) -> FloatArray:
    """Shift a table at random many times; the accuracy of each tree on each table (trees by tables).

    All trees see the same tables. The same seed draws the same tables for trees that ask for the same features.

    table   a `Table`, or a frame or array as the first tree reads it
    labels  `Labels`, or a label for each row
    missing_values  answers of a frame that mean none, as in `RobustTreeClassifier`
    """
    n_tables = whole_number("n_tables", n_tables, at_least=1)
    if not trees:
        raise ValueError("trees are empty; give at least one")
    if not isinstance(table, Table):
        table = encode(table, features=trees[0].features, missing_values=missing_values)
    if not isinstance(labels, Labels):
        labels = encode_labels(labels, table.n_samples, classes=trees[0].classes)
    for tree in trees:
        tree.check_table(table)
        if tree.classes != labels.classes:
            raise ValueError(f"a tree knows the classes {list(tree.classes)}, the labels {list(labels.classes)}")
    cells = _cells(trees, table, labels, shifts)
    plain = labels.weights is None and labels.worth is None
    shares = labels.row_people * labels.row_worth / labels.total
    streams = {j: np.random.default_rng([seed, j]) for j in cells}
    size = max(1, CHUNK // table.n_samples)
    found = [np.empty((len(trees), 0))]
    for first in range(0, n_tables, size):
        shape = (min(size, n_tables - first), table.n_samples)
        drawn = {j: own.draw(streams[j].random(shape, dtype=np.float32)) for j, own in cells.items()}
        right = (_right(tree.root, cells, drawn, labels, shape) for tree in trees)
        found.append(np.array([own.mean(axis=1) if plain else own @ shares for own in right]))
    return np.concatenate(found, axis=1)


def shifted_tables(
    table: Table, labels: Labels, shifts: ShiftDescription, *, n_tables: int = 100, seed: int = 0
) -> Iterator[Table]:
    """Tables whose values shift at random, for models that are no trees.

    Integers that would leave the range of their column stay at its end: beyond, no model has seen anything.
    """
    n_tables = whole_number("n_tables", n_tables, at_least=1)
    cells = _all_cells(table, labels, shifts)
    draw = np.random.default_rng(seed)
    for _ in range(n_tables):
        values = np.empty(table.values.shape, dtype=np.int32, order="F")
        for j, (own, codes) in enumerate(cells):
            values[:, j] = codes[own.draw(draw.random(table.n_samples, dtype=np.float32))]
        yield Table(table.features, values)


def _all_cells(table: Table, labels: Labels, shifts: ShiftDescription) -> list[tuple[Cells, IntArray]]:
    """For each feature the cells of its single values, and the codes of these."""
    found = []
    for j, column in enumerate(_columns(table, labels, shifts)):
        feature = table.features[j]
        codes = list(range(feature.low, feature.high + 1))
        there = table.values[:, j] != NO_ANSWER
        if feature.ordered and there.any():
            seen = table.values[there, j]
            codes = list(range(min(feature.low, int(seen.min())), max(feature.high, int(seen.max())) + 1))
        asked = codes[:-1] if feature.ordered else codes
        own = _cells_of(column, asked)
        values = codes if feature.ordered else [*codes, codes[-1]]
        found.append((own, np.array([*values, *([NO_ANSWER] if feature.missing else [])], dtype=np.int32)))
    return found


def _right(
    node: Node, cells: dict[int, Cells], drawn: dict[int, NDArray[np.uint16]], labels: Labels, shape: tuple[int, int]
) -> NDArray[np.bool_]:
    if isinstance(node, Leaf):
        return np.broadcast_to(labels.codes == node.label, shape)
    goes_left = cells[node.feature].left(node)[drawn[node.feature]]
    left, right = (_right(child, cells, drawn, labels, shape) for child in (node.left, node.right))
    return np.where(goes_left, left, right)


def _cells(trees: Sequence[Tree], table: Table, labels: Labels, shifts: ShiftDescription) -> dict[int, Cells]:
    asked: dict[int, set[int]] = {}
    for tree in trees:
        for node in tree.nodes:
            if isinstance(node, Branch):
                asked.setdefault(node.feature, set()).add(node.code)
    columns = _columns(table, labels, shifts)
    return {j: _cells_of(columns[j], sorted(codes - {BELOW_ALL})) for j, codes in asked.items()}


def _columns(table: Table, labels: Labels, shifts: ShiftDescription) -> list[_Column]:
    reach = reaches(table, shifts.direction, shifts.bounds)
    entries = by_feature_and_sample("certainty", shifts.certainty, table)
    known = by_feature("missing_certainty", shifts.missing_certainty, table.names, default=None)
    return [
        _Column(table, j, labels.row_people, reach[j], entries[j], known[j], shifts.clip)
        for j in range(len(table.features))
    ]


@dataclass(frozen=True)
class _Column:
    """What is known about the chances of one column."""

    table: Table
    j: int
    people: FloatArray
    reach: Reach
    certainty: Any
    missing_certainty: Any
    clip: bool

    @property
    def feature(self) -> Feature:
        return self.table.features[self.j]

    @property
    def values(self) -> IntArray:
        return self.table.values[:, self.j]


def _cells_of(column: _Column, codes: list[int]) -> Cells:
    """The cells between the codes that are asked for, and one for no answer where that is one of the values."""
    feature = column.feature
    if is_table(column.certainty):
        chances = _chances_by_table(column, codes)
    elif feature.missing:
        chances = _with_none(column, _chances(column, codes), codes)
    elif MISSING in feature.categories and column.missing_certainty is not None:
        chances = _chances_beside_none(column, codes)
    else:
        chances = _chances(column, codes)
    return Cells(feature.ordered, tuple(codes), np.cumsum(chances, axis=1)[:, :-1], feature.missing)


def _chances(column: _Column, codes: list[int]) -> FloatArray:
    """Samples by cells: of answers that stay answers."""
    feature, values = column.feature, on_scale(column.table, column.j)
    certainty = feature_certainty(column.table, column.j, column.reach, column.certainty, clip=column.clip)
    rho = np.broadcast_to(certainty, values.shape)
    if feature.ordered:
        below = [below_probability(rho, values, column.reach, code) for code in codes]
        ends = np.column_stack([np.zeros(len(values)), *below, np.ones(len(values))])
        return np.asarray(np.diff(ends, axis=1))
    other = (1.0 - rho) / max(feature.n_values - 1, 1)
    own = [np.where(values == code, rho, other) for code in codes]
    return np.column_stack([*own, 1.0 - np.sum(own, axis=0)])


def _with_none(column: _Column, chances: FloatArray, codes: list[int]) -> FloatArray:
    """The same with a cell for no answer. Whoever gives an answer after all gives one as the others of the table do."""
    known = column.certainty if column.missing_certainty is None else column.missing_certainty
    stays = np.broadcast_to(np.clip(numbers_of("missing_certainty", known), 0.5, 1.0), column.values.shape)
    missing_price(column.feature, known, len(column.values), clip=column.clip)  # says what is wrong with it
    gone = column.values == NO_ANSWER
    cells = np.searchsorted(codes, column.values[~gone], side="left")
    others = np.bincount(cells, weights=column.people[~gone], minlength=len(codes) + 1)
    usual = others / others.sum() if others.any() else np.full(len(others), 1.0 / len(others))
    answer = np.where(gone, 1.0 - stays, stays)[:, None]
    return np.column_stack([np.where(gone[:, None], usual, chances) * answer, 1.0 - answer])


def _chances_beside_none(column: _Column, codes: list[int]) -> FloatArray:
    """A categorical feature whose category for no answer has a certainty of its own; the others share the rest."""
    feature, values = column.feature, column.values
    n, none = feature.n_values, feature.categories.index(MISSING)
    stays = float(np.clip(column.missing_certainty, 0.5, 1.0))
    rho = float(feature_certainty(column.table, column.j, column.reach, column.certainty, clip=column.clip)[0])
    matrix = np.full((n, n), stays * (1.0 - rho) / max(n - 2, 1))
    np.fill_diagonal(matrix, stays * (rho if n > 2 else 1.0))
    matrix[:, none] = 1.0 - stays
    matrix[none, :] = (1.0 - stays) / (n - 1)
    matrix[none, none] = stays
    own = [matrix[values, code] for code in codes]
    return np.column_stack([*own, 1.0 - np.sum(own, axis=0)])


def _chances_by_table(column: _Column, codes: list[int]) -> FloatArray:
    """As it was measured."""
    feature, values = column.feature, column.values
    table = chance_table(feature, values, column.certainty)
    listed = table.codes[table.codes != NO_ANSWER]
    place, there = table.places(values)
    if feature.ordered:
        cell = np.searchsorted(codes, listed, side="left")
    else:
        cell = np.array([codes.index(code) if code in codes else len(codes) for code in listed])
    by_cell = np.zeros((len(table.codes), len(codes) + 1))
    for k, own in enumerate(cell):
        by_cell[:, own] += table.numbers[:, k]
    if not feature.missing:
        return np.asarray(by_cell[place])
    if len(listed) < len(table.codes):
        return np.column_stack([by_cell[place], table.numbers[place, -1]])
    return _with_none(column, by_cell[np.where(there, place, 0)], codes)
