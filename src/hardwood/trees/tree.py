"""An immutable classification tree.

A branching node sends a sample to the left iff

    value <= code       ordered features (a threshold)
    value == code       categorical features (a category)

and to the right otherwise. A sample without an answer in an ordered feature goes to the left iff the node says so
(`missing_left`); with the threshold `BELOW_ALL`, which nothing is below, such a node asks for no answer alone. This is
the only place that says so in Python; `cpp/tree.cpp` is its compiled twin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hardwood._support import compiled
from hardwood._support.files import json_text, parsed_json
from hardwood._support.notebook import InNotebook
from hardwood._support.text import shown
from hardwood.data.features import (
    BELOW_ALL,
    LARGEST_CODE,
    NO_ANSWER_WORDS,
    Category,
    Feature,
    IntArray,
    Kind,
    Table,
    plain_classes,
)

FORMAT = "hardwood.tree"
VERSION = 2
OLDEST_VERSION = 1  # that is still read: it knew no missing answers in ordered columns
DEEPEST = 200  # levels of a tree: a deeper one is nobody's, and would exhaust the stack of whoever walks it


@dataclass(frozen=True, slots=True)
class Leaf:
    """Predicts a class, given by its position among the tree's classes."""

    label: int


@dataclass(frozen=True, slots=True)
class Branch:
    """Tests one feature, given by its position, against a code; see the module's docstring."""

    feature: int
    code: int
    left: Node
    right: Node
    missing_left: bool = False


Node: TypeAlias = Leaf | Branch


@dataclass(frozen=True, slots=True)
class Limit:
    """What a region allows in one feature: codes from `low` to `high` (None: open), or a set of categories.

    missing  whether it allows no answer, if the feature knows that
    """

    feature: int
    low: int | None = None
    high: int | None = None
    allowed: frozenset[int] | None = None
    missing: bool = False

    @property
    def only_missing(self) -> bool:
        """Whether no answer is all that it allows."""
        if not self.missing or self.high is None:
            return False
        return self.high == BELOW_ALL or (self.low is not None and self.low > self.high)


@dataclass(frozen=True, slots=True)
class Region:
    """The part of the feature space that ends in one leaf: limits on the features tested on the way, and the label."""

    label: int
    limits: tuple[Limit, ...]


