"""From words people can judge to prices: how certain is a recorded value, how implausible a shift do we hedge against?

certainty     rho: probability that a value is recorded the same way in deployment
plausibility  lambda: hedge against every shift whose likelihood ratio to "nothing changes" is at least
              plausibility ** n_samples (the paper's likelihood ratio test, Eq. 18)

Taking -log of the test gives a price for each step a value moves and one budget for the whole table:

    kind                        distribution of a move by k steps          price of a step (of a change)
    integer                     rho (1 - rho)^|k| / (2 if k else 1)        -log(1 - rho)
    integer with one bound      rho r^|k| on the values within the bound   -log r,  r by the paper's first lemma
    integer with two bounds     rho r^|k| on the values within bounds      -log r,  r by the paper's second lemma
    ordinal, binned             as integer with two bounds: the first and the last category or bin
    binary                      the same with two values                   log(rho / (1 - rho))
    categorical, m categories   (1 - rho) / (m - 1) for each other answer  log(rho (m - 1) / (1 - rho))
    only upward (downward)      the value itself is the lower (upper) bound
    no answer, or an answer     the same as binary, with a certainty of its own: whether there is an answer at all

Everything here is a pure function of arrays. A price of +inf means that the value cannot move: at certainty 1, and
where there is no other value to move to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardwood._support.arguments import by_feature, numbers_of, whole_number
from hardwood._support.errors import ArgumentError, Part, Said, Setting
from hardwood.data.features import NO_ANSWER, Feature, IntArray, Kind, Table

FloatArray = NDArray[np.float64]
MOST_STEPS = 1 << 20  # of one value that are told apart


class Direction(StrEnum):
    """Which way the values of an ordered feature may move."""

    BOTH = "both"
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Reach:
    """Where the values of a feature may go: a direction, bounds on the codes, a number of steps (None: no bound)."""

    direction: Direction = Direction.BOTH
    lower: int | None = None
    upper: int | None = None
    steps: int | None = None

    @property
    def endless(self) -> bool:
        """Whether values may go anywhere, both ways."""
        return self.lower is None and self.upper is None and self.direction is Direction.BOTH

    def distances(self, values: IntArray) -> tuple[FloatArray, FloatArray]:
        """How many steps each value may fall and rise; +inf where nothing ends it."""
        below = np.full(values.shape, np.inf) if self.lower is None else values.astype(np.float64) - self.lower
        above = np.full(values.shape, np.inf) if self.upper is None else self.upper - values.astype(np.float64)
        if self.direction is Direction.UP:
            below[:] = 0.0
        if self.direction is Direction.DOWN:
            above[:] = 0.0
        return below, above


def budget_of(plausibility: float, n_samples: float) -> float:
    """Total price that the adversary may pay: -n_samples * log(plausibility); of rows with weights, their sum."""
    level = numbers_of("plausibility", plausibility)
    if level.ndim != 0 or not 0 < level <= 1:
        raise ArgumentError("plausibility", plausibility, "it must lie in (0, 1]", remedy="1 hedges against nothing")
    return -n_samples * float(np.log(level)) + 0.0


def reaches(table: Table, direction: Any = None, bounds: Any = None, steps: Any = None) -> tuple[Reach, ...]:
    """Where each feature may go.

    direction  "both" (also None), "up" or "down": by column name, one for each column, or one for all ordered columns
    bounds     (lower, upper) with None for an open end: by column name, one pair for each column, or one pair for all
               integer columns. The other kinds are bounded by their own first and last category or bin.
    steps      how far a value of an ordered column may move at most: by column name, one for each column (None: no
               limit), or one for all
    """
    features, names = table.features, table.names
    if isinstance(direction, str):
        direction = [direction if feature.ordered else None for feature in features]
    if _is_pair(bounds):
        bounds = [bounds if feature.kind is Kind.INTEGER else None for feature in features]
    ordered, whole = [f.ordered for f in features], [f.kind is Kind.INTEGER for f in features]
    directions = by_feature("direction", direction, names, default=None, for_others=ordered)
    pairs = by_feature("bounds", bounds, names, default=None, for_others=whole)
    limits = by_feature("steps", steps, names, default=None)
    return tuple(
        replace(_reach(feature, answered(table, j), directions[j], pairs[j]), steps=_steps(feature, limits[j]))
        for j, feature in enumerate(features)
    )


def answered(table: Table, j: int) -> IntArray:
    """The codes of the rows that have an answer in a column."""
    values = table.values[:, j]
    return values[values != NO_ANSWER] if table.features[j].missing else values


def on_scale(feature: Feature, values: IntArray) -> IntArray:
    """The codes of all rows, with the lowest where there is no answer."""
    return np.where(values == NO_ANSWER, feature.low, values).astype(np.int32) if feature.missing else values


def missing_price(feature: Feature, certainty: Any, n_samples: int, *, clip: bool = False) -> FloatArray:
    """The price of turning an answer into none, or none into an answer: log(rho / (1 - rho)), one or one by sample.

    certainty  that whether there is an answer will be the same: at least 1/2
    """
    rho = np.atleast_1d(numbers_of("missing_certainty", certainty, feature.name))
    if rho.ndim != 1 or rho.size not in (1, n_samples):
        raise ArgumentError(
            "missing_certainty",
            Said(f"an array of shape {rho.shape}"),
            f"expected one value, or one for each of {n_samples} samples",
            column=feature.name,
        )
    bad = np.isnan(rho) | (not clip and ((rho < 0.5) | (rho > 1)))
    if bad.any():
        at = int(bad.argmax())
        raise ArgumentError(
            "missing_certainty",
            float(rho[at]),
            "whether there is an answer at all must be at least as certain as not: in [0.5, 1]",
            remedy=("it is the column's certainty unless given; ", Setting("missing_certainty", 0.9, feature.name)),
            column=feature.name,
            row=None if rho.size == 1 else at,
        )
    return categorical_price(np.clip(rho, 0.5, 1.0), 2)


def reach_allows(reach: Reach, old: NDArray[np.int64], new: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether direction, bounds and steps allow moves."""
    allowed = np.ones(np.broadcast_shapes(old.shape, new.shape), dtype=bool)
    if reach.direction is Direction.UP:
        allowed &= new >= old
    if reach.direction is Direction.DOWN:
        allowed &= new <= old
    if reach.lower is not None:
        allowed &= new >= reach.lower
    if reach.upper is not None:
        allowed &= new <= reach.upper
    if reach.steps is not None:
        allowed &= np.abs(new - old) <= reach.steps
    return allowed


