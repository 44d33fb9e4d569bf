"""How large a sum of many independent amounts is: its whole distribution, with every error bounded.

What a random shift costs, and how many samples it leaves correct, are such sums. The method is convolution:

* Amounts that are alike, and whole multiples of one step (n people who each may move by some steps of one price),
  add up to whole multiples of that step: their sum is computed exactly on that lattice.
* If all amounts share a step, that is all. Otherwise each of these sums, and each amount that has no step, is rounded
  to the nearest point of a common grid. The errors are independent, their means and variances are known, and
  Bernstein's inequality says by how much their sum can differ from its mean but for a chance of `DOUBT`
  (docs/shifts.md#sums). So the probability of staying below any number lies between two that are computed.

Convolutions are by fast Fourier transforms. What is cut off at the ends of each sum is seen in the end, when chances do
not add up to what they should; that and what doubles round (`ROUNDING`) are part of the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

FloatArray = NDArray[np.float64]

FINENESS = 1 << 16  # points of the grid in one standard deviation of the sum ...
COARSENESS, MANY = 1 << 14, 2000  # ... and if so many amounts differ, which would take long
LONGEST = 1 << 16  # points of the grid in the largest single amount
DOUBT = 1e-6  # the chance with which rounding errors may exceed their bound
TRIM = 1e-14  # of the highest chance of a sum: ends with less are cut off, for that is the noise of doubles
ROUNDING = 1e-9  # what doubles may add up to
MOST_KINDS = 20_000  # of amounts; beyond, the sum is simulated ...
FEWEST_DRAWS, MOST_DRAWS = 1_000, 100_000  # ... so many times ...
MOST_CELLS = 100_000_000  # ... and as often as this many single draws allow
FEW = 64  # up to so many points, a convolution by hand is faster
SAME = 1e-9  # relative difference of numbers that are meant to be the same, and ...
MULTIPLE = 1e-12  # ... by which a number may miss a multiple of a step
WIDE = 2e-3  # bounds that are so far apart have a sum that is met exactly between them


@dataclass(frozen=True)
class Chance:
    """A probability, and between which numbers it lies.

    draws  how many times it was simulated, if it was: then `low` and `high` are a 99 % interval. Otherwise they are
           bounds: computed, not estimated.
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
    """Independent amounts that are alike.

    values   what each may be, >= 0
    chances  of these values; where they add up to less than one, the rest is an amount that no number exceeds
    count    how many of them there are
    """

    values: FloatArray
    chances: FloatArray
    count: int = 1

    @property
    def mean(self) -> float:
        """Of their sum."""
        return self.count * float(self.chances @ self.values)

    @property
    def variance(self) -> float:
        """Of their sum."""
        mean = float(self.chances @ self.values)
        return self.count * float(self.chances @ (self.values - mean) ** 2)

    @cached_property
    def step(self) -> float | None:
        """The smallest value, if all others are whole multiples of it, and not too many; 0 if there is none but 0."""
        positive = self.values[(self.values > 0) & (self.chances > 0)]
        if not positive.size:
            return 0.0
        smallest = float(positive.min())
        times = positive / smallest
        return (
            smallest if (np.abs(times - np.round(times)) <= MULTIPLE * times).all() and times.max() < LONGEST else None
        )


@dataclass(frozen=True, eq=False)
class _Lattice:
    """Chances of the whole numbers from `start` on."""

    start: int
    chances: FloatArray

    def __add__(self, other: _Lattice) -> _Lattice:
        return _trimmed(self.start + other.start, _convolved(self.chances, other.chances))

    def times(self, count: int) -> _Lattice:
        """The sum of so many of them, by squaring."""
        total, square = _Lattice(0, np.ones(1)), self
        while count:
            if count & 1:
                total = total + square
            count >>= 1
            if count:
                square = square + square
        return total

    @classmethod
    def at(cls, places: NDArray[np.int64], chances: FloatArray) -> _Lattice:
        """Chances at some whole numbers, in any order."""
        first = int(places.min())
        return cls(first, np.bincount(places - first, weights=chances).astype(np.float64))


