"""What every engine promises: problem in, result out, with claims that hold whenever and however the engine stops."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

from hardwood._support.errors import ArgumentError, Said, Setting
from hardwood.problem import Problem
from hardwood.trees.tree import Leaf, Tree


class Status(StrEnum):
    """What is proved about the tree of a result."""

    OPTIMAL = "optimal"
    """No tree of the problem has a larger objective (by more than `Problem.resolution`, which is 0 but for the
    distributional goal)."""
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
                raise ArgumentError(name, limit, "a limit must be a number >= 0")


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of the run: the best objective so far, the bound that no tree exceeds, and the work done."""

    seconds: float
    objective: float
    objective_bound: float
    work: int


DEFAULT_MEMORY = 8e9  # bytes; a problem that needs more is refused before an engine begins
OnProgress: TypeAlias = Callable[[Progress], None]
Judge: TypeAlias = Callable[[Tree], tuple[float, float]]  # samples that a tree keeps correct, and its objective


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
    any_model_bound     no classifier of any kind does; all samples if the engine does not know
    gap                 (upper_bound - worst_case_correct) / samples; 0: the accuracy is proved

    Samples are whole numbers where people are counted one by one (`Labels.counted`); otherwise all of these say what
    samples are worth.
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
    work: int = 0
    history: tuple[Progress, ...] = field(default=(), repr=False)


class Solver(Protocol):
    """An engine. It may stop early at any limit or Ctrl-C and still returns its best tree and a valid bound.

    One with an attribute `takes_weights` that is true knows weights, classes that are worth more than others, and the
    distributional goal; the others are given repeated rows instead (`solvers.copies`).
    """

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
    """One run of an engine: its clock and its history. Turns a tree and its bounds into a result with checked claims.

    judge  how many samples a tree keeps, and its objective; by default what the adversary says. An engine for another
           problem with the same trees brings a judge of its own.
    """

    def __init__(
        self,
        problem: Problem,
        solver: str,
        on_progress: OnProgress | None = None,
        start: Start | None = None,
        judge: Judge | None = None,
    ) -> None:
        self._problem = problem
        self._start = start or Start()
        self._solver = solver
        self._on_progress = on_progress
        self._judge = judge or by_the_adversary(problem)
        self._began = time.perf_counter()
        self._history: list[Progress] = []

    @property
    def seconds(self) -> float:
        """Time since the run began."""
        return time.perf_counter() - self._began

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
        upper_bound: float,
        any_model_bound: float | None = None,
        stop_reason: StopReason = StopReason.FINISHED,
        work: int = 0,
    ) -> Result:
        """The result for the engine's best tree. A bound below what the tree reaches is a bug and raises.

        A bound within `Problem.resolution` of the objective is a proof.
        """
        problem = self._problem
        if tree.depth > problem.max_depth:
            raise RuntimeError(f"{self._solver} returned a tree of depth {tree.depth}, allowed are {problem.max_depth}")
        if not problem.allows(tree):
            raise RuntimeError(
                f"{self._solver} returned a tree with a leaf of less than {problem.min_samples_leaf} rows"
            )
        correct, objective = self._judge(tree)
        # A bound may miss the objective by a rounding or two, less than the smallest penalty, and with the
        # distributional goal by the resolution.
        reached = objective - problem.resolution - math.ldexp(max(problem.total, abs(objective)), -51)
        if self._start.objective_bound < reached:
            raise ValueError(
                f"start.objective_bound is {self._start.objective_bound}, but a tree reaches {objective}; "
                f"expected a bound that no tree exceeds"
            )
        any_model = problem.total if any_model_bound is None else any_model_bound
        # Whatever is no number is a bug, too.
        if not (upper_bound >= correct and any_model >= correct and objective_bound >= reached):
            raise RuntimeError(
                f"{self._solver} claims at most {upper_bound} correct and an objective of at most {objective_bound}, "
                f"but its own tree reaches {correct} and {objective}; please report this as a bug"
            )
        objective_bound = max(objective, min(objective_bound, self._start.objective_bound))
        upper_bound = min(upper_bound, any_model, max(correct, problem.most_correct(objective_bound)))
        if objective_bound <= objective + problem.resolution:
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
            any_model_bound=any_model,
            gap=(upper_bound - correct) / problem.total,
            seconds=self.seconds,
            solver=self._solver,
            work=work,
            history=tuple(self._history),
        )


def by_the_adversary(problem: Problem) -> Judge:
    """Trees are judged by their worst case."""

    def judge(tree: Tree) -> tuple[float, float]:
        found = problem.judged(tree)
        return found.worst_case_correct, problem.objective_of(found)

    return judge


def progress_words(problem: Problem, event: Progress) -> str:
    """A moment of a run: what the best tree keeps (less what its tests cost), what is possible, and the gap."""
    kept, most = (max(0.0, value) / problem.total for value in (event.objective, event.objective_bound))
    gap = max(0.0, event.objective_bound - event.objective) / problem.total
    if not problem.labels.counted:
        return f"keeps {kept:.2%}, at most {most:.2%} possible, gap {gap:.2%}"
    most_kept = math.ceil(event.objective)
    rows, kept = f"{most_kept:,} of {problem.total:,}", most_kept / problem.total
    return f"keeps {rows} rows ({kept:.1%}), at most {math.ceil(event.objective_bound):,} possible, gap {gap:.1%}"


def time_words(seconds: float, limit: float | None) -> str:
    """How long it took, and how much of a limit is left."""
    return f"{seconds:.1f} s" if limit is None else f"{seconds:.1f} s, {max(0.0, limit - seconds):.0f} s left"


def best_leaf(problem: Problem) -> Tree:
    """The tree without a test that is right most often, or about what is worth most."""
    counts = problem.labels.class_people * (problem.labels.worth or 1.0)
    return Tree(problem.table.features, problem.labels.classes, Leaf(int(counts.argmax())))


def threads(n_jobs: int) -> int:
    """How many threads: as in joblib, -1 is one for each core."""
    if n_jobs == 0:
        raise ArgumentError("n_jobs", 0, "give a number of threads, or -1 for one on each core")
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def too_many_tests(problem: Problem, n_rows: int, needed: float, memory: float) -> ArgumentError:
    """A refusal that names the column with most tests and what would help."""
    widest = max(range(len(problem.table.features)), key=problem.n_tests_of)
    name = problem.table.features[widest].name
    return ArgumentError(
        "memory_limit",
        Said(_rounded_up(memory)),
        f"the engine needs {_rounded_up(needed)} at least for {n_rows} rows and {problem.n_tests} possible "
        f'tests, {problem.n_tests_of(widest)} of them in the column "{name}"',
        remedy=(
            Setting("memory_limit", _rounded_up(needed)),
            " if there is as much, ",
            Setting("feature_kinds", "binned", column=name),
            " to ask for fewer thresholds, or leave the column out if it is a number of a row, or take fewer rows",
        ),
    )


def _rounded_up(count: float) -> str:
    """Bytes as text that a memory limit may be given by."""
    size, unit = next((s, u) for s, u in ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B")) if count >= s)
    return f"{math.ceil(count / size)}{unit}"
