"""Which shifts of a table the adversary can pay for: the price of every move, one budget, and one rule to compare them.

**Numbers.** Prices are logarithms, so "the prices add up to at most the budget" compares irrational numbers, and sums
of doubles depend on their order. One rule settles this for every part of the package:

* The budget counts as larger by a 2^-32 part (`allowance`). A budget meant to equal a sum of prices therefore affords
  them, whatever the rounding of the sum.
* When a set is made, every price is rounded down to a whole multiple of `unit`, a power of two between 2^-48 and 2^-47
  of the budget. All sums up to 32 times the budget are then exact in double precision, in any order, and larger
  ones exceed the budget beyond doubt. So adversary, search, solvers and certificate cannot disagree.

Both roundings favour the adversary: a guarantee holds for the set of the given prices, too. They let in shifts dearer
than the budget by less than a 2^-32 part plus one unit for every step moved. More budget never means fewer shifts,
because the units of two budgets are nested. With budget 0 only free moves are affordable and no rounding is needed.
(Calibrated prices are themselves doubles, within about 1e-15 of the logarithm that they stand for.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardwood._support.arguments import by_feature, numbers_of, whole_number
from hardwood._support.errors import ArgumentError, Said, Setting
from hardwood.data.columns import MISSING
from hardwood.data.features import NO_ANSWER, Feature, Table, frozen, sealed
from hardwood.shift.calibration import (
    Direction,
    FloatArray,
    Reach,
    budget_of,
    by_feature_and_sample,
    feature_prices,
    missing_price,
    reach_allows,
    reaches,
)
from hardwood.shift.tables import (
    AnswerTable,
    answer_table,
    categorical_with_none,
    chance_table,
    is_table,
    priced_table,
    table_prices,
    with_none,
)

# Prices of a column, the price of no answer, and a table of prices: what `MoveCosts` holds of it.
ColumnPrices: TypeAlias = tuple[FloatArray, FloatArray | None, AnswerTable | None]


def allowance(budget: float) -> float:
    """What may be spent with a budget: the budget and a 2^-32 part of it, see the module's docstring."""
    return budget * (1.0 + 2.0**-32)


@dataclass(frozen=True, eq=False)
class MoveCosts:
    """The price of turning the value of a sample into another one, for every feature of a table.

        integer, ordinal, binary, binned    step price * |new - old|
        categorical                         price of a change, or leaving price + arriving price
        beyond bounds, against direction,
        more steps than allowed             +inf
        no answer (ordered features)        one price from any answer to none, and from none to any within bounds
        answers with a table                what the table says

    Prices of one feature are an array of shape (1 or samples, 1 or categories): one row serves all samples. One column
    holds the price of a step, or of changing a categorical answer. With one column for each category,
    a change from a to b costs column a plus column b (the paper's prices of one-hot columns).

    missing  by feature, the price of no answer, one or one for each sample; None where nobody is without one
    tables   by feature, prices of pairs of answers; None where the other prices say all. With a table, `prices` has the
             price of the cheapest change.
    """

    table: Table
    reach: tuple[Reach, ...]
    prices: tuple[FloatArray, ...]
    missing: tuple[FloatArray | None, ...] = ()
    tables: tuple[AnswerTable | None, ...] = ()

    def __post_init__(self) -> None:
        nothing = (None,) * len(self.table.features)
        object.__setattr__(self, "missing", self.missing or nothing)
        object.__setattr__(self, "tables", self.tables or nothing)
        for feature, prices, missing, table in zip(
            self.table.features, self.prices, self.missing, self.tables, strict=True
        ):
            _check_prices(feature, prices, self.table.n_samples)
            if feature.missing and missing is None and (table is None or table.codes[-1] != NO_ANSWER):
                raise ValueError(f'column "{feature.name}" may be without an answer; expected a price for that')
        object.__setattr__(self, "prices", tuple(frozen(prices) for prices in self.prices))

    def move_prices(self, feature: int, rows: ArrayLike, codes: ArrayLike) -> FloatArray:
        """The price of turning the values of the given rows into the given codes."""
        rows, new = np.asarray(rows), np.asarray(codes, dtype=np.int64)
        old = self.table.values[rows, feature].astype(np.int64)
        if (table := self.tables[feature]) is not None:
            return np.where(new == old, 0.0, table.at(old, new))
        prices = self.prices[feature]
        of_rows = prices[rows] if len(prices) > 1 else np.broadcast_to(prices, (rows.size, prices.shape[1]))
        if prices.shape[1] > 1:
            here = np.arange(rows.size)
            price = of_rows[here, old] + of_rows[here, new]
        else:
            steps = np.abs(new - old) if self.table.features[feature].ordered else np.ones(rows.size)
            price = of_rows[:, 0] * np.maximum(steps, 1)
        reach = self.reach[feature]
        price = np.where(reach_allows(reach, old, new), price, np.inf)
        if (missing := self.missing[feature]) is not None:
            own = missing[rows] if len(missing) > 1 else missing
            anywhere = reach_allows(replace(reach, direction=Direction.BOTH, steps=None), old, new)
            price = np.where(old == NO_ANSWER, np.where(anywhere, own, np.inf), price)
            price = np.where(new == NO_ANSWER, own, price)
        return np.where(new == old, 0.0, price)

    def price_range(self, feature: int) -> tuple[float, float]:
        """What a change costs at least and at most: of one step, or of an answer into another."""
        prices, table = self.prices[feature], self.tables[feature]
        if table is not None:
            changes = table.numbers[~np.eye(len(table.codes), dtype=bool)]
            return float(changes.min(initial=math.inf)), float(changes.max()) if changes.size else math.inf
        if self.reach[feature].steps == 0:
            return math.inf, math.inf
        if prices.shape[1] == 1:
            return float(prices.min()), float(prices.max())
        ordered = np.sort(prices, axis=1)  # leaving a category and arriving at another both have a price
        return float(ordered[:, :2].sum(axis=1).min()), float(ordered[:, -2:].sum(axis=1).max())

    def repeated(self, times: NDArray[np.int64]) -> MoveCosts:
        """The same for a table in which each row stands so many times."""
        table = Table(self.table.features, np.repeat(self.table.values, times, axis=0))
        prices = tuple(np.repeat(own, times, axis=0) if len(own) > 1 else own for own in self.prices)
        missing = tuple(own if own is None or len(own) == 1 else np.repeat(own, times) for own in self.missing)
        return MoveCosts(table, self.reach, prices, missing, self.tables)


