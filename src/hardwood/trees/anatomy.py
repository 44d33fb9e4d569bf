"""What happens in each part of a tree: which samples come by, and which of them the adversary turns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardwood.data.features import BELOW_ALL, NO_ANSWER_WORDS, Category, Feature, Kind
from hardwood.data.labels import Labels
from hardwood.shift.calibration import FloatArray
from hardwood.trees.adversary import Attack, plain_number
from hardwood.trees.tree import Leaf, Limit, Node, Region, Tree


@dataclass(frozen=True, eq=False)
class Part:
    """A node of a tree with its samples.

    way    the answers on the way from the root, true for yes (left)
    place  from the top, one line for each leaf; a branching node stands in the middle between its children
    leaf   the number of the leaf from left to right, None for a branching node
    counts samples that come by, for each class
    wrong  samples in this leaf that are wrong as they stand
    lost   samples in this leaf that are right as they stand and wrong after the worst shift (one of the worst shifts)
    within samples in this leaf that are right as they stand and that the budget could turn, each on its own

    Where rows stand for several people, samples are people.
    """

    node: Node
    way: tuple[bool, ...]
    place: float
    leaf: int | None
    counts: FloatArray
    wrong: float
    lost: float
    within: float

    @property
    def n_samples(self) -> float:
        """Samples that come by."""
        return plain_number(float(self.counts.sum()))


def anatomy(found: Attack) -> tuple[Part, ...]:
    """All parts of the tree, a parent before its children, the left side before the right one."""
    tree, table, labels = found.tree, found.uncertainty.costs.table, found.labels
    leaf_of = tree.leaf_of(table)
    predicted = np.array([region.label for region in tree.regions], dtype=np.int32)[leaf_of]
    right = predicted == labels.codes
    people, lost = labels.row_people, found.lost_people
    affordable = found.uncertainty.affords(found.margins)

    def in_leaves(leaves: range) -> NDArray[np.bool_]:
        return (leaf_of >= leaves.start) & (leaf_of < leaves.stop)

    def walk(node: Node, way: tuple[bool, ...], first: int) -> tuple[list[Part], int]:
        if isinstance(node, Leaf):
            here = in_leaves(range(first, first + 1))
            counts = _counts(labels, here)
            whom = ((~right, people), (right, lost), (right & affordable, people))
            numbers = [plain_number(float(amount[here & which].sum())) for which, amount in whom]
            return [Part(node, way, float(first), first, counts, *numbers)], first + 1
        left, middle = walk(node.left, (*way, True), first)
        rest, end = walk(node.right, (*way, False), middle)
        here = in_leaves(range(first, end))
        counts, middle_place = _counts(labels, here), (left[0].place + rest[0].place) / 2
        own = Part(node, way, middle_place, None, counts, 0, 0, 0)
        return [own, *left, *rest], end

    return tuple(walk(tree.root, (), 0)[0])


def _counts(labels: Labels, here: NDArray[np.bool_]) -> FloatArray:
    counts = np.bincount(labels.codes[here], weights=labels.row_people[here], minlength=len(labels.classes))
    return counts.astype(np.int64 if labels.whole else np.float64)


def rule_of(tree: Tree, region: Region) -> list[tuple[str, str]]:
    """What the samples of a leaf have in common: a column and what its answer is, in words."""
    return [
        (tree.features[limit.feature].name, f"is {words_of(tree.features[limit.feature], limit)}")
        for limit in region.limits
    ]


def words_of(feature: Feature, limit: Limit) -> str:
    """The values that a limit allows."""
    if limit.only_missing:
        return NO_ANSWER_WORDS
    if limit.high == BELOW_ALL:
        return "none of its values"
    if feature.missing and not limit.missing and limit.high is None and limit.low in (None, BELOW_ALL + 1):
        return "given"
    words = _answers_of(feature, limit)
    return f"{words} or {NO_ANSWER_WORDS}" if limit.missing else words


def _answers_of(feature: Feature, limit: Limit) -> str:
    low = None if limit.low == BELOW_ALL + 1 else limit.low
    if limit.allowed is not None:
        inside = [category for k, category in enumerate(feature.categories) if k in limit.allowed]
        outside = [category for k, category in enumerate(feature.categories) if k not in limit.allowed]
        if outside and len(outside) < len(inside):
            return f"not {_either(outside)}"
        return _either(inside)
    if feature.kind is Kind.BINNED:
        lowest = feature.edges[low - 1] if low else None
        high = feature.edges[limit.high] if limit.high is not None and limit.high < len(feature.edges) else None
        return _between(lowest, high, "more than")
    if feature.kind is Kind.INTEGER:
        return _between(low, limit.high, "at least")
    return _either(list(feature.categories[low or 0 : None if limit.high is None else limit.high + 1]))


def _between(low: float | None, high: float | None, beyond: str) -> str:
    if low is not None and high is not None and low > high:
        return "none of its values"
    if low is not None and low == high:
        return f"{low!r}"
    ends = [] if low is None else [f"{beyond} {low!r}"]
    ends += [] if high is None else [f"at most {high!r}"]
    return " and ".join(ends) or "any number"


def _either(answers: list[Category]) -> str:
    words = [str(answer) for answer in answers]
    if not words:
        return "none of its answers"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