@dataclass(frozen=True)
class Tree(InNotebook):
    """A classification tree over the features of a table."""

    features: tuple[Feature, ...]
    classes: tuple[Category, ...]
    root: Node = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        object.__setattr__(self, "classes", plain_classes(self.classes))
        if self.depth > DEEPEST:
            raise ValueError(f"the tree has depth {self.depth}; expected at most {DEEPEST}")
        for node in self.nodes:
            if isinstance(node, Leaf):
                if not 0 <= node.label < len(self.classes):
                    raise ValueError(f"a leaf has label {node.label}; expected 0 to {len(self.classes) - 1}")
            elif not 0 <= node.feature < len(self.features):
                raise ValueError(f"a node tests feature {node.feature}; expected 0 to {len(self.features) - 1}")
            else:
                _check_code(self.features[node.feature], node)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, a parent before its children and the left subtree before the right one."""
        return tuple(node for node, _ in _walk(self.root))

    @property
    def n_branching_nodes(self) -> int:
        """Number of tests."""
        return sum(isinstance(node, Branch) for node in self.nodes)

    @property
    def depth(self) -> int:
        """Largest number of tests on a path."""
        return max(len(path) for _, path in _walk(self.root))

    @property
    def asked_columns(self) -> tuple[str, ...]:
        """The names of the columns that some test asks for, in the order of the table."""
        asked = {node.feature for node in self.nodes if isinstance(node, Branch)}
        return tuple(self.features[j].name for j in sorted(asked))

    @cached_property
    def paths(self) -> tuple[tuple[tuple[Branch, bool], ...], ...]:
        """For each leaf, from left to right, the tests on the way to it and whether the way goes left."""
        return tuple(path for node, path in _walk(self.root) if isinstance(node, Leaf))

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """For each leaf, from left to right, the region of values that end in it."""
        leaves = [node for node in self.nodes if isinstance(node, Leaf)]
        return tuple(
            Region(leaf.label, _limits(self.features, path)) for leaf, path in zip(leaves, self.paths, strict=True)
        )

    def leaf_of(self, table: Table) -> IntArray:
        """The leaf that each sample ends in, counted from left to right."""
        self.check_table(table)
        return self._compiled.leaf_of(table.values)

    def rows_at(self, table: Table, way: Sequence[bool]) -> NDArray[np.intp]:
        """The rows that come by the node at the end of a way from the root, true for yes (left)."""
        wanted = tuple(way)
        leaves = [k for k, path in enumerate(self.paths) if tuple(left for _, left in path)[: len(wanted)] == wanted]
        return np.flatnonzero(np.isin(self.leaf_of(table), leaves))

    def predict(self, table: Table) -> IntArray:
        """The class of each sample as a position among `classes`."""
        labels = np.array([region.label for region in self.regions], dtype=np.int32)
        return labels[self.leaf_of(table)]

    def check_table(self, table: Table) -> None:
        """Refuse a table whose columns mean something else than the tree's features."""
        if len(table.features) != len(self.features):
            raise ValueError(f"the tree has {len(self.features)} features, the table {len(table.features)}")
        for mine, theirs in zip(self.features, table.features, strict=True):
            if _meaning(mine) != _meaning(theirs):
                raise ValueError(
                    f'the tree was made for the column "{mine.name}" ({mine.kind}), the table has "{theirs.name}" '
                    f"({theirs.kind}) or other categories there; encode the table with features=tree.features"
                )

    def with_features(self, features: Sequence[Feature]) -> Tree:
        """The same tree over features that mean the same, with more bins perhaps (see `finest_features`)."""
        finer = tuple(features)

        def moved(node: Node) -> Node:
            if isinstance(node, Leaf):
                return node
            mine, theirs = self.features[node.feature], finer[node.feature]
            is_edge = mine.kind is Kind.BINNED and node.code != BELOW_ALL
            code = theirs.edges.index(mine.edges[node.code]) if is_edge else node.code
            return replace(node, code=code, left=moved(node.left), right=moved(node.right))

        return Tree(finer, self.classes, moved(self.root))

    def condition(self, branch: Branch) -> str:
        """The test of a branching node in words that the caller's table uses."""
        feature = self.features[branch.feature]
        if branch.code == BELOW_ALL:
            return f"{feature.name} has no answer"
        otherwise = f" or {NO_ANSWER_WORDS}" if branch.missing_left else ""
        if feature.kind is Kind.INTEGER:
            return f"{feature.name} <= {branch.code}{otherwise}"
        value = _test_values(feature)[branch.code]
        if feature.kind is Kind.BINARY:  # "at most the first of two answers" would puzzle readers
            return f"{feature.name} = {value}{otherwise}"
        return f"{feature.name} {_sign(feature).replace('==', '=')} {value}{otherwise}"

    def to_text(self) -> str:
        """The tree drawn with lines, the left (yes) branch first."""
        return "\n".join(self._lines(self.root, "", ""))

    def __str__(self) -> str:
        return self.to_text()

    def _lines(self, node: Node, before: str, indent: str) -> Iterator[str]:
        if isinstance(node, Leaf):
            yield f"{before}-> {shown(self.classes[node.label])}"
            return
        yield f"{before}{shown(self.condition(node))}?"
        yield from self._lines(node.left, f"{indent}├─ yes: ", f"{indent}│  ")
        yield from self._lines(node.right, f"{indent}└─ no:  ", f"{indent}   ")

    def to_json(self) -> str:
        """The tree as text that `from_json` reads back, complete with features and classes."""
        return json_text(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The tree as plain values, for files that hold more than a tree."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "classes": list(self.classes),
            "features": [_feature_to_json(feature) for feature in self.features],
            "root": _node_to_json(self, self.root),
        }

    @classmethod
    def from_json(cls, text: str) -> Tree:
        """Read a tree that `to_json` wrote or a person edited; whatever is not a tree gets an error that says where."""
        return cls.from_dict(parsed_json(text))

    @classmethod
    def from_dict(cls, document: Any) -> Tree:
        """Read what `to_dict` gave."""
        _expect_keys(document, {"format", "version", "classes", "features", "root"}, "the tree")
        if document["format"] != FORMAT or document["version"] not in (OLDEST_VERSION, VERSION):
            raise ValueError(
                f"the text is {document['format']!r} version {document['version']!r}; "
                f"this version of hardwood reads {FORMAT!r} version {OLDEST_VERSION} or {VERSION}"
            )
        classes = _categories(document["classes"], "classes")
        features = tuple(_feature_from_json(entry) for entry in _expect_list(document["features"], "features"))
        names = [feature.name for feature in features]
        if len(set(names)) < len(names):
            raise ValueError(f"features repeat a name: {names}")
        return cls(features, classes, _node_from_json(document["root"], features, classes, "root"))

    @cached_property
    def _compiled(self) -> compiled.Tree:
        rows = np.array(_rows(self.root, self.features, 0), dtype=np.int32)
        feature, code, left, right, ordered, missing_left = np.ascontiguousarray(rows.T)
        return compiled.Tree(feature, code, left, right, ordered, missing_left, len(self.features))

    def __getstate__(self) -> dict[str, Any]:
        # Everything else is computed from these again; the compiled twin could not be pickled.
        return {"features": self.features, "classes": self.classes, "root": self.root}


