"""From certainty and plausibility to costs and a budget.

certainty     rho: probability that a value is recorded the same way in deployment
plausibility  lambda: hedge against every shift whose likelihood ratio to "no change" is at least
              plausibility ** n_samples (the paper's likelihood ratio test, Eq. 18)

Taking -log of the test gives a cost for each step that a value moves, and one budget for the whole table:

    kind                        distribution of a move by k steps          cost of a step (of a change)
    integer                     rho (1 - rho)^|k| / (2 if k else 1)        -log(1 - rho)
    integer with one bound      rho r^|k| on the values within the bound   -log r,  r by the paper's first lemma
    integer with two bounds     rho r^|k| on the values within bounds      -log r,  r by the paper's second lemma
    ordinal, binned             as integer with two bounds: the first and the last category or bin
    binary                      the same with two values                   log(rho / (1 - rho))
    categorical, m categories   (1 - rho) / (m - 1) for each other value   log(rho (m - 1) / (1 - rho))
    only upward (downward)      the value itself is the lower (upper) bound
    missingness status          as binary, with its own certainty

All functions are pure functions of arrays. A cost of +inf means that the value cannot move: at certainty 1, and where
there is no other value to move to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardwood._util.arguments import by_feature, check_numbers, is_sequence
from hardwood._util.arrays import Array, FloatArray, IntArray, shape_of
from hardwood._util.errors import ArgumentError, MessagePart, Setting, Verbatim
from hardwood._util.types import PerCell, TableLike
from hardwood.data.feature import Feature
from hardwood.data.table import Table
from hardwood.shifts.reach import Reach, on_scale

MAX_STEPS = 1 << 20  # of one value that are distinguished


def budget_of(plausibility: float, n_samples: float) -> float:
    """Return the budget of a plausibility: -n_samples * log(plausibility); with sample weights, for their sum."""
    level = check_numbers("plausibility", plausibility)
    if level.ndim != 0 or not 0 < level <= 1:
        raise ArgumentError("plausibility", plausibility, "it must lie in (0, 1]", remedy="1 hedges against nothing")
    return -n_samples * float(np.log(level)) + 0.0


def missing_cost(feature: Feature, certainty: object, n_samples: int, *, clip: bool = False) -> FloatArray:
    """Return the cost of a change to or from missing: log(rho / (1 - rho)), one, or one for each sample.

    Parameters
    ----------
    feature : Feature
    certainty : float or array
        Probability that a value's missingness status does not change: at least 1/2.
    n_samples : int
    clip : bool, default=False
        Whether values outside [1/2, 1] count as the nearest end.
    """
    rho = np.atleast_1d(check_numbers("missing_certainty", certainty, feature.name))
    if rho.ndim != 1 or rho.size not in (1, n_samples):
        raise ArgumentError(
            "missing_certainty",
            Verbatim(f"an array of shape {rho.shape}"),
            f"expected one value, or one for each of {n_samples} samples",
            column=feature.name,
        )
    bad = np.isnan(rho) | (not clip and ((rho < 0.5) | (rho > 1)))
    if bad.any():
        at = int(bad.argmax())
        raise ArgumentError(
            "missing_certainty",
            float(rho[at]),
            "the missingness status must be at least as likely to stay as to change: in [0.5, 1]",
            remedy=("it is the column's certainty unless given; ", Setting("missing_certainty", 0.9, feature.name)),
            column=feature.name,
            row=None if rho.size == 1 else at,
        )
    return categorical_cost(np.clip(rho, 0.5, 1.0), 2)


def feature_costs(table: Table, j: int, reach: Reach, certainty: object, *, clip: bool = False) -> FloatArray:
    """Return the cost of one step (ordered) or of a change (categorical): one number, or one for each sample.

    Parameters
    ----------
    table : Table
    j : int
        The feature.
    reach : Reach
    certainty : float or array
        One value, or one for each sample.
    clip : bool, default=False
        Whether values below the lowest possible certainty count as that limit, and values above 1 as 1.
    """
    feature = table.features[j]
    return value_costs(feature, on_scale(feature, table.values[:, j]), reach, certainty, clip=clip)


def by_feature_and_sample(argument: str, value: PerCell, table: Table) -> list[object]:
    """Split an argument by feature; an array of samples by features or a frame has one entry for each cell."""
    if hasattr(value, "columns"):
        value = _frame_columns(value)
    elif (
        isinstance(value, list | tuple)
        and value
        and all(is_sequence(entry) and len(shape_of(entry)) == 1 for entry in value)
    ):
        value = np.array([check_numbers(f"a row of {argument}", row) for row in value])
    if isinstance(value, np.ndarray) and value.ndim == 2:
        if value.shape != table.values.shape:
            raise ValueError(f"{argument} has shape {value.shape}; expected samples by columns, {table.values.shape}")
        value = list(value.T)
    return by_feature(argument, value, table.names)


def _frame_columns(frame: TableLike) -> dict[str, Array]:
    return {str(name): np.asarray(frame[name]) for name in frame.columns}


def checked_certainty(
    table: Table, reach: Sequence[Reach], certainty: object, *, clip: bool = False
) -> tuple[FloatArray, ...]:
    """Return certainties by feature, one number or one for each sample, checked or clipped as in `feature_costs`."""
    entries = by_feature_and_sample("certainty", certainty, table)
    scales = [on_scale(feature, table.values[:, j]) for j, feature in enumerate(table.features)]
    columns = zip(table.features, scales, reach, entries, strict=True)
    return tuple(feature_certainty(*column, clip=clip) for column in columns)


def below_probability(certainty: FloatArray, values: IntArray, reach: Reach, threshold: int) -> FloatArray:
    """Return the probability that an ordered value moves to a threshold or below, for each sample."""
    below, above = reach.distances(values)
    steps = float(threshold) - values.astype(np.float64)
    if reach.endless:
        tail = (1.0 - certainty) ** np.where(steps < 0, -steps, steps + 1) / 2
        return np.where(steps < 0, tail, 1.0 - tail)
    cost = bounded_cost(certainty, below, above)
    nearer = np.where(steps < 0, certainty * (_moves(cost, below) - _moves(cost, -steps - 1)), 0.0)
    farther = certainty * (1.0 + _moves(cost, below) + _moves(cost, np.minimum(steps, above)))
    return np.where(steps >= above, 1.0, np.where(steps >= 0, farther, np.where(steps < -below, 0.0, nearer)))


def step_probabilities(certainty: float, cost: float, below: float, above: float, reach: Reach) -> FloatArray:
    """Return the probability of a move by 0, 1, 2, ... steps in any direction.

    `below` and `above` count the values on both sides. The probability that is left out at the end is less than 1e-18;
    with more than `MAX_STEPS` steps, it is added to the last one.
    """
    farthest = max(below, above)
    if farthest == 0 or math.isinf(cost):
        return np.ones(1)
    last = min(farthest, math.ceil(41.5 / cost)) if cost > 0 else farthest
    steps = np.arange(int(min(last, MAX_STEPS)) + 1)
    # Without bounds, the paper's distribution halves the probability of k steps between the two directions.
    ways = np.ones(len(steps)) if reach.endless else (steps <= below).astype(np.float64) + (steps <= above)
    ways[0] = 1.0
    probabilities = np.asarray(certainty * np.exp(-cost * steps) * ways)
    probabilities[-1] += max(1.0 - float(probabilities.sum()), 0.0) if len(probabilities) > MAX_STEPS else 0.0
    return probabilities


def _moves(cost: FloatArray, count: FloatArray) -> FloatArray:
    """Return sum_{k=1..count} e^(-k cost): the probability of 1 to `count` steps, relative to no change."""
    count = np.maximum(count, 0.0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        series = -np.expm1(-np.where(count > 0, count * cost, 0.0)) / np.expm1(cost)
    return np.where(count == 0, 0.0, np.where(cost == 0, count, np.where(np.isinf(cost), 0.0, series)))


def integer_cost(certainty: ArrayLike) -> FloatArray:
    """Return the cost of a step of an unbounded integer: -log(1 - certainty), Eq. 20 of the paper; +inf at 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log1p(-np.asarray(certainty, dtype=np.float64)) + 0.0)


