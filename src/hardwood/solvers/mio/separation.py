"""The subproblem of the paper: which constraints does a proposed tree break?

Send a sample with values x (its own or shifted) and label y down the proposed tree; it ends in a node m. For every
tree, "the sample is right at x" is at most

    reach(x, y) = sum over nodes n on the way of w[n, y]
                + sum over nodes n on the way, but m, of b[n, test] for the tests that send x off the way
                + sum over all tests of b[m, test] if m is internal

because a tree for which this is 0 either predicts another class somewhere on the way or leads x on to m and predicts
another class there (minimum cut, paper section 3.1 and E-Companion "Iterating over Paths"). Two kinds of cuts follow:

    aggregate     T <= sum over samples of reach(x[i] + shift[i], y[i])      for the worst shift of the proposed tree
    per sample    t[i] <= reach(x[i], y[i])                                 for a sample that is wrong as it stands

and in the priced form, where the shift of sample i costs the part c of the budget,

    priced        s[i] <= c * U + reach(x[i] + shift[i], y[i])              since s[i] = min(1, U * relative margin).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardwood.data.features import Table
from hardwood.problem import Test
from hardwood.shift.calibration import FloatArray
from hardwood.solvers.mio.model import MainProblem, Row, TreeVariables, at_most, shares_at
from hardwood.trees.adversary import Attack, attack
from hardwood.trees.tree import Branch, Node, Tree

# Solvers keep linear constraints to within 1e-6; whatever is violated by less would come back for ever.
TOLERANCE = 1e-5
MOST_NONZEROS = (
    200_000  # in the cuts of single samples at one proposal; more would take longer than a time limit allows
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A tree that the solver proposes, what the adversary does to it, and the constraints that its values break."""

    found: Attack
    cuts: list[Row]


