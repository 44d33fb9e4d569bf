"""All shifts that the adversary can afford, and the one rule that compares a total cost with the budget.

**Numbers.** Costs are logarithms, so "the costs add up to at most the budget" compares irrational numbers, and sums of
doubles depend on their order. One rule settles this for every part of the package:

* The budget counts as larger by a 2^-32 part (`allowance`). A budget meant to equal a sum of costs therefore affords
  them, whatever the rounding of the sum.
* When a set is made, every cost is rounded down to a multiple of `unit`, a power of two between 2^-48 and 2^-47 of the
  budget. All sums up to 32 times the budget are then exact in double precision, in any order, and larger ones exceed
  the budget beyond doubt. So attack, search, solvers and certificate cannot disagree.

Both roundings favour the adversary: a guarantee holds for the set of the given costs, too. They admit shifts more
expensive than the budget by less than a 2^-32 part plus one unit for every step moved. A larger budget never means
fewer shifts, because the units of two budgets are nested. With budget 0 only free moves are affordable, and no rounding
is needed. (Calibrated costs are themselves doubles, within about 1e-15 of the logarithm that they represent.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardwood._util.arguments import check_numbers
from hardwood._util.arrays import FloatArray, read_only
from hardwood._util.deprecation import renamed_attributes
from hardwood._util.errors import ArgumentError
from hardwood._util.types import PerColumn
from hardwood.data.table import Table
from hardwood.shifts.calibration import budget_of
from hardwood.shifts.move_costs import MoveCosts, box_costs, calibrated_costs, given_costs
from hardwood.shifts.pair_tables import PairTable


def allowance(budget: float) -> float:
    """Return what a budget affords: the budget and a 2^-32 part of it, see the module's docstring."""
    return budget * (1.0 + 2.0**-32)


@renamed_attributes(spendable="affordable_total")
@dataclass(frozen=True, eq=False)
class UncertaintySet:
    """All shifts of a table whose total cost stays within the budget.

        { perturbation : sum over samples and features of cost(sample, feature, new value) <= budget }   (paper, Eq. 3)

    Parameters
    ----------
    costs : MoveCosts
        gamma of the paper; rounded to the set's unit here.
    budget : float
        epsilon of the paper; 0 leaves only the moves that cost nothing.
    """

    costs: MoveCosts
    budget: float

    def __post_init__(self) -> None:
        budget = check_numbers("budget", self.budget)
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
        certainty: PerColumn,
        plausibility: float,
        direction: PerColumn = None,
        bounds: PerColumn = None,
        clip: bool = False,
        missing_certainty: PerColumn = None,
    ) -> UncertaintySet:
        """Return the set of every shift that the likelihood ratio test at `plausibility` does not reject.

        Parameters
        ----------
        table : Table
        certainty : float, mapping, sequence or array
            One value for all columns, by column name, one for each column, or an array of samples by columns. By column
            name, it may also be one value for each sample, or a table P(value later | value now), see `pair_tables`.
        plausibility : float
            See `calibration.budget_of`.
        direction, bounds : optional
            See `reach.reaches`.
        clip : bool, default=False
            See `calibration.feature_costs`.
        missing_certainty : float, mapping or sequence, optional
            Probability that a value's missingness status does not change, for all columns, by column name, or one for
            each column; the column's certainty if not given.
        """
        costs = calibrated_costs(
            table,
            certainty,
            direction=direction,
            bounds=bounds,
            clip=clip,
            missing_certainty=missing_certainty,
        )
        return cls(costs, budget_of(plausibility, table.n_samples))

    @classmethod
    def priced(
        cls,
        table: Table,
        *,
        costs: PerColumn,
        budget: float,
        direction: PerColumn = None,
        bounds: PerColumn = None,
        steps: Sequence[int] | None = None,
        missing_certainty: PerColumn = None,
    ) -> UncertaintySet:
        """Return the set of given costs, for experts.

        Parameters
        ----------
        table : Table
        costs : float, mapping, sequence or array
            The cost of one step, for a categorical column that of changing the category: one value for all columns, by
            column name, one for each column, or an array of samples by columns. By column name, it may also be one
            value for each sample, and for a categorical column a cost by category (or an array of samples by
            categories): changing a into b then costs the cost of a plus the cost of b. A square table (frame, mapping
            of mappings, or array of values by values) holds the cost of every change.
        budget : float
        direction, bounds, steps : optional
            See `reach.reaches`.
        missing_certainty : optional
            See `calibrated`. Without it, a change to or from missing costs as much as a step.
        """
        move_costs = given_costs(
            table, costs, direction=direction, bounds=bounds, steps=steps, missing_certainty=missing_certainty
        )
        return cls(move_costs, budget)

    @classmethod
    def boxes(
        cls, table: Table, *, radius: PerColumn, direction: PerColumn = None, bounds: PerColumn = None
    ) -> UncertaintySet:
        """Return the set in which every sample moves freely within a box around it, all at once.

            { perturbation : |xi_ij| <= radius_j for every sample i and feature j }   (paper, section 5.1, p = infinity)

        Parameters
        ----------
        table : Table
        radius : int, mapping or sequence
            Steps by column name, one for each column, or one for all; a categorical value may change into any other if
            its radius is at least 1.
        direction, bounds : optional
            See `reach.reaches`.
        """
        return cls(box_costs(table, radius, direction=direction, bounds=bounds), 0.0)

    @property
    def unit(self) -> float:
        """All costs are multiples of this power of two; 0 if the budget is (nearly) 0 and nothing is rounded."""
        return math.ldexp(1.0, math.frexp(self.budget)[1] - 48) if self.budget else 0.0

    @property
    def affordable_total(self) -> float:
        """The allowance in whole units: the largest total that `affords` accepts."""
        return math.floor(allowance(self.budget) / self.unit) * self.unit if self.unit else self.budget

    def affords(self, total: ArrayLike) -> NDArray[np.bool_]:
        """Return whether the budget covers a total cost: the only place that compares the two."""
        return np.asarray(np.asarray(total) <= allowance(self.budget))

    def _rounded(self, costs: MoveCosts) -> MoveCosts:
        if not self.unit:
            return costs
        unit_costs = tuple(_rounded_down(own, self.unit) for own in costs.unit_costs)
        missing = tuple(None if own is None else _rounded_down(own, self.unit) for own in costs.missing_costs)
        tables = tuple(
            None if own is None else PairTable(own.codes, _rounded_down(own.numbers, self.unit))
            for own in costs.pair_costs
        )
        return MoveCosts(costs.table, costs.reach, unit_costs, missing, tables)


def _rounded_down(costs: FloatArray, unit: float) -> FloatArray:
    """Round costs down to multiples of a power of two. Dividing by it is exact; only floor changes a cost."""
    # From 2^53 units on, every double is a multiple already (and dividing a cost by a tiny unit may overflow).
    fine = costs < 2.0**53 * unit
    return read_only(np.where(fine, np.floor(np.where(fine, costs, 0.0) / unit) * unit, costs))
