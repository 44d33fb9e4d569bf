"""The distribution of a sum of many independent amounts, with a bound on every error.

The cost of a random shift and the number of samples that stay correct are such sums. The method is convolution:

* Equal amounts that are multiples of one step (n samples that may each move by some steps of one cost) add up to
  multiples of that step: their sum is computed exactly on that lattice.
* If all amounts share a step, no more is needed. Otherwise each of these sums, and each amount without a step, is
  rounded to the nearest point of a common grid. The errors are independent, their means and variances are known, and
  Bernstein's inequality bounds how far their sum differs from its mean, except with probability `DOUBT`
  (docs/shifts.md#sums). So the probability of staying below any number lies between two computed ones.

Convolutions use fast Fourier transforms. The probability that is cut off at the ends of sums shows in the total at the
end; it is part of the bounds, as is the rounding of doubles (`ROUNDING`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hardwood._util.arrays import FloatArray
from hardwood.shifts.lattice import Lattice, sum_of

FINENESS = 1 << 16  # points of the grid in one standard deviation of the sum ...
COARSENESS, MANY = 1 << 14, 2000  # ... and with this many different amounts, which would take long
LONGEST = 1 << 16  # points of the grid in the largest single amount
DOUBT = 1e-6  # probability with which rounding errors may exceed their bound
ROUNDING = 1e-9  # bound on accumulated rounding of doubles
MAX_KINDS = 20_000  # of amounts; beyond, the sum is simulated ...
MIN_DRAWS, MAX_DRAWS = 1_000, 100_000  # ... with this many draws ...
MAX_CELLS = 100_000_000  # ... and as often as this many single draws allow
SAME = 1e-9  # relative difference of numbers that are meant to be the same, and ...
MULTIPLE = 1e-12  # ... by which a number may miss a multiple of a step
WIDE = 2e-3  # bounds further apart have a point of positive probability between them


@dataclass(frozen=True)
class Probability:
    """A probability with bounds.

    Parameters
    ----------
    value, low, high : float
    draws : int or None
        Number of simulations: then `low` and `high` are a 99 % interval. None: they are computed bounds.
    """

    value: float
    low: float
    high: float
    draws: int | None = None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if self.draws is not None:
            return f"{self.value:.4f} ({self.low:.4f} to {self.high:.4f}, {self.draws:,} draws)"
        if self.high < 1e-4:
            return f"{max(self.high, 1e-9):.1g} at most"
        digits = min(4, max(1, -math.floor(math.log10(max(self.high - self.low, 1e-9)))))
        return f"{self.value:.{digits}f}"


@dataclass(frozen=True, eq=False)
class Amounts:
    """Independent amounts with one distribution.

    Parameters
    ----------
    values : array
        Possible values, >= 0.
    probabilities : array
        Of these values; if they add up to less than one, the amount is infinite with the remaining probability.
    count : int
        Number of amounts.
    """

    values: FloatArray
    probabilities: FloatArray
    count: int = 1

    @property
    def mean(self) -> float:
        """Mean of their sum."""
        return self.count * float(self.probabilities @ self.values)

    @property
    def variance(self) -> float:
        """Variance of their sum."""
        mean = float(self.probabilities @ self.values)
        return self.count * float(self.probabilities @ (self.values - mean) ** 2)

    @cached_property
    def step(self) -> float | None:
        """The smallest positive value, if all others are moderate multiples of it; 0 if all are 0; otherwise None."""
        positive = self.values[(self.values > 0) & (self.probabilities > 0)]
        if not positive.size:
            return 0.0
        smallest = float(positive.min())
        times = positive / smallest
        return (
            smallest if (np.abs(times - np.round(times)) <= MULTIPLE * times).all() and times.max() < LONGEST else None
        )


@dataclass(frozen=True, eq=False)
class Total:
    """The distribution of a sum.

    Parameters
    ----------
    unit, start, probabilities
        Of the grid points start * unit, (start + 1) * unit, ...
    bias : float
        By how much the points exceed the sum on average, because of rounding.
    slack : float
        How far this may deviate, except with probability `DOUBT`; 0 if nothing was rounded.
    lost : float
        Probability that was cut off at ends.
    mean, deviation : float
        Of the sum itself.
    """

    unit: float
    start: int
    probabilities: FloatArray
    bias: float
    slack: float
    lost: float
    mean: float
    deviation: float

    @cached_property
    def _reached(self) -> FloatArray:
        """Probability of each point or a lower one, beginning with 0."""
        return np.concatenate([[0.0], np.minimum(np.cumsum(self.probabilities), 1.0)])

    @property
    def exact(self) -> bool:
        """Whether only doubles were rounded."""
        return self.slack == 0.0

    @property
    def points(self) -> FloatArray:
        """The grid points."""
        return np.asarray((self.start + np.arange(len(self.probabilities))) * self.unit - self.bias, dtype=np.float64)

    def at_most(self, bound: float) -> Probability:
        """Return the probability that the sum is at most a number; sums equal up to rounding count."""
        return self._until(bound, including=True)

    def at_least(self, bound: float) -> Probability:
        """Return the probability that the sum is at least a number; sums equal up to rounding count."""
        below = self._until(bound, including=False)
        return Probability(1.0 - below.value, 1.0 - below.high, 1.0 - below.low)

    def quantile(self, share: float) -> float:
        """Return the smallest number that the sum does not exceed with this probability; +inf if there is none."""
        place = int(np.searchsorted(self._reached[1:], share * (1.0 - 1e-12), side="left"))
        return math.inf if place == len(self.probabilities) else (self.start + place) * self.unit - self.bias

    def _until(self, bound: float, *, including: bool) -> Probability:
        """Return the probability of a smaller sum, or of one up to the bound."""
        near = 0.0 if self.exact else self.slack
        low, value, high = (self._share(bound + self.bias + away, including) for away in (-near, 0.0, near))
        doubt = ROUNDING + self.lost + (0.0 if self.exact else DOUBT)
        if high - low > WIDE:  # a point of positive probability lies there: the caller means this point
            value = high if including else low
        return Probability(value, max(low - doubt, 0.0), min(high + doubt, 1.0))

    def _share(self, bound: float, including: bool) -> float:
        """Return the probability of all points up to a number."""
        if self.unit == 0.0:
            place = int(bound >= 0.0 if including else bound > 0.0)
        else:
            times = bound / self.unit
            place = (math.floor(times + SAME) + 1 if including else math.ceil(times - SAME)) - self.start
        return float(self._reached[min(max(place, 0), len(self.probabilities))])


@dataclass(frozen=True, eq=False)
class Draws:
    """A simulated distribution, for sums with too many different amounts for convolution.

    Parameters
    ----------
    sums : array
        Simulated sums, ascending.
    mean, deviation : float
        Of the sum itself, exact.
    """

    sums: FloatArray
    mean: float
    deviation: float

    @property
    def points(self) -> FloatArray:
        """The simulated sums."""
        return self.sums

    @property
    def probabilities(self) -> FloatArray:
        """Equal probabilities."""
        return np.full(len(self.sums), 1.0 / len(self.sums))

    def at_most(self, bound: float) -> Probability:
        """Return the probability that the sum is at most a number, with Wilson's 99 % interval."""
        n = len(self.sums)
        value = int(np.searchsorted(self.sums, bound * (1.0 + SAME), side="right")) / n
        z = 2.5758
        middle = (value + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(value * (1 - value) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return Probability(value, max(middle - half, 0.0), min(middle + half, 1.0), n)

    def at_least(self, bound: float) -> Probability:
        """Return the probability that the sum is at least a number."""
        below = self.at_most(np.nextafter(bound * (1.0 - 2 * SAME), -math.inf))
        return Probability(1.0 - below.value, 1.0 - below.high, 1.0 - below.low, below.draws)

    def quantile(self, share: float) -> float:
        """Return the quantile of the simulated sums."""
        return float(self.sums[min(math.ceil(share * len(self.sums)), len(self.sums)) - 1])


def distribution_of_sum(amounts: Iterable[Amounts], *, max_kinds: int = MAX_KINDS, seed: int = 0) -> Total | Draws:
    """Return the distribution of the sum of all amounts: by convolution, or simulated if very many differ."""
    merged = _merged(amounts)
    steps = {own.step for own in merged} - {0.0}
    alike = len(steps) == 1 and None not in steps
    return total_of(merged) if alike or len(merged) <= max_kinds else _drawn(merged, seed)


def _drawn(amounts: Sequence[Amounts], seed: int) -> Draws:
    draw = np.random.default_rng(seed)
    n = int(min(MAX_DRAWS, max(MIN_DRAWS, MAX_CELLS // len(amounts))))
    sums = np.zeros(n)
    for own in amounts:
        values, left = np.append(own.values, math.inf), 1.0 - float(own.probabilities.sum())
        shares = np.append(own.probabilities, left if left > ROUNDING else 0.0)
        shares /= shares.sum()
        if own.count == 1:
            place = np.searchsorted(np.cumsum(shares), draw.random(n), side="right")
            sums += values[np.minimum(place, np.flatnonzero(shares)[-1])]
        else:
            counts = draw.multinomial(own.count, shares, n)
            with np.errstate(invalid="ignore"):  # 0 times infinity
                sums += np.where(counts > 0, counts * values, 0.0).sum(axis=1)
    return Draws(np.sort(sums), *_moments(amounts))


def _moments(amounts: Sequence[Amounts]) -> tuple[float, float]:
    """Return mean and standard deviation of the sum."""
    if any(own.count and own.probabilities.sum() < 1.0 - ROUNDING for own in amounts):
        return math.inf, math.inf  # some amounts may be infinite
    return sum(own.mean for own in amounts), math.sqrt(sum(own.variance for own in amounts))


def total_of(amounts: Iterable[Amounts]) -> Total:
    """Return the distribution of the sum of all amounts, by convolution."""
    merged = _merged(amounts)
    mean, deviation = _moments(merged)
    steps = {own.step for own in merged} - {0.0}
    mass = math.exp(sum(own.count * math.log(own.probabilities.sum()) for own in merged if own.probabilities.any()))
    mass = mass if all(own.probabilities.any() for own in merged) else 0.0
    if not steps:
        return Total(0.0, 0, np.array([mass]), 0.0, 0.0, 0.0, mean, 0.0)
    if len(steps) == 1 and None not in steps:
        step = float(steps.pop() or 0.0)
        whole = sum_of(_on_lattice(own, step) for own in merged)
        return Total(step, whole.start, whole.probabilities, 0.0, 0.0, _lost(mass, whole), mean, deviation)
    largest = max(float(own.values.max()) for own in merged)
    spread = math.sqrt(sum(own.variance for own in merged))
    unit = max(spread / (FINENESS if len(merged) < MANY else COARSENESS), largest / LONGEST) or min(
        step for step in steps if step
    )
    bias = variance = 0.0

    def rounded() -> Iterator[Lattice]:
        nonlocal bias, variance
        for own in merged:
            term = _RoundedAmounts.of(own, unit)
            bias, variance = bias + term.count * term.bias, variance + term.count * term.variance
            yield term.rounded.times(term.count)

    whole = sum_of(rounded())
    # Bernstein: P(|sum of errors - mean| > t) <= 2 exp(-t^2 / (2 V + 2 b t / 3)), each error within b of its mean.
    extent = math.log(2.0 / DOUBT)
    slack = math.sqrt(2.0 * variance * extent) + 2.0 / 3.0 * unit * extent
    return Total(unit, whole.start, whole.probabilities, bias, slack, _lost(mass, whole), mean, deviation)


def _lost(mass: float, whole: Lattice) -> float:
    """Return by how much the probabilities of a sum differ from what they should add up to."""
    return abs(mass - float(whole.probabilities.sum()))


def _merged(amounts: Iterable[Amounts]) -> list[Amounts]:
    """Merge amounts with bitwise equal distributions."""
    found: dict[tuple[bytes, bytes], Amounts] = {}
    for own in amounts:
        key = own.values.tobytes(), own.probabilities.tobytes()
        count = own.count + (found[key].count if key in found else 0)
        found[key] = Amounts(own.values, own.probabilities, count)
    return [own for own in found.values() if own.count]


@dataclass(frozen=True, eq=False)
class _RoundedAmounts:
    """A sum of equal amounts, or one of them, on the common grid, with the moments of its rounding error."""

    rounded: Lattice
    count: int
    bias: float
    variance: float

    @classmethod
    def of(cls, amounts: Amounts, unit: float) -> _RoundedAmounts:
        values, probabilities, count = amounts.values, amounts.probabilities, amounts.count
        if amounts.step is not None:  # their sum has a step: it is exact and rounded once
            whole = _on_lattice(amounts, amounts.step)
            values = np.asarray((whole.start + np.arange(len(whole.probabilities))) * amounts.step)
            probabilities, count = whole.probabilities, 1
        places = np.round(values / unit)
        errors = places * unit - values
        share = float(probabilities.sum()) or 1.0
        bias = float(probabilities @ errors) / share
        variance = float(probabilities @ (errors - bias) ** 2) / share
        return cls(Lattice.at(places.astype(np.int64), probabilities), count, bias, variance)


def _on_lattice(amounts: Amounts, step: float) -> Lattice:
    """Return the distribution of the sum of amounts that are multiples of a step."""
    if step == 0.0 or amounts.step == 0.0:
        return Lattice(0, np.array([float(amounts.probabilities.sum()) ** amounts.count]))
    return Lattice.at(np.round(amounts.values / step).astype(np.int64), amounts.probabilities).times(amounts.count)