@dataclass(frozen=True, eq=False)
class Total:
    """The distribution of a sum.

    unit, start, chances  of the points start * unit, (start + 1) * unit, ... of the grid
    bias    by how much the points exceed the sum on average, because of rounding
    slack   by how much more or less they may do so, but for a chance of `DOUBT`; 0 if nothing was rounded
    lost    the chance that was cut off at ends
    mean, deviation  of the sum itself
    """

    unit: float
    start: int
    chances: FloatArray
    bias: float
    slack: float
    lost: float
    mean: float
    deviation: float

    @cached_property
    def _reached(self) -> FloatArray:
        """Chance of each point or a lower one, with none before."""
        return np.concatenate([[0.0], np.minimum(np.cumsum(self.chances), 1.0)])

    @property
    def exact(self) -> bool:
        """Whether nothing was rounded but by doubles."""
        return self.slack == 0.0

    @property
    def points(self) -> FloatArray:
        """Where the chances stand."""
        return np.asarray((self.start + np.arange(len(self.chances))) * self.unit - self.bias, dtype=np.float64)

    def at_most(self, bound: float) -> Chance:
        """The probability that the sum is at most a number; sums that are meant to equal it are."""
        return self._until(bound, including=True)

    def at_least(self, bound: float) -> Chance:
        """The probability that the sum is at least a number; sums that are meant to equal it are."""
        below = self._until(bound, including=False)
        return Chance(1.0 - below.value, 1.0 - below.high, 1.0 - below.low)

    def quantile(self, share: float) -> float:
        """The smallest number that the sum does not exceed with this probability; +inf if there is none."""
        place = int(np.searchsorted(self._reached[1:], share * (1.0 - 1e-12), side="left"))
        return math.inf if place == len(self.chances) else (self.start + place) * self.unit - self.bias

    def _until(self, bound: float, *, including: bool) -> Chance:
        """The probability of a smaller sum, or also of this one."""
        near = 0.0 if self.exact else self.slack
        low, value, high = (self._share(bound + self.bias + away, including) for away in (-near, 0.0, near))
        doubt = ROUNDING + self.lost + (0.0 if self.exact else DOUBT)
        if high - low > WIDE:  # a single sum has a chance of its own there; whoever asks means it, and not its rounding
            value = high if including else low
        return Chance(value, max(low - doubt, 0.0), min(high + doubt, 1.0))

    def _share(self, bound: float, including: bool) -> float:
        """The chance of all points up to a number."""
        if self.unit == 0.0:
            place = int(bound >= 0.0 if including else bound > 0.0)
        else:
            times = bound / self.unit
            place = (math.floor(times + SAME) + 1 if including else math.ceil(times - SAME)) - self.start
        return float(self._reached[min(max(place, 0), len(self.chances))])


