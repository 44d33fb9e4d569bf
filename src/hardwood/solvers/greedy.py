"""Greedy robust trees for uncertainty sets without a common budget: one split at a time, rated by its worst attack.

At a split, a sample always goes left, always goes right, or is movable. Two criteria from the literature:

    chen    Chen, Zhang, Boning and Hsieh 2019: the worst of four attacks (no shift, all movable samples to the left,
            all to the right, all to the other side)
    groot   Vos and Verwer 2021: the worst of all attacks, by the Gini impurity

The split with the smallest worst impurity is chosen. The samples then go where the attack sends them, with the values
that they can still have. The method is fast but proves nothing: its bounds are those of a tree without errors.

A sample may move wherever it can afford to move alone. For `UncertaintySet.boxes` this is the whole set; for a set with
a budget, each row may spend all of it, which is a larger set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arrays import FloatArray
from hardwood.problem import MinLeafSize, Problem, Split
from hardwood.solvers.base import (
    DEFAULT_MEMORY,
    Result,
    StopReason,
    memory_limit_error,
)
from hardwood.solvers.run import BaseSolver, RunOptions
from hardwood.trees.leaf_costs import limit_costs
from hardwood.trees.tree import Branch, Leaf, Node, Tree

Counts = NDArray[np.float64]  # by class
Possible = list[NDArray[np.bool_]]  # by feature: samples by cells where they can still be
MIN_GAIN = 1e-9  # decrease of the impurity per sample that justifies a split
MAX_TOTALS = 64  # numbers of movable samples that are tried at once


class GreedySolver(BaseSolver):
    """Grows a tree from the root down.

    Parameters
    ----------
    criterion : {"groot", "chen"}, default="groot"
        How splits are rated; also the name of the solver.
    """

    constraints = (MinLeafSize,)

    def __init__(self, criterion: str = "groot") -> None:
        if criterion not in ("groot", "chen"):
            raise ValueError(f'criterion is {criterion!r}; expected "groot" or "chen"')
        self.name = criterion

    def _solve(self, problem: Problem, options: RunOptions) -> Result:
        """Grow the tree; `work` counts its splits."""
        run, limits = options.run_of(problem, self.name), options.limits
        _check_memory(problem, DEFAULT_MEMORY if limits.memory_bytes is None else limits.memory_bytes)
        growth = _Growth(problem, self.name, lambda: limits.seconds is not None and run.seconds >= limits.seconds)
        tree = Tree(problem.table.features, problem.labels.classes, growth.grown())
        bound = min(float(problem.total), options.start.objective_bound)
        return run.result(
            tree,
            objective_bound=bound,
            upper_bound=problem.total,
            stop_reason=StopReason.TIME_LIMIT if growth.stopped else StopReason.FINISHED,
            work=growth.n_splits,
        )


def groot_solver() -> GreedySolver:
    """Return the solver named "groot"."""
    return GreedySolver("groot")


def chen_solver() -> GreedySolver:
    """Return the solver named "chen"."""
    return GreedySolver("chen")


@dataclass(frozen=True)
class _RatedSplit:
    """A split with the impurity of its worst attack."""

    split: Split
    goes_left: NDArray[np.bool_]  # by sample of the node, after the attack
    impurity: float


class _Growth:
    """The growth of one tree."""

    def __init__(self, problem: Problem, criterion: str, is_late: Callable[[], bool]) -> None:
        self._problem = problem
        self._criterion = criterion
        self._is_late = is_late
        self._labels = problem.labels.codes
        self._n_classes = len(problem.labels.classes)
        n_features = len(problem.table.features)
        self._splits = [[split for split in problem.splits if split.feature == j] for j in range(n_features)]
        self._nominally_left = {split: split.goes_left(problem.table) for split in problem.splits}
        self._left_cells = [problem.cells(j)[1] for j in range(n_features)]
        self.n_splits = 0
        self.stopped = False

    def grown(self) -> Node:
        """Return the root of the tree."""
        possible = [possible_cells(self._problem, j) for j in range(len(self._splits))]
        rows = np.arange(self._problem.n_samples)
        return self._node(rows, rows, possible, self._problem.max_depth)

    def _node(self, rows: NDArray[np.intp], nominal: NDArray[np.intp], possible: Possible, levels: int) -> Node:
        """Return a subtree for the rows that the attack sends to it; `nominal` rows reach it without a shift."""
        counts = np.bincount(self._labels[rows], minlength=self._n_classes).astype(float)
        leaf = Leaf(int(counts.argmax()))
        if levels == 0 or len(rows) < 2 or counts.max() == len(rows):
            return leaf
        split = self._best_split(rows, nominal, possible)
        if split is None or split.impurity > gini(counts) - MIN_GAIN * len(rows):
            return leaf
        self.n_splits += 1
        on_left = self._nominally_left[split.split][nominal]
        left = self._node(rows[split.goes_left], nominal[on_left], self._part(possible, split, left=True), levels - 1)
        right = self._node(
            rows[~split.goes_left], nominal[~on_left], self._part(possible, split, left=False), levels - 1
        )
        # A purer leaf does not justify a split if both predictions are the same.
        if isinstance(left, Leaf) and left == right:
            return left
        return Branch(split.split.feature, split.split.code, left, right, split.split.missing_left)

    def _part(self, possible: Possible, split: _RatedSplit, *, left: bool) -> Possible:
        """Return the cells where the samples of one side of a split can still be."""
        rows = split.goes_left if left else ~split.goes_left
        part = [cells[rows] for cells in possible]
        j = split.split.feature
        on_left = self._left_cells[j][self._splits[j].index(split.split)]
        part[j] = part[j] & (on_left if left else ~on_left)
        return part

    def _is_large_enough(self, split: Split, nominal: NDArray[np.intp]) -> bool:
        """Return whether both sides of a split hold enough samples for a leaf."""
        n_left = int(np.count_nonzero(self._nominally_left[split][nominal]))
        return min(n_left, len(nominal) - n_left) >= self._problem.min_samples_leaf

    def _best_split(self, rows: NDArray[np.intp], nominal: NDArray[np.intp], possible: Possible) -> _RatedSplit | None:
        """Return the split with the smallest worst impurity, or the best so far once time is up."""
        best: _RatedSplit | None = None
        for j, cells in enumerate(possible):
            lefts, rights = sides_of_splits(cells, self._left_cells[j])
            for k, split in enumerate(self._splits[j]):
                if self.stopped or self._is_late():
                    self.stopped = True
                    return best
                if not self._is_large_enough(split, nominal):
                    continue
                rated = self._rated(rows, split, lefts[:, k], rights[:, k])
                if rated is not None and (best is None or rated.impurity < best.impurity - 1e-12):
                    best = rated
        return best

    def _rated(
        self, rows: NDArray[np.intp], split: Split, can_left: NDArray[np.bool_], can_right: NDArray[np.bool_]
    ) -> _RatedSplit | None:
        """Return the split with its worst attack; None if no sample is certain to stay on one of its sides."""
        movable = can_left & can_right
        if not (can_left & ~movable).any() or not (can_right & ~movable).any():
            return None
        labels = self._labels[rows]
        nominally_left = self._nominally_left[split][rows]
        if self._criterion == "chen":
            choices = (nominally_left, True, False, ~nominally_left)
            attacks = [np.where(movable, choice, can_left) for choice in choices]
            rated = [(self._impurity(labels, goes_left), k) for k, goes_left in enumerate(attacks)]
            impurity, worst = max(rated, key=lambda entry: (entry[0], -entry[1]))
            return _RatedSplit(split, attacks[worst], impurity)
        sent = worst_attack(
            np.bincount(labels[can_left & ~movable], minlength=self._n_classes).astype(float),
            np.bincount(labels[can_right & ~movable], minlength=self._n_classes).astype(float),
            np.bincount(labels[movable], minlength=self._n_classes).astype(float),
        )
        goes_left = can_left & ~movable
        for k, n in enumerate(sent):
            candidates = np.flatnonzero(movable & (labels == k))
            # Samples that are nominally on the left go there first.
            candidates = candidates[np.argsort(~nominally_left[candidates], kind="stable")]
            goes_left[candidates[: int(n)]] = True
        return _RatedSplit(split, goes_left, self._impurity(labels, goes_left))

    def _impurity(self, labels: NDArray[np.int32], goes_left: NDArray[np.bool_]) -> float:
        left = np.bincount(labels[goes_left], minlength=self._n_classes).astype(float)
        return gini(left) + gini(np.bincount(labels, minlength=self._n_classes) - left)


def possible_cells(problem: Problem, feature: int) -> NDArray[np.bool_]:
    """Return where each sample can be after a shift that it can afford alone: samples by cells of a feature."""
    cells = [limit_costs(problem.uncertainty, limit) for limit in problem.cells(feature)[0]]
    return np.asarray(problem.uncertainty.affords(np.column_stack(cells)))


def sides_of_splits(
    cells: NDArray[np.bool_], left_cells: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which samples can go left and which can go right: samples by splits.

    Parameters
    ----------
    cells : array of bool, samples by cells
        Where each sample can be.
    left_cells : array of bool, splits by cells
        Which cells each split sends to the left.
    """
    can_be = cells.astype(np.float32)
    return can_be @ left_cells.T.astype(np.float32) > 0, can_be @ (~left_cells).T.astype(np.float32) > 0


