"""Reading: any frame or array becomes a list of named numpy columns; where answers are missing is said apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from hardwood._support.errors import DROP_ROWS, ArgumentError, Said, Setting
from hardwood._support.text import shown

NO_ROWS = "the table has no rows; expected at least one sample"
MISSING = "(missing)"  # the answer that a missing one becomes, if the caller wants it to be one
MOST_CODES = 4  # different answers of a column that may be codes for none


@dataclass(frozen=True, slots=True)
class Column:
    """A column as read: numbers or booleans in a numeric array, anything else as objects of one Python type.

    categories  the answers that were declared, used or not
    distinct    the different answers of text, in any order, and ...
    numbers     ... which of them each row has; so that nobody looks at every row's text again
    gone        where numbers and answers in an order are missing, if some are and the caller allows it; the values
                there are some other row's. In columns of text, a missing answer is the answer `MISSING`, too.
    """

    name: str
    values: NDArray[Any]
    categories: tuple[Any, ...] = ()
    ordered: bool = False
    distinct: tuple[Any, ...] = ()
    numbers: NDArray[np.int32] | None = None
    gone: NDArray[np.bool_] | None = None

    @classmethod
    def of_text(cls, name: str, distinct: tuple[str, ...], numbers: NDArray[np.int32], **declared: Any) -> Column:
        """A column of text, of which each row has one of the different answers."""
        return cls(name, objects_of(list(distinct))[numbers], **declared, distinct=distinct, numbers=numbers)

    @classmethod
    def of(
        cls,
        name: str,
        values: NDArray[Any],
        categories: tuple[Any, ...] = (),
        *,
        ordered: bool = False,
        missing: str = "error",
    ) -> Column:
        """A column with its values checked: nothing missing unless that is allowed, nothing infinite, one type."""
        if values.dtype.kind in "USOT":
            values = values.astype(object)
        as_answer = np.zeros(0, dtype=bool)
        if missing == "category" and not ordered and values.dtype.kind == "O":
            values, categories, as_answer = _missing_as_answer(values, categories)
        values, gone = _set_aside(values)
        if missing == "error":
            refuse_missing(name, gone)
        if values.dtype.kind == "O":
            values = _plain_objects(name, values)
        if gone.any():
            values = _whole_if_possible(values)
        if values.dtype.kind not in "biufO":
            raise TypeError(_unreadable(name, values.dtype))
        if values.dtype.kind == "f":
            infinite = np.isinf(values)
            if infinite.any():
                raise ValueError(f'column "{name}", row {infinite.argmax()} is infinite; use a finite number')
        categories = tuple(_plain_objects(f"categories of {name}", objects_of(list(categories))).tolist())
        if values.dtype.kind != "O":
            return cls(name, values, categories, ordered, gone=gone if gone.any() else None)
        known: dict[Any, int] = {}
        numbers = np.fromiter((known.setdefault(value, len(known)) for value in values), np.int32, len(values))
        gone = as_answer if as_answer.any() else gone
        return cls(name, values, categories, ordered, tuple(known), numbers, gone if gone.any() else None)


def read_columns(X: Any, missing: str = "error") -> list[Column]:
    """The columns of a frame (anything narwhals reads), a mapping, or an array, whose columns are x0, x1, ...

    missing  "error" refuses missing values; "category" makes them an answer of their own, in numbers one off the scale
    """
    if missing not in ("error", "category"):
        raise ArgumentError("missing", missing, 'expected "error" or "category"')
    if isinstance(X, list | tuple):
        # As objects, so that each column keeps its own type and nothing missing turns into text.
        X = np.array(X, dtype=object) if len(X) else np.empty((0, 1))
    if isinstance(X, np.ndarray):
        columns = _array_columns(X, missing)
    else:
        columns = _mapping_columns(X, missing) if isinstance(X, Mapping) else _frame_columns(X, missing)
    if not columns:
        raise ValueError("the table has no columns; expected at least one")
    refuse_repeated(column.name for column in columns)
    if len(columns[0].values) == 0:
        raise ValueError(NO_ROWS)
    return columns


def read_column(name: str, values: Any, missing: str = "error") -> Column:
    """One column from a series, a categorical, an array or a list."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _series_column(name, series, missing)
    if hasattr(values, "categories") and hasattr(values, "ordered"):  # pandas.Categorical
        answers, categories = objects_of(list(values)), tuple(values.categories)
        return Column.of(name, answers, categories, ordered=bool(values.ordered), missing=missing)
    if isinstance(values, np.ndarray):
        return Column.of(name, values, missing=missing)
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise TypeError(f'column "{name}" is {values!r}; expected one value for each row')
    return Column.of(name, objects_of(list(values)), missing=missing)