def categorical_cost(certainty: ArrayLike, n_categories: int) -> FloatArray:
    """Return the cost of changing one of n categories: log(certainty (n - 1) / (1 - certainty)); binary for n = 2."""
    rho = np.asarray(certainty, dtype=np.float64)
    if n_categories == 1:
        return np.full(rho.shape, np.inf)
    # The cost is log(1 + excess / (1 - rho)) with excess = n rho - 1. Near the limit 1/n the excess cancels, so it is
    # computed from two parts of rho whose products with n are exact.
    high = rho.astype(np.float32).astype(np.float64)
    excess = (n_categories * high - 1.0) + n_categories * (rho - high)
    with np.errstate(divide="ignore"):
        cost = np.log1p(np.maximum(excess, 0.0) / (1.0 - rho))
    # A certainty of 1/n as a double is the limit, whichever way it was rounded.
    return np.where(rho <= 1.0 / n_categories, 0.0, cost)


def bounded_cost(certainty: ArrayLike, below: ArrayLike, above: ArrayLike) -> FloatArray:
    """Return the cost of a step with `below` values below and `above` values above the recorded one (+inf: no bound).

    The paper's two lemmas as one equation. The probabilities rho r^|k| over all reachable values add up to one iff

        h(cost) = sum_{k=1..below} e^(-k cost) + sum_{k=1..above} e^(-k cost) = 1/rho - 1,      r = e^(-cost).

    log h is convex and decreasing (a sum of exponentials is log-convex), so Newton's method on log h, started left of
    the root, converges to it monotonically, and there is only one root. For large costs log h is nearly linear, so few
    steps are needed for all cells at once.
    """
    rho, below, above = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (certainty, below, above)))
    cost = np.full(rho.shape, np.inf)
    movable = (below + above > 0) & (rho < 1)
    # Below 1e-100 the odds of a change would overflow, and the cost is 0 for every purpose.
    cost[movable & (rho <= np.maximum(lowest_certainty(below, above), 1e-100))] = 0.0
    open_cells = movable & (cost > 0)
    cost[open_cells] = _root((1.0 - rho[open_cells]) / rho[open_cells], below[open_cells], above[open_cells])
    return cost


