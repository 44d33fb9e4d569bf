"""The main problem of the paper, independent of any solver: variables, constraints, objective, and trees as values.

Nodes are numbered in heap order: the root is 1, the children of n are 2n (left) and 2n + 1 (right). Internal nodes are
1 .. 2^depth - 1; the others can only predict. The variables have the names of the paper:

    b[n, split]  1 if internal node n branches with this split
    v[n]         1 if node n predicts (then it has no descendants)
    w[n, k]      1 if node n predicts class k
    t[i]         1 if sample i is correct: in the worst case (paper), or nominally (forms with T)
    T            samples correct in the worst case; the paper has the sum of all t[i] in its place
    U, s[i]      Lagrangian form only: the multiplier of the budget times the budget, and the share of sample i that is
                 left at this multiplier
    h[g, n]      only with a smallest leaf size: at most 1, and 0 unless the samples of group g, which have the same
                 values, reach node n without a shift

The constraints that make (b, v, w) a tree are the set S of the paper (section 2.1). The cuts of `separation` link t, T
and s to the tree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arrays import FloatArray, IntArray
from hardwood._util.errors import ArgumentError, Setting
from hardwood.problem import HeapNode, Problem, Split
from hardwood.trees.attack import Attack
from hardwood.trees.tree import Tree

MAX_TREE_VARIABLES = 500_000  # solvers make no progress on larger models


@dataclass(frozen=True, slots=True)
class Form:
    """How the problem is formulated. All forms have the same optima.

    Parameters
    ----------
    per_sample_cuts : bool, default=True
        Bound t[i] by the prediction at the sample's own values (paper, section 3.3).
    total : bool, default=True
        Write the aggregate cuts on T instead of the sum of all t[i], so that they stay sparse.
    lifted : bool, default=True
        Equal rows share t[i], and aggregate cuts use it for every sample that does not move.
    splits_first : bool, default=True
        Branch on b before other variables, near the root first.
    lagrangian : bool, default=False
        Add the multiplier of the budget as a variable, and cuts for single shifted samples (docs/search.md).
    """

    per_sample_cuts: bool = True
    total: bool = True
    lifted: bool = True
    splits_first: bool = True
    lagrangian: bool = False

    def __post_init__(self) -> None:
        if self.lifted and not (self.total and self.per_sample_cuts):
            raise ValueError("the lifted form needs total=True and per_sample_cuts=True")
        if self.lagrangian and not self.total:
            raise ValueError("the Lagrangian form needs total=True")


PAPER = Form(total=False, lifted=False, splits_first=False)
IMPROVED = Form()


@dataclass(frozen=True, slots=True)
class Row:
    """A linear constraint: lower <= sum of coefficients * variables <= upper.

    Parameters
    ----------
    variables : array of int
        Indices of the variables.
    coefficients : array of float
        Their coefficients.
    lower, upper : float
        Both sides; -inf for none.
    """

    variables: NDArray[np.intp]
    coefficients: FloatArray
    lower: float
    upper: float

    def activity(self, values: FloatArray) -> float:
        """Return the value of the sum."""
        return float(values[self.variables] @ self.coefficients)


class TreeVariables:
    """The part of a model that describes a tree: variables b, v and w, numbered from 0, and their constraints."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.splits = _checked_splits(problem)
        self.n_internal = 2**problem.max_depth - 1
        self.n_nodes = 2 ** (problem.max_depth + 1) - 1
        self.n_classes = len(problem.labels.classes)
        self.b = block(0, self.n_internal, len(self.splits))
        self.v = block(self.b.size, self.n_nodes, 1)
        self.w = block(self.b.size + self.v.size, self.n_nodes, self.n_classes)
        self.n_tree_variables = self.b.size + self.v.size + self.w.size

    def tree_rows(self) -> list[Row]:
        """Return the set S: a node branches, predicts or lies below a prediction; a prediction has one class."""
        rows = []
        for n in range(1, self.n_nodes + 1):
            above = self.v[_ancestors(n) - 1, 0]
            splits = self.b[n - 1 : n].ravel()  # none below the internal nodes
            rows.append(equality(np.r_[splits, self.v[n - 1], above], 1.0))
            coefficients = np.r_[np.ones(self.n_classes), -1.0]
            rows.append(equality(np.r_[self.w[n - 1], self.v[n - 1]], 0.0, coefficients))
        return rows

    def priorities(self) -> IntArray:
        """Return branching priorities of the tree variables: splits first, near the root."""
        priority = np.zeros(self.n_tree_variables, dtype=np.int32)
        levels = np.array([math.frexp(n)[1] for n in range(1, self.n_internal + 1)], dtype=np.int32)
        priority[self.b] = (1 + self.problem.max_depth - levels)[:, None]
        return priority

    def tree(self, values: FloatArray) -> Tree:
        """Return the tree of a solution; b, v and w are integers up to the solver's tolerance."""

        nodes = [HeapNode()] * (self.n_nodes + 1)
        for n in range(1, self.n_nodes + 1):
            if n > self.n_internal or not self.splits or values[self.v[n - 1, 0]] > 0.5:
                nodes[n] = HeapNode(label=int(values[self.w[n - 1]].argmax()))
            else:
                nodes[n] = HeapNode(int(values[self.b[n - 1]].argmax()))
        return self.problem.tree(nodes)

    def put_tree(self, tree: Tree, values: FloatArray) -> bool:
        """Set the values that describe a tree; return False if it has a split that is not a candidate."""
        nodes = self.problem.heap(tree)
        if nodes is None:
            return False
        reached = [1]
        for n in reached:
            split, label = nodes[n]
            if split < 0:
                values[self.v[n - 1]] = values[self.w[n - 1, label]] = 1.0
            else:
                values[self.b[n - 1, split]] = 1.0
                reached += [2 * n, 2 * n + 1]
        return True


