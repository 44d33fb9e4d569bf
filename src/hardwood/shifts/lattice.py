"""Distributions on integers, and their sums by convolution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its modules are loaded when they are used, which saves commands half a second
from numpy.typing import NDArray

from hardwood._util.arrays import FloatArray

TRIM = 1e-14  # of the largest probability: ends below it are cut off, since they are noise of doubles
FEW = 64  # up to this many points, a direct convolution is faster


@dataclass(frozen=True, eq=False)
class Lattice:
    """Probabilities of the integers from `start` on."""

    start: int
    probabilities: FloatArray

    def __add__(self, other: Lattice) -> Lattice:
        return _trimmed(self.start + other.start, _convolved(self.probabilities, other.probabilities))

    def times(self, count: int) -> Lattice:
        """Return the distribution of the sum of `count` independent copies, by squaring."""
        total, square = Lattice(0, np.ones(1)), self
        while count:
            if count & 1:
                total = total + square
            count >>= 1
            if count:
                square = square + square
        return total

    @classmethod
    def at(cls, places: NDArray[np.int64], probabilities: FloatArray) -> Lattice:
        """Return the distribution with probabilities at some integers, in any order."""
        first = int(places.min())
        return cls(first, np.bincount(places - first, weights=probabilities).astype(np.float64))


def sum_of(lattices: Iterable[Lattice]) -> Lattice:
    """Return the distribution of a sum, pairing summands of similar length; few are held at a time."""
    pairs, waiting = [], list[tuple[int, Lattice]]()
    for own in lattices:
        if len(own.probabilities) == 2:
            pairs.append(own)
        else:
            _add(waiting, own)
    for own in _paired(pairs):
        _add(waiting, own)
    total = Lattice(0, np.ones(1))
    for _, own in reversed(waiting):
        total = total + own
    return total


def _add(waiting: list[tuple[int, Lattice]], own: Lattice) -> None:
    """Add a summand as in a binary counter: two sums of n summands become one of 2 n."""
    rank = 0
    while waiting and waiting[-1][0] == rank:
        own = waiting.pop()[1] + own
        rank += 1
    waiting.append((rank, own))


def _paired(pairs: Sequence[Lattice]) -> list[Lattice]:
    """Return sums of many two-point distributions, all pairs at once while they are short."""
    if len(pairs) < FEW:
        return list(pairs)
    start = sum(own.start for own in pairs)
    probabilities = np.array([own.probabilities for own in pairs])
    while len(probabilities) > 1 and probabilities.shape[1] <= 4 * FEW:
        if len(probabilities) % 2:
            one = np.zeros((1, probabilities.shape[1]))
            one[0, 0] = 1.0
            probabilities = np.concatenate([probabilities, one])
        length = 2 * probabilities.shape[1] - 1
        size = scipy.fft.next_fast_len(length, real=True)
        transformed = scipy.fft.rfft(probabilities, size, axis=1)
        probabilities = np.maximum(
            scipy.fft.irfft(transformed[0::2] * transformed[1::2], size, axis=1)[:, :length], 0.0
        )
    return [_trimmed(start if k == 0 else 0, own) for k, own in enumerate(probabilities)]


def _convolved(a: FloatArray, b: FloatArray) -> FloatArray:
    if min(len(a), len(b)) <= FEW:
        return np.convolve(a, b)
    length = len(a) + len(b) - 1
    size = scipy.fft.next_fast_len(length, real=True)
    return np.asarray(
        np.maximum(scipy.fft.irfft(scipy.fft.rfft(a, size) * scipy.fft.rfft(b, size), size)[:length], 0.0)
    )


def _trimmed(start: int, probabilities: FloatArray) -> Lattice:
    """Cut off ends whose probability is negligible, or only noise of a Fourier transform."""
    if len(probabilities) <= FEW:
        return Lattice(start, probabilities)
    kept = np.flatnonzero(probabilities > TRIM * probabilities.max())
    first, last = (int(kept[0]), int(kept[-1]) + 1) if kept.size else (0, 1)
    return Lattice(start + first, probabilities[first:last])