def finest_features(trees: Sequence[Tree]) -> tuple[Feature, ...]:
    """Features that serve all trees: where one of them has an edge between two bins, all have it."""
    return tuple(_finest(own) for own in zip(*(tree.features for tree in trees), strict=True))


def _finest(features: tuple[Feature, ...]) -> Feature:
    first = replace(features[0], missing=any(feature.missing for feature in features))
    if any((f.name, f.kind, f.categories) != (first.name, first.kind, first.categories) for f in features):
        said = " and ".join(f'"{f.name}" ({f.kind})' for f in features[:2])
        raise ValueError(f"trees read a column as {said}, or with other answers; give all the same feature_kinds")
    if first.kind is Kind.BINNED:
        edges = tuple(sorted({edge for feature in features for edge in feature.edges}))
        return replace(first, high=len(edges), edges=edges)
    return replace(first, low=min(f.low for f in features), high=max(f.high for f in features))


def _walk(root: Node) -> Iterator[tuple[Node, tuple[tuple[Branch, bool], ...]]]:
    """Nodes in preorder, each with the path to it."""
    stack: list[tuple[Node, tuple[tuple[Branch, bool], ...]]] = [(root, ())]
    while stack:
        node, path = stack.pop()
        yield node, path
        if isinstance(node, Branch):
            stack.append((node.right, (*path, (node, False))))
            stack.append((node.left, (*path, (node, True))))


def _rows(node: Node, features: Sequence[Feature], at: int) -> list[tuple[int, int, int, int, bool, bool]]:
    """Feature (-1: leaf), code, positions of the children, whether ordered, whether no answer goes to the left: for the
    nodes of a subtree in preorder.
    """
    if isinstance(node, Leaf):
        return [(-1, 0, 0, 0, True, False)]
    left = _rows(node.left, features, at + 1)
    right_at = at + 1 + len(left)
    row = (node.feature, node.code, at + 1, right_at, features[node.feature].ordered, node.missing_left)
    return [row, *left, *_rows(node.right, features, right_at)]


