"""Binning: the edges of bins that hold about equally many samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arrays import FloatArray


def quantile_edges(numbers: FloatArray, max_bins: int, weights: FloatArray | None = None) -> tuple[float, ...]:
    """Return the upper ends of all bins but the last.

    Parameters
    ----------
    numbers : ndarray of shape (n_samples,)
        Observed numbers; every edge is one of them.
    max_bins : int
        Largest number of bins. If there are at most this many distinct numbers, each gets a bin of its own.
    weights : ndarray of shape (n_samples,), optional
        Sample weights; 1 for each sample if not given.

    Returns
    -------
    edges : tuple of float
        In ascending order; empty if there is one bin.
    """
    distinct = np.unique(numbers)
    if len(distinct) <= max_bins:
        return tuple(distinct[:-1].tolist())
    edges = np.unique(_quantiles(numbers, np.arange(1, max_bins), max_bins, weights))
    # An edge at the largest number would leave the last bin empty.
    return tuple(edges[edges < distinct[-1]].tolist())


def _quantiles(numbers: FloatArray, ranks: NDArray[np.int64], n_parts: int, weights: FloatArray | None) -> FloatArray:
    """Return, for each rank k, the smallest number up to which k / n_parts of the total weight lies.

    Both sides are multiplied by `n_parts`, so that integer weights are compared exactly: a row of weight w has the same
    effect as w rows.
    """
    order = np.argsort(numbers, kind="stable")
    cumulative = np.cumsum(np.ones(len(numbers)) if weights is None else weights[order])
    at = np.searchsorted(cumulative * n_parts, ranks * cumulative[-1], side="left")
    return np.asarray(numbers[order][np.minimum(at, len(numbers) - 1)])
