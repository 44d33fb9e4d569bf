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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardwood._support.arguments import by_feature, numbers_of, whole_number
from hardwood._support.errors import ArgumentError, Said
from hardwood.data.features import Feature, Table, frozen, sealed
from hardwood.shift.calibration import (
    Direction,
    FloatArray,
    Reach,
    budget_of,
    by_feature_and_sample,
    reaches,
    step_prices,
)


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

    Prices of one feature are an array of shape (1 or samples, 1 or categories): one row serves all samples. One column
    holds the price of a step, or of changing a categorical answer. With one column for each category,
    a change from a to b costs column a plus column b (the paper's prices of one-hot columns).
    """

    table: Table
    reach: tuple[Reach, ...]
    prices: tuple[FloatArray, ...]

    def __post_init__(self) -> None:
        for feature, prices in zip(self.table.features, self.prices, strict=True):
            _check_prices(feature, prices, self.table.n_samples)
        object.__setattr__(self, "prices", tuple(frozen(prices) for prices in self.prices))

    def move_prices(self, feature: int, rows: ArrayLike, codes: ArrayLike) -> FloatArray:
        """The price of turning the values of the given rows into the given codes."""
        rows, new = np.asarray(rows), np.asarray(codes, dtype=np.int64)
        old = self.table.values[rows, feature].astype(np.int64)
        prices = self.prices[feature]
        of_rows = prices[rows] if len(prices) > 1 else np.broadcast_to(prices, (rows.size, prices.shape[1]))
        if prices.shape[1] > 1:
            here = np.arange(rows.size)
            price = of_rows[here, old] + of_rows[here, new]
        else:
            steps = np.abs(new - old) if self.table.features[feature].ordered else np.ones(rows.size)
            price = of_rows[:, 0] * np.maximum(steps, 1)
        price = np.where(_within(self.reach[feature], old, new), price, np.inf)
        return np.where(new == old, 0.0, price)


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
    ) -> UncertaintySet:
        """The set that hedges against every shift which the likelihood ratio test at `plausibility` does not reject.

        See `calibration.step_prices` for certainty and clip, `calibration.reaches` for direction and bounds.
        """
        reach = reaches(table, direction, bounds)
        budget = budget_of(plausibility, table.n_samples)
        prices = tuple(sealed(prices)[:, None] for prices in step_prices(table, reach, certainty, clip=clip))
        return cls(MoveCosts(table, reach, prices), budget)

    @classmethod
    def priced(
        cls, table: Table, *, costs: Any, budget: float, direction: Any = None, bounds: Any = None, steps: Any = None
    ) -> UncertaintySet:
        """The set of given prices, for experts.

        costs  the price of one step, for a categorical column that of changing the answer: one value for all, by column
               name, one for each column, or an array of samples by columns. By column name, it may also be one value
               for each sample, and for a categorical column a price by category (or an array of samples by
               categories): changing a into b then costs the price of a plus the price of b.
        """
        entries = by_feature_and_sample("costs", costs, table)
        prices = tuple(_given_prices(feature, entry) for feature, entry in zip(table.features, entries, strict=True))
        return cls(MoveCosts(table, reaches(table, direction, bounds, steps), prices), budget)

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
        return MoveCosts(costs.table, costs.reach, tuple(_rounded_down(prices, self.unit) for prices in costs.prices))


def _rounded_down(prices: FloatArray, unit: float) -> FloatArray:
    """Prices as whole multiples of a power of two. Dividing by it is exact; only floor changes a price."""
    # From 2^53 units on, every double is a whole multiple already (and dividing a price by a tiny unit may overflow).
    fine = prices < 2.0**53 * unit
    return sealed(np.where(fine, np.floor(np.where(fine, prices, 0.0) / unit) * unit, prices))


def _within(reach: Reach, old: NDArray[np.int64], new: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether direction and bounds allow the moves."""
    allowed = np.ones(new.shape, dtype=bool)
    if reach.direction is Direction.UP:
        allowed &= new >= old
    if reach.direction is Direction.DOWN:
        allowed &= new <= old
    if reach.lower is not None:
        allowed &= new >= reach.lower
    if reach.upper is not None:
        allowed &= new <= reach.upper
    if reach.steps is not None:
        allowed &= np.abs(new - old) <= reach.steps
    return allowed


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
