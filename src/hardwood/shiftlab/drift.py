"""Drift: the cost of an observed shift, compared with the budget that a tree was learnt for.

If both tables are of the same people, the cost of every change is known. If they are of different people, only the
least cost is known that explains how the distribution of each column changed. A tree reads only the columns of its
splits, so its guarantee holds if the changes in these columns stay within the budget.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from hardwood._util.arrays import FloatArray, IntArray
from hardwood._util.types import FittedModel, LabelsLike, PerColumn, TableLike, WeightsLike
from hardwood.data.codes import MISSING_CODE
from hardwood.data.columns import Column
from hardwood.data.encode import encode
from hardwood.data.feature import Feature
from hardwood.data.frames import read_column
from hardwood.data.labels import ClassWeight, Labels, encode_labels
from hardwood.data.pairs import check_equal_row_counts, matching_rows, row_identifiers
from hardwood.data.table import Table
from hardwood.estimators.any_model import column_named, known_columns, shifts_for, tree_and_table, unwrap_pipeline
from hardwood.estimators.base import TreeClassifier
from hardwood.estimators.cells import select_cell_rows
from hardwood.shiftlab.coverage import used_features
from hardwood.shiftlab.drift_result import ColumnDrift, Drift
from hardwood.shiftlab.transport import Transport, column_transport, shares_by_code
from hardwood.shifts.models import ShiftModel
from hardwood.shifts.shift_model import field_names, replaced
from hardwood.shifts.uncertainty_set import UncertaintySet
from hardwood.trees.attack import attack
from hardwood.trees.tree import Tree

ERROR_RATE = 0.05  # probability that sampling variation is mistaken for a shift, in all columns together
N_RESAMPLES = 60  # pairs of samples that show how much sampling variation costs


def drift(
    model: FittedModel,
    X_then: TableLike,
    X_now: TableLike,
    y_then: LabelsLike | None = None,
    y_now: LabelsLike | None = None,
    sample_weight: WeightsLike | None = None,
    *,
    on: str | None = None,
    different_people: bool = False,
    shifts: ShiftModel | None = None,
    class_weight: ClassWeight = None,
    missing_values: PerColumn = None,
    **shift_parameters: object,
) -> Drift:
    """Compute the cost of the shift from one table to another, compared with the budget of a tree.

    Parameters
    ----------
    model : tree
        Anything that `audit` accepts.
    X_then, X_now : table
        The table that the guarantee is about, such as the training table, and a later one.
    y_then, y_now : labels or None
        Labels, to compare the accuracy with the guarantee. If rows are linked, `y_now` defaults to `y_then`.
    sample_weight : array-like or None
        Weight of each row of `X_then`.
    on : str or None
        Column that identifies people. Without it, row i of both tables is the same person.
    different_people : bool, default=False
        Whether no person is in both tables. Drift is then the least cost that explains how the distributions of the
        columns changed, beyond what sampling variation explains.
    shifts : ShiftModel or None
        The shifts that were hedged against; the default is what the model was fitted for.
    class_weight, missing_values
        As in `audit`.
    **shift_parameters
        The shifts as separate arguments instead of `shifts`: certainty, plausibility, ... A plausibility alone changes
        only the budget of the shifts that the model was fitted for.

    Returns
    -------
    drift : Drift
    """
    model, shifts, class_weights = shifts_for(model, shifts, shift_parameters, class_weight)
    rows = None
    if on is not None and not different_people:
        names = [row_identifiers(_column(table, on), which) for table, which in ((X_then, "first"), (X_now, "second"))]
        rows = matching_rows(on, *names)
    if on is not None:
        X_then, X_now = (_without_column(on, model, table) for table in (X_then, X_now))
    tree, then = _read_then(model, X_then, missing_values)
    now = _read_now(model, tree, X_now, missing_values)
    weights = encode_labels(np.zeros(then.n_samples), then.n_samples, weights=sample_weight).sample_weights
    labels = labels_now = None
    if y_then is not None:
        labels = encode_labels(
            y_then, then.n_samples, classes=tree.classes, weights=sample_weight, class_weight=class_weights
        )
    if y_now is not None:
        labels_now = encode_labels(y_now, now.n_samples, classes=tree.classes)
    tables = _Tables(then, now, weights, labels, labels_now)
    if rows is not None:
        chosen = np.isin(np.arange(then.n_samples), rows[0])
        if shifts.per_cell:
            cells = [name for name in ("certainty", "costs") if name in field_names(shifts)]
            shifts = replaced(shifts, **{name: select_cell_rows(getattr(shifts, name), chosen) for name in cells})
        tables = tables.rows(*rows)
    if not different_people:
        check_equal_row_counts(tables.then.n_samples, tables.now.n_samples)
    uncertainty = shifts.uncertainty(tables.then, total_weight=float(tables.weights.sum()))
    return _drift(tree, uncertainty, tables, linked=not different_people)


@dataclass(frozen=True, eq=False)
class _Tables:
    """The two tables; weights are those of the rows of the first."""

    then: Table
    now: Table
    weights: FloatArray
    labels: Labels | None
    labels_now: Labels | None

    def rows(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> _Tables:
        """Rows of the first and of the second table, in the given order."""
        return _Tables(
            self.then.rows(first),
            self.now.rows(second),
            self.weights[first],
            None if self.labels is None else self.labels.rows(first),
            None if self.labels_now is None else self.labels_now.rows(second),
        )


def _drift(tree: Tree, uncertainty: UncertaintySet, tables: _Tables, *, linked: bool) -> Drift:
    """Drift of two tables that are read, restricted to linked rows."""
    column_drift = _linked_column if linked else _unlinked_column
    used = used_features(tree)
    columns = {
        name: column_drift(uncertainty, tables.now, j, tables.weights, j in used)
        for j, name in enumerate(tables.then.names)
    }
    found = Drift(columns, float(tables.weights.sum()), uncertainty.budget, linked, uncertainty)
    if tables.labels is None:
        return found
    return _with_accuracy(found, tree, tables.now, tables.labels, tables.labels_now)


def _with_accuracy(found: Drift, tree: Tree, now: Table, labels: Labels, labels_now: Labels | None) -> Drift:
    """The drift with the accuracy on both tables, the guarantee, and the flipped rows."""
    before = attack(tree, labels, found.uncertainty)
    found = replace(found, then=before.nominal_accuracy, guarantee=before.worst_case_accuracy)
    tree_now = Tree(now.features, tree.classes, tree.root)
    if not found.linked:
        if labels_now is None:
            return found
        later = Labels(labels_now.codes, labels.classes, class_weights=labels.class_weights)
        return replace(found, now=later.weighted_count(tree_now.predict(now) == later.codes) / later.total)
    codes = labels.codes if labels_now is None else labels_now.codes
    weights, same_label = labels.sample_weights, codes == labels.codes
    later = Labels(codes, labels.classes, labels.weights, labels.class_weights)
    correct = tree_now.predict(now) == codes
    flipped = same_label & ~correct & (tree.predict(before.table) == codes)
    cost = float(before.margins[flipped] @ weights[flipped])
    return replace(
        found,
        now=later.weighted_count(correct) / later.total,
        labels_changed=float(weights[~same_label].sum()),
        flipped=float(weights[flipped].sum()),
        flipped_cost=cost if math.isfinite(cost) else None,
    )


def _read_then(model: FittedModel, X: TableLike, missing_values: PerColumn) -> tuple[Tree, Table]:
    """The tree, and the first table as the tree reads it."""
    last, read = unwrap_pipeline(model, X)
    return tree_and_table(last, read, missing_values=missing_values)


def _read_now(model: FittedModel, tree: Tree, X: TableLike, missing_values: PerColumn) -> Table:
    """The second table with the features of the tree; unseen values become one additional value."""
    last, read = unwrap_pipeline(model, X)
    if isinstance(last, TreeClassifier):
        return last._encode(read, unseen="extra", missing="category")
    return encode(read, features=tree.features, unseen="extra", missing="category", missing_values=missing_values)


def _column(X: TableLike, name: str) -> Column:
    """A column of a caller's table."""
    column_named(X, name, "on")  # raises an error that lists the columns if there is no such column
    return read_column(name, X[name], "category")


