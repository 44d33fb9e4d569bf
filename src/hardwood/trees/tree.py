"""An immutable classification tree over the features of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hardwood._util import compiled
from hardwood._util.arrays import IntArray
from hardwood._util.files import format_json, parse_json
from hardwood._util.notebook import NotebookMixin
from hardwood._util.text import printable
from hardwood.data.codes import BELOW_ALL
from hardwood.data.columns import Category
from hardwood.data.feature import MISSING_TEXT, Feature, Kind
from hardwood.data.labels import check_classes
from hardwood.data.table import Table
from hardwood.trees.nodes import (
    MAX_DEPTH,
    Branch,
    Leaf,
    Limit,
    Node,
    Path,
    Region,
    check_branch,
    comparison_sign,
    region_limits,
    split_values,
    walk,
)
from hardwood.trees.tree_json import read_tree_document, tree_document

__all__ = ["Branch", "Leaf", "Limit", "Node", "Region", "Tree", "finest_features"]


@dataclass(frozen=True)
class Tree(NotebookMixin):
    """A classification tree over the features of a table.

    Parameters
    ----------
    features : tuple of Feature
        Features of the tables that the tree classifies.
    classes : tuple of str, int, float or bool
        Classes that leaves refer to by position.
    root : Node
        A `Leaf`, or a `Branch` with its descendants.

    Raises
    ------
    ValueError
        If a node refers to a feature, a code or a class that does not exist, or if the tree is too deep.
    """

    features: tuple[Feature, ...]
    classes: tuple[Category, ...]
    root: Node = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        object.__setattr__(self, "classes", check_classes(self.classes))
        if self.depth > MAX_DEPTH:
            raise ValueError(f"the tree has depth {self.depth}; expected at most {MAX_DEPTH}")
        for node in self.nodes:
            if isinstance(node, Leaf):
                if not 0 <= node.label < len(self.classes):
                    raise ValueError(f"a leaf has label {node.label}; expected 0 to {len(self.classes) - 1}")
            elif not 0 <= node.feature < len(self.features):
                raise ValueError(f"a node splits on feature {node.feature}; expected 0 to {len(self.features) - 1}")
            else:
                check_branch(self.features[node.feature], node)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes in preorder: a parent before its children, the left subtree before the right one."""
        return tuple(node for node, _ in walk(self.root))

    @property
    def n_branching_nodes(self) -> int:
        """Number of branching nodes."""
        return sum(isinstance(node, Branch) for node in self.nodes)

    @property
    def depth(self) -> int:
        """Largest number of splits on a path."""
        return max(len(path) for _, path in walk(self.root))

    @property
    def used_columns(self) -> tuple[str, ...]:
        """Names of the columns that some split uses, in the order of the table."""
        used = {node.feature for node in self.nodes if isinstance(node, Branch)}
        return tuple(self.features[j].name for j in sorted(used))

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """For each leaf from left to right, the branching nodes on its path and whether the path goes left."""
        return tuple(path for node, path in walk(self.root) if isinstance(node, Leaf))

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """For each leaf from left to right, the region of the domain that reaches it."""
        leaves = [node for node in self.nodes if isinstance(node, Leaf)]
        return tuple(
            Region(leaf.label, region_limits(self.features, path))
            for leaf, path in zip(leaves, self.paths, strict=True)
        )

    def leaf_of(self, table: Table) -> IntArray:
        """Find the leaf that each sample reaches.

        Parameters
        ----------
        table : Table

        Returns
        -------
        leaves : ndarray of int
            Number of the leaf for each sample, counted from left to right.
        """
        self.check_table(table)
        return self._compiled.leaf_of(table.values)

    def rows_at(self, table: Table, way: Sequence[bool]) -> NDArray[np.intp]:
        """Find the rows that pass a node.

        Parameters
        ----------
        table : Table
        way : sequence of bool
            Sides from the root to the node, true for left.

        Returns
        -------
        rows : ndarray of int
        """
        sides = tuple(way)
        leaves = [k for k, path in enumerate(self.paths) if tuple(left for _, left in path)[: len(sides)] == sides]
        return np.flatnonzero(np.isin(self.leaf_of(table), leaves))

    def predict(self, table: Table) -> IntArray:
        """Predict the class of each sample.

        Parameters
        ----------
        table : Table

        Returns
        -------
        labels : ndarray of int
            Positions among `classes`.
        """
        labels = np.array([region.label for region in self.regions], dtype=np.int32)
        return labels[self.leaf_of(table)]

    def check_table(self, table: Table) -> None:
        """Refuse a table whose columns mean something else than the features of the tree.

        Raises
        ------
        ValueError
            If names, kinds, categories or bins differ.
        """
        if len(table.features) != len(self.features):
            raise ValueError(f"the tree has {len(self.features)} features, the table {len(table.features)}")
        for expected, received in zip(self.features, table.features, strict=True):
            if _meaning(expected) != _meaning(received):
                raise ValueError(
                    f'the tree was made for the column "{expected.name}" ({expected.kind}), the table has '
                    f'"{received.name}" ({received.kind}) or other categories there; '
                    f"encode the table with features=tree.features"
                )

    def with_features(self, features: Sequence[Feature]) -> Tree:
        """Express the same tree over features that have more bins (see `finest_features`).

        Parameters
        ----------
        features : sequence of Feature
            Features with the same meaning, which have all edges of the tree.

        Returns
        -------
        tree : Tree
        """
        finer = tuple(features)

        def translate(node: Node) -> Node:
            if isinstance(node, Leaf):
                return node
            old, new = self.features[node.feature], finer[node.feature]
            is_edge = old.kind is Kind.BINNED and node.code != BELOW_ALL
            code = new.edges.index(old.edges[node.code]) if is_edge else node.code
            return replace(node, code=code, left=translate(node.left), right=translate(node.right))

        return Tree(finer, self.classes, translate(self.root))

    def condition(self, branch: Branch) -> str:
        """Condition for going left at a branching node, in the names and values of the caller's table."""
        feature = self.features[branch.feature]
        if branch.code == BELOW_ALL:
            return f"{feature.name} is {MISSING_TEXT}"
        or_missing = f" or {MISSING_TEXT}" if branch.missing_left else ""
        if feature.kind is Kind.INTEGER:
            return f"{feature.name} <= {branch.code}{or_missing}"
        value = split_values(feature)[branch.code]
        if feature.kind is Kind.BINARY:  # "<= the first of two values" is correct but hard to read
            return f"{feature.name} = {value}{or_missing}"
        return f"{feature.name} {comparison_sign(feature).replace('==', '=')} {value}{or_missing}"

    def to_text(self) -> str:
        """Draw the tree with lines, the left (yes) branch first."""
        return "\n".join(self._lines(self.root, "", ""))

    def __str__(self) -> str:
        return self.to_text()

    def _lines(self, node: Node, before: str, indent: str) -> Iterator[str]:
        if isinstance(node, Leaf):
            yield f"{before}-> {printable(self.classes[node.label])}"
            return
        yield f"{before}{printable(self.condition(node))}?"
        yield from self._lines(node.left, f"{indent}├─ yes: ", f"{indent}│  ")
        yield from self._lines(node.right, f"{indent}└─ no:  ", f"{indent}   ")

    def to_json(self) -> str:
        """Write the tree as JSON, complete with features and classes; `from_json` reads it."""
        return format_json(self.to_dict())

    def to_dict(self) -> dict[str, object]:
        """Write the tree as plain values, for files that hold more than a tree."""
        return tree_document(self.features, self.classes, self.root)

    @classmethod
    def from_json(cls, text: str) -> Tree:
        """Read a tree that `to_json` wrote or a person edited.

        Parameters
        ----------
        text : str

        Returns
        -------
        tree : Tree

        Raises
        ------
        ValueError
            If the text is not a tree; the message says where.
        """
        return cls.from_dict(parse_json(text))

    @classmethod
    def from_dict(cls, document: object) -> Tree:
        """Read the values that `to_dict` wrote; errors are those of `from_json`."""
        return cls(*read_tree_document(document))

    @cached_property
    def _compiled(self) -> compiled.Tree:
        rows = np.array(_preorder_rows(self.root, self.features, 0), dtype=np.int32)
        feature, code, left, right, ordered, missing_left = np.ascontiguousarray(rows.T)
        return compiled.Tree(feature, code, left, right, ordered, missing_left, len(self.features))

    def __getstate__(self) -> dict[str, object]:
        # Everything else is computed from these fields; the compiled tree cannot be pickled.
        return {"features": self.features, "classes": self.classes, "root": self.root}


