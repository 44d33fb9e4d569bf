"""The simplest solver: the best tree without a split. No shift changes its predictions."""

from __future__ import annotations

from hardwood.problem import MinLeafSize, Problem
from hardwood.solvers.base import Limits, OnProgress, Result, Start, best_leaf
from hardwood.solvers.run import Run


class LeafSolver:
    """Predicts the class with the largest weight: the optimum at depth 0, and the baseline for every other tree."""

    name = "leaf"
    takes_weights = True
    constraints = (MinLeafSize,)

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
        correct = problem.labels.weighted_count(tree.predict(problem.table) == problem.labels.codes)
        # At depth 0 there are only single leaves. A deeper tree may classify every sample correctly with one split.
        upper_bound = problem.total if problem.max_depth > 0 else correct
        bound = min(max(float(correct), upper_bound - problem.penalty), start.objective_bound)
        run.report(float(correct), bound, work=1)
        return run.result(tree, objective_bound=bound, upper_bound=upper_bound, work=1)
