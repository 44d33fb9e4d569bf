"""The distributionally robust tree: the adversary may lose the last sample in part (paper, E-Companion 1).

For a tree with margins psi and a budget, its value D is the linear relaxation of choosing whom to flip, and the worst
case is R = ceil(D) (docs/distributional.md). Repeating every row m times with m times the budget multiplies D by m, so

    ceil(m D) / m   is at most 1 / m above D,

and any engine for R maximises D - penalty * tests to within 1 / m of a sample on the repeated table
(`Problem.resolution`). Equal rows cost the search nothing.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from hardwood.data.features import Labels, Table
from hardwood.problem import Problem
from hardwood.shift.uncertainty import MoveCosts, UncertaintySet
from hardwood.solvers.base import Limits, OnProgress, Progress, Result, Run, Solver, Start


def repeated(problem: Problem, copies: int) -> Problem:
    """The robust problem with every row, the budget and the penalty multiplied."""
    costs = problem.uncertainty.costs
    table = Table(problem.table.features, np.repeat(problem.table.values, copies, axis=0))
    prices = tuple(np.repeat(own, copies, axis=0) if len(own) > 1 else own for own in costs.prices)
    uncertainty = UncertaintySet(MoveCosts(table, costs.reach, prices), problem.uncertainty.budget * copies)
    labels = Labels(np.repeat(problem.labels.codes, copies), problem.labels.classes)
    return Problem(labels, uncertainty, problem.max_depth, problem.penalty * copies)


class DistributionalSolver:
    """Maximises D - penalty * tests with an engine for the robust problem."""

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

        The worst case on the repeated table is copies times the value, rounded up, so its bound, divided, holds for the
        value; the worst case is the value rounded up, and its bound follows. `lost_to_rounding` is added to both.
        """
        copies, slack = problem.copies, problem.lost_to_rounding
        run = Run(problem, self.name, None, start)

        def listener(event: Progress) -> None:
            if on_progress is not None:
                bound = (event.objective_bound + slack) / copies
                on_progress(replace(event, objective=event.objective / copies, objective_bound=bound))

        found = self._engine.solve(
            repeated(problem, copies),
            limits=limits,
            start=Start(start.tree),
            on_progress=listener,
            seed=seed,
            n_jobs=n_jobs,
        )
        correct = problem.judged(found.tree).worst_case_correct
        own = run.result(
            found.tree,
            objective_bound=(found.objective_bound + slack) / copies,
            upper_bound=max(correct, min(problem.n_samples, math.ceil((found.upper_bound + slack) / copies))),
            any_model_bound=min(problem.n_samples, math.ceil((found.any_model_bound + slack) / copies)),
            stop_reason=found.stop_reason,
            work=found.work,
        )
        return replace(own, seconds=found.seconds)
