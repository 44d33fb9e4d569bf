"""Stable trees: the most accurate tree whose predictions no shift of any row changes.

    maximise  nominally correct samples   subject to   tree(x) = tree(x + shift)   for all samples and their shifts

This is the robustness of Bertsimas, Dunn, Pawlowski and Zhuo 2019 in the notation of the paper's section 5.2 ("RCT-B").
Each row has its own uncertainty set, all shifts that it can afford alone: `UncertaintySet.boxes` for the infinity norm;
costs of 1 and the radius as budget for the 1-norm. There is no common budget.

If no row can move at all, this is the ordinary optimal tree, and the search finds it. Otherwise branch and cut: c[g, k]
is 1 if samples of group g get class k. Each group gets one class, and for every point x that a sample of g can reach,

    c[g, k] <= reach(x, k)                                                             (`mio.separation`)

So a tree that predicts two classes within reach of a group leaves it no class, which the model forbids. Samples that
can meet at a point must get the same class: they form a group from the start.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from hardwood._util.arrays import FloatArray
from hardwood._util.types import PerColumn
from hardwood.data.feature import Kind
from hardwood.data.table import Table
from hardwood.problem import Goal, Problem
from hardwood.shifts.uncertainty_set import UncertaintySet
from hardwood.solvers.base import Result, best_leaf, check_constraints
from hardwood.solvers.mio.branch_and_cut import CuttingRun, Outcome, largest_objective
from hardwood.solvers.mio.model import Row, TreeVariables, block, equality
from hardwood.solvers.mio.separation import MAX_NONZEROS, TOLERANCE, PathCuts, is_violated
from hardwood.solvers.registry import driver_of
from hardwood.solvers.run import BaseSolver, Run, RunOptions
from hardwood.solvers.search import SearchSolver
from hardwood.trees.leaf_costs import leaf_costs
from hardwood.trees.shift import moves_into
from hardwood.trees.tree import Tree


class StableSolver(BaseSolver):
    """Finds the best stable tree.

    Its bounds are about stable trees, so it is not a solver of the robust problem and the registry does not list it.

    Parameters
    ----------
    solver : {"scip", "gurobi"}, default="scip"
        Mixed-integer solver for problems in which values can move.
    """

    name = "stable"

    def __init__(self, solver: str = "scip") -> None:
        if solver not in ("scip", "gurobi"):
            raise ValueError(f'solver is {solver!r}; expected "scip" or "gurobi"')
        self._solver = solver

    def _solve(self, problem: Problem, options: RunOptions) -> Result:
        """Solve until the optimum is proved, or until a limit.

        A stable tree keeps all samples correct that it classifies correctly without a shift; `worst_case_correct` of
        the result is their number.
        """
        check_constraints(self, problem)
        if not _anything_moves(problem):
            no_shifts = UncertaintySet.boxes(problem.table, radius=0)
            ordinary = replace(problem, uncertainty=no_shifts, goal=Goal.ROBUST)
            result = SearchSolver().solve(
                ordinary,
                limits=options.limits,
                start=options.start,
                on_progress=options.on_progress,
                n_jobs=options.n_jobs,
            )
            return replace(result, attack=problem.attack(result.tree))
        driver = driver_of(self._solver)
        run = StableRun(problem, options)
        return run.result(driver.optimize(run, options, None))


class StableModel(TreeVariables):
    """The mixed-integer model: a tree, and a class for each group of samples."""

    def __init__(self, problem: Problem, group_of: NDArray[np.intp]) -> None:
        super().__init__(problem)
        self.group_of = group_of
        self.n_groups = int(group_of.max()) + 1
        self.n_correct = np.zeros((self.n_groups, self.n_classes))
        np.add.at(self.n_correct, (group_of, problem.labels.codes), 1.0)
        self.c = block(self.n_tree_variables, self.n_groups, self.n_classes)
        self.n_variables = self.n_tree_variables + self.c.size
        self.upper = np.ones(self.n_variables)
        self.integer = np.arange(self.n_variables) < self.n_tree_variables
        self.objective = np.zeros(self.n_variables)
        self.objective[self.b] = -problem.solver_penalty
        self.objective[self.c] = self.n_correct
        self.priority = np.zeros(self.n_variables, dtype=np.int32)
        self.priority[: self.n_tree_variables] = self.priorities()
        self.rows = [*self.tree_rows(), *(equality(group, 1.0) for group in self.c)]


class StableRun(CuttingRun):
    """One run: proposed trees are checked for stability, and the best stable tree is kept."""

    def __init__(self, problem: Problem, options: RunOptions) -> None:
        super().__init__(Run(problem, StableSolver.name, options.on_progress))
        start = options.start
        self._problem = problem
        self.main: StableModel = StableModel(problem, connected_components(_can_meet(problem), directed=False)[1])
        self._cuts = PathCuts(self.main, self.main.n_variables)
        self._best = best_leaf(problem)
        self._unused = self._values(self._best)
        if start.tree is not None and start.tree.depth <= problem.max_depth and self.is_stable(start.tree):
            self._keep(start.tree)

    def is_stable(self, tree: Tree) -> bool:
        """Return whether no shift of any row changes the tree's prediction for it."""
        return self._has_one_class_each(tree, self._within_reach(tree))

    def _within_reach(self, tree: Tree) -> NDArray[np.bool_]:
        """Return the leaves that each sample can afford: samples by leaves."""
        return self._problem.uncertainty.affords(leaf_costs(tree, self._problem.uncertainty))

    def _has_one_class_each(self, tree: Tree, within_reach: NDArray[np.bool_]) -> bool:
        """Return whether all leaves within reach of a group have the same label, for every group."""
        labels = np.array([region.label for region in tree.regions])
        predicted = np.zeros((self.main.n_groups, self.main.n_classes), dtype=bool)
        rows, leaves = np.nonzero(within_reach)
        predicted[self.main.group_of[rows], labels[leaves]] = True
        return bool((predicted.sum(axis=1) == 1).all())

    def _objective_of(self, tree: Tree) -> float:
        """Return the objective of a stable tree, which keeps all samples that are nominally correct."""
        correct = int((tree.predict(self._problem.table) == self._problem.labels.codes).sum())
        return self._problem.objective(correct, tree.n_branching_nodes)

    def _values(self, tree: Tree) -> FloatArray | None:
        """Return the values of the variables for a stable tree, or None if the model cannot express it."""
        values = np.zeros(self.main.n_variables)
        if not self.main.put_tree(tree, values):
            return None
        values[self.main.c[self.main.group_of, tree.predict(self._problem.table)]] = 1.0
        return values

    def _keep(self, tree: Tree) -> None:
        """Keep a stable tree if it is better than the incumbent."""
        if self._objective_of(tree) > self.objective:
            self._best = tree
            self._unused = self._values(tree)

    def cuts(self, values: FloatArray) -> list[Row]:
        """Return a cut for each class of a group that the tree excludes by predicting another class within reach."""
        tree = self.main.tree(values)
        within_reach = self._within_reach(tree)
        if self._has_one_class_each(tree, within_reach):
            self._keep(tree)
        cuts: list[Row] = []
        nonzeros = 0
        for leaf, region in enumerate(tree.regions):
            groups, first = np.unique(self.main.group_of[within_reach[:, leaf]], return_index=True)
            rows = np.flatnonzero(within_reach[:, leaf])[first]  # one sample of each group that reaches the leaf
            shift = moves_into(tree, self._problem.uncertainty, rows, np.full(len(rows), leaf, dtype=np.int32))
            sides = self._cuts.sides(shift.apply())[rows]
            paths = self._cuts.paths(tree, sides)
            for group, side, path in zip(groups, sides, paths, strict=True):
                for k in range(self.main.n_classes):
                    if k == region.label or values[self.main.c[group, k]] <= TOLERANCE:
                        continue
                    reach = self._cuts.reach(side[None], path[None], np.array([k], dtype=np.int32))
                    cut = self._cuts.cut(self.main.c[group, k : k + 1], reach)
                    if is_violated(cut, values) and nonzeros <= MAX_NONZEROS:
                        cuts.append(cut)
                        nonzeros += len(cut.variables)
        return cuts

    @property
    def objective(self) -> float:
        """The objective of the best stable tree so far."""
        return self._objective_of(self._best)

    def objective_bound(self, solver_bound: float) -> float:
        """Return the largest objective of any stable tree: at best, every group gets its most frequent class."""
        max_correct = float(self.main.n_correct.max(axis=1).sum())
        return max(self.objective, largest_objective(self._problem, min(solver_bound, max_correct)))

    def result(self, outcome: Outcome) -> Result:
        """Return the result: a tree that is checked to be stable, and a bound on all stable trees.

        No sample can afford to leave its class alone, so the attack within a common budget flips none, either: the
        worst case of the result is the number of nominally correct samples.
        """
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
    """Return pairs of samples that can reach a common point: a stable tree predicts the same class for both.

    Two points are tried: the midpoint in every ordered feature, and a mixture that takes the values of the second
    sample in as many features as the first can afford and those of the first in the others. Any point that both reach
    is a proof; pairs that meet elsewhere may be missed.
    """
    n, table, uncertainty = problem.n_samples, problem.table, problem.uncertainty
    first, second = np.divmod(np.arange(n * n), n)
    midpoint_costs, mixture_costs = np.zeros((2, n * n)), np.zeros((2, n * n))
    for j, feature in enumerate(table.features):
        first_codes, second_codes = table.values[first, j], table.values[second, j]
        middle = (first_codes + second_codes) // 2 if feature.ordered else second_codes
        midpoint_costs[0] += uncertainty.costs.move_costs(j, first, middle)
        midpoint_costs[1] += uncertainty.costs.move_costs(j, second, middle)
        cost = uncertainty.costs.move_costs(j, first, second_codes)
        affords = uncertainty.affords(mixture_costs[0] + cost)
        mixture_costs[0] += np.where(affords, cost, 0.0)
        mixture_costs[1] += np.where(affords, 0.0, uncertainty.costs.move_costs(j, second, first_codes))
    meets = uncertainty.affords(midpoint_costs).all(axis=0) | uncertainty.affords(mixture_costs).all(axis=0)
    return np.asarray(meets.reshape(n, n))