@dataclass(frozen=True, eq=False)
class UncertaintySet:
    """All shifts of a table whose total price stays within the budget.

        { perturbation : sum over samples and features of price(sample, feature, new value) <= budget }   (paper, Eq. 3)

    costs   gamma, the price of every move; rounded to the set's unit here
    budget  epsilon; 0 leaves only the moves that cost nothing
    """

    costs: MoveCosts
    budget: float

    def __post_init__(self) -> None:
        budget = numbers_of("budget", self.budget)
        if budget.ndim != 0 or not 0 <= budget <= 1e300:
            raise ArgumentError(
                "budget", self.budget, "it must be a finite number >= 0", remedy="0 for an ordinary tree"
            )
        object.__setattr__(self, "budget", float(budget))
        object.__setattr__(self, "costs", self._rounded(self.costs))

    @classmethod
    def calibrated(
        cls,
        table: Table,
        *,
        certainty: Any,
        plausibility: float,
        direction: Any = None,
        bounds: Any = None,
        clip: bool = False,
        missing_certainty: Any = None,
    ) -> UncertaintySet:
        """The set that hedges against every shift which the likelihood ratio test at `plausibility` does not reject.

        See `calibration.feature_prices` for clip, `calibration.reaches` for direction and bounds.

        certainty          one value for all, by column name, one for each column, or an array of samples by columns. By
                           column name, it may also hold one value for each sample, or a table
                           P(answer later | answer now), see `tables`
        missing_certainty  that whether there is an answer at all will be the same, by column, one for each, or one for
                           all; the column's certainty if not given
        """
        reach = reaches(table, direction, bounds)
        budget = budget_of(plausibility, table.n_samples)
        entries = by_feature_and_sample("certainty", certainty, table)
        price = partial(_calibrated_column, clip=clip)
        return cls(_move_costs(table, reach, entries, missing_certainty, price), budget)

    @classmethod
    def priced(
        cls,
        table: Table,
        *,
        costs: Any,
        budget: float,
        direction: Any = None,
        bounds: Any = None,
        steps: Any = None,
        missing_certainty: Any = None,
    ) -> UncertaintySet:
        """The set of given prices, for experts.

        costs  the price of one step, for a categorical column that of changing the answer: one value for all, by column
               name, one for each column, or an array of samples by columns. By column name, it may also be one value
               for each sample, and for a categorical column a price by category (or an array of samples by
               categories): changing a into b then costs the price of a plus the price of b. A square table (frame,
               mapping of mappings, or array of answers by answers) holds the price of every change.

        No answer costs as much as a step, unless `missing_certainty` says otherwise.
        """
        reach = reaches(table, direction, bounds, steps)
        entries = by_feature_and_sample("costs", costs, table)
        return cls(_move_costs(table, reach, entries, missing_certainty, _given_column), budget)

    @classmethod
    def boxes(cls, table: Table, *, radius: Any, direction: Any = None, bounds: Any = None) -> UncertaintySet:
        """Every sample may move at will within a box around it, all at once: no prices, no budget.

            { perturbation : |xi_ij| <= radius_j for every sample i and feature j }   (paper, section 5.1, p = infinity)

        radius  steps by column name, one for each column, or one for all; a categorical answer may change into any
                other if its radius is at least 1. Radii are whole numbers, since the values are.
        """
        radii = [
            whole_number("radius", entry, at_least=0, column=name)
            for name, entry in zip(table.names, by_feature("radius", radius, table.names), strict=True)
        ]
        costs = [0.0 if r else np.inf for r in radii]
        return cls.priced(table, costs=costs, budget=0.0, direction=direction, bounds=bounds, steps=radii)

    @property
    def unit(self) -> float:
        """All prices are whole multiples of this power of two; 0 if the budget is (nearly) 0 and nothing is rounded."""
        return math.ldexp(1.0, math.frexp(self.budget)[1] - 48) if self.budget else 0.0

    @property
    def spendable(self) -> float:
        """The allowance in whole units: the largest total that `affords` accepts."""
        return math.floor(allowance(self.budget) / self.unit) * self.unit if self.unit else self.budget

    def affords(self, total: ArrayLike) -> NDArray[np.bool_]:
        """Whether the budget covers a total price: the only place that compares the two."""
        return np.asarray(np.asarray(total) <= allowance(self.budget))

    def _rounded(self, costs: MoveCosts) -> MoveCosts:
        if not self.unit:
            return costs
        prices = tuple(_rounded_down(prices, self.unit) for prices in costs.prices)
        missing = tuple(None if own is None else _rounded_down(own, self.unit) for own in costs.missing)
        tables = tuple(
            None if own is None else AnswerTable(own.codes, _rounded_down(own.numbers, self.unit))
            for own in costs.tables
        )
        return MoveCosts(costs.table, costs.reach, prices, missing, tables)


