"""Which certainty made the changes that were seen: likelihood, intervals and tests, for counts of one column.

Every distribution of a move (`calibration`) has one parameter, the certainty rho, which is the chance of no change:

    endless scale    P(k steps) = rho (1 - rho)^k        so rho = n / (n + steps); the interval is exact
    answers, yes/no  P(no change) = rho                  so rho = share unchanged; the interval is exact
    scale with ends  P(k steps) = rho e^(-k price(rho))  the price depends on rho and on the distances to the ends; the
                                                         likelihood is maximised, the interval is by its ratio
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammaln
from scipy.stats import beta, chi2

from hardwood.shift.calibration import FloatArray, bounded_price, lowest_certainty
from hardwood.shift.totals import Amounts, total_of

LEAST_EXPECTED = 5.0  # people in a cell of a test by chi squared
GRID = 60  # certainties at which a likelihood is looked at before it is maximised


@dataclass(frozen=True)
class Fitted:
    """A certainty, its interval, and the logarithm of its likelihood."""

    certainty: float
    low: float
    high: float
    likelihood: float


def fit_shares(unchanged: float, n: float, confidence: float, n_answers: int = 2) -> Fitted:
    """Of n answers, so many were the same: the exact (Clopper-Pearson) interval."""
    tail = (1.0 - confidence) / 2.0
    low = float(beta.ppf(tail, unchanged, n - unchanged + 1)) if unchanged > 0 else 0.0
    high = float(beta.ppf(1.0 - tail, unchanged + 1, n - unchanged)) if unchanged < n else 1.0
    changed = n - unchanged
    likelihood = _times_log(unchanged, unchanged / n) + _times_log(changed, changed / n / max(n_answers - 1, 1))
    return Fitted(unchanged / n, low, high, likelihood)


def fit_endless(n: float, steps: float, confidence: float) -> Fitted:
    """n values moved by so many steps in all, on a scale without ends.

    The sum of n geometric numbers has a negative binomial distribution, P(sum <= s) = I_rho(n, s + 1) with the
    incomplete beta function: inverted, that is an exact interval.
    """
    tail = (1.0 - confidence) / 2.0
    certainty = n / (n + steps)
    low = float(beta.ppf(tail, n, steps + 1))
    high = float(beta.ppf(1.0 - tail, n, steps)) if steps > 0 else 1.0
    return Fitted(certainty, low, high, _times_log(n, certainty) + _times_log(steps, 1.0 - certainty))


@dataclass(frozen=True, eq=False)
class ScaleCounts:
    """Moves along a scale that ends somewhere: values that are as far from its ends count together.

    below, above  distances to the ends, one for each kind of value; values that cannot move say nothing
    counts        kinds of values by steps: how many people moved so far, either way
    """

    below: FloatArray
    above: FloatArray
    counts: FloatArray

    @property
    def movable(self) -> NDArray[np.bool_]:
        """Which kinds of values have somewhere to go."""
        return np.asarray(self.below + self.above > 0)

    @property
    def people(self) -> FloatArray:
        """People by kind of value."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def steps(self) -> FloatArray:
        """Steps in all, by kind of value."""
        return np.asarray(self.counts @ np.arange(self.counts.shape[1]))

    def certainties(self, certainty: float | FloatArray) -> FloatArray:
        """The certainty of each kind of value: one over the number of values that it can reach, at least."""
        return np.asarray(np.maximum(np.asarray(certainty)[..., None], lowest_certainty(self.below, self.above)))

    def prices(self, certainty: float | FloatArray) -> FloatArray:
        """The price of a step, by kind of value; for several certainties, a row for each."""
        return bounded_price(self.certainties(certainty), self.below, self.above)

    def likelihood(self, certainty: float | FloatArray) -> FloatArray:
        """Its logarithm, but for what does not depend on the certainty; of one, or of several."""
        moved, there = self.steps > 0, self.movable
        stays = np.log(self.certainties(certainty)[..., there]) @ self.people[there]
        return np.asarray(stays - self.prices(certainty)[..., moved] @ self.steps[moved])

    def fit(self, confidence: float) -> Fitted:
        """The certainty of the highest likelihood, and all whose likelihood is not too much lower."""
        least = float(lowest_certainty(self.below, self.above)[self.movable].min(initial=1.0))
        if not self.steps.any():
            n = float(self.people[self.movable].sum())
            return Fitted(1.0, max(((1.0 - confidence) / 2.0) ** (1.0 / n), least) if n else 0.0, 1.0, 0.0)
        places = np.linspace(max(least, 1e-6), 1.0, GRID + 2)[1:-1]
        best = int(np.argmax(self.likelihood(places)))
        ends = float(places[max(best - 1, 0)]), float(places[min(best + 1, GRID - 1)])
        found = minimize_scalar(lambda rho: -float(self.likelihood(rho)), bounds=ends, method="bounded")
        certainty = max(float(found.x), float(places[best]), key=lambda rho: float(self.likelihood(rho)))
        top = float(self.likelihood(certainty))
        fall = float(chi2.ppf(confidence, 1)) / 2.0

        def above_bar(rho: float) -> float:
            return float(self.likelihood(rho)) - top + fall

        first, last = max(least, 1e-9) * (1 + 1e-9), 1.0 - 1e-12
        low = float(brentq(above_bar, first, certainty)) if above_bar(first) < 0 else first
        high = float(brentq(above_bar, certainty, last)) if above_bar(last) < 0 else 1.0
        return Fitted(certainty, low, high, top)

    def expected(self, certainty: float) -> FloatArray:
        """Kinds of values by steps: how many people should have moved so far."""
        steps = np.arange(self.counts.shape[1])
        ways = (steps <= self.below[:, None]).astype(np.float64) + (steps <= self.above[:, None])
        ways[:, 0] = 1.0
        prices = np.minimum(self.prices(certainty), 700.0)[:, None]
        chances = self.certainties(certainty)[:, None] * np.exp(-prices * steps) * ways
        chances[~self.movable] = np.eye(1, len(steps))
        return np.asarray(chances * self.people[:, None])


