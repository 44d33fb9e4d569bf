"""Samples in each part of a tree: how many pass a node, and which of them the adversary flips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arrays import FloatArray
from hardwood._util.deprecation import renamed_attributes
from hardwood.data.codes import BELOW_ALL
from hardwood.data.columns import Category
from hardwood.data.feature import MISSING_TEXT, Feature, Kind
from hardwood.data.labels import Labels
from hardwood.trees.attack import Attack
from hardwood.trees.nodes import Leaf, Limit, Node, Region
from hardwood.trees.shift import plain_number
from hardwood.trees.tree import Tree


@renamed_attributes(lost="flipped", within="flippable")
@dataclass(frozen=True, eq=False)
class NodeStats:
    """A node of a tree with its samples; amounts are sample weights.

    Parameters
    ----------
    node : Node
    way : tuple of bool
        Sides from the root to the node, true for left (yes).
    place : float
        Vertical position in a drawing that has one line for each leaf; a branching node is in the middle between its
        children.
    leaf : int or None
        Number of the leaf from left to right; None for a branching node.
    counts : ndarray
        Samples that pass the node, for each class.
    wrong : float
        Samples of the leaf that are misclassified without a shift.
    flipped : float
        Samples of the leaf that are correct without a shift and misclassified after the worst shift (one of the worst
        shifts).
    flippable : float
        Samples of the leaf that are correct without a shift and that the whole budget could flip, each on its own.
    """

    node: Node
    way: tuple[bool, ...]
    place: float
    leaf: int | None
    counts: FloatArray
    wrong: float
    flipped: float
    flippable: float

    @property
    def n_samples(self) -> float:
        """Samples that pass the node."""
        return plain_number(float(self.counts.sum()))


def node_stats(found: Attack) -> tuple[NodeStats, ...]:
    """Count the samples of each node of an attacked tree.

    Parameters
    ----------
    found : Attack

    Returns
    -------
    stats : tuple of NodeStats
        Nodes in preorder: a parent before its children, the left subtree before the right one.
    """
    tree, labels = found.tree, found.labels
    leaf_of = tree.leaf_of(found.table)
    predicted = np.array([region.label for region in tree.regions], dtype=np.int32)[leaf_of]
    correct = predicted == labels.codes
    weights, lost = labels.sample_weights, found.lost_weight
    affordable = found.uncertainty.affords(found.margins)
    # Wrong, flipped and flippable: which rows count, and how much of each.
    amounts = ((~correct, weights), (correct, lost), (correct & affordable, weights))

    def in_leaves(leaves: range) -> NDArray[np.bool_]:
        return (leaf_of >= leaves.start) & (leaf_of < leaves.stop)

    def visit(node: Node, way: tuple[bool, ...], first: int) -> tuple[list[NodeStats], int]:
        """Statistics of a subtree whose leftmost leaf is the given one, and the leaf that follows the subtree."""
        if isinstance(node, Leaf):
            rows = in_leaves(range(first, first + 1))
            numbers = [plain_number(float(amount[rows & mask].sum())) for mask, amount in amounts]
            return [NodeStats(node, way, float(first), first, _class_counts(labels, rows), *numbers)], first + 1
        left, middle = visit(node.left, (*way, True), first)
        right, end = visit(node.right, (*way, False), middle)
        counts = _class_counts(labels, in_leaves(range(first, end)))
        place = (left[0].place + right[0].place) / 2
        return [NodeStats(node, way, place, None, counts, 0, 0, 0), *left, *right], end

    return tuple(visit(tree.root, (), 0)[0])


def _class_counts(labels: Labels, rows: NDArray[np.bool_]) -> FloatArray:
    counts = np.bincount(labels.codes[rows], weights=labels.sample_weights[rows], minlength=len(labels.classes))
    return counts.astype(np.int64 if labels.has_integer_weights else np.float64)


def rule_of(tree: Tree, region: Region) -> list[tuple[str, str]]:
    """Describe the samples of a leaf.

    Parameters
    ----------
    tree : Tree
    region : Region
        Region of the leaf, from `Tree.regions`.

    Returns
    -------
    rule : list of (str, str)
        For each limit, the name of the column and a text such as "is at most 30".
    """
    return [
        (tree.features[limit.feature].name, f"is {limit_text(tree.features[limit.feature], limit)}")
        for limit in region.limits
    ]


def limit_text(feature: Feature, limit: Limit) -> str:
    """Describe the values that meet a limit, such as "at most 30"."""
    if limit.only_missing:
        return MISSING_TEXT
    if limit.high == BELOW_ALL:
        return "an impossible value"
    if feature.missing and not limit.missing and limit.high is None and limit.low in (None, BELOW_ALL + 1):
        return "given"
    values = _values_text(feature, limit)
    return f"{values} or {MISSING_TEXT}" if limit.missing else values


def _values_text(feature: Feature, limit: Limit) -> str:
    low = None if limit.low == BELOW_ALL + 1 else limit.low
    if limit.allowed is not None:
        inside = [category for k, category in enumerate(feature.categories) if k in limit.allowed]
        outside = [category for k, category in enumerate(feature.categories) if k not in limit.allowed]
        if outside and len(outside) < len(inside):
            return f"not {_either_text(outside)}"
        return _either_text(inside)
    if feature.kind is Kind.BINNED:
        lowest = feature.edges[low - 1] if low else None
        high = feature.edges[limit.high] if limit.high is not None and limit.high < len(feature.edges) else None
        return _range_text(lowest, high, "more than")
    if feature.kind is Kind.INTEGER:
        return _range_text(low, limit.high, "at least")
    return _either_text(feature.categories[low or 0 : None if limit.high is None else limit.high + 1])


def _range_text(low: float | None, high: float | None, low_text: str) -> str:
    if low is not None and high is not None and low > high:
        return "an impossible value"
    if low is not None and low == high:
        return f"{low!r}"
    ends = [] if low is None else [f"{low_text} {low!r}"]
    ends += [] if high is None else [f"at most {high!r}"]
    return " and ".join(ends) or "any number"


def _either_text(categories: Sequence[Category]) -> str:
    texts = [str(category) for category in categories]
    if not texts:
        return "an impossible value"
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"