def lowest_certainty(below: ArrayLike, above: ArrayLike) -> FloatArray:
    """Return the certainty at which every reachable value is equally likely; 0 if their number is infinite."""
    return 1.0 / (np.asarray(below, dtype=np.float64) + np.asarray(above, dtype=np.float64) + 1.0)


def _root(odds: FloatArray, below: FloatArray, above: FloatArray) -> FloatArray:
    """Return the cost with h(cost) = odds, see `bounded_cost`."""
    # Both starting points lie left of the root: h is at least its first terms, and at least one series if unbounded.
    first_terms = (below > 0).astype(np.float64) + (above > 0)
    endless = np.isinf(below) | np.isinf(above)
    cost = np.maximum(np.log(first_terms / odds), np.where(endless, np.log1p(1.0 / odds), 0.0))
    goal = np.log(odds)
    active = np.arange(cost.size)
    for _ in range(100):
        value_below, slope_below = _series(cost[active], below[active])
        value_above, slope_above = _series(cost[active], above[active])
        value = value_below + value_above
        excess = np.log(value) - goal[active]
        cost[active] = np.maximum(cost[active] - excess * value / (slope_below + slope_above), 0.0)
        # Convergence is quadratic: from an excess below 1e-9, the step just taken leaves none that a double can show.
        active = active[excess > 1e-9]
        if active.size == 0:
            return cost
    raise ArithmeticError(f"no cost found for odds {odds[active[0]]}; please report this as a bug")


