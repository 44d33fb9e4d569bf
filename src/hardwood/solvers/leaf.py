"""The simplest engine: the best single answer for everybody. No shift can change it."""

from __future__ import annotations

from hardwood.problem import Problem
from hardwood.solvers.base import Limits, OnProgress, Result, Run, Start, best_leaf


class LeafSolver:
    """Predicts the most frequent class: the optimum at depth 0, and the tree that every other must beat."""

    name = "leaf"
    takes_weights = True

    def solve(
        self,
        problem: Problem,
        *,
        limits: Limits = Limits(),  # noqa: ARG002, B008 - nothing to limit; Limits is immutable
        start: Start = Start(),  # noqa: B008 - immutable
        on_progress: OnProgress | None = None,
        seed: int = 0,  # noqa: ARG002
        n_jobs: int = 1,  # noqa: ARG002
    ) -> Result:
        """Count the labels."""
        run = Run(problem, self.name, on_progress, start)
        tree = best_leaf(problem)
        correct = problem.labels.worth_of(tree.predict(problem.table) == problem.labels.codes)
        # A single leaf is all there is at depth 0; deeper trees may get every sample right, with one test at least.
        better = problem.total if problem.max_depth > 0 else correct
        bound = min(max(float(correct), better - problem.penalty), start.objective_bound)
        run.report(float(correct), bound, work=1)
        return run.result(tree, objective_bound=bound, upper_bound=better, work=1)