def feature_prices(table: Table, j: int, reach: Reach, certainty: Any, *, clip: bool = False) -> FloatArray:
    """The price of one step (ordered) or of a change (categorical) of a feature: one number, or one for each sample.

    certainty  one value, or one for each sample
    clip       values below the lowest certainty that makes sense count as that limit, values above 1 as 1
    """
    feature = table.features[j]
    return _feature_prices(feature, on_scale(feature, table.values[:, j]), reach, certainty, clip)


def by_feature_and_sample(argument: str, value: Any, table: Table) -> list[Any]:
    """Spread an argument over features; an array of samples by features or a frame holds one entry for each cell."""
    if hasattr(value, "columns"):
        value = {str(name): np.asarray(value[name]) for name in value.columns}
    elif isinstance(value, list | tuple) and value and all(_is_row(entry) and np.ndim(entry) == 1 for entry in value):
        value = np.array([numbers_of(f"a row of {argument}", row) for row in value])
    if isinstance(value, np.ndarray) and value.ndim == 2:
        if value.shape != table.values.shape:
            raise ValueError(f"{argument} has shape {value.shape}; expected samples by columns, {table.values.shape}")
        value = list(value.T)
    return by_feature(argument, value, table.names)


def checked_certainty(
    table: Table, reach: Sequence[Reach], certainty: Any, *, clip: bool = False
) -> tuple[FloatArray, ...]:
    """The certainties by feature, one number or one for each sample, checked or clipped as `feature_prices` does."""
    entries = by_feature_and_sample("certainty", certainty, table)
    scales = [on_scale(feature, table.values[:, j]) for j, feature in enumerate(table.features)]
    columns = zip(table.features, scales, reach, entries, strict=True)
    return tuple(feature_certainty(*column, clip=clip) for column in columns)


