"""Trees to and from scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardwood._support.arguments import by_feature
from hardwood.data.codes import read_coded_columns
from hardwood.data.columns import Column, read_columns
from hardwood.data.features import BELOW_ALL, NO_ANSWER, Feature, Kind, Table, encode, learn_feature
from hardwood.trees.tree import Branch, Leaf, Node, Tree

EXACT_IN_FLOAT32 = 2**24


def design_matrix(tree: Tree, X: Any, missing_values: Any = None) -> NDArray[np.float64]:
    """The numbers that `to_sklearn` trees read; for a table of numbers and booleans alone, just these.

    Integers and floats stay as they are, ordinal and binary answers become their rank, and a categorical column becomes
    a column of 0 and 1 for each category. Where there is no answer in a column with an order, it is NaN.
    """
    by_name = {column.name: column for column in read_coded_columns(X, "category", missing_values)}
    table = encode(X, features=tree.features, missing_values=missing_values)
    columns = []
    for j, feature in enumerate(tree.features):
        codes = table.values[:, j]
        there = codes != NO_ANSWER
        if feature.kind is Kind.BINNED:
            numbers = by_name[feature.name].values.astype(np.float64)
            _refuse_rounding(tree, j, numbers[there])
            columns.append(np.where(there, numbers, np.nan))
        elif feature.ordered:
            _refuse_large(feature.name, codes[there])
            columns.append(np.where(there, codes.astype(np.float64), np.nan))
        else:
            columns += [(codes == k).astype(np.float64) for k in range(feature.n_values)]
    return np.column_stack(columns)


def design_names(tree: Tree) -> list[str]:
    """The names of the columns of `design_matrix`."""
    names = []
    for feature in tree.features:
        names += [feature.name] if feature.ordered else [f"{feature.name} = {c}" for c in feature.categories]
    return names


def to_sklearn(tree: Tree, leaf_counts: NDArray[Any] | None = None) -> Any:
    """A fitted `DecisionTreeClassifier` that predicts the same from `design_matrix`.

    leaf_counts  training samples by leaf and class, for its probabilities. scikit-learn predicts the most frequent
                 class of a leaf, so where the robust label is another one, the label alone counts.
    """
    from sklearn.tree import DecisionTreeClassifier
    from sklearn.tree._tree import Tree as SklearnTree

    counts = _honest_counts(tree, leaf_counts)
    rows = _sklearn_rows(tree, counts)
    model = DecisionTreeClassifier(max_depth=max(tree.depth, 1))
    model.n_features_in_ = len(design_names(tree))
    model.n_outputs_ = 1
    model.classes_ = np.array(tree.classes)
    model.n_classes_ = np.int64(len(tree.classes))
    model.max_features_ = model.n_features_in_
    empty = SklearnTree(model.n_features_in_, np.array([len(tree.classes)], dtype=np.intp), 1)
    state = empty.__getstate__()
    nodes = np.zeros(len(rows), dtype=state["nodes"].dtype)
    values = np.zeros((len(rows), 1, len(tree.classes)))
    for k, (left, right, column, threshold, here, missing_left) in enumerate(rows):
        share = here / here.sum() if here.sum() else np.full(len(here), 1.0 / len(here))
        nodes[k]["left_child"], nodes[k]["right_child"] = left, right
        nodes[k]["feature"], nodes[k]["threshold"] = column, threshold
        nodes[k]["missing_go_to_left"] = missing_left
        nodes[k]["impurity"] = 1.0 - (share**2).sum()
        nodes[k]["n_node_samples"] = nodes[k]["weighted_n_node_samples"] = max(here.sum(), 1)
        values[k, 0] = share
    state |= {"max_depth": tree.depth, "node_count": len(rows), "nodes": nodes, "values": values}
    empty.__setstate__(state)
    model.tree_ = empty
    return model


def from_sklearn(model: Any, X: Any, *, kinds: Any = None, max_bins: int = 10) -> tuple[Tree, Table]:
    """A fitted `DecisionTreeClassifier` as a `Tree`, and the table that it reads.

    Its thresholds become bin edges in columns of floats, so that the tree is exactly the same. Columns must be numbers
    or booleans, as scikit-learn has them; a category that was spread over 0/1 columns is seen as so many columns.
    """
    grown = getattr(model, "tree_", None)
    if grown is None or not hasattr(grown, "children_left"):
        raise TypeError(f"the model is a {type(model).__name__}; expected a fitted DecisionTreeClassifier")
    if not hasattr(model, "classes_"):
        raise TypeError(f"the model is a {type(model).__name__}, which predicts no classes; expected a classifier")
    if getattr(model, "n_outputs_", 1) != 1:
        raise ValueError(f"the tree predicts {model.n_outputs_} outputs; expected one")
    columns = _columns_read(model, X)
    wishes = by_feature("kinds", kinds, [column.name for column in columns], default=None)
    features = [
        _fitting(learn_feature(column, wish, max_bins), grown.threshold[grown.feature == j])
        for j, (column, wish) in enumerate(zip(columns, wishes, strict=True))
    ]
    table = encode({column.name: _values(column) for column in columns}, features=features)
    return Tree(table.features, tuple(model.classes_), _from_sklearn_node(grown, features, 0)), table


def table_read(model: Any, X: Any, features: Sequence[Feature]) -> Table:
    """A table as a fitted `DecisionTreeClassifier` reads it, by the features of a tree that `from_sklearn` made."""
    return encode({column.name: _values(column) for column in _columns_read(model, X)}, features=features)


def _values(column: Column) -> NDArray[Any]:
    return column.values if column.gone is None else np.where(column.gone, np.nan, column.values.astype(np.float64))


def _columns_read(model: Any, X: Any) -> list[Column]:
    # scikit-learn's trees send missing values to a side of each test, whether there were some in training or not.
    return [_as_sklearn_reads(column) for column in _in_order(model, read_columns(X, "category"), named=_has_names(X))]


def _has_names(X: Any) -> bool:
    return hasattr(X, "columns") or isinstance(X, Mapping)


def _in_order(model: Any, columns: list[Column], *, named: bool) -> list[Column]:
    """The columns as the model was fitted with them: by name where both sides have names, otherwise by position."""
    if len(columns) != model.n_features_in_:
        raise ValueError(f"X has {len(columns)} columns; the tree was fitted with {model.n_features_in_}")
    if not named or not hasattr(model, "feature_names_in_"):
        return columns
    by_name = {column.name: column for column in columns}
    lacking = [str(name) for name in model.feature_names_in_ if str(name) not in by_name]
    if lacking:
        raise ValueError(f"X lacks the columns {lacking}, which the tree was fitted with; it has {list(by_name)}")
    return [by_name[str(name)] for name in model.feature_names_in_]


def _as_sklearn_reads(column: Column) -> Column:
    """scikit-learn compares values as 32-bit floats."""
    if column.values.dtype.kind not in "biuf":
        raise ValueError(
            f'column "{column.name}" is text; a scikit-learn tree reads numbers: pass the table that it was fitted with'
        )
    if column.values.dtype.kind == "f":
        return replace(column, values=column.values.astype(np.float32).astype(np.float64))
    if column.values.dtype.kind in "iu":
        _refuse_large(column.name, column.values)
    return column


def _refuse_large(name: str, numbers: NDArray[Any]) -> None:
    if numbers.size and np.abs(numbers.astype(np.float64)).max() > EXACT_IN_FLOAT32:
        raise ValueError(
            f'column "{name}" has whole numbers beyond {EXACT_IN_FLOAT32}, which scikit-learn rounds; '
            f"rescale it, such as to days or thousands"
        )


def _refuse_rounding(tree: Tree, j: int, numbers: NDArray[np.float64]) -> None:
    """scikit-learn compares floats as 32-bit numbers; where this changes an answer, the trees would differ."""
    feature = tree.features[j]
    for node in tree.nodes:
        if isinstance(node, Branch) and node.feature == j and node.code != BELOW_ALL:
            there = numbers.astype(np.float32) <= _sklearn_threshold(feature, node.code)
            if (there != (numbers <= feature.edges[node.code])).any():
                raise ValueError(
                    f'column "{feature.name}" has numbers that scikit-learn, which rounds to 32 bits, puts on another '
                    f"side of {feature.edges[node.code]}; rescale the column before fitting"
                )


def _fitting(feature: Feature, thresholds: NDArray[np.float64]) -> Feature:
    """The feature with bins that the tree's thresholds respect."""
    if feature.kind is Kind.BINNED:
        edges = tuple(sorted({*feature.edges, *thresholds[np.isfinite(thresholds)].tolist()}))
        return replace(feature, high=len(edges), edges=edges)
    if not feature.ordered or not all(isinstance(category, int | float) for category in feature.categories):
        raise ValueError(
            f'column "{feature.name}" is {feature.kind}, which the thresholds of a scikit-learn tree do not fit; '
            f"leave the kind to the dtype"
        )
    return feature


