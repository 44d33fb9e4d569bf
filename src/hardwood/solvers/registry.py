"""The engines by their names. One is imported when it is asked for: none makes the others load its libraries."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from hardwood._support.errors import ArgumentError
from hardwood.solvers.base import Solver

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
        raise ArgumentError("solver", name, f"expected one of {sorted(_ENGINES)}, or an object with a solve method")
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


def driver_of(name: str) -> ModuleType:
    """The module that drives a mixed-integer solver; its `optimize` serves other models than the robust one, too."""
    if name not in _PACKAGES:
        raise ArgumentError("solver", name, f"expected one of {sorted(_PACKAGES)}")
    get_solver(name)  # names the extra if its package is missing
    return import_module(_ENGINES[name].split(":")[0])
