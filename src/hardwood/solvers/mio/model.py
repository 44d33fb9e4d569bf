"""The main problem of the paper, free of any solver: variables, constraints, objective, and trees as their values.

Nodes are numbered as in a heap: the root is 1, the children of n are 2n (left) and 2n + 1 (right). Internal nodes are
1 .. 2^depth - 1, the others can only predict. Meaning of the variables (names of the paper):

    b[n, test]   1 if internal node n branches with this test
    v[n]         1 if node n predicts (its descendants are then cut away)
    w[n, k]      1 if node n predicts class k
    t[i]         1 if sample i is correct: after the worst shift (paper), or as it stands (forms with T)
    T            samples correct after the worst shift; the paper has the sum of all t[i] in its place
    U, s[i]      priced form only: price of the budget times the budget, and the share of sample i left at that price
    h[g, n]      only where leaves must hold so many samples: at most 1, and 0 unless the samples of group g, which have
                 the same values, get to node n as they stand

The rules that make (b, v, w) a tree are the set S of the paper (section 2.1). What ties t, T and s to the tree is left
to the cuts of `separation`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardwood._support.errors import ArgumentError, Setting
from hardwood.data.features import IntArray
from hardwood.problem import Choice, Problem, Test
from hardwood.shift.calibration import FloatArray
from hardwood.trees.adversary import Attack
from hardwood.trees.tree import Tree

MOST_CHOICES = 500_000  # variables that describe a tree: no solver does anything with more


@dataclass(frozen=True, slots=True)
class Form:
    """How the problem is put to the solver. All forms have the same optima.

    per_sample_cuts  bound t[i] by the prediction at the sample's own values (paper, section 3.3)
    total            write the aggregate cuts on T, not on the sum of all t[i], so that they stay sparse
    lifted           equal rows share t[i], and aggregate cuts use it for every sample that stays where it is
    tests_first      branch on b before anything else, near the root first
    priced           add the budget's price as a variable and cuts for single samples (docs/search.md, "prices")
    """

    per_sample_cuts: bool = True
    total: bool = True
    lifted: bool = True
    tests_first: bool = True
    priced: bool = False

    def __post_init__(self) -> None:
        if self.lifted and not (self.total and self.per_sample_cuts):
            raise ValueError("the lifted form needs total=True and per_sample_cuts=True")
        if self.priced and not self.total:
            raise ValueError("the priced form needs total=True")


PAPER = Form(total=False, lifted=False, tests_first=False)
IMPROVED = Form()


@dataclass(frozen=True, slots=True)
class Row:
    """A linear constraint: lower <= sum of coefficients * variables <= upper."""

    variables: NDArray[np.intp]
    coefficients: FloatArray
    lower: float
    upper: float

    def activity(self, values: FloatArray) -> float:
        """The sum in the middle."""
        return float(values[self.variables] @ self.coefficients)


def _checked_tests(problem: Problem) -> tuple[Test, ...]:
    """The tests of the problem, if there are not too many of them."""
    per_node = problem.n_tests + len(problem.labels.classes) + 1
    if problem.max_depth > 20 or per_node * 2**problem.max_depth > MOST_CHOICES:
        raise ArgumentError(
            "max_depth",
            problem.max_depth,
            f"with {problem.n_tests} possible tests a mixed-integer model would have more than {MOST_CHOICES} "
            f"variables for its tree",
            remedy=('use a smaller depth, the column kind "binned", or ', Setting("solver", "search")),
        )
    return problem.tests


class TreeVariables:
    """The part of a model that describes a tree: variables b, v and w, numbered from 0, and the rules they obey."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.tests = _checked_tests(problem)
        self.n_internal = 2**problem.max_depth - 1
        self.n_nodes = 2 ** (problem.max_depth + 1) - 1
        self.n_classes = len(problem.labels.classes)
        self.b = numbered(0, self.n_internal, len(self.tests))
        self.v = numbered(self.b.size, self.n_nodes, 1)
        self.w = numbered(self.b.size + self.v.size, self.n_nodes, self.n_classes)
        self.n_tree_variables = self.b.size + self.v.size + self.w.size

    def tree_rows(self) -> list[Row]:
        """The set S: a node branches, predicts or lies below a prediction; a prediction has one class."""
        rows = []
        for n in range(1, self.n_nodes + 1):
            above = self.v[_ancestors(n) - 1, 0]
            tests = self.b[n - 1 : n].ravel()  # none below the internal nodes
            rows.append(equality(np.r_[tests, self.v[n - 1], above], 1.0))
            coefficients = np.r_[np.ones(self.n_classes), -1.0]
            rows.append(equality(np.r_[self.w[n - 1], self.v[n - 1]], 0.0, coefficients))
        return rows

    def priorities(self) -> IntArray:
        """Which tree variables to branch on first: tests, near the root."""
        priority = np.zeros(self.n_tree_variables, dtype=np.int32)
        levels = np.array([math.frexp(n)[1] for n in range(1, self.n_internal + 1)], dtype=np.int32)
        priority[self.b] = (1 + self.problem.max_depth - levels)[:, None]
        return priority

    def tree(self, values: FloatArray) -> Tree:
        """The tree that values of the variables describe; b, v and w are whole but for the solver's tolerance."""

        choices = [Choice()] * (self.n_nodes + 1)
        for n in range(1, self.n_nodes + 1):
            if n > self.n_internal or not self.tests or values[self.v[n - 1, 0]] > 0.5:
                choices[n] = Choice(label=int(values[self.w[n - 1]].argmax()))
            else:
                choices[n] = Choice(int(values[self.b[n - 1]].argmax()))
        return self.problem.tree(choices)

    def put_tree(self, tree: Tree, values: FloatArray) -> bool:
        """Set the values that describe a tree; False if it asks for a test that is not among `tests`."""
        choices = self.problem.heap(tree)
        if choices is None:
            return False
        places = [1]
        for n in places:
            test, label = choices[n]
            if test < 0:
                values[self.v[n - 1]] = values[self.w[n - 1, label]] = 1.0
            else:
                values[self.b[n - 1, test]] = 1.0
                places += [2 * n, 2 * n + 1]
        return True