def finest_features(trees: Sequence[Tree]) -> tuple[Feature, ...]:
    """Combine the features of several trees.

    Parameters
    ----------
    trees : sequence of Tree
        Trees whose columns have the same names, kinds and categories.

    Returns
    -------
    features : tuple of Feature
        Features with an edge between two bins wherever one of the trees has one.

    Raises
    ------
    ValueError
        If two trees read a column differently.
    """
    return tuple(_finest_feature(column) for column in zip(*(tree.features for tree in trees), strict=True))


def _finest_feature(features: tuple[Feature, ...]) -> Feature:
    first = replace(features[0], missing=any(feature.missing for feature in features))
    if any((f.name, f.kind, f.categories) != (first.name, first.kind, first.categories) for f in features):
        readings = " and ".join(f'"{f.name}" ({f.kind})' for f in features[:2])
        raise ValueError(f"trees read a column as {readings}, or with other categories; use the same feature_kinds")
    if first.kind is Kind.BINNED:
        edges = tuple(sorted({edge for feature in features for edge in feature.edges}))
        return replace(first, high=len(edges), edges=edges)
    return replace(first, low=min(f.low for f in features), high=max(f.high for f in features))


def _preorder_rows(node: Node, features: Sequence[Feature], at: int) -> list[tuple[int, int, int, int, bool, bool]]:
    """Rows of the compiled tree for the nodes of a subtree in preorder, the first of them at position `at`.

    A row holds the feature (-1: leaf), code, positions of the children, whether the feature is ordered, and whether
    missing values go left.
    """
    if isinstance(node, Leaf):
        return [(-1, 0, 0, 0, True, False)]
    left = _preorder_rows(node.left, features, at + 1)
    right_at = at + 1 + len(left)
    row = (node.feature, node.code, at + 1, right_at, features[node.feature].ordered, node.missing_left)
    return [row, *left, *_preorder_rows(node.right, features, right_at)]


def _meaning(feature: Feature) -> tuple[object, ...]:
    # The range of an integer feature may differ between tables that mean the same.
    return feature.name, feature.kind, feature.categories, feature.edges, feature.missing
