"""Trees as JSON documents: complete with features and classes, so that people can read and edit them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hardwood.data.codes import BELOW_ALL
from hardwood.data.columns import Category
from hardwood.data.feature import Feature, Kind
from hardwood.data.labels import check_classes
from hardwood.trees.nodes import MAX_DEPTH, Branch, Leaf, Node, comparison_sign, split_values

FORMAT = "hardwood.tree"
VERSION = 3
# Version 1 has no missing values in ordered columns; versions 1 and 2 have older keys (`_RENAMED_KEYS`).
READ_VERSIONS = (1, 2, VERSION)
_RENAMED_KEYS = {"test": "comparison", "no answer": "missing"}
_MISSING = "missing"
_SIDES = ("left", "right")


def tree_document(features: Sequence[Feature], classes: Sequence[Category], root: Node) -> dict[str, object]:
    """Write a tree as plain values.

    Parameters
    ----------
    features : sequence of Feature
    classes : sequence of str, int, float or bool
    root : Node

    Returns
    -------
    document : dict
        Values that JSON can express; `read_tree_document` reads them.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "classes": list(classes),
        "features": [_feature_entry(feature) for feature in features],
        "root": _node_entry(features, classes, root),
    }


def read_tree_document(document: object) -> tuple[tuple[Feature, ...], tuple[Category, ...], Node]:
    """Read a document that `tree_document` wrote or a person edited.

    Returns
    -------
    features : tuple of Feature
    classes : tuple of str, int, float or bool
    root : Node

    Raises
    ------
    ValueError
        If the document is not a tree; the message says where.
    """
    entry = _expect_keys(document, {"format", "version", "classes", "features", "root"}, "the tree")
    if entry["format"] != FORMAT or entry["version"] not in READ_VERSIONS:
        raise ValueError(
            f"the text is {entry['format']!r} version {entry['version']!r}; "
            f"this version of hardwood reads {FORMAT!r} versions {READ_VERSIONS[0]} to {VERSION}"
        )
    classes = _expect_categories(entry["classes"], "classes")
    features = tuple(_read_feature(feature) for feature in _expect_list(entry["features"], "features"))
    names = [feature.name for feature in features]
    if len(set(names)) < len(names):
        raise ValueError(f"features repeat a name: {names}")
    root = entry["root"] if entry["version"] == VERSION else _with_new_keys(entry["root"], "root")
    return features, classes, _NodeReader(features, classes).read(root, "root")


def _feature_entry(feature: Feature) -> dict[str, object]:
    entry: dict[str, object] = {"name": feature.name, "kind": str(feature.kind)}
    if feature.missing:
        entry["missing"] = True
    if feature.kind is Kind.INTEGER:
        return entry | {"low": feature.low, "high": feature.high}
    if feature.kind is Kind.BINNED:
        return entry | {"edges": list(feature.edges)}
    return entry | {"categories": list(feature.categories)}


def _node_entry(features: Sequence[Feature], classes: Sequence[Category], node: Node) -> dict[str, object]:
    if isinstance(node, Leaf):
        return {"label": classes[node.label]}
    feature = features[node.feature]
    children: dict[str, object] = {
        "left": _node_entry(features, classes, node.left),
        "right": _node_entry(features, classes, node.right),
    }
    if node.code == BELOW_ALL:
        entry: dict[str, object] = {"feature": feature.name, "comparison": _MISSING}
        return entry | children
    value = node.code if feature.kind is Kind.INTEGER else split_values(feature)[node.code]
    entry = {"feature": feature.name, "comparison": comparison_sign(feature), "value": value}
    if feature.missing:
        entry[_MISSING] = "left" if node.missing_left else "right"
    return entry | children


def _read_feature(entry: object) -> Feature:
    kinds = {str(kind): kind for kind in Kind}
    kind = kinds.get(str(entry.get("kind"))) if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or kind is None:
        raise ValueError(f"a feature is {entry!r}; expected an object with a name and a kind out of {list(kinds)}")
    domain = {Kind.INTEGER: {"low", "high"}, Kind.BINNED: {"edges"}}.get(kind, {"categories"})
    missing = entry.get("missing", False)
    keys = _expect_keys(entry, {"name", "kind"} | domain | ({"missing"} if missing else set()), "a feature")
    name = keys["name"]
    if not isinstance(name, str):
        raise ValueError(f"a feature has the name {name!r}; expected text")
    if not isinstance(missing, bool):
        raise ValueError(f'the feature "{name}" has missing {missing!r}; expected true, or nothing')
    return replace(_read_domain(keys, name, kind), missing=missing)


def _read_domain(entry: dict[str, object], name: str, kind: Kind) -> Feature:
    if kind is Kind.INTEGER:
        return Feature(name, kind, _expect_int(entry["low"], "low"), _expect_int(entry["high"], "high"))
    if kind is Kind.BINNED:
        listed = _expect_list(entry["edges"], "edges")
        edges = [float(edge) for edge in listed if isinstance(edge, int | float) and not isinstance(edge, bool)]
        if len(edges) < len(listed):
            raise ValueError(f'the edges of "{name}" are {listed}; expected numbers')
        return Feature(name, kind, 0, len(edges), edges=tuple(edges))
    categories = _expect_categories(entry["categories"], f'the categories of "{name}"')
    return Feature(name, kind, 0, len(categories) - 1, categories)