@dataclass(frozen=True, eq=False)
class Draws:
    """The distribution of a sum that has too many different amounts for convolution: simulated.

    sums  what was drawn, ascending
    mean, deviation  of the sum itself, exact
    """

    sums: FloatArray
    mean: float
    deviation: float

    @property
    def points(self) -> FloatArray:
        """What was drawn."""
        return self.sums

    @property
    def chances(self) -> FloatArray:
        """Each counts as much."""
        return np.full(len(self.sums), 1.0 / len(self.sums))

    def at_most(self, bound: float) -> Chance:
        """The probability that the sum is at most a number, with Wilson's 99 % interval."""
        n = len(self.sums)
        value = int(np.searchsorted(self.sums, bound * (1.0 + SAME), side="right")) / n
        z = 2.5758
        middle = (value + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(value * (1 - value) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return Chance(value, max(middle - half, 0.0), min(middle + half, 1.0), n)

    def at_least(self, bound: float) -> Chance:
        """The probability that the sum is at least a number."""
        below = self.at_most(np.nextafter(bound * (1.0 - 2 * SAME), -math.inf))
        return Chance(1.0 - below.value, 1.0 - below.high, 1.0 - below.low, below.draws)

    def quantile(self, share: float) -> float:
        """The smallest number that so many of the sums do not exceed."""
        return float(self.sums[min(math.ceil(share * len(self.sums)), len(self.sums)) - 1])


def distribution_of_sum(amounts: Iterable[Amounts], *, most_kinds: int = MOST_KINDS, seed: int = 0) -> Total | Draws:
    """The distribution of the sum of all amounts: by convolution, or simulated if very many of them differ."""
    merged = _merged(amounts)
    steps = {own.step for own in merged} - {0.0}
    alike = len(steps) == 1 and None not in steps
    return total_of(merged) if alike or len(merged) <= most_kinds else _drawn(merged, seed)


def _drawn(amounts: Sequence[Amounts], seed: int) -> Draws:
    draw = np.random.default_rng(seed)
    n = int(min(MOST_DRAWS, max(FEWEST_DRAWS, MOST_CELLS // len(amounts))))
    sums = np.zeros(n)
    for own in amounts:
        values, left = np.append(own.values, math.inf), 1.0 - float(own.chances.sum())
        shares = np.append(own.chances, left if left > ROUNDING else 0.0)
        shares /= shares.sum()
        if own.count == 1:
            place = np.searchsorted(np.cumsum(shares), draw.random(n), side="right")
            sums += values[np.minimum(place, np.flatnonzero(shares)[-1])]
        else:
            counts = draw.multinomial(own.count, shares, n)
            with np.errstate(invalid="ignore"):  # none of an amount without limit
                sums += np.where(counts > 0, counts * values, 0.0).sum(axis=1)
    return Draws(np.sort(sums), *_moments(amounts))


def _moments(amounts: Sequence[Amounts]) -> tuple[float, float]:
    """Mean and standard deviation of the sum."""
    if any(own.count and own.chances.sum() < 1.0 - ROUNDING for own in amounts):
        return math.inf, math.inf  # some amounts have no limit
    return sum(own.mean for own in amounts), math.sqrt(sum(own.variance for own in amounts))


def total_of(amounts: Iterable[Amounts]) -> Total:
    """The distribution of the sum of all amounts, by convolution."""
    merged = _merged(amounts)
    mean, deviation = _moments(merged)
    steps = {own.step for own in merged} - {0.0}
    mass = math.exp(sum(own.count * math.log(own.chances.sum()) for own in merged if own.chances.any()))
    mass = mass if all(own.chances.any() for own in merged) else 0.0
    if not steps:
        return Total(0.0, 0, np.array([mass]), 0.0, 0.0, 0.0, mean, 0.0)
    if len(steps) == 1 and None not in steps:
        step = float(steps.pop() or 0.0)
        whole = _sum(_on_lattice(own, step) for own in merged)
        return Total(step, whole.start, whole.chances, 0.0, 0.0, _lost(mass, whole), mean, deviation)
    largest = max(float(own.values.max()) for own in merged)
    spread = math.sqrt(sum(own.variance for own in merged))
    unit = max(spread / (FINENESS if len(merged) < MANY else COARSENESS), largest / LONGEST) or min(
        step for step in steps if step
    )
    bias = variance = 0.0

    def rounded() -> Iterator[_Lattice]:
        nonlocal bias, variance
        for own in merged:
            piece = _Piece.of(own, unit)
            bias, variance = bias + piece.count * piece.bias, variance + piece.count * piece.variance
            yield piece.rounded.times(piece.count)

    whole = _sum(rounded())
    # Bernstein: P(|sum of errors - mean| > t) <= 2 exp(-t^2 / (2 V + 2 b t / 3)), each error within b of its mean.
    extent = math.log(2.0 / DOUBT)
    slack = math.sqrt(2.0 * variance * extent) + 2.0 / 3.0 * unit * extent
    return Total(unit, whole.start, whole.chances, bias, slack, _lost(mass, whole), mean, deviation)


def _lost(mass: float, whole: _Lattice) -> float:
    """By how much the chances of a sum miss what they should add up to."""
    return abs(mass - float(whole.chances.sum()))


def _merged(amounts: Iterable[Amounts]) -> list[Amounts]:
    """Amounts that are alike to the last bit count together."""
    found: dict[tuple[bytes, bytes], Amounts] = {}
    for own in amounts:
        key = own.values.tobytes(), own.chances.tobytes()
        count = own.count + (found[key].count if key in found else 0)
        found[key] = Amounts(own.values, own.chances, count)
    return [own for own in found.values() if own.count]


@dataclass(frozen=True, eq=False)
class _Piece:
    """A sum of amounts that are alike, or one of them, on the common grid; what rounding adds to it."""

    rounded: _Lattice
    count: int
    bias: float
    variance: float

    @classmethod
    def of(cls, amounts: Amounts, unit: float) -> _Piece:
        values, chances, count = amounts.values, amounts.chances, amounts.count
        if amounts.step is not None:  # their sum has a step: it is exact, and rounded once
            whole = _on_lattice(amounts, amounts.step)
            values = np.asarray((whole.start + np.arange(len(whole.chances))) * amounts.step)
            chances, count = whole.chances, 1
        places = np.round(values / unit)
        errors = places * unit - values
        share = float(chances.sum()) or 1.0
        bias = float(chances @ errors) / share
        variance = float(chances @ (errors - bias) ** 2) / share
        return cls(_Lattice.at(places.astype(np.int64), chances), count, bias, variance)


def _on_lattice(amounts: Amounts, step: float) -> _Lattice:
    """The sum of amounts that are whole multiples of a step."""
    if step == 0.0 or amounts.step == 0.0:
        return _Lattice(0, np.array([float(amounts.chances.sum()) ** amounts.count]))
    return _Lattice.at(np.round(amounts.values / step).astype(np.int64), amounts.chances).times(amounts.count)


def _sum(lattices: Iterable[_Lattice]) -> _Lattice:
    """All of them, two by two, so that those that are added are about as long; few are held at a time."""
    coins, waiting = [], list[tuple[int, _Lattice]]()
    for own in lattices:
        if len(own.chances) == 2:
            coins.append(own)
        else:
            _add(waiting, own)
    for own in _paired(coins):
        _add(waiting, own)
    total = _Lattice(0, np.ones(1))
    for _, own in reversed(waiting):
        total = total + own
    return total


def _add(waiting: list[tuple[int, _Lattice]], own: _Lattice) -> None:
    """One more, as in a binary counter: two sums of as many are one of twice as many."""
    rank = 0
    while waiting and waiting[-1][0] == rank:
        own = waiting.pop()[1] + own
        rank += 1
    waiting.append((rank, own))


def _paired(coins: Sequence[_Lattice]) -> list[_Lattice]:
    """Sums of many lattices of two points each, all pairs at once while they are short."""
    if len(coins) < FEW:
        return list(coins)
    start = sum(own.start for own in coins)
    chances = np.array([own.chances for own in coins])
    while len(chances) > 1 and chances.shape[1] <= 4 * FEW:
        if len(chances) % 2:
            one = np.zeros((1, chances.shape[1]))
            one[0, 0] = 1.0
            chances = np.concatenate([chances, one])
        length = 2 * chances.shape[1] - 1
        size = next_fast_len(length, real=True)
        transformed = rfft(chances, size, axis=1)
        chances = np.maximum(irfft(transformed[0::2] * transformed[1::2], size, axis=1)[:, :length], 0.0)
    return [_trimmed(start if k == 0 else 0, own) for k, own in enumerate(chances)]


def _convolved(a: FloatArray, b: FloatArray) -> FloatArray:
    if min(len(a), len(b)) <= FEW:
        return np.convolve(a, b)
    length = len(a) + len(b) - 1
    size = next_fast_len(length, real=True)
    return np.asarray(np.maximum(irfft(rfft(a, size) * rfft(b, size), size)[:length], 0.0))


def _trimmed(start: int, chances: FloatArray) -> _Lattice:
    """Without the ends that have next to no chance, or none but the noise of a Fourier transform."""
    if len(chances) <= FEW:
        return _Lattice(start, chances)
    there = np.flatnonzero(chances > TRIM * chances.max())
    first, last = (int(there[0]), int(there[-1]) + 1) if there.size else (0, 1)
    return _Lattice(start + first, chances[first:last])
