"""The subproblem of the paper: which constraints does a proposed tree violate?

Send a sample with values x (its own or shifted) and label y down the proposed tree; it reaches node m. In every tree,
the indicator of "the sample is correct at x" is at most

    reach(x, y) = sum over nodes n on the path of w[n, y]
                + sum over nodes n on the path, except m, of b[n, split] for the splits that send x off the path
                + sum over all splits of b[m, split] if m is internal

A tree for which this is 0 either predicts another class on the path, or leads x to m and predicts another class there
(minimum cut, paper section 3.1 and E-Companion "Iterating over Paths"). Two kinds of cuts follow:

    aggregate     T <= sum over samples of reach(x[i] + shift[i], y[i])      for the worst shift of the proposed tree
    per sample    t[i] <= reach(x[i], y[i])                                 for a sample that is nominally misclassified

and in the Lagrangian form, where the shift of sample i costs the part c of the budget,

    Lagrangian    s[i] <= c * U + reach(x[i] + shift[i], y[i])              since s[i] = min(1, U * relative margin).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arrays import FloatArray
from hardwood.data.table import Table
from hardwood.problem import Split
from hardwood.solvers.mio.model import MainProblem, Row, TreeVariables, at_most, shares_at
from hardwood.trees.attack import Attack
from hardwood.trees.tree import Branch, Node, Tree

# Solvers satisfy linear constraints to within 1e-6; a smaller violation would be separated again without end.
TOLERANCE = 1e-5
MAX_NONZEROS = 200_000  # in the cuts of single samples for one proposal; more would take too long for a time limit


@dataclass(frozen=True, slots=True)
class Proposal:
    """A tree that the solver proposes.

    Parameters
    ----------
    attack : Attack
        The attack on the tree.
    cuts : list of Row
        The constraints that the proposed values violate.
    """

    attack: Attack
    cuts: list[Row]


class PathCuts:
    """The paths of samples in a tree, and the cuts that follow from them."""

    def __init__(self, tree_variables: TreeVariables, n_variables: int) -> None:
        self._tree = tree_variables
        self._n_variables = n_variables

    def cut(self, target: NDArray[np.intp], reach: FloatArray) -> Row:
        """Return the cut "the sum of the target variables is at most the reach"."""
        coefficients = -reach
        coefficients[target] += 1.0
        return at_most(np.arange(self._n_variables), coefficients, 0.0)

    def sides(self, table: Table) -> NDArray[np.bool_]:
        """Return whether each sample goes left: samples by splits."""
        sides = np.empty((table.n_samples, len(self._tree.splits)), dtype=bool)
        for k, split in enumerate(self._tree.splits):
            sides[:, k] = split.goes_left(table)
        return sides

    def paths(self, tree: Tree, left: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the nodes on the path of each sample, level by level; 0 below the leaf."""
        depth = self._tree.problem.max_depth
        index = {split: k for k, split in enumerate(self._tree.splits)}
        paths = np.zeros((len(left), depth + 1), dtype=np.intp)

        def walk(node: Node, n: int, level: int, rows: NDArray[np.intp]) -> None:
            paths[rows, level] = n
            if isinstance(node, Branch):
                goes_left = left[rows, index[Split.of(node)]]
                walk(node.left, 2 * n, level + 1, rows[goes_left])
                walk(node.right, 2 * n + 1, level + 1, rows[~goes_left])

        walk(tree.root, 1, 0, np.arange(len(left)))
        return paths

    def reach(self, left: NDArray[np.bool_], paths: NDArray[np.intp], labels: NDArray[np.int32]) -> FloatArray:
        """Return the sum of reach(x, y) over samples, as coefficients of all variables."""
        main = self._tree
        reach = np.zeros(self._n_variables)
        for level in range(paths.shape[1]):
            for n in np.unique(paths[:, level]):
                if n == 0:
                    continue
                at_node = paths[:, level] == n
                reach[main.w[n - 1]] += np.bincount(labels[at_node], minlength=main.n_classes)
                if n > main.n_internal:
                    continue
                goes_left, child = left[at_node], paths[at_node, level + 1]
                off_path = (~goes_left[child == 2 * n]).sum(axis=0) + goes_left[child == 2 * n + 1].sum(axis=0)
                reach[main.b[n - 1]] += np.count_nonzero(child == 0) + off_path
        return reach


