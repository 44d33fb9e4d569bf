"""The robustness path: one tree for each level of plausibility, each proved as far as time allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from hardwood._support.notebook import InNotebook
from hardwood.estimators.robust import RobustTreeClassifier
from hardwood.problem import Problem
from hardwood.shift.description import PLAUSIBILITIES
from hardwood.solvers.base import Progress, Result, Run, Start, StopReason
from hardwood.trees.adversary import Attack

OnLevel: TypeAlias = Callable[[float, Result], None]
OnLevelProgress: TypeAlias = Callable[[float, Problem, Progress], None]
COLUMNS = (
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
class RobustnessPath(InNotebook):
    """Fitted classifiers by plausibility, from 1 (hedge against nothing) downwards.

    `interrupted` says whether Ctrl-C ended the path early: levels that were still to come are not in it. `tests` are
    what the adversary does to each tree on rows that it has not seen, if a test table was given.
    """

    plausibilities: tuple[float, ...]
    classifiers: tuple[RobustTreeClassifier, ...] = field(repr=False)
    interrupted: bool = False
    tests: tuple[Attack, ...] = field(default=(), repr=False)

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns by name, one entry for each level, ready for a frame."""
        columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        columns["plausibility"] = list(self.plausibilities)
        for name in COLUMNS[1:]:
            columns[name] = [getattr(classifier.certificate_, name) for classifier in self.classifiers]
        if self.tests:
            for name in ("nominal_accuracy", "worst_case_accuracy"):
                columns[f"test_{name}"] = [getattr(found, name) for found in self.tests]
        return columns

    def to_frame(self) -> Any:
        """The levels as a pandas frame (`to_dict` serves other frames)."""
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            raise ImportError("to_frame needs the package pandas; install it, or use to_dict()") from error
        return pd.DataFrame(self.to_dict())

    def plot(self, ax: Any = None) -> Any:
        """Accuracy without a shift and in the worst case against plausibility; returns the axes."""
        from hardwood.plotting import plot_path

        return plot_path(self.to_dict(), ax=ax)

    def __str__(self) -> str:
        unseen = "  unseen: correct  worst case" if self.tests else ""
        lines = [f"plausibility  correct  worst case  at most{unseen}  tests  proved"]
        for k, (level, classifier) in enumerate(zip(self.plausibilities, self.classifiers, strict=True)):
            own = classifier.certificate_
            at_most = own.upper_bound / own.total
            found = self.tests[k] if self.tests else None
            beside = "" if found is None else f"  {found.nominal_accuracy:15.1%}  {found.worst_case_accuracy:10.1%}"
            lines.append(
                f"{level:12g}  {own.nominal_accuracy:7.1%}  {own.worst_case_accuracy:10.1%}  {at_most:7.1%}{beside}  "
                f"{own.branching_nodes:5}  {own.status}"
            )
        return "\n".join(lines)


def robustness_path(
    X: Any,
    y: Any,
    plausibilities: Sequence[float] = PLAUSIBILITIES,
    *,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    on_level: OnLevel | None = None,
    on_progress: OnLevelProgress | None = None,
    X_test: Any = None,
    y_test: Any = None,
    sample_weight_test: Any = None,
    **parameters: Any,
) -> RobustnessPath:
    """Learn a tree for each level of plausibility.

    More budget never makes a tree better, so what is proved at one level helps at the next: its bound holds for all
    lower plausibilities, and its tree is a start for its neighbours.

    plausibilities  the levels; 1 is the ordinary optimal tree
    sample_weight   how many people each row stands for
    n_jobs          levels at a time, through joblib; None learns one after the other, each from the one before
    on_level        is told each level and its result as soon as it is there
    on_progress     is told the level, its problem, and how far its search is (not with several levels at a time)
    X_test, y_test  rows that no tree has seen; each tree is judged by them, too (`sample_weight_test`: their weights)
    parameters      of `RobustTreeClassifier`; time_limit is for each level

    Ctrl-C ends the path with the levels that are there (`RobustnessPath.interrupted`).
    """
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test belong together; give both or neither")
    levels = _checked_levels(plausibilities, parameters)
    classifiers = [RobustTreeClassifier(plausibility=level, **parameters) for level in levels]
    posed = [classifier.pose(X, y, sample_weight) for classifier in classifiers]
    problems = [problem for problem, _ in posed]
    if n_jobs in (None, 1):
        found = _one_by_one(levels, classifiers, problems, on_progress)
    else:
        found = _side_by_side(classifiers, problems, n_jobs)
    results, interrupted = _gathered(levels, found, on_level)
    n = len(results)
    for classifier, (problem, shifts), result in zip(classifiers, posed, _shared(problems[:n], results), strict=False):
        classifier.adopt(problem, shifts, result)
    tests: tuple[Attack, ...] = ()
    if X_test is not None:
        tests = tuple(own.worst_case(X_test, y_test, sample_weight_test) for own in classifiers[:n])
    return RobustnessPath(levels[:n], tuple(classifiers[:n]), interrupted, tests)