def _from_sklearn_node(grown: Any, features: Sequence[Feature], at: int) -> Node:
    left, right = int(grown.children_left[at]), int(grown.children_right[at])
    if left < 0:
        return Leaf(int(grown.value[at, 0].argmax()))
    j, threshold = int(grown.feature[at]), float(grown.threshold[at])
    feature = features[j]
    missing_left = feature.missing and bool(grown.missing_go_to_left[at])
    if not np.isfinite(threshold):  # all answers go left, no answer right
        given, not_given = (_from_sklearn_node(grown, features, child) for child in (left, right))
        return given if missing_left or not feature.missing else Branch(j, BELOW_ALL, not_given, given, True)
    if feature.kind is Kind.INTEGER:
        code = math.floor(threshold)
    elif feature.kind is Kind.BINNED:
        code = feature.edges.index(threshold)
    else:
        code = sum(float(category) <= threshold for category in feature.categories) - 1
        if code < 0 or code == feature.high:  # all answers go to one side
            answers, none = (right, left) if code < 0 else (left, right)
            rest = _from_sklearn_node(grown, features, answers)
            if not feature.missing or missing_left != (code < 0):
                return rest
            return Branch(j, BELOW_ALL, _from_sklearn_node(grown, features, none), rest, True)
    below, above = _from_sklearn_node(grown, features, left), _from_sklearn_node(grown, features, right)
    return Branch(j, code, below, above, missing_left)