def _without_column(on: str, model: FittedModel, X: TableLike) -> TableLike:
    """The table without the column that identifies people; its type stays the same."""
    if isinstance(model, TreeClassifier):
        return known_columns(model, X)
    if isinstance(X, Mapping):
        return {name: column for name, column in X.items() if name != on}
    return nw.from_native(X, eager_only=True).drop(on, strict=False).to_native()


def _unknown(feature: Feature, codes: IntArray) -> NDArray[np.bool_]:
    """Mask of the codes that are no values of the feature."""
    if feature.ordered:
        return np.asarray((codes == MISSING_CODE) & (not feature.missing))
    return np.asarray(codes > feature.high)


def _linked_column(uncertainty: UncertaintySet, now: Table, j: int, weights: FloatArray, used: bool) -> ColumnDrift:
    """Drift of one column if row i of both tables is the same person."""
    table = uncertainty.costs.table
    feature, new = table.features[j], now.values[:, j]
    unknown = _unknown(feature, new)
    known = np.where(unknown, table.values[:, j], new)
    costs = np.where(unknown, np.inf, uncertainty.costs.move_costs(j, np.arange(table.n_samples), known))
    changed = unknown | (new != table.values[:, j])
    possible = np.isfinite(costs)
    cost = float(costs[possible] @ weights[possible])
    return ColumnDrift(feature.name, used, float(weights[changed].sum()), cost, float(weights[~possible].sum()))


