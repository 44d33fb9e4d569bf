"""The cheapest way to carry the answers of one table into those of another: optimal transport, column by column."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix
from scipy.stats import chi2

from hardwood.data.features import IntArray
from hardwood.shift.calibration import FloatArray
from hardwood.shiftlab.fitting import LEAST_EXPECTED

MOST_GROUPS = 10  # of neighbouring answers that are compared


def shares_by_code(
    first: IntArray, second: IntArray, people: FloatArray | None = None
) -> tuple[IntArray, tuple[FloatArray, FloatArray]]:
    """The codes that occur in two columns, and the share of each in both; `people` of the rows of the first."""
    codes = np.unique(np.concatenate([first, second]))
    weights = np.ones(len(first)) if people is None else people
    then = np.bincount(np.searchsorted(codes, first), weights=weights, minlength=len(codes))
    now = np.bincount(np.searchsorted(codes, second), minlength=len(codes)).astype(np.float64)
    return codes, (then / then.sum(), now / now.sum())


def cheapest_transport(amounts: FloatArray, wanted: FloatArray, prices: FloatArray) -> tuple[float, float]:
    """The lowest price of turning amounts by source into amounts by answer, and how much finds no way at all.

    amounts  of people, by source
    wanted   of people, by answer; as many in all
    prices   sources by answers: what it costs one of them; +inf where there is no way. As few as possible go there.
    """
    possible = np.isfinite(prices)
    last_resort = 1e4 * (1.0 + float(prices[possible].max(initial=0.0)))
    costs = np.where(possible, prices, last_resort).ravel()
    n, m = prices.shape
    source, target = np.divmod(np.arange(n * m), m)
    rows, ways = np.concatenate([source, n + target]), np.tile(np.arange(n * m), 2)
    equations = coo_matrix((np.ones(2 * n * m), (rows, ways)), (n + m, n * m)).tocsr()
    found = linprog(costs, A_eq=equations, b_eq=np.concatenate([amounts, wanted]), method="highs")
    if found.status != 0:
        raise ArithmeticError(f"the transport between two columns was not found: {found.message}")
    lost = float(found.x[~possible.ravel()].sum())
    lost = lost if lost > 1e-7 * float(amounts.sum()) else 0.0
    # A solver is right to within its tolerance; what is said to be the least price must not be more.
    return (1.0 - 1e-7) * float(found.x[possible.ravel()] @ prices[possible]), lost


def drawn_alike(then: FloatArray, now: FloatArray, *, ordered: bool) -> float | None:
    """The p-value of two samples of one population, from people by answer.

    ordered  answers stand in an order: neighbours count together, in at most `MOST_GROUPS` groups. Otherwise all
             answers that are rare do.
    """
    counts = np.array([then, now])
    both = counts.sum(axis=0)
    if ordered:
        group = (MOST_GROUPS * (np.cumsum(both) - both / 2) / both.sum()).astype(int)
        counts = np.array([np.bincount(group, own, MOST_GROUPS) for own in counts])
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    rare = expected.min(axis=0) < LEAST_EXPECTED
    counts = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    told = expected.min(axis=0) > 0
    if np.count_nonzero(told) < 2:
        return None
    square = float(((counts - expected)[:, told] ** 2 / expected[:, told]).sum())
    return float(chi2.sf(square, np.count_nonzero(told) - 1))
