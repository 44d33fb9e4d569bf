"""The tree in use, with the same splits and predictions that are chosen for the worst case."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from hardwood._util.notebook import NotebookMixin
from hardwood._util.text import printable
from hardwood._util.types import FittedModel, LabelsLike, PerColumn, TableLike, WeightsLike
from hardwood.data.columns import Category
from hardwood.data.labels import ClassWeight, encode_labels
from hardwood.estimators.any_model import shifts_for, tree_and_table
from hardwood.estimators.audit import Audit
from hardwood.problem import Problem
from hardwood.shifts.models import ShiftModel
from hardwood.solvers.base import Limits
from hardwood.solvers.registry import solver_with_relabelling
from hardwood.trees.attack import attack
from hardwood.trees.tree import Leaf, Node, Tree


@dataclass(frozen=True, eq=False)
class Hardened(NotebookMixin):
    """A tree before and after its predictions were chosen for the worst case. Prints what changes.

    Attributes
    ----------
    before, after : Audit
        Audits of both trees, on the same table under the same shifts.
    proved : bool
        Whether no other predictions at the leaves keep more samples correct in the worst case; where samples may be
        flipped in part, not more than `upper_bound`.
    upper_bound : float
        No predictions at the leaves keep more samples correct.
    """

    before: Audit = field(repr=False)
    after: Audit = field(repr=False)
    proved: bool
    upper_bound: float

    @property
    def tree(self) -> Tree:
        """The tree with the new predictions."""
        return self.after.tree

    def changes(self) -> list[dict[str, Category]]:
        """Return the leaves with a new prediction.

        Returns
        -------
        list of dict
            The conditions of the leaf ("leaf"), the old ("from") and the new prediction ("to"), and the number of
            rows in the leaf without a shift ("rows").
        """
        old, new = self.before.tree, self.after.tree
        n_rows = np.bincount(old.leaf_of(self.after.found.table), minlength=len(old.regions))
        return [
            {
                "leaf": " and ".join(
                    old.condition(branch) if left else f"not ({old.condition(branch)})" for branch, left in path
                ),
                "from": old.classes[old_leaf.label],
                "to": new.classes[new_leaf.label],
                "rows": int(rows),
            }
            for path, old_leaf, new_leaf, rows in zip(old.paths, old.regions, new.regions, n_rows, strict=True)
            if old_leaf.label != new_leaf.label
        ]

    def __str__(self) -> str:
        before, after = self.before, self.after
        lines = [
            f"worst case {before.worst_case_accuracy:.1%} -> {after.worst_case_accuracy:.1%}, without a shift "
            f"{before.nominal_accuracy:.1%} -> {after.nominal_accuracy:.1%} "
            f"({after.sample_text}, {after.shifts}).",
            f"{self._proof_text}.",
        ]
        changes = self.changes()
        lines.append("Other predictions:" if changes else "No prediction changes.")
        for entry in changes:
            change = f"{printable(entry['from'])} -> {printable(entry['to'])}"
            lines.append(f"  {change} ({entry['rows']:,} rows) where {printable(entry['leaf'])}")
        return "\n".join([*lines, "", str(self.tree)])

    @property
    def _proof_text(self) -> str:
        """What is proved about the new predictions."""
        if not self.proved:
            return "Better predictions may exist"
        if self.after.found.labels.integral:
            return "No other predictions keep more: proved"
        return f"No other predictions keep more than {self.upper_bound / self.after.found.total:.2%}"


def harden(
    model: FittedModel,
    X: TableLike,
    y: LabelsLike,
    sample_weight: WeightsLike | None = None,
    *,
    shifts: ShiftModel | None = None,
    feature_kinds: PerColumn = None,
    max_bins: int = 10,
    class_weight: ClassWeight = None,
    missing_values: PerColumn = None,
    time_limit: float | None = 60,
    **shift_parameters: object,
) -> Hardened:
    """Keep the splits of a tree, and choose the predictions at its leaves so that the worst case is best.

    Parameters
    ----------
    model, X, y, sample_weight, shifts, feature_kinds, max_bins, class_weight, missing_values, **shift_parameters
        As in `audit`, which attacks the given tree; X is in memory.
    time_limit : float or None, default=60
        Seconds after which the best predictions so far are returned.

    Returns
    -------
    Hardened
    """
    model, description, class_weight = shifts_for(model, shifts, shift_parameters, class_weight)
    tree, table = tree_and_table(model, X, feature_kinds, max_bins, missing_values)
    labels = encode_labels(y, table.n_samples, classes=tree.classes, weights=sample_weight, class_weight=class_weight)
    problem = Problem(labels, description.uncertainty(table, total_weight=labels.total_weight), tree.depth, 0.0)
    found = solver_with_relabelling().relabel(problem, tree, limits=Limits(seconds=time_limit))
    before = attack(tree, labels, problem.uncertainty)
    new = found.tree
    if problem.fractional:  # the search rounds values up, so it may miss slightly better predictions
        candidates = (_local_search(problem, start) for start in (found.tree, tree))
        new = max(candidates, key=lambda candidate: _worst_case_correct(problem, candidate))
    after = attack(_restore_old_labels(problem, tree, new), labels, problem.uncertainty)
    if after.worst_case_correct <= before.worst_case_correct:
        after = before
    return Hardened(
        Audit(before, description, class_weight),
        Audit(after, description, class_weight),
        found.proved,
        found.upper_bound,
    )


def _worst_case_correct(problem: Problem, tree: Tree) -> float:
    return problem.attack(tree).worst_case_correct


def _local_search(problem: Problem, tree: Tree) -> Tree:
    """Change the label of one leaf at a time, as long as that keeps more samples correct."""
    improved = True
    while improved:
        improved = False
        for leaf, label in itertools.product(range(len(tree.regions)), range(len(tree.classes))):
            candidate = _with_label(tree, leaf, label)
            if _worst_case_correct(problem, candidate) > _worst_case_correct(problem, tree):
                tree, improved = candidate, True
    return tree


def _restore_old_labels(problem: Problem, old: Tree, new: Tree) -> Tree:
    """Restore the old label of each leaf, one after the other, where that loses no sample."""
    required = _worst_case_correct(problem, new)
    for leaf, (old_leaf, new_leaf) in enumerate(zip(old.regions, new.regions, strict=True)):
        if old_leaf.label == new_leaf.label:
            continue
        candidate = _with_label(new, leaf, old_leaf.label)
        if _worst_case_correct(problem, candidate) >= required:
            new = candidate
    return new


def _with_label(tree: Tree, leaf: int, label: int) -> Tree:
    """Return a tree with another label at one leaf."""
    labels = [region.label for region in tree.regions]
    labels[leaf] = label
    return replace(tree, root=_with_labels(tree.root, iter(labels)))


def _with_labels(node: Node, labels: Iterator[int]) -> Node:
    """Return a subtree with these labels at its leaves, from left to right."""
    if isinstance(node, Leaf):
        return Leaf(next(labels))
    left = _with_labels(node.left, labels)
    return replace(node, left=left, right=_with_labels(node.right, labels))
