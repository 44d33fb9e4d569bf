"""Models that are no trees see tables as callers have them: shifted answers in the form of a frame or an array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from hardwood.data.columns import MISSING, Column, read_columns
from hardwood.data.features import NO_ANSWER, Kind, Table
from hardwood.data.labels import Labels


def accuracy_of(model: Any, X: Any, labels: Labels, classes: Any) -> float:
    """The share of what samples are worth that any classifier has right."""
    right = np.asarray(model.predict(X)) == np.asarray(classes)[labels.codes]
    return labels.worth_of(right) / labels.total


def values_like(X: Any, table: Table, shifted: Table) -> Any:
    """A caller's table with the answers that shifted, in the form that it has; the others stay as they are.

    A number that moves to another bin becomes the middle one of those that are in it.
    """
    columns = {}
    for j, (feature, column) in enumerate(zip(table.features, read_columns(X, "category"), strict=True)):
        values = np.array(column.values, dtype=object)
        if column.gone is not None:
            values[column.gone] = None
        moved = np.flatnonzero(shifted.values[:, j] != table.values[:, j])
        middle = _middles(table, j, column) if feature.kind is Kind.BINNED else {}
        for row in moved:
            code = int(shifted.values[row, j])
            none = code == NO_ANSWER or feature.decode(code) == MISSING
            values[row] = None if none else middle.get(code, feature.decode(code))
        columns[feature.name] = values
    return _in_form_of(X, columns)


def _middles(table: Table, j: int, column: Column) -> dict[int, float]:
    codes = table.values[:, j]
    return {int(code): float(np.median(column.values[codes == code])) for code in np.unique(codes) if code != NO_ANSWER}


def _in_form_of(X: Any, columns: Mapping[str, NDArray[Any]]) -> Any:
    if isinstance(X, Mapping):
        return dict(columns)
    if hasattr(X, "iloc"):  # pandas: every column as it was, as far as it goes
        frame = X.copy()
        for name, (own, values) in zip(X.columns, columns.items(), strict=True):
            frame[name] = type(X[name])(values, index=X.index, name=own).astype(X[name].dtype)
        return frame
    if hasattr(X, "columns"):
        native = nw.from_native(X, eager_only=True)
        parts = [
            nw.new_series(name, list(values), dtype=native[name].dtype, backend=native.implementation)
            for name, values in columns.items()
        ]
        return native.with_columns(*parts).to_native()
    return np.column_stack(list(columns.values())).astype(np.asarray(X).dtype)