def _checked_levels(plausibilities: Sequence[float], parameters: Mapping[str, Any]) -> tuple[float, ...]:
    for name in ("plausibility", "budget"):
        if name in parameters:
            raise ValueError(f"{name} is given to robustness_path; the levels are given by plausibilities")
    if np.ndim(plausibilities) != 1:
        raise ValueError(f"plausibilities are {plausibilities!r}; expected a list of levels in (0, 1]")
    levels = tuple(sorted({float(level) for level in plausibilities}, reverse=True))
    if not levels:
        raise ValueError("plausibilities are empty; give at least one level in (0, 1]")
    return levels


def _gathered(levels: Sequence[float], found: Iterator[Result], on_level: OnLevel | None) -> tuple[list[Result], bool]:
    """The results that come before Ctrl-C, if it comes; whether it came."""
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


def _one_by_one(
    levels: Sequence[float],
    classifiers: Sequence[RobustTreeClassifier],
    problems: Sequence[Problem],
    on_progress: OnLevelProgress | None,
) -> Iterator[Result]:
    """Results level by level, each started from the ones above; the last one may be interrupted."""
    results: list[Result] = []
    for level, classifier, problem in zip(levels, classifiers, problems, strict=True):
        listener = None if on_progress is None else partial(on_progress, level, problem)
        results.append(classifier.solve(problem, start=_start(results), on_progress=listener))
        yield results[-1]
        if results[-1].stop_reason is StopReason.INTERRUPTED:
            return


def _side_by_side(
    classifiers: Sequence[RobustTreeClassifier], problems: Sequence[Problem], n_jobs: int | None
) -> Iterator[Result]:
    """Results of levels that are learnt at the same time, up to the first that Ctrl-C did not let finish."""
    from joblib import Parallel, delayed

    tasks = (delayed(c.solve)(problem) for c, problem in zip(classifiers, problems, strict=True))
    for result in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        yield result
        if result.stop_reason is StopReason.INTERRUPTED:
            return


def _start(above: Sequence[Result]) -> Start:
    """What the levels of higher plausibility say about the next one."""
    return Start(above[-1].tree, min(result.objective_bound for result in above)) if above else Start()


def _shared(problems: Sequence[Problem], results: Sequence[Result]) -> list[Result]:
    """Each level with the best of all trees and the lowest bounds that hold for it: its own and all of smaller budget.

    Valid: a larger budget affords every shift that a smaller one does, so no tree is worth more with it.
    """
    shared: list[Result] = []
    for problem, own in zip(problems, results, strict=True):
        objectives = [problem.objective_of(problem.judged(result.tree)) for result in results]
        best = max(range(len(results)), key=objectives.__getitem__)
        tree = results[best].tree if objectives[best] > own.objective else own.tree
        claim = Run(problem, own.solver).result(
            tree,
            objective_bound=min(result.objective_bound for result in [own, *shared]),
            upper_bound=min(result.upper_bound for result in [own, *shared]),
            any_model_bound=min(result.any_model_bound for result in [own, *shared]),
            stop_reason=own.stop_reason,
            work=own.work,
        )
        shared.append(replace(claim, seconds=own.seconds, history=own.history))
    return shared
