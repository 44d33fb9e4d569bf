"""Conversion of trees to and from scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arguments import by_feature
from hardwood._util.arrays import Array
from hardwood._util.types import FittedModel, PerColumn, TableLike
from hardwood.data.codes import BELOW_ALL, MISSING_CODE
from hardwood.data.columns import Column
from hardwood.data.encode import encode, learn_feature
from hardwood.data.feature import Feature, Kind
from hardwood.data.frames import read_columns
from hardwood.data.missing_codes import read_coded_columns
from hardwood.data.table import Table
from hardwood.trees.tree import Branch, Leaf, Node, Tree

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier
    from sklearn.tree._tree import Tree as SklearnTree

EXACT_IN_FLOAT32 = 2**24  # 32-bit floats hold all integers up to here
Counts: TypeAlias = NDArray[np.int64] | NDArray[np.float64]


class _SklearnRow(NamedTuple):
    """A node of a scikit-learn tree."""

    left: int
    right: int
    column: int
    threshold: float
    counts: Counts  # samples by class
    missing_left: bool


def design_matrix(tree: Tree, X: TableLike, missing_values: PerColumn = None) -> NDArray[np.float64]:
    """Compute the matrix that the trees of `to_sklearn` read.

    Integers and floats stay as they are. Ordinal and binary values become their rank, and a categorical column becomes
    a column of 0 and 1 for each category. A missing value of an ordered column becomes NaN. A table of numbers and
    booleans stays the same.

    Parameters
    ----------
    tree : Tree
    X : frame or array
        Table with the columns of the tree.
    missing_values : optional
        Missing codes, as in `RobustTreeClassifier`.

    Returns
    -------
    matrix : ndarray of float
        Samples by the columns that `design_names` lists.

    Raises
    ------
    ValueError
        If scikit-learn, which compares 32-bit floats, would send a value to another side.
    """
    by_name = {column.name: column for column in read_coded_columns(X, "category", missing_values)}
    table = encode(X, features=tree.features, missing_values=missing_values)
    columns = []
    for j, feature in enumerate(tree.features):
        codes = table.values[:, j]
        present = codes != MISSING_CODE
        if feature.kind is Kind.BINNED:
            numbers = by_name[feature.name].values.astype(np.float64)
            _refuse_rounding(tree, j, numbers[present])
            columns.append(np.where(present, numbers, np.nan))
        elif feature.ordered:
            _refuse_large(feature.name, codes[present])
            columns.append(np.where(present, codes.astype(np.float64), np.nan))
        else:
            columns += [(codes == k).astype(np.float64) for k in range(feature.n_values)]
    return np.column_stack(columns)


def design_names(tree: Tree) -> list[str]:
    """List the names of the columns of `design_matrix`."""
    names = []
    for feature in tree.features:
        names += [feature.name] if feature.ordered else [f"{feature.name} = {c}" for c in feature.categories]
    return names


def to_sklearn(tree: Tree, leaf_counts: Counts | None = None) -> DecisionTreeClassifier:
    """Convert a tree to a fitted `DecisionTreeClassifier` that predicts the same from `design_matrix`.

    Parameters
    ----------
    tree : Tree
    leaf_counts : ndarray or None, default=None
        Training samples by leaf and class, for the probabilities. scikit-learn predicts the most frequent class of a
        leaf. Where the label of the leaf is another class, all samples of the leaf count for the label.

    Returns
    -------
    model : DecisionTreeClassifier
    """
    from sklearn.tree import DecisionTreeClassifier
    from sklearn.tree._tree import Tree as SklearnTree

    rows = _sklearn_rows(tree, _counts_by_label(tree, leaf_counts))
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
    for k, (left, right, column, threshold, counts, missing_left) in enumerate(rows):
        share = counts / counts.sum() if counts.sum() else np.full(len(counts), 1.0 / len(counts))
        nodes[k]["left_child"], nodes[k]["right_child"] = left, right
        nodes[k]["feature"], nodes[k]["threshold"] = column, threshold
        nodes[k]["missing_go_to_left"] = missing_left
        nodes[k]["impurity"] = 1.0 - (share**2).sum()
        nodes[k]["n_node_samples"] = nodes[k]["weighted_n_node_samples"] = max(counts.sum(), 1)
        values[k, 0] = share
    state |= {"max_depth": tree.depth, "node_count": len(rows), "nodes": nodes, "values": values}
    empty.__setstate__(state)
    model.tree_ = empty
    return model


def from_sklearn(
    model: FittedModel, X: TableLike, *, kinds: PerColumn = None, max_bins: int = 10
) -> tuple[Tree, Table]:
    """Convert a fitted `DecisionTreeClassifier` to a `Tree`.

    In columns of floats, the thresholds become edges of bins, so that the tree is exactly the same.

    Parameters
    ----------
    model : DecisionTreeClassifier
        A fitted classifier with one output.
    X : frame or array
        Table of numbers or booleans, with the columns that the model was fitted with. A categorical column that was
        encoded as columns of 0 and 1 counts as several features.
    kinds : optional
        Kinds of the columns, as the parameter `feature_kinds` of `RobustTreeClassifier`.
    max_bins : int, default=10
        Largest number of bins of a column of floats, before the thresholds are added.

    Returns
    -------
    tree : Tree
    table : Table
        `X` as the tree reads it.

    Raises
    ------
    TypeError
        If the model is not a fitted tree classifier.
    ValueError
        If the table does not fit the model.
    """
    sklearn_tree = getattr(model, "tree_", None)
    if sklearn_tree is None or not hasattr(sklearn_tree, "children_left"):
        raise TypeError(f"the model is a {type(model).__name__}; expected a fitted DecisionTreeClassifier")
    if not hasattr(model, "classes_"):
        raise TypeError(f"the model is a {type(model).__name__}, which predicts no classes; expected a classifier")
    if getattr(model, "n_outputs_", 1) != 1:
        raise ValueError(f"the tree predicts {model.n_outputs_} outputs; expected one")
    columns = _columns_read(model, X)
    kind_of = by_feature("kinds", kinds, [column.name for column in columns], default=None)
    features = [
        _with_thresholds(learn_feature(column, kind, max_bins), sklearn_tree.threshold[sklearn_tree.feature == j])
        for j, (column, kind) in enumerate(zip(columns, kind_of, strict=True))
    ]
    table = encode({column.name: _values(column) for column in columns}, features=features)
    return Tree(table.features, tuple(model.classes_), _node_from_sklearn(sklearn_tree, features, 0)), table


def table_read(model: FittedModel, X: TableLike, features: Sequence[Feature]) -> Table:
    """Encode a table as a fitted `DecisionTreeClassifier` reads it.

    Parameters
    ----------
    model : DecisionTreeClassifier
    X : frame or array
        Table of numbers or booleans, with the columns that the model was fitted with.
    features : sequence of Feature
        Features of the tree that `from_sklearn` made of the model.

    Returns
    -------
    table : Table
    """
    return encode({column.name: _values(column) for column in _columns_read(model, X)}, features=features)


def _values(column: Column) -> Array:
    return (
        column.values
        if column.is_missing is None
        else np.where(column.is_missing, np.nan, column.values.astype(np.float64))
    )


def _columns_read(model: FittedModel, X: TableLike) -> list[Column]:
    # Each split of a scikit-learn tree sends missing values to a side, even if there were none in training.
    columns = _in_order(model, read_columns(X, "category"), named=_has_names(X))
    return [_in_single_precision(column) for column in columns]


def _has_names(X: TableLike) -> bool:
    return hasattr(X, "columns") or isinstance(X, Mapping)


def _in_order(model: FittedModel, columns: list[Column], *, named: bool) -> list[Column]:
    """Columns in the order that the model was fitted with: by name if both have names, otherwise by position."""
    if len(columns) != model.n_features_in_:
        raise ValueError(f"X has {len(columns)} columns; the tree was fitted with {model.n_features_in_}")
    if not named or not hasattr(model, "feature_names_in_"):
        return columns
    by_name = {column.name: column for column in columns}
    absent = [str(name) for name in model.feature_names_in_ if str(name) not in by_name]
    if absent:
        raise ValueError(f"X lacks the columns {absent}, which the tree was fitted with; it has {list(by_name)}")
    return [by_name[str(name)] for name in model.feature_names_in_]


def _in_single_precision(column: Column) -> Column:
    """Round a column as scikit-learn does, which compares 32-bit floats."""
    if column.values.dtype.kind not in "biuf":
        raise ValueError(
            f'column "{column.name}" is text; a scikit-learn tree reads numbers: pass the table that it was fitted with'
        )
    if column.values.dtype.kind == "f":
        return replace(column, values=column.values.astype(np.float32).astype(np.float64))
    if column.values.dtype.kind in "iu":
        _refuse_large(column.name, column.values)
    return column


def _refuse_large(name: str, numbers: Array) -> None:
    if numbers.size and np.abs(numbers.astype(np.float64)).max() > EXACT_IN_FLOAT32:
        raise ValueError(
            f'column "{name}" has whole numbers beyond {EXACT_IN_FLOAT32}, which scikit-learn rounds; '
            f"rescale it, such as to days or thousands"
        )


def _refuse_rounding(tree: Tree, j: int, numbers: NDArray[np.float64]) -> None:
    """Refuse numbers that scikit-learn, which compares 32-bit floats, would send to another side."""
    feature = tree.features[j]
    for node in tree.nodes:
        if isinstance(node, Branch) and node.feature == j and node.code != BELOW_ALL:
            goes_left = numbers.astype(np.float32) <= _sklearn_threshold(feature, node.code)
            if (goes_left != (numbers <= feature.edges[node.code])).any():
                raise ValueError(
                    f'column "{feature.name}" has numbers that scikit-learn, which rounds to 32 bits, puts on another '
                    f"side of {feature.edges[node.code]}; rescale the column before fitting"
                )


def _with_thresholds(feature: Feature, thresholds: NDArray[np.float64]) -> Feature:
    """Add the thresholds of a tree to the edges of a feature."""
    if feature.kind is Kind.BINNED:
        edges = tuple(sorted({*feature.edges, *thresholds[np.isfinite(thresholds)].tolist()}))
        return replace(feature, high=len(edges), edges=edges)
    if not feature.ordered or not all(isinstance(category, int | float) for category in feature.categories):
        raise ValueError(
            f'column "{feature.name}" is {feature.kind}, which the thresholds of a scikit-learn tree do not fit; '
            f"leave the kind to the dtype"
        )
    return feature


def _node_from_sklearn(sklearn_tree: SklearnTree, features: Sequence[Feature], at: int) -> Node:
    """Convert the subtree at a position of scikit-learn's arrays."""
    left, right = int(sklearn_tree.children_left[at]), int(sklearn_tree.children_right[at])
    if left < 0:
        return Leaf(int(sklearn_tree.value[at, 0].argmax()))
    j, threshold = int(sklearn_tree.feature[at]), float(sklearn_tree.threshold[at])
    feature = features[j]
    missing_left = feature.missing and bool(sklearn_tree.missing_go_to_left[at])

    def subtree(child: int) -> Node:
        return _node_from_sklearn(sklearn_tree, features, child)

    def split_off_missing(values_left: bool) -> Node:
        """Convert a node whose recorded values all go to one side: it splits off missing values, or nothing."""
        values, missing = (left, right) if values_left else (right, left)
        if not feature.missing or missing_left == values_left:
            return subtree(values)
        return Branch(j, BELOW_ALL, subtree(missing), subtree(values), True)

    if not np.isfinite(threshold):
        return split_off_missing(values_left=True)
    if feature.kind is Kind.INTEGER:
        code = math.floor(threshold)
    elif feature.kind is Kind.BINNED:
        code = feature.edges.index(threshold)
    else:
        code = sum(float(category) <= threshold for category in feature.categories) - 1
        if code < 0 or code == feature.high:
            return split_off_missing(values_left=code >= 0)
    return Branch(j, code, subtree(left), subtree(right), missing_left)


