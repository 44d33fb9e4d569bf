"""What is maximised: samples correct in the worst case, less a penalty for each branching node.

    maximise   (samples correct in the worst case) - penalty * (branching nodes)

Where the adversary may flip the last sample in part, values are not integers. Solvers then maximise values rounded up
to multiples of a `quantum`, and claims hold to within a `resolution`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

import numpy as np

from hardwood._util import compiled
from hardwood._util.arguments import check_numbers
from hardwood._util.errors import ArgumentError
from hardwood.data.labels import Labels
from hardwood.data.table import Table
from hardwood.shifts.reach import on_scale
from hardwood.trees.attack import Attack

MAX_PENALTY = 1e100  # with more, objectives would leave the range of doubles
# Values that are not integers are distinguished to within a sample divided by the first number (distributional goal),
# or to within the average weight of a row divided by the second (real weights). Solvers that only know integer values
# are given copies of each row, as many as the first number.
DISTRIBUTIONAL_FINENESS = 100
WEIGHTED_FINENESS = 2
MAX_REPEATED_ROWS = 2_000_000
NEAR_ZERO = compiled.FRACTIONAL_ZERO_MULTIPLIER  # quanta by which bounds of the search may miss a value
# (docs/theory.md#weights)


class Goal(StrEnum):
    """Which samples count as correct."""

    ROBUST = "robust"
    """R: total weight of the samples that are correct after the worst affordable shift.

    The adversary flips samples one by one if sample weights are integers and there are no class weights. Otherwise it
    may flip the last sample in part."""
    DISTRIBUTIONAL = "distributional"
    """D: the same if the adversary may always flip the last sample in part (docs/distributional.md); R is D rounded up.
    """


@dataclass(frozen=True, eq=False)
class Objective:
    """What a problem maximises.

    Parameters
    ----------
    table : Table
    labels : Labels
        Labels and weights of the table.
    max_depth : int
        Depth of a full tree.
    goal : Goal
        Which samples count as correct.
    branch_penalty : float or None
        Penalty for each branching node, in samples. None asks for the fewest branching nodes among the best trees: the
        penalty is then `quantum` / 2^max_depth.

    Raises
    ------
    ArgumentError
        If the penalty is negative, too large, or too small for double precision.
    """

    table: Table
    labels: Labels
    max_depth: int
    goal: Goal
    branch_penalty: float | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "branch_penalty", self._checked_penalty())

    def _checked_penalty(self) -> float:
        if self.branch_penalty is None:
            return math.ldexp(self.quantum, -self.max_depth)
        penalty = float(check_numbers("branch_penalty", self.branch_penalty))
        if not 0 <= penalty <= MAX_PENALTY:
            raise ArgumentError("branch_penalty", self.branch_penalty, f"it must lie in [0, {MAX_PENALTY:g}]")
        # Objectives are doubles, exact to within half a unit in the last place of the number of samples, or of the
        # total penalty. Eight such units distinguish trees that differ by one split, whatever the sum.
        smallest = math.ldexp(self.total, -50)
        if 0 < penalty < smallest:
            raise ArgumentError(
                "branch_penalty",
                penalty,
                f"with {self.total:g} samples it must be 0, or at least {smallest!r} to make a difference in double "
                f"precision",
                remedy="leave it out for the fewest splits among the best trees",
            )
        return penalty

    @cached_property
    def total(self) -> float:
        """Total weight of all samples, class weights included; their number if there are no weights."""
        return self.labels.total

    @property
    def penalty(self) -> float:
        """Penalty for each branching node, in samples."""
        return float(self.branch_penalty)  # type: ignore[arg-type]  # set in __post_init__

    @property
    def max_splits(self) -> int:
        """Number of splits of a full tree."""
        return (1 << self.max_depth) - 1

    @property
    def solver_penalty(self) -> float:
        """A penalty with the same optimal trees that solvers can represent, in quanta.

        If the penalties of a full tree add up to less than one quantum, trees are ordered by the samples that they keep
        and then by their splits, whatever the penalty; 1 / 2^max_depth gives the same order. If one split costs more
        than all samples, it is never worth it, and a larger penalty changes nothing.
        """
        penalty = Fraction(self.penalty) / Fraction(self.quantum)
        if 0 < penalty * self.max_splits < 1:
            return math.ldexp(1.0, -self.max_depth)
        return float(min(penalty, Fraction(self.total) / Fraction(self.quantum) + 1))

    @property
    def fractional(self) -> bool:
        """Whether the adversary may flip the last sample in part, so that values are not integers."""
        return self.goal is Goal.DISTRIBUTIONAL or not self.labels.integral

    @property
    def copies(self) -> int:
        """Number of copies of each row that represent the distributional value; 1 for the robust goal."""
        if self.goal is Goal.ROBUST:
            return 1
        return max(1, min(DISTRIBUTIONAL_FINENESS, int(MAX_REPEATED_ROWS // self.labels.total_weight)))

    @cached_property
    def quantum(self) -> float:
        """Smallest difference of values that counts: solvers maximise values rounded up to multiples of it."""
        if self.labels.integral:
            return 1.0 / self.fineness
        n_rows = self.labels.total_weight if self.labels.has_integer_weights else self.table.n_samples
        return self.total / n_rows / self.fineness

    @property
    def fineness(self) -> int:
        """Number of quanta in a sample, or in a row of average weight."""
        if self.labels.integral:
            return self.copies
        return WEIGHTED_FINENESS if self.goal is Goal.ROBUST else DISTRIBUTIONAL_FINENESS

    @property
    def resolution(self) -> float:
        """Objectives that differ by less are not distinguished: 0 where values are integers.

        Other values are rounded up to the next multiple of `quantum`. Bounds may miss some by `NEAR_ZERO` quanta, and
        by roundings of the search, or of a table with m copies of each row, where R_m = ceil(m D) (`lost_to_rounding`).
        """
        if not self.fractional:
            return 0.0
        copied = 2.0 * self.lost_to_rounding if self.labels.integral else 0.0
        return (1.0 + NEAR_ZERO + max(2.0 * self.rounding, copied)) * self.quantum

    @property
    def rounding(self) -> float:
        """Number of quanta by which a value that is not an integer may be missed (docs/theory.md#numbers).

        Sums of integer weights, and of their costs, are exact.
        """
        terms = 0.0 if self.labels.integral else 4.0 * self.table.n_samples
        return math.ldexp((terms + 256.0) * self.total / self.quantum, -53)

    @property
    def lost_to_rounding(self) -> float:
        """Number of copies by which the value of a tree on the repeated table may miss the repeated value.

        On the repeated table, costs are rounded down to a unit of at most 2^-47 of the repeated budget C, and C is
        rounded to whole units. Let p be the fraction of each of the M copies that the adversary flips at rounded costs.
        With at most S steps each, p costs less than C (1 + e) at exact costs, e = M (S + 1) 2^-47. So p / (1 + e) is
        affordable at exact costs, and flips less by at most M e.
        """
        spans = [
            int(np.ptp(on_scale(feature, self.table.values[:, j]).astype(np.int64)))
            if feature.ordered
            else 2  # leaving a category and arriving at another
            for j, feature in enumerate(self.table.features)
        ]
        return float(self.labels.total_weight * self.copies) ** 2 * (sum(spans) + 1) * 2.0**-47

    def value(self, correct: float, splits: int) -> float:
        """Compute the objective, rounded once: a larger double is larger in exact arithmetic, too.

        Parameters
        ----------
        correct : float
            Weight of the samples that are correct in the worst case.
        splits : int
            Number of branching nodes.

        Returns
        -------
        value : float
        """
        return float(Fraction(correct) - Fraction(self.penalty) * splits)

    def value_of(self, found: Attack) -> float:
        """Compute the objective of a tree from the attack on it."""
        correct = found.distributional_value if self.fractional else found.worst_case_correct
        return self.value(correct, found.tree.n_branching_nodes)

    def max_correct(self, objective_bound: float) -> float:
        """Derive an upper bound on correct samples from a bound on the objective.

        A full tree pays the largest penalty. A bound is a double and may be too low by a rounding, which is added.

        Parameters
        ----------
        objective_bound : float
            No tree has a larger objective.

        Returns
        -------
        bound : float
            No tree keeps more samples correct; R is D rounded up.
        """
        rounding = math.ldexp(self.total + min(abs(objective_bound), 2.0 * self.total), -52)
        bound = objective_bound + self.penalty * min(self.max_splits, 2**60) + rounding
        if bound >= self.total:
            return self.total
        if not self.labels.integral:
            return bound
        return math.ceil(bound) if self.fractional else math.floor(bound)