def shape_test(seen: FloatArray, expected: FloatArray, n_people: float) -> float | None:
    """The p-value of seeing so many people by number of steps; None if too few moved to tell.

    seen, expected  by number of steps, from 0 on; what is expected beyond counts with the last
    """
    expected = np.append(expected, max(n_people - expected.sum(), 0.0))
    seen = np.append(seen, 0.0)
    groups: list[tuple[float, float]] = []
    # From far to near: numbers of steps that are rare count together.
    for own, wanted in zip(seen[::-1].tolist(), expected[::-1].tolist(), strict=True):
        if groups and groups[-1][1] < LEAST_EXPECTED:
            groups[-1] = groups[-1][0] + own, groups[-1][1] + wanted
        else:
            groups.append((own, wanted))
    if len(groups) > 1 and groups[-1][1] < LEAST_EXPECTED:
        nearest = groups.pop()
        groups[-1] = groups[-1][0] + nearest[0], groups[-1][1] + nearest[1]
    return _chi_squared(groups, len(groups) - 2)


def answers_test(counts: FloatArray, certainty: float) -> float | None:
    """The p-value of changes between answers that are all as likely as each other, and as likely from each answer.

    counts  answers now by answers later
    """
    n_answers = len(counts)
    asked = counts.sum(axis=1) > 0
    wanted = np.full(counts.shape, (1.0 - certainty) / max(n_answers - 1, 1))
    np.fill_diagonal(wanted, certainty)
    expected = wanted * counts.sum(axis=1, keepdims=True)
    # A cell varies by its expectation times (1 - its share of the row); that is its part of the degrees of freedom.
    groups: list[tuple[float, float]] = []
    rest, varies, freedom = (0.0, 0.0), 0.0, -1.0  # one for the certainty, which was fitted
    for row in np.flatnonzero(asked):
        rare = expected[row] < LEAST_EXPECTED
        groups += [(float(counts[row, k]), float(expected[row, k])) for k in np.flatnonzero(~rare)]
        freedom += float((1.0 - wanted[row, ~rare]).sum())
        rest = rest[0] + float(counts[row, rare].sum()), rest[1] + float(expected[row, rare].sum())
        varies += float(expected[row, rare].sum()) * (1.0 - float(wanted[row, rare].sum()))
    if rest[1] >= LEAST_EXPECTED:
        groups.append(rest)
        freedom += varies / rest[1]
    return _chi_squared(groups, freedom)


