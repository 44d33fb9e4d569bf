"""The worst shift of a table for a given tree, exactly.

The margin of a sample is the smallest price that makes the tree misclassify it: 0 if it is wrong as it stands, +inf if
no move can. Samples shift independently and share one budget, so the adversary buys the cheapest samples first, and

    correct in the worst case = samples - max { k : the k smallest margins add up to at most the budget }.

The paper's set uses "at most", its Algorithm 1 prints a strict sign; we follow the set.

Rows may stand for several people, and people may be worth more or less than one (`Labels`). Then what counts is the
price of losing what is worth one, margin / worth: the adversary buys the cheapest first, as much of it as the budget
pays for. Where all rows are whole numbers of people and each is worth one, people are lost one by one, as if rows were
repeated. Otherwise the last row may be lost in part (docs/weights.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardwood._support import compiled
from hardwood._support.arguments import numbers_of
from hardwood._support.notebook import InNotebook
from hardwood._support.text import shown
from hardwood.data.features import BELOW_ALL, NO_ANSWER, Category, Feature, IntArray, Table
from hardwood.data.labels import Labels
from hardwood.shift.calibration import Direction, FloatArray, Reach, budget_of
from hardwood.shift.tables import AnswerTable
from hardwood.shift.uncertainty import MoveCosts, UncertaintySet, allowance
from hardwood.trees.tree import Limit, Region, Tree

MOST_LISTED = 10_000_000  # corners of a curve
_LOWEST, _HIGHEST = np.iinfo(np.int32).min, np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Change:
    """One changed value: sample, column name, the recorded and the shifted value, and what the change costs.

    people  for how many of the people that the row stands for the value changes; the price is for all of them
    """

    row: int
    column: str
    old: Category
    new: Category
    price: float
    people: float = 1


@dataclass(frozen=True, eq=False)
class Shift:
    """A perturbation of a table: the changed cells, in the order in which the adversary buys them.

    prices  of each change, for one of the people of the row
    people  for how many of them the value changes
    """

    table: Table = field(repr=False)
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    codes: IntArray
    prices: FloatArray
    people: FloatArray

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Change]:
        cells = zip(self.rows, self.columns, self.codes, self.prices, self.people, strict=True)
        for row, j, code, price, people in cells:
            feature = self.table.features[j]
            old = feature.decode(int(self.table.values[row, j]))
            yield Change(
                int(row), feature.name, old, feature.decode(int(code)), float(price * people), plain_number(people)
            )

    def to_dict(self) -> dict[str, list[int] | list[str] | list[Category] | list[float]]:
        """Columns row, column, from, to, price, people, ready for a frame. From and to hold values of all kinds."""
        changes = list(self)
        return {
            "row": [change.row for change in changes],
            "column": [change.column for change in changes],
            "from": [change.old for change in changes],
            "to": [change.new for change in changes],
            "price": [change.price for change in changes],
            "people": [change.people for change in changes],
        }

    def grouped(self) -> list[dict[str, Any]]:
        """Equal changes together, most frequent first: column, from, to, how many rows, and the price of all.

        Rows are people if rows stand for several.
        """
        old = self.table.values[self.rows, self.columns]
        kinds, first, place = np.unique(
            np.column_stack([self.columns, old, self.codes]), axis=0, return_index=True, return_inverse=True
        )
        counts = np.bincount(place.ravel(), weights=self.people, minlength=len(kinds))
        prices = np.bincount(place.ravel(), weights=self.prices * self.people, minlength=len(kinds))
        found = []
        for k in np.lexsort((first, -counts)):
            feature = self.table.features[kinds[k, 0]]
            found.append(
                {
                    "column": feature.name,
                    "from": feature.decode(int(kinds[k, 1])),
                    "to": feature.decode(int(kinds[k, 2])),
                    "rows": plain_number(counts[k]),
                    "price": float(prices[k]),
                }
            )
        return found

    def apply(self) -> Table:
        """The table after the shift, which changes a row for all of its people."""
        values = self.table.values.copy(order="F")
        values[self.rows, self.columns] = self.codes
        return Table(self.table.features, values)


@dataclass(frozen=True, eq=False)
class Curve:
    """Samples correct in the worst case for every budget: a staircase that falls whenever one more sample is bought.

    total    what all samples are worth together: their number if each is worth one
    people   how many people they stand for, by whom a plausibility counts
    margins  the different prices of losing what is worth one, ascending, as far as anything can be lost
    counts   how much can be lost at each
    in_part  whether anything may be lost in part; then the curve falls steadily

    Prices are those of the attack's set, rounded down to its unit: exact at the set's own budget. For a budget much
    smaller than that, take a set of its own if prices within 2^-47 of the larger budget are too coarse.
    """

    total: float
    people: float
    margins: FloatArray
    counts: FloatArray
    in_part: bool = False

    @classmethod
    def of(cls, margins: FloatArray, labels: Labels) -> Curve:
        """The curve of samples with these margins."""
        finite = np.isfinite(margins)
        prices = margins[finite] / labels.row_worth[finite]
        different, place = np.unique(prices, return_inverse=True)
        worth = (labels.row_people * labels.row_worth)[finite]
        counts = np.bincount(place.ravel(), weights=worth, minlength=len(different)).astype(np.float64)
        return cls(labels.total, labels.people, different, counts, not labels.counted)

    def __add__(self, other: Curve) -> Curve:
        """The curve of the samples of both."""
        margins, place = np.unique(np.concatenate([self.margins, other.margins]), return_inverse=True)
        counts = np.zeros(margins.size)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        in_part = self.in_part or other.in_part
        return Curve(self.total + other.total, self.people + other.people, margins, counts, in_part)

    @property
    def budgets(self) -> FloatArray:
        """Where the curve has a corner: a budget for each sample that can be lost, the price of all up to it.

        If samples may be lost in part, or are too many to be listed, a budget for each price.
        """
        if self.in_part or self.counts.sum() > MOST_LISTED:
            return np.cumsum(self.margins * self.counts)
        return np.cumsum(np.repeat(self.margins, self.counts.astype(np.int64)))

    def correct_at(self, budget: ArrayLike) -> NDArray[Any]:
        """Samples correct after the worst shift that a budget affords; for one budget or many."""
        given = numbers_of("budget", budget)
        if not (given >= 0).all():
            raise ValueError(f"budget is {budget!r}; expected numbers >= 0")
        left = self.total - self._lost(allowance(1.0) * given)
        return np.asarray(np.maximum(left, 0.0) if self.in_part else left.astype(np.intp))

    def _lost(self, spend: FloatArray) -> FloatArray:
        """What a total pays for: all with the smaller margins, and some of those with the next one."""
        paid = np.concatenate([[0.0], np.cumsum(self.margins * self.counts)])
        lost = np.concatenate([[0.0], np.cumsum(self.counts)])
        groups = np.searchsorted(paid[1:], spend, side="right")  # that are lost as a whole
        margin, before = np.append(self.margins, 1.0)[groups], paid[groups]
        more = (spend - before) / margin if self.in_part else copies_within(spend - before, margin)
        return np.asarray(lost[groups] + np.where(groups < self.margins.size, more, 0.0))

    def accuracy_at(self, budget: ArrayLike) -> FloatArray:
        """The same as a share of all samples."""
        return np.asarray(self.correct_at(budget) / self.total)

    def accuracy_at_plausibility(self, plausibility: float) -> float:
        """Worst-case accuracy at the budget of a plausibility."""
        return float(self.accuracy_at(budget_of(plausibility, self.people)))


def copies_within(spend: ArrayLike, price: ArrayLike) -> FloatArray:
    """How many times a price is covered. Multiples of prices are exact up to the budget, a quotient is not."""
    spend, price = np.asarray(spend, dtype=np.float64), np.asarray(price, dtype=np.float64)
    times = np.floor(spend / price)
    times = np.where((times + 1) * price <= spend, times + 1, times)
    return np.asarray(np.where((times > 0) & (times * price > spend), times - 1, times))


def plain_number(amount: float) -> float:
    """A whole number as such."""
    return int(amount) if amount == int(amount) else float(amount)


@dataclass(frozen=True, slots=True)
class ClassShare:
    """What becomes of one class: shares of its people who are correct.

    nominal      as the table stands
    worst_case   after the worst shift for all classes together (one of the worst shifts)
    guaranteed   after whatever shift the budget pays for, also if all of it is spent on this class
    """

    label: Category
    people: float
    nominal: float
    worst_case: float
    guaranteed: float


@dataclass(frozen=True, slots=True)
class GroupShare:
    """What becomes of one group of people: shares of them who are correct, see `ClassShare`.

    median_margin  half of them are lost only at a higher price than this; +inf if that can be no price at all
    """

    group: Category
    people: float
    nominal: float
    worst_case: float
    guaranteed: float
    median_margin: float


@dataclass(frozen=True, eq=False)
class Attack(InNotebook):
    """What the adversary can do to a tree: margins of all samples, and the worst shift that the budget affords.

    Prints the accuracy before and after the shift, and the first changes.
    """

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
    def total(self) -> float:
        """What all samples are worth together: their number if each is worth one."""
        return self.labels.total

    @cached_property
    def nominal_correct(self) -> float:
        """Samples that the tree classifies correctly as they stand."""
        return self.labels.worth_of(self._right)

    @cached_property
    def worst_case_correct(self) -> float:
        """Samples still classified correctly after the worst affordable shift."""
        if not self.labels.counted:
            return self.priced_value
        return int(self.total - self.lost_people.sum())

    @property
    def nominal_accuracy(self) -> float:
        """Share of samples that are correct as they stand."""
        return self.nominal_correct / self.total

    @property
    def worst_case_accuracy(self) -> float:
        """Share of samples that are correct after the worst affordable shift."""
        return self.worst_case_correct / self.total

    @property
    def spent(self) -> float:
        """What the worst shift costs."""
        return float((self.margins[self.lost] * self.lost_people[self.lost]).sum())

    @cached_property
    def lost(self) -> NDArray[np.intp]:
        """Rows misclassified after the worst shift, by margin and then by row; the last one perhaps in part."""
        order, _ = self._purchases
        return np.asarray(order[self.lost_people[order] > 0])

    @cached_property
    def lost_people(self) -> FloatArray:
        """How many people of each row the worst shift makes misclassified."""
        order, _ = self._purchases
        people, n_whole = self.labels.row_people, self._n_whole
        lost = np.zeros(self.n_samples)
        lost[order[:n_whole]] = people[order[:n_whole]]
        if n_whole < len(order):
            row, left = order[n_whole], self._left
            lost[row] = copies_within(left, self.margins[row]) if self.labels.counted else left / self.margins[row]
        return lost

    @cached_property
    def priced_value(self) -> float:
        """The worst case if the last sample may be lost in part: the value of the distributionally robust problem.

        `worst_case_correct` is this, rounded up where people are counted one by one.
        """
        order, _ = self._purchases
        worth = self.labels.row_people * self.labels.row_worth
        value = self.total - float(worth[order[: self._n_whole]].sum())
        if self._n_whole < len(order):
            row = order[self._n_whole]
            value -= self._left / self.margins[row] * self.labels.row_worth[row]
        return max(float(value), 0.0)

    @cached_property
    def by_class(self) -> tuple[ClassShare, ...]:
        """What becomes of each class that somebody has."""
        rows = [(label, np.flatnonzero(self.labels.codes == k)) for k, label in enumerate(self.labels.classes)]
        return tuple(ClassShare(label, *self._shares(own)) for label, own in rows if self.labels.row_people[own].any())

    def by_group(self, groups: ArrayLike) -> tuple[GroupShare, ...]:
        """What becomes of each group; `groups` has an entry for each row, such as a column of the table."""
        given = np.asarray(groups)
        if given.shape != (self.n_samples,):
            raise ValueError(f"groups have shape {given.shape}; expected an entry for each of {self.n_samples} rows")
        names, place = np.unique(given.astype(str) if given.dtype.kind == "O" else given, return_inverse=True)
        shares = []
        for k, name in enumerate(names.tolist()):
            own = np.flatnonzero(place.ravel() == k)
            if self.labels.row_people[own].any():
                shares.append(GroupShare(name, *self._shares(own), self._median_margin(own)))
        return tuple(shares)

    def _shares(self, rows: NDArray[np.intp]) -> tuple[float, float, float, float]:
        """How many people some rows stand for, and which shares of them are correct, see `ClassShare`."""
        labels = Labels(self.labels.codes[rows], self.labels.classes, self.labels.row_people[rows])
        curve = replace(Curve.of(self.margins[rows], labels), in_part=not self.labels.counted)
        return (
            labels.people,
            float(labels.row_people[self._right[rows]].sum()) / labels.people,
            1.0 - float(self.lost_people[rows].sum()) / labels.people,
            float(curve.accuracy_at(self.uncertainty.budget)),
        )

    def _median_margin(self, rows: NDArray[np.intp]) -> float:
        order = np.argsort(self.margins[rows], kind="stable")
        people = np.cumsum(self.labels.row_people[rows][order])
        return float(self.margins[rows][order][np.searchsorted(people, 0.5 * people[-1])])

    def confusion(self, *, worst_case: bool = False) -> FloatArray:
        """People by their class (rows) and by the class that the tree predicts (columns), in the order of `classes`.

        worst_case  after the worst shift (one of the worst) instead of as the table stands
        """
        n_classes = len(self.tree.classes)
        counts = np.zeros((n_classes, n_classes))
        people = np.array(self.labels.row_people)
        if worst_case:
            there = np.array([region.label for region in self.tree.regions])[self._region_of]
            np.add.at(counts, (self.labels.codes[self.lost], there[self.lost]), self.lost_people[self.lost])
            people -= self.lost_people
        np.add.at(counts, (self.labels.codes, self.tree.predict(self.table)), people)
        return counts

    def __str__(self) -> str:
        changes = self.shift.grouped()
        lines = [
            f"{self.nominal_accuracy:.1%} correct as the table stands, {self.worst_case_accuracy:.1%} after the worst "
            f"shift within the budget {self.uncertainty.budget:.4g} ({len(self.shift):,} values changed)",
            *(change_words(entry) for entry in changes[:5]),
        ]
        more = [f"  ... and {len(changes) - 5} other kinds of changes"] if len(changes) > 5 else []
        return "\n".join(lines + more)

    @cached_property
    def curve(self) -> Curve:
        """Worst-case accuracy for every budget."""
        return Curve.of(self.margins, self.labels)

    @cached_property
    def shift(self) -> Shift:
        """The worst shift itself; samples that are wrong as they stand need no change."""
        return self.shift_of(self.lost, self.lost_people)

    def shift_of(self, rows: NDArray[np.intp], people: FloatArray | None = None) -> Shift:
        """The cheapest shift that makes the tree wrong on all of the given rows, whatever the budget.

        Their margins must be finite.

        people  of every row of the table, how many are shifted; all of them if not given
        """
        people = self.labels.row_people if people is None else people
        return _moves_into(self.uncertainty.costs, rows, self._region_of[rows], self.tree.regions, people)

    @property
    def region_of(self) -> IntArray:
        """For each row the leaf that is cheapest to be wrong in, from left to right; its own if it is wrong already."""
        return self._region_of

    @property
    def table(self) -> Table:
        """The table that is attacked."""
        return self.uncertainty.costs.table

    @cached_property
    def _right(self) -> NDArray[np.bool_]:
        return np.asarray(self.tree.predict(self.table) == self.labels.codes)

    @cached_property
    def _purchases(self) -> tuple[NDArray[np.intp], FloatArray]:
        """Rows that can be lost at all, the cheapest first and then by row, and the running total of what they cost."""
        prices = self.margins / self.labels.row_worth
        order = np.argsort(prices, kind="stable")
        order = order[: int(np.count_nonzero(np.isfinite(self.margins)))]
        return order, np.cumsum(self.margins[order] * self.labels.row_people[order])

    @cached_property
    def _n_whole(self) -> int:
        """How many of these rows are lost as a whole."""
        return int(np.count_nonzero(self.uncertainty.affords(self._purchases[1])))

    @property
    def _left(self) -> float:
        """What is left of the budget for the next one."""
        return self.uncertainty.spendable - (float(self._purchases[1][self._n_whole - 1]) if self._n_whole else 0.0)


def change_words(entry: Mapping[str, Any]) -> str:
    """One kind of changes of a shift, see `Shift.grouped`, as a line."""
    what = f"{shown(entry['column'])}: {shown(entry['from'])} -> {shown(entry['to'])}"
    return f"  {what} in {entry['rows']:,.6g} rows for {entry['price']:.3g}"


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
    regions = [_compiled_region(tree.features, region) for region in tree.regions]
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
        alone = _compiled_region(tree.features, Region(1, region.limits))
        columns.append(compiled.margins(uncertainty.costs.table.values, prices, labels, [alone])[0])
    return np.column_stack(columns)


def limit_prices(uncertainty: UncertaintySet, limit: Limit) -> FloatArray:
    """The cheapest price at which each sample meets a limit."""
    table = uncertainty.costs.table
    labels = np.zeros(table.n_samples, dtype=np.int32)
    region = _compiled_region(table.features, Region(1, (limit,)))
    return compiled.margins(table.values, compiled_prices(uncertainty), labels, [region])[0]


def moves_into(tree: Tree, uncertainty: UncertaintySet, rows: NDArray[np.intp], leaves: IntArray) -> Shift:
    """The cheapest moves that bring each row into its leaf; each row once, and its price must be finite."""
    people = np.ones(uncertainty.costs.table.n_samples)
    return _moves_into(uncertainty.costs, rows, leaves, tree.regions, people)


def compiled_prices(uncertainty: UncertaintySet) -> list[compiled.FeaturePrices]:
    """The prices of a set for the compiled part; nothing is copied."""
    costs = uncertainty.costs
    return [
        _compiled_prices(costs.prices[j], feature.ordered, costs.reach[j], costs.missing[j], costs.tables[j])
        for j, feature in enumerate(costs.table.features)
    ]


def _compiled_prices(
    prices: FloatArray, ordered: bool, reach: Reach, missing: FloatArray | None, table: AnswerTable | None
) -> compiled.FeaturePrices:
    return compiled.FeaturePrices(
        np.ascontiguousarray(prices),
        ordered,
        may_rise=reach.direction is not Direction.DOWN,
        may_fall=reach.direction is not Direction.UP,
        lower=_LOWEST if reach.lower is None else max(reach.lower, _LOWEST),
        upper=_HIGHEST if reach.upper is None else min(reach.upper, _HIGHEST),
        steps=_HIGHEST if reach.steps is None else min(reach.steps, _HIGHEST),
        missing=None if missing is None else np.ascontiguousarray(missing),
        codes=None if table is None else table.codes,
        table=None if table is None else np.ascontiguousarray(table.numbers),
    )


def _compiled_region(features: Sequence[Feature], region: Region) -> compiled.Region:
    limits = []
    for limit in region.limits:
        n_values = 0 if limit.allowed is None else features[limit.feature].n_values
        limits.append(
            compiled.Limit(
                limit.feature,
                1 if limit.high == BELOW_ALL else _LOWEST if limit.low is None else limit.low,
                0 if limit.high == BELOW_ALL else _HIGHEST if limit.high is None else limit.high,
                [int(k in (limit.allowed or ())) for k in range(n_values)],
                limit.missing,
            )
        )
    return compiled.Region(region.label, limits)


def _moves_into(
    costs: MoveCosts,
    rows: NDArray[np.intp],
    region_of: IntArray,
    regions: tuple[Region, ...],
    people: FloatArray,
) -> Shift:
    """The cheapest moves that bring each row into its region, sorted by the order of the rows, then by column.

    people  of every row of the table, for how many the move is meant
    """
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
    moved = rows[place[order]]
    cells = columns[order].astype(np.intp), codes[order].astype(np.int32), prices[order]
    return Shift(costs.table, moved, *cells, people[moved])


def _nearest_codes(costs: MoveCosts, limit: Limit, rows: NDArray[np.intp]) -> IntArray:
    """The cheapest code within the limit for each row: the nearest one, or the category with the lowest price."""
    j, feature = limit.feature, costs.table.features[limit.feature]
    if limit.allowed is None and (own := costs.tables[j]) is not None:
        codes = [code for code in own.codes if _is_within(limit, int(code))]
    elif limit.allowed is not None:
        codes = sorted(limit.allowed)
    else:
        nearest = _nearest_answers(costs, limit, rows)
        if not feature.missing:
            return nearest
        # Whoever has no answer stays so if that is allowed; for others it may be cheaper than the nearest answer.
        none = np.full(rows.size, NO_ANSWER, dtype=np.int32)
        if limit.only_missing:
            return none
        # (Bounds may leave no answer within the limit.)
        low, high = (-np.inf if limit.low is None else limit.low), (np.inf if limit.high is None else limit.high)
        fits = (nearest >= low) & (nearest <= high)
        answer = np.where(fits, costs.move_prices(j, rows, nearest), np.inf)
        stays = limit.missing & (costs.move_prices(j, rows, none) < answer)
        return np.where(stays, none, nearest).astype(np.int32)
    allowed = np.array(codes, dtype=np.int32)
    prices = np.stack([costs.move_prices(limit.feature, rows, np.full(rows.size, code)) for code in allowed])
    cheapest: IntArray = allowed[prices.argmin(axis=0)]
    return cheapest


def _nearest_answers(costs: MoveCosts, limit: Limit, rows: NDArray[np.intp]) -> IntArray:
    """The nearest code within the limit; without an answer, the nearest to the middle of the scale."""
    j, reach = limit.feature, costs.reach[limit.feature]
    old = costs.table.values[rows, j]
    if (feature := costs.table.features[j]).missing:
        old = np.where(old == NO_ANSWER, (feature.low + feature.high) // 2, old)
    lows = [end for end in (limit.low, reach.lower) if end is not None]
    highs = [end for end in (limit.high, reach.upper) if end is not None]
    nearest: IntArray = np.clip(old, max(lows, default=_LOWEST), min(highs, default=_HIGHEST)).astype(np.int32)
    return nearest


def _is_within(limit: Limit, code: int) -> bool:
    if code == NO_ANSWER:
        return limit.missing
    return (limit.low is None or code >= limit.low) and (limit.high is None or code <= limit.high)
