"""Accuracy when values really do shift at random: its exact distribution, or sampled for whole tables.

Each value changes on its own, by the distribution that its certainty stands for (`shift.chances`); labels stay. What a
tree sees of a value is only the side of each of its tests, so a feature is cut into the cells between the thresholds in
use, and each value lands in a cell with a known probability. Features change independently, so a sample is correct with
a probability that is a sum of products, and how many of all samples are is a sum of independent numbers.

Rows that stand for a whole number of people are so many rows: each person shifts alone. A row with another weight
shifts as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardwood._support.arguments import numbers_of, whole_number
from hardwood._support.errors import ArgumentError
from hardwood.data.features import BELOW_ALL, NO_ANSWER, IntArray, Table, encode
from hardwood.data.labels import Labels, encode_labels
from hardwood.shift.calibration import FloatArray
from hardwood.shift.chances import ColumnChances, chances_of
from hardwood.shift.description import ShiftDescription
from hardwood.shift.totals import Amounts, Chance, Draws, Total, distribution_of_sum
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

    def repeated(self, people: NDArray[np.int64]) -> Cells:
        """The same for a table in which each row stands so many times."""
        return Cells(self.ordered, self.codes, np.repeat(self.borders, people, axis=0), self.missing)


def expected_accuracy(tree: Tree, table: Table, labels: Labels, shifts: ShiftDescription) -> float:
    """The share of samples that are correct on average over all random shifts: exact, nothing is drawn."""
    worth = labels.row_people * labels.row_worth
    return float(correct_chances(tree, table, labels, shifts) @ worth) / labels.total


def correct_chances(tree: Tree, table: Table, labels: Labels, shifts: ShiftDescription) -> FloatArray:
    """The probability that each row is correct after a random shift.

    Features change independently, so a row ends in a leaf with the product of the probabilities of its limits.
    """
    tree.check_table(table)
    cells = _cells([tree], table, labels, shifts)
    chances = np.zeros(table.n_samples)

    def add(node: Node, allowed: dict[int, NDArray[np.bool_]]) -> None:
        if isinstance(node, Leaf):
            there = labels.codes == node.label
            chance = np.ones(np.count_nonzero(there))
            for j, own in allowed.items():
                chance *= cells[j].probability(own)[there]
            chances[there] += chance
            return
        left = cells[node.feature].left(node)
        everywhere = np.ones(len(left), dtype=bool)
        for child, side in ((node.left, left), (node.right, ~left)):
            add(child, allowed | {node.feature: allowed.get(node.feature, everywhere) & side})

    add(tree.root, {})
    return np.clip(chances, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class AccuracyDistribution:
    """How accurate a tree is on a table that shifts at random: the exact distribution.

    chances  the probability that each row is correct after the shift
    total    what all samples are worth together: their number if each is worth one
    nominal  accuracy as the table stands
    correct  the distribution of the number of samples that are correct, or of what these are worth
    """

    chances: FloatArray
    total: float
    nominal: float
    correct: Total | Draws

    @property
    def mean(self) -> float:
        """Accuracy on average over all shifts."""
        return self.correct.mean / self.total

    @property
    def deviation(self) -> float:
        """Standard deviation of the accuracy."""
        return self.correct.deviation / self.total

    def quantile(self, share: float) -> float:
        """The accuracy that is not exceeded with this probability: 0.05 gives what 95 in 100 shifts reach."""
        level = numbers_of("share", share)
        if level.ndim != 0 or not 0 < level <= 1:
            raise ArgumentError("share", share, "it must lie in (0, 1]")
        return self.correct.quantile(float(level)) / self.total

    def at_least(self, accuracy: float) -> Chance:
        """The probability of this accuracy, or a higher one."""
        level = numbers_of("accuracy", accuracy)
        if level.ndim != 0 or not 0 <= level <= 1:
            raise ArgumentError("accuracy", accuracy, "it must lie in [0, 1]")
        return self.correct.at_least(float(level) * self.total)

    @cached_property
    def points(self) -> tuple[FloatArray, FloatArray]:
        """Accuracies, and the chance of each; of a grid where weights are no whole numbers."""
        return self.correct.points / self.total, self.correct.chances

    def bars(self, most: int) -> tuple[FloatArray, FloatArray]:
        """Where the distribution is, in at most so many bars: their edges, and the chance of each.

        Each bar has as many points of the distribution, so that none is empty by accident.
        """
        places, chances = self.points
        there = (places >= self.quantile(1e-5)) & (places <= self.quantile(1.0 - 1e-5))
        places, chances = places[there], chances[there]
        if isinstance(self.correct, Draws):
            counts, edges = np.histogram(places, bins=most, weights=chances)
            return edges, counts
        step = -(-len(places) // most)
        firsts = np.arange(0, len(places), step)
        gap = float(places[1] - places[0]) if len(places) > 1 else 0.01
        edges = np.append(places[firsts], places[firsts[-1]] + step * gap) - gap / 2
        return edges, np.add.reduceat(chances, firsts)

    def plot(self, guarantee: float | None = None, ax: Any = None) -> Any:
        """How likely each accuracy is, perhaps beside a guarantee; returns the axes."""
        from hardwood.plotting import plot_accuracy

        return plot_accuracy({"this tree": self}, guarantee=guarantee, ax=ax)

    def __str__(self) -> str:
        low, median, high = (self.quantile(share) for share in (0.05, 0.5, 0.95))
        return (
            f"{self.nominal:.1%} correct as the table stands, {self.mean:.1%} on average over random shifts "
            f"(95 in 100 shifts keep at least {low:.1%}, half of them {median:.1%}, 5 in 100 {high:.1%})"
        )

    def to_dict(self) -> dict[str, float]:
        """The numbers, ready for JSON."""
        shares = (0.01, 0.05, 0.5, 0.95, 0.99)
        return {"nominal": self.nominal, "mean": self.mean, "deviation": self.deviation} | {
            f"quantile_{share:g}": self.quantile(share) for share in shares
        }


def distribution_of(tree: Tree, table: Table, labels: Labels, shifts: ShiftDescription) -> AccuracyDistribution:
    """How accurate a tree is on a table that shifts at random: mean, quantiles and the whole distribution, exactly."""
    chances = correct_chances(tree, table, labels, shifts)
    if labels.whole:  # each person is right or wrong alone
        each, counts = labels.row_worth, labels.row_people.astype(np.int64)
    else:
        each, counts = labels.row_people * labels.row_worth, np.ones(table.n_samples, dtype=np.int64)
    kinds, place = np.unique(np.column_stack([each, chances]), axis=0, return_inverse=True)
    times = np.bincount(place.ravel(), weights=counts, minlength=len(kinds)).round().astype(np.int64)
    amounts = (
        Amounts(np.array([0.0, worth]), np.array([1.0 - chance, chance]), int(count))
        for (worth, chance), count in zip(kinds, times, strict=True)
    )
    nominal = labels.worth_of(tree.predict(table) == labels.codes) / labels.total
    return AccuracyDistribution(chances, labels.total, nominal, distribution_of_sum(amounts))


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

    All trees see the same tables. The same seed draws the same tables for trees that ask for the same features. For
    one tree, `distribution_of` knows the exact distribution.

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
    if labels.whole and labels.weights is not None:  # each person shifts alone
        people = labels.weights.astype(np.int64)
        cells = {j: own.repeated(people) for j, own in cells.items()}
        labels = Labels(np.repeat(labels.codes, people), labels.classes, worth=labels.worth)
    n_rows = len(labels.codes)
    plain = labels.weights is None and labels.worth is None
    shares = labels.row_people * labels.row_worth / labels.total
    streams = {j: np.random.default_rng([seed, j]) for j in cells}
    size = max(1, CHUNK // n_rows)
    found = [np.empty((len(trees), 0))]
    for first in range(0, n_tables, size):
        shape = (min(size, n_tables - first), n_rows)
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
    for j, column in enumerate(chances_of(table, labels.row_people, shifts)):
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
    columns = chances_of(table, labels.row_people, shifts)
    return {j: _cells_of(columns[j], sorted(codes - {BELOW_ALL})) for j, codes in asked.items()}


def _cells_of(column: ColumnChances, codes: list[int]) -> Cells:
    """The cells between the codes that are asked for, and one for no answer where that is one of the values."""
    borders = np.cumsum(column.within(codes), axis=1)[:, :-1]
    return Cells(column.feature.ordered, tuple(codes), borders, column.feature.missing)
