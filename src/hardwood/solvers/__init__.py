"""Engines that solve a `Problem`. All keep the contract of `hardwood.solvers.base`."""

from __future__ import annotations

from hardwood.problem import Goal, Problem
from hardwood.solvers.base import Limits, OnProgress, Result, Solver, Start
from hardwood.solvers.copies import CopiedRows
from hardwood.solvers.registry import get_solver

__all__ = ["get_solver", "solve"]


def solve(
    problem: Problem,
    solver: str | Solver = "search",
    *,
    limits: Limits = Limits(),  # noqa: B008 - immutable
    start: Start = Start(),  # noqa: B008 - immutable
    on_progress: OnProgress | None = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> Result:
    """Solve a problem with an engine, given by its name or as any object that keeps the `Solver` contract."""
    engine = get_solver(solver) if isinstance(solver, str) else solver
    plain = problem.goal is Goal.ROBUST and problem.labels.weights is None and problem.labels.worth is None
    if not plain and not getattr(engine, "takes_weights", False):
        engine = CopiedRows(engine)
    return engine.solve(problem, limits=limits, start=start, on_progress=on_progress, seed=seed, n_jobs=n_jobs)
