"""The worst shift of a table for a given tree, exactly.

The margin of a sample is the smallest price that makes the tree misclassify it: 0 if it is wrong as it stands, +inf if
no move can. Samples shift independently and share one budget, so the adversary buys the cheapest samples first, and

    correct in the worst case = samples - max { k : the k smallest margins add up to at most the budget }.

The paper's set uses "at most", its Algorithm 1 prints a strict sign; we follow the set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardwood._support import compiled
from hardwood._support.arguments import numbers_of
from hardwood.data.features import Category, IntArray, Labels, Table
from hardwood.shift.calibration import Direction, FloatArray, Reach, budget_of
from hardwood.shift.uncertainty import MoveCosts, UncertaintySet, allowance
from hardwood.trees.tree import Limit, Region, Tree

_LOWEST, _HIGHEST = np.iinfo(np.int32).min, np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Change:
    """One changed value: sample, column name, the recorded and the shifted value, and what the change costs."""

    row: int
    column: str
    old: Category
    new: Category
    price: float


@dataclass(frozen=True, eq=False)
class Shift:
    """A perturbation of a table: the changed cells, in the order in which the adversary buys them."""

    table: Table = field(repr=False)
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    codes: IntArray
    prices: FloatArray

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Change]:
        for row, j, code, price in zip(self.rows, self.columns, self.codes, self.prices, strict=True):
            feature = self.table.features[j]
            old = feature.decode(int(self.table.values[row, j]))
            yield Change(int(row), feature.name, old, feature.decode(int(code)), float(price))

    def to_dict(self) -> dict[str, list[int] | list[str] | list[Category] | list[float]]:
        """Columns row, column, from, to, price, ready for a frame. From and to hold values of all kinds of columns."""
        changes = list(self)
        return {
            "row": [change.row for change in changes],
            "column": [change.column for change in changes],
            "from": [change.old for change in changes],
            "to": [change.new for change in changes],
            "price": [change.price for change in changes],
        }

    def grouped(self) -> list[dict[str, Any]]:
        """Equal changes together, most frequent first: column, from, to, how many rows, and the price of all."""
        old = self.table.values[self.rows, self.columns]
        kinds, first, place, counts = np.unique(
            np.column_stack([self.columns, old, self.codes]),
            axis=0,
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        prices = np.bincount(place.ravel(), weights=self.prices, minlength=len(kinds))
        found = []
        for k in np.lexsort((first, -counts)):
            feature = self.table.features[kinds[k, 0]]
            found.append(
                {
                    "column": feature.name,
                    "from": feature.decode(int(kinds[k, 1])),
                    "to": feature.decode(int(kinds[k, 2])),
                    "rows": int(counts[k]),
                    "price": float(prices[k]),
                }
            )
        return found

    def apply(self) -> Table:
        """The table after the shift."""
        values = self.table.values.copy(order="F")
        values[self.rows, self.columns] = self.codes
        return Table(self.table.features, values)


@dataclass(frozen=True, eq=False)
class Curve:
    """Samples correct in the worst case for every budget: a staircase that falls whenever one more sample is bought.

    margins  the different prices of samples that can be lost at all, ascending
    counts   how many samples have each

    Prices are those of the attack's set, rounded down to its unit: exact at the set's own budget. For a budget much
    smaller than that, take a set of its own if prices within 2^-47 of the larger budget are too coarse.
    """

    n_samples: int
    margins: FloatArray
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, margins: FloatArray) -> Curve:
        """The curve of samples with these margins."""
        different, counts = np.unique(margins[np.isfinite(margins)], return_counts=True)
        return cls(len(margins), different, counts.astype(np.int64))

    def __add__(self, other: Curve) -> Curve:
        """The curve of the samples of both."""
        margins, place = np.unique(np.concatenate([self.margins, other.margins]), return_inverse=True)
        counts = np.zeros(margins.size, dtype=np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        return Curve(self.n_samples + other.n_samples, margins, counts)

    @property
    def budgets(self) -> FloatArray:
        """Where the staircase falls, a budget for each sample: what all samples up to it cost together."""
        return np.cumsum(np.repeat(self.margins, self.counts))

    def correct_at(self, budget: ArrayLike) -> NDArray[np.intp]:
        """Samples correct after the worst shift that a budget affords; for one budget or many."""
        given = numbers_of("budget", budget)
        if not (given >= 0).all():
            raise ValueError(f"budget is {budget!r}; expected numbers >= 0")
        return np.asarray(self.n_samples - self._lost(allowance(1.0) * given), dtype=np.intp)

    def _lost(self, spend: FloatArray) -> NDArray[np.int64]:
        """Samples that a total pays for: all with the smaller margins, and some of those with the next one."""
        paid = np.concatenate([[0.0], np.cumsum(self.margins * self.counts)])
        lost = np.concatenate([[0], np.cumsum(self.counts)])
        groups = np.searchsorted(paid[1:], spend, side="right")  # that are lost as a whole
        margin, before = np.append(self.margins, 1.0)[groups], paid[groups]
        # Totals of prices are exact up to the budget, a quotient is not: it may be one too large or too small.
        more = np.floor((spend - before) / margin)
        more = np.where(before + (more + 1) * margin <= spend, more + 1, more)
        more = np.where((more > 0) & (before + more * margin > spend), more - 1, more)
        return np.asarray(lost[groups] + np.where(groups < self.margins.size, more, 0.0).astype(np.int64))

    def accuracy_at(self, budget: ArrayLike) -> FloatArray:
        """The same as a share of all samples."""
        return np.asarray(self.correct_at(budget) / self.n_samples)

    def accuracy_at_plausibility(self, plausibility: float) -> float:
        """Worst-case accuracy at the budget of a plausibility."""
        return float(self.accuracy_at(budget_of(plausibility, self.n_samples)))


@dataclass(frozen=True, eq=False)
class Attack:
    """What the adversary can do to a tree: margins of all samples, and the worst shift that the budget affords."""

    tree: Tree
    labels: Labels = field(repr=False)
    uncertainty: UncertaintySet = field(repr=False)
    margins: FloatArray = field(repr=False)
    _region_of: IntArray = field(repr=False)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.margins)

    @cached_property
    def nominal_correct(self) -> int:
        """Samples that the tree classifies correctly as they stand."""
        return int((self.tree.predict(self._table) == self.labels.codes).sum())

    @property
    def worst_case_correct(self) -> int:
        """Samples still classified correctly after the worst affordable shift."""
        return self.n_samples - len(self.lost)

    @property
    def nominal_accuracy(self) -> float:
        """Share of samples that are correct as they stand."""
        return self.nominal_correct / self.n_samples

    @property
    def worst_case_accuracy(self) -> float:
        """Share of samples that are correct after the worst affordable shift."""
        return self.worst_case_correct / self.n_samples

    @property
    def spent(self) -> float:
        """What the worst shift costs."""
        return float(self.margins[self.lost].sum())

    @cached_property
    def lost(self) -> NDArray[np.intp]:
        """Rows misclassified after the worst shift, by margin and then by row."""
        order, totals = self._purchases
        return order[: int(np.count_nonzero(self.uncertainty.affords(totals)))]

    @property
    def priced_value(self) -> float:
        """The worst case if the last sample may be lost in part: the value of the distributionally robust problem.

        `worst_case_correct` is this, rounded up.
        """
        order, totals = self._purchases
        n_lost = len(self.lost)
        if n_lost == len(order):
            return float(self.n_samples - n_lost)
        spent = totals[n_lost - 1] if n_lost else 0.0
        part = (self.uncertainty.spendable - spent) / self.margins[order[n_lost]]
        return float(self.n_samples - n_lost - part)

    @cached_property
    def curve(self) -> Curve:
        """Worst-case accuracy for every budget."""
        return Curve.of(self.margins)

    @cached_property
    def shift(self) -> Shift:
        """The worst shift itself; samples that are wrong as they stand need no change."""
        return self.shift_of(self.lost)

    def shift_of(self, rows: NDArray[np.intp]) -> Shift:
        """The cheapest shift that makes the tree wrong on all of the given rows, whatever the budget.

        Their margins must be finite.
        """
        return _moves_into(self.uncertainty.costs, rows, self._region_of[rows], self.tree.regions)

    @property
    def _table(self) -> Table:
        return self.uncertainty.costs.table

    @cached_property
    def _purchases(self) -> tuple[NDArray[np.intp], FloatArray]:
        """Rows that can be lost at all, cheapest first and then by row, and the running total of their margins."""
        order = np.argsort(self.margins, kind="stable")
        order = order[: int(np.count_nonzero(np.isfinite(self.margins)))]
        return order, np.cumsum(self.margins[order])


def attack(tree: Tree, labels: Labels, uncertainty: UncertaintySet) -> Attack:
    """Let the adversary loose on a tree: exact margins, worst case, worst shift and curve over all budgets."""
    if not isinstance(labels, Labels):
        raise TypeError(f"labels are a {type(labels).__name__}; expected what hardwood.encode_labels returns")
    table = uncertainty.costs.table
    tree.check_table(table)
    if len(labels.codes) != table.n_samples:
        raise ValueError(f"there are {len(labels.codes)} labels but {table.n_samples} rows; expected as many")
    if labels.classes != tree.classes:
        raise ValueError(
            f"the labels know the classes {list(labels.classes)}, the tree {list(tree.classes)}; "
            f"encode the labels with classes=tree.classes"
        )
    regions = [_compiled_region(tree, region) for region in tree.regions]
    margins, region_of = compiled.margins(table.values, compiled_prices(uncertainty), labels.codes, regions)
    # A sample that is wrong as it stands stays where it is, even if it could go elsewhere for nothing.
    leaf_of = tree.leaf_of(table)
    leaf_labels = np.array([region.label for region in tree.regions], dtype=np.int32)
    wrong = leaf_labels[leaf_of] != labels.codes
    region_of[wrong] = leaf_of[wrong]
    return Attack(tree, labels, uncertainty, margins, region_of)


def leaf_prices(tree: Tree, uncertainty: UncertaintySet) -> FloatArray:
    """The cheapest price of bringing each sample into each leaf, from left to right: samples by leaves."""
    tree.check_table(uncertainty.costs.table)
    labels = np.zeros(uncertainty.costs.table.n_samples, dtype=np.int32)
    prices = compiled_prices(uncertainty)
    columns = []
    for region in tree.regions:
        # A single region with a label that nobody has: the margin is the price of getting there.
        alone = _compiled_region(tree, Region(1, region.limits))
        columns.append(compiled.margins(uncertainty.costs.table.values, prices, labels, [alone])[0])
    return np.column_stack(columns)


def moves_into(tree: Tree, uncertainty: UncertaintySet, rows: NDArray[np.intp], leaves: IntArray) -> Shift:
    """The cheapest moves that bring each row into its leaf; each row once, and its price must be finite."""
    return _moves_into(uncertainty.costs, rows, leaves, tree.regions)


def compiled_prices(uncertainty: UncertaintySet) -> list[compiled.FeaturePrices]:
    """The prices of a set for the compiled part; nothing is copied."""
    costs = uncertainty.costs
    return [
        _compiled_prices(prices, feature.ordered, reach)
        for feature, prices, reach in zip(costs.table.features, costs.prices, costs.reach, strict=True)
    ]


def _compiled_prices(prices: FloatArray, ordered: bool, reach: Reach) -> compiled.FeaturePrices:
    return compiled.FeaturePrices(
        np.ascontiguousarray(prices),
        ordered,
        may_rise=reach.direction is not Direction.DOWN,
        may_fall=reach.direction is not Direction.UP,
        lower=_LOWEST if reach.lower is None else max(reach.lower, _LOWEST),
        upper=_HIGHEST if reach.upper is None else min(reach.upper, _HIGHEST),
        steps=_HIGHEST if reach.steps is None else min(reach.steps, _HIGHEST),
    )


def _compiled_region(tree: Tree, region: Region) -> compiled.Region:
    limits = []
    for limit in region.limits:
        n_values = 0 if limit.allowed is None else tree.features[limit.feature].n_values
        limits.append(
            compiled.Limit(
                limit.feature,
                _LOWEST if limit.low is None else limit.low,
                _HIGHEST if limit.high is None else limit.high,
                [int(k in (limit.allowed or ())) for k in range(n_values)],
            )
        )
    return compiled.Region(region.label, limits)


def _moves_into(costs: MoveCosts, rows: NDArray[np.intp], region_of: IntArray, regions: tuple[Region, ...]) -> Shift:
    """The cheapest moves that bring each row into its region, sorted by the order of the rows, then by column."""
    parts = []
    for r in np.unique(region_of):
        places = np.flatnonzero(region_of == r)
        for limit in regions[r].limits:
            new = _nearest_codes(costs, limit, rows[places])
            moved = new != costs.table.values[rows[places], limit.feature]
            at = places[moved]
            prices = costs.move_prices(limit.feature, rows[at], new[moved])
            parts.append((at, np.full(at.size, limit.feature), new[moved], prices))
    if not parts:
        parts = [(np.zeros(0, dtype=np.intp),) * 2 + (np.zeros(0, dtype=np.int32), np.zeros(0))]
    place, columns, codes, prices = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    order = np.lexsort((columns, place))
    return Shift(
        costs.table, rows[place[order]], columns[order].astype(np.intp), codes[order].astype(np.int32), prices[order]
    )


def _nearest_codes(costs: MoveCosts, limit: Limit, rows: NDArray[np.intp]) -> IntArray:
    """The cheapest code within the limit for each row: the nearest one, or the category with the lowest price."""
    reach = costs.reach[limit.feature]
    old = costs.table.values[rows, limit.feature]
    if limit.allowed is None:
        lows = [end for end in (limit.low, reach.lower) if end is not None]
        highs = [end for end in (limit.high, reach.upper) if end is not None]
        nearest: IntArray = np.clip(old, max(lows, default=_LOWEST), min(highs, default=_HIGHEST)).astype(np.int32)
        return nearest
    allowed = np.array(sorted(limit.allowed), dtype=np.int32)
    prices = np.stack([costs.move_prices(limit.feature, rows, np.full(rows.size, code)) for code in allowed])
    cheapest: IntArray = allowed[prices.argmin(axis=0)]
    return cheapest
