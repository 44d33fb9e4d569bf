"""The interface of shift models."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass, replace
from typing import ClassVar, Self, TypeVar

from hardwood._util.arguments import check_numbers
from hardwood._util.arrays import FloatArray
from hardwood._util.errors import ArgumentError, Verbatim
from hardwood._util.types import Arguments, JsonObject, PerColumn
from hardwood.data.table import Table
from hardwood.shifts.calibration import budget_of
from hardwood.shifts.move_costs import MoveCosts
from hardwood.shifts.probabilities import ColumnProbabilities
from hardwood.shifts.texts import reach_texts
from hardwood.shifts.uncertainty_set import UncertaintySet

PARAMETERS: Arguments = {
    "certainty": 0.9,
    "plausibility": 0.9,
    "direction": None,
    "bounds": None,
    "clip": False,
    "costs": None,
    "budget": None,
    "budget_rows": None,
    "radius": None,
    "missing_certainty": None,
}
"""Every parameter of shift models with its default."""


class ShiftModel(ABC):
    """How values may shift, and how much of it to hedge against.

    Subclasses are frozen dataclasses. Fields named as parameters of `shift_model` have the same meaning as there.
    docs/extending.md lists what a subclass defines.
    """

    has_budget: ClassVar[bool] = True
    """Whether shifts are limited by a budget; otherwise all affordable moves may happen at once."""

    @abstractmethod
    def move_costs(self, table: Table) -> MoveCosts:
        """Return the cost of every move of a table's values, before any rounding."""

    @abstractmethod
    def describe(self) -> str:
        """Describe the model in one line."""

    @abstractmethod
    def budget_for(self, total_weight: float) -> float:
        """Return what the adversary may spend on a table of this total weight."""

    def probabilities(self, table: Table, weights: FloatArray | None = None) -> list[ColumnProbabilities] | None:
        """Return where the values of each column go at random; None if the model does not state it.

        Parameters
        ----------
        table : Table
        weights : array, optional
            Sample weights; a missing value that becomes observed is drawn from the weighted distribution of its column.
        """
        del table, weights
        return None

    @property
    def can_be_saved(self) -> bool:
        """Whether a file can hold the model: true of `Calibrated`, `Priced` and `Boxes` only."""
        return False

    @property
    def has_probabilities(self) -> bool:
        """Whether the model states how likely changes are: by default, whether it defines `probabilities`."""
        return type(self).probabilities is not ShiftModel.probabilities

    @property
    def stated_plausibility(self) -> float | None:
        """The plausibility that sets the budget; None if something else limits shifts."""
        return None

    @property
    def per_cell(self) -> bool:
        """Whether the model holds numbers for single cells, so that it belongs to one table."""
        return False

    @property
    def is_complete(self) -> bool:
        """Whether nothing was removed, see `without_cells`."""
        return True

    def uncertainty(
        self, table: Table, *, total_weight: float | None = None, budget: float | None = None
    ) -> UncertaintySet:
        """Return the set of affordable shifts of a table.

        Parameters
        ----------
        table : Table
        total_weight : float, optional
            Of its samples; their number if not given.
        budget : float, optional
            Replaces the model's own budget.
        """
        if budget is None:
            budget = self.budget_for(table.n_samples if total_weight is None else total_weight)
        return UncertaintySet(self.move_costs(table), budget)

    def required_probabilities(self, table: Table, weights: FloatArray) -> list[ColumnProbabilities]:
        """Return `probabilities`, or raise an error that says what is missing."""
        found = self.probabilities(table, weights)
        if found is None:
            raise self.probabilities_error()
        return found

    def probabilities_error(self) -> ArgumentError:
        """Return the error that says why the model does not state probabilities."""
        return ArgumentError(
            "shifts",
            Verbatim(self.describe()),
            f"the shift model {type(self).__name__} states no probabilities",
            remedy="define its method `probabilities`",
        )

    def certainty_texts(self, table: Table) -> list[str]:
        """Describe the certainty of each column."""
        return ["stated by the shift model" if self.has_probabilities else "not given"] * len(table.names)

    def at(self, plausibility: float) -> Self:
        """Return the same shifts with the budget of another plausibility; an error if the model has no plausibility."""
        raise ArgumentError(
            "plausibility",
            plausibility,
            f"the shift model {type(self).__name__} has no plausibility",
            remedy="leave the plausibility out, or define the method `at` of a shift model of your own",
        )

    def for_training(self, total_weight: float) -> Self:
        """Return the model that `fit` keeps for a training table of this total weight."""
        del total_weight
        return self

    def clipped(self) -> Self:
        """Return the model with certainties clipped to what is possible."""
        return self

    def with_named_tables(self, table: Table) -> Self:
        """Return the model with names in tables that came as arrays, which later tables could misread."""
        del table
        return self

    def parameters(self) -> Arguments:
        """Return the parameters of `shift_model` that give this model."""
        return PARAMETERS | {name: getattr(self, name) for name in field_names(self)}

    def to_dict(self) -> JsonObject:
        """Return plain values for JSON, with infinite costs as text; an error if a file cannot hold the model."""
        raise ValueError(
            f"the shift model {type(self).__name__} cannot be saved; expected Calibrated, Priced or Boxes (state it as "
            f"a table in `Calibrated`, or as a table of costs in `Priced`)"
        )

    def __str__(self) -> str:
        return self.describe()