def _unlinked_column(uncertainty: UncertaintySet, now: Table, j: int, weights: FloatArray, used: bool) -> ColumnDrift:
    """Drift of one column of different people: the least cost, and the part that sampling variation explains.

    The cost of transport obeys the triangle inequality. The cost between the two populations is therefore at least the
    cost between the tables, less the cost between each table and its population.
    """
    table = uncertainty.costs.table
    feature, total = table.features[j], float(weights.sum())
    codes, (then, later) = shares_by_code(table.values[:, j], now.values[:, j], weights)
    moved = 0.5 * float(np.abs(then - later).sum()) * total
    transport = column_transport(uncertainty.costs, j, weights, codes, _unknown(feature, codes))
    cost, impossible = transport(then, later * total)
    n_then = total**2 / float((weights**2).sum())  # effective sample size (Kish)
    noise = _sampling_costs(transport, then, later, n_then, now.n_samples, total, seed=j)
    # Bonferroni correction: the error rate holds for all columns together.
    n_deviations = float(norm.isf(ERROR_RATE / len(table.features)))
    drawn, drawn_impossible = noise.mean(axis=0) + n_deviations * noise.std(axis=0)
    return ColumnDrift(feature.name, used, moved, cost, impossible, float(drawn), float(drawn_impossible))


def _sampling_costs(
    transport: Transport, then: FloatArray, later: FloatArray, n_then: float, n_now: int, total: float, seed: int
) -> FloatArray:
    """Costs and impossible weights between pairs of samples that are both drawn from the pooled distribution."""
    pooled = np.where(then > 0, then * n_then + later * n_now, 0.0)  # sampling does not explain unseen values
    pooled /= pooled.sum()
    random = np.random.default_rng(seed)
    n_first = round(n_then)
    return np.array(
        [
            transport(random.multinomial(n_first, pooled) / n_first, random.multinomial(n_now, pooled) * total / n_now)
            for _ in range(N_RESAMPLES)
        ]
    )