def _limits(features: Sequence[Feature], path: Sequence[tuple[Branch, bool]]) -> tuple[Limit, ...]:
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


def _check_code(feature: Feature, branch: Branch) -> None:
    code = branch.code
    if branch.missing_left and not feature.missing:
        raise ValueError(f'a node tests "{feature.name}" for no answer; nobody is without one there')
    if branch.missing_left and code == BELOW_ALL:
        return
    last = {Kind.INTEGER: LARGEST_CODE, Kind.CATEGORICAL: feature.high}.get(feature.kind, feature.high - 1)
    first = -LARGEST_CODE if feature.kind is Kind.INTEGER else 0
    if not isinstance(code, int) or not first <= code <= last:
        raise ValueError(
            f'a node tests "{feature.name}" against code {code!r}; expected a whole number from {first} to {last} '
            f"so that both sides have values"
        )


def _meaning(feature: Feature) -> tuple[Any, ...]:
    # The range of an integer differs between tables that mean the same.
    return feature.name, feature.kind, feature.categories, feature.edges, feature.missing


def _feature_to_json(feature: Feature) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": feature.name, "kind": str(feature.kind)}
    if feature.missing:
        entry["missing"] = True
    if feature.kind is Kind.INTEGER:
        return entry | {"low": feature.low, "high": feature.high}
    if feature.kind is Kind.BINNED:
        return entry | {"edges": list(feature.edges)}
    return entry | {"categories": list(feature.categories)}


def _feature_from_json(entry: Any) -> Feature:
    kinds = {str(kind): kind for kind in Kind}
    kind = kinds.get(str(entry.get("kind"))) if isinstance(entry, dict) else None
    if kind is None:
        raise ValueError(f"a feature is {entry!r}; expected an object with a name and a kind out of {list(kinds)}")
    contents = {Kind.INTEGER: {"low", "high"}, Kind.BINNED: {"edges"}}.get(kind, {"categories"})
    missing = entry.get("missing", False)
    _expect_keys(entry, {"name", "kind"} | contents | ({"missing"} if missing else set()), "a feature")
    name = entry["name"]
    if not isinstance(name, str):
        raise ValueError(f"a feature has the name {name!r}; expected text")
    if not isinstance(missing, bool):
        raise ValueError(f'the feature "{name}" has missing {missing!r}; expected true, or nothing')
    return replace(_plain_feature_from_json(entry, name, kind), missing=missing)


def _plain_feature_from_json(entry: Any, name: str, kind: Kind) -> Feature:
    if kind is Kind.INTEGER:
        return Feature(name, kind, _expect_int(entry["low"], "low"), _expect_int(entry["high"], "high"))
    if kind is Kind.BINNED:
        edges = _expect_list(entry["edges"], "edges")
        if not all(isinstance(edge, int | float) and not isinstance(edge, bool) for edge in edges):
            raise ValueError(f'the edges of "{name}" are {edges}; expected numbers')
        return Feature(name, kind, 0, len(edges), edges=tuple(float(edge) for edge in edges))
    categories = _categories(entry["categories"], f'the categories of "{name}"')
    return Feature(name, kind, 0, len(categories) - 1, categories)


def _node_to_json(tree: Tree, node: Node) -> dict[str, Any]:
    if isinstance(node, Leaf):
        return {"label": tree.classes[node.label]}
    feature = tree.features[node.feature]
    children = {"left": _node_to_json(tree, node.left), "right": _node_to_json(tree, node.right)}
    if node.code == BELOW_ALL:
        return {"feature": feature.name, "test": NO_ANSWER_WORDS} | children
    value = node.code if feature.kind is Kind.INTEGER else _test_values(feature)[node.code]
    entry = {"feature": feature.name, "test": _sign(feature), "value": value}
    if feature.missing:
        entry[NO_ANSWER_WORDS] = "left" if node.missing_left else "right"
    return entry | children