class Separation:
    """Finds violated constraints for one main problem."""

    def __init__(self, main: MainProblem) -> None:
        self._main = main
        self._table = main.problem.table
        self._labels = main.problem.labels
        self._cuts = PathCuts(main, main.n_variables)
        self._left = self._cuts.sides(self._table)
        self._representative = np.unique(main.group_of, return_index=True)[1]

    def propose(self, values: FloatArray) -> Proposal:
        """Read the tree of a solution and separate the cuts that its values violate (Algorithm 1 of the paper).

        Cuts of single samples stop at about `MAX_NONZEROS`; the others are found again while they are violated.
        """
        main = self._main
        tree = main.tree(values)
        attack = main.problem.attack(tree)
        cuts = [cut for cut in [self._aggregate(attack)] if is_violated(cut, values)]
        if main.form.per_sample_cuts:
            cuts += self._for_samples(values, self._misclassified(tree, values), self._left, tree, main.t)
        if main.lagrangian:
            rows, margins = self._too_large_shares(attack, values)
            shifted = self._cuts.sides(attack.shift_of(rows).apply())
            cuts += self._for_samples(values, rows, shifted, tree, main.share, margins)
        return Proposal(attack, cuts)

    def _misclassified(self, tree: Tree, values: FloatArray) -> NDArray[np.intp]:
        """Return nominally misclassified samples, one of each group, that the values count as correct."""
        main = self._main
        wrong = tree.predict(self._table) != self._labels.codes
        rows: NDArray[np.intp] = self._representative[wrong[self._representative]]
        claimed: NDArray[np.bool_] = values[main.t[main.group_of[rows], 0]] > TOLERANCE
        return rows[claimed]

    def _too_large_shares(self, attack: Attack, values: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
        """Return samples, one of each group, whose share exceeds that at the multiplier, and all relative margins."""
        main = self._main
        margins = main.relative(attack.margins)
        shares = shares_at(float(values[main.multiplier[0, 0]]), margins)
        too_large = values[main.share[main.group_of, 0]] > shares + TOLERANCE
        return self._representative[(too_large & np.isfinite(margins))[self._representative]], margins

    def _for_samples(
        self,
        values: FloatArray,
        rows: NDArray[np.intp],
        sides: NDArray[np.bool_],
        tree: Tree,
        target: NDArray[np.intp],
        margins: FloatArray | None = None,
    ) -> list[Row]:
        """Return violated cuts of single samples: target <= reach, plus margin * U if margins are given."""
        paths = self._cuts.paths(tree, sides[rows])
        cuts: list[Row] = []
        nonzeros = 0
        for path, i in zip(paths, rows, strict=True):
            reach = self._cuts.reach(sides[i : i + 1], path[None], self._labels.codes[i : i + 1])
            if margins is not None:
                reach[self._main.multiplier[0, 0]] += margins[i]
            cut = self._cuts.cut(target[self._main.group_of[i]], reach)
            if is_violated(cut, values):
                cuts.append(cut)
                nonzeros += len(cut.variables)
            if nonzeros > MAX_NONZEROS:
                break
        return cuts

    def _aggregate(self, attack: Attack) -> Row:
        """Return the aggregate cut for the worst shift; in the lifted form with t for samples that do not move."""
        main = self._main
        shifted = self._cuts.sides(attack.shift.apply())
        paths = self._cuts.paths(attack.tree, shifted)
        if not main.form.lifted:
            reach = self._cuts.reach(shifted, paths, self._labels.codes)
        else:
            moved = np.zeros(main.problem.n_samples, dtype=bool)
            moved[attack.shift.rows] = True
            reach = self._cuts.reach(shifted[moved], paths[moved], self._labels.codes[moved])
            np.add.at(reach, main.t[main.group_of[~moved], 0], 1.0)
        target = main.total if main.form.total else main.t
        return self._cuts.cut(target[:, 0], reach)


def is_violated(cut: Row, values: FloatArray) -> bool:
    """Return whether values violate a cut by more than a solver's tolerance."""
    return cut.activity(values) > cut.upper + TOLERANCE
