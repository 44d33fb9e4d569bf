"""Reading: any frame or array becomes a list of named numpy columns; where answers are missing is said apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from hardwood._support.arguments import by_feature
from hardwood._support.errors import DROP_ROWS, ArgumentError, Said, Setting
from hardwood._support.text import shown

NO_ROWS = "the table has no rows; expected at least one sample"
MISSING = "(missing)"  # the answer that a missing one becomes, if the caller wants it to be one
# Text is taken for numbers with codes if it has so many different numbers at least, and so many other answers at most.
LEAST_NUMBERS, MOST_CODES = 4, 4


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
        return cls(name, _objects(list(distinct))[numbers], **declared, distinct=distinct, numbers=numbers)

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
            _refuse_missing(name, gone)
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
        categories = tuple(_plain_objects(f"categories of {name}", _objects(list(categories))).tolist())
        if values.dtype.kind != "O":
            return cls(name, values, categories, ordered, gone=gone if gone.any() else None)
        known: dict[Any, int] = {}
        numbers = np.fromiter((known.setdefault(value, len(known)) for value in values), np.int32, len(values))
        gone = as_answer if as_answer.any() else gone
        return cls(name, values, categories, ordered, tuple(known), numbers, gone if gone.any() else None)


def read_columns(X: Any, missing: str = "error", missing_values: Any = None) -> list[Column]:
    """The columns of a frame (anything narwhals reads), a mapping, or an array, whose columns are x0, x1, ...

    missing         "error" refuses missing values; "category" makes them an answer of their own, in numbers one off the
                    scale
    missing_values  answers that mean that there is none, such as "?" or -9: one, several, or a mapping by column name.
                    What is left of a column of text is read as numbers if all of it is.
    """
    if missing not in ("error", "category"):
        raise ArgumentError("missing", missing, 'expected "error" or "category"')
    if missing_values is not None:
        columns = read_columns(_without_code_objects(X, missing_values), "category")
        codes = codes_of(missing_values, [column.name for column in columns])
        columns = [_without_codes(column, own) for column, own in zip(columns, codes, strict=True)]
        for column in columns if missing == "error" else ():
            if column.gone is not None:
                _refuse_missing(column.name, column.gone)
        return columns
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


def codes_of(missing_values: Any, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The answers that mean none, for each column."""
    if isinstance(missing_values, Mapping):
        own = by_feature("missing_values", missing_values, names, default=())
    else:
        own = [missing_values] * len(names)
    return [tuple(codes) if isinstance(codes, list | tuple | set | np.ndarray) else (codes,) for codes in own]


def _without_code_objects(X: Any, missing_values: Any) -> Any:
    """A table whose columns of Python objects have None where a code stands: these may hold numbers and text."""
    if isinstance(X, list | tuple):
        X = np.array(X, dtype=object)
    if isinstance(X, np.ndarray):
        if X.ndim != 2 or X.dtype.kind != "O":
            return X
        codes = codes_of(missing_values, [f"x{j}" for j in range(X.shape[1])])
        return np.column_stack([_none_for(X[:, j], own) for j, own in enumerate(codes)]) if X.size else X
    if not isinstance(X, Mapping):
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return X
        X = {str(series.name): series.to_native() for series in frame.iter_columns()}
    codes = codes_of(missing_values, [str(name) for name in X])
    return {name: _none_for(values, own) for (name, values), own in zip(X.items(), codes, strict=True)}


def _none_for(values: Any, codes: tuple[Any, ...]) -> Any:
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.dtype != nw.Object:
            return values
        values = series.to_list()
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return values
    return _objects([None if isinstance(value, Hashable) and value in codes else value for value in values])


def _without_codes(column: Column, codes: tuple[Any, ...]) -> Column:
    """The column with no answer where one of the codes stands; numbers that were text because of them are numbers.

    So they are in tables where no code stands: what a column means must not depend on that.
    """
    if not codes:
        return column
    if column.values.dtype.kind != "O":
        own = [code for code in codes if isinstance(code, int | float) and not isinstance(code, bool)]
        found = np.isin(column.values, own) if own and column.values.dtype.kind in "iuf" else np.zeros(0, dtype=bool)
        if not found.any():
            return column
        gone = found if column.gone is None else found | column.gone
        return replace(column, values=_whole_if_possible(_filled(column.values, gone)), gone=gone)
    known = {code for code in codes if isinstance(code, str)} | {str(code) for code in codes}
    was_gone = np.zeros(len(column.values), dtype=bool) if column.gone is None else column.gone
    gone = was_gone | np.isin(column.values.astype(str), sorted(known))
    if column.categories:
        if not gone.any():
            return column
        answers = tuple(answer for answer in column.categories if str(answer) not in known)
        return Column.of(
            column.name, _emptied(column.values, gone), answers, ordered=column.ordered, missing="category"
        )
    numbers = numbers_in([answer for answer in column.distinct if answer not in known and answer != MISSING])
    if numbers is None:
        return Column.of(column.name, _emptied(column.values, gone), missing="category") if gone.any() else column
    values = _objects([None if lost else numbers[value] for value, lost in zip(column.values, gone, strict=True)])
    return Column.of(column.name, values, missing="category")