class MainProblem(TreeVariables):
    """Variables, constraints and objective as arrays that any solver can read; the objective is maximised."""

    def __init__(self, problem: Problem, form: Form) -> None:
        super().__init__(problem)
        # With nothing to spend there is nothing to price.
        self.priced = form.priced and problem.uncertainty.spendable > 0
        self.form = form
        self.group_of, self.group_sizes = self._groups()
        self.home_of, self.homes = self._homes()
        self._lay_out()
        self.rows = [*self.tree_rows(), *self._total_rows(), *self._leaf_size_rows()]

    def _groups(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Samples that share a variable t: in the lifted form all with the same values, label and prices."""
        n = self.problem.n_samples
        if not self.form.lifted:
            return np.arange(n), np.ones(n, dtype=np.intp)
        costs = self.problem.uncertainty.costs
        own_prices = [prices for prices in (*costs.prices, *costs.missing) if prices is not None and len(prices) > 1]
        keys = np.column_stack([self.problem.table.values, self.problem.labels.codes, *own_prices])
        _, group_of, sizes = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        return group_of.ravel(), sizes

    def _homes(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Samples with the same values by number, and one sample of each; none if leaves may be of any size."""
        if self.problem.min_samples_leaf == 0:
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
        _, first, home_of = np.unique(self.problem.table.values, axis=0, return_index=True, return_inverse=True)
        return home_of.ravel(), first

    def _lay_out(self) -> None:
        """Number the variables; say which are whole, how large they may be, what they are worth, what to branch on."""
        n_groups, at = len(self.group_sizes), self.n_tree_variables
        sizes = {"t": n_groups, "T": int(self.form.total), "U": int(self.priced), "s": n_groups * self.priced}
        numbers = []
        for size in sizes.values():
            numbers.append(numbered(at, size, 1))
            at += size
        self.t, self.total, self.price, self.share = numbers
        self.here = numbered(at, len(self.homes), self.n_nodes)
        at += self.here.size
        self.n_variables = at
        self.upper = np.ones(at)
        self.upper[self.total] = self.upper[self.price] = self.problem.n_samples
        self.integer = np.zeros(at, dtype=bool)
        self.integer[: self.n_tree_variables] = True
        # Only the priced form needs the rounding of T: its bound is the priced value, of which T is the ceiling.
        self.integer[self.total] = self.priced
        self.objective = np.zeros(at)
        self.objective[self.b] = -self.problem.engine_penalty
        self.objective[self.total if self.form.total else self.t] = 1.0
        self.priority = np.zeros(at, dtype=np.int32)
        if self.form.tests_first:
            self.priority[: self.n_tree_variables] = self.priorities()

    def _total_rows(self) -> list[Row]:
        """No more samples are correct than the t[i] say; in the priced form, than the shares and the price say."""
        if not self.form.total:
            return []
        sizes = self.group_sizes.astype(float)
        rows = [at_most(np.r_[self.total[0], self.t[:, 0]], np.r_[1.0, -sizes], 0.0)]
        if self.priced:
            # The worst case is the priced value rounded up, so less than one sample above it: theory of prices.
            priced = np.r_[self.total[0], self.price[0], self.share[:, 0]]
            rows.append(at_most(priced, np.r_[1.0, 1.0, -sizes], 1.0))
            rows += [at_most(pair, np.array([1.0, -1.0]), 0.0) for pair in np.hstack([self.share, self.t])]
        return rows

    def _leaf_size_rows(self) -> list[Row]:
        """Samples get to a node if they get to its parent and a test there sends them on; a leaf holds enough of them.

        A leaf wants h to be large, so that whole b make it 0 or 1, as large as these rows let it be.
        """
        if not len(self.homes):
            return []
        rows: list[Row] = []
        sides = np.zeros((len(self.homes), len(self.tests)), dtype=bool)
        for k, test in enumerate(self.tests):
            sides[:, k] = test.goes_left(self.problem.table)[self.homes]
        for n in range(2, self.n_nodes + 1):
            for g, here in enumerate(self.here):
                onward = self.b[n // 2 - 1, sides[g] == (n % 2 == 0)]
                rows.append(at_most(here[[n - 1, n // 2 - 1]], np.array([1.0, -1.0]), 0.0))
                rows.append(at_most(np.r_[here[n - 1], onward], np.r_[1.0, -np.ones(len(onward))], 0.0))
        sizes = np.bincount(self.home_of, weights=self.problem.leaf_sizes)
        least = float(self.problem.min_samples_leaf)
        rows += [at_most(np.r_[self.v[n, 0], self.here[:, n]], np.r_[least, -sizes], 0.0) for n in range(self.n_nodes)]
        return rows

    def values(self, found: Attack) -> FloatArray | None:
        """What the variables are for an attacked tree; None if the tree asks for a test that is not among `tests`."""
        values = np.zeros(self.n_variables)
        if not self.put_tree(found.tree, values):
            return None
        values[self.t[self.group_of, 0]] = self._right(found)
        values[self.total] = found.worst_case_correct
        if len(self.homes):
            self._put_homes(found.tree, values)
        if self.priced:
            price = self._best_price(found)
            values[self.price] = price
            values[self.share[self.group_of, 0]] = shares_at(price, self.relative(found.margins))
        return values

    def _put_homes(self, tree: Tree, values: FloatArray) -> None:
        """Where samples get to in a tree."""
        choices = self.problem.heap(tree) or []
        places = [(1, np.arange(len(self.homes)))]
        for n, groups in places:
            values[self.here[groups, n - 1]] = 1.0
            if choices[n].test >= 0:
                left = self.tests[choices[n].test].goes_left(self.problem.table)[self.homes[groups]]
                places += [(2 * n, groups[left]), (2 * n + 1, groups[~left])]

    def _right(self, found: Attack) -> NDArray[np.bool_]:
        """Samples right as they stand if T counts the worst case, or else right in the worst case."""
        right: NDArray[np.bool_] = found.tree.predict(self.problem.table) == self.problem.labels.codes
        if not self.form.total:
            right[found.lost] = False
        return right

    def relative(self, margins: FloatArray) -> FloatArray:
        """Margins as parts of the budget, finite ones 2 at most.

        A margin above the budget is never bought, so the worst case is the same for any value above 1; the priced value
        of capped margins rounds up to it, too, and a cut min(cost, 2) * U + reach holds since min(., 2) keeps order.
        Without the cap, prices far above the budget make coefficients that solvers take for rounding errors.
        """
        budget = self.problem.uncertainty.spendable
        capped = np.where(np.isfinite(margins), np.minimum(margins, 2 * budget), margins)
        return np.asarray(capped / budget)

    def _best_price(self, found: Attack) -> float:
        """The price of the budget at which the priced value of the tree is largest: that of the first sample kept."""
        kept = np.delete(found.margins, found.lost)
        kept = kept[np.isfinite(kept)]
        return float(1.0 / self.relative(kept.min())) if kept.size else 0.0


def shares_at(price: float, relative_margins: FloatArray) -> FloatArray:
    """The share of each sample that is left at a price: a sample that cannot be lost stays whole at any price."""
    finite = np.isfinite(relative_margins)
    return np.where(finite, np.minimum(1.0, price * np.where(finite, relative_margins, 0.0)), 1.0)


def _ancestors(n: int) -> NDArray[np.intp]:
    return np.array([n >> k for k in range(1, n.bit_length())], dtype=np.intp)


def equality(variables: NDArray[np.intp], value: float, coefficients: FloatArray | None = None) -> Row:
    """A row whose two ends are one."""
    ones = np.ones(len(variables)) if coefficients is None else coefficients
    return Row(variables, ones, value, value)


def at_most(variables: NDArray[np.intp], coefficients: FloatArray, upper: float) -> Row:
    """A row without a lower end; zeros are left out."""
    there = coefficients != 0
    return Row(variables[there], coefficients[there], -math.inf, upper)


def numbered(first: int, height: int, width: int) -> NDArray[np.intp]:
    """Numbers of a block of variables."""
    return np.arange(first, first + height * width).reshape(height, width)