def _counts_by_label(tree: Tree, leaf_counts: Counts | None) -> Counts:
    """Samples by leaf and class, in which the label of each leaf is its most frequent class."""
    labels = np.array([region.label for region in tree.regions])
    counts = np.zeros((len(labels), len(tree.classes)), dtype=np.int64) if leaf_counts is None else leaf_counts.copy()
    for leaf, label in enumerate(labels):
        if counts[leaf].argmax() != label or not counts[leaf].any():
            total = counts[leaf].sum() or 1
            counts[leaf] = 0
            counts[leaf, label] = total
    return counts


def _sklearn_rows(tree: Tree, leaf_counts: Counts) -> list[_SklearnRow]:
    """Nodes in preorder.

    The column of a category is 1 where a sample has it. Every recorded value is at most infinity, so that threshold
    splits off missing values.
    """
    first = np.cumsum([0] + [1 if f.ordered else f.n_values for f in tree.features])
    rows: list[_SklearnRow] = []
    next_counts = iter(leaf_counts)

    def write(node: Node) -> int:
        at = len(rows)
        rows.append(_SklearnRow(-1, -1, -2, -2.0, leaf_counts[0], False))
        if isinstance(node, Leaf):
            rows[at] = rows[at]._replace(counts=next(next_counts))
            return at
        left, right = write(node.left), write(node.right)
        counts = rows[left].counts + rows[right].counts
        feature = tree.features[node.feature]
        column = first[node.feature]
        if node.code == BELOW_ALL:
            rows[at] = _SklearnRow(right, left, column, np.inf, counts, False)
        elif feature.ordered:
            threshold = _sklearn_threshold(feature, node.code)
            rows[at] = _SklearnRow(left, right, column, threshold, counts, node.missing_left)
        else:  # samples of the category have 1 in its column, so they go to the right of 0.5
            rows[at] = _SklearnRow(right, left, column + node.code, 0.5, counts, False)
        return at

    write(tree.root)
    return rows


def _sklearn_threshold(feature: Feature, code: int) -> float:
    if feature.kind is not Kind.BINNED:
        return code + 0.5
    # scikit-learn rounds values to 32 bits first; a value just at the edge must still go left.
    return max(feature.edges[code], float(np.float32(feature.edges[code])))
