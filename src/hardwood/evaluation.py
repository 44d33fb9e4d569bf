"""Accuracy when values really do shift at random: computed exactly on average, or sampled for whole tables.

Each value changes on its own, by the distribution that its certainty stands for (`calibration`); labels stay. What a
tree sees of a value is only the side of each of its tests, so a feature is cut into the cells between the thresholds in
use, and each value lands in a cell with a known probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardwood._support.arguments import whole_number
from hardwood.data.features import Feature, Table
from hardwood.data.labels import Labels
from hardwood.shift.calibration import FloatArray, Reach, below_probability, checked_certainty, reaches
from hardwood.shift.description import ShiftDescription
from hardwood.trees.tree import Branch, Leaf, Node, Tree

CHUNK = 4_000_000  # values drawn at a time


@dataclass(frozen=True)
class Cells:
    """The cells of a feature that some trees tell apart, and how likely each sample ends up below each border.

    codes   thresholds, ascending; for a categorical feature, the categories asked for (all others are the last cell)
    borders samples by codes: probability of ending in cell k or before
    """

    ordered: bool
    codes: tuple[int, ...]
    borders: FloatArray

    def draw(self, uniform: NDArray[np.float32]) -> NDArray[np.uint16]:
        """The cell of each sample for numbers drawn between 0 and 1; the last axis is the samples."""
        cells = np.zeros(uniform.shape, dtype=np.uint16)
        for border in self.borders.T.astype(np.float32):
            cells += uniform >= border
        return cells

    def left(self, code: int, cells: NDArray[np.uint16]) -> NDArray[np.bool_]:
        """Whether a test sends cells to the left."""
        at = self.codes.index(code)
        return np.asarray(cells <= at if self.ordered else cells == at)

    def probability(self, low: int, high: int) -> FloatArray:
        """Of ending in a cell from low to high, for each sample."""
        ends = np.column_stack([np.zeros(len(self.borders)), self.borders, np.ones(len(self.borders))])
        return np.asarray(ends[:, high + 1] - ends[:, low])


def expected_accuracy(tree: Tree, table: Table, labels: Labels, shifts: ShiftDescription) -> float:
    """The share of samples that are correct on average over all random shifts: exact, nothing is drawn.

    Features change independently, so a sample ends in a leaf with the product of the probabilities of its limits.
    """
    tree.check_table(table)
    cells = _cells([tree], table, shifts)
    worth = labels.row_people * labels.row_worth

    def correct(node: Node, limits: dict[int, list[tuple[int, bool]]]) -> float:
        if isinstance(node, Leaf):
            chance = np.ones(table.n_samples)
            for j, tests in limits.items():
                chance *= _chance(cells[j], tests)
            return float((chance * worth)[labels.codes == node.label].sum())
        total = 0.0
        for child, left in ((node.left, True), (node.right, False)):
            own = limits | {node.feature: [*limits.get(node.feature, []), (node.code, left)]}
            total += correct(child, own)
        return total

    return correct(tree.root, {}) / labels.total


def simulate_shifts(
    trees: Sequence[Tree],
    table: Table,
    labels: Labels,
    shifts: ShiftDescription,
    *,
    n_tables: int = 5000,
    seed: int = 0,
) -> FloatArray:
    """Shift a table at random many times; the accuracy of each tree on each table (trees by tables).

    All trees see the same tables. The same seed draws the same tables for trees that ask for the same features.
    """
    n_tables = whole_number("n_tables", n_tables, at_least=1)
    for tree in trees:
        tree.check_table(table)
        if tree.classes != labels.classes:
            raise ValueError(f"a tree knows the classes {list(tree.classes)}, the labels {list(labels.classes)}")
    cells = _cells(trees, table, shifts)
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


def _right(
    node: Node, cells: dict[int, Cells], drawn: dict[int, NDArray[np.uint16]], labels: Labels, shape: tuple[int, int]
) -> NDArray[np.bool_]:
    if isinstance(node, Leaf):
        return np.broadcast_to(labels.codes == node.label, shape)
    goes_left = cells[node.feature].left(node.code, drawn[node.feature])
    left, right = (_right(child, cells, drawn, labels, shape) for child in (node.left, node.right))
    return np.where(goes_left, left, right)


def _cells(trees: Sequence[Tree], table: Table, shifts: ShiftDescription) -> dict[int, Cells]:
    asked: dict[int, set[int]] = {}
    for tree in trees:
        for node in tree.nodes:
            if isinstance(node, Branch):
                asked.setdefault(node.feature, set()).add(node.code)
    reach = reaches(table, shifts.direction, shifts.bounds)
    certainty = checked_certainty(table, reach, shifts.certainty, clip=shifts.clip)
    return {
        j: _cells_of(table.features[j], table.values[:, j], reach[j], certainty[j], sorted(codes))
        for j, codes in asked.items()
    }


def _cells_of(
    feature: Feature, values: NDArray[np.int32], reach: Reach, certainty: FloatArray, codes: list[int]
) -> Cells:
    rho = np.broadcast_to(certainty, values.shape)
    if feature.ordered:
        borders = [below_probability(rho, values, reach, code) for code in codes]
    else:
        other = (1.0 - rho) / max(feature.n_values - 1, 1)
        borders = list(np.cumsum([np.where(values == code, rho, other) for code in codes], axis=0))
    return Cells(feature.ordered, tuple(codes), np.column_stack(borders))


def _chance(cells: Cells, tests: list[tuple[int, bool]]) -> FloatArray:
    """The probability that all of some tests on a feature come out as given."""
    if cells.ordered:
        low, high = 0, len(cells.codes)
        for code, left in tests:
            at = cells.codes.index(code)
            low, high = (low, min(high, at)) if left else (max(low, at + 1), high)
        return cells.probability(low, high) if low <= high else np.zeros(len(cells.borders))
    allowed = set(range(len(cells.codes) + 1))
    for code, left in tests:
        asked = {cells.codes.index(code)}
        allowed = allowed & asked if left else allowed - asked
    return np.asarray(sum((cells.probability(k, k) for k in allowed), np.zeros(len(cells.borders))))
