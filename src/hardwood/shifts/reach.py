"""Where the values of a feature may move: direction, bounds and number of steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arguments import by_feature, check_integer, is_sequence
from hardwood._util.arrays import FloatArray, IntArray
from hardwood._util.errors import ArgumentError, Setting, Verbatim
from hardwood._util.types import PerColumn
from hardwood.data.codes import MISSING_CODE
from hardwood.data.feature import Feature, Kind
from hardwood.data.table import Table


class Direction(StrEnum):
    """Which way the values of an ordered feature may move."""

    BOTH = "both"
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Reach:
    """Where the values of a feature may move.

    Parameters
    ----------
    direction : Direction
    lower, upper : int or None
        Bounds on the codes; None: no bound.
    steps : int or None
        Largest number of steps; None: no limit.
    """

    direction: Direction = Direction.BOTH
    lower: int | None = None
    upper: int | None = None
    steps: int | None = None

    @property
    def endless(self) -> bool:
        """Whether values may move anywhere, in both directions."""
        return self.lower is None and self.upper is None and self.direction is Direction.BOTH

    def distances(self, values: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return how many steps each value may move down and up; +inf without a bound."""
        below = np.full(values.shape, np.inf) if self.lower is None else values.astype(np.float64) - self.lower
        above = np.full(values.shape, np.inf) if self.upper is None else self.upper - values.astype(np.float64)
        if self.direction is Direction.UP:
            below[:] = 0.0
        if self.direction is Direction.DOWN:
            above[:] = 0.0
        return below, above


def reaches(
    table: Table, direction: PerColumn = None, bounds: PerColumn = None, steps: PerColumn = None
) -> tuple[Reach, ...]:
    """Return the reach of each feature.

    Parameters
    ----------
    table : Table
    direction : str, mapping or sequence, optional
        "both" (also None), "up" or "down": by column name, one for each column, or one for all ordered columns.
    bounds : pair, mapping or sequence, optional
        (lower, upper) with None for an open end: by column name, one pair for each column, or one pair for all integer
        columns. The other kinds are bounded by their own first and last category or bin.
    steps : int, mapping or sequence, optional
        How many steps a value of an ordered column may move: by column name, one for each column (None: no limit), or
        one for all.
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
        replace(_reach(feature, table.values[:, j], directions[j], pairs[j]), steps=_steps(feature, limits[j]))
        for j, feature in enumerate(features)
    )


def observed(table: Table, j: int) -> IntArray:
    """Return the codes of a column without missing values."""
    values = table.values[:, j]
    return values[values != MISSING_CODE] if table.features[j].missing else values


def on_scale(feature: Feature, values: IntArray) -> IntArray:
    """Return the codes of all rows, with the lowest one in place of missing values."""
    return np.where(values == MISSING_CODE, feature.low, values).astype(np.int32) if feature.missing else values


def reach_allows(reach: Reach, old: NDArray[np.int64], new: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether direction, bounds and steps allow moves."""
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


def _reach(feature: Feature, values: IntArray, direction: object, pair: object) -> Reach:
    move_direction = _direction(feature, direction)
    if feature.kind is Kind.INTEGER:
        lower, upper = _bounds(feature.name, pair)
        _check_bounds(feature.name, values, lower, upper)
        return Reach(move_direction, lower, upper)
    if pair is not None:
        raise ArgumentError(
            "bounds",
            pair,
            f"only integer columns take bounds, a column of kind {feature.kind} is bounded by its own categories or "
            f"bins: leave it out",
            remedy=("or keep its scale: ", Setting("feature_kinds", "integer", column=feature.name))
            if feature.kind is Kind.BINNED
            else (),
            column=feature.name,
        )
    return Reach(move_direction, feature.low, feature.high)


def _direction(feature: Feature, wanted: object) -> Direction:
    if wanted is not None and not (isinstance(wanted, str) and wanted in list(Direction)):
        raise ArgumentError("direction", wanted, 'expected "both", "up" or "down"', column=feature.name)
    parsed = Direction.BOTH if wanted is None else Direction(wanted)
    if parsed is not Direction.BOTH and not feature.ordered:
        raise ArgumentError(
            "direction",
            str(parsed),
            "a categorical column has no order: leave it out, or list its categories in their order",
            remedy=("such as ", Setting("feature_kinds", list(feature.categories), column=feature.name)),
            column=feature.name,
        )
    return parsed


def _steps(feature: Feature, limit: object) -> int | None:
    if limit is None or not feature.ordered:
        return None
    return check_integer("steps", limit, at_least=0, column=feature.name)


def _is_pair(bounds: object) -> TypeGuard[Sequence[object]]:
    return (
        isinstance(bounds, list | tuple | np.ndarray)
        and len(bounds) == 2
        and not any(is_sequence(end) or isinstance(end, str | bool) for end in bounds)
    )


def _bounds(name: str, pair: object) -> tuple[int | None, int | None]:
    if pair is None:
        return None, None
    if not _is_pair(pair):
        raise ArgumentError("bounds", pair, "expected (lower, upper), with None for an open end", column=name)
    lower, upper = (_bound(name, pair, end, open_end) for end, open_end in zip(pair, (-np.inf, np.inf), strict=True))
    if lower is not None and upper is not None and lower > upper:
        raise ArgumentError("bounds", (lower, upper), "the lower bound must not exceed the upper one", column=name)
    return lower, upper


def _bound(name: str, pair: Sequence[object], end: object, open_end: float) -> int | None:
    if end is None or (isinstance(end, float) and end == open_end):
        return None
    if not (isinstance(end, int | float | np.integer | np.floating) and np.isfinite(float(end)) and int(end) == end):
        raise ArgumentError("bounds", tuple(pair), "bounds of integers must be integers or None", column=name)
    return int(end)


def _check_bounds(name: str, values: IntArray, lower: int | None, upper: int | None) -> None:
    outside = np.zeros(len(values), dtype=bool)
    if lower is not None:
        outside |= values < lower
    if upper is not None:
        outside |= values > upper
    outside &= values != MISSING_CODE
    if outside.any():
        row = int(outside.argmax())
        raise ArgumentError(
            "",
            Verbatim(f"{values[row]}, outside its bounds ({lower}, {upper})"),
            "widen the bounds or correct the value",
            column=name,
            row=row,
        )
