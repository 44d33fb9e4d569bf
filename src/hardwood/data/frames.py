"""Reading frames, mappings and arrays: a caller's table becomes a list of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np

from hardwood._util.arrays import Array, BoolArray
from hardwood._util.errors import ArgumentError, Verbatim
from hardwood._util.text import printable
from hardwood._util.types import ColumnLike, LabelsLike, TableLike
from hardwood.data.columns import MISSING_CATEGORY, Column, check_not_missing, dtype_message, is_missing, object_array

Series: TypeAlias = nw.Series[Any]  # of any library

NO_ROWS = "the table has no rows; expected at least one sample"


def read_columns(X: TableLike, missing: str = "error") -> list[Column]:
    """Read the columns of a table.

    Parameters
    ----------
    X : frame, mapping, array or list of rows
        A frame of any library that narwhals supports, a mapping from names to columns, or rows of values. Columns of
        arrays and of lists are named x0, x1, ...
    missing : {"error", "category"}, default="error"
        Whether missing values are refused or allowed.

    Returns
    -------
    columns : list of Column
        At least one, with different names and at least one row.
    """
    if missing not in ("error", "category"):
        raise ArgumentError("missing", missing, 'expected "error" or "category"')
    if isinstance(X, list | tuple):
        # As objects, so that each column keeps its own type and missing values do not become text.
        X = np.array(X, dtype=object) if len(X) else np.empty((0, 1))
    if isinstance(X, np.ndarray):
        columns = _array_columns(X, missing)
    else:
        columns = _mapping_columns(X, missing) if isinstance(X, Mapping) else _frame_columns(X, missing)
    if not columns:
        raise ValueError("the table has no columns; expected at least one")
    check_unique_names(column.name for column in columns)
    if len(columns[0].values) == 0:
        raise ValueError(NO_ROWS)
    return columns


def read_column(name: str, values: ColumnLike, missing: str = "error") -> Column:
    """Read one column from a series, a categorical, an array or a list; `missing` as in `read_columns`."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _series_column(name, series, missing)
    if hasattr(values, "categories") and hasattr(values, "ordered"):  # pandas.Categorical
        cells, categories = object_array(list(values)), tuple(values.categories)
        return Column.from_values(name, cells, categories, ordered=bool(values.ordered), missing=missing)
    if isinstance(values, np.ndarray):
        return Column.from_values(name, values, missing=missing)
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise TypeError(f'column "{name}" is {values!r}; expected one value for each row')
    return Column.from_values(name, object_array(list(values)), missing=missing)


def select_rows(X: TableLike, mask: BoolArray) -> TableLike:
    """Return the rows of a caller's table, array or series where the mask is true, in the same form."""
    if isinstance(X, Mapping):
        return {name: select_rows(column, mask) for name, column in X.items()}
    native = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame | nw.Series):
        return native.filter(mask.tolist()).to_native()
    if isinstance(X, list | tuple):
        return [entry for entry, kept in zip(X, mask, strict=True) if kept]
    return X[mask]


def n_rows(X: TableLike) -> int:
    """Return the number of rows of a caller's table."""
    return len(next(iter(X.values()))) if isinstance(X, Mapping) else len(X)


def check_unique_names(names: Iterable[object]) -> None:
    """Raise an error if two columns have the same name; names that are not text are compared as text."""
    repeated = [name for name, count in Counter(map(str, names)).items() if count > 1]
    if repeated:
        raise ValueError(
            f'column names must differ from each other; "{printable(repeated[0])}" occurs twice; rename the columns'
        )


def check_labels_not_missing(y: LabelsLike) -> None:
    """Raise an error that names the first missing label."""
    mask = _missing_labels(y)
    if mask.any():
        raise ArgumentError(
            "y",
            Verbatim("missing (NaN)"),
            "nothing can be learnt from a row without a label",
            remedy="drop such rows",
            row=int(mask.argmax()),
        )


def _missing_labels(y: LabelsLike) -> BoolArray:
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series) and not (series.dtype == nw.Object or series.dtype.is_float()):
        return np.asarray(series.is_null().to_numpy(), dtype=bool)
    if np.ma.isMaskedArray(y):
        return np.asarray(np.ma.getmaskarray(y).ravel(), dtype=bool)
    values = np.asarray(y)
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values), dtype=bool)
    if values.dtype.kind == "O":
        return np.array([is_missing(value) for value in values.ravel()], dtype=bool)
    return np.zeros(1, dtype=bool)


