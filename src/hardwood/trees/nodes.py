"""Nodes of a tree, and the regions of the domain that reach its leaves.

A branching node sends a sample to the left iff

    value <= code       ordered features (a threshold)
    value == code       categorical features (a category)

and to the right otherwise. A sample whose value of an ordered feature is missing goes to the left iff the node has
`missing_left`. No value is below the threshold `BELOW_ALL`, so a node with that threshold separates missing values from
all others. This is the only place in Python that states the rule; the compiled trees follow it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hardwood.data.codes import BELOW_ALL, MAX_CODE
from hardwood.data.columns import Category
from hardwood.data.feature import Feature, Kind

MAX_DEPTH = 200  # deeper trees would exhaust the stack of recursive functions


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf, which predicts a class.

    Parameters
    ----------
    label : int
        Position of the class among the classes of the tree.
    """

    label: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A branching node, which holds a split (see the docstring of this module).

    Parameters
    ----------
    feature : int
        Position of the feature among the features of the tree.
    code : int
        Threshold of an ordered feature, or category of a categorical one.
    left, right : Node
        Children of the node.
    missing_left : bool, default=False
        Whether missing values of an ordered feature go to the left.
    """

    feature: int
    code: int
    left: Node
    right: Node
    missing_left: bool = False


Node: TypeAlias = Leaf | Branch
Path: TypeAlias = tuple[tuple[Branch, bool], ...]
"""Branching nodes from the root to a node, each with whether the path goes left."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Demand of a region on one feature: a range of codes, or a set of categories.

    Parameters
    ----------
    feature : int
        Position of the feature.
    low, high : int or None, default=None
        Smallest and largest code of an ordered feature; None leaves the range open.
    allowed : frozenset of int or None, default=None
        Codes of the categories of a categorical feature.
    missing : bool, default=False
        Whether a missing value of an ordered feature meets the limit.
    """

    feature: int
    low: int | None = None
    high: int | None = None
    allowed: frozenset[int] | None = None
    missing: bool = False

    @property
    def only_missing(self) -> bool:
        """Whether only missing values meet the limit."""
        if not self.missing or self.high is None:
            return False
        return self.high == BELOW_ALL or (self.low is not None and self.low > self.high)


@dataclass(frozen=True, slots=True)
class Region:
    """Part of the domain that reaches a leaf.

    Parameters
    ----------
    label : int
        Label of the leaf.
    limits : tuple of Limit
        Limits on the features of the splits on the path to the leaf.
    """

    label: int
    limits: tuple[Limit, ...]


def walk(root: Node) -> Iterator[tuple[Node, Path]]:
    """Yield the nodes of a subtree in preorder, each with the path to it."""
    stack: list[tuple[Node, Path]] = [(root, ())]
    while stack:
        node, path = stack.pop()
        yield node, path
        if isinstance(node, Branch):
            stack.append((node.right, (*path, (node, False))))
            stack.append((node.left, (*path, (node, True))))


def region_limits(features: Sequence[Feature], path: Path) -> tuple[Limit, ...]:
    """Limits that a path puts on the features of its splits."""
    limits: dict[int, Limit] = {}
    for branch, left in path:
        j, code = branch.feature, branch.code
        limit = limits.get(j, Limit(j, missing=features[j].missing))
        missing = limit.missing and branch.missing_left == left
        if not features[j].ordered:
            allowed = limit.allowed if limit.allowed is not None else frozenset(range(features[j].n_values))
            limits[j] = Limit(j, allowed=allowed & {code} if left else allowed - {code})
        elif left:
            limits[j] = Limit(j, limit.low, code if limit.high is None else min(limit.high, code), missing=missing)
        else:
            low = code + 1 if limit.low is None else max(limit.low, code + 1)
            limits[j] = Limit(j, low, limit.high, missing=missing)
    return tuple(limits.values())


def check_branch(feature: Feature, branch: Branch) -> None:
    """Refuse a split that leaves one side without values.

    Raises
    ------
    ValueError
        If the code does not separate values of the feature, or if the node has `missing_left` although the feature has
        no missing values.
    """
    code = branch.code
    if branch.missing_left and not feature.missing:
        raise ValueError(f'a node sends missing values of "{feature.name}" to the left; the column has none')
    if branch.missing_left and code == BELOW_ALL:
        return
    last = {Kind.INTEGER: MAX_CODE, Kind.CATEGORICAL: feature.high}.get(feature.kind, feature.high - 1)
    first = -MAX_CODE if feature.kind is Kind.INTEGER else 0
    if not isinstance(code, int) or not first <= code <= last:
        raise ValueError(
            f'a node splits "{feature.name}" at code {code!r}; expected a whole number from {first} to {last} '
            f"so that both sides have values"
        )


def comparison_sign(feature: Feature) -> str:
    """Sign of the comparison in a split of the feature: "<=" or "=="."""
    return "<=" if feature.ordered else "=="


def split_values(feature: Feature) -> Sequence[Category]:
    """Values by code as splits of a feature name them: upper edges of bins, or categories."""
    return feature.edges if feature.kind is Kind.BINNED else feature.categories