def _node_from_json(entry: Any, features: Sequence[Feature], classes: Sequence[Category], place: str) -> Node:
    if place.count(".") > DEEPEST:
        raise ValueError(f"the tree is nested more than {DEEPEST} levels deep; expected fewer")
    if isinstance(entry, dict) and "label" in entry:
        _expect_keys(entry, {"label"}, place)
        return Leaf(_expect_one_of(entry["label"], classes, f"the label at {place}"))
    names = [feature.name for feature in features]
    children = {"left", "right"}
    if isinstance(entry, dict) and entry.get("test") == NO_ANSWER_WORDS:
        _expect_keys(entry, {"feature", "test"} | children, place)
        left, right = (_node_from_json(entry[side], features, classes, f"{place}.{side}") for side in ("left", "right"))
        return Branch(_expect_one_of(entry["feature"], names, f"the feature at {place}"), BELOW_ALL, left, right, True)
    knows_missing = isinstance(entry, dict) and NO_ANSWER_WORDS in entry
    _expect_keys(
        entry, {"feature", "test", "value"} | children | ({NO_ANSWER_WORDS} if knows_missing else set()), place
    )
    j = _expect_one_of(entry["feature"], names, f"the feature at {place}")
    if features[j].missing != knows_missing:
        raise ValueError(
            f'"{NO_ANSWER_WORDS}" at {place}: expected "left" or "right" where "{names[j]}" may be missing'
        )
    if knows_missing and entry[NO_ANSWER_WORDS] not in children:
        raise ValueError(f'"{NO_ANSWER_WORDS}" at {place} is {entry[NO_ANSWER_WORDS]!r}; expected "left" or "right"')
    if entry["test"] != _sign(features[j]):
        raise ValueError(
            f'the test at {place} is {entry["test"]!r}; the {features[j].kind} column "{features[j].name}" '
            f"is tested by {_sign(features[j])!r}"
        )
    if features[j].kind is Kind.INTEGER:
        code = _expect_int(entry["value"], f"the value at {place}")
    else:
        code = _expect_one_of(entry["value"], _test_values(features[j]), f"the value at {place}")
    left = _node_from_json(entry["left"], features, classes, f"{place}.left")
    right = _node_from_json(entry["right"], features, classes, f"{place}.right")
    return Branch(j, code, left, right, entry.get(NO_ANSWER_WORDS) == "left")


def _sign(feature: Feature) -> str:
    return "<=" if feature.ordered else "=="


def _test_values(feature: Feature) -> Sequence[Category]:
    """What a person calls the codes of a feature in a test."""
    return feature.edges if feature.kind is Kind.BINNED else feature.categories


def _expect_keys(entry: Any, keys: set[str], place: str) -> None:
    if not isinstance(entry, dict) or set(entry) != keys:
        received = sorted(entry) if isinstance(entry, dict) else repr(entry)
        raise ValueError(f"{place} has {received}; expected an object with exactly {sorted(keys)}")


def _expect_list(entry: Any, place: str) -> list[Any]:
    if not isinstance(entry, list):
        raise ValueError(f"{place} is {entry!r}; expected a list")
    return entry


def _expect_int(entry: Any, place: str) -> int:
    if not isinstance(entry, int) or isinstance(entry, bool):
        raise ValueError(f"{place} is {entry!r}; expected a whole number")
    return entry


def _expect_one_of(entry: Any, values: Sequence[Any], place: str) -> int:
    """The position of the entry among the values; true and 1 are different answers here."""
    for k, value in enumerate(values):
        if value == entry and isinstance(value, bool) == isinstance(entry, bool):
            return k
    raise ValueError(f"{place} is {entry!r}; expected one of {list(values)}")


def _categories(entry: Any, place: str) -> tuple[Category, ...]:
    values = _expect_list(entry, place)
    if not values or not all(isinstance(value, str | int | float) for value in values):
        raise ValueError(f"{place} are {values}; expected a list of text, numbers or booleans")
    return plain_classes(values)
