"""One run of a solver, from its start to a result whose claims are checked."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass

from hardwood.problem import Problem, TreeConstraint
from hardwood.solvers.base import Limits, OnProgress, Progress, Result, Start, Status, StopReason
from hardwood.trees.attack import Attack
from hardwood.trees.tree import Tree


class Run:
    """One run of a solver: its clock, its history, and the checks that turn a tree and bounds into a result.

    Parameters
    ----------
    problem : Problem
        The caller's problem: the attack of the result is an attack on it.
    solver : str
        Name of the solver.
    on_progress : callable, optional
        Receives every `Progress`.
    start : Start, optional
        What was known before the run.
    """

    def __init__(
        self, problem: Problem, solver: str, on_progress: OnProgress | None = None, start: Start | None = None
    ) -> None:
        self._problem = problem
        self._start = start or Start()
        self._solver = solver
        self._on_progress = on_progress
        self._began = time.perf_counter()
        self._history: list[Progress] = []
        self._attack: Attack | None = None

    @property
    def seconds(self) -> float:
        """Time since the run began."""
        return time.perf_counter() - self._began

    def report(self, objective: float, objective_bound: float, work: int) -> None:
        """Add a moment to the history and pass it to `on_progress`."""
        event = Progress(self.seconds, objective, objective_bound, work)
        self._history.append(event)
        if self._on_progress is not None:
            self._on_progress(event)

    def attack(self, tree: Tree) -> Attack:
        """Return the attack on a tree. The last one is kept, so that `result` need not compute it again."""
        if self._attack is None or self._attack.tree is not tree:
            self._attack = self._problem.attack(tree)
        return self._attack

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
        """Return the result for the solver's best tree.

        A bound within `Problem.resolution` of the objective is a proof.

        Parameters
        ----------
        tree : Tree
            The best tree; its worst case is computed here.
        objective_bound, upper_bound, any_model_bound : float
            As in `Result`. They may be larger than necessary; the result combines them with the bound of the start.
        stop_reason : StopReason
            Why the solver stopped.
        work : int
            Steps of the run.

        Raises
        ------
        RuntimeError
            If a bound lies below what the tree reaches, or the problem does not admit the tree: a bug of the solver.
        ValueError
            If the bound of the start lies below what the tree reaches.
        """
        problem = self._problem
        self._check_admitted(tree)
        attack = self.attack(tree)
        correct, objective = attack.worst_case_correct, problem.objective_of(attack)
        any_model = problem.total if any_model_bound is None else any_model_bound
        self._check_bounds(correct, objective, objective_bound, upper_bound, any_model)
        objective_bound = max(objective, min(objective_bound, self._start.objective_bound))
        upper_bound = min(upper_bound, any_model, max(correct, problem.max_correct(objective_bound)))
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
            attack=attack,
            work=work,
            history=tuple(self._history),
        )

    def _check_admitted(self, tree: Tree) -> None:
        """Raise if the problem does not admit the tree."""
        if tree.depth > self._problem.max_depth:
            fault = f"of depth {tree.depth}; max_depth is {self._problem.max_depth}"
        elif not self._problem.admits(tree):
            demanded = " and ".join(constraint.describe() for constraint in self._problem.constraints)
            fault = f"that is not admissible; expected a tree {demanded}"
        else:
            return
        raise RuntimeError(f"{self._solver} returned a tree {fault}; please report this as a bug")

    def _check_bounds(
        self, correct: float, objective: float, objective_bound: float, upper_bound: float, any_model: float
    ) -> None:
        """Raise if a bound lies below what the tree reaches."""
        problem, start_bound = self._problem, self._start.objective_bound
        # A bound may lie below the objective by a few rounding errors, which are less than the smallest penalty; in
        # fractional problems, by the resolution.
        reached = objective - problem.resolution - math.ldexp(max(problem.total, abs(objective)), -51)
        if start_bound < reached:
            raise ValueError(
                f"start.objective_bound is {start_bound}, but a tree reaches {objective}; "
                f"expected a bound that no tree exceeds"
            )
        # The comparisons are False for nan, which is a bug, too.
        if not (upper_bound >= correct and any_model >= correct and objective_bound >= reached):
            raise RuntimeError(
                f"{self._solver} claims at most {upper_bound} correct and an objective of at most {objective_bound}, "
                f"but its own tree reaches {correct} and {objective}; please report this as a bug"
            )


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a solver runs; see `solvers.solve`."""

    limits: Limits = Limits()  # noqa: RUF009 - immutable
    start: Start = Start()  # noqa: RUF009 - immutable
    on_progress: OnProgress | None = None
    seed: int = 0
    n_jobs: int = 1

    def run_of(self, problem: Problem, solver: str) -> Run:
        """Return a new run of a solver."""
        return Run(problem, solver, self.on_progress, self.start)


class BaseSolver(ABC):
    """A solver whose method `solve` takes the options one by one, as the contract wants it, and hands them on together.

    Attributes
    ----------
    name, takes_weights, constraints
        As in `solvers.base.Solver`.
    """

    name: str
    takes_weights: bool = False
    constraints: tuple[type[TreeConstraint], ...] = ()

    def solve(
        self,
        problem: Problem,
        *,
        limits: Limits = Limits(),  # noqa: B008 - immutable
        start: Start = Start(),  # noqa: B008 - immutable
        on_progress: OnProgress | None = None,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> Result:
        """Solve the problem as far as the limits allow; see `solvers.solve`."""
        return self._solve(problem, RunOptions(limits, start, on_progress, seed, n_jobs))

    @abstractmethod
    def _solve(self, problem: Problem, options: RunOptions) -> Result:
        """Solve the problem as far as the limits allow."""