def _check_memory(problem: Problem, memory: float) -> None:
    """Raise before splits are listed if two or three flags for each sample and split need too much memory."""
    needed = 3.0 * problem.n_samples * problem.n_splits
    if needed > memory:
        raise memory_limit_error(problem, problem.n_samples, needed, memory)


def gini(counts: Counts) -> float:
    """Return the Gini impurity times the number of samples: n - sum of squares / n."""
    n = float(counts.sum())
    return n - float((counts**2).sum()) / n if n else 0.0


def worst_attack(left: Counts, right: Counts, movable: Counts) -> Counts:
    """Return how many movable samples of each class to send left so that the Gini impurity of both sides is largest.

    The impurity is concave in these numbers (sums of squares over sums are convex). For two classes, given the number
    of the first class, the best number of the second gives both sides the same mixture, up to rounding. For more
    classes and a fixed total, the classes do not interact, and each sample is sent where it adds most. Both are exact.
    Only with more than `MAX_TOTALS` movable samples of three or more classes, the total is refined from a grid instead
    of trying each.

    Parameters
    ----------
    left, right : array of float
        Samples of each class that are certain to go left, or right.
    movable : array of float
        Samples of each class that can be on either side.
    """
    if len(left) == 2:
        return _worst_of_two(left, right, movable)
    n_movable = int(movable.sum())
    step = max(1, n_movable // MAX_TOTALS)
    totals = np.unique(np.append(np.arange(0, n_movable + 1, step), n_movable))
    while True:
        attacks = [_worst_with_total(left, right, movable, int(total)) for total in totals]
        best = max(range(len(totals)), key=lambda k: gini(left + attacks[k]) + gini(right + movable - attacks[k]))
        if step == 1:
            return attacks[best]
        around = (max(totals[best] - step, 0), min(totals[best] + step, n_movable))
        step = max(1, step // 8)
        totals = np.arange(around[0], around[1] + 1, step)


def _worst_with_total(left: Counts, right: Counts, movable: Counts, total: int) -> Counts:
    """Return the same for a given total: the smallest increments increase the sum of squares least."""
    n_left, n_right = float(left.sum()) + total, float((right + movable).sum()) - total
    classes = np.repeat(np.arange(len(left)), movable.astype(int))
    nth = np.concatenate([np.arange(int(m)) for m in movable])
    # One more sample of class k to l others on the left: (2 l + 1) / n_left - (2 r - 1) / n_right, r on the right.
    n_same = left[classes] + nth
    increments = np.zeros(len(classes))
    if n_left:
        increments += (2 * n_same + 1) / n_left
    if n_right:
        increments -= (2 * (left + right + movable)[classes] - 2 * n_same - 1) / n_right
    chosen = np.argsort(increments, kind="stable")[:total]
    return np.bincount(classes[chosen], minlength=len(left)).astype(float)


def _worst_of_two(left: Counts, right: Counts, movable: Counts) -> Counts:
    """Return the same for two classes."""
    total = left + right + movable
    first = np.arange(movable[0] + 1)
    # Equal mixtures: (left[1] + x) / (left[0] + first) = total[1] / total[0]; if total[0] is 0, any x is as good.
    target = total[1] / total[0] * (left[0] + first) - left[1] if total[0] else np.zeros_like(first)
    second = np.clip(np.concatenate([np.floor(target), np.ceil(target)]), 0, movable[1])
    first = np.concatenate([first, first])
    sides = [(left[0] + first, left[1] + second)]
    sides.append((total[0] - sides[0][0], total[1] - sides[0][1]))
    impurity: FloatArray = np.zeros(len(first))
    for a, b in sides:
        n = a + b
        impurity += np.where(n > 0, n - (a**2 + b**2) / np.where(n > 0, n, 1.0), 0.0)
    best = int(impurity.argmax())
    return np.array([first[best], second[best]])
