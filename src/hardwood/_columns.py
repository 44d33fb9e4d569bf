"""Reading: any frame or array becomes a list of named numpy columns without missing values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

REMEDY_MISSING = "drop such rows, fill them in, or make 'missing' an answer of its own"


@dataclass(frozen=True, slots=True)
class Column:
    """A column as read: numbers or booleans in a numeric array, anything else as objects of one Python type."""

    name: str
    values: NDArray[Any]
    categories: tuple[Any, ...] = ()
    ordered: bool = False

    @classmethod
    def of(cls, name: str, values: NDArray[Any], categories: tuple[Any, ...] = (), *, ordered: bool = False) -> Column:
        """A column with its values checked: nothing missing, nothing infinite, one type."""
        if values.dtype.kind in "USOT":
            values = _plain_objects(name, values.astype(object))
        if values.dtype.kind not in "biufO":
            raise TypeError(
                f'column "{name}" has dtype {values.dtype}; expected numbers, booleans, text or categories '
                f"(turn dates into numbers, such as days)"
            )
        if values.dtype.kind == "f":
            bad = ~np.isfinite(values)
            if bad.any():
                row = int(bad.argmax())
                what, remedy = (
                    ("missing (NaN)", REMEDY_MISSING) if np.isnan(values[row]) else ("infinite", "use a finite number")
                )
                raise ValueError(f'column "{name}", row {row} is {what}; {remedy}')
        return cls(name, values, categories, ordered)


def read_columns(X: Any) -> list[Column]:  # noqa: N803
    """The columns of a frame (anything narwhals reads), a mapping, or an array, whose columns are x0, x1, ..."""
    if isinstance(X, np.ndarray | list | tuple):
        columns = _array_columns(np.asarray(X))
    else:
        columns = _mapping_columns(X) if isinstance(X, Mapping) else _frame_columns(X)
    if not columns:
        raise ValueError("the table has no columns; expected at least one")
    if len(columns[0].values) == 0:
        raise ValueError("the table has no rows; expected at least one sample")
    return columns


def _array_columns(array: NDArray[Any]) -> list[Column]:
    if array.ndim != 2:
        raise ValueError(
            f"X is a {array.ndim}-dimensional array; expected two dimensions, samples by features "
            f"(use X.reshape(-1, 1) for a single feature)"
        )
    if array.shape[0] == 0:
        raise ValueError("the table has no rows; expected at least one sample")
    return [Column.of(f"x{j}", array[:, j]) for j in range(array.shape[1])]


def _mapping_columns(mapping: Mapping[str, Any]) -> list[Column]:
    columns = [Column.of(str(name), np.asarray(values)) for name, values in mapping.items()]
    for column in columns:
        if column.values.shape != columns[0].values.shape[:1]:
            raise ValueError(
                f'column "{column.name}" has shape {column.values.shape}; '
                f'expected one value for each row, as many as column "{columns[0].name}"'
            )
    return columns


def _frame_columns(X: Any) -> list[Column]:  # noqa: N803
    try:
        frame = nw.from_native(X, eager_only=True)
        names = [str(name) for name in frame.columns]
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"column names must differ from each other; {error}; rename the columns") from None
    except TypeError as error:
        raise TypeError(
            f"X is a {type(X).__name__}; expected a numpy array, a pandas, polars or arrow frame, or a mapping "
            f"(collect a lazy frame first): {error}"
        ) from None
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f'column names must differ from each other; "{repeated[0]}" stands twice; rename the columns')
    if frame.shape[0] == 0:
        raise ValueError("the table has no rows; expected at least one sample")
    return [_frame_column(name, series) for name, series in zip(names, frame.iter_columns(), strict=True)]


def _frame_column(name: str, series: Any) -> Column:
    missing = series.is_null()
    if missing.any():
        row = int(np.asarray(missing.to_numpy()).argmax())
        raise ValueError(f'column "{name}", row {row} is missing; {REMEDY_MISSING}')
    dtype = series.dtype
    if dtype == nw.Enum:
        categories = tuple(series.dtype.categories)
        return Column.of(name, _objects(series.to_list()), categories, ordered=True)
    if dtype == nw.Categorical:
        # Only the native pandas column still knows declared categories that no row uses, and their order.
        native = series.to_native()
        declared = tuple(native.cat.categories.tolist()) if series.implementation.is_pandas_like() else ()
        values = _objects(series.to_list())
        return Column.of(name, values, declared or tuple(sorted(set(values.tolist()))))
    if dtype == nw.String or dtype == nw.Object:
        return Column.of(name, _objects(series.to_list()))
    if dtype == nw.Decimal:
        series = series.cast(nw.Float64)
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        raise TypeError(
            f'column "{name}" has dtype {dtype}; expected numbers, booleans, text or categories '
            f"(turn dates into numbers, such as days)"
        )
    return Column.of(name, np.asarray(series.to_numpy()))


def _objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _plain_objects(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Python objects of one kind; numbers that came as objects become a numeric array again."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    for row, value in enumerate(plain):
        # `value != value` is how NaN shows itself among objects.
        if value is None or (isinstance(value, float) and value != value):
            raise ValueError(f'column "{name}", row {row} is missing; {REMEDY_MISSING}')
        if not isinstance(value, str | int | float):
            raise TypeError(
                f'column "{name}", row {row} is a {type(value).__name__} ({value!r}); '
                f"expected text, numbers or booleans"
            )
    types = {type(value) for value in plain}
    if types <= {int, float} or types == {bool}:
        numbers = np.asarray(plain)
        return numbers if numbers.dtype != object else numbers.astype(np.float64)  # integers beyond 64 bits
    if len(types) > 1:
        first = type(plain[0])
        row = next(row for row, value in enumerate(plain) if type(value) is not first)
        raise TypeError(
            f'column "{name}" mixes types: row 0 is {plain[0]!r}, row {row} is {plain[row]!r}; '
            f"make them all text or all numbers"
        )
    return _objects(plain)
