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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hardwood.problem import Problem
from hardwood.shift.calibration import FloatArray
from hardwood.solvers.base import DEFAULT_MEMORY, Limits, OnProgress, Result, Run, Start, StopReason, too_many_tests
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
    feature: int
    code: int
    goes_left: NDArray[np.bool_]  # by sample of the node, after the attack
    impurity: float


class _Growth:
    def __init__(self, problem: Problem, criterion: str, is_late: Callable[[], bool]) -> None:
        self._problem = problem
        self._criterion = criterion
        self._is_late = is_late
        self._labels = problem.labels.codes
        self._n_classes = len(problem.labels.classes)
        self._codes = [[code for f, code in problem.tests if f == j] for j in range(len(problem.table.features))]
        self.n_splits = 0
        self.stopped = False

    def grown(self) -> Node:
        possible = [possible_bins(self._problem, j, codes) for j, codes in enumerate(self._codes)]
        return self._node(np.arange(self._problem.n_samples), possible, self._problem.max_depth)

    def _node(self, rows: NDArray[np.intp], possible: Possible, levels: int) -> Node:
        counts = np.bincount(self._labels[rows], minlength=self._n_classes).astype(float)
        leaf = Leaf(int(counts.argmax()))
        if levels == 0 or len(rows) < 2 or counts.max() == len(rows):
            return leaf
        split = self._best_split(rows, possible)
        if split is None or split.impurity > gini(counts) - LEAST_GAIN * len(rows):
            return leaf
        self.n_splits += 1
        left = self._node(rows[split.goes_left], self._part(possible, split, True), levels - 1)
        right = self._node(rows[~split.goes_left], self._part(possible, split, False), levels - 1)
        # A purer leaf is no reason for a test if the prediction is the same.
        return left if isinstance(left, Leaf) and left == right else Branch(split.feature, split.code, left, right)

    def _part(self, possible: Possible, split: _Split, left: bool) -> Possible:
        rows = split.goes_left if left else ~split.goes_left
        part = [codes[rows] for codes in possible]
        bins = np.arange(part[split.feature].shape[1])
        test = self._codes[split.feature].index(split.code)
        on_left = bins <= test if self._problem.table.features[split.feature].ordered else bins == test
        part[split.feature] = part[split.feature] & (on_left if left else ~on_left)
        return part

    def _best_split(self, rows: NDArray[np.intp], possible: Possible) -> _Split | None:
        best: _Split | None = None
        for j, bins in enumerate(possible):
            lefts, rights = sides_of_tests(bins, self._problem.table.features[j].ordered)
            for k, code in enumerate(self._codes[j]):
                if self.stopped or self._is_late():
                    self.stopped = True
                    return best
                split = self._judged(rows, j, code, lefts[:, k], rights[:, k])
                if split is not None and (best is None or split.impurity < best.impurity - 1e-12):
                    best = split
        return best

    def _judged(
        self, rows: NDArray[np.intp], feature: int, code: int, can_left: NDArray[np.bool_], can_right: NDArray[np.bool_]
    ) -> _Split | None:
        """The test with its worst attack; None if nobody is sure to be on one of its sides."""
        movable = can_left & can_right
        if not (can_left & ~movable).any() or not (can_right & ~movable).any():
            return None
        labels = self._labels[rows]
        values = self._problem.table.values[rows, feature]
        stands_left = values <= code if self._problem.table.features[feature].ordered else values == code
        if self._criterion == "chen":
            attacks = [np.where(movable, choice, can_left) for choice in (stands_left, True, False, ~stands_left)]
            judged = [(self._impurity(labels, goes_left), k) for k, goes_left in enumerate(attacks)]
            impurity, worst = max(judged, key=lambda entry: (entry[0], -entry[1]))
            return _Split(feature, code, attacks[worst], impurity)
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
        return _Split(feature, code, goes_left, self._impurity(labels, goes_left))

    def _impurity(self, labels: NDArray[np.int32], goes_left: NDArray[np.bool_]) -> float:
        left = np.bincount(labels[goes_left], minlength=self._n_classes).astype(float)
        return gini(left) + gini(np.bincount(labels, minlength=self._n_classes) - left)


def possible_bins(problem: Problem, feature: int, codes: Sequence[int]) -> NDArray[np.bool_]:
    """Where each sample can be after a shift that it can pay for alone: samples by what tests of a feature tell apart.

    Ordered: up to the first code, up to the second, ..., beyond the last one; the nearest code there is the cheapest.
    Otherwise: each of the codes, and all others.
    """
    values = problem.table.values[:, feature].astype(np.int64)
    rows = np.arange(len(values))

    def can_be(there: NDArray[np.int64]) -> NDArray[np.bool_]:
        prices = problem.uncertainty.costs.move_prices(feature, rows, there)
        return np.asarray(problem.uncertainty.affords(prices))

    if problem.table.features[feature].ordered:
        ends = [int(values.min()) - 1, *codes, int(values.max())]
        return np.column_stack([can_be(np.clip(values, low + 1, high)) for low, high in pairwise(ends)])
    others = [code for code in range(problem.table.features[feature].n_values) if code not in codes]
    columns = [can_be(np.full(len(rows), code)) for code in codes]
    elsewhere = [can_be(np.full(len(rows), code)) for code in others] or [np.zeros(len(rows), dtype=bool)]
    return np.column_stack([*columns, np.logical_or.reduce(elsewhere)])


def sides_of_tests(bins: NDArray[np.bool_], ordered: bool) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Who can be where each test is true, and who where it is not: samples by tests."""
    if ordered:
        lefts = np.logical_or.accumulate(bins, axis=1)[:, :-1]
        rights = np.logical_or.accumulate(bins[:, ::-1], axis=1)[:, ::-1][:, 1:]
        return lefts, rights
    elsewhere = bins.sum(axis=1, keepdims=True) - bins > 0
    return bins[:, :-1], elsewhere[:, :-1]


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
