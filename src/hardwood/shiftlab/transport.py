"""Optimal transport between the distributions of one column in two tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_matrix
from scipy.stats import chi2

from hardwood._util.arrays import FloatArray, IntArray
from hardwood.data.codes import MISSING_CODE
from hardwood.shiftlab.fitting import MIN_EXPECTED
from hardwood.shifts.move_costs import MoveCosts

MAX_CODES = 40  # columns with more codes use the lowest cost of a step instead of a linear programme
_MAX_GROUPS = 10  # groups of neighbouring values that are compared

Transport: TypeAlias = Callable[[FloatArray, FloatArray], tuple[float, float]]


def shares_by_code(
    first: IntArray, second: IntArray, weights: FloatArray | None = None
) -> tuple[IntArray, tuple[FloatArray, FloatArray]]:
    """Compute the codes that occur in two columns, and the share of each code in both.

    Parameters
    ----------
    first, second : array of codes
    weights : array or None
        Weights of the rows of `first`.

    Returns
    -------
    codes : array
        All codes, ascending.
    shares : pair of arrays
        Share of each code in the first and in the second column.
    """
    codes = np.unique(np.concatenate([first, second]))
    weights = np.ones(len(first)) if weights is None else weights
    then = np.bincount(np.searchsorted(codes, first), weights=weights, minlength=len(codes))
    now = np.bincount(np.searchsorted(codes, second), minlength=len(codes)).astype(np.float64)
    return codes, (then / then.sum(), now / now.sum())


def cheapest_transport(supply: FloatArray, demand: FloatArray, unit_costs: FloatArray) -> tuple[float, float]:
    """Solve the transportation problem; as little as possible goes where no move is possible.

    Parameters
    ----------
    supply : array of shape (n_sources,)
        Weight at each source.
    demand : array of shape (n_targets,)
        Weight at each target; its total equals that of `supply`.
    unit_costs : array of shape (n_sources, n_targets)
        Cost of moving a weight of 1; +inf where no move is possible.

    Returns
    -------
    cost : float
        Lowest total cost of the possible moves.
    impossible : float
        Weight for which there is no possible move.
    """
    possible = np.isfinite(unit_costs)
    penalty = 1e4 * (1.0 + float(unit_costs[possible].max(initial=0.0)))
    costs = np.where(possible, unit_costs, penalty).ravel()
    n, m = unit_costs.shape
    source, target = np.divmod(np.arange(n * m), m)
    rows, variables = np.concatenate([source, n + target]), np.tile(np.arange(n * m), 2)
    equations = coo_matrix((np.ones(2 * n * m), (rows, variables)), (n + m, n * m)).tocsr()
    found = linprog(costs, A_eq=equations, b_eq=np.concatenate([supply, demand]), method="highs")
    if found.status != 0:
        raise ArithmeticError(f"the transport between two columns was not found: {found.message}")
    impossible = float(found.x[~possible.ravel()].sum())
    impossible = impossible if impossible > 1e-7 * float(supply.sum()) else 0.0
    # The solver is exact up to its tolerance; the cost must not exceed the true minimum.
    return (1.0 - 1e-7) * float(found.x[possible.ravel()] @ unit_costs[possible]), impossible


def column_transport(
    costs: MoveCosts, j: int, weights: FloatArray, codes: IntArray, unknown: NDArray[np.bool_]
) -> Transport:
    """Prepare the cheapest transport between two distributions of a column.

    Parameters
    ----------
    costs : MoveCosts
        Move costs of the first table.
    j : int
        Index of the column.
    weights : array of shape (n_samples,)
        Weights of the rows of the first table.
    codes : array
        All codes of both tables, ascending.
    unknown : array of bool
        Codes that the feature of the first table does not have; no value can move there.

    Returns
    -------
    transport : callable
        Maps the shares of the codes in the first table and the weights of the codes in the second to the lowest cost
        and to the weight that cannot be moved.
    """
    feature, total = costs.table.features[j], float(weights.sum())
    reach, is_plain = costs.reach[j], costs.pair_costs[j] is None and MISSING_CODE not in codes
    step_cost = float(costs.unit_costs[j].min())
    has_one_cost = is_plain and costs.unit_costs[j].size == 1 and reach.endless and reach.steps is None
    if feature.ordered and math.isfinite(step_cost) and (has_one_cost or (is_plain and len(codes) > MAX_CODES)):
        return _transport_on_line(step_cost, total, codes)
    return _transport_by_programme(costs, j, weights, codes, unknown)


def _transport_on_line(step_cost: float, total: float, codes: IntArray) -> Transport:
    """Transport on a line where every step costs the same: the area between the two distribution functions.

    It is a lower bound where steps cost more or some moves are impossible.
    """
    gaps = np.diff(codes.astype(np.float64))

    def transport(then: FloatArray, later: FloatArray) -> tuple[float, float]:
        return step_cost * float(np.abs(np.cumsum(then * total - later))[:-1] @ gaps), 0.0

    return transport


def _transport_by_programme(
    costs: MoveCosts, j: int, weights: FloatArray, codes: IntArray, unknown: NDArray[np.bool_]
) -> Transport:
    """Transport by a linear programme whose sources are the groups of rows with equal codes and costs."""
    old, total = costs.table.values[:, j], float(weights.sum())
    by_row = [array for array in (costs.unit_costs[j], costs.missing_costs[j]) if array is not None and len(array) > 1]
    keys = np.column_stack([np.asarray(key, dtype=np.float64).reshape(len(old), -1) for key in (old, *by_row)])
    _, rows, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    group_weights = np.bincount(group.ravel(), weights=weights, minlength=len(rows)).astype(np.float64)
    code_of_group = np.searchsorted(codes, old[rows])
    code_weights = np.bincount(code_of_group, weights=group_weights, minlength=len(codes))
    known = np.where(unknown, codes[0], codes)
    unit_costs = np.array([costs.move_costs(j, np.full(len(codes), row), known) for row in rows])
    unit_costs[:, unknown] = np.inf

    def transport(then: FloatArray, later: FloatArray) -> tuple[float, float]:
        # The weight of a code is distributed over its groups in the proportions of the table.
        scale = then * total / np.maximum(code_weights, 1e-300)
        return cheapest_transport(group_weights * scale[code_of_group], later, unit_costs)

    return transport


def equality_test(then: FloatArray, now: FloatArray, *, ordered: bool) -> float | None:
    """Test whether two samples come from the same population, by chi squared.

    Parameters
    ----------
    then, now : array of shape (n_values,)
        Weight of each value in the two samples.
    ordered : bool
        Whether the values are ordered. Neighbouring values are then merged into at most ten groups; otherwise, all rare
        values are merged.

    Returns
    -------
    p : float or None
        The p-value; None if fewer than two groups remain.
    """
    counts = np.array([then, now])
    both = counts.sum(axis=0)
    if ordered:
        group = (_MAX_GROUPS * (np.cumsum(both) - both / 2) / both.sum()).astype(int)
        counts = np.array([np.bincount(group, sample, _MAX_GROUPS) for sample in counts])
    rare = _expected(counts).min(axis=0) < MIN_EXPECTED
    counts = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    expected = _expected(counts)
    nonempty = expected.min(axis=0) > 0
    n_groups = np.count_nonzero(nonempty)
    if n_groups < 2:
        return None
    statistic = float(((counts - expected)[:, nonempty] ** 2 / expected[:, nonempty]).sum())
    return float(chi2.sf(statistic, n_groups - 1))


def _expected(counts: FloatArray) -> FloatArray:
    """Expected counts if rows and columns are independent."""
    return np.asarray(counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum())