def _emptied(values: NDArray[Any], gone: NDArray[np.bool_]) -> NDArray[Any]:
    values = values.copy()
    values[gone] = None
    return values


def numbers_in(answers: Sequence[Any]) -> dict[str, float] | None:
    """Texts and the numbers that they are, if all of them are numbers, whole ones as such; otherwise None."""
    found: dict[str, float] = {}
    for answer in answers:
        number = _number(answer)
        if number is None:
            return None
        found[answer] = number
    return found or None


def _number(text: Any) -> float | None:
    try:
        number = float(text)
    except (TypeError, ValueError):
        return None
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


@dataclass(frozen=True, slots=True)
class Oddity:
    """A column of text that holds numbers but for a few answers: how many rows have each of these."""

    name: str
    codes: dict[str, int]


def oddity_of(column: Column) -> Oddity | None:
    """What is odd about a column of text, if it looks like one of numbers with codes for no answer."""
    if column.values.dtype.kind != "O" or column.categories or column.numbers is None:
        return None
    counts = np.bincount(column.numbers, minlength=len(column.distinct))
    codes = {
        answer: int(count)
        for answer, count in zip(column.distinct, counts, strict=True)
        if count and answer != MISSING and _number(answer) is None
    }
    n_numbers = len(column.distinct) - len(codes)
    few = 0 < len(codes) <= MOST_CODES and sum(codes.values()) < 0.5 * len(column.values)
    return Oddity(column.name, codes) if few and n_numbers >= LEAST_NUMBERS else None


def read_column(name: str, values: Any, missing: str = "error") -> Column:
    """One column from a series, a categorical, an array or a list."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _series_column(name, series, missing)
    if hasattr(values, "categories") and hasattr(values, "ordered"):  # pandas.Categorical
        answers, categories = _objects(list(values)), tuple(values.categories)
        return Column.of(name, answers, categories, ordered=bool(values.ordered), missing=missing)
    if isinstance(values, np.ndarray):
        return Column.of(name, values, missing=missing)
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise TypeError(f'column "{name}" is {values!r}; expected one value for each row')
    return Column.of(name, _objects(list(values)), missing=missing)


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
        _refuse_missing(name, np.asarray(series.is_null().to_numpy()))
    if dtype == nw.Enum:
        return Column.of(name, _objects(series.to_list()), tuple(dtype.categories), ordered=True, missing=missing)
    if dtype == nw.Categorical:
        # Only the native pandas column still knows declared categories that no row uses, and their order.
        native = series.to_native()
        declared = (
            tuple(native.cat.categories) if series.implementation.is_pandas_like() and hasattr(native, "cat") else ()
        )
        seen = [value for value in series.unique().to_list() if not is_missing(value)]
        if all(isinstance(category, str) for category in (*declared, *seen)):
            return _text_column(name, series.cast(nw.String), declared or tuple(sorted(seen)))
        return Column.of(name, _objects(series.to_list()), declared or tuple(sorted(seen)), missing=missing)
    if dtype == nw.String:
        return _text_column(name, series)
    empty = series.null_count() == len(series) and not (dtype.is_numeric() or dtype == nw.Boolean)  # of no type at all
    if dtype == nw.Object or empty:
        return Column.of(name, _objects(series.to_list()), missing=missing)
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


def _refuse_missing(name: str, missing: NDArray[np.bool_]) -> None:
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


def _objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _plain_objects(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Python objects of one kind; numbers that came as objects become a numeric array again."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    _refuse_missing(name, np.array([is_missing(value) for value in plain], dtype=bool))
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
    return _objects(plain)


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
    return _objects(answers), categories, gone


def is_missing(value: Any) -> bool:
    """NaN and its relatives (NaT, pandas.NA) differ from themselves, or refuse to say whether they do."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True