def _honest_counts(tree: Tree, leaf_counts: NDArray[Any] | None) -> NDArray[Any]:
    labels = np.array([region.label for region in tree.regions])
    counts = np.zeros((len(labels), len(tree.classes)), dtype=np.int64) if leaf_counts is None else leaf_counts.copy()
    for leaf, label in enumerate(labels):
        if counts[leaf].argmax() != label or not counts[leaf].any():
            total = counts[leaf].sum() or 1
            counts[leaf] = 0
            counts[leaf, label] = total
    return counts


def _sklearn_rows(tree: Tree, counts: NDArray[Any]) -> list[tuple[int, int, int, float, NDArray[Any], bool]]:
    """Nodes in preorder: children, column, threshold, counts, and whether NaN goes left.

    A category's column is 1 where it holds. All answers are at most infinity: that asks whether there is one.
    """
    first = np.cumsum([0] + [1 if f.ordered else f.n_values for f in tree.features])
    rows: list[Any] = []
    leaves = iter(counts)

    def write(node: Node) -> int:
        at = len(rows)
        rows.append(None)
        if isinstance(node, Leaf):
            rows[at] = (-1, -1, -2, -2.0, next(leaves), False)
            return at
        left, right = write(node.left), write(node.right)
        here = rows[left][4] + rows[right][4]
        feature = tree.features[node.feature]
        column = first[node.feature]
        if node.code == BELOW_ALL:
            rows[at] = (right, left, column, np.inf, here, False)
        elif feature.ordered:
            rows[at] = (left, right, column, _sklearn_threshold(feature, node.code), here, node.missing_left)
        else:  # "is it this category" holds where the column is 1, on the right of 0.5
            rows[at] = (right, left, column + node.code, 0.5, here, False)
        return at

    write(tree.root)
    return rows


def _sklearn_threshold(feature: Feature, code: int) -> float:
    if feature.kind is not Kind.BINNED:
        return code + 0.5
    # scikit-learn rounds values to 32 bits first; a value just at the edge must still go left.
    return max(feature.edges[code], float(np.float32(feature.edges[code])))