def row_radius(table: Table, certainty: PerColumn, plausibility: float) -> float:
    """Return how many steps a row may move with its own share of the budget: -log(plausibility) / cost of a step.

    The cost of a step is log(rho / (1 - rho)) if all columns have two values (as in the paper), otherwise
    -log(1 - rho), with rho the mean certainty. Values move by whole steps, so the radius is rounded down.

    Parameters
    ----------
    table : Table
        The training table.
    certainty : float, mapping or array
        Certainties of the columns.
    plausibility : float
        Plausibility in (0, 1].
    """
    certainties = list(certainty.values()) if isinstance(certainty, Mapping) else certainty
    rho = float(np.mean(np.asarray(certainties)))
    two_values = all(feature.kind is Kind.BINARY or feature.n_values == 2 for feature in table.features)
    if not 0 < rho <= 1 or not 0 < plausibility <= 1:
        raise ValueError(f"certainty is {certainty} and plausibility {plausibility}; both must lie in (0, 1]")
    if rho == 1 or plausibility == 1:
        return 0
    cost = math.log(rho / (1 - rho)) if two_values else -math.log(1 - rho)
    return math.inf if cost <= 0 else math.floor(-math.log(plausibility) / cost * (1 + 2.0**-32))


def _anything_moves(problem: Problem) -> bool:
    """Return whether any value can change at all."""
    costs = problem.uncertainty.costs
    return any(
        problem.uncertainty.affords(
            unit_costs.min() if feature.ordered or unit_costs.shape[1] == 1 else 2 * unit_costs.min()
        ).any()
        and (not feature.ordered or costs.reach[j].steps != 0)
        for j, (feature, unit_costs) in enumerate(zip(problem.table.features, costs.unit_costs, strict=True))
        if feature.ordered or feature.n_values > 1
    )
