"""Baselines to compare a tree with: the ordinary optimal tree, CART, and the majority class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hardwood.certificate import Certificate, is_about
from hardwood.data.codes import BELOW_ALL, MISSING_CODE
from hardwood.data.table import Table
from hardwood.problem import Goal, Problem
from hardwood.shifts.uncertainty_set import UncertaintySet
from hardwood.solvers import solve
from hardwood.solvers.base import Limits, Status, StopReason, best_leaf
from hardwood.trees.tree import Branch, Leaf, Node, Tree

if TYPE_CHECKING:
    from sklearn.tree._tree import Tree as SklearnTree

_SECONDS = 20.0  # for the ordinary optimal tree
_MAJORITY = "majority answer"  # in the words of the report


def baselines(problem: Problem, certificate: Certificate | None) -> dict[str, Tree]:
    """Learn baseline trees of the same depth from the same table.

    Parameters
    ----------
    problem : Problem
        The table, labels, depth and constraints.
    certificate : Certificate or None
        Certificate of the tree to compare with. If it is about another table, only the majority class is a fair
        baseline: trees that are learnt from this table have an advantage over a tree that is not.

    Returns
    -------
    dict of Tree
        The trees by name, without those that the problem does not admit.
    """
    if not is_about(certificate, problem.table, problem.labels):
        return {_MAJORITY: best_leaf(problem)}
    no_shift = UncertaintySet.boxes(problem.table, radius=0)
    ordinary = replace(problem, uncertainty=no_shift, branch_penalty=None, goal=Goal.ROBUST)
    found = solve(ordinary, limits=Limits(seconds=_SECONDS))
    if found.stop_reason is StopReason.INTERRUPTED:
        raise KeyboardInterrupt  # a report with an unfinished baseline would be misleading
    proved = found.status is not Status.FEASIBLE
    name = "ordinary optimal tree" if proved else f"best ordinary tree in {_SECONDS:g} seconds"
    trees = {name: found.tree, "CART": cart(problem), _MAJORITY: best_leaf(problem)}
    return {name: tree for name, tree in trees.items() if problem.admits(tree)}  # CART knows leaf sizes only


def cart(problem: Problem) -> Tree:
    """Learn scikit-learn's greedy tree.

    Parameters
    ----------
    problem : Problem
        The table, labels, depth and smallest leaf. CART sees a categorical column as one 0/1 column for each category.

    Returns
    -------
    Tree
    """
    from sklearn.tree import DecisionTreeClassifier

    table = problem.table
    columns = list(_design_columns(table))
    design = np.column_stack([_design_column(table, j, code) for j, code in columns])
    if problem.max_depth == 0:
        return best_leaf(problem)
    labels = problem.labels
    unweighted = labels.weights is None and labels.class_weights is None
    min_leaf = max(1, problem.min_samples_leaf)
    model = DecisionTreeClassifier(max_depth=problem.max_depth, min_samples_leaf=min_leaf, random_state=0)
    model.fit(
        design, labels.codes, sample_weight=None if unweighted else labels.sample_weights * labels.sample_class_weights
    )
    fitted = model.tree_

    def read(at: int) -> Node:
        if fitted.children_left[at] == fitted.children_right[at]:
            return Leaf(int(model.classes_[fitted.value[at].argmax()]))
        j, code = columns[fitted.feature[at]]
        low, high = read(int(fitted.children_left[at])), read(int(fitted.children_right[at]))
        if code is None:
            return _threshold_branch(table, j, fitted, at, low, high)
        return Branch(j, code, high, low)  # 1 means "equals the category", which goes left here

    return Tree(table.features, problem.labels.classes, read(0))


def _threshold_branch(table: Table, j: int, fitted: SklearnTree, at: int, low: Node, high: Node) -> Node:
    """Return a split of an ordered column; missing values go where scikit-learn sends them."""
    threshold, missing_left = fitted.threshold[at], bool(fitted.missing_go_to_left[at])
    if not np.isfinite(threshold):  # all values go left, missing ones right
        return Branch(j, BELOW_ALL, high, low, True)
    return Branch(j, int(np.floor(threshold)), low, high, table.features[j].missing and missing_left)


def _design_columns(table: Table) -> Iterator[tuple[int, int | None]]:
    """Yield the columns that CART sees: a feature, and for a categorical one each of its categories."""
    for j, feature in enumerate(table.features):
        if feature.ordered:
            yield j, None
        else:
            yield from ((j, code) for code in range(feature.n_values))


def _design_column(table: Table, j: int, code: int | None) -> NDArray[np.float64]:
    """Return the numbers of such a column, with nan for missing values."""
    values = table.values[:, j]
    numbers = np.asarray(values if code is None else values == code, dtype=np.float64)
    return np.where(values == MISSING_CODE, np.nan, numbers) if table.features[j].missing else numbers
