"""Maximum-likelihood fits of the certainty to the observed changes of one column, with intervals and tests.

Every distribution of a move (`calibration`) has one parameter, the certainty rho, which is the probability of no
change:

    unbounded scale  P(k steps) = rho (1 - rho)^k       so rho = n / (n + steps); the interval is exact
    categories       P(no change) = rho                 so rho = share unchanged; the interval is exact
    bounded scale    P(k steps) = rho e^(-k cost(rho))  the cost of a step depends on rho and on the distances to the
                                                        ends; the interval follows from the likelihood ratio
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammaln
from scipy.stats import beta, chi2

from hardwood._util.arrays import FloatArray
from hardwood.shifts.calibration import bounded_cost, lowest_certainty
from hardwood.shifts.sums import Amounts, total_of

MIN_EXPECTED = 5.0  # expected count in a cell, below which the chi-squared approximation is poor
_GRID_SIZE = 60  # certainties at which the likelihood is computed before it is maximised locally


@dataclass(frozen=True)
class Fitted:
    """A fitted certainty.

    Parameters
    ----------
    certainty : float
        The certainty of the highest likelihood.
    low, high : float
        Its confidence interval.
    likelihood : float
        The logarithm of the likelihood at `certainty`.
    """

    certainty: float
    low: float
    high: float
    likelihood: float


def fit_shares(unchanged: float, n: float, confidence: float, n_values: int = 2) -> Fitted:
    """Fit the certainty of a column without an order, with the exact (Clopper-Pearson) interval.

    Parameters
    ----------
    unchanged : float
        Number of values that did not change.
    n : float
        Number of values.
    confidence : float
        Confidence of the interval.
    n_values : int, default=2
        Number of values that the column can take.

    Returns
    -------
    fitted : Fitted
    """
    tail = (1.0 - confidence) / 2.0
    low = float(beta.ppf(tail, unchanged, n - unchanged + 1)) if unchanged > 0 else 0.0
    high = float(beta.ppf(1.0 - tail, unchanged + 1, n - unchanged)) if unchanged < n else 1.0
    changed = n - unchanged
    likelihood = _times_log(unchanged, unchanged / n) + _times_log(changed, changed / n / max(n_values - 1, 1))
    return Fitted(unchanged / n, low, high, likelihood)


def fit_endless(n: float, steps: float, confidence: float) -> Fitted:
    """Fit the certainty of an unbounded scale on which n values moved by `steps` in total, with an exact interval.

    Parameters
    ----------
    n : float
        Number of values.
    steps : float
        Total number of steps that they moved.
    confidence : float
        Confidence of the interval.

    Returns
    -------
    fitted : Fitted

    Notes
    -----
    The sum of n geometric variables has a negative binomial distribution, P(sum <= s) = I_rho(n, s + 1) with the
    regularised incomplete beta function I. Inverting it gives the interval.
    """
    tail = (1.0 - confidence) / 2.0
    certainty = n / (n + steps)
    low = float(beta.ppf(tail, n, steps + 1))
    high = float(beta.ppf(1.0 - tail, n, steps)) if steps > 0 else 1.0
    return Fitted(certainty, low, high, _times_log(n, certainty) + _times_log(steps, 1.0 - certainty))


@dataclass(frozen=True, eq=False)
class ScaleCounts:
    """Moves along a bounded scale. Values with the same distances to its ends form a group.

    Parameters
    ----------
    below, above : array of shape (n_groups,)
        Distances to the ends. Groups that cannot move carry no information.
    counts : array of shape (n_groups, n_steps)
        Weight of the values that moved by 0, 1, ... steps in either direction.
    """

    below: FloatArray
    above: FloatArray
    counts: FloatArray

    @property
    def movable(self) -> NDArray[np.bool_]:
        """Groups that can move."""
        return np.asarray(self.below + self.above > 0)

    @property
    def total_weight(self) -> FloatArray:
        """Total weight of each group."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def steps(self) -> FloatArray:
        """Total number of steps of each group."""
        return np.asarray(self.counts @ np.arange(self.counts.shape[1]))

    def certainties(self, certainty: float | FloatArray) -> FloatArray:
        """Certainty of each group: at least one over the number of values that it can reach."""
        return np.asarray(np.maximum(np.asarray(certainty)[..., None], lowest_certainty(self.below, self.above)))

    def costs(self, certainty: float | FloatArray) -> FloatArray:
        """Cost of a step for each group; for several certainties, one row for each."""
        return bounded_cost(self.certainties(certainty), self.below, self.above)

    def likelihood(self, certainty: float | FloatArray) -> FloatArray:
        """Logarithm of the likelihood of one or several certainties, without terms that do not depend on them."""
        moved, movable = self.steps > 0, self.movable
        log_unchanged = np.log(self.certainties(certainty)[..., movable]) @ self.total_weight[movable]
        return np.asarray(log_unchanged - self.costs(certainty)[..., moved] @ self.steps[moved])

    def fit(self, confidence: float) -> Fitted:
        """Maximise the likelihood; the interval holds all certainties that the likelihood ratio test accepts."""
        lowest = float(lowest_certainty(self.below, self.above)[self.movable].min(initial=1.0))
        if not self.steps.any():
            n = float(self.total_weight[self.movable].sum())
            return Fitted(1.0, max(((1.0 - confidence) / 2.0) ** (1.0 / n), lowest) if n else 0.0, 1.0, 0.0)
        grid = np.linspace(max(lowest, 1e-6), 1.0, _GRID_SIZE + 2)[1:-1]
        best = int(np.argmax(self.likelihood(grid)))
        ends = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, _GRID_SIZE - 1)])
        found = minimize_scalar(lambda rho: -float(self.likelihood(rho)), bounds=ends, method="bounded")
        certainty = max(float(found.x), float(grid[best]), key=lambda rho: float(self.likelihood(rho)))
        maximum = float(self.likelihood(certainty))
        max_drop = float(chi2.ppf(confidence, 1)) / 2.0

        def acceptance(rho: float) -> float:
            return float(self.likelihood(rho)) - maximum + max_drop

        first, last = max(lowest, 1e-9) * (1 + 1e-9), 1.0 - 1e-12
        low = float(brentq(acceptance, first, certainty)) if acceptance(first) < 0 else first
        high = float(brentq(acceptance, certainty, last)) if acceptance(last) < 0 else 1.0
        return Fitted(certainty, low, high, maximum)

    def expected(self, certainty: float) -> FloatArray:
        """Expected `counts` at a certainty."""
        steps = np.arange(self.counts.shape[1])
        n_directions = (steps <= self.below[:, None]).astype(np.float64) + (steps <= self.above[:, None])
        n_directions[:, 0] = 1.0
        costs = np.minimum(self.costs(certainty), 700.0)[:, None]
        probabilities = self.certainties(certainty)[:, None] * np.exp(-costs * steps) * n_directions
        probabilities[~self.movable] = np.eye(1, len(steps))
        return np.asarray(probabilities * self.total_weight[:, None])