def _chi_squared(groups: list[tuple[float, float]], freedom: float) -> float | None:
    if freedom < 0.5:
        return None
    return float(chi2.sf(sum((own - wanted) ** 2 / wanted for own, wanted in groups), freedom))


def direction_test(up: FloatArray, down: FloatArray, chance_up: FloatArray) -> float | None:
    """The p-value (two-sided, exact) of so many moves up among all, if each way is as likely as the scale makes it.

    up, down   people who moved so, by kind of value
    chance_up  of a move by chance, by kind of value
    """
    moved = np.round(up + down).astype(np.int64)
    told = (moved > 0) & (chance_up > 0) & (chance_up < 1)
    if not told.any():
        return None
    coins = [
        Amounts(np.array([0.0, 1.0]), np.array([1.0 - p, p]), int(n))
        for p, n in zip(chance_up[told], moved[told], strict=True)
    ]
    ups = total_of(coins)
    seen = float(np.round(up[told].sum()))
    return min(1.0, 2.0 * min(ups.at_most(seen).value, ups.at_least(seen).value))


def same_for_all(together: float, apart: list[float]) -> float | None:
    """The p-value of groups that have one certainty: likelihoods (logarithms) of one for all, and of one for each."""
    if len(apart) < 2:
        return None
    return float(chi2.sf(max(2.0 * (sum(apart) - together), 0.0), len(apart) - 1))


def smoothed(counts: FloatArray, model: FloatArray) -> FloatArray:
    """P(later | now): the shares that were seen, drawn towards those of a model where few people were asked.

    Each row is the mean of a Dirichlet distribution whose prior is worth so many people as makes all counts most
    likely (empirical Bayes): many where the counts look like the model, few where they do not.
    """
    possible = model > 0

    def unlikely(log_worth: float) -> float:
        prior = math.exp(log_worth) * model[possible]
        own = gammaln(prior + counts[possible]) - gammaln(prior)
        rows = counts.sum(axis=1)
        worth = math.exp(log_worth)
        return -float(own.sum() + (gammaln(worth) - gammaln(worth + rows)).sum())

    places = np.linspace(-2.0, 12.0, 57)
    best = float(places[int(np.argmin([unlikely(place) for place in places]))])
    worth = math.exp(best)
    return np.asarray((counts + worth * model) / (counts.sum(axis=1, keepdims=True) + worth))


def worth_of_one(weights: FloatArray) -> float:
    """By what weights must be scaled to add up to the number of people that they are worth to an estimate (Kish)."""
    return float(weights.sum() / (weights**2).sum())


def grouped_steps(
    below: FloatArray, above: FloatArray, steps: NDArray[np.int64], people: FloatArray
) -> tuple[ScaleCounts, NDArray[np.intp]]:
    """Moves counted by kind of value, as far from either end; and the kind of each value."""
    near, far = np.minimum(below, above), np.maximum(below, above)
    kinds, place = np.unique(np.column_stack([near, far]), axis=0, return_inverse=True)
    counts = np.zeros((len(kinds), int(np.abs(steps).max(initial=0)) + 1))
    np.add.at(counts, (place.ravel(), np.abs(steps)), people)
    return ScaleCounts(kinds[:, 0], kinds[:, 1], counts), place.ravel()


def _times_log(times: float, number: float) -> float:
    return times * math.log(number) if times > 0 else 0.0