def _array_columns(array: Array, missing: str) -> list[Column]:
    if array.ndim != 2:
        raise ValueError(
            f"X is a {array.ndim}-dimensional array; expected two dimensions, samples by features, with rows of equal "
            f"length (use X.reshape(-1, 1) for a single feature)"
        )
    if array.shape[0] == 0:
        raise ValueError(NO_ROWS)
    return [Column.from_values(f"x{j}", array[:, j], missing=missing) for j in range(array.shape[1])]


def _mapping_columns(mapping: Mapping[str, ColumnLike], missing: str) -> list[Column]:
    columns = [read_column(str(name), values, missing) for name, values in mapping.items()]
    for column in columns:
        if column.values.shape != columns[0].values.shape[:1]:
            raise ValueError(
                f'column "{column.name}" has shape {column.values.shape}; '
                f'expected one value for each row, as many as column "{columns[0].name}"'
            )
    return columns


def _frame_columns(X: TableLike, missing: str) -> list[Column]:
    try:
        frame = nw.from_native(X, eager_only=True)
        names = [str(name) for name in frame.columns]
    except nw.exceptions.DuplicateError:
        check_unique_names(map(str, getattr(X, "column_names", X.columns)))  # arrow's `columns` are data, not names
        raise
    except TypeError:
        raise TypeError(
            f"X is a {type(X).__name__}; expected a numpy array, a pandas, polars or arrow frame, or a mapping of "
            f"columns (collect a lazy frame first, make a frame of a series)"
        ) from None
    if frame.shape[0] == 0:
        raise ValueError(NO_ROWS)
    return [_series_column(name, series, missing) for name, series in zip(names, frame.iter_columns(), strict=True)]


def _series_column(name: str, series: Series, missing: str) -> Column:
    dtype = series.dtype
    if missing == "error":
        check_not_missing(name, np.asarray(series.is_null().to_numpy()))
    if isinstance(dtype, nw.Enum):
        cells = object_array(series.to_list())
        return Column.from_values(name, cells, tuple(dtype.categories), ordered=True, missing=missing)
    if dtype == nw.Categorical:
        # Only the native pandas column still knows declared categories that no row uses, and their order.
        native = series.to_native()
        declared = (
            tuple(native.cat.categories) if series.implementation.is_pandas_like() and hasattr(native, "cat") else ()
        )
        seen = [value for value in series.unique().to_list() if not is_missing(value)]
        if all(isinstance(category, str) for category in (*declared, *seen)):
            return _text_column(name, series.cast(nw.String), declared or tuple(sorted(seen)))
        cells = object_array(series.to_list())
        return Column.from_values(name, cells, declared or tuple(sorted(seen)), missing=missing)
    if dtype == nw.String:
        return _text_column(name, series)
    untyped = series.null_count() == len(series) and not (dtype.is_numeric() or dtype == nw.Boolean)
    if dtype == nw.Object or untyped:
        return Column.from_values(name, object_array(series.to_list()), missing=missing)
    return _number_column(name, series, missing)


def _number_column(name: str, series: Series, missing: str) -> Column:
    dtype = series.dtype
    if dtype == nw.Decimal:
        series = series.cast(nw.Float64)
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        raise TypeError(dtype_message(name, dtype))
    mask = np.asarray(series.is_null().to_numpy())
    if not mask.any():
        return Column.from_values(name, np.asarray(series.to_numpy()), missing=missing)
    numbers = np.asarray(series.fill_null(False if dtype == nw.Boolean else 0).to_numpy())
    return Column.from_values(name, np.ma.MaskedArray(numbers, mask), missing=missing)


def _text_column(name: str, series: Series, declared: tuple[str, ...] = ()) -> Column:
    """Read text whose values the series' own library enumerates; missing values were refused or become a category."""
    if series.implementation.is_pyarrow():
        series = series.cast(nw.String)  # arrow has several types of text and cannot enumerate all of them
    mask = np.asarray(series.is_null().to_numpy())
    if mask.any():
        series = series.fill_null(MISSING_CATEGORY)
        declared = (*declared, MISSING_CATEGORY) if declared and MISSING_CATEGORY not in declared else declared
    levels = tuple(map(str, series.unique().to_list()))
    positions = series.replace_strict(list(levels), list(range(len(levels))), return_dtype=nw.Int32).to_numpy()
    level_codes = np.asarray(positions, dtype=np.int32)
    return Column.from_levels(name, levels, level_codes, declared, mask if mask.any() else None)
