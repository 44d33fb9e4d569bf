"""The tree in use, with the same questions and better answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hardwood._support.notebook import InNotebook
from hardwood._support.text import shown
from hardwood.data.labels import encode_labels
from hardwood.estimators.audit import Audit, read_for_audit, said_for
from hardwood.problem import Problem
from hardwood.shift.description import ShiftDescription
from hardwood.solvers.base import Limits
from hardwood.solvers.search import SearchSolver
from hardwood.trees.adversary import attack
from hardwood.trees.tree import Leaf, Node, Tree


@dataclass(frozen=True, eq=False)
class Hardened(InNotebook):
    """A tree before and after its answers were chosen for the worst case. Prints what changes.

    before, after  audits of both, on the same table under the same shifts
    proved         whether no other answers at its leaves keep more in the worst case; where rows may be lost in part,
                   more than `upper_bound`
    upper_bound    none keep more than this
    """

    before: Audit = field(repr=False)
    after: Audit = field(repr=False)
    proved: bool
    upper_bound: float

    @property
    def tree(self) -> Tree:
        """The tree with the new answers."""
        return self.after.tree

    def changes(self) -> list[dict[str, Any]]:
        """Leaves with another answer now: the way to it, from, to, and the rows that stand there."""
        old, new = self.before.tree, self.after.tree
        held = np.bincount(old.leaf_of(self.after.found.table), minlength=len(old.regions))
        return [
            {
                "leaf": " and ".join(
                    old.condition(branch) if left else f"not ({old.condition(branch)})" for branch, left in path
                ),
                "from": old.classes[was.label],
                "to": new.classes[now.label],
                "rows": int(rows),
            }
            for path, was, now, rows in zip(old.paths, old.regions, new.regions, held, strict=True)
            if was.label != now.label
        ]

    def __str__(self) -> str:
        before, after = self.before, self.after
        most = f"No other answers keep more than {self.upper_bound / after.found.total:.2%}"
        counted = after.found.labels.counted
        best = (
            ("No other answers keep more: proved" if counted else most) if self.proved else "Better answers may exist"
        )
        lines = [
            f"worst case {before.worst_case_accuracy:.1%} -> {after.worst_case_accuracy:.1%}, as the table stands "
            f"{before.nominal_accuracy:.1%} -> {after.nominal_accuracy:.1%} "
            f"({after.everybody}, {after.shifts}).",
            f"{best}.",
        ]
        changes = self.changes()
        lines.append("Other answers:" if changes else "No answer changes.")
        for entry in changes:
            what = f"{shown(entry['from'])} -> {shown(entry['to'])}"
            lines.append(f"  {what} ({entry['rows']:,} rows) where {shown(entry['leaf'])}")
        return "\n".join([*lines, "", str(self.tree)])


def harden(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    shifts: ShiftDescription | None = None,
    feature_kinds: Any = None,
    max_bins: int = 10,
    class_weight: Any = None,
    missing_values: Any = None,
    time_limit: float | None = 60,
    **words: Any,
) -> Hardened:
    """Keep the questions of a tree, and choose the answers at its leaves so that the worst case is best.

    All arguments are those of `audit`, which says what the adversary does to the tree as it is; X lies in memory.

    time_limit  seconds after which the best answers so far are returned
    """
    model, said, class_weight = said_for(model, shifts, words, class_weight)
    tree, table = read_for_audit(model, X, feature_kinds, max_bins, missing_values)
    labels = encode_labels(y, table.n_samples, classes=tree.classes, weights=sample_weight, class_weight=class_weight)
    problem = Problem(labels, said.uncertainty(table, people=labels.people), tree.depth, 0.0)
    found = SearchSolver().relabelled(problem, tree, limits=Limits(seconds=time_limit))
    before = attack(tree, labels, problem.uncertainty)
    new = found.tree
    if problem.in_part:  # the search rounds values up, so answers that are a little better may be left
        new = max((_climbed(problem, start) for start in (found.tree, tree)), key=lambda own: _kept(problem, own))
    best = _fewest_changes(problem, tree, new)
    after = attack(best, labels, problem.uncertainty)
    if after.worst_case_correct <= before.worst_case_correct:
        after = before
    return Hardened(
        Audit(before, said, class_weight), Audit(after, said, class_weight), found.proved, found.upper_bound
    )


def _kept(problem: Problem, tree: Tree) -> float:
    return problem.judged(tree).worst_case_correct


def _climbed(problem: Problem, tree: Tree) -> Tree:
    """Answers changed one by one, as long as that keeps more."""
    better = True
    while better:
        better = False
        for leaf, label in itertools.product(range(len(tree.regions)), range(len(tree.classes))):
            other = _with_answer(tree, leaf, label)
            if _kept(problem, other) > _kept(problem, tree):
                tree, better = other, True
    return tree


def _with_answer(tree: Tree, leaf: int, label: int) -> Tree:
    labels = [region.label for region in tree.regions]
    labels[leaf] = label
    return replace(tree, root=_with_labels(tree.root, iter(labels)))


def _fewest_changes(problem: Problem, old: Tree, new: Tree) -> Tree:
    """The new answers, but the old one wherever that makes no difference, leaf after leaf."""
    worth = _kept(problem, new)
    for leaf, (was, now) in enumerate(zip(old.regions, new.regions, strict=True)):
        if was.label == now.label:
            continue
        other = _with_answer(new, leaf, was.label)
        if _kept(problem, other) >= worth:
            new = other
    return new


def _with_labels(node: Node, labels: Iterator[int]) -> Node:
    """A subtree with labels for its leaves from left to right."""
    if isinstance(node, Leaf):
        return Leaf(next(labels))
    left = _with_labels(node.left, labels)
    return replace(node, left=left, right=_with_labels(node.right, labels))