def _array_columns(array: NDArray[Any], missing: str) -> list[Column]:
    if array.ndim != 2:
        raise ValueError(
            f"X is a {array.ndim}-dimensional array; expected two dimensions, samples by features, with rows of equal "
            f"length (use X.reshape(-1, 1) for a single feature)"
        )
    if array.shape[0] == 0:
        raise ValueError(NO_ROWS)
    return [Column.of(f"x{j}", array[:, j], missing=missing) for j in range(array.shape[1])]


def _mapping_columns(mapping: Mapping[str, Any], missing: str) -> list[Column]:
    columns = [read_column(str(name), values, missing) for name, values in mapping.items()]
    for column in columns:
        if column.values.shape != columns[0].values.shape[:1]:
            raise ValueError(
                f'column "{column.name}" has shape {column.values.shape}; '
                f'expected one value for each row, as many as column "{columns[0].name}"'
            )
    return columns


def _frame_columns(X: Any, missing: str) -> list[Column]:
    try:
        frame = nw.from_native(X, eager_only=True)
        names = [str(name) for name in frame.columns]
    except nw.exceptions.DuplicateError:
        refuse_repeated(map(str, getattr(X, "column_names", X.columns)))  # arrow's columns are no names
        raise
    except TypeError:
        raise TypeError(
            f"X is a {type(X).__name__}; expected a numpy array, a pandas, polars or arrow frame, or a mapping of "
            f"columns (collect a lazy frame first, make a frame of a series)"
        ) from None
    if frame.shape[0] == 0:
        raise ValueError(NO_ROWS)
    return [_series_column(name, series, missing) for name, series in zip(names, frame.iter_columns(), strict=True)]


def _series_column(name: str, series: Any, missing: str) -> Column:
    dtype = series.dtype
    if missing == "error":
        refuse_missing(name, np.asarray(series.is_null().to_numpy()))
    if dtype == nw.Enum:
        return Column.of(name, objects_of(series.to_list()), tuple(dtype.categories), ordered=True, missing=missing)
    if dtype == nw.Categorical:
        # Only the native pandas column still knows declared categories that no row uses, and their order.
        native = series.to_native()
        declared = (
            tuple(native.cat.categories) if series.implementation.is_pandas_like() and hasattr(native, "cat") else ()
        )
        seen = [value for value in series.unique().to_list() if not is_missing(value)]
        if all(isinstance(category, str) for category in (*declared, *seen)):
            return _text_column(name, series.cast(nw.String), declared or tuple(sorted(seen)))
        return Column.of(name, objects_of(series.to_list()), declared or tuple(sorted(seen)), missing=missing)
    if dtype == nw.String:
        return _text_column(name, series)
    empty = series.null_count() == len(series) and not (dtype.is_numeric() or dtype == nw.Boolean)  # of no type at all
    if dtype == nw.Object or empty:
        return Column.of(name, objects_of(series.to_list()), missing=missing)
    return _number_column(name, series, missing)


