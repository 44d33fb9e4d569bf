"""Tables that shift at random, and the accuracy of trees on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arguments import check_integer
from hardwood._util.arrays import FloatArray
from hardwood._util.types import LabelsLike, PerColumn, TableLike
from hardwood.data.encode import encode
from hardwood.data.labels import Labels, encode_labels
from hardwood.data.table import Table
from hardwood.evaluation.cells import Cells, cells_of_trees, cells_of_values
from hardwood.shifts.models import ShiftModel
from hardwood.trees.tree import Leaf, Node, Tree

MAX_DRAWN_VALUES = 4_000_000  # drawn at a time, to bound the memory


def simulate_shifts(
    trees: Sequence[Tree],
    table: Table | TableLike,
    labels: Labels | LabelsLike,
    shifts: ShiftModel,
    *,
    n_tables: int = 5000,
    seed: int = 0,
    missing_values: PerColumn = None,
) -> FloatArray:
    """Shift a table at random many times and compute the accuracy of trees on each.

    All trees see the same tables. The same seed draws the same tables for trees that use the same features. For the
    exact distribution of one tree, see `distribution_of`.

    Parameters
    ----------
    trees : sequence of Tree
    table : Table, frame or array
        A frame or array is read with the features of the first tree.
    labels : Labels or array-like
        Labels of the rows.
    shifts : ShiftModel
        Distribution of the shifts.
    n_tables : int, default=5000
        Number of shifted tables.
    seed : int, default=0
        Seed of the random numbers.
    missing_values : optional
        Missing codes of a frame, as in `RobustTreeClassifier`.

    Returns
    -------
    accuracies : ndarray of float
        Trees by tables.

    Raises
    ------
    ValueError
        If there are no trees, or if a tree does not fit table and labels.
    """
    n_tables = check_integer("n_tables", n_tables, at_least=1)
    if not trees:
        raise ValueError("trees are empty; give at least one")
    if not isinstance(table, Table):
        table = encode(table, features=trees[0].features, missing_values=missing_values)
    if not isinstance(labels, Labels):
        labels = encode_labels(labels, table.n_samples, classes=trees[0].classes)
    for tree in trees:
        tree.check_table(table)
        if tree.classes != labels.classes:
            raise ValueError(f"a tree has the classes {list(tree.classes)}, the labels {list(labels.classes)}")
    cells = cells_of_trees(trees, table, labels, shifts)
    if labels.has_integer_weights and labels.weights is not None:  # repeated rows shift independently
        weights = labels.weights.astype(np.int64)
        cells = {j: cells_of_feature.repeated(weights) for j, cells_of_feature in cells.items()}
        labels = Labels(np.repeat(labels.codes, weights), labels.classes, class_weights=labels.class_weights)
    return _simulated_accuracies(trees, cells, labels, n_tables, seed)


def _simulated_accuracies(
    trees: Sequence[Tree], cells: dict[int, Cells], labels: Labels, n_tables: int, seed: int
) -> FloatArray:
    n_rows = len(labels.codes)
    unweighted = labels.weights is None and labels.class_weights is None
    shares = labels.sample_weights * labels.sample_class_weights / labels.total
    generators = {j: np.random.default_rng([seed, j]) for j in cells}
    size = max(1, MAX_DRAWN_VALUES // n_rows)
    accuracies = [np.empty((len(trees), 0))]
    for first in range(0, n_tables, size):
        shape = (min(size, n_tables - first), n_rows)
        drawn = {j: own.draw(generators[j].random(shape, dtype=np.float32)) for j, own in cells.items()}
        correct = (_is_correct(tree.root, cells, drawn, labels, shape) for tree in trees)
        accuracies.append(np.array([mask.mean(axis=1) if unweighted else mask @ shares for mask in correct]))
    return np.concatenate(accuracies, axis=1)


def shifted_tables(
    table: Table, labels: Labels, shifts: ShiftModel, *, n_tables: int = 100, seed: int = 0
) -> Iterator[Table]:
    """Yield tables whose values shift at random, for models that are not trees.

    Integers that would leave the range of their column stay at its end, because no model has seen values beyond.

    Parameters
    ----------
    table : Table
    labels : Labels
        Labels and weights of the table.
    shifts : ShiftModel
        Distribution of the shifts.
    n_tables : int, default=100
        Number of shifted tables.
    seed : int, default=0
        Seed of the random numbers.

    Yields
    ------
    table : Table
    """
    n_tables = check_integer("n_tables", n_tables, at_least=1)
    columns = cells_of_values(table, labels, shifts)
    generator = np.random.default_rng(seed)
    for _ in range(n_tables):
        values = np.empty(table.values.shape, dtype=np.int32, order="F")
        for j, (cells, codes) in enumerate(columns):
            values[:, j] = codes[cells.draw(generator.random(table.n_samples, dtype=np.float32))]
        yield Table(table.features, values)


def _is_correct(
    node: Node, cells: dict[int, Cells], drawn: dict[int, NDArray[np.uint16]], labels: Labels, shape: tuple[int, int]
) -> NDArray[np.bool_]:
    """Whether a subtree classifies each sample of each table correctly: tables by samples."""
    if isinstance(node, Leaf):
        return np.broadcast_to(labels.codes == node.label, shape)
    goes_left = cells[node.feature].left(node)[drawn[node.feature]]
    left, right = (_is_correct(child, cells, drawn, labels, shape) for child in (node.left, node.right))
    return np.where(goes_left, left, right)