def _rounded_down(prices: FloatArray, unit: float) -> FloatArray:
    """Prices as whole multiples of a power of two. Dividing by it is exact; only floor changes a price."""
    # From 2^53 units on, every double is a whole multiple already (and dividing a price by a tiny unit may overflow).
    fine = prices < 2.0**53 * unit
    return sealed(np.where(fine, np.floor(np.where(fine, prices, 0.0) / unit) * unit, prices))


def _move_costs(
    table: Table,
    reach: tuple[Reach, ...],
    entries: list[Any],
    missing_certainty: Any,
    price: Callable[[Table, int, Reach, Any, Any], ColumnPrices],
) -> MoveCosts:
    """The prices of all columns, from what was said about each of them."""
    known = by_feature("missing_certainty", missing_certainty, table.names, default=None)
    columns = [price(table, j, reach[j], entries[j], known[j]) for j in range(len(table.features))]
    prices, missing, tables = zip(*columns, strict=True)
    return MoveCosts(table, reach, prices, missing, tables)


def _calibrated_column(
    table: Table, j: int, reach: Reach, certainty: Any, missing_certainty: Any, clip: bool
) -> ColumnPrices:
    feature, n_samples = table.features[j], table.n_samples
    if is_table(certainty):
        chances = chance_table(feature, table.values[:, j], certainty)
        own = priced_table(feature, reach, chances.codes, table_prices(chances))
        return _with_table("certainty", table, j, own, missing_certainty, clip)
    prices = sealed(feature_prices(table, j, reach, certainty, clip=clip))[:, None]
    if feature.missing:
        known = certainty if missing_certainty is None else missing_certainty
        return prices, sealed(missing_price(feature, known, n_samples, clip=clip)), None
    if MISSING in feature.categories and missing_certainty is not None and feature.n_values > 1:
        price = _single_missing_price(feature, missing_certainty, clip)
        own = categorical_with_none(feature, _single(feature, certainty), price)
        return _with_table("certainty", table, j, own, None, clip)
    return prices, None, None