def _number_column(name: str, series: Any, missing: str) -> Column:
    dtype = series.dtype
    if dtype == nw.Decimal:
        series = series.cast(nw.Float64)
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        raise TypeError(_unreadable(name, dtype))
    gone = np.asarray(series.is_null().to_numpy())
    if not gone.any():
        return Column.of(name, np.asarray(series.to_numpy()), missing=missing)
    numbers = np.asarray(series.fill_null(False if dtype == nw.Boolean else 0).to_numpy())
    return Column.of(name, np.ma.MaskedArray(numbers, gone), missing=missing)


def _text_column(name: str, series: Any, declared: tuple[str, ...] = ()) -> Column:
    """Text, with its answers numbered by the library that holds it. Missing ones were refused, or are an answer."""
    if series.implementation.is_pyarrow():
        series = series.cast(nw.String)  # arrow has text of several kinds, and cannot number all of them
    gone = np.asarray(series.is_null().to_numpy())
    if gone.any():
        series = series.fill_null(MISSING)
        declared = (*declared, MISSING) if declared and MISSING not in declared else declared
    distinct = tuple(map(str, series.unique().to_list()))
    numbers = series.replace_strict(list(distinct), list(range(len(distinct))), return_dtype=nw.Int32).to_numpy()
    known = np.asarray(numbers, dtype=np.int32)
    return Column.of_text(name, distinct, known, categories=declared, gone=gone if gone.any() else None)


def rows_of(X: Any, chosen: NDArray[np.bool_]) -> Any:
    """Some rows of a caller's table, or of an array or frame beside it, in the form that it has."""
    if isinstance(X, Mapping):
        return {name: rows_of(column, chosen) for name, column in X.items()}
    native = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame | nw.Series):
        return native.filter(chosen.tolist()).to_native()
    if isinstance(X, list | tuple):
        return [entry for entry, there in zip(X, chosen, strict=True) if there]
    return X[chosen]


def n_rows(X: Any) -> int:
    """How many rows a caller's table has."""
    return len(next(iter(X.values()))) if isinstance(X, Mapping) else len(X)


def refuse_repeated(names: Iterable[Any]) -> None:
    """Names of columns must differ, also if they are no text."""
    repeated = [name for name, count in Counter(map(str, names)).items() if count > 1]
    if repeated:
        raise ValueError(
            f'column names must differ from each other; "{shown(repeated[0])}" stands twice; rename the columns'
        )


def refuse_missing_labels(y: Any) -> None:
    """Labels are never missing; whatever else they are is for others to check."""
    missing = _missing_labels(y)
    if missing.any():
        raise ArgumentError(
            "y",
            Said("missing (NaN)"),
            "nothing can be learnt from a row without a label",
            remedy="drop such rows",
            row=int(missing.argmax()),
        )


def _missing_labels(y: Any) -> NDArray[np.bool_]:
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


def refuse_missing(name: str, missing: NDArray[np.bool_]) -> None:
    """An error that names the first row without an answer, and how many there are."""
    if missing.any():
        as_answer = (" makes it an answer of its own",)
        count = int(np.count_nonzero(missing))
        others = "" if count == 1 else f", as in {count - 1:,} other row{'s' if count > 2 else ''}"
        raise ArgumentError(
            "",
            Said(f"missing (NaN){others}"),
            (DROP_ROWS, ", or fill them in"),
            remedy=(Setting("missing", "category"), *as_answer),
            column=name,
            row=int(missing.argmax()),
        )


def _unreadable(name: str, dtype: object) -> str:
    return (
        f'column "{name}" has dtype {dtype}; expected numbers, booleans, text or categories '
        f"(dates can be turned into numbers, such as days)"
    )