def _series(cost: FloatArray, count: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return sum_{k=1..count} e^(-k cost) and its derivative by the cost, for any count from 0 to infinity."""
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = np.expm1(cost)
        reached = count * cost
        value = np.where(cost > 0, -np.expm1(-reached) / growth, count)
        last_terms = np.where(np.isinf(count), 0.0, count * np.exp(-reached))
        slope = (last_terms - value * (growth + 1.0)) / growth
    # Near 0 the difference above cancels; the slope only sets the step, so the first Taylor terms suffice.
    near = reached < 1e-5
    slope[near] = -(count * (count + 1) / 2 * (1 - cost * (2 * count + 1) / 3))[near]
    return value, slope


def value_costs(
    feature: Feature, values: IntArray, reach: Reach, certainty: object, *, clip: bool = False
) -> FloatArray:
    """Return the costs of `feature_costs` for the values of a column, given on its scale."""
    if feature.ordered and (reach.lower is not None or reach.upper is not None) and math.prod(shape_of(certainty)) == 1:
        # The cost depends on the value alone: solve once for each value, then look it up.
        distinct, where = np.unique(values, return_inverse=True)
        rows = np.zeros(distinct.size, dtype=np.intp)
        rows[where[::-1]] = np.arange(values.size)[::-1]  # the first row that holds each value, for messages
        rho = feature_certainty(feature, distinct, reach, certainty, clip=clip, rows=rows)
        costs = bounded_cost(rho, *reach.distances(distinct))
        return costs[:1] if (costs == costs[0]).all() else costs[where]
    rho = feature_certainty(feature, values, reach, certainty, clip=clip)
    if not feature.ordered:
        return categorical_cost(rho, feature.n_values)
    if reach.lower is None and reach.upper is None:
        return integer_cost(rho)
    return bounded_cost(rho, *reach.distances(values))


def feature_certainty(
    feature: Feature,
    values: IntArray,
    reach: Reach,
    certainty: object,
    *,
    clip: bool = False,
    rows: NDArray[np.intp] | None = None,
) -> FloatArray:
    """Return the checked certainty of a feature: one number, or one for each value. `rows` locate them in messages."""
    rho = np.atleast_1d(check_numbers("certainty", certainty, feature.name))
    if rho.ndim != 1 or rho.size not in (1, values.size):
        raise ArgumentError(
            "certainty",
            Verbatim(f"an array of shape {rho.shape}"),
            f"expected one value, or one for each of {values.size} samples",
            column=feature.name,
        )
    if not feature.ordered:
        # A single category cannot change, so any certainty is valid.
        limit = np.asarray(1.0 / feature.n_values if feature.n_values > 1 else 0.0)
        return _checked(feature.name, rho, limit, clip, "categories")
    if reach.lower is None and reach.upper is None:
        return _checked(feature.name, rho, np.asarray(0.0), clip, "values")
    below, above = reach.distances(values)
    # A value that cannot move has no lowest certainty: it stays, whatever the caller states.
    limit = np.where(below + above > 0, lowest_certainty(below, above), 0.0)
    return _checked(feature.name, rho, limit, clip, "reachable values", rows)


def _checked(
    name: str, rho: FloatArray, limit: FloatArray, clip: bool, values_noun: str, rows: NDArray[np.intp] | None = None
) -> FloatArray:
    """Return certainties within [limit, 1], open at 0: clip them, or raise an error that states the limit."""
    rho, limit = np.broadcast_arrays(rho, limit)
    bad = np.isnan(rho) | (not clip and (rho <= 0) | (rho > 1) | (rho < limit * (1 - 1e-12)))
    if bad.any():
        at = int(bad.argmax())
        row = None if rho.size == 1 else int(at if rows is None else rows[at])
        expected = "it must lie in (0, 1]"
        remedy: tuple[MessagePart, ...] = ("1: the value never changes",)
        if 0 < rho[at] <= 1:
            count = round(1 / limit[at])
            expected = (
                f"with {count} {values_noun} it must be at least 1/{count} = {float(limit[at])}, where every value is "
                f"equally likely"
            )
            remedy = (Setting("clip", True), " uses that limit")
        elif not np.isnan(rho[at]):
            remedy = (*remedy, "; ", Setting("clip", True), " moves it inside")
        raise ArgumentError("certainty", float(rho[at]), expected, remedy=remedy, column=name, row=row)
    return np.clip(rho, limit, 1.0)
