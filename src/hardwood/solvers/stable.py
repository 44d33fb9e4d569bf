"""Stable trees: the most accurate tree whose predictions no shift of any row changes.

    maximise  samples correct as they stand   subject to   tree(x) = tree(x + shift)   for all samples and their shifts

This is how Bertsimas, Dunn, Pawlowski and Zhuo 2019 understand robustness, in the words of the paper's section 5.2
("RCT-B"). Each row has a set of its own: whatever it can afford alone, `UncertaintySet.boxes` for the norm infinity,
prices of 1 and the radius as budget for the norm 1. There is no common budget.

If no row can move at all, this is the ordinary optimal tree, and the search finds it. Otherwise branch and cut: c[g, k]
says that samples of group g get class k, each group gets one class, and for every point x that a sample of g can reach,

    c[g, k] <= reach(x, k)                                                             (`mio.separation`)

so a tree that predicts two classes within reach of a group leaves it none, which is not allowed. Samples that can meet
at a point must get the same class: they form a group from the start.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from hardwood._support.errors import ArgumentError
from hardwood.data.features import Kind, Table
from hardwood.problem import Problem
from hardwood.shift.calibration import FloatArray
from hardwood.shift.uncertainty import UncertaintySet
from hardwood.solvers.base import Limits, OnProgress, Result, Run, Start, best_leaf
from hardwood.solvers.mio.branch_and_cut import CuttingRun, Outcome, largest_objective
from hardwood.solvers.mio.model import Row, TreeVariables, equality, numbered
from hardwood.solvers.mio.separation import MOST_NONZEROS, TOLERANCE, PathCuts, broken
from hardwood.solvers.registry import driver_of
from hardwood.solvers.search import SearchSolver
from hardwood.trees.adversary import leaf_prices, moves_into
from hardwood.trees.tree import Tree


class StableSolver:
    """Finds the best stable tree; `engine`, "scip" or "gurobi", solves what the search cannot.

    Its bounds are about stable trees, so it is no engine for the robust problem and has no name there.
    """

    name = "stable"

    def __init__(self, engine: str = "scip") -> None:
        if engine not in ("scip", "gurobi"):
            raise ValueError(f'engine is {engine!r}; expected "scip" or "gurobi"')
        self._engine = engine

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
        """Solve until proved or until a limit. A stable tree keeps what it has right: `worst_case_correct` says it."""
        if problem.min_samples_leaf > 0:
            raise ArgumentError("min_samples_leaf", problem.min_samples_leaf, "stable trees have leaves of any size")
        if not _anything_moves(problem):
            still = UncertaintySet.boxes(problem.table, radius=0)
            ordinary = Problem(problem.labels, still, problem.max_depth, problem.penalty)
            return SearchSolver().solve(ordinary, limits=limits, start=start, on_progress=on_progress, n_jobs=n_jobs)
        driver = driver_of(self._engine)
        run = StableRun(problem, on_progress, start)
        return run.result(driver.optimize(run, limits, stop_at=None, seed=seed))


class StableModel(TreeVariables):
    """The model: a tree, and a class for each group of samples."""

    def __init__(self, problem: Problem, group_of: NDArray[np.intp]) -> None:
        super().__init__(problem)
        self.group_of = group_of
        self.n_groups = int(group_of.max()) + 1
        self.gain = np.zeros((self.n_groups, self.n_classes))
        np.add.at(self.gain, (group_of, problem.labels.codes), 1.0)
        self.c = numbered(self.n_tree_variables, self.n_groups, self.n_classes)
        self.n_variables = self.n_tree_variables + self.c.size
        self.upper = np.ones(self.n_variables)
        self.integer = np.arange(self.n_variables) < self.n_tree_variables
        self.objective = np.zeros(self.n_variables)
        self.objective[self.b] = -problem.engine_penalty
        self.objective[self.c] = self.gain
        self.priority = np.zeros(self.n_variables, dtype=np.int32)
        self.priority[: self.n_tree_variables] = self.priorities()
        self.rows = [*self.tree_rows(), *(equality(group, 1.0) for group in self.c)]


class StableRun(CuttingRun):
    """One run: proposals are checked for stability, and the best stable tree is kept."""

    def __init__(self, problem: Problem, on_progress: OnProgress | None, start: Start) -> None:
        super().__init__(Run(problem, StableSolver.name, on_progress, judge=self._judged))
        self._problem = problem
        self.main: StableModel = StableModel(problem, connected_components(_can_meet(problem), directed=False)[1])
        self._cuts = PathCuts(self.main, self.main.n_variables)
        self._best = best_leaf(problem)
        self._unused = self._values(self._best)
        if start.tree is not None and start.tree.depth <= problem.max_depth and self.is_stable(start.tree):
            self._keep(start.tree)

    def is_stable(self, tree: Tree) -> bool:
        """Whether no shift of any row changes what the tree predicts for it."""
        return self._one_class_each(tree, self._within(tree))

    def _within(self, tree: Tree) -> NDArray[np.bool_]:
        """Which leaves each sample can reach."""
        return self._problem.uncertainty.affords(leaf_prices(tree, self._problem.uncertainty))

    def _one_class_each(self, tree: Tree, within: NDArray[np.bool_]) -> bool:
        labels = np.array([region.label for region in tree.regions])
        found = np.zeros((self.main.n_groups, self.main.n_classes), dtype=bool)
        rows, leaves = np.nonzero(within)
        found[self.main.group_of[rows], labels[leaves]] = True
        return bool((found.sum(axis=1) == 1).all())

    def _judged(self, tree: Tree) -> tuple[int, float]:
        """What a stable tree has right, it keeps."""
        correct = int((tree.predict(self._problem.table) == self._problem.labels.codes).sum())
        return correct, self._problem.objective(correct, tree.n_branching_nodes)

    def _values(self, tree: Tree) -> FloatArray | None:
        values = np.zeros(self.main.n_variables)
        if not self.main.put_tree(tree, values):
            return None
        values[self.main.c[self.main.group_of, tree.predict(self._problem.table)]] = 1.0
        return values

    def _keep(self, tree: Tree) -> None:
        if self._judged(tree)[1] > self.objective:
            self._best = tree
            self._unused = self._values(tree)

    def cuts(self, values: FloatArray) -> list[Row]:
        """For every class that a group cannot have because the tree predicts another one within its reach, a cut."""
        tree = self.main.tree(values)
        within = self._within(tree)
        if self._one_class_each(tree, within):
            self._keep(tree)
        cuts: list[Row] = []
        nonzeros = 0
        for leaf, region in enumerate(tree.regions):
            groups, first = np.unique(self.main.group_of[within[:, leaf]], return_index=True)
            rows = np.flatnonzero(within[:, leaf])[first]  # one sample of each group that gets there
            there = moves_into(tree, self._problem.uncertainty, rows, np.full(len(rows), leaf, dtype=np.int32))
            sides = self._cuts.sides(there.apply())[rows]
            paths = self._cuts.paths(tree, sides)
            for group, side, path in zip(groups, sides, paths, strict=True):
                for k in range(self.main.n_classes):
                    if k == region.label or values[self.main.c[group, k]] <= TOLERANCE:
                        continue
                    reach = self._cuts.reach(side[None], path[None], np.array([k], dtype=np.int32))
                    cut = self._cuts.cut(self.main.c[group, k : k + 1], reach)
                    if broken(cut, values) and nonzeros <= MOST_NONZEROS:
                        cuts.append(cut)
                        nonzeros += len(cut.variables)
        return cuts

    @property
    def objective(self) -> float:
        """The objective of the best stable tree so far."""
        return self._judged(self._best)[1]

    def objective_bound(self, solver_bound: float) -> float:
        """The largest objective that any stable tree can have: every group gets its most frequent class at best."""
        most = float(self.main.gain.max(axis=1).sum())
        return max(self.objective, largest_objective(self._problem, min(solver_bound, most)))

    def result(self, outcome: Outcome) -> Result:
        """The result: a tree that is checked to be stable, and a bound on all stable trees."""
        if not self.is_stable(self._best):
            raise RuntimeError("the best stable tree is not stable; please report this as a bug")
        self.report(outcome.bound, outcome.work)
        return self._run.result(
            self._best,
            objective_bound=self.objective_bound(outcome.bound),
            upper_bound=self._problem.total,
            stop_reason=outcome.stop_reason,
            work=outcome.work,
        )


def _can_meet(problem: Problem) -> NDArray[np.bool_]:
    """Pairs of samples that can surely reach one point: what a stable tree predicts there, it predicts for both.

    Two points are tried: halfway in every ordered feature, and the values of the second sample in as many features as
    the first can pay for, with the values of the first in the others. Any point that both reach proves the claim.
    """
    n, table, uncertainty = problem.n_samples, problem.table, problem.uncertainty
    one, other = np.divmod(np.arange(n * n), n)
    halfway, mixed = np.zeros((2, n * n)), np.zeros((2, n * n))
    for j, feature in enumerate(table.features):
        here, there = table.values[one, j], table.values[other, j]
        middle = (here + there) // 2 if feature.ordered else there
        halfway[0] += uncertainty.costs.move_prices(j, one, middle)
        halfway[1] += uncertainty.costs.move_prices(j, other, middle)
        price = uncertainty.costs.move_prices(j, one, there)
        pays = uncertainty.affords(mixed[0] + price)
        mixed[0] += np.where(pays, price, 0.0)
        mixed[1] += np.where(pays, 0.0, uncertainty.costs.move_prices(j, other, here))
    meets = uncertainty.affords(halfway).all(axis=0) | uncertainty.affords(mixed).all(axis=0)
    return np.asarray(meets.reshape(n, n))


def row_radius(table: Table, certainty: Any, plausibility: float) -> float:
    """How many steps a row may move if it has its own share of the budget: -log(plausibility) / price of a step.

    The price of a step is log(rho / (1 - rho)) if all columns have two answers (as in the paper), otherwise
    -log(1 - rho), with rho the mean certainty. Values move by whole steps, so the radius is rounded down.
    """
    rho = float(np.mean(np.asarray(list(certainty.values()) if hasattr(certainty, "values") else certainty)))
    two_answers = all(feature.kind is Kind.BINARY or feature.n_values == 2 for feature in table.features)
    if not 0 < rho <= 1 or not 0 < plausibility <= 1:
        raise ValueError(f"certainty is {certainty} and plausibility {plausibility}; both must lie in (0, 1]")
    if rho == 1 or plausibility == 1:
        return 0
    price = math.log(rho / (1 - rho)) if two_answers else -math.log(1 - rho)
    return math.inf if price <= 0 else math.floor(-math.log(plausibility) / price * (1 + 2.0**-32))


def _anything_moves(problem: Problem) -> bool:
    """Whether any value can change at all."""
    costs = problem.uncertainty.costs
    return any(
        problem.uncertainty.affords(prices.min() if feature.ordered or prices.shape[1] == 1 else 2 * prices.min()).any()
        and (not feature.ordered or costs.reach[j].steps != 0)
        for j, (feature, prices) in enumerate(zip(problem.table.features, costs.prices, strict=True))
        if feature.ordered or feature.n_values > 1
    )