def objects_of(values: Sequence[Any]) -> NDArray[Any]:
    """Anybody's values as an array of objects, one for each."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _plain_objects(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Python objects of one kind; numbers that came as objects become a numeric array again."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    refuse_missing(name, np.array([is_missing(value) for value in plain], dtype=bool))
    for row, value in enumerate(plain):
        if not isinstance(value, str | int | float):
            raise TypeError(
                f'column "{name}", row {row} is a {type(value).__name__} ({value!r}); '
                f"expected text, numbers or booleans"
            )
    types = {type(value) for value in plain}
    if types == {int} and not -(2**63) <= min(plain) <= max(plain) < 2**63:
        row = next(row for row, value in enumerate(plain) if not -(2**63) <= value < 2**63)
        raise ValueError(f'column "{name}", row {row} is {plain[row]}; whole numbers must fit into 64 bits: rescale it')
    if types and (types <= {int, float} or types == {bool}):
        return np.asarray(plain)
    if len(types) > 1:
        raise _mixed(name, plain)
    return objects_of(plain)


def _mixed(name: str, plain: list[Any]) -> ArgumentError:
    """An error that names the rare kind of values, which are the odd ones, and how many there are."""
    is_text = np.array([isinstance(value, str) for value in plain])
    odd = is_text if 2 * np.count_nonzero(is_text) <= len(plain) else ~is_text
    if not is_text.any():  # numbers and booleans
        odd = np.array([isinstance(value, bool) for value in plain])
    row, count = int(odd.argmax()), int(np.count_nonzero(odd))
    kinds = ("numbers", "text") if is_text[row] else ("text", "numbers")
    others = "" if count == 1 else f" ({count:,} such values)"
    remedy: tuple[Any, ...] = ("make them all text or all numbers",)
    if is_text[row] and len({plain[k] for k in np.flatnonzero(odd)}) <= MOST_CODES:
        codes = sorted({plain[k] for k in np.flatnonzero(odd)})
        remedy += (", or, if it means no answer, ", Setting("missing_values", codes[0] if len(codes) == 1 else codes))
    return ArgumentError(
        "",
        Said(f"{plain[row]!r}{others}"),
        f"the column mixes {kinds[0]} and {kinds[1]}",
        remedy=remedy,
        column=name,
        row=row,
    )


def _set_aside(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The values with some other row's where one is missing, and where that is."""
    gone = np.zeros(len(values), dtype=bool)
    if isinstance(values, np.ma.MaskedArray):
        gone, values = np.ma.getmaskarray(values).copy(), values.data
    if values.dtype.kind == "O":
        gone |= np.array([is_missing(value) for value in values], dtype=bool)
    if values.dtype.kind == "f":
        gone |= np.isnan(values)
    return (_filled(values, gone) if gone.any() else values), gone


def _filled(values: NDArray[Any], gone: NDArray[np.bool_]) -> NDArray[Any]:
    """Some other row's value where one is missing."""
    there = np.flatnonzero(~gone)
    if not there.size:
        return np.zeros(len(values), dtype=np.float64)
    values = values.copy()
    values[gone] = values[there[0]]
    return values


def _whole_if_possible(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers that are floats only for the sake of NaN become whole."""
    whole = values.dtype.kind == "f" and (np.abs(values) < 2**53).all() and (values == np.floor(values)).all()
    return values.astype(np.int64) if whole else values


def _missing_as_answer(
    values: NDArray[Any], categories: tuple[Any, ...]
) -> tuple[NDArray[Any], tuple[Any, ...], NDArray[np.bool_]]:
    """Text with an answer of its own where none was given, and where; numbers stay as they are."""
    masked = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else np.zeros(len(values), dtype=bool)
    plain = np.ma.getdata(values)
    gone = masked | np.array([is_missing(value) for value in plain], dtype=bool)
    if not gone.any() or not all(isinstance(value, str) for value, lost in zip(plain, gone, strict=True) if not lost):
        return values, categories, np.zeros(0, dtype=bool)
    if categories and MISSING not in categories:
        categories = (*categories, MISSING)
    answers = [MISSING if lost else value for value, lost in zip(plain, gone, strict=True)]
    return objects_of(answers), categories, gone


def is_missing(value: Any) -> bool:
    """NaN and its relatives (NaT, pandas.NA) differ from themselves, or refuse to say whether they do."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True