class PathCuts:
    """Where samples go in a tree, and the cuts that follow from it."""

    def __init__(self, tree_variables: TreeVariables, n_variables: int) -> None:
        self._tree = tree_variables
        self._n_variables = n_variables

    def cut(self, target: NDArray[np.intp], reach: FloatArray) -> Row:
        """The sum of the target variables is at most the reach."""
        coefficients = -reach
        coefficients[target] += 1.0
        return at_most(np.arange(self._n_variables), coefficients, 0.0)

    def sides(self, table: Table) -> NDArray[np.bool_]:
        """For each sample and test, whether the sample goes left."""
        sides = np.empty((table.n_samples, len(self._tree.tests)), dtype=bool)
        for k, test in enumerate(self._tree.tests):
            sides[:, k] = test.goes_left(table)
        return sides

    def paths(self, tree: Tree, left: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The nodes that each sample passes, level by level; 0 after the prediction."""
        depth = self._tree.problem.max_depth
        position = {test: k for k, test in enumerate(self._tree.tests)}
        paths = np.zeros((len(left), depth + 1), dtype=np.intp)

        def walk(node: Node, n: int, level: int, rows: NDArray[np.intp]) -> None:
            paths[rows, level] = n
            if isinstance(node, Branch):
                test = position[Test(node.feature, node.code, node.missing_left)]
                goes_left = left[rows, test]
                walk(node.left, 2 * n, level + 1, rows[goes_left])
                walk(node.right, 2 * n + 1, level + 1, rows[~goes_left])

        walk(tree.root, 1, 0, np.arange(len(left)))
        return paths

    def reach(self, left: NDArray[np.bool_], paths: NDArray[np.intp], labels: NDArray[np.int32]) -> FloatArray:
        """The sum of reach(x, y) over samples, as coefficients of all variables."""
        main = self._tree
        reach = np.zeros(self._n_variables)
        for level in range(paths.shape[1]):
            for n in np.unique(paths[:, level]):
                if n == 0:
                    continue
                here = paths[:, level] == n
                reach[main.w[n - 1]] += np.bincount(labels[here], minlength=main.n_classes)
                if n > main.n_internal:
                    continue
                goes_left, then = left[here], paths[here, level + 1]
                off_the_way = (~goes_left[then == 2 * n]).sum(axis=0) + goes_left[then == 2 * n + 1].sum(axis=0)
                reach[main.b[n - 1]] += np.count_nonzero(then == 0) + off_the_way
        return reach


class Separation:
    """Finds broken constraints for one main problem."""

    def __init__(self, main: MainProblem) -> None:
        self._main = main
        self._table = main.problem.table
        self._labels = main.problem.labels
        self._cuts = PathCuts(main, main.n_variables)
        self._left = self._cuts.sides(self._table)
        self._representative = np.unique(main.group_of, return_index=True)[1]

    def propose(self, values: FloatArray) -> Proposal:
        """Read the tree off the values and check what they claim about it (Algorithm 1 of the paper).

        Cuts of single samples stop at about `MOST_NONZEROS`; what is left out is found again while it is broken.
        """
        main = self._main
        tree = main.tree(values)
        found = attack(tree, self._labels, main.problem.uncertainty)
        cuts = [cut for cut in [self._aggregate(found)] if broken(cut, values)]
        if main.form.per_sample_cuts:
            cuts += self._for_samples(values, self._wrong(tree, values), self._left, tree, main.t)
        if main.priced:
            rows, margins = self._underpriced(found, values)
            shifted = self._cuts.sides(found.shift_of(rows).apply())
            cuts += self._for_samples(values, rows, shifted, tree, main.share, margins)
        return Proposal(found, cuts)

    def _wrong(self, tree: Tree, values: FloatArray) -> NDArray[np.intp]:
        """Samples (one of each group) that are wrong as they stand, but not according to the values."""
        main = self._main
        wrong = tree.predict(self._table) != self._labels.codes
        rows: NDArray[np.intp] = self._representative[wrong[self._representative]]
        claimed: NDArray[np.bool_] = values[main.t[main.group_of[rows], 0]] > TOLERANCE
        return rows[claimed]

    def _underpriced(self, found: Attack, values: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
        """Samples (one of each group) whose share is more than the price leaves them, and all relative margins."""
        main = self._main
        margins = main.relative(found.margins)
        left_over = shares_at(float(values[main.price[0, 0]]), margins)
        too_much = values[main.share[main.group_of, 0]] > left_over + TOLERANCE
        return self._representative[(too_much & np.isfinite(margins))[self._representative]], margins

    def _for_samples(
        self,
        values: FloatArray,
        rows: NDArray[np.intp],
        sides: NDArray[np.bool_],
        tree: Tree,
        target: NDArray[np.intp],
        margins: FloatArray | None = None,
    ) -> list[Row]:
        """Broken cuts of single samples: target <= reach, plus margin * U where margins are given."""
        paths = self._cuts.paths(tree, sides[rows])
        cuts: list[Row] = []
        nonzeros = 0
        for path, i in zip(paths, rows, strict=True):
            reach = self._cuts.reach(sides[i : i + 1], path[None], self._labels.codes[i : i + 1])
            if margins is not None:
                reach[self._main.price[0, 0]] += margins[i]
            cut = self._cuts.cut(target[self._main.group_of[i]], reach)
            if broken(cut, values):
                cuts.append(cut)
                nonzeros += len(cut.variables)
            if nonzeros > MOST_NONZEROS:
                break
        return cuts

    def _aggregate(self, found: Attack) -> Row:
        main = self._main
        shifted = self._cuts.sides(found.shift.apply())
        paths = self._cuts.paths(found.tree, shifted)
        if not main.form.lifted:
            reach = self._cuts.reach(shifted, paths, self._labels.codes)
        else:
            moved = np.zeros(main.problem.n_samples, dtype=bool)
            moved[found.shift.rows] = True
            reach = self._cuts.reach(shifted[moved], paths[moved], self._labels.codes[moved])
            np.add.at(reach, main.t[main.group_of[~moved], 0], 1.0)
        target = main.total if main.form.total else main.t
        return self._cuts.cut(target[:, 0], reach)


def broken(cut: Row, values: FloatArray) -> bool:
    """Whether values break a cut by more than a solver's tolerance."""
    return cut.activity(values) > cut.upper + TOLERANCE