def shape_test(observed: FloatArray, expected: FloatArray, total_weight: float) -> float | None:
    """Test whether the numbers of steps fit the fitted distribution.

    Parameters
    ----------
    observed, expected : array
        Weight of the values that moved by 0, 1, ... steps. What is expected beyond counts as one more number of steps.
    total_weight : float
        Total weight of the values.

    Returns
    -------
    p : float or None
        The p-value; None if too few values moved.
    """
    expected = np.append(expected, max(total_weight - expected.sum(), 0.0))
    observed = np.append(observed, 0.0)
    cells: list[tuple[float, float]] = []
    # From the largest number of steps down: rare numbers of steps are merged with their neighbours.
    for count, expectation in zip(observed[::-1].tolist(), expected[::-1].tolist(), strict=True):
        if cells and cells[-1][1] < MIN_EXPECTED:
            cells[-1] = cells[-1][0] + count, cells[-1][1] + expectation
        else:
            cells.append((count, expectation))
    if len(cells) > 1 and cells[-1][1] < MIN_EXPECTED:
        nearest = cells.pop()
        cells[-1] = cells[-1][0] + nearest[0], cells[-1][1] + nearest[1]
    return _chi_squared(cells, len(cells) - 2)


def values_test(counts: FloatArray, certainty: float) -> float | None:
    """Test whether all changes between values are equally likely, and equally likely from each value.

    Parameters
    ----------
    counts : array of shape (n_values, n_values)
        Weight by value now (rows) and value later (columns).
    certainty : float
        The fitted certainty.

    Returns
    -------
    p : float or None
        The p-value; None if too few values changed.
    """
    n_values = len(counts)
    model = np.full(counts.shape, (1.0 - certainty) / max(n_values - 1, 1))
    np.fill_diagonal(model, certainty)
    row_totals = counts.sum(axis=1, keepdims=True)
    expected = model * row_totals
    # The variance of a cell is its expectation times (1 - its share of the row); the second factor is the part that the
    # cell adds to the degrees of freedom.
    cells: list[tuple[float, float]] = []
    rare_observed = rare_expected = rare_variance = 0.0
    freedom = -1.0  # the certainty was fitted
    for row in np.flatnonzero(row_totals[:, 0] > 0):
        rare = expected[row] < MIN_EXPECTED
        cells += [(float(counts[row, k]), float(expected[row, k])) for k in np.flatnonzero(~rare)]
        freedom += float((1.0 - model[row, ~rare]).sum())
        rare_observed += float(counts[row, rare].sum())
        rare_expected += float(expected[row, rare].sum())
        rare_variance += float(expected[row, rare].sum()) * (1.0 - float(model[row, rare].sum()))
    if rare_expected >= MIN_EXPECTED:
        cells.append((rare_observed, rare_expected))
        freedom += rare_variance / rare_expected
    return _chi_squared(cells, freedom)


