"""Tables for models that are not trees: shifted values in the form of the caller's frame or array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import narwhals.stable.v2 as nw
import numpy as np

from hardwood._util.arrays import Array
from hardwood._util.types import FittedModel, TableLike
from hardwood.data.codes import MISSING_CODE
from hardwood.data.columns import MISSING_CATEGORY, Category, Column
from hardwood.data.feature import Kind
from hardwood.data.frames import read_columns
from hardwood.data.labels import Labels
from hardwood.data.table import Table


def accuracy_of(model: FittedModel, X: TableLike, labels: Labels, classes: Sequence[Category]) -> float:
    """Compute the weighted accuracy of any classifier.

    Parameters
    ----------
    model : classifier
        A fitted classifier with `predict`.
    X : table
        Rows as the model takes them.
    labels : Labels
        The true classes of the rows, their weights and class weights.
    classes : sequence
        The label of each class code.

    Returns
    -------
    float
    """
    correct = np.asarray(model.predict(X)) == np.asarray(classes)[labels.codes]
    return labels.weighted_count(correct) / labels.total


def values_like(X: TableLike, table: Table, shifted: Table) -> TableLike:
    """Return a shifted table in the form of the caller's table.

    Parameters
    ----------
    X : table
        The caller's table.
    table, shifted : Table
        X as hardwood encodes it, before and after a shift.

    Returns
    -------
    table
        X with the shifted values; all other values are unchanged. A number that moves to another bin becomes the
        median of the numbers in that bin.
    """
    columns = {}
    for j, (feature, column) in enumerate(zip(table.features, read_columns(X, "category"), strict=True)):
        values = np.array(column.values, dtype=object)
        if column.is_missing is not None:
            values[column.is_missing] = None
        medians = _bin_medians(table, j, column) if feature.kind is Kind.BINNED else {}
        for row in np.flatnonzero(shifted.values[:, j] != table.values[:, j]):
            code = int(shifted.values[row, j])
            is_missing = code == MISSING_CODE or feature.decode(code) == MISSING_CATEGORY
            values[row] = None if is_missing else medians.get(code, feature.decode(code))
        columns[feature.name] = values
    return _in_form_of(X, columns)


def _bin_medians(table: Table, j: int, column: Column) -> dict[int, float]:
    """Return the median of the numbers in each bin of a column."""
    codes = table.values[:, j]
    return {
        int(code): float(np.median(column.values[codes == code])) for code in np.unique(codes) if code != MISSING_CODE
    }


def _in_form_of(X: TableLike, columns: Mapping[str, Array]) -> TableLike:
    """Return columns as a table of the caller's type, with the dtypes of its columns."""
    if isinstance(X, Mapping):
        return dict(columns)
    if hasattr(X, "iloc"):  # pandas
        frame = X.copy()
        for name, (new_name, values) in zip(X.columns, columns.items(), strict=True):
            frame[name] = type(X[name])(values, index=X.index, name=new_name).astype(X[name].dtype)
        return frame
    if hasattr(X, "columns"):
        native = nw.from_native(X, eager_only=True)
        series = [
            nw.new_series(name, list(values), dtype=native[name].dtype, backend=native.implementation)
            for name, values in columns.items()
        ]
        return native.with_columns(*series).to_native()
    return np.column_stack(list(columns.values())).astype(np.asarray(X).dtype)
