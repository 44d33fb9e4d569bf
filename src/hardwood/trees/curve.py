"""Worst-case accuracy as a function of the budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardwood._util.arguments import check_numbers
from hardwood._util.arrays import FloatArray
from hardwood._util.deprecation import renamed_attributes
from hardwood.data.labels import Labels
from hardwood.shifts.calibration import budget_of
from hardwood.shifts.uncertainty_set import allowance

MAX_CORNERS = 10_000_000  # listed by `Curve.budgets`


@renamed_attributes(people="total_weight", in_part="fractional")
@dataclass(frozen=True, eq=False)
class Curve:
    """Weight of the samples that stay correct in the worst case, for every budget.

    The curve is a staircase that falls whenever the budget affords one more sample. Where `fractional` is set, it is
    continuous and piecewise linear.

    Parameters
    ----------
    total : float
        Total weight of all samples, class weights included; the number of samples if there are no weights.
    total_weight : float
        Total sample weight, without class weights; a plausibility is stated per unit of it.
    margins : ndarray of float
        Distinct costs of misclassifying one unit of weight, ascending. Samples that no shift can flip are left out.
    counts : ndarray of float
        Weight that has each of these costs.
    fractional : bool, default=False
        Whether the adversary may flip a sample in part.

    Notes
    -----
    Costs are those of the attack's uncertainty set, rounded down to its unit: exact at the budget of that set. For a
    much smaller budget, make a separate set if costs within 2^-47 of the larger budget are too coarse.
    """

    total: float
    total_weight: float
    margins: FloatArray
    counts: FloatArray
    fractional: bool = False

    @classmethod
    def of(cls, margins: FloatArray, labels: Labels) -> Curve:
        """Compute the curve of samples with given margins.

        Parameters
        ----------
        margins : ndarray of float
            Margin of each sample.
        labels : Labels
            Labels and weights of the samples.

        Returns
        -------
        curve : Curve
        """
        finite = np.isfinite(margins)
        costs = margins[finite] / labels.sample_class_weights[finite]
        distinct, group = np.unique(costs, return_inverse=True)
        weights = (labels.sample_weights * labels.sample_class_weights)[finite]
        counts = np.bincount(group.ravel(), weights=weights, minlength=len(distinct)).astype(np.float64)
        return cls(labels.total, labels.total_weight, distinct, counts, not labels.integral)

    def __add__(self, other: Curve) -> Curve:
        """Compute the curve of the samples of both."""
        margins, group = np.unique(np.concatenate([self.margins, other.margins]), return_inverse=True)
        counts = np.zeros(margins.size)
        np.add.at(counts, group, np.concatenate([self.counts, other.counts]))
        fractional = self.fractional or other.fractional
        return Curve(self.total + other.total, self.total_weight + other.total_weight, margins, counts, fractional)

    @property
    def budgets(self) -> FloatArray:
        """Budgets at which the curve has a corner, ascending.

        There is one corner for each sample that can be flipped: the total cost of all samples up to it. If samples may
        be flipped in part, or are too many to list, there is one corner for each distinct cost.
        """
        if self.fractional or self.counts.sum() > MAX_CORNERS:
            return np.cumsum(self.margins * self.counts)
        return np.cumsum(np.repeat(self.margins, self.counts.astype(np.int64)))

    def correct_at(self, budget: ArrayLike) -> NDArray[np.intp] | FloatArray:
        """Compute how much stays correct after the worst shift within a budget.

        Parameters
        ----------
        budget : float or array-like of float
            One budget, or several.

        Returns
        -------
        correct : ndarray
            Weight of the correct samples for each budget; integers unless `fractional` is set.

        Raises
        ------
        ValueError
            If a budget is negative or not a number.
        """
        given = check_numbers("budget", budget)
        if not (given >= 0).all():
            raise ValueError(f"budget is {budget!r}; expected numbers >= 0")
        correct = self.total - self._lost(allowance(1.0) * given)
        return np.asarray(np.maximum(correct, 0.0) if self.fractional else correct.astype(np.intp))

    def _lost(self, spent: FloatArray) -> FloatArray:
        """Weight that a total cost flips: all with smaller margins, and a part of those with the next margin."""
        costs = np.concatenate([[0.0], np.cumsum(self.margins * self.counts)])
        lost = np.concatenate([[0.0], np.cumsum(self.counts)])
        n_groups = np.searchsorted(costs[1:], spent, side="right")  # flipped completely
        margin, remaining = np.append(self.margins, 1.0)[n_groups], spent - costs[n_groups]
        more = remaining / margin if self.fractional else copies_within(remaining, margin)
        return np.asarray(lost[n_groups] + np.where(n_groups < self.margins.size, more, 0.0))

    def accuracy_at(self, budget: ArrayLike) -> FloatArray:
        """Compute the worst-case accuracy within a budget; see `correct_at`."""
        return np.asarray(self.correct_at(budget) / self.total)

    def accuracy_at_plausibility(self, plausibility: float) -> float:
        """Compute the worst-case accuracy at the budget of a plausibility."""
        return float(self.accuracy_at(budget_of(plausibility, self.total_weight)))


def copies_within(spent: ArrayLike, cost: ArrayLike) -> FloatArray:
    """Count how many times a total covers a cost.

    Multiples of costs are exact up to the budget; a quotient is not, so it is corrected by comparing multiples.
    """
    spent, cost = np.asarray(spent, dtype=np.float64), np.asarray(cost, dtype=np.float64)
    times = np.floor(spent / cost)
    times = np.where((times + 1) * cost <= spent, times + 1, times)
    return np.asarray(np.where((times > 0) & (times * cost > spent), times - 1, times))