class MainProblem(TreeVariables):
    """Variables, constraints and objective as arrays that any solver can read; the objective is maximised."""

    def __init__(self, problem: Problem, form: Form) -> None:
        super().__init__(problem)
        # Without a budget there is no multiplier.
        self.lagrangian = form.lagrangian and problem.uncertainty.affordable_total > 0
        self.form = form
        self.group_of, self.group_sizes = self._groups()
        self.distinct_of, self.distinct_rows = self._distinct_rows()
        self._lay_out()
        self.rows = [*self.tree_rows(), *self._total_rows(), *self._leaf_size_rows()]

    def _groups(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return samples that share a variable t: in the lifted form those with equal values, labels and costs."""
        n = self.problem.n_samples
        if not self.form.lifted:
            return np.arange(n), np.ones(n, dtype=np.intp)
        costs = self.problem.uncertainty.costs
        sample_costs = [
            unit_costs
            for unit_costs in (*costs.unit_costs, *costs.missing_costs)
            if unit_costs is not None and len(unit_costs) > 1
        ]
        keys = np.column_stack([self.problem.table.values, self.problem.labels.codes, *sample_costs])
        _, group_of, sizes = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        return group_of.ravel(), sizes

    def _distinct_rows(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the index of each sample's distinct row, and one sample of each; none without a leaf size."""
        if self.problem.min_samples_leaf == 0:
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
        _, first, index = np.unique(self.problem.table.values, axis=0, return_index=True, return_inverse=True)
        return index.ravel(), first

    def _lay_out(self) -> None:
        """Number the variables, and set their types, upper bounds, objective coefficients and priorities."""
        n_groups, first = len(self.group_sizes), self.n_tree_variables
        sizes = {"t": n_groups, "T": int(self.form.total), "U": int(self.lagrangian), "s": n_groups * self.lagrangian}
        blocks = []
        for size in sizes.values():
            blocks.append(block(first, size, 1))
            first += size
        self.t, self.total, self.multiplier, self.share = blocks
        self.reaches = block(first, len(self.distinct_rows), self.n_nodes)
        self.n_variables = first + self.reaches.size
        self.upper = np.ones(self.n_variables)
        self.upper[self.total] = self.upper[self.multiplier] = self.problem.n_samples
        self.integer = np.zeros(self.n_variables, dtype=bool)
        self.integer[: self.n_tree_variables] = True
        # Only the Lagrangian form needs an integer T: its bound is the dual value, of which T is the ceiling.
        self.integer[self.total] = self.lagrangian
        self.objective = np.zeros(self.n_variables)
        self.objective[self.b] = -self.problem.solver_penalty
        self.objective[self.total if self.form.total else self.t] = 1.0
        self.priority = np.zeros(self.n_variables, dtype=np.int32)
        if self.form.splits_first:
            self.priority[: self.n_tree_variables] = self.priorities()

    def _total_rows(self) -> list[Row]:
        """Return rows that bound T by the t[i]; in the Lagrangian form, also by the shares and the multiplier."""
        if not self.form.total:
            return []
        sizes = self.group_sizes.astype(float)
        rows = [at_most(np.r_[self.total[0], self.t[:, 0]], np.r_[1.0, -sizes], 0.0)]
        if self.lagrangian:
            # The worst case is the dual value rounded up, so it is less than one sample above it (docs/theory.md).
            lagrangian = np.r_[self.total[0], self.multiplier[0], self.share[:, 0]]
            rows.append(at_most(lagrangian, np.r_[1.0, 1.0, -sizes], 1.0))
            rows += [at_most(pair, np.array([1.0, -1.0]), 0.0) for pair in np.hstack([self.share, self.t])]
        return rows

    def _leaf_size_rows(self) -> list[Row]:
        """Return rows that define h, and rows that bound the leaf sizes.

        Samples reach a node if they reach its parent and the split there sends them on. Large h help a leaf, so for
        integer b the largest values that these rows admit, 0 or 1, are feasible.
        """
        if not len(self.distinct_rows):
            return []
        rows: list[Row] = []
        sides = np.zeros((len(self.distinct_rows), len(self.splits)), dtype=bool)
        for k, split in enumerate(self.splits):
            sides[:, k] = split.goes_left(self.problem.table)[self.distinct_rows]
        for n in range(2, self.n_nodes + 1):
            for g, reaches in enumerate(self.reaches):
                onward = self.b[n // 2 - 1, sides[g] == (n % 2 == 0)]
                rows.append(at_most(reaches[[n - 1, n // 2 - 1]], np.array([1.0, -1.0]), 0.0))
                rows.append(at_most(np.r_[reaches[n - 1], onward], np.r_[1.0, -np.ones(len(onward))], 0.0))
        sizes = np.bincount(self.distinct_of, weights=self.problem.leaf_sizes)
        min_size = float(self.problem.min_samples_leaf)
        rows += [
            at_most(np.r_[self.v[n, 0], self.reaches[:, n]], np.r_[min_size, -sizes], 0.0) for n in range(self.n_nodes)
        ]
        return rows

    def values(self, attack: Attack) -> FloatArray | None:
        """Return the values of all variables for an attacked tree; None if it has a split that is not a candidate."""
        values = np.zeros(self.n_variables)
        if not self.put_tree(attack.tree, values):
            return None
        values[self.t[self.group_of, 0]] = self._correct(attack)
        values[self.total] = attack.worst_case_correct
        if len(self.distinct_rows):
            self._put_reached_nodes(attack.tree, values)
        if self.lagrangian:
            multiplier = self._best_multiplier(attack)
            values[self.multiplier] = multiplier
            values[self.share[self.group_of, 0]] = shares_at(multiplier, self.relative(attack.margins))
        return values

    def _put_reached_nodes(self, tree: Tree, values: FloatArray) -> None:
        """Set the values of h: the nodes that samples reach in a tree."""
        nodes = self.problem.heap(tree) or []
        reached = [(1, np.arange(len(self.distinct_rows)))]
        for n, groups in reached:
            values[self.reaches[groups, n - 1]] = 1.0
            if nodes[n].split >= 0:
                left = self.splits[nodes[n].split].goes_left(self.problem.table)[self.distinct_rows[groups]]
                reached += [(2 * n, groups[left]), (2 * n + 1, groups[~left])]

    def _correct(self, attack: Attack) -> NDArray[np.bool_]:
        """Return the samples that t counts: nominally correct if T counts the worst case, otherwise the latter."""
        correct: NDArray[np.bool_] = attack.tree.predict(self.problem.table) == self.problem.labels.codes
        if not self.form.total:
            correct[attack.lost] = False
        return correct

    def relative(self, margins: FloatArray) -> FloatArray:
        """Return margins as parts of the budget, finite ones at most 2.

        The adversary never pays for a margin above the budget, so the worst case is the same for any value above 1. The
        dual value of capped margins rounds up to it, too, and a cut min(cost, 2) * U + reach holds since min(., 2)
        keeps the order. Without the cap, costs far above the budget make coefficients that solvers take for rounding
        errors.
        """
        budget = self.problem.uncertainty.affordable_total
        capped = np.where(np.isfinite(margins), np.minimum(margins, 2 * budget), margins)
        return np.asarray(capped / budget)

    def _best_multiplier(self, attack: Attack) -> float:
        """Return the U with the largest dual value of the tree: that of the first sample that is not flipped."""
        kept = np.delete(attack.margins, attack.lost)
        kept = kept[np.isfinite(kept)]
        return float(1.0 / self.relative(kept.min())) if kept.size else 0.0


def shares_at(multiplier: float, relative_margins: FloatArray) -> FloatArray:
    """Return the share of each sample that is left at a multiplier; 1 for samples that cannot be flipped."""
    finite = np.isfinite(relative_margins)
    return np.where(finite, np.minimum(1.0, multiplier * np.where(finite, relative_margins, 0.0)), 1.0)


def equality(variables: NDArray[np.intp], value: float, coefficients: FloatArray | None = None) -> Row:
    """Return a row with equal sides; coefficients are 1 by default."""
    ones = np.ones(len(variables)) if coefficients is None else coefficients
    return Row(variables, ones, value, value)


def at_most(variables: NDArray[np.intp], coefficients: FloatArray, upper: float) -> Row:
    """Return a row without a lower side; zero coefficients are left out."""
    nonzero = coefficients != 0
    return Row(variables[nonzero], coefficients[nonzero], -math.inf, upper)


def block(first: int, height: int, width: int) -> NDArray[np.intp]:
    """Return the indices of a block of variables."""
    return np.arange(first, first + height * width).reshape(height, width)


def _checked_splits(problem: Problem) -> tuple[Split, ...]:
    """Return the candidate splits of the problem unless there are too many."""
    per_node = problem.n_splits + len(problem.labels.classes) + 1
    if problem.max_depth > 20 or per_node * 2**problem.max_depth > MAX_TREE_VARIABLES:
        raise ArgumentError(
            "max_depth",
            problem.max_depth,
            f"with {problem.n_splits} candidate splits a mixed-integer model would have more than "
            f"{MAX_TREE_VARIABLES} variables for its tree",
            remedy=('use a smaller depth, the column kind "binned", or ', Setting("solver", "search")),
        )
    return problem.splits


def _ancestors(n: int) -> NDArray[np.intp]:
    return np.array([n >> k for k in range(1, n.bit_length())], dtype=np.intp)
