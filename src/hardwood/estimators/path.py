"""The robustness path: one tree for each level of plausibility, with bounds shared between levels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from hardwood._util.errors import ArgumentError, Verbatim
from hardwood._util.notebook import NotebookMixin
from hardwood._util.types import Arguments, FrameColumns, LabelsLike, TableLike, WeightsLike
from hardwood.data.table import Table
from hardwood.estimators.robust import RobustTreeClassifier
from hardwood.problem import Problem
from hardwood.shifts.models import PLAUSIBILITIES, ShiftModel
from hardwood.solvers.base import Progress, Result, Start, StopReason
from hardwood.solvers.run import Run
from hardwood.trees.attack import Attack

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

OnLevel: TypeAlias = Callable[[float, Result], None]
OnLevelProgress: TypeAlias = Callable[[float, Problem, Progress], None]
_COLUMNS = (
    "plausibility",
    "budget",
    "n_samples",
    "total",
    "nominal_accuracy",
    "worst_case_accuracy",
    "upper_bound",
    "gap",
    "branching_nodes",
    "status",
    "seconds",
)


@dataclass(frozen=True)
class RobustnessPath(NotebookMixin):
    """Fitted classifiers by plausibility, from 1 (hedge against no shift) downwards. Prints as a table.

    Attributes
    ----------
    plausibilities : tuple of float
        The levels, from high to low.
    classifiers : tuple of RobustTreeClassifier
        The fitted classifier of each level.
    interrupted : bool
        Whether Ctrl-C ended the path early; levels that were not reached are left out.
    tests : tuple of Attack
        The attack on each tree on the test table; empty without one.
    """

    plausibilities: tuple[float, ...]
    classifiers: tuple[RobustTreeClassifier, ...] = field(repr=False)
    interrupted: bool = False
    tests: tuple[Attack, ...] = field(default=(), repr=False)

    def to_dict(self) -> FrameColumns:
        """Return columns by name, one entry for each level, ready for a frame.

        Returns
        -------
        dict of lists
        """
        columns: FrameColumns = {name: [] for name in _COLUMNS}
        columns["plausibility"] = list(self.plausibilities)
        for name in _COLUMNS[1:]:
            columns[name] = [getattr(classifier.certificate_, name) for classifier in self.classifiers]
        if self.tests:
            for name in ("nominal_accuracy", "worst_case_accuracy"):
                columns[f"test_{name}"] = [getattr(found, name) for found in self.tests]
        return columns

    def to_frame(self) -> pd.DataFrame:
        """Return the levels as a pandas frame; use `to_dict` for other libraries.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            raise ImportError("to_frame needs the package pandas; install it, or use to_dict()") from error
        return pd.DataFrame(self.to_dict())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot accuracy without a shift and in the worst case against plausibility.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to plot; new axes if not given.

        Returns
        -------
        matplotlib axes
        """
        from hardwood.plotting import plot_path

        axes: Axes = plot_path(self.to_dict(), ax=ax)
        return axes

    def __str__(self) -> str:
        test_titles = "  test: correct  worst case" if self.tests else ""
        lines = [f"plausibility  correct  worst case  at most{test_titles}  splits  proved"]
        for k, (level, classifier) in enumerate(zip(self.plausibilities, self.classifiers, strict=True)):
            found = classifier.certificate_
            test_shares = ""
            if self.tests:
                test_shares = f"  {self.tests[k].nominal_accuracy:13.1%}  {self.tests[k].worst_case_accuracy:10.1%}"
            lines.append(
                f"{level:12g}  {found.nominal_accuracy:7.1%}  {found.worst_case_accuracy:10.1%}  "
                f"{found.upper_bound / found.total:7.1%}{test_shares}  {found.branching_nodes:6}  {found.status}"
            )
        return "\n".join(lines)


def robustness_path(
    X: TableLike,
    y: LabelsLike,
    plausibilities: Sequence[float] = PLAUSIBILITIES,
    *,
    sample_weight: WeightsLike | None = None,
    n_jobs: int | None = None,
    on_level: OnLevel | None = None,
    on_progress: OnLevelProgress | None = None,
    X_test: TableLike | None = None,
    y_test: LabelsLike | None = None,
    sample_weight_test: WeightsLike | None = None,
    **parameters: object,
) -> RobustnessPath:
    """Learn a tree for each level of plausibility.

    Parameters
    ----------
    X, y : table and array
        Training samples and their labels. The table is encoded once, for all levels.
    plausibilities : sequence of float
        The levels; at 1, the tree is the ordinary optimal tree.
    sample_weight : array of shape (n_samples,), optional
        Weight of each sample; 1 if not given.
    n_jobs : int, optional
        Number of levels at a time, through joblib. None solves one level after the other, each with the results of
        the levels before.
    on_level : callable, optional
        Called with each level and its result as soon as it is solved.
    on_progress : callable, optional
        Called with the level, its problem, and the progress of its search; not with several levels at a time.
    X_test, y_test, sample_weight_test : optional
        A test table; each tree is attacked on it, too.
    **parameters
        Parameters of `RobustTreeClassifier`. The time limit is for each level. With `shifts`, each level has the
        budget of its plausibility, `shifts.at(level)`; a shift model without a plausibility, such as `Boxes`, is
        refused.

    Returns
    -------
    RobustnessPath
        After Ctrl-C, with the levels solved so far (`RobustnessPath.interrupted`).

    Notes
    -----
    A larger budget never improves the worst case, so the results of one level help at the next: its bound holds for
    all lower plausibilities, and its tree is a start for its neighbours.
    """
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test belong together; give both or neither")
    levels = _checked_levels(plausibilities, parameters)
    classifiers, posed = _pose_levels(levels, parameters, X, y, sample_weight)
    problems = [problem for problem, _ in posed]
    if n_jobs in (None, 1):
        found = _solve_in_sequence(levels, classifiers, problems, on_progress)
    else:
        found = _solve_in_parallel(classifiers, problems, n_jobs)
    results, interrupted = _collect(levels, found, on_level)
    n = len(results)
    shared = _share_claims(problems[:n], results)
    for classifier, (problem, shifts), result in zip(classifiers, posed, shared, strict=False):
        classifier._store_result(problem, shifts, result)
    tests: tuple[Attack, ...] = ()
    if X_test is not None:
        tests = tuple(fitted.worst_case(X_test, y_test, sample_weight_test) for fitted in classifiers[:n])
    return RobustnessPath(levels[:n], tuple(classifiers[:n]), interrupted, tests)


def _checked_levels(plausibilities: Sequence[float], parameters: Arguments) -> tuple[float, ...]:
    """Return the levels from high to low, each of them once."""
    for name in ("plausibility", "budget"):
        if name in parameters:
            raise ValueError(f"{name} is given to robustness_path; the levels are given by plausibilities")
    if np.ndim(plausibilities) != 1:
        raise ValueError(f"plausibilities are {plausibilities!r}; expected a list of levels in (0, 1]")
    levels = tuple(sorted({float(level) for level in plausibilities}, reverse=True))
    if not levels:
        raise ValueError("plausibilities are empty; give at least one level in (0, 1]")
    return levels


def _pose_levels(
    levels: Sequence[float],
    parameters: Arguments,
    X: TableLike,
    y: LabelsLike,
    sample_weight: WeightsLike | None,
) -> tuple[list[RobustTreeClassifier], list[tuple[Problem, ShiftModel]]]:
    """Return a classifier and a problem for each level; all problems share one encoded table."""
    reader = RobustTreeClassifier(**parameters)
    table, labels = reader._training_data(X, y, sample_weight)
    described = reader._described(labels.total_weight)
    shifts = reader.shifts or described
    by_level = [shifts.at(level) for level in levels]  # an error if the shift model has no plausibility
    classifiers = [copy(reader) for _ in levels]  # each knows the columns
    for classifier, level, at_level in zip(classifiers, levels, by_level, strict=True):
        classifier.set_params(**{"plausibility": level} if reader.shifts is None else {"shifts": at_level})
    posed = [classifier._pose(table, labels) for classifier in classifiers]
    if reader.shifts is not None:
        _refuse_other_shifts([model for _, model in posed], table, labels.total_weight)
    return classifiers, posed


def _refuse_other_shifts(models: Sequence[ShiftModel], table: Table, total_weight: float) -> None:
    """Refuse a shift model whose levels differ in more than the budget, since levels share their bounds."""
    costs = [shifts.move_costs(table) for shifts in models]
    budgets = [shifts.budget_for(total_weight) for shifts in models]
    if budgets != sorted(budgets) or not all(costs[0].equals(other) for other in costs[1:]):
        raise ArgumentError(
            "shifts",
            Verbatim(str(models[0])),
            "at a lower plausibility its method `at` must give the same costs and a budget that is not smaller",
            remedy="change nothing but the budget in `at`",
        )


def _collect(levels: Sequence[float], found: Iterator[Result], on_level: OnLevel | None) -> tuple[list[Result], bool]:
    """Return the results up to Ctrl-C, and whether it was pressed."""
    results: list[Result] = []
    interrupted = False
    try:
        for level, result in zip(levels, found, strict=False):
            results.append(result)
            interrupted = result.stop_reason is StopReason.INTERRUPTED
            if on_level is not None:
                on_level(level, result)
    except KeyboardInterrupt:  # between two levels
        interrupted = True
        if not results:
            raise
    return results, interrupted


def _solve_in_sequence(
    levels: Sequence[float],
    classifiers: Sequence[RobustTreeClassifier],
    problems: Sequence[Problem],
    on_progress: OnLevelProgress | None,
) -> Iterator[Result]:
    """Yield results level by level, each started from those above; an interrupted result is the last."""
    results: list[Result] = []
    for level, classifier, problem in zip(levels, classifiers, problems, strict=True):
        listener = None if on_progress is None else partial(on_progress, level, problem)
        results.append(classifier._solve(problem, start=_start(results), on_progress=listener))
        yield results[-1]
        if results[-1].stop_reason is StopReason.INTERRUPTED:
            return


def _solve_in_parallel(
    classifiers: Sequence[RobustTreeClassifier], problems: Sequence[Problem], n_jobs: int | None
) -> Iterator[Result]:
    """Yield results of levels that are solved at the same time, up to the first interrupted one."""
    from joblib import Parallel, delayed

    tasks = (delayed(c._solve)(problem) for c, problem in zip(classifiers, problems, strict=True))
    for result in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        yield result
        if result.stop_reason is StopReason.INTERRUPTED:
            return


def _start(above: Sequence[Result]) -> Start:
    """Return what the levels of higher plausibility imply for the next one."""
    return Start(above[-1].tree, min(result.objective_bound for result in above)) if above else Start()


def _share_claims(problems: Sequence[Problem], results: Sequence[Result]) -> list[Result]:
    """Give each level the best of all trees, and the lowest of its own bounds and those of smaller budgets.

    Valid: a larger budget affords every shift that a smaller one does, so it never improves a tree's worst case.
    """
    shared: list[Result] = []
    for problem, result in zip(problems, results, strict=True):
        objectives = [problem.objective_of(problem.attack(other.tree)) for other in results]
        best = max(range(len(results)), key=objectives.__getitem__)
        tree = results[best].tree if objectives[best] > result.objective else result.tree
        claim = Run(problem, result.solver).result(
            tree,
            objective_bound=min(other.objective_bound for other in [result, *shared]),
            upper_bound=min(other.upper_bound for other in [result, *shared]),
            any_model_bound=min(other.any_model_bound for other in [result, *shared]),
            stop_reason=result.stop_reason,
            work=result.work,
        )
        shared.append(replace(claim, seconds=result.seconds, history=result.history))
    return shared
