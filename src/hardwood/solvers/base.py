"""The contract of all solvers: a problem goes in, a result with checked claims comes out.

The claims of a result hold no matter when and why the solver stops.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Protocol, TypeAlias, runtime_checkable

from hardwood._util.errors import ArgumentError, Setting, Verbatim
from hardwood.problem import Problem, TreeConstraint
from hardwood.trees.attack import Attack
from hardwood.trees.tree import Leaf, Tree


class Status(StrEnum):
    """What is proved about the tree of a result."""

    OPTIMAL = "optimal"
    """No tree of the problem has a larger objective by more than `Problem.resolution`, which is 0 unless the problem is
    fractional."""
    MOST_ROBUST = "most_robust"
    """No tree keeps more samples correct in the worst case; one with fewer branching nodes may exist."""
    FEASIBLE = "feasible"
    """The worst case of this tree is exact; better trees may exist, but none above the bound."""


class StopReason(StrEnum):
    """Why the solver stopped."""

    FINISHED = "finished"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    WORK_LIMIT = "work_limit"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Limits:
    """When a solver stops although it has no proof yet; None is no limit.

    Parameters
    ----------
    seconds : float, optional
        Wall-clock time.
    memory_bytes : int, optional
        Memory of the solver.
    work : int, optional
        Steps as the solver counts them. A run with this limit is repeated exactly, with any number of threads.
    """

    seconds: float | None = None
    memory_bytes: int | None = None
    work: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "memory_bytes", "work"):
            limit = getattr(self, name)
            if limit is not None and not (isinstance(limit, int | float) and limit >= 0):
                raise ArgumentError(name, limit, "a limit must be a number >= 0")


@dataclass(frozen=True, slots=True)
class Progress:
    """State of a run at one moment.

    Parameters
    ----------
    seconds : float
        Time since the run began.
    objective : float
        Objective of the incumbent.
    objective_bound : float
        No tree has a larger objective.
    work : int
        Steps so far, as in `Limits`.
    """

    seconds: float
    objective: float
    objective_bound: float
    work: int


DEFAULT_MEMORY = 8e9  # bytes; a problem that needs more is refused before a solver begins
OnProgress: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Start:
    """What is known before a run.

    Parameters
    ----------
    tree : Tree, optional
        A good tree.
    objective_bound : float, default=inf
        A bound that no tree's objective exceeds. It is trusted, not checked.
    """

    tree: Tree | None = None
    objective_bound: float = math.inf

    def __post_init__(self) -> None:
        if math.isnan(self.objective_bound):
            raise ValueError("objective_bound is nan; expected a number that no tree's objective exceeds")


@dataclass(frozen=True, slots=True)
class Result:
    """The best tree found and what is proved about it.

    Attributes
    ----------
    status : Status
        What is proved.
    stop_reason : StopReason
        Why the solver stopped.
    tree : Tree
        The best tree found.
    worst_case_correct : float
        Samples that this tree keeps correct, computed by the attack and not taken from the solver.
    branching_nodes : int
        Number of splits of the tree.
    objective : float
        Value of the tree that was maximised, see `Problem.objective`.
    objective_bound : float
        No tree of the problem has a larger objective.
    upper_bound : float
        No tree of the problem keeps more samples correct.
    gap : float
        (upper_bound - worst_case_correct) / total; 0 proves the accuracy.
    any_model_bound : float
        No classifier of any kind keeps more samples correct; the total if the solver has no such bound.
    seconds : float
        Duration of the run.
    solver : str
        Name of the solver.
    attack : Attack
        The attack on the tree, for the problem that the caller gave. It holds the table, so pickles leave it out: a
        result that was unpickled has no such attribute.
    work : int
        Steps of the run, as in `Limits`.
    history : tuple of Progress
        Everything that the run reported.

    Notes
    -----
    Numbers of samples are integers if weights are integers and there are no class weights (`Labels.integral`).
    Otherwise they are sums of weights times class weights.
    """

    status: Status
    stop_reason: StopReason
    tree: Tree
    worst_case_correct: float
    branching_nodes: int
    objective: float
    objective_bound: float
    upper_bound: float
    gap: float
    any_model_bound: float
    seconds: float
    solver: str
    attack: Attack = field(repr=False, compare=False)
    work: int = 0
    history: tuple[Progress, ...] = field(default=(), repr=False)

    # A pickled classifier holds its result and must not contain the training table.
    def __getstate__(self) -> dict[str, object]:
        return {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "attack"}

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True)
class Relabelling:
    """A tree with the best labels that were found for its splits.

    Attributes
    ----------
    tree : Tree
        The tree with new labels at its leaves.
    proved : bool
        Whether no other labels keep more samples correct.
    upper_bound : float
        No labels keep more samples correct than this.
    stop_reason : str
        Why the solver stopped, see `StopReason`.
    """

    tree: Tree
    proved: bool
    upper_bound: float
    stop_reason: str


class Solver(Protocol):
    """A method that solves problems.

    It may stop early at any limit or at Ctrl-C, and still returns its best tree and a valid bound.

    Attributes
    ----------
    name : str
        The name that results carry.
    takes_weights : bool
        Whether it solves problems with sample weights, class weights and the distributional goal. Other solvers are
        given repeated rows instead (`solvers.repeated_rows`); so is a solver without this attribute.
    constraints : tuple of type
        Classes of `TreeConstraint` that it respects; `solve` refuses problems with others. A solver without this
        attribute respects none.
    """

    name: str
    takes_weights: bool

    @property
    def constraints(self) -> tuple[type[TreeConstraint], ...]:
        """Classes of constraints that the solver respects."""

    def solve(
        self,
        problem: Problem,
        *,
        limits: Limits = ...,
        start: Start = ...,
        on_progress: OnProgress | None = ...,
        seed: int = ...,
        n_jobs: int = ...,
    ) -> Result:
        """Solve the problem as far as the limits allow."""


@runtime_checkable
class SupportsAlternatives(Protocol):
    """Optional capability of a solver: list several good trees (`solvers.registry.solver_with_alternatives`)."""

    def alternatives(
        self,
        problem: Problem,
        max_trees: int,
        within: float,
        *,
        limits: Limits = ...,
        start: Start = ...,
        n_jobs: int = ...,
    ) -> tuple[list[Tree], bool]:
        """Return the best trees, and whether there are no others.

        Parameters
        ----------
        problem : Problem
            The problem.
        max_trees : int
            Largest number of trees.
        within : float
            How much less than the best of all a tree may keep, in (weighted) samples.
        limits, start, n_jobs
            As in `Solver.solve`.
        """


@runtime_checkable
class SupportsRelabelling(Protocol):
    """Optional capability of a solver: choose labels for fixed splits (`solvers.registry.solver_with_relabelling`)."""

    def relabel(self, problem: Problem, tree: Tree, *, limits: Limits = ...) -> Relabelling:
        """Return the best labels for the leaves of a tree whose splits stay."""


def check_constraints(solver: Solver, problem: Problem) -> None:
    """Raise an error if the problem has a constraint that the solver does not respect."""
    respected: tuple[type[TreeConstraint], ...] = getattr(solver, "constraints", ())
    for constraint in problem.constraints:
        if not isinstance(constraint, respected):
            declare = (f"add {type(constraint).__name__} to the `constraints` of its class if it respects them",)
            raise ArgumentError(
                "solver",
                solver.name,
                f"it cannot be restricted to trees {constraint.describe()}",
                remedy=declare if solver.name == "search" else (Setting("solver", "search"), " can"),
            )


def progress_text(problem: Problem, event: Progress) -> str:
    """Return one line about a moment of a run: what the incumbent keeps less its penalty, the bound, and the gap."""
    kept, bound = (max(0.0, value) / problem.total for value in (event.objective, event.objective_bound))
    gap = max(0.0, event.objective_bound - event.objective) / problem.total
    if not problem.labels.integral:
        return f"keeps {kept:.2%}, at most {bound:.2%} possible, gap {gap:.2%}"
    # The penalties of all splits are less than one sample by default, so rounding up gives the samples themselves.
    n_kept, n_possible = math.ceil(event.objective), math.ceil(event.objective_bound)
    share = n_kept / problem.total
    return f"keeps {n_kept:,} of {problem.total:,} rows ({share:.1%}), at most {n_possible:,} possible, gap {gap:.1%}"


def time_text(seconds: float, limit: float | None) -> str:
    """Return the time that has passed, and the time that is left if there is a limit."""
    return f"{seconds:.1f} s" if limit is None else f"{seconds:.1f} s, {max(0.0, limit - seconds):.0f} s left"


def best_leaf(problem: Problem) -> Tree:
    """Return the tree without a split that has the largest (weighted) number of correct samples."""
    weights = problem.labels.weight_by_class * (problem.labels.class_weights or 1.0)
    return Tree(problem.table.features, problem.labels.classes, Leaf(int(weights.argmax())))


def threads(n_jobs: int) -> int:
    """Return the number of threads; as in joblib, -1 is one for each core."""
    if n_jobs == 0:
        raise ArgumentError("n_jobs", 0, "give a number of threads, or -1 for one on each core")
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def memory_limit_error(problem: Problem, n_rows: int, needed: float, memory: float) -> ArgumentError:
    """Return the error for a problem with too many splits: it names the column with most of them, and remedies."""
    widest = max(range(len(problem.table.features)), key=problem.n_splits_of)
    name = problem.table.features[widest].name
    return ArgumentError(
        "memory_limit",
        Verbatim(_rounded_up(memory)),
        f"the solver needs at least {_rounded_up(needed)} for {n_rows} rows and {problem.n_splits} candidate "
        f'splits, {problem.n_splits_of(widest)} of them in the column "{name}"',
        remedy=(
            Setting("memory_limit", _rounded_up(needed)),
            " if the machine has that much, ",
            Setting("feature_kinds", "binned", column=name),
            " for fewer thresholds, or leave out the column if it is an identifier, or use fewer rows",
        ),
    )


def _rounded_up(count: float) -> str:
    """Return a number of bytes as text that a memory limit accepts."""
    size, unit = next((s, u) for s, u in ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B")) if count >= s)
    return f"{math.ceil(count / size)}{unit}"
