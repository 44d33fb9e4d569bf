"""Shift models: what a user states about shifts, independent of any table.

The same model gives the uncertainty set of the training table, of a test table, and of the table that a certificate is
checked with.

A shift model is one class: what every move costs, the budget, a description and, if it states how likely changes are,
the distribution of random shifts. docs/extending.md, "A shift model", lists all methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from hardwood._util.arrays import FloatArray, shape_of
from hardwood._util.errors import ArgumentError, Verbatim
from hardwood._util.text import printable
from hardwood._util.types import JsonObject, PerColumn
from hardwood.data.table import Table
from hardwood.shifts.calibration import by_feature_and_sample
from hardwood.shifts.move_costs import MoveCosts, box_costs, calibrated_costs, given_costs
from hardwood.shifts.plain_values import has_cells, plain, read_plain
from hardwood.shifts.probabilities import (
    NO_PROBABILITIES,
    STATE_CERTAINTY,
    ColumnProbabilities,
    column_probabilities,
)
from hardwood.shifts.shift_model import PARAMETERS as PARAMETERS
from hardwood.shifts.shift_model import BudgetedModel, field_names, replaced
from hardwood.shifts.shift_model import ShiftModel as ShiftModel
from hardwood.shifts.texts import PER_CELL, certainty_text, entries_text, reach_texts


class SavedModel(ShiftModel):
    """What the models that files can hold share."""

    @property
    def can_be_saved(self) -> bool:
        return is_own_model(self)

    def to_dict(self) -> JsonObject:
        if not is_own_model(self):
            return super().to_dict()  # raises an error: it would be read as another model
        return {name: plain(value) for name, value in self.parameters().items()}


PLAUSIBILITIES = (1.0, 0.99, 0.97, 0.95, 0.9, 0.85, 0.75, 0.5)  # levels that are shown if the caller names none


@dataclass(frozen=True)
class Calibrated(SavedModel, BudgetedModel):
    """Costs and budget from certainties and a plausibility, by the likelihood ratio test of the paper.

    Parameters
    ----------
    certainty : float, mapping, sequence or array, default=0.9
        See `UncertaintySet.calibrated`.
    plausibility : float, default=0.9
        See `calibration.budget_of`; not used if a `budget` is given.
    direction, bounds : optional
        See `reach.reaches`.
    missing_certainty : optional
        Probability that a value's missingness status does not change, see `UncertaintySet.calibrated`.
    budget : float, optional
        Total cost instead of a plausibility.
    budget_rows : float, optional
        The total weight that the budget is for; on another table it counts in proportion.
    clip : bool, default=False
        Whether impossible certainties count as the nearest possible one.

    Examples
    --------
    >>> from hardwood import Calibrated
    >>> str(Calibrated(certainty={"age": 0.7, ...: 0.9}, plausibility=0.95))
    'certainty {age: 0.7, ...: 0.9}, plausibility 0.95'
    """

    certainty: PerColumn = 0.9
    plausibility: float = 0.9
    direction: PerColumn = None
    bounds: PerColumn = None
    clip: bool = False
    missing_certainty: PerColumn = None
    budget: float | None = None
    budget_rows: float | None = None

    def __post_init__(self) -> None:
        self._check_budget()
        if not isinstance(self.clip, bool | np.bool_):
            raise ArgumentError("clip", self.clip, "expected true or false")

    def move_costs(self, table: Table) -> MoveCosts:
        return calibrated_costs(
            table,
            self.certainty,
            direction=self.direction,
            bounds=self.bounds,
            clip=self.clip,
            missing_certainty=self.missing_certainty,
        )

    def probabilities(self, table: Table, weights: FloatArray | None = None) -> list[ColumnProbabilities] | None:
        if self.certainty is None:
            return None
        return column_probabilities(
            table,
            self.certainty,
            direction=self.direction,
            bounds=self.bounds,
            clip=self.clip,
            missing_certainty=self.missing_certainty,
            weights=weights,
        )

    @property
    def has_probabilities(self) -> bool:
        return self.certainty is not None

    def probabilities_error(self) -> ArgumentError:
        return _no_probabilities("certainty", "not given")

    @property
    def per_cell(self) -> bool:
        return has_cells(self.certainty)

    @property
    def is_complete(self) -> bool:
        return self.certainty is not None

    def certainty_texts(self, table: Table) -> list[str]:
        if self.certainty is None:
            return ["not given"] * len(table.names)
        return [certainty_text(entry) for entry in by_feature_and_sample("certainty", self.certainty, table)]

    def clipped(self) -> Self:
        return replaced(self, clip=True)

    def describe(self) -> str:
        text = PER_CELL if self.per_cell else entries_text(self.certainty)
        return ", ".join([f"certainty {text}", *self._limits_text()])


@dataclass(frozen=True)
class Priced(SavedModel, BudgetedModel):
    """Given costs, with a budget or a plausibility.

    Parameters
    ----------
    costs : float, mapping, sequence or array
        See `UncertaintySet.priced`.
    plausibility, direction, bounds, missing_certainty, budget, budget_rows
        See `Calibrated`.

    Examples
    --------
    >>> from hardwood import Priced
    >>> str(Priced(1.0, budget=20))
    'costs 1.0, budget 20'
    """

    costs: PerColumn
    plausibility: float = 0.9
    direction: PerColumn = None
    bounds: PerColumn = None
    missing_certainty: PerColumn = None
    budget: float | None = None
    budget_rows: float | None = None

    def __post_init__(self) -> None:
        self._check_budget()

    def move_costs(self, table: Table) -> MoveCosts:
        return given_costs(
            table,
            self.costs,
            direction=self.direction,
            bounds=self.bounds,
            missing_certainty=self.missing_certainty,
        )

    def probabilities_error(self) -> ArgumentError:
        return _no_probabilities("costs", "given")

    @property
    def per_cell(self) -> bool:
        return has_cells(self.costs)

    def certainty_texts(self, table: Table) -> list[str]:
        return ["costs given"] * len(table.names)

    def with_named_tables(self, table: Table) -> Self:
        """Return the model with names in tables of costs that came as arrays.

        An array of values by values looks like one of samples by values in a table with as many rows; later tables may
        be that short.
        """
        if not isinstance(self.costs, Mapping):
            return self
        named: dict[object, object] = dict(self.costs)
        for feature in table.features:
            entry, n = named.get(feature.name), feature.n_values
            if isinstance(entry, list | np.ndarray) and shape_of(entry) == (n, n) and table.n_samples not in (1, n):
                values = [feature.decode(code) for code in range(feature.low, feature.high + 1)]
                rows = np.asarray(entry, dtype=np.float64).tolist()
                named[feature.name] = {
                    now: dict(zip(values, row, strict=True)) for now, row in zip(values, rows, strict=True)
                }
        return replaced(self, costs=named)

    def describe(self) -> str:
        text = PER_CELL if self.per_cell else entries_text(self.costs)
        return ", ".join([f"costs {text}", *self._limits_text()])


@dataclass(frozen=True)
class Boxes(SavedModel):
    """Every sample moves freely within a box around it, all at once: neither costs nor a budget.

    Parameters
    ----------
    radius : int, mapping or sequence
        See `UncertaintySet.boxes`.
    direction, bounds : optional
        See `reach.reaches`.

    Examples
    --------
    >>> from hardwood import Boxes
    >>> str(Boxes(1))
    'radius 1'
    """

    radius: PerColumn
    direction: PerColumn = None
    bounds: PerColumn = None

    has_budget = False

    def move_costs(self, table: Table) -> MoveCosts:
        return box_costs(table, self.radius, direction=self.direction, bounds=self.bounds)

    def budget_for(self, total_weight: float) -> float:
        del total_weight
        return 0.0

    def probabilities_error(self) -> ArgumentError:
        return _no_probabilities("radius", "given")

    def certainty_texts(self, table: Table) -> list[str]:
        return ["moves freely within a box"] * len(table.names)

    def describe(self) -> str:
        return ", ".join([f"radius {printable(plain(self.radius))}", *reach_texts(self, "direction", "bounds")])


def shift_model(**parameters: object) -> ShiftModel:
    """Return the model that flat parameters describe: `Boxes` with a radius, `Priced` with costs, else `Calibrated`.

    Parameters
    ----------
    **parameters
        Parameters of these classes; those of the models that are not chosen are ignored.
    """
    unknown = [name for name in parameters if name not in PARAMETERS]
    if unknown:
        raise TypeError(f"there is no shift parameter {unknown[0]!r}; expected some of {list(PARAMETERS)}")
    given = PARAMETERS | parameters
    chosen = _chosen_class(given)
    return chosen(**{field.name: given[field.name] for field in fields(chosen)})


def _chosen_class(parameters: Mapping[str, object]) -> type[Calibrated | Priced | Boxes]:
    """Return the class that parameters choose."""
    if parameters["radius"] is not None:
        return Boxes
    return Priced if parameters["costs"] is not None else Calibrated


def is_own_model(shifts: ShiftModel) -> bool:
    """Return whether `shift_model` makes the same model of its parameters: not so for subclasses."""
    return type(shifts) in (Calibrated, Priced, Boxes) and _chosen_class(shifts.parameters()) is type(shifts)


def _no_probabilities(argument: str, received: str) -> ArgumentError:
    return ArgumentError(argument, Verbatim(received), NO_PROBABILITIES, remedy=STATE_CERTAINTY)


def resolve_shifts(shifts: ShiftModel | None, parameters: Mapping[str, object]) -> ShiftModel | None:
    """Return a model given as a whole or by flat parameters (None: not given); None if nothing is given."""
    given = {name: value for name, value in parameters.items() if value is not None}
    if shifts is None:
        return shift_model(**given) if given else None
    if not isinstance(shifts, ShiftModel):
        raise ArgumentError("shifts", shifts, "expected a shift model: Calibrated, Priced, Boxes or another ShiftModel")
    if given:
        raise ArgumentError(
            "shifts", shifts, f"{sorted(given)} are given, too: state everything in the shift model, or nothing"
        )
    return shifts


def read_shift_model(entry: object) -> ShiftModel:
    """Read what `ShiftModel.to_dict` wrote."""
    if isinstance(entry, Mapping) and set(entry) == set(PARAMETERS) - {"missing_certainty"}:  # an older format
        entry = {**entry, "missing_certainty": None}
    if not isinstance(entry, Mapping) or set(entry) != set(PARAMETERS):
        received = sorted(entry) if isinstance(entry, Mapping) else repr(entry)
        raise ValueError(
            f"the description of shifts has {received}; expected an object with exactly {list(PARAMETERS)}"
        )
    return shift_model(**{name: read_plain(value) for name, value in entry.items()})


def with_costs(shifts: ShiftModel, *, certainty: PerColumn = None, costs: PerColumn = None) -> ShiftModel:
    """Return the same shifts with other certainties or other costs: whichever is given replaces both."""
    if certainty is not None and costs is not None:
        raise ValueError("certainty and costs are both given; expected one of them")
    if certainty is None and costs is None:
        return shifts
    if is_own_model(shifts):
        return shift_model(**shifts.parameters() | {"certainty": certainty, "costs": costs, "radius": None})
    name, value = ("costs", costs) if certainty is None else ("certainty", certainty)
    if name not in field_names(shifts):
        raise ArgumentError(
            name,
            Verbatim("given"),
            f"the shift model {type(shifts).__name__} takes no {name}",
            remedy="leave it out: the shift model states everything",
        )
    return replaced(shifts, **{name: value})


def without_cells(shifts: ShiftModel) -> ShiftModel:
    """Return a model without numbers for single cells, which belong to one table; see `ShiftModel.is_complete`.

    A model that files cannot hold is returned unchanged, so that it is refused as it is.
    """
    if not shifts.per_cell or not is_own_model(shifts):
        return shifts
    names = {field.name for field in fields(Calibrated)}
    kept = {name: value for name, value in shifts.parameters().items() if name in names}
    return Calibrated(**kept | {"certainty": None})
