"""Random shifts: the distribution of values that a certainty, or a measured table, states.

Values change independently (`calibration` and `pair_tables` have the distributions). Two questions are asked: in which
of some cells a value ends, because trees see no more of it; and what its move costs, for the budget.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arguments import by_feature, check_numbers
from hardwood._util.arrays import FloatArray, IntArray, shape_of
from hardwood._util.errors import Setting
from hardwood._util.types import PerCell, PerColumn
from hardwood.data.codes import MISSING_CODE
from hardwood.data.columns import MISSING_CATEGORY
from hardwood.data.feature import Feature
from hardwood.data.table import Table
from hardwood.shifts.calibration import (
    below_probability,
    by_feature_and_sample,
    feature_certainty,
    missing_cost,
    step_probabilities,
    value_costs,
)
from hardwood.shifts.move_costs import MoveCosts
from hardwood.shifts.pair_tables import is_table, probability_table
from hardwood.shifts.reach import Reach, on_scale, reaches
from hardwood.shifts.sums import Amounts

NO_PROBABILITIES = "costs alone do not state how likely a change is"
STATE_CERTAINTY = (Setting("certainty", 0.9), " states how certain values are")


@dataclass(frozen=True, eq=False)
class ColumnProbabilities:
    """The distribution of the values of one column after a random shift.

    Parameters
    ----------
    feature : Feature
    values : array of int
        The code of each row.
    reach : Reach
    certainty, missing_certainty : float, array or table
        One number, one for each row, or (certainty only) a table.
    clip : bool
    observed : pair of array
        Observed codes and their shares: a missing value that becomes observed is drawn from these.
    """

    feature: Feature
    values: IntArray
    reach: Reach
    certainty: object
    missing_certainty: object
    clip: bool
    observed: tuple[IntArray, FloatArray]

    def within(self, codes: Sequence[int]) -> FloatArray:
        """Return the probability of ending in each of the cells that some codes define, rows by cells.

        Parameters
        ----------
        codes : sequence of int
            Of an ordered feature ascending thresholds; otherwise categories, and the last cell holds all others. An
            ordered feature with missing values has one more cell for these.
        """
        if is_table(self.certainty):
            return self._by_table(codes)
        if self.feature.missing:
            return self._with_missing(self._values(codes), codes)
        if self._missing_apart:
            return self._beside_missing(codes)
        return self._values(codes)

    def stays(self) -> FloatArray:
        """Return the probability that each value stays the same."""
        if is_table(self.certainty):
            table = probability_table(self.feature, self.values, self.certainty)
            place, present = table.places(self.values)
            own = table.numbers[place, place]
            if not self.feature.missing or MISSING_CODE in table.codes:
                return np.asarray(own)
        elif self._missing_apart:
            return np.asarray(np.diag(self._category_probabilities())[self.values])
        else:
            own, present = np.broadcast_to(self._rho(), self.values.shape), self.values != MISSING_CODE
            own = np.where(self._movable(), own, 1.0)
        return np.where(present, own, 1.0) * (self._status_certainty() if self.feature.missing else 1.0)

    def costs(self, costs: MoveCosts, j: int, rows: NDArray[np.intp]) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield, for each of some rows, the costs that its move may have, and their probabilities.

        Probabilities follow from the certainties alone, and costs from `costs`. Probabilities add up to one, or to
        less where a random move is possible that has no finite cost.
        """
        if not is_table(self.certainty) and self.feature.ordered:
            return self._step_costs(costs, j, rows)
        return self._code_costs(costs, j, rows)

    def rows(self, chosen: NDArray[np.intp]) -> ColumnProbabilities:
        """Return the distribution for some of the rows."""

        def own(entry: object) -> object:
            plain = entry is None or is_table(entry) or math.prod(shape_of(entry)) == 1
            return entry if plain else np.asarray(entry)[chosen]

        certainty, missing = own(self.certainty), own(self.missing_certainty)
        return replace(self, values=self.values[chosen], certainty=certainty, missing_certainty=missing)

    def alike(self, costs: MoveCosts, j: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Group rows whose moves have equal costs and probabilities; return first rows, and the group of each row."""
        keys = [self.values.astype(np.float64), *costs.by_row(j)]
        given = [own for own in (self.certainty, self.missing_certainty) if own is not None and not is_table(own)]
        keys += [check_numbers("certainty", own) for own in given if math.prod(shape_of(own)) > 1]
        if not costs.by_distance(j) or costs.reach[j] != self.reach:
            pass  # costs depend on the value itself
        elif self.feature.ordered and not is_table(self.certainty):
            # Only the distances to the bounds matter, not on which side they are.
            below, above = self.reach.distances(self.values)
            missing = self.values == MISSING_CODE
            keys[0] = np.where(missing, -1.0, np.minimum(below, above))
            keys.append(np.where(missing, -1.0, np.maximum(below, above)))
        elif not is_table(self.certainty) and self.missing_certainty is None:
            keys[0] = np.zeros(len(self.values))
        _, first, place = np.unique(np.column_stack(keys), axis=0, return_index=True, return_inverse=True)
        return first, place.ravel()

    @property
    def _missing_apart(self) -> bool:
        """Whether missing is a category with its own certainty."""
        feature = self.feature
        return MISSING_CATEGORY in feature.categories and self.missing_certainty is not None and feature.n_values > 1

    def _movable(self) -> NDArray[np.bool_]:
        """Return which values can move at all."""
        if not self.feature.ordered:
            return np.full(len(self.values), self.feature.n_values > 1)
        below, above = self.reach.distances(on_scale(self.feature, self.values))
        return np.asarray(below + above > 0)

    def _rho(self) -> FloatArray:
        scale = on_scale(self.feature, self.values)
        return feature_certainty(self.feature, scale, self.reach, self.certainty, clip=self.clip)

    def _status_certainty(self) -> FloatArray:
        """Return the probability that the missingness status of each row does not change."""
        known = self.certainty if self.missing_certainty is None else self.missing_certainty
        missing_cost(self.feature, known, len(self.values), clip=self.clip)  # raises an error if it is invalid
        return np.broadcast_to(np.clip(check_numbers("missing_certainty", known), 0.5, 1.0), self.values.shape)

    def _values(self, codes: Sequence[int]) -> FloatArray:
        """Return rows by cells, for values that stay observed."""
        feature, values = self.feature, on_scale(self.feature, self.values)
        rho = np.broadcast_to(self._rho(), values.shape)
        if feature.ordered:
            below = [below_probability(rho, values, self.reach, code) for code in codes]
            ends = np.column_stack([np.zeros(len(values)), *below, np.ones(len(values))])
            return np.asarray(np.diff(ends, axis=1))
        rho = np.where(self._movable(), rho, 1.0)
        other = (1.0 - rho) / max(feature.n_values - 1, 1)
        own = [np.where(values == code, rho, other) for code in codes]
        return np.column_stack([*own, 1.0 - np.sum(own, axis=0)])

    def _with_missing(self, probabilities: FloatArray, codes: Sequence[int]) -> FloatArray:
        """Add a cell for missing values."""
        missing = self.values == MISSING_CODE
        cells = np.searchsorted(codes, self.observed[0], side="left")
        shares = np.bincount(cells, weights=self.observed[1], minlength=len(codes) + 1)
        if not self.observed[0].size:  # all values are missing
            shares = np.full(len(codes) + 1, 1.0 / (len(codes) + 1))
        stays = self._status_certainty()
        is_observed = np.where(missing, 1.0 - stays, stays)[:, None]
        return np.column_stack([np.where(missing[:, None], shares, probabilities) * is_observed, 1.0 - is_observed])

    def _beside_missing(self, codes: Sequence[int]) -> FloatArray:
        """Return rows by cells of a categorical feature whose category for missing has its own certainty."""
        matrix = self._category_probabilities()
        own = [matrix[self.values, code] for code in codes]
        return np.column_stack([*own, 1.0 - np.sum(own, axis=0)])

    def _category_probabilities(self) -> FloatArray:
        """Return categories by categories, where missing has its own certainty."""
        n, missing = self.feature.n_values, self.feature.missing_code
        stays = float(np.clip(np.asarray(self.missing_certainty), 0.5, 1.0))
        rho = max(float(self._rho()[0]), 1.0 / (n - 1))
        matrix = np.full((n, n), stays * (1.0 - rho) / max(n - 2, 1))
        np.fill_diagonal(matrix, stays * (rho if n > 2 else 1.0))
        matrix[:, missing] = 1.0 - stays
        matrix[missing, :] = (1.0 - stays) / (n - 1)
        matrix[missing, missing] = stays
        return matrix

    def _observed_values(self) -> tuple[IntArray, FloatArray]:
        """Return where a missing value goes that becomes observed: codes, and their shares."""
        if self.observed[0].size:
            return self.observed
        low = self.feature.low if self.reach.lower is None else max(self.feature.low, self.reach.lower)
        code = low if self.reach.upper is None else min(low, self.reach.upper)
        return np.array([code], dtype=np.int32), np.ones(1)  # all values are missing: any one stands for the others

    def _by_table(self, codes: Sequence[int]) -> FloatArray:
        """Return rows by cells of a measured table."""
        table = probability_table(self.feature, self.values, self.certainty)
        listed = table.codes[table.codes != MISSING_CODE]
        place, present = table.places(self.values)
        if self.feature.ordered:
            cell = np.searchsorted(codes, listed, side="left")
        else:
            cell = np.array([codes.index(code) if code in codes else len(codes) for code in listed])
        by_cell = np.zeros((len(table.codes), len(codes) + 1))
        for k, own in enumerate(cell):
            by_cell[:, own] += table.numbers[:, k]
        if not self.feature.missing:
            return np.asarray(by_cell[place])
        if len(listed) < len(table.codes):
            return np.column_stack([by_cell[place], table.numbers[place, -1]])
        return self._with_missing(by_cell[np.where(present, place, 0)], codes)

    def _step_costs(self, costs: MoveCosts, j: int, rows: NDArray[np.intp]) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield costs of all values within reach of a certainty, and of missing where that is one of the values."""
        rho, scale = self._rho(), on_scale(self.feature, self.values)
        rates = value_costs(self.feature, scale, self.reach, self.certainty, clip=self.clip)
        below, above = self.reach.distances(scale)
        presence = self._status_certainty() if self.feature.missing else None
        for row in rows:
            codes: NDArray[np.generic]
            if self.values[row] == MISSING_CODE:
                codes, probabilities = self._observed_values()
            else:
                own, rate = (float(entry[row] if entry.size > 1 else entry[0]) for entry in (rho, rates))
                steps = step_probabilities(own, rate, below[row], above[row], self.reach)
                codes, probabilities = _codes_in_steps(int(scale[row]), steps, below[row], above[row])
            if presence is not None:
                is_observed = 1.0 - presence[row] if self.values[row] == MISSING_CODE else presence[row]
                codes = np.append(codes, MISSING_CODE)
                probabilities = np.append(is_observed * probabilities, 1.0 - is_observed)
            yield _possible(costs.move_costs(j, np.full(len(codes), row), codes), probabilities)

    def _code_costs(self, costs: MoveCosts, j: int, rows: NDArray[np.intp]) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield costs of values that are listed one by one."""
        feature = self.feature
        if is_table(self.certainty):
            codes = probability_table(feature, self.values, self.certainty).codes
            listed = [int(code) for code in codes if code != MISSING_CODE]
        else:
            listed = list(range(feature.n_values))
        reached = np.array([*listed, *([MISSING_CODE] if feature.missing else [])])
        cells = self.rows(rows).within(listed[:-1] if feature.ordered else listed)
        # No value lies beyond the last category; the last cell of an ordered feature is its last code.
        probabilities = cells if feature.ordered else cells[:, : len(listed)]
        for row, own in zip(rows, probabilities, strict=True):
            yield _possible(costs.move_costs(j, np.full(len(reached), row), reached), own)


def column_probabilities(
    table: Table,
    certainty: PerCell,
    *,
    direction: PerColumn = None,
    bounds: PerColumn = None,
    clip: bool = False,
    missing_certainty: PerColumn = None,
    weights: FloatArray | None = None,
) -> list[ColumnProbabilities]:
    """Return where the values of each column go at random; see `Calibrated` for the parameters.

    `weights` are sample weights: a missing value that becomes observed is drawn from the column's weighted
    distribution.
    """
    reach = reaches(table, direction, bounds)
    entries = by_feature_and_sample("certainty", certainty, table)
    known = by_feature("missing_certainty", missing_certainty, table.names, default=None)
    weights = np.ones(table.n_samples) if weights is None else weights
    return [
        ColumnProbabilities(
            feature, table.values[:, j], reach[j], entries[j], known[j], clip, _observed(table, j, weights)
        )
        for j, feature in enumerate(table.features)
    ]


def cost_amounts(
    costs: MoveCosts,
    probabilities: Sequence[ColumnProbabilities],
    weights: FloatArray,
    columns: Iterable[int],
    *,
    integer_weights: bool = True,
) -> Iterator[Amounts]:
    """Yield what a random shift of some columns costs: independent amounts, equal ones together.

    Parameters
    ----------
    costs : MoveCosts
    probabilities : sequence of ColumnProbabilities
        Of all columns.
    weights : array
        Sample weights.
    columns : iterable of int
    integer_weights : bool, default=True
        Whether a weight of w stands for w samples that shift independently; otherwise a row shifts as a whole, and its
        cost counts w times.
    """
    for j in columns:
        rows, place = probabilities[j].alike(costs, j)
        counts = np.bincount(place, weights=weights, minlength=len(rows)).round().astype(np.int64)
        for k, (unit_costs, own) in enumerate(probabilities[j].costs(costs, j, rows)):
            if integer_weights:
                yield Amounts(unit_costs, own, int(counts[k]))
                continue
            distinct, times = np.unique(weights[place == k], return_counts=True)
            for weight, count in zip(distinct, times, strict=True):
                yield Amounts(unit_costs * weight, own, int(count))


def _codes_in_steps(value: int, steps: FloatArray, below: float, above: float) -> tuple[NDArray[np.int64], FloatArray]:
    """Return the codes that 0, 1, 2, ... steps lead to, and their probabilities: both directions are equally likely."""
    count = np.arange(1, len(steps))
    down, up = count[count <= below], count[count <= above]
    each = steps[1:] / np.maximum((count <= below).astype(np.float64) + (count <= above), 1.0)
    codes = np.concatenate([[value], value - down, value + up])
    return codes, np.concatenate([steps[:1], each[: len(down)], each[: len(up)]])


def _possible(unit_costs: FloatArray, probabilities: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the distinct finite costs, and the probability of each."""
    possible = np.isfinite(unit_costs) & (probabilities > 0)
    distinct, place = np.unique(unit_costs[possible], return_inverse=True)
    return distinct, np.asarray(np.bincount(place.ravel(), probabilities[possible], len(distinct)), dtype=np.float64)


def _observed(table: Table, j: int, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the observed values of a column, and the share of the weight that each has."""
    values = table.values[:, j]
    present = values != MISSING_CODE
    codes, place = np.unique(values[present], return_inverse=True)
    counts = np.bincount(place.ravel(), weights=weights[present], minlength=len(codes))
    return codes, counts / counts.sum() if counts.any() else np.full(len(codes), 1.0 / max(len(codes), 1))