def _chi_squared(cells: list[tuple[float, float]], freedom: float) -> float | None:
    """The p-value of Pearson's test for (observed, expected) cells; None without a degree of freedom."""
    if freedom < 0.5:
        return None
    return float(chi2.sf(sum((count - expected) ** 2 / expected for count, expected in cells), freedom))


def direction_test(up: FloatArray, down: FloatArray, up_probability: FloatArray) -> float | None:
    """Test, two-sided and exact, whether moves up are as frequent as the ends of the scale make them.

    Parameters
    ----------
    up, down : array of shape (n_groups,)
        Weight of the values that moved up and down.
    up_probability : array of shape (n_groups,)
        Probability that a move of the group goes up.

    Returns
    -------
    p : float or None
        The p-value; None if no value that moved could have moved in either direction.
    """
    n_moves = np.round(up + down).astype(np.int64)
    informative = (n_moves > 0) & (up_probability > 0) & (up_probability < 1)
    if not informative.any():
        return None
    coins = [
        Amounts(np.array([0.0, 1.0]), np.array([1.0 - p, p]), int(n))
        for p, n in zip(up_probability[informative], n_moves[informative], strict=True)
    ]
    n_up = total_of(coins)
    observed = float(np.round(up[informative].sum()))
    return min(1.0, 2.0 * min(n_up.at_most(observed).value, n_up.at_least(observed).value))


def homogeneity_test(pooled: float, separate: list[float]) -> float | None:
    """Test whether all groups have the same certainty, by the likelihood ratio.

    Parameters
    ----------
    pooled : float
        Logarithm of the likelihood with one certainty for all groups.
    separate : list of float
        Logarithm of the likelihood of each group with its own certainty.

    Returns
    -------
    p : float or None
        The p-value; None with fewer than two groups.
    """
    if len(separate) < 2:
        return None
    return float(chi2.sf(max(2.0 * (sum(separate) - pooled), 0.0), len(separate) - 1))


def smoothed(counts: FloatArray, model: FloatArray) -> FloatArray:
    """Estimate P(later | now): the observed shares, shrunk towards a model where counts are small.

    Parameters
    ----------
    counts : array of shape (n_values, n_values)
        Weight by value now (rows) and value later (columns).
    model : array of shape (n_values, n_values)
        P(later | now) of the model.

    Returns
    -------
    shares : array of shape (n_values, n_values)

    Notes
    -----
    Each row is the posterior mean of a Dirichlet distribution. The weight of its prior maximises the likelihood of all
    counts (empirical Bayes): it is large where the counts agree with the model.
    """
    possible = model > 0
    row_totals = counts.sum(axis=1)

    def negative_likelihood(log_weight: float) -> float:
        prior_weight = math.exp(log_weight)
        prior = prior_weight * model[possible]
        cells = gammaln(prior + counts[possible]) - gammaln(prior)
        return -float(cells.sum() + (gammaln(prior_weight) - gammaln(prior_weight + row_totals)).sum())

    grid = np.linspace(-2.0, 12.0, 57)
    best = float(grid[int(np.argmin([negative_likelihood(log_weight) for log_weight in grid]))])
    prior_weight = math.exp(best)
    return np.asarray((counts + prior_weight * model) / (counts.sum(axis=1, keepdims=True) + prior_weight))


def effective_scale(weights: FloatArray) -> float:
    """Factor that scales weights to add up to their effective sample size (Kish)."""
    return float(weights.sum() / (weights**2).sum())


def grouped_steps(
    below: FloatArray, above: FloatArray, steps: NDArray[np.int64], weights: FloatArray
) -> tuple[ScaleCounts, NDArray[np.intp]]:
    """Group values by their distances to the ends of a scale, in either order.

    Parameters
    ----------
    below, above : array of shape (n_samples,)
        Distances to the ends.
    steps : array of shape (n_samples,)
        Signed number of steps that each value moved.
    weights : array of shape (n_samples,)

    Returns
    -------
    counts : ScaleCounts
    group : array of shape (n_samples,)
        Group of each value.
    """
    nearer, farther = np.minimum(below, above), np.maximum(below, above)
    distances, group = np.unique(np.column_stack([nearer, farther]), axis=0, return_inverse=True)
    counts = np.zeros((len(distances), int(np.abs(steps).max(initial=0)) + 1))
    np.add.at(counts, (group.ravel(), np.abs(steps)), weights)
    return ScaleCounts(distances[:, 0], distances[:, 1], counts), group.ravel()


def _times_log(count: float, number: float) -> float:
    """count * log(number), which is 0 for a count of 0."""
    return count * math.log(number) if count > 0 else 0.0
