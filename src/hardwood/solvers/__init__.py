"""Engines that solve a `Problem`. All keep the contract of `hardwood.solvers.base`."""

from __future__ import annotations

from importlib import import_module

from hardwood.problem import Problem
from hardwood.solvers.base import Limits, OnProgress, Result, Solver, Start

# An engine is imported when it is asked for, so that none makes the others load its libraries.
_ENGINES = {
    "search": "hardwood.solvers.search:SearchSolver",
    "scip": "hardwood.solvers.mio.scip:ScipSolver",
    "gurobi": "hardwood.solvers.mio.gurobi:GurobiSolver",
    "groot": "hardwood.solvers.greedy:groot_solver",
    "chen": "hardwood.solvers.greedy:chen_solver",
    "leaf": "hardwood.solvers.leaf:LeafSolver",
}
_PACKAGES = {"scip": "pyscipopt", "gurobi": "gurobipy"}


def get_solver(name: str) -> Solver:
    """The engine of a name."""
    if name not in _ENGINES:
        raise ValueError(f'solver is "{name}"; expected one of {sorted(_ENGINES)}, or an object with a solve method')
    module, attribute = _ENGINES[name].split(":")
    try:
        solver: Solver = getattr(import_module(module), attribute)()
    except ModuleNotFoundError as error:
        if name not in _PACKAGES or error.name != _PACKAGES[name]:
            raise
        raise ImportError(
            f'solver "{name}" needs the package {error.name}, which is not installed; '
            f"run: pip install 'hardwood[{name}]' (or use solver=\"search\", which needs nothing)"
        ) from error
    return solver


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
    return engine.solve(problem, limits=limits, start=start, on_progress=on_progress, seed=seed, n_jobs=n_jobs)
