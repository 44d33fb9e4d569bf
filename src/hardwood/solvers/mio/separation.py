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

from hardwood.adversary import Attack, attack
from hardwood.calibration import FloatArray
from hardwood.features import Table
from hardwood.solvers.mio.model import MainProblem, Row, at_most, shares_at
from hardwood.tree import Branch, Node, Tree

# Solvers keep linear constraints to within 1e-6; whatever is violated by less would come back for ever.
TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True)
class Proposal:
    """A tree that the solver proposes, what the adversary does to it, and the constraints that its values break."""

    found: Attack
    cuts: list[Row]


class Separation:
    """Finds broken constraints for one main problem."""

    def __init__(self, main: MainProblem) -> None:
        self._main = main
        self._table = main.problem.table
        self._labels = main.problem.labels
        self._left = self._sides(self._table)
        self._representative = np.unique(main.group_of, return_index=True)[1]

    def propose(self, values: FloatArray) -> Proposal:
        """Read the tree off the values and check what they claim about it (Algorithm 1 of the paper)."""
        main = self._main
        tree = main.tree(values)
        found = attack(tree, self._labels, main.problem.uncertainty)
        cuts = []
        if main.form.per_sample_cuts:
            cuts += self._per_sample(tree, values)
        if main.priced:
            cuts += self._priced(found, values)
        cuts += [cut for cut in [self._aggregate(found)] if _broken(cut, values)]
        return Proposal(found, cuts)

    def _per_sample(self, tree: Tree, values: FloatArray) -> list[Row]:
        main = self._main
        wrong = tree.predict(self._table) != self._labels.codes
        rows = self._representative[wrong[self._representative]]
        rows = rows[values[main.t[main.group_of[rows], 0]] > TOLERANCE]
        paths = self._paths(tree, self._left[rows])
        cuts = []
        for k, i in enumerate(rows):
            one = slice(k, k + 1)
            reach = self._reach(self._left[i : i + 1], paths[one], self._labels.codes[i : i + 1])
            cuts.append(self._cut(main.t[main.group_of[i]], reach))
        return [cut for cut in cuts if _broken(cut, values)]

    def _priced(self, found: Attack, values: FloatArray) -> list[Row]:
        """Cuts for samples whose share is more than the price leaves them."""
        main = self._main
        margins = main.relative(found.margins)
        left_over = shares_at(float(values[main.price[0, 0]]), margins)
        too_much = values[main.share[main.group_of, 0]] > left_over + TOLERANCE
        rows = self._representative[(too_much & np.isfinite(margins))[self._representative]]
        shifted = self._sides(found.shift_of(rows).apply())[rows]
        paths = self._paths(found.tree, shifted)
        cuts = []
        for k, i in enumerate(rows):
            one = slice(k, k + 1)
            reach = self._reach(shifted[one], paths[one], self._labels.codes[i : i + 1])
            reach[main.price[0, 0]] += margins[i]
            cuts.append(self._cut(main.share[main.group_of[i]], reach))
        return [cut for cut in cuts if _broken(cut, values)]

    def _aggregate(self, found: Attack) -> Row:
        main = self._main
        shifted = self._sides(found.shift.apply())
        paths = self._paths(found.tree, shifted)
        if not main.form.lifted:
            reach = self._reach(shifted, paths, self._labels.codes)
        else:
            moved = np.zeros(main.problem.n_samples, dtype=bool)
            moved[found.shift.rows] = True
            reach = self._reach(shifted[moved], paths[moved], self._labels.codes[moved])
            np.add.at(reach, main.t[main.group_of[~moved], 0], 1.0)
        target = main.total if main.form.total else main.t
        return self._cut(target[:, 0], reach)

    def _cut(self, target: NDArray[np.intp], reach: FloatArray) -> Row:
        """The sum of the target variables is at most the reach."""
        coefficients = -reach
        coefficients[target] += 1.0
        return at_most(np.arange(self._main.n_variables), coefficients, 0.0)

    def _sides(self, table: Table) -> NDArray[np.bool_]:
        """For each sample and test, whether the sample goes left."""
        sides = np.empty((table.n_samples, len(self._main.tests)), dtype=bool)
        for k, (j, code) in enumerate(self._main.tests):
            column = table.values[:, j]
            sides[:, k] = column <= code if table.features[j].ordered else column == code
        return sides

    def _paths(self, tree: Tree, left: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The nodes that each sample passes, level by level; 0 after the prediction."""
        depth = self._main.problem.max_depth
        position = {test: k for k, test in enumerate(self._main.tests)}
        paths = np.zeros((len(left), depth + 1), dtype=np.intp)

        def walk(node: Node, n: int, level: int, rows: NDArray[np.intp]) -> None:
            paths[rows, level] = n
            if isinstance(node, Branch):
                goes_left = left[rows, position[node.feature, node.code]]
                walk(node.left, 2 * n, level + 1, rows[goes_left])
                walk(node.right, 2 * n + 1, level + 1, rows[~goes_left])

        walk(tree.root, 1, 0, np.arange(len(left)))
        return paths

    def _reach(self, left: NDArray[np.bool_], paths: NDArray[np.intp], labels: NDArray[np.int32]) -> FloatArray:
        """The sum of reach(x, y) over samples, as coefficients of all variables."""
        main = self._main
        reach = np.zeros(main.n_variables)
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


def _broken(cut: Row, values: FloatArray) -> bool:
    return cut.activity(values) > cut.upper + TOLERANCE
