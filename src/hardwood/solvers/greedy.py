"""Greedy robust trees for sets without a common budget: one split at a time, each judged by its worst attack.

At a test, a sample is sure to go left, sure to go right, or can be sent either way. Two criteria from the literature:

    chen    Chen, Zhang, Boning and Hsieh 2019: the worst of four attacks (all samples as they stand, all movable ones
            to the left, all to the right, all to the other side)
    groot   Vos and Verwer 2021: the worst of all attacks, by the Gini impurity

Splits are chosen to make that worst impurity small; the samples are then sent where the attack sends them, and what
they can still do is carried along. Fast, without any proof: bounds are those of a tree that gets everything right.

A sample may move wherever it can afford to go on its own. For `UncertaintySet.boxes` this is the whole set; for a set
with a budget it is the set of each row alone, which is larger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardwood.problem import Problem, Test
from hardwood.shift.calibration import FloatArray
from hardwood.solvers.base import DEFAULT_MEMORY, Limits, OnProgress, Result, Run, Start, StopReason, too_many_tests
from hardwood.trees.adversary import limit_prices
from hardwood.trees.tree import Branch, Leaf, Node, Tree

Counts = NDArray[np.float64]  # by class
Possible = list[NDArray[np.bool_]]  # by feature: samples by bins where they can still be
LEAST_GAIN = 1e-9
FINE = 64


class GreedySolver:
    """Grows a tree from the root down; `criterion` is "groot" or "chen"."""

    def __init__(self, criterion: str = "groot") -> None:
        if criterion not in ("groot", "chen"):
            raise ValueError(f'criterion is {criterion!r}; expected "groot" or "chen"')
        self.name = criterion

    def solve(
        self,
        problem: Problem,
        *,
        limits: Limits = Limits(),  # noqa: B008 - immutable
        start: Start = Start(),  # noqa: B008 - immutable
        on_progress: OnProgress | None = None,
        seed: int = 0,  # noqa: ARG002 - nothing is random
        n_jobs: int = 1,  # noqa: ARG002
    ) -> Result:
        """Grow the tree."""
        run = Run(problem, self.name, on_progress, start)
        _refuse_too_large(problem, DEFAULT_MEMORY if limits.memory_bytes is None else limits.memory_bytes)
        growth = _Growth(problem, self.name, lambda: limits.seconds is not None and run.seconds >= limits.seconds)
        tree = Tree(problem.table.features, problem.labels.classes, growth.grown())
        bound = min(float(problem.total), start.objective_bound)
        return run.result(
            tree,
            objective_bound=bound,
            upper_bound=problem.total,
            stop_reason=StopReason.TIME_LIMIT if growth.stopped else StopReason.FINISHED,
            work=growth.n_splits,
        )


def groot_solver() -> GreedySolver:
    """The engine named "groot"."""
    return GreedySolver("groot")


def chen_solver() -> GreedySolver:
    """The engine named "chen"."""
    return GreedySolver("chen")


@dataclass(frozen=True)
class _Split:
    test: Test
    goes_left: NDArray[np.bool_]  # by sample of the node, after the attack
    impurity: float


class _Growth:
    def __init__(self, problem: Problem, criterion: str, is_late: Callable[[], bool]) -> None:
        self._problem = problem
        self._criterion = criterion
        self._is_late = is_late
        self._labels = problem.labels.codes
        self._n_classes = len(problem.labels.classes)
        n_features = len(problem.table.features)
        self._tests = [[test for test in problem.tests if test.feature == j] for j in range(n_features)]
        self._stands_left = {test: test.goes_left(problem.table) for test in problem.tests}
        self._truth = [problem.cells(j)[1] for j in range(n_features)]
        self.n_splits = 0
        self.stopped = False

    def grown(self) -> Node:
        possible = [possible_cells(self._problem, j) for j in range(len(self._tests))]
        everybody = np.arange(self._problem.n_samples)
        return self._node(everybody, everybody, possible, self._problem.max_depth)

    def _node(self, rows: NDArray[np.intp], standing: NDArray[np.intp], possible: Possible, levels: int) -> Node:
        """A subtree for the rows that the attack sends here; `standing` are those that are here as the table stands."""
        counts = np.bincount(self._labels[rows], minlength=self._n_classes).astype(float)
        leaf = Leaf(int(counts.argmax()))
        if levels == 0 or len(rows) < 2 or counts.max() == len(rows):
            return leaf
        split = self._best_split(rows, standing, possible)
        if split is None or split.impurity > gini(counts) - LEAST_GAIN * len(rows):
            return leaf
        self.n_splits += 1
        on_left = self._stands_left[split.test][standing]
        left = self._node(rows[split.goes_left], standing[on_left], self._part(possible, split, left=True), levels - 1)
        right = self._node(
            rows[~split.goes_left], standing[~on_left], self._part(possible, split, left=False), levels - 1
        )
        # A purer leaf is no reason for a test if the prediction is the same.
        if isinstance(left, Leaf) and left == right:
            return left
        return Branch(split.test.feature, split.test.code, left, right, split.test.missing_left)

    def _part(self, possible: Possible, split: _Split, *, left: bool) -> Possible:
        rows = split.goes_left if left else ~split.goes_left
        part = [cells[rows] for cells in possible]
        j = split.test.feature
        on_left = self._truth[j][self._tests[j].index(split.test)]
        part[j] = part[j] & (on_left if left else ~on_left)
        return part

    def _leaves_enough(self, test: Test, standing: NDArray[np.intp]) -> bool:
        n_left = int(np.count_nonzero(self._stands_left[test][standing]))
        return min(n_left, len(standing) - n_left) >= self._problem.min_samples_leaf

    def _best_split(self, rows: NDArray[np.intp], standing: NDArray[np.intp], possible: Possible) -> _Split | None:
        best: _Split | None = None
        for j, cells in enumerate(possible):
            lefts, rights = sides_of_tests(cells, self._truth[j])
            for k, test in enumerate(self._tests[j]):
                if self.stopped or self._is_late():
                    self.stopped = True
                    return best
                if not self._leaves_enough(test, standing):
                    continue
                split = self._judged(rows, test, lefts[:, k], rights[:, k])
                if split is not None and (best is None or split.impurity < best.impurity - 1e-12):
                    best = split
        return best

    def _judged(
        self, rows: NDArray[np.intp], test: Test, can_left: NDArray[np.bool_], can_right: NDArray[np.bool_]
    ) -> _Split | None:
        """The test with its worst attack; None if nobody is sure to be on one of its sides."""
        movable = can_left & can_right
        if not (can_left & ~movable).any() or not (can_right & ~movable).any():
            return None
        labels = self._labels[rows]
        stands_left = self._stands_left[test][rows]
        if self._criterion == "chen":
            attacks = [np.where(movable, choice, can_left) for choice in (stands_left, True, False, ~stands_left)]
            judged = [(self._impurity(labels, goes_left), k) for k, goes_left in enumerate(attacks)]
            impurity, worst = max(judged, key=lambda entry: (entry[0], -entry[1]))
            return _Split(test, attacks[worst], impurity)
        sent = worst_attack(
            np.bincount(labels[can_left & ~movable], minlength=self._n_classes).astype(float),
            np.bincount(labels[can_right & ~movable], minlength=self._n_classes).astype(float),
            np.bincount(labels[movable], minlength=self._n_classes).astype(float),
        )
        goes_left = can_left & ~movable
        for k, n in enumerate(sent):
            own = np.flatnonzero(movable & (labels == k))
            # Whoever stands on the left already goes there first.
            own = own[np.argsort(~stands_left[own], kind="stable")]
            goes_left[own[: int(n)]] = True
        return _Split(test, goes_left, self._impurity(labels, goes_left))

    def _impurity(self, labels: NDArray[np.int32], goes_left: NDArray[np.bool_]) -> float:
        left = np.bincount(labels[goes_left], minlength=self._n_classes).astype(float)
        return gini(left) + gini(np.bincount(labels, minlength=self._n_classes) - left)


def possible_cells(problem: Problem, feature: int) -> NDArray[np.bool_]:
    """Where each sample can be after a shift that it can pay for alone: samples by cells of a feature."""
    cells = [limit_prices(problem.uncertainty, limit) for limit in problem.cells(feature)[0]]
    return np.asarray(problem.uncertainty.affords(np.column_stack(cells)))


def sides_of_tests(cells: NDArray[np.bool_], truth: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Who can be where each test is true, and who where it is not: samples by tests."""
    can_be = cells.astype(np.float32)
    return can_be @ truth.T.astype(np.float32) > 0, can_be @ (~truth).T.astype(np.float32) > 0


