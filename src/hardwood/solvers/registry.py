"""Solvers by name. A solver is imported when it is requested, so that none needs the packages of another."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from hardwood._util.errors import ArgumentError, Setting
from hardwood.solvers.base import Solver, SupportsAlternatives, SupportsRelabelling


@dataclass(frozen=True, slots=True)
class SolverEntry:
    """How a solver is described and found.

    Parameters
    ----------
    description : str
        One line for help texts.
    module : str
        Module below `hardwood.solvers`.
    factory : str
        Class or function of the module that makes the solver.
    package : str, optional
        Package that it needs; the extra that installs it has the solver's name. Only mixed-integer solvers need one.
    """

    description: str
    module: str
    factory: str
    package: str | None = None


SOLVERS = {
    "search": SolverEntry("exact search, needs no other package", "search", "SearchSolver"),
    "scip": SolverEntry("branch and cut of the paper on SCIP", "mio.scip", "ScipSolver", "pyscipopt"),
    "gurobi": SolverEntry("branch and cut of the paper on Gurobi", "mio.gurobi", "GurobiSolver", "gurobipy"),
    "groot": SolverEntry("greedy, Vos and Verwer 2021, without a proof", "greedy", "groot_solver"),
    "chen": SolverEntry("greedy, Chen et al. 2019, without a proof", "greedy", "chen_solver"),
    "leaf": SolverEntry("best tree without a split", "leaf", "LeafSolver"),
}


def solvers_text() -> str:
    """Return the solvers with their descriptions and extras, for help texts."""
    extras = {name: f" (extra {name})" if entry.package else "" for name, entry in SOLVERS.items()}
    return "; ".join(f"{name}: {entry.description}{extras[name]}" for name, entry in SOLVERS.items())


def get_solver(name: str) -> Solver:
    """Return the solver of a name.

    Parameters
    ----------
    name : str
        A key of `SOLVERS`.

    Raises
    ------
    ArgumentError
        If there is no such solver.
    ImportError
        If the package that it needs is not installed; the message names the extra.
    """
    if name not in SOLVERS:
        raise ArgumentError("solver", name, f"expected one of {sorted(SOLVERS)}, or an object with a solve method")
    entry = SOLVERS[name]
    try:
        solver: Solver = getattr(_module_of(entry), entry.factory)()
    except ModuleNotFoundError as error:
        if entry.package is None or error.name != entry.package:
            raise
        raise ImportError(
            f'solver "{name}" needs the package {error.name}, which is not installed; '
            f"run: pip install 'hardwood[{name}]' (or use solver=\"search\", which needs nothing)"
        ) from error
    return solver


def solver_with_alternatives(solver: str | Solver = "search") -> SupportsAlternatives:
    """Return a solver that lists several good trees, or raise an error that names what is missing."""
    chosen = get_solver(solver) if isinstance(solver, str) else solver
    if not isinstance(chosen, SupportsAlternatives):
        raise _missing_capability(chosen, "alternatives", "to list several good trees")
    return chosen


def solver_with_relabelling(solver: str | Solver = "search") -> SupportsRelabelling:
    """Return a solver that chooses labels for fixed splits, or raise an error that names what is missing."""
    chosen = get_solver(solver) if isinstance(solver, str) else solver
    if not isinstance(chosen, SupportsRelabelling):
        raise _missing_capability(chosen, "relabel", "to choose labels for fixed splits")
    return chosen


def driver_of(name: str) -> ModuleType:
    """Return the module that drives a mixed-integer solver; its `optimize` also solves other models."""
    drivers = sorted(solver for solver, entry in SOLVERS.items() if entry.package is not None)
    if name not in drivers:
        raise ArgumentError("solver", name, f"expected one of {drivers}")
    get_solver(name)  # names the extra if its package is missing
    return _module_of(SOLVERS[name])


def _module_of(entry: SolverEntry) -> ModuleType:
    return import_module(f"hardwood.solvers.{entry.module}")


def _missing_capability(solver: Solver, method: str, purpose: str) -> ArgumentError:
    return ArgumentError(
        "solver",
        getattr(solver, "name", solver),
        f'it has no method "{method}", which is needed {purpose}',
        remedy=(Setting("solver", "search"), " has it"),
    )
