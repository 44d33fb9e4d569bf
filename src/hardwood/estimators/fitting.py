"""From the parameters of a classifier to a solved problem: build the problem, call the solver, store the result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Self, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from hardwood._util.arguments import parse_bytes
from hardwood._util.arrays import shape_of
from hardwood._util.errors import ArgumentError
from hardwood._util.types import LabelsLike, PerCell, TableLike, WeightsLike
from hardwood._version import __version__
from hardwood.certificate import Certificate
from hardwood.data.labels import Labels, check_weights
from hardwood.data.table import Table
from hardwood.estimators.base import TreeClassifier, restored_on_failure
from hardwood.estimators.cells import select_cell_rows
from hardwood.problem import Goal, Problem, constraint_parameters
from hardwood.shifts.column_summary import summarize_columns, summary_lines
from hardwood.shifts.models import PARAMETERS, ShiftModel, resolve_shifts, shift_model, with_costs
from hardwood.solvers import solve
from hardwood.solvers.base import Limits, OnProgress, Progress, Result, Solver, Start

OnColumns: TypeAlias = Callable[[Problem, list[str]], None]
"""Called once before the search, with the problem and the lines of the column summary."""

OnFitProgress: TypeAlias = Callable[[Problem, Progress], None]
"""Called for every better tree or bound, with the problem and the event."""

# The parameters of shift models are parameters of the classifier, except for the weight of the budget: `fit` sets it.
SHIFT_PARAMETERS = tuple(name for name in PARAMETERS if name != "budget_rows")


class ProblemFitting(TreeClassifier):
    """Base of `RobustTreeClassifier`, which documents the parameters: fits a tree to the problem they describe."""

    max_depth: int
    shifts: ShiftModel | None
    budget: float | None
    branch_penalty: float | str
    min_samples_leaf: int
    objective: str
    solver: str | Solver
    time_limit: float | None
    memory_limit: float | str | None
    n_jobs: int | None
    random_state: int | np.random.RandomState | None

    def _fit(
        self,
        X: TableLike,
        y: LabelsLike,
        sample_weight: WeightsLike | None = None,
        *,
        certainty: PerCell = None,
        costs: PerCell = None,
        on_columns: OnColumns | None = None,
        on_progress: OnFitProgress | None = None,
    ) -> Self:
        """Fit as `fit` does, without its log and its warning about limits; a failed fit leaves the model unchanged."""
        with restored_on_failure(self):
            table, labels = self._training_data(X, y, sample_weight)
            if sample_weight is not None and (certainty is not None or costs is not None):
                present = check_weights(sample_weight, shape_of(y)[0]) > 0
                certainty, costs = (select_cell_rows(value, present) for value in (certainty, costs))
            problem, shifts = self._pose(table, labels, certainty=certainty, costs=costs)
            self.target_name_ = str(getattr(y, "name", None) or "")
            if on_columns is not None:
                on_columns(problem, self._column_lines(problem, shifts))
            listener = None if on_progress is None else partial(on_progress, problem)
            return self._store_result(problem, shifts, self._solve(problem, on_progress=listener))

    def _pose(
        self, table: Table, labels: Labels, *, certainty: PerCell = None, costs: PerCell = None
    ) -> tuple[Problem, ShiftModel]:
        """Build the problem that the parameters describe for a table, and the description of its shifts."""
        described = self._described(labels.total_weight)
        shifts = with_costs(described, certainty=certainty, costs=costs).with_named_tables(table)
        if isinstance(self.branch_penalty, str) and self.branch_penalty != "auto":
            raise ArgumentError("branch_penalty", self.branch_penalty, 'expected "auto" or a number >= 0')
        if self.objective not in list(Goal):
            raise ArgumentError("objective", self.objective, 'expected "robust" or "distributional"')
        penalty = None if isinstance(self.branch_penalty, str) else self.branch_penalty
        uncertainty = shifts.uncertainty(table, total_weight=labels.total_weight)
        goal = Goal(self.objective)
        return Problem(labels, uncertainty, self.max_depth, penalty, goal, **constraint_parameters(self)), shifts

    def _described(self, total_weight: float) -> ShiftModel:
        """Return the shift model of the parameters for a training table of this total weight."""
        flat = {name: getattr(self, name) for name in SHIFT_PARAMETERS}
        if self.shifts is None:
            return shift_model(**flat, budget_rows=None if self.budget is None else total_weight)
        changed = {name: value for name, value in flat.items() if not _is_default(value, PARAMETERS[name])}
        resolve_shifts(self.shifts, changed)
        return self.shifts.for_training(total_weight)

    def _column_lines(self, problem: Problem, shifts: ShiftModel) -> list[str]:
        """Return the column summary of the training table as lines of text, then remarks on columns."""
        weights = problem.labels.sample_weights
        lines = summary_lines(summarize_columns(problem.table, problem.uncertainty, shifts, weights))
        return [*lines, *getattr(self, "_column_notes", ())]

    def _solve(self, problem: Problem, *, start: Start | None = None, on_progress: OnProgress | None = None) -> Result:
        """Solve a problem with the solver and the limits of the parameters."""
        return solve(
            problem,
            "search" if self.solver == "auto" else self.solver,
            limits=self._limits(),
            start=start or Start(),
            on_progress=on_progress,
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            n_jobs=1 if self.n_jobs is None else self.n_jobs,
        )

    def _limits(self) -> Limits:
        """Return the limits that the parameters set for each run of a solver."""
        memory = None if self.memory_limit is None else parse_bytes("memory_limit", self.memory_limit)
        return Limits(seconds=self.time_limit, memory_bytes=memory)

    def _store_result(self, problem: Problem, shifts: ShiftModel, result: Result) -> Self:
        """Set the fitted attributes from the result of a solver."""
        self._store_tree(result.tree, problem.table, problem.labels)
        self._problem = problem  # for reports; neither saved nor pickled
        self.shifts_ = shifts
        self.result_ = result
        self.distributional_value_ = result.attack.distributional_value
        self.certificate_ = Certificate.of(problem, shifts, result, __version__, self.class_weight)
        return self

    def __getstate__(self) -> dict[str, object]:
        state: dict[str, object] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_problem", "_column_notes")}


def _is_default(value: object, default: object) -> bool:
    """Return whether a parameter has its default; arrays and mappings never do."""
    return value is default or (isinstance(value, bool | float) and value == default)
