"""What the drivers of all solvers share: the proposals of a run, its best tree, its errors and its result."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hardwood.data.features import IntArray
from hardwood.problem import Problem
from hardwood.shift.calibration import FloatArray
from hardwood.solvers.base import OnProgress, Result, Run, Start, StopReason, best_leaf
from hardwood.solvers.mio.model import Form, MainProblem, Row
from hardwood.solvers.mio.separation import Separation
from hardwood.trees.adversary import Attack, attack

# A solver's bound is right to within its tolerances: 1e-6 for each constraint, and a cut adds up all samples.
BOUND_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a solver says when it ends."""

    bound: float
    stop_reason: StopReason
    work: int


class Model(Protocol):
    """What a driver builds: variables from 0 to their upper ends, an objective to maximise, and rows."""

    n_variables: int
    upper: FloatArray
    integer: NDArray[np.bool_]
    objective: FloatArray
    priority: IntArray
    rows: list[Row]


class CuttingRun(ABC):
    """What a driver needs from a run: a model, cuts for proposals, better solutions, and somewhere to report to."""

    main: Model

    def __init__(self, run: Run) -> None:
        self._run = run
        self._reported = (-math.inf, math.inf)
        self._error: BaseException | None = None
        self._unused: FloatArray | None = None

    @abstractmethod
    def cuts(self, values: FloatArray) -> list[Row]:
        """The constraints that a proposal breaks; none: it is what it claims to be."""

    @property
    @abstractmethod
    def objective(self) -> float:
        """The objective of the best tree so far."""

    @abstractmethod
    def objective_bound(self, solver_bound: float) -> float:
        """The largest objective that any tree can have, given the solver's bound."""

    def report(self, solver_bound: float, work: int) -> None:
        """Tell the listener if the best tree or the bound has changed."""
        now = (self.objective, self.objective_bound(solver_bound))
        if now != self._reported:
            self._reported = now
            self._run.report(*now, work)

    def new_solution(self) -> FloatArray | None:
        """Values of the best tree if the solver has not been told of it, once."""
        values, self._unused = self._unused, None
        return values

    def remaining(self, seconds: float | None) -> float | None:
        """What is left of a time limit."""
        return None if seconds is None else max(0.0, seconds - self._run.seconds)

    @contextmanager
    def guarded(self, stop: Callable[[], None]) -> Iterator[None]:
        """Keep an error that happens inside a solver's callback, where its type would be lost, and stop the solver.

        Ctrl-C stops the solver, too, but is no error.
        """
        try:
            yield
        except KeyboardInterrupt:
            stop()
        except BaseException as error:
            self._error = self._error or error
            stop()

    def raise_error(self) -> None:
        """Raise what a callback met."""
        if self._error is not None:
            raise self._error


class BranchAndCut(CuttingRun):
    """One run: a solver proposes trees, the adversary judges them, cuts go back to the solver.

    The best tree is kept here with its true worst case, whatever the solver believes of it.
    """

    def __init__(self, problem: Problem, form: Form, solver: str, on_progress: OnProgress | None, start: Start) -> None:
        super().__init__(Run(problem, solver, on_progress, start))
        self.main: MainProblem = MainProblem(problem, form)
        self._problem = problem
        self._separation = Separation(self.main)
        self._start = start
        self.best = attack(best_leaf(problem), problem.labels, problem.uncertainty)
        self._unused = self.main.values(self.best)
        if start.tree is not None:
            self._keep(attack(start.tree, problem.labels, problem.uncertainty))

    @property
    def objective(self) -> float:
        """The objective of the best tree so far."""
        return self._problem.objective_of(self.best)

    @property
    def good_enough(self) -> float | None:
        """The solver's objective at which it may stop, because the caller knows that no tree has a larger one."""
        if self._start.objective_bound >= self._problem.n_samples:
            return None
        pairs = best_pairs(self._problem, self._start.objective_bound, self._problem.penalty, 1e-9)
        return max(correct - self._problem.engine_penalty * tests for correct, tests in pairs) - 1e-9

    def _keep(self, found: Attack) -> None:
        """Remember a tree that is better than all before, and its values for the solver."""
        if self._problem.objective_of(found) > self.objective and self._problem.allows(found.tree):
            self.best = found
            self._unused = self.main.values(found)

    def cuts(self, values: FloatArray) -> list[Row]:
        """The constraints that a proposal breaks; none: it is what it claims to be."""
        proposal = self._separation.propose(values)
        self._keep(proposal.found)
        return proposal.cuts

    def objective_bound(self, solver_bound: float) -> float:
        """The largest objective that any tree can have, given the solver's bound."""
        largest = largest_objective(self._problem, solver_bound)
        return max(self.objective, min(largest, self._start.objective_bound))

    def result(self, outcome: Outcome) -> Result:
        """The result, or the error that a callback met."""
        self.raise_error()
        self.report(outcome.bound, outcome.work)
        bound = self.objective_bound(outcome.bound)
        return self._run.result(
            self.best.tree,
            objective_bound=bound,
            upper_bound=self._problem.total,
            stop_reason=outcome.stop_reason,
            work=outcome.work,
        )


def largest_objective(problem: Problem, solver_bound: float) -> float:
    """The largest possible objective that a solver's bound allows.

    Objectives are whole numbers less a penalty for each test, so a bound between two of them means the lower one.
    """
    tolerance = BOUND_TOLERANCE * (1 + problem.n_samples)
    pairs = best_pairs(problem, min(solver_bound, problem.n_samples), problem.engine_penalty, tolerance)
    return max((problem.objective(correct, tests) for correct, tests in pairs), default=-math.inf)


def best_pairs(problem: Problem, bound: float, penalty: float, tolerance: float) -> list[tuple[int, int]]:
    """Numbers of correct samples that a bound on "correct - penalty * tests" allows, each with the fewest tests."""
    most = np.minimum(np.floor(bound + tolerance + penalty * np.arange(2**problem.max_depth)), problem.n_samples)
    correct, tests = np.unique(most[np.isfinite(most)], return_index=True)
    return [(int(c), int(t)) for c, t in zip(correct, tests, strict=True)]
