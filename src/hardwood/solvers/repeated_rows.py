"""Integer weights and the distributional goal for solvers that count every row once.

A row of weight w is w equal rows. The distributionally robust value D (paper, E-Companion 1) is the linear relaxation
of choosing the samples to flip, and the worst case is R = ceil(D) (docs/distributional.md). Repeating every row m times
with m times the budget multiplies D by m, so

    ceil(m D) / m   is at most 1 / m above D,

and any solver for R maximises D - penalty * splits to within 1 / m of a sample on the repeated table
(`Problem.resolution`). The search does not need repeated rows: it takes weights and fractional samples itself.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from hardwood._util.errors import ArgumentError, Setting, Verbatim
from hardwood._util.types import Arguments
from hardwood.data.labels import Labels
from hardwood.problem import MAX_REPEATED_ROWS, Goal, Problem
from hardwood.shifts.uncertainty_set import UncertaintySet
from hardwood.solvers.base import Progress, Result, Solver, Start
from hardwood.solvers.run import BaseSolver, Run, RunOptions


def repeated(problem: Problem, copies: int) -> Problem:
    """Return the robust problem whose rows are repeated by weight, and all of it, budget and penalty, by `copies`."""
    costs = problem.uncertainty.costs
    times = (problem.labels.sample_weights * copies).astype(np.int64)
    uncertainty = UncertaintySet(costs.repeated(times), problem.uncertainty.budget * copies)
    constraints: Arguments = {own.parameter: own.for_copies(copies).value for own in problem.constraints}
    labels = Labels(np.repeat(problem.labels.codes, times), problem.labels.classes)
    return replace(
        problem,
        labels=labels,
        uncertainty=uncertainty,
        branch_penalty=problem.penalty * copies,
        goal=Goal.ROBUST,
        **constraints,
    )


class RepeatedRows(BaseSolver):
    """Solves a problem with a solver that counts every row once.

    Parameters
    ----------
    solver : Solver
        Receives the repeated table.
    """

    takes_weights = True

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self.name = solver.name
        self.constraints = getattr(solver, "constraints", ())

    def _solve(self, problem: Problem, options: RunOptions) -> Result:
        """Solve the repeated problem and return a result for the caller's problem.

        For the distributional goal, the worst case on the repeated table is `copies` times the value, rounded up. So
        its bound, divided by `copies`, bounds the value. The worst case is the value rounded up, and its bound follows.
        `Problem.lost_to_rounding` is added to both.
        """
        _check_repeatable(problem, self.name)
        copies = problem.copies
        slack = 0.0 if problem.goal is Goal.ROBUST else problem.lost_to_rounding
        start = options.start
        run = Run(problem, self.name, None, start)

        def rescaled(event: Progress) -> None:
            if options.on_progress is not None:
                bound = (event.objective_bound + slack) / copies
                options.on_progress(replace(event, objective=event.objective / copies, objective_bound=bound))

        inner = self._solver.solve(
            repeated(problem, copies),
            limits=options.limits,
            start=Start(start.tree, start.objective_bound if problem.goal is Goal.ROBUST else math.inf),
            on_progress=rescaled,
            seed=options.seed,
            n_jobs=options.n_jobs,
        )
        correct = run.attack(inner.tree).worst_case_correct
        result = run.result(
            inner.tree,
            objective_bound=(inner.objective_bound + slack) / copies,
            upper_bound=max(correct, min(problem.total, math.ceil((inner.upper_bound + slack) / copies))),
            any_model_bound=min(problem.total, math.ceil((inner.any_model_bound + slack) / copies)),
            stop_reason=inner.stop_reason,
            work=inner.work,
        )
        return replace(result, seconds=inner.seconds)


def single_rows(problem: Problem, solver: str) -> Problem:
    """Return the same problem with rows repeated by their weights; `solver` is named in errors."""
    _check_repeatable(problem, solver)
    return problem if problem.labels.weights is None else repeated(problem, 1)


def _check_repeatable(problem: Problem, solver: str) -> None:
    """Raise unless weights are integers without class weights, and their sum is not too large."""
    if not problem.labels.integral:
        cause = "class_weight" if problem.labels.class_weights is not None else "sample_weight"
        raise ArgumentError(
            "solver",
            solver,
            f"it takes integer sample weights only and no class weights, and {cause} asks for more",
            remedy=(Setting("solver", "search"), " takes both"),
        )
    if problem.labels.total_weight * problem.copies > MAX_REPEATED_ROWS:
        raise ArgumentError(
            "sample_weight",
            Verbatim(f"{problem.labels.total_weight} in total"),
            f'solver "{solver}" repeats each row by its weight and takes at most {MAX_REPEATED_ROWS} rows',
            remedy=(Setting("solver", "search"), " does not repeat rows"),
        )
