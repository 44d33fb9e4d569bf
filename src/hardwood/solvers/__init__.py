"""Solvers for a `Problem`. All follow the contract of `hardwood.solvers.base`."""

from __future__ import annotations

from hardwood.problem import Goal, Problem
from hardwood.solvers.base import Limits, OnProgress, Result, Solver, Start, check_constraints
from hardwood.solvers.registry import get_solver
from hardwood.solvers.repeated_rows import RepeatedRows

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
    """Solve a problem.

    Parameters
    ----------
    problem : Problem
        The problem.
    solver : str or Solver, default="search"
        A name of `hardwood.solvers.registry.SOLVERS`, or any object that follows the `Solver` contract.
    limits : Limits
        When to stop without a proof.
    start : Start
        A good tree and a bound, if they are known.
    on_progress : callable, optional
        Receives a `Progress` for each better tree or bound.
    seed : int, default=0
        Seed of solvers that use random numbers.
    n_jobs : int, default=1
        Number of threads; -1 is one for each core. The search finds the same tree and bound with any number.

    Returns
    -------
    result : Result
        The best tree found, and what is proved about it.

    Raises
    ------
    ArgumentError
        If the solver does not support the problem: its constraints, or weights that are not integers.
    """
    chosen = get_solver(solver) if isinstance(solver, str) else solver
    check_constraints(chosen, problem)
    weighted = problem.labels.weights is not None or problem.labels.class_weights is not None
    if (weighted or problem.goal is not Goal.ROBUST) and not getattr(chosen, "takes_weights", False):
        chosen = RepeatedRows(chosen)
    return chosen.solve(problem, limits=limits, start=start, on_progress=on_progress, seed=seed, n_jobs=n_jobs)
