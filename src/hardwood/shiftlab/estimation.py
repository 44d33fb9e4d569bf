"""Estimating certainties from data: the same people asked twice, or self-reports compared with records.

For each column, the estimate has the share of values that did not change, the certainty of the highest likelihood with
its interval, tests of direction and shape, and the table P(later | now).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arguments import check_numbers
from hardwood._util.arrays import FloatArray, IntArray
from hardwood._util.errors import ArgumentError, Verbatim
from hardwood._util.types import ColumnLike, PerColumn, TableLike, WeightsLike
from hardwood.data.codes import MISSING_CODE
from hardwood.data.feature import Feature, Kind
from hardwood.data.frames import n_rows
from hardwood.data.pairs import Pair, read_pair
from hardwood.data.table import Table
from hardwood.estimators.any_model import column_named
from hardwood.shiftlab.coverage import weights_of
from hardwood.shiftlab.estimation_result import (
    MAX_VALUES,
    SIGNIFICANCE,
    CertaintyEstimate,
    ColumnEstimate,
    TransitionTable,
)
from hardwood.shiftlab.fitting import (
    Fitted,
    direction_test,
    effective_scale,
    fit_endless,
    fit_shares,
    grouped_steps,
    shape_test,
    smoothed,
    values_test,
)
from hardwood.shiftlab.waves import LeastChange, least_change
from hardwood.shifts.probabilities import ColumnProbabilities
from hardwood.shifts.reach import Direction, Reach, reaches


def estimate_certainty(
    then: TableLike,
    now: TableLike,
    sample_weight: WeightsLike | None = None,
    *,
    on: str | None = None,
    different_people: bool = False,
    groups: ColumnLike | None = None,
    feature_kinds: PerColumn = None,
    max_bins: int = 10,
    bounds: PerColumn = None,
    missing_values: PerColumn = None,
    confidence: float = 0.95,
) -> CertaintyEstimate | LeastChange:
    """Estimate the certainty of each column from two measurements.

    Parameters
    ----------
    then, now : table
        Two tables with the same columns: a test and a re-test, self-reports and records, or two waves.
    sample_weight : array-like or None
        Weight of each row of `then`. Integer weights count as repeated rows; others are scaled to their effective
        sample size (Kish).
    on : str or None
        Column that identifies people. Without it, row i of both tables is the same person.
    different_people : bool, default=False
        Whether no person is in both tables. Only lower bounds on the change can then be computed.
    groups : array-like, str or None
        Group of each row of `then`, or the name of one of its columns, for separate estimates of each group.
    feature_kinds, max_bins, bounds, missing_values
        How to read the columns, as in `RobustTreeClassifier`.
    confidence : float, default=0.95
        Confidence of the intervals.

    Returns
    -------
    estimate : CertaintyEstimate or LeastChange
        A `LeastChange` if the tables are of different people.
    """
    level = check_numbers("confidence", confidence)
    if level.ndim != 0 or not 0 < level < 1:
        raise ArgumentError("confidence", confidence, "it must lie between 0 and 1", remedy="such as 0.95")
    row_groups = _groups(then, groups)
    pair = read_pair(
        then,
        now,
        on=on,
        linked=not different_people,
        kinds=feature_kinds,
        max_bins=max_bins,
        missing_values=missing_values,
    )
    if different_people:
        if sample_weight is not None or groups is not None:
            raise ValueError("sample_weight and groups belong to linked rows; give separate tables instead")
        return least_change(pair, bounds)
    weights, has_integer_weights = weights_of(sample_weight, n_rows(then))
    weights = weights[pair.rows[0]]
    # Groups use the scale of the whole table, because their likelihoods are compared with that of the whole.
    scale = 1.0 if has_integer_weights else effective_scale(weights)
    estimate = partial(_estimate, pair, scale=scale, bounds=bounds, confidence=float(level))
    overall = estimate(weights)
    if row_groups is None:
        return overall
    if row_groups.shape != (n_rows(then),):
        received = Verbatim(f"of shape {row_groups.shape}")
        raise ArgumentError("groups", received, f"expected an entry for each of {n_rows(then)} rows of the first table")
    linked_groups = row_groups[pair.rows[0]]
    by_group = {str(name): estimate(np.where(linked_groups == name, weights, 0.0)) for name in np.unique(linked_groups)}
    return replace(overall, groups=by_group)


def _groups(table: TableLike, groups: ColumnLike | None) -> NDArray[np.str_] | None:
    """Group of each row as text."""
    if groups is None:
        return None
    if isinstance(groups, str):
        groups = column_named(table, groups)
    return np.asarray(groups).astype(str)


def _estimate(
    pair: Pair, sample_weights: FloatArray, *, scale: float, bounds: PerColumn, confidence: float
) -> CertaintyEstimate:
    """Estimate all columns from the rows with a positive weight."""
    weighted = np.flatnonzero(sample_weights > 0)
    first, second = pair.first.rows(weighted), pair.second.rows(weighted)
    weights = sample_weights[weighted] * scale
    reaches(second, None, bounds)  # raises an error if a value of the second table is out of bounds
    reach = reaches(first, None, bounds)
    columns = {}
    for j, name in enumerate(first.names):
        column = _column(first, second, j, reach[j], weights, confidence)
        if column is not None:
            columns[name] = column
    never_repeated = [name for name in first.names if name not in columns]
    left_out = (*pair.left_out, *never_repeated)
    return CertaintyEstimate(columns, float(sample_weights.sum()), confidence, left_out=left_out)


def _column(
    first: Table, second: Table, j: int, reach: Reach, weights: FloatArray, confidence: float
) -> ColumnEstimate | None:
    """Estimate one column; None if no value was recorded both times."""
    feature = first.features[j]
    then, now = first.values[:, j], second.values[:, j]
    missing_code = MISSING_CODE if feature.missing_code is None else feature.missing_code
    missing_then, missing_now = then == missing_code, now == missing_code
    missing = None
    if missing_then.any() or missing_now.any():
        same_status = float(weights[missing_then == missing_now].sum())
        missing = fit_shares(same_status, float(weights.sum()), confidence)
    recorded = ~missing_then & ~missing_now
    if not weights[recorded].any():
        return None
    then, now, weights = then[recorded], now[recorded], weights[recorded]
    total, unchanged = float(weights.sum()), float(weights[then == now].sum())
    counts, codes = _counts(feature, then, now, weights)
    share = unchanged / total
    column = ColumnEstimate(feature.name, str(feature.kind), total, share, share, 0.0, 1.0, missing=missing)
    if feature.ordered and (feature.n_values > 2 or feature.kind is Kind.INTEGER):
        column = _fit_scale(column, then, now, weights, reach, confidence)
    else:
        n_values = len(_codes_of(feature))
        fitted = fit_shares(unchanged, total, confidence, n_values)
        shape_p = values_test(counts, fitted.certainty) if counts is not None and n_values > 1 else None
        column = replace(_with_fit(column, fitted), shape_p=shape_p)
    if counts is None or codes is None:
        return column
    # The model must allow changes even if none was observed.
    certainty = min(column.certainty, (unchanged + 0.5) / (total + 1.0))
    values = tuple(feature.decode(int(code)) for code in codes)
    shares = smoothed(counts, _model_rows(feature, codes, reach, certainty))
    table: TransitionTable = {
        now_value: dict(zip(values, row.tolist(), strict=True)) for now_value, row in zip(values, shares, strict=True)
    }
    if missing is not None and not feature.ordered:  # "missing" is a category, so the table must have a row for it
        table = _with_missing(table, counts.sum(axis=0), missing.certainty)
    return replace(column, values=values, counts=counts, table=table)


def _with_missing(table: TransitionTable, later: FloatArray, certainty: float) -> TransitionTable:
    """Add "missing" as a value; missing values that become observed are distributed as the later values are."""
    shares = (later + 0.5) / (later + 0.5).sum()
    rows: TransitionTable = {
        value: {to: certainty * probability for to, probability in row.items()} | {None: 1.0 - certainty}
        for value, row in table.items()
    }
    becomes_observed = {to: (1.0 - certainty) * share for to, share in zip(table, shares.tolist(), strict=True)}
    return rows | {None: becomes_observed | {None: certainty}}


def _with_fit(column: ColumnEstimate, fitted: Fitted) -> ColumnEstimate:
    """The estimate with a fitted certainty."""
    return replace(column, certainty=fitted.certainty, low=fitted.low, high=fitted.high, likelihood=fitted.likelihood)


def _fit_scale(
    column: ColumnEstimate, then: IntArray, now: IntArray, weights: FloatArray, reach: Reach, confidence: float
) -> ColumnEstimate:
    """Fit certainty, direction and shape of a column with an order."""
    steps = now.astype(np.int64) - then
    below, above = reach.distances(then)
    total = float(weights.sum())
    by_steps = np.bincount(np.abs(steps), weights=weights).astype(np.float64)
    fitted, expected, up_probability = _scale_fit(reach, below, above, steps, weights, confidence)
    shape_p = shape_test(by_steps, expected, total)
    up, down = float(weights[steps > 0].sum()), float(weights[steps < 0].sum())
    if up + down == 0:
        return replace(_with_fit(column, fitted), shape_p=shape_p)
    probabilities, group = np.unique(up_probability, return_inverse=True)
    ups, downs = (
        np.bincount(group.ravel(), weights * moved, len(probabilities)).astype(float)
        for moved in (steps > 0, steps < 0)
    )
    direction_p = direction_test(ups, downs, probabilities)
    likelihood = fitted.likelihood  # groups are compared by the fit to both directions, whatever their own direction
    direction = "up" if down == 0 else "down" if up == 0 else "both"
    if direction != "both" and direction_p is not None and direction_p < SIGNIFICANCE:
        one_way = replace(reach, direction=Direction(direction))
        below = np.zeros_like(below) if direction == "up" else below
        above = np.zeros_like(above) if direction == "down" else above
        fitted, expected, _ = _scale_fit(one_way, below, above, steps, weights, confidence)
        shape_p = shape_test(by_steps, expected, total)
    else:
        direction = "both"
    return replace(
        _with_fit(column, fitted),
        shape_p=shape_p,
        direction=direction,
        direction_p=direction_p,
        up=up / (up + down),
        down=down / (up + down),
        likelihood=likelihood,
    )


def _scale_fit(
    reach: Reach,
    below: FloatArray,
    above: FloatArray,
    steps: NDArray[np.int64],
    weights: FloatArray,
    confidence: float,
) -> tuple[Fitted, FloatArray, FloatArray]:
    """The certainty, the expected weight of 0, 1, ... steps, and for each value the probability that a move goes up."""
    counts, group = grouped_steps(below, above, steps, weights)
    if reach.lower is None and reach.upper is None:
        total = float(weights.sum())
        fitted = fit_endless(total, float(np.abs(steps) @ weights), confidence)
        rho = fitted.certainty
        expected = total * rho * (1.0 - rho) ** np.arange(int(np.abs(steps).max(initial=0)) + 1)
        return fitted, np.asarray(expected), np.full(len(steps), 0.5)
    fitted = counts.fit(confidence)
    cost = counts.costs(min(fitted.certainty, 1.0 - 1e-12))[group]
    rise, fall = (_move_weight(cost, distance) for distance in (above, below))
    with np.errstate(invalid="ignore"):
        up_probability: FloatArray = np.where(rise + fall > 0, rise / (rise + fall), 0.0).round(12)
    return fitted, np.asarray(counts.expected(fitted.certainty).sum(axis=0)), up_probability


def _move_weight(cost: FloatArray, distance: FloatArray) -> FloatArray:
    """Sum of e^(-k cost) over k = 1 .. distance."""
    cost = np.clip(cost, 1e-12, 700.0)  # the cost is infinite where no move is possible
    return np.asarray(-np.expm1(-distance * cost) / np.expm1(cost))


def _counts(
    feature: Feature, then: IntArray, now: IntArray, weights: FloatArray
) -> tuple[FloatArray | None, IntArray | None]:
    """Weight by value now and value later, and the codes of these values; None if there are too many values."""
    codes = _codes_of(feature)
    if len(codes) > MAX_VALUES or feature.kind is Kind.BINNED:
        return None, None
    counts = np.zeros((len(codes), len(codes)))
    np.add.at(counts, (np.searchsorted(codes, then), np.searchsorted(codes, now)), weights)
    return counts, codes


def _codes_of(feature: Feature) -> IntArray:
    """Codes of all values of a feature, without the missing code."""
    codes = np.arange(feature.low, feature.high + 1, dtype=np.int32)
    return codes if feature.missing_code is None else codes[codes != feature.missing_code]


def _model_rows(feature: Feature, codes: IntArray, reach: Reach, certainty: float) -> FloatArray:
    """P(later | now) of a certainty for the given codes; values beyond them count as the first or the last."""
    n = len(codes)
    if not feature.ordered:
        rows = np.full((n, n), (1.0 - certainty) / max(n - 1, 1))
        np.fill_diagonal(rows, certainty if n > 1 else 1.0)
        return rows
    without_missing = replace(feature, missing=False)
    column = ColumnProbabilities(without_missing, codes, reach, certainty, None, True, (codes, np.ones(n)))
    return column.within(codes[:-1].tolist())
