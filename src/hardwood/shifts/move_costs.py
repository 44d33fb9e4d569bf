"""The cost of every move: what turning the value of a sample into another one takes from the budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardwood._util.arguments import by_feature, check_integer, check_numbers
from hardwood._util.arrays import FloatArray, frozen, read_only, shape_of
from hardwood._util.errors import ArgumentError, Setting, Verbatim
from hardwood._util.types import PerColumn
from hardwood.data.codes import MISSING_CODE
from hardwood.data.columns import MISSING_CATEGORY
from hardwood.data.feature import Feature
from hardwood.data.table import Table
from hardwood.shifts.calibration import by_feature_and_sample, feature_costs, missing_cost
from hardwood.shifts.pair_tables import (
    PairTable,
    categorical_with_missing,
    cost_table,
    is_table,
    pair_table,
    probability_table,
    table_costs,
    with_missing,
)
from hardwood.shifts.reach import Direction, Reach, reach_allows, reaches

ColumnCosts: TypeAlias = tuple[FloatArray, FloatArray | None, PairTable | None]
"""Unit costs, missing costs and pair costs of a column, as `MoveCosts` holds them."""


@dataclass(frozen=True, eq=False)
class MoveCosts:
    """The cost of turning the value of a sample into another one, for every feature of a table.

    ==================================  ==============================================================
    integer, ordinal, binary, binned    unit cost * \\|new - old\\|
    categorical                         cost of a change, or cost of leaving plus cost of arriving
    outside bounds, against direction,  +inf
    or too many steps
    missing (ordered features)          one cost from any value to missing, and from missing to any
                                        value within bounds
    features with a table               what the table states
    ==================================  ==============================================================

    Parameters
    ----------
    table : Table
    reach : tuple of Reach
        Where the values of each feature may move.
    unit_costs : tuple of array, shape (1 or samples, 1 or categories)
        By feature; one row serves all samples. One column holds the cost of a step, or of changing a category. With
        one column for each category, a change from a to b costs column a plus column b (the paper's costs of one-hot
        columns).
    missing_costs : tuple of array or None
        By feature, the cost of a change to or from missing: one, or one for each sample. None: no missing values.
    pair_costs : tuple of PairTable or None
        By feature, the cost of every pair of values. None: the other costs apply. With a table, `unit_costs` holds the
        cost of the cheapest change.
    """

    table: Table
    reach: tuple[Reach, ...]
    unit_costs: tuple[FloatArray, ...]
    missing_costs: tuple[FloatArray | None, ...] = ()
    pair_costs: tuple[PairTable | None, ...] = ()

    def __post_init__(self) -> None:
        nothing = (None,) * len(self.table.features)
        object.__setattr__(self, "missing_costs", self.missing_costs or nothing)
        object.__setattr__(self, "pair_costs", self.pair_costs or nothing)
        for feature, costs, missing, table in zip(
            self.table.features, self.unit_costs, self.missing_costs, self.pair_costs, strict=True
        ):
            _check_costs(feature, costs, self.table.n_samples)
            if feature.missing and missing is None and (table is None or table.codes[-1] != MISSING_CODE):
                raise ValueError(f'column "{feature.name}" may have missing values; expected a cost for these')
        object.__setattr__(self, "unit_costs", tuple(frozen(costs) for costs in self.unit_costs))

    def move_costs(self, feature: int, rows: ArrayLike, codes: ArrayLike) -> FloatArray:
        """Return the cost of turning the values of the given rows into the given codes."""
        rows, new = np.asarray(rows), np.asarray(codes, dtype=np.int64)
        old = self.table.values[rows, feature].astype(np.int64)
        if (table := self.pair_costs[feature]) is not None:
            return np.where(new == old, 0.0, table.at(old, new))
        unit_costs = self.unit_costs[feature]
        by_row = (
            unit_costs[rows] if len(unit_costs) > 1 else np.broadcast_to(unit_costs, (rows.size, unit_costs.shape[1]))
        )
        if unit_costs.shape[1] > 1:
            position = np.arange(rows.size)
            cost = by_row[position, old] + by_row[position, new]
        else:
            steps = np.abs(new - old) if self.table.features[feature].ordered else np.ones(rows.size)
            cost = by_row[:, 0] * np.maximum(steps, 1)
        reach = self.reach[feature]
        cost = np.where(reach_allows(reach, old, new), cost, np.inf)
        if (missing := self.missing_costs[feature]) is not None:
            own = missing[rows] if len(missing) > 1 else missing
            within_bounds = reach_allows(replace(reach, direction=Direction.BOTH, steps=None), old, new)
            cost = np.where(old == MISSING_CODE, np.where(within_bounds, own, np.inf), cost)
            cost = np.where(new == MISSING_CODE, own, cost)
        return np.where(new == old, 0.0, cost)

    def by_row(self, feature: int) -> list[FloatArray]:
        """Return the costs of a feature that are stated row by row: one array for each number of a row."""
        missing = self.missing_costs[feature]
        given = [*self.unit_costs[feature].T, *([] if missing is None else [missing])]
        return [own for own in given if len(own) > 1]

    def by_distance(self, feature: int) -> bool:
        """Return whether costs depend on how far a value moves, not on the value itself."""
        return self.pair_costs[feature] is None and self.unit_costs[feature].shape[1] == 1

    def cost_range(self, feature: int) -> tuple[float, float]:
        """Return the smallest and the largest cost of one step, or of changing a category."""
        costs, table = self.unit_costs[feature], self.pair_costs[feature]
        if table is not None:
            changes = table.numbers[~np.eye(len(table.codes), dtype=bool)]
            return float(changes.min(initial=math.inf)), float(changes.max()) if changes.size else math.inf
        if self.reach[feature].steps == 0:
            return math.inf, math.inf
        if costs.shape[1] == 1:
            return float(costs.min()), float(costs.max())
        ordered = np.sort(costs, axis=1)  # leaving one category and arriving at another both have a cost
        return float(ordered[:, :2].sum(axis=1).min()), float(ordered[:, -2:].sum(axis=1).max())

    def equals(self, other: MoveCosts) -> bool:
        """Return whether every move of an equal table costs the same, and values may move as far."""
        pairs = zip(
            [*self.unit_costs, *self.missing_costs, *map(_pair_array, self.pair_costs)],
            [*other.unit_costs, *other.missing_costs, *map(_pair_array, other.pair_costs)],
            strict=True,
        )
        return self.reach == other.reach and all(
            one is two or (one is not None and two is not None and np.array_equal(one, two)) for one, two in pairs
        )

    def scaled(self, factor: float) -> MoveCosts:
        """Return all costs times a factor."""
        unit_costs = tuple(factor * own for own in self.unit_costs)
        missing = tuple(None if own is None else factor * own for own in self.missing_costs)
        tables = tuple(None if own is None else PairTable(own.codes, factor * own.numbers) for own in self.pair_costs)
        return MoveCosts(self.table, self.reach, unit_costs, missing, tables)

    def repeated(self, times: NDArray[np.int64]) -> MoveCosts:
        """Return the costs for a table in which each row is repeated."""
        table = Table(self.table.features, np.repeat(self.table.values, times, axis=0))
        unit_costs = tuple(np.repeat(own, times, axis=0) if len(own) > 1 else own for own in self.unit_costs)
        missing = tuple(own if own is None or len(own) == 1 else np.repeat(own, times) for own in self.missing_costs)
        return MoveCosts(table, self.reach, unit_costs, missing, self.pair_costs)


def calibrated_costs(
    table: Table,
    certainty: PerColumn,
    *,
    direction: PerColumn = None,
    bounds: PerColumn = None,
    clip: bool = False,
    missing_certainty: PerColumn = None,
) -> MoveCosts:
    """Return the costs that follow from certainties; see `UncertaintySet.calibrated` for the parameters."""
    entries = by_feature_and_sample("certainty", certainty, table)
    column_costs = partial(_calibrated_column, clip=clip)
    return _move_costs(table, reaches(table, direction, bounds), entries, missing_certainty, column_costs)


def given_costs(
    table: Table,
    costs: PerColumn,
    *,
    direction: PerColumn = None,
    bounds: PerColumn = None,
    steps: Sequence[int] | None = None,
    missing_certainty: PerColumn = None,
) -> MoveCosts:
    """Return the costs that a caller states; see `UncertaintySet.priced` for the parameters."""
    entries = by_feature_and_sample("costs", costs, table)
    return _move_costs(table, reaches(table, direction, bounds, steps), entries, missing_certainty, _given_column)


def box_costs(table: Table, radius: PerColumn, *, direction: PerColumn = None, bounds: PerColumn = None) -> MoveCosts:
    """Return costs of 0 within a box and +inf outside; see `UncertaintySet.boxes` for the parameters."""
    radii = [
        check_integer("radius", entry, at_least=0, column=name)
        for name, entry in zip(table.names, by_feature("radius", radius, table.names), strict=True)
    ]
    costs = [0.0 if own else np.inf for own in radii]
    return given_costs(table, costs, direction=direction, bounds=bounds, steps=radii)


def _move_costs(
    table: Table,
    reach: tuple[Reach, ...],
    entries: list[object],
    missing_certainty: PerColumn,
    column_costs: Callable[[Table, int, Reach, object, object], ColumnCosts],
) -> MoveCosts:
    """Compute the costs of all columns, each from what was stated about it."""
    known = by_feature("missing_certainty", missing_certainty, table.names, default=None)
    columns = [column_costs(table, j, reach[j], entries[j], known[j]) for j in range(len(table.features))]
    unit_costs, missing, tables = zip(*columns, strict=True)
    return MoveCosts(table, reach, unit_costs, missing, tables)


def _calibrated_column(
    table: Table, j: int, reach: Reach, certainty: object, missing_certainty: object, clip: bool
) -> ColumnCosts:
    feature, n_samples = table.features[j], table.n_samples
    if is_table(certainty):
        probabilities = probability_table(feature, table.values[:, j], certainty)
        own = cost_table(feature, reach, probabilities.codes, table_costs(probabilities))
        return _with_table("certainty", table, j, own, missing_certainty, clip)
    unit_costs = read_only(feature_costs(table, j, reach, certainty, clip=clip))[:, None]
    if feature.missing:
        known = certainty if missing_certainty is None else missing_certainty
        return unit_costs, read_only(missing_cost(feature, known, n_samples, clip=clip)), None
    if MISSING_CATEGORY in feature.categories and missing_certainty is not None and feature.n_values > 1:
        cost = _single_missing_cost(feature, missing_certainty, clip)
        own = categorical_with_missing(feature, _single_certainty(feature, certainty), cost)
        return _with_table("certainty", table, j, own, None, clip)
    return unit_costs, None, None


def _given_column(table: Table, j: int, reach: Reach, costs: object, missing_certainty: object) -> ColumnCosts:
    feature = table.features[j]
    named = isinstance(costs, Mapping) or hasattr(costs, "columns")
    by_sample = not named and shape_of(costs) in ((1, feature.n_values), (table.n_samples, feature.n_values))
    if is_table(costs) and not by_sample:
        given = pair_table("costs", feature, table.values[:, j], costs)
        _refuse_negative(feature, given)
        own = cost_table(feature, reach, given.codes, given.numbers)
        return _with_table("costs", table, j, own, missing_certainty, False)
    unit_costs = _given_costs(feature, costs)
    if not feature.missing:
        return unit_costs, None, None
    if missing_certainty is None:
        return unit_costs, unit_costs[:, 0], None
    return unit_costs, missing_cost(feature, missing_certainty, len(table.values)), None


def _with_table(
    argument: str, table: Table, j: int, own: PairTable, missing_certainty: object, clip: bool
) -> ColumnCosts:
    """Return the costs of a column with a table, which includes missing if that is one of the values."""
    feature = table.features[j]
    if feature.missing and own.codes[-1] != MISSING_CODE:
        if missing_certainty is None:
            raise ArgumentError(
                argument,
                Verbatim(f"a table without {[MISSING_CATEGORY]}"),
                "some values are missing: list this value, or state how certain the missingness status is",
                remedy=(Setting("missing_certainty", 0.9, feature.name),),
                column=feature.name,
            )
        own = with_missing(own, _single_missing_cost(feature, missing_certainty, clip))
    changes = own.numbers[~np.eye(len(own.codes), dtype=bool)]
    return np.array([[changes.min(initial=np.inf)]]), None, own


def _pair_array(table: PairTable | None) -> FloatArray | None:
    """Return the codes and the numbers of a table as one array."""
    return None if table is None else np.column_stack([table.codes, table.numbers])


def _single_missing_cost(feature: Feature, missing_certainty: object, clip: bool) -> float:
    """Return the cost of missing beside a table, which is the same for all samples."""
    return float(missing_cost(feature, missing_certainty, 1, clip=clip)[0])


def _single_certainty(feature: Feature, certainty: object) -> float:
    rho = check_numbers("certainty", certainty, feature.name)
    if rho.ndim != 0:
        raise ArgumentError(
            "missing_certainty",
            Verbatim("given"),
            "a categorical column with a certainty for each sample cannot have one for missing: leave it out",
            column=feature.name,
        )
    return float(rho)


def _refuse_negative(feature: Feature, given: PairTable) -> None:
    bad = ~(given.numbers >= 0) & ~np.eye(len(given.codes), dtype=bool)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ArgumentError(
            "costs",
            float(given.numbers[row, column]),
            "it must be a number >= 0",
            remedy="inf: never",
            column=feature.name,
        )


def _given_costs(feature: Feature, entry: object) -> FloatArray:
    if isinstance(entry, Mapping):
        lacking = [category for category in feature.categories if category not in entry]
        if feature.ordered or lacking or len(entry) != len(feature.categories):
            raise ArgumentError(
                "costs",
                Verbatim("a mapping of costs by category"),
                f"expected a categorical column, and a cost for each of its categories {list(feature.categories)}",
                column=feature.name,
            )
        return np.array([[float(entry[category]) for category in feature.categories]])
    costs = check_numbers("costs", entry, feature.name)
    return costs.reshape(-1, 1) if costs.ndim < 2 else costs


def _check_costs(feature: Feature, costs: FloatArray, n_samples: int) -> None:
    widths = (1,) if feature.ordered else (1, feature.n_values)
    if costs.ndim != 2 or costs.shape[0] not in (1, n_samples) or costs.shape[1] not in widths:
        raise ArgumentError(
            "costs",
            Verbatim(f"an array of shape {costs.shape}"),
            f"expected one cost, or one for each of {n_samples} samples",
            remedy="" if feature.ordered else f"with {feature.n_values} columns: one for each category",
            column=feature.name,
        )
    bad = ~(costs >= 0)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ArgumentError(
            "costs",
            float(costs[row, column]),
            "it must be a number >= 0",
            remedy="inf: the value never changes",
            column=feature.name,
            row=int(row) if len(costs) > 1 else None,
        )