def _given_column(table: Table, j: int, reach: Reach, costs: Any, missing_certainty: Any) -> ColumnPrices:
    feature = table.features[j]
    named = isinstance(costs, Mapping) or hasattr(costs, "columns")
    by_sample = not named and np.shape(costs) in ((1, feature.n_values), (table.n_samples, feature.n_values))
    if is_table(costs) and not by_sample:
        given = answer_table("costs", feature, table.values[:, j], costs)
        _refuse_negative(feature, given)
        own = priced_table(feature, reach, given.codes, given.numbers)
        return _with_table("costs", table, j, own, missing_certainty, False)
    prices = _given_prices(feature, costs)
    missing = None
    if feature.missing:
        missing = (
            prices[:, 0] if missing_certainty is None else missing_price(feature, missing_certainty, len(table.values))
        )
    return prices, missing, None


def _with_table(
    argument: str, table: Table, j: int, own: AnswerTable, missing_certainty: Any, clip: bool
) -> ColumnPrices:
    """A column with a table of prices, with no answer in it if that is one of the values."""
    feature = table.features[j]
    if feature.missing and own.codes[-1] != NO_ANSWER:
        if missing_certainty is None:
            raise ArgumentError(
                argument,
                Said(f"a table without {[MISSING]}"),
                "some rows have no answer: list it, or say how certain it is that there is an answer",
                remedy=(Setting("missing_certainty", 0.9, feature.name),),
                column=feature.name,
            )
        own = with_none(own, _single_missing_price(feature, missing_certainty, clip))
    changes = own.numbers[~np.eye(len(own.codes), dtype=bool)]
    return np.array([[changes.min(initial=np.inf)]]), None, own


def _single_missing_price(feature: Feature, missing_certainty: Any, clip: bool) -> float:
    """The price of no answer beside a table, which is the same for all samples."""
    return float(missing_price(feature, missing_certainty, 1, clip=clip)[0])


def _single(feature: Feature, certainty: Any) -> float:
    rho = numbers_of("certainty", certainty, feature.name)
    if rho.ndim != 0:
        raise ArgumentError(
            "missing_certainty",
            Said("given"),
            "a categorical column with a certainty for each sample has none of its own for no answer: leave it out",
            column=feature.name,
        )
    return float(rho)


def _refuse_negative(feature: Feature, given: AnswerTable) -> None:
    bad = ~(given.numbers >= 0) & ~np.eye(len(given.codes), dtype=bool)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ArgumentError(
            "costs",
            float(given.numbers[row, column]),
            "it must be a number >= 0",
            remedy="inf: never",
            column=feature.name,
        )


def _given_prices(feature: Feature, entry: Any) -> FloatArray:
    if isinstance(entry, Mapping):
        missing = [category for category in feature.categories if category not in entry]
        if feature.ordered or missing or len(entry) != len(feature.categories):
            raise ArgumentError(
                "costs",
                Said("a mapping of prices by category"),
                f"expected a categorical column, and a price for each of its categories {list(feature.categories)}",
                column=feature.name,
            )
        return np.array([[float(entry[category]) for category in feature.categories]])
    prices = numbers_of("costs", entry, feature.name)
    return prices.reshape(-1, 1) if prices.ndim < 2 else prices


def _check_prices(feature: Feature, prices: FloatArray, n_samples: int) -> None:
    widths = (1,) if feature.ordered else (1, feature.n_values)
    if prices.ndim != 2 or prices.shape[0] not in (1, n_samples) or prices.shape[1] not in widths:
        raise ArgumentError(
            "costs",
            Said(f"an array of shape {prices.shape}"),
            f"expected one price, or one for each of {n_samples} samples",
            remedy="" if feature.ordered else f"with {feature.n_values} columns: one for each category",
            column=feature.name,
        )
    bad = ~(prices >= 0)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ArgumentError(
            "costs",
            float(prices[row, column]),
            "it must be a number >= 0",
            remedy="inf: the value never changes",
            column=feature.name,
            row=int(row) if len(prices) > 1 else None,
        )