def _refuse_too_large(problem: Problem, memory: float) -> None:
    """Count before anything is listed: for each sample and test, two or three flags."""
    needed = 3.0 * problem.n_samples * problem.n_tests
    if needed > memory:
        raise too_many_tests(problem, problem.n_samples, needed, memory)


def gini(counts: Counts) -> float:
    """The Gini impurity times the number of samples: n - sum of squares / n."""
    n = float(counts.sum())
    return n - float((counts**2).sum()) / n if n else 0.0


def worst_attack(left: Counts, right: Counts, movable: Counts) -> Counts:
    """How many movable samples of each class to send left so that the Gini impurity of both sides is largest.

    The impurity is concave in what is sent (sums of squares over sums are convex). For two classes, the best number of
    the second class, given the first, is the one that gives both sides the same mixture, as near as can be. For more
    classes, with the number sent in total fixed, the classes do not interact, and each sample is sent where it adds
    most. Both are exact; only with more than `FINE` movable samples of three classes and more, the total is refined
    from a grid instead of trying each.
    """
    if len(left) == 2:
        return _worst_of_two(left, right, movable)
    n_movable = int(movable.sum())
    step = max(1, n_movable // FINE)
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
    """The same with the number sent left given: the sum of squares grows least by the smallest increments."""
    n_left, n_right = float(left.sum()) + total, float((right + movable).sum()) - total
    classes = np.repeat(np.arange(len(left)), movable.astype(int))
    nth = np.concatenate([np.arange(int(m)) for m in movable])
    # Sending one more of class k, when l are there: (2 l + 1) / n_left - (2 r - 1) / n_right, with r left on the right.
    there = left[classes] + nth
    increments = np.zeros(len(classes))
    if n_left:
        increments += (2 * there + 1) / n_left
    if n_right:
        increments -= (2 * (left + right + movable)[classes] - 2 * there - 1) / n_right
    chosen = np.argsort(increments, kind="stable")[:total]
    return np.bincount(classes[chosen], minlength=len(left)).astype(float)


def _worst_of_two(left: Counts, right: Counts, movable: Counts) -> Counts:
    total = left + right + movable
    first = np.arange(movable[0] + 1)
    # Equal mixtures: (left[1] + x) / (left[0] + first) = total[1] / total[0]; where total[0] is 0 nothing matters.
    wanted = total[1] / total[0] * (left[0] + first) - left[1] if total[0] else np.zeros_like(first)
    second = np.clip(np.concatenate([np.floor(wanted), np.ceil(wanted)]), 0, movable[1])
    first = np.concatenate([first, first])
    sides = [(left[0] + first, left[1] + second)]
    sides.append((total[0] - sides[0][0], total[1] - sides[0][1]))
    impurity: FloatArray = np.zeros(len(first))
    for a, b in sides:
        n = a + b
        impurity += np.where(n > 0, n - (a**2 + b**2) / np.where(n > 0, n, 1.0), 0.0)
    best = int(impurity.argmax())
    return np.array([first[best], second[best]])