class BudgetedModel(ShiftModel):
    """What models with a budget share."""

    plausibility: float
    direction: PerColumn
    bounds: PerColumn
    missing_certainty: PerColumn
    budget: float | None
    budget_rows: float | None

    def _check_budget(self) -> None:
        budget_of(self.plausibility, 1)
        if self.budget_rows is not None:
            rows = check_numbers("budget_rows", self.budget_rows)
            if rows.ndim != 0 or not 0 < rows < math.inf:
                raise ArgumentError("budget_rows", self.budget_rows, "it must be a number > 0")
        if self.budget is not None:
            budget = check_numbers("budget", self.budget)
            if budget.ndim != 0 or not 0 <= budget < math.inf:
                raise ArgumentError(
                    "budget", self.budget, "it must be a finite number >= 0", remedy="0 for an ordinary tree"
                )

    @property
    def stated_plausibility(self) -> float | None:
        return self.plausibility if self.budget is None else None

    def budget_for(self, total_weight: float) -> float:
        if self.budget is None:
            return budget_of(self.plausibility, total_weight)
        return float(self.budget) * (total_weight / self.budget_rows if self.budget_rows else 1.0)

    def for_training(self, total_weight: float) -> Self:
        # On a table of another total weight, the budget counts in proportion.
        if self.budget is None or self.budget_rows is not None:
            return self
        return replaced(self, budget_rows=total_weight)

    def at(self, plausibility: float) -> Self:
        return replaced(self, plausibility=plausibility, budget=None, budget_rows=None)

    def _limits_text(self) -> list[str]:
        limit = f"plausibility {self.plausibility:g}" if self.budget is None else f"budget {self.budget:g}"
        return [limit, *reach_texts(self, "direction", "bounds", "missing_certainty")]


Model = TypeVar("Model", bound=ShiftModel)


def replaced(model: Model, **changes: object) -> Model:
    """Return the model with some parameters changed."""
    field_names(model)  # raises an error if it is no dataclass
    return replace(model, **changes)  # type: ignore[type-var]


def field_names(model: ShiftModel) -> list[str]:
    """Return the names of a model's parameters; refuse a class that is no dataclass."""
    if not is_dataclass(model):
        raise TypeError(
            f"the shift model {type(model).__name__} is no dataclass; expected a frozen dataclass with its parameters "
            f"as fields (write @dataclass(frozen=True) above the class)"
        )
    return [field.name for field in fields(model)]