def below_probability(certainty: FloatArray, values: IntArray, reach: Reach, threshold: int) -> FloatArray:
    """The probability that an ordered value ends up at or below a threshold, for each sample (module's docstring)."""
    below, above = reach.distances(values)
    steps = float(threshold) - values.astype(np.float64)
    if reach.endless:
        tail = (1.0 - certainty) ** np.where(steps < 0, -steps, steps + 1) / 2
        return np.where(steps < 0, tail, 1.0 - tail)
    price = bounded_price(certainty, below, above)
    nearer = np.where(steps < 0, certainty * (_moves(price, below) - _moves(price, -steps - 1)), 0.0)
    farther = certainty * (1.0 + _moves(price, below) + _moves(price, np.minimum(steps, above)))
    return np.where(steps >= above, 1.0, np.where(steps >= 0, farther, np.where(steps < -below, 0.0, nearer)))


def step_chances(certainty: float, price: float, below: float, above: float, reach: Reach) -> FloatArray:
    """The probability of a move by 0, 1, 2, ... steps, either way, for a value with so many values on both sides.

    What is left out at the end has a chance of less than 1e-18; if there are very many steps, it counts as the last.
    """
    farthest = max(below, above)
    if farthest == 0 or math.isinf(price):
        return np.ones(1)
    last = min(farthest, math.ceil(41.5 / price)) if price > 0 else farthest
    steps = np.arange(int(min(last, MOST_STEPS)) + 1)
    # Without bounds, the paper's distribution halves the chance of a number of steps between the two ways.
    ways = np.ones(len(steps)) if reach.endless else (steps <= below).astype(np.float64) + (steps <= above)
    ways[0] = 1.0
    chances = np.asarray(certainty * np.exp(-price * steps) * ways)
    chances[-1] += max(1.0 - float(chances.sum()), 0.0) if len(chances) > MOST_STEPS else 0.0
    return chances


