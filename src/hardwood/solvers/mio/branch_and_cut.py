"""Branch and cut independent of the mixed-integer solver: proposals, incumbent, errors and result of a run."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arrays import FloatArray, IntArray
from hardwood.problem import MinLeafSize, Problem
from hardwood.solvers.base import Result, StopReason, best_leaf
from hardwood.solvers.mio.model import IMPROVED, Form, MainProblem, Row
from hardwood.solvers.mio.separation import Separation
from hardwood.solvers.run import BaseSolver, Run, RunOptions
from hardwood.trees.attack import Attack

# A solver's bound is valid up to its tolerance: 1e-6 for each constraint, and a cut sums over all samples.
BOUND_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a mixed-integer solver ended.

    Parameters
    ----------
    bound : float
        Its bound on its objective.
    stop_reason : StopReason
        Why it stopped.
    work : int
        Number of its nodes.
    """

    bound: float
    stop_reason: StopReason
    work: int


class Model(Protocol):
    """What a driver builds: variables from 0 to their upper bounds, an objective to maximise, and constraints."""

    n_variables: int
    upper: FloatArray
    integer: NDArray[np.bool_]
    objective: FloatArray
    priority: IntArray
    rows: list[Row]


class CuttingRun(ABC):
    """What a driver needs from a run: a model, cuts for proposals, better solutions, and progress reports."""

    main: Model

    def __init__(self, run: Run) -> None:
        self._run = run
        self._reported = (-math.inf, math.inf)
        self._error: BaseException | None = None
        self._unused: FloatArray | None = None

    @abstractmethod
    def cuts(self, values: FloatArray) -> list[Row]:
        """Return the constraints that a proposal violates; none if its claims about the tree hold."""

    @property
    @abstractmethod
    def objective(self) -> float:
        """The objective of the best tree so far."""

    @abstractmethod
    def objective_bound(self, solver_bound: float) -> float:
        """Return the largest objective that any tree can have, given the solver's bound."""

    def report(self, solver_bound: float, work: int) -> None:
        """Report if the incumbent or the bound has changed."""
        current = (self.objective, self.objective_bound(solver_bound))
        if current != self._reported:
            self._reported = current
            self._run.report(*current, work)

    def new_solution(self) -> FloatArray | None:
        """Return the values of the incumbent if the solver has not received them yet."""
        values, self._unused = self._unused, None
        return values

    def remaining(self, seconds: float | None) -> float | None:
        """Return the rest of a time limit."""
        return None if seconds is None else max(0.0, seconds - self._run.seconds)

    @contextmanager
    def guarded(self, stop: Callable[[], None]) -> Iterator[None]:
        """Keep an error of a solver's callback, where its type would be lost, and stop the solver.

        Ctrl-C stops the solver, too, but is not an error.
        """
        try:
            yield
        except KeyboardInterrupt:
            stop()
        except BaseException as error:
            self._error = self._error or error
            stop()

    def raise_error(self) -> None:
        """Raise the first error of a callback, if there was one."""
        if self._error is not None:
            raise self._error


class BranchAndCut(CuttingRun):
    """One run: the solver proposes trees, the attack evaluates them, and cuts go back to the solver.

    The incumbent is kept here with its true worst case, which may differ from the solver's value of it.
    """

    def __init__(self, problem: Problem, form: Form, solver: str, options: RunOptions) -> None:
        super().__init__(options.run_of(problem, solver))
        self.main: MainProblem = MainProblem(problem, form)
        self._problem = problem
        self._separation = Separation(self.main)
        self._start = start = options.start
        self.best = problem.attack(best_leaf(problem))
        self._unused = self.main.values(self.best)
        if start.tree is not None:
            self._keep(problem.attack(start.tree))

    @property
    def objective(self) -> float:
        """The objective of the best tree so far."""
        return self._problem.objective_of(self.best)

    @property
    def sufficient_objective(self) -> float | None:
        """The solver's objective at which it may stop, since no tree exceeds it; None if that is unknown."""
        if self._start.objective_bound >= self._problem.n_samples:
            return None
        pairs = _best_pairs(self._problem, self._start.objective_bound, self._problem.penalty, 1e-9)
        return max(correct - self._problem.solver_penalty * n_splits for correct, n_splits in pairs) - 1e-9

    def _keep(self, attack: Attack) -> None:
        """Keep a tree if it is better than the incumbent, and its values for the solver."""
        if self._problem.objective_of(attack) > self.objective and self._problem.admits(attack.tree):
            self.best = attack
            self._unused = self.main.values(attack)

    def cuts(self, values: FloatArray) -> list[Row]:
        """Return the constraints that a proposal violates; none if its claims about the tree hold."""
        proposal = self._separation.propose(values)
        self._keep(proposal.attack)
        return proposal.cuts

    def objective_bound(self, solver_bound: float) -> float:
        """Return the largest objective that any tree can have, given the solver's bound."""
        largest = largest_objective(self._problem, solver_bound)
        return max(self.objective, min(largest, self._start.objective_bound))

    def result(self, outcome: Outcome) -> Result:
        """Return the result, or raise the error of a callback."""
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
    """Return the largest possible objective that a solver's bound allows.

    Objectives are integers minus a penalty for each split, so a bound between two of them implies the smaller one.
    """
    tolerance = BOUND_TOLERANCE * (1 + problem.n_samples)
    pairs = _best_pairs(problem, min(solver_bound, problem.n_samples), problem.solver_penalty, tolerance)
    return max((problem.objective(correct, n_splits) for correct, n_splits in pairs), default=-math.inf)


def _best_pairs(problem: Problem, bound: float, penalty: float, tolerance: float) -> list[tuple[int, int]]:
    """Return (correct samples, splits) that a bound on "correct - penalty * splits" allows, with the fewest splits."""
    by_size = np.minimum(np.floor(bound + tolerance + penalty * np.arange(2**problem.max_depth)), problem.n_samples)
    correct, n_splits = np.unique(by_size[np.isfinite(by_size)], return_index=True)
    return [(int(c), int(s)) for c, s in zip(correct, n_splits, strict=True)]


class MioSolver(BaseSolver):
    """The paper's method on a mixed-integer solver.

    Parameters
    ----------
    form : Form
        How the problem is formulated.
    """

    constraints = (MinLeafSize,)

    def __init__(self, form: Form = IMPROVED) -> None:
        self._form = form

    def _solve(self, problem: Problem, options: RunOptions) -> Result:
        run = BranchAndCut(problem, self._form, self.name, options)
        return run.result(self._optimize(run, options, run.sufficient_objective))

    @abstractmethod
    def _optimize(self, run: CuttingRun, options: RunOptions, stop_at: float | None) -> Outcome:
        """Solve the model of the run; `stop_at` is a sufficient objective."""
