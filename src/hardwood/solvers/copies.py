"""Rows that stand for several people, and samples that are lost in part, for engines that know single rows only.

A row of weight w is w equal rows. The distributionally robust value D (paper, E-Companion 1) is the linear relaxation
of choosing whom to flip, and the worst case is R = ceil(D) (docs/distributional.md). Repeating every row m times with m
times the budget multiplies D by m, so

    ceil(m D) / m   is at most 1 / m above D,

and any engine for R maximises D - penalty * tests to within 1 / m of a sample on the repeated table
(`Problem.resolution`). The search needs none of this: it reckons with weights and with parts of samples.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from hardwood._support.errors import ArgumentError, Said, Setting
from hardwood.data.labels import Labels
from hardwood.problem import MOST_COPIED_ROWS, Goal, Problem
from hardwood.shift.uncertainty import UncertaintySet
from hardwood.solvers.base import Limits, OnProgress, Progress, Result, Run, Solver, Start


def repeated(problem: Problem, copies: int) -> Problem:
    """The robust problem with every row repeated for its people, and all of it, budget and penalty multiplied."""
    costs = problem.uncertainty.costs
    times = (problem.labels.row_people * copies).astype(np.int64)
    uncertainty = UncertaintySet(costs.repeated(times), problem.uncertainty.budget * copies)
    labels = Labels(np.repeat(problem.labels.codes, times), problem.labels.classes)
    penalty, least_leaf = problem.penalty * copies, problem.min_samples_leaf * copies
    return Problem(labels, uncertainty, problem.max_depth, penalty, min_samples_leaf=least_leaf)


class CopiedRows:
    """Solves a problem with an engine that knows nothing but rows that stand for one person each."""

    def __init__(self, engine: Solver) -> None:
        self._engine = engine
        self.name = engine.name

    def solve(
        self,
        problem: Problem,
        *,
        limits: Limits = Limits(),  # noqa: B008 - immutable
        start: Start = Start(),  # noqa: B008 - immutable
        on_progress: OnProgress | None = None,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> Result:
        """Solve on repeated rows.

        For the distributional goal, the worst case on the repeated table is copies times the value, rounded up, so its
        bound, divided, holds for the value; the worst case is the value rounded up, and its bound follows.
        `lost_to_rounding` is added to both.
        """
        refuse_what_cannot_be_copied(problem, self.name)
        copies = problem.copies
        slack = 0.0 if problem.goal is Goal.ROBUST else problem.lost_to_rounding
        run = Run(problem, self.name, None, start)

        def listener(event: Progress) -> None:
            if on_progress is not None:
                bound = (event.objective_bound + slack) / copies
                on_progress(replace(event, objective=event.objective / copies, objective_bound=bound))

        found = self._engine.solve(
            repeated(problem, copies),
            limits=limits,
            start=Start(start.tree, start.objective_bound if problem.goal is Goal.ROBUST else math.inf),
            on_progress=listener,
            seed=seed,
            n_jobs=n_jobs,
        )
        correct = problem.judged(found.tree).worst_case_correct
        own = run.result(
            found.tree,
            objective_bound=(found.objective_bound + slack) / copies,
            upper_bound=max(correct, min(problem.total, math.ceil((found.upper_bound + slack) / copies))),
            any_model_bound=min(problem.total, math.ceil((found.any_model_bound + slack) / copies)),
            stop_reason=found.stop_reason,
            work=found.work,
        )
        return replace(own, seconds=found.seconds)


def single_rows(problem: Problem, solver: str) -> Problem:
    """The same problem with a row for each person."""
    refuse_what_cannot_be_copied(problem, solver)
    return problem if problem.labels.weights is None else repeated(problem, 1)


def refuse_what_cannot_be_copied(problem: Problem, solver: str) -> None:
    """Weights that are no whole numbers, classes that are worth more than others, and too many people."""
    if not problem.labels.counted:
        what = "class_weight" if problem.labels.worth is not None else "sample_weight"
        raise ArgumentError(
            "solver",
            solver,
            f"it knows neither weights that are no whole numbers nor classes that are worth more than others, and "
            f"{what} asks for it",
            remedy=(Setting("solver", "search"), " does it"),
        )
    if problem.labels.people * problem.copies > MOST_COPIED_ROWS:
        raise ArgumentError(
            "sample_weight",
            Said(f"{problem.labels.people} in total"),
            f'solver "{solver}" needs a row for each of them, and takes {MOST_COPIED_ROWS} at most',
            remedy=(Setting("solver", "search"), " needs none"),
        )