def _moves(price: FloatArray, count: FloatArray) -> FloatArray:
    """sum_{k=1..count} e^(-k price): the chance of moving up to so many steps one way, relative to staying."""
    count = np.maximum(count, 0.0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        series = -np.expm1(-np.where(count > 0, count * price, 0.0)) / np.expm1(price)
    return np.where(count == 0, 0.0, np.where(price == 0, count, np.where(np.isinf(price), 0.0, series)))


def integer_price(certainty: ArrayLike) -> FloatArray:
    """Unbounded integer: -log(1 - certainty), Eq. 20 of the paper; +inf at 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log1p(-np.asarray(certainty, dtype=np.float64)) + 0.0)


def categorical_price(certainty: ArrayLike, n_categories: int) -> FloatArray:
    """Changing one of n answers into another: log(certainty (n - 1) / (1 - certainty)); binary for n = 2."""
    rho = np.asarray(certainty, dtype=np.float64)
    if n_categories == 1:
        return np.full(rho.shape, np.inf)
    # The price is log(1 + excess / (1 - rho)) with excess = n rho - 1. Near the limit 1/n the excess cancels, so it is
    # taken from rho in two pieces whose products with n are exact.
    high = rho.astype(np.float32).astype(np.float64)
    excess = (n_categories * high - 1.0) + n_categories * (rho - high)
    with np.errstate(divide="ignore"):
        price = np.log1p(np.maximum(excess, 0.0) / (1.0 - rho))
    # A certainty of 1/n as a double is the limit, whichever way it was rounded.
    return np.where(rho <= 1.0 / n_categories, 0.0, price)


def bounded_price(certainty: ArrayLike, below: ArrayLike, above: ArrayLike) -> FloatArray:
    """Price of a step with `below` values underneath and `above` values over the recorded one (+inf: no bound there).

    The paper's two lemmas as one equation. The probabilities rho r^|k| over all reachable values add up to one iff

        h(price) = sum_{k=1..below} e^(-k price) + sum_{k=1..above} e^(-k price) = 1/rho - 1,      r = e^(-price).

    log h is convex and decreasing (a sum of exponentials is log-convex), so Newton's method on log h, started left of
    the root, climbs to it without ever passing it, and there is only one root. For large prices log h is nearly linear,
    so few steps are needed for all cells at once.
    """
    rho, below, above = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (certainty, below, above)))
    price = np.full(rho.shape, np.inf)
    movable = (below + above > 0) & (rho < 1)
    # Below 1e-100 the odds of a change would overflow below, and the price is 0 for every purpose.
    price[movable & (rho <= np.maximum(lowest_certainty(below, above), 1e-100))] = 0.0
    open_cells = movable & (price > 0)
    price[open_cells] = _root((1.0 - rho[open_cells]) / rho[open_cells], below[open_cells], above[open_cells])
    return price


def lowest_certainty(below: ArrayLike, above: ArrayLike) -> FloatArray:
    """The certainty at which every reachable value is equally likely; 0 if there are endlessly many."""
    return 1.0 / (np.asarray(below, dtype=np.float64) + np.asarray(above, dtype=np.float64) + 1.0)


def _root(odds: FloatArray, below: FloatArray, above: FloatArray) -> FloatArray:
    """The price with h(price) = odds, see `bounded_price`."""
    # Both starts lie left of the root because h is at least its first terms, and at least one whole series if open.
    first_terms = (below > 0).astype(np.float64) + (above > 0)
    endless = np.isinf(below) | np.isinf(above)
    price = np.maximum(np.log(first_terms / odds), np.where(endless, np.log1p(1.0 / odds), 0.0))
    goal = np.log(odds)
    active = np.arange(price.size)
    for _ in range(100):
        value_below, slope_below = _series(price[active], below[active])
        value_above, slope_above = _series(price[active], above[active])
        value = value_below + value_above
        excess = np.log(value) - goal[active]
        price[active] = np.maximum(price[active] - excess * value / (slope_below + slope_above), 0.0)
        # Convergence is quadratic: from an excess below 1e-9, the step just taken leaves none that a double can show.
        active = active[excess > 1e-9]
        if active.size == 0:
            return price
    raise ArithmeticError(f"no price found for odds {odds[active[0]]}; please report this as a bug")


def _series(price: FloatArray, count: FloatArray) -> tuple[FloatArray, FloatArray]:
    """sum_{k=1..count} e^(-k price) and its derivative by the price, for any count from 0 to endless."""
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = np.expm1(price)
        reached = count * price
        value = np.where(price > 0, -np.expm1(-reached) / growth, count)
        last_terms = np.where(np.isinf(count), 0.0, count * np.exp(-reached))
        slope = (last_terms - value * (growth + 1.0)) / growth
    # Near 0 the difference above cancels; the slope only steers, so the first terms of its Taylor series will do.
    near = reached < 1e-5
    slope[near] = -(count * (count + 1) / 2 * (1 - price * (2 * count + 1) / 3))[near]
    return value, slope


def _feature_prices(feature: Feature, values: IntArray, reach: Reach, certainty: Any, clip: bool) -> FloatArray:
    if feature.ordered and (reach.lower is not None or reach.upper is not None) and np.size(certainty) == 1:
        # The price depends on the value alone: solve once for each value, then look it up.
        distinct, where = np.unique(values, return_inverse=True)
        rows = np.zeros(distinct.size, dtype=np.intp)
        rows[where[::-1]] = np.arange(values.size)[::-1]  # the first row that holds each value, for messages
        rho = feature_certainty(feature, distinct, reach, certainty, clip=clip, rows=rows)
        prices = bounded_price(rho, *reach.distances(distinct))
        return prices[:1] if (prices == prices[0]).all() else prices[where]
    rho = feature_certainty(feature, values, reach, certainty, clip=clip)
    if not feature.ordered:
        return categorical_price(rho, feature.n_values)
    if reach.lower is None and reach.upper is None:
        return integer_price(rho)
    return bounded_price(rho, *reach.distances(values))


def feature_certainty(
    feature: Feature,
    values: IntArray,
    reach: Reach,
    certainty: Any,
    *,
    clip: bool = False,
    rows: NDArray[np.intp] | None = None,
) -> FloatArray:
    """The certainty of a feature, checked: one number, or one for each value. `rows` are their rows, for messages."""
    rho = np.atleast_1d(numbers_of("certainty", certainty, feature.name))
    if rho.ndim != 1 or rho.size not in (1, values.size):
        raise ArgumentError(
            "certainty",
            Said(f"an array of shape {rho.shape}"),
            f"expected one value, or one for each of {values.size} samples",
            column=feature.name,
        )
    if not feature.ordered:
        # A single category has nowhere to go, so any certainty will do.
        limit = np.asarray(1.0 / feature.n_values if feature.n_values > 1 else 0.0)
        return _checked(feature.name, rho, limit, clip, "categories")
    if reach.lower is None and reach.upper is None:
        return _checked(feature.name, rho, np.asarray(0.0), clip, "values")
    below, above = reach.distances(values)
    # A value with nowhere to go has no lowest certainty: whatever the caller says, it stays.
    limit = np.where(below + above > 0, lowest_certainty(below, above), 0.0)
    return _checked(feature.name, rho, limit, clip, "reachable values", rows)


def _checked(
    name: str, rho: FloatArray, limit: FloatArray, clip: bool, values_noun: str, rows: NDArray[np.intp] | None = None
) -> FloatArray:
    """Certainties within [limit, 1], open at 0: clipped into it, or refused with the limit in the message."""
    rho, limit = np.broadcast_arrays(rho, limit)
    bad = np.isnan(rho) | (not clip and (rho <= 0) | (rho > 1) | (rho < limit * (1 - 1e-12)))
    if bad.any():
        at = int(bad.argmax())
        row = None if rho.size == 1 else int(at if rows is None else rows[at])
        expected = "it must lie in (0, 1]"
        remedy: tuple[Part, ...] = ("1: the value never changes",)
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


def _reach(feature: Feature, values: IntArray, direction: Any, pair: Any) -> Reach:
    way = _direction(feature, direction)
    if feature.kind is Kind.INTEGER:
        lower, upper = _bounds(feature.name, pair)
        _check_bounds(feature.name, values, lower, upper)
        return Reach(way, lower, upper)
    if pair is not None:
        raise ArgumentError(
            "bounds",
            pair,
            f"only integer columns take bounds, a column of kind {feature.kind} is bounded by its own categories or "
            f"bins: leave it out",
            column=feature.name,
        )
    return Reach(way, feature.low, feature.high)


def _direction(feature: Feature, wanted: Any) -> Direction:
    try:
        way = Direction.BOTH if wanted is None else Direction(wanted)
    except ValueError:
        raise ArgumentError("direction", wanted, 'expected "both", "up" or "down"', column=feature.name) from None
    if way is not Direction.BOTH and not feature.ordered:
        raise ArgumentError(
            "direction",
            str(way),
            "a categorical column has no order: leave it out, or list its answers in their order",
            remedy=("such as ", Setting("feature_kinds", list(feature.categories), column=feature.name)),
            column=feature.name,
        )
    return way


def _steps(feature: Feature, limit: Any) -> int | None:
    if limit is None or not feature.ordered:
        return None
    return whole_number("steps", limit, at_least=0, column=feature.name)


def _is_row(entry: Any) -> bool:
    return hasattr(entry, "__len__") and not isinstance(entry, str | Mapping)


def _is_pair(bounds: Any) -> bool:
    return (
        isinstance(bounds, list | tuple | np.ndarray)
        and len(bounds) == 2
        and not any(_is_row(end) or isinstance(end, str | bool) for end in bounds)
    )


def _bounds(name: str, pair: Any) -> tuple[int | None, int | None]:
    if pair is None:
        return None, None
    if not _is_pair(pair):
        raise ArgumentError("bounds", pair, "expected (lower, upper), with None for an open end", column=name)
    lower, upper = (_bound(name, pair, end, open_end) for end, open_end in zip(pair, (-np.inf, np.inf), strict=True))
    if lower is not None and upper is not None and lower > upper:
        raise ArgumentError("bounds", (lower, upper), "the lower bound must not exceed the upper one", column=name)
    return lower, upper


def _bound(name: str, pair: Any, end: Any, open_end: float) -> int | None:
    if end is None or (isinstance(end, float) and end == open_end):
        return None
    if not (isinstance(end, int | float | np.integer | np.floating) and np.isfinite(float(end)) and int(end) == end):
        raise ArgumentError("bounds", tuple(pair), "bounds of integers must be whole numbers or None", column=name)
    return int(end)


def _check_bounds(name: str, values: IntArray, lower: int | None, upper: int | None) -> None:
    if not values.size:
        return
    low_row, high_row = int(values.argmin()), int(values.argmax())
    too_low = lower is not None and values[low_row] < lower
    too_high = upper is not None and values[high_row] > upper
    if too_low or too_high:
        row = low_row if too_low else high_row
        raise ArgumentError(
            "",
            Said(f"{values[row]}, outside its bounds ({lower}, {upper})"),
            "widen the bounds or correct the value",
            column=name,
            row=row,
        )
