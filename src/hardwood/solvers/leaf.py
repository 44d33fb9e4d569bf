"""The simplest solver: the best tree without a split. No shift changes its predictions."""

from __future__ import annotations

from hardwood.problem import Problem, TreeConstraint
from hardwood.solvers.base import Result, best_leaf
from hardwood.solvers.run import BaseSolver, RunOptions


class LeafSolver(BaseSolver):
    """Predicts the class with the largest weight: the optimum at depth 0, and the baseline for every other tree."""

    name = "leaf"
    takes_weights = True
    constraints = (TreeConstraint,)

    def _solve(self, problem: Problem, options: RunOptions) -> Result:
        """Count the labels."""
        run = options.run_of(problem, self.name)
        tree = best_leaf(problem)
        correct = problem.labels.weighted_count(tree.predict(problem.table) == problem.labels.codes)
        # At depth 0 there are only single leaves. A deeper tree may classify every sample correctly with one split.
        upper_bound = problem.total if problem.max_depth > 0 else correct
        bound = min(max(float(correct), upper_bound - problem.penalty), options.start.objective_bound)
        run.report(float(correct), bound, work=1)
        return run.result(tree, objective_bound=bound, upper_bound=upper_bound, work=1)
