"""What every engine promises: problem in, result out, with claims that hold whenever and however the engine stops."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

import numpy as np

from hardwood.adversary import attack
from hardwood.problem import Problem
from hardwood.tree import Leaf, Tree


class Status(StrEnum):
    """What is proved about the tree of a result."""

    OPTIMAL = "optimal"
    """No tree of the problem has a larger objective."""
    MOST_ROBUST = "most_robust"
    """No tree keeps more samples correct in the worst case; one with fewer branching nodes may exist."""
    FEASIBLE = "feasible"
    """The worst case of this tree is exact; better trees may exist, but none above the bound."""


class StopReason(StrEnum):
    """Why the engine stopped."""

    FINISHED = "finished"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    WORK_LIMIT = "work_limit"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop even though nothing is proved yet; None: no limit. `work` counts what the engine counts as steps
    (of one thread): a run that stopped by time is repeated by the `work` of its result.
    """

    seconds: float | None = None
    memory_bytes: int | None = None
    work: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "memory_bytes", "work"):
            limit = getattr(self, name)
            if limit is not None and not (isinstance(limit, int | float) and limit >= 0):
                raise ValueError(f"{name} is {limit!r}; a limit must be a number >= 0, or None for no limit")


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of the run: the best objective so far, the bound that no tree exceeds, and the work done."""

    seconds: float
    objective: float
    objective_bound: float
    work: int


OnProgress: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Start:
    """What is known beforehand: a good tree, and a bound that no tree's objective exceeds (trusted, not checked)."""

    tree: Tree | None = None
    objective_bound: float = math.inf

    def __post_init__(self) -> None:
        if math.isnan(self.objective_bound):
            raise ValueError("objective_bound is nan; expected a number that no tree's objective exceeds")


@dataclass(frozen=True, slots=True)
class Result:
    """The best tree found and what is proved about it.

    worst_case_correct  samples that this tree keeps correct, recomputed by the adversary, not taken from the engine
    objective_bound     no tree of the problem has a larger objective
    upper_bound         no tree of the problem keeps more samples correct
    gap                 (upper_bound - worst_case_correct) / samples; 0: the accuracy is proved
    """

    status: Status
    stop_reason: StopReason
    tree: Tree
    worst_case_correct: int
    branching_nodes: int
    objective: float
    objective_bound: float
    upper_bound: int
    gap: float
    seconds: float
    solver: str
    work: int = 0
    history: tuple[Progress, ...] = field(default=(), repr=False)


class Solver(Protocol):
    """An engine. It may stop early at any limit or Ctrl-C and still returns its best tree and a valid bound."""

    name: str

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


class Run:
    """One run of an engine: its clock and its history. Turns a tree and a bound into a result with checked claims."""

    def __init__(
        self, problem: Problem, solver: str, on_progress: OnProgress | None = None, start: Start | None = None
    ) -> None:
        self._problem = problem
        self._start = start or Start()
        self._solver = solver
        self._on_progress = on_progress
        self._began = time.perf_counter()
        self._history: list[Progress] = []

    @property
    def seconds(self) -> float:
        """Time since the run began."""
        return time.perf_counter() - self._began

    @property
    def history(self) -> tuple[Progress, ...]:
        """All events so far."""
        return tuple(self._history)

    def report(self, objective: float, objective_bound: float, work: int) -> None:
        """Keep an event for the history and tell the listener."""
        event = Progress(self.seconds, objective, objective_bound, work)
        self._history.append(event)
        if self._on_progress is not None:
            self._on_progress(event)

    def result(
        self,
        tree: Tree,
        *,
        objective_bound: float,
        upper_bound: int,
        stop_reason: StopReason = StopReason.FINISHED,
        work: int = 0,
    ) -> Result:
        """The result for the engine's best tree. A bound below what the tree reaches is a bug and raises.

        Bounds that miss the objective by rounding only count as equal to it.
        """
        problem = self._problem
        if tree.depth > problem.max_depth:
            raise RuntimeError(f"{self._solver} returned a tree of depth {tree.depth}, allowed are {problem.max_depth}")
        correct = attack(tree, problem.labels, problem.uncertainty).worst_case_correct
        objective = problem.objective(correct, tree.n_branching_nodes)
        if self._start.objective_bound < objective - problem.tolerance:
            raise ValueError(
                f"start.objective_bound is {self._start.objective_bound}, but a tree reaches {objective}; "
                f"expected a bound that no tree exceeds"
            )
        if not (upper_bound >= correct and objective_bound >= objective - problem.tolerance):
            raise RuntimeError(
                f"{self._solver} claims at most {upper_bound} correct and an objective of at most {objective_bound}, "
                f"but its own tree reaches {correct} and {objective}; please report this as a bug"
            )
        if objective_bound <= objective + problem.tolerance:
            objective_bound = objective
        upper_bound = min(int(upper_bound), max(correct, problem.most_correct(objective_bound)))
        if objective_bound == objective:
            status = Status.OPTIMAL
        else:
            status = Status.MOST_ROBUST if upper_bound == correct else Status.FEASIBLE
        return Result(
            status=status,
            stop_reason=stop_reason,
            tree=tree,
            worst_case_correct=correct,
            branching_nodes=tree.n_branching_nodes,
            objective=objective,
            objective_bound=objective_bound,
            upper_bound=upper_bound,
            gap=(upper_bound - correct) / problem.n_samples,
            seconds=self.seconds,
            solver=self._solver,
            work=work,
            history=self.history,
        )


def best_leaf(problem: Problem) -> Tree:
    """The tree without a test that is right most often."""
    counts = np.bincount(problem.labels.codes, minlength=len(problem.labels.classes))
    return Tree(problem.table.features, problem.labels.classes, Leaf(int(counts.argmax())))


def threads(n_jobs: int) -> int:
    """How many threads: as in joblib, -1 is one for each core."""
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; give a number of threads, or -1 for one on each core")
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
