"""What else one might have used: the ordinary optimal tree, CART, and the majority answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hardwood.certificate import Certificate, is_about
from hardwood.data.features import BELOW_ALL, NO_ANSWER, Table
from hardwood.problem import Problem
from hardwood.shift.uncertainty import UncertaintySet
from hardwood.solvers import solve
from hardwood.solvers.base import Limits, Status, StopReason, best_leaf
from hardwood.trees.tree import Branch, Leaf, Node, Tree

SECONDS = 20.0  # for the ordinary optimal tree
MAJORITY = "majority answer"


def rivals(problem: Problem, certificate: Certificate | None) -> dict[str, Tree]:
    """Trees of the same depth from the same table, by name.

    certificate  of the tree that they stand beside. If it is about another table, only the majority answer is a fair
                 rival: trees that were learnt from this table have an advantage over one that was not.
    """
    if not is_about(certificate, problem.table, problem.labels):
        return {MAJORITY: best_leaf(problem)}
    still = UncertaintySet.boxes(problem.table, radius=0)
    ordinary = Problem(problem.labels, still, problem.max_depth, min_samples_leaf=problem.min_samples_leaf)
    found = solve(ordinary, limits=Limits(seconds=SECONDS))
    if found.stop_reason is StopReason.INTERRUPTED:
        raise KeyboardInterrupt  # whoever asked for a report wants no other one
    proved = found.status is not Status.FEASIBLE
    name = "ordinary optimal tree" if proved else f"best ordinary tree in {SECONDS:g} seconds"
    return {name: found.tree, "CART": cart(problem), MAJORITY: best_leaf(problem)}


def cart(problem: Problem) -> Tree:
    """scikit-learn's greedy tree, which sees a column of 0 and 1 for each answer of a categorical column."""
    from sklearn.tree import DecisionTreeClassifier

    table = problem.table
    columns = list(_columns(table))
    design = np.column_stack([_numbers(table, j, code) for j, code in columns])
    if problem.max_depth == 0:
        return best_leaf(problem)
    labels = problem.labels
    worth = None if labels.weights is None and labels.worth is None else labels.row_people * labels.row_worth
    least_leaf = max(1, problem.min_samples_leaf)
    model = DecisionTreeClassifier(max_depth=problem.max_depth, min_samples_leaf=least_leaf, random_state=0)
    model.fit(design, labels.codes, sample_weight=worth)
    fitted = model.tree_

    def read(at: int) -> Node:
        if fitted.children_left[at] == fitted.children_right[at]:
            return Leaf(int(model.classes_[fitted.value[at].argmax()]))
        j, code = columns[fitted.feature[at]]
        low, high = read(int(fitted.children_left[at])), read(int(fitted.children_right[at]))
        if code is None:
            return _threshold(table, j, fitted, at, low, high)
        return Branch(j, code, high, low)  # 1 stands for the answer: yes, to the left

    return Tree(table.features, problem.labels.classes, read(0))


def _threshold(table: Table, j: int, fitted: Any, at: int, low: Node, high: Node) -> Node:
    """A test of a column with an order; without an answer, it goes where scikit-learn sends it."""
    threshold, missing_left = fitted.threshold[at], bool(fitted.missing_go_to_left[at])
    if not np.isfinite(threshold):  # all answers go left, no answer right
        return Branch(j, BELOW_ALL, high, low, True)
    return Branch(j, int(np.floor(threshold)), low, high, table.features[j].missing and missing_left)


def _columns(table: Table) -> Iterator[tuple[int, int | None]]:
    """Features, and for a categorical one each of its answers."""
    for j, feature in enumerate(table.features):
        if feature.ordered:
            yield j, None
        else:
            yield from ((j, code) for code in range(feature.n_values))


def _numbers(table: Table, j: int, code: int | None) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    values = table.values[:, j]
    numbers = np.asarray(values if code is None else values == code, dtype=np.float64)
    return np.where(values == NO_ANSWER, np.nan, numbers) if table.features[j].missing else numbers