def _with_new_keys(entry: object, place: str) -> object:
    """Return a node of an older version with the keys of this one."""
    _check_nesting(place)
    if not isinstance(entry, dict):
        return entry
    renamed = {_RENAMED_KEYS.get(key, key): value for key, value in entry.items()}
    if renamed.get("comparison") == "no answer":
        renamed["comparison"] = _MISSING
    return renamed | {side: _with_new_keys(renamed[side], f"{place}.{side}") for side in _SIDES if side in renamed}


def _check_nesting(place: str) -> None:
    if place.count(".") > MAX_DEPTH:
        raise ValueError(f"the tree is nested more than {MAX_DEPTH} levels deep; expected fewer")


class _NodeReader:
    """Reads the nodes of a tree whose features and classes are known."""

    def __init__(self, features: Sequence[Feature], classes: Sequence[Category]) -> None:
        self._features = features
        self._names = [feature.name for feature in features]
        self._classes = classes

    def read(self, entry: object, place: str) -> Node:
        """Read a node and its descendants; `place` names it in messages, such as "root.left"."""
        _check_nesting(place)
        if isinstance(entry, dict) and "label" in entry:
            label = _expect_keys(entry, {"label"}, place)["label"]
            return Leaf(_expect_one_of(label, self._classes, f"the label at {place}"))
        if isinstance(entry, dict) and entry.get("comparison") == _MISSING:
            keys = _expect_keys(entry, {"feature", "comparison", *_SIDES}, place)
            left, right = self._children(keys, place)
            return Branch(self._feature(keys, place), BELOW_ALL, left, right, True)
        return self._read_comparison(entry, place)

    def _read_comparison(self, entry: object, place: str) -> Branch:
        has_missing = isinstance(entry, dict) and _MISSING in entry
        optional = {_MISSING} if has_missing else set()
        keys = _expect_keys(entry, {"feature", "comparison", "value", *_SIDES} | optional, place)
        j = self._feature(keys, place)
        feature = self._features[j]
        if feature.missing != has_missing:
            raise ValueError(
                f'"{_MISSING}" at {place}: expected "left" or "right" where "{feature.name}" may be missing'
            )
        if has_missing and keys[_MISSING] not in _SIDES:
            raise ValueError(f'"{_MISSING}" at {place} is {keys[_MISSING]!r}; expected "left" or "right"')
        if keys["comparison"] != comparison_sign(feature):
            raise ValueError(
                f"the comparison at {place} is {keys['comparison']!r}; expected {comparison_sign(feature)!r} "
                f'for the {feature.kind} column "{feature.name}"'
            )
        if feature.kind is Kind.INTEGER:
            code = _expect_int(keys["value"], f"the value at {place}")
        else:
            code = _expect_one_of(keys["value"], split_values(feature), f"the value at {place}")
        left, right = self._children(keys, place)
        return Branch(j, code, left, right, keys.get(_MISSING) == "left")

    def _feature(self, keys: dict[str, object], place: str) -> int:
        return _expect_one_of(keys["feature"], self._names, f"the feature at {place}")

    def _children(self, keys: dict[str, object], place: str) -> tuple[Node, Node]:
        return self.read(keys["left"], f"{place}.left"), self.read(keys["right"], f"{place}.right")


def _expect_keys(entry: object, keys: set[str], place: str) -> dict[str, object]:
    if not isinstance(entry, dict) or set(entry) != keys:
        received = sorted(entry) if isinstance(entry, dict) else repr(entry)
        raise ValueError(f"{place} has {received}; expected an object with exactly {sorted(keys)}")
    return entry


def _expect_list(entry: object, place: str) -> list[object]:
    if not isinstance(entry, list):
        raise ValueError(f"{place} is {entry!r}; expected a list")
    return entry


def _expect_int(entry: object, place: str) -> int:
    if not isinstance(entry, int) or isinstance(entry, bool):
        raise ValueError(f"{place} is {entry!r}; expected a whole number")
    return entry


def _expect_one_of(entry: object, values: Sequence[Category], place: str) -> int:
    """Position of an entry among the values; true and 1 are different values."""
    for k, value in enumerate(values):
        if value == entry and isinstance(value, bool) == isinstance(entry, bool):
            return k
    raise ValueError(f"{place} is {entry!r}; expected one of {list(values)}")


def _expect_categories(entry: object, place: str) -> tuple[Category, ...]:
    values = _expect_list(entry, place)
    categories = [value for value in values if isinstance(value, str | int | float)]
    if not values or len(categories) < len(values):
        raise ValueError(f"{place} are {values}; expected a list of text, numbers or booleans")
    return check_classes(categories)
