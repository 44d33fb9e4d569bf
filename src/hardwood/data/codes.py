"""Codes for no answer, such as "?" or -9: columns are read as if these were missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from hardwood._support.arguments import by_feature
from hardwood.data.columns import MISSING, MOST_CODES, Column, objects_of, read_columns, refuse_missing

LEAST_NUMBERS = 4  # different ones: text with so many of them, and few other answers, looks like numbers with codes


def read_coded_columns(X: Any, missing: str = "error", missing_values: Any = None) -> list[Column]:
    """The columns of a table, see `read_columns`.

    missing_values  answers that mean that there is none: one, several, or a mapping by column name. What is left of a
                    column of text is read as numbers if all of it is.
    """
    if missing_values is None:
        return read_columns(X, missing)
    columns = read_columns(_without_code_objects(X, missing_values), "category")
    codes = codes_of(missing_values, [column.name for column in columns])
    columns = [_without_codes(column, own) for column, own in zip(columns, codes, strict=True)]
    for column in columns if missing == "error" else ():
        if column.gone is not None:
            refuse_missing(column.name, column.gone)
    return columns


def codes_of(missing_values: Any, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The answers that mean none, for each column."""
    if isinstance(missing_values, Mapping):
        own = by_feature("missing_values", missing_values, names, default=())
    else:
        own = [missing_values] * len(names)
    return [_listed(codes) for codes in own]


def _listed(codes: Any) -> tuple[Any, ...]:
    """Codes as plain values; text that is a number stands for the number, too."""
    several = list(codes) if hasattr(codes, "__iter__") and not isinstance(codes, str) else [codes]
    plain = [code.item() if isinstance(code, np.generic) else code for code in several]
    numbers = [number for code in plain if isinstance(code, str) and (number := _number(code)) is not None]
    return (*plain, *numbers)


def _without_code_objects(X: Any, missing_values: Any) -> Any:
    """A table whose columns of Python objects have None where a code stands: these may hold numbers and text."""
    if isinstance(X, list | tuple):
        X = np.array(X, dtype=object)
    if isinstance(X, np.ndarray):
        if X.ndim != 2 or X.dtype.kind != "O" or not X.size:
            return X
        codes = codes_of(missing_values, [f"x{j}" for j in range(X.shape[1])])
        return np.column_stack([_none_for(X[:, j], own) for j, own in enumerate(codes)])
    if not isinstance(X, Mapping):
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return X
        X = {str(series.name): series.to_native() for series in frame.iter_columns()}
    codes = codes_of(missing_values, [str(name) for name in X])
    return {name: _none_for(values, own) for (name, values), own in zip(X.items(), codes, strict=True)}


def _none_for(values: Any, codes: tuple[Any, ...]) -> Any:
    """Objects with None where a code stands; whatever has a type of its own stays as it is."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.dtype != nw.Object:
            return values
        values = series.to_list()
    if not isinstance(values, list) and getattr(getattr(values, "dtype", None), "kind", "") != "O":
        return values
    return objects_of([None if _is_code(value, codes) else value for value in values])


def _is_code(value: Any, codes: tuple[Any, ...]) -> bool:
    """Whether a value is one of the codes; true is not 1 here."""
    if not isinstance(value, str | int | float | np.generic):
        return False
    return any(isinstance(code, bool) == isinstance(value, bool) and value == code for code in codes)


def _without_codes(column: Column, codes: tuple[Any, ...]) -> Column:
    """The column with no answer where one of the codes stands; numbers that were text because of them are numbers.

    So they are in tables where no code stands: what a column means must not depend on that.
    """
    if not codes:
        return column
    was_gone = np.zeros(len(column.values), dtype=bool) if column.gone is None else column.gone
    if column.numbers is None:
        own = np.array([code for code in codes if isinstance(code, int | float) and not isinstance(code, bool)])
        kind = column.values.dtype.kind
        own = own.astype(column.values.dtype) if kind == "f" else own  # 99.9 is another number in 32 bits
        gone = was_gone | (np.isin(column.values, own) if kind in "iuf" else False)
        return column if (gone == was_gone).all() else _read(column, column.values, gone)
    texts = [str(answer) for answer in column.distinct]
    known = {str(code) for code in codes}
    gone = was_gone | np.array([text in known for text in texts], dtype=bool)[column.numbers]
    is_none = column.gone is not None  # otherwise it is somebody's answer
    left = [text for text in texts if text not in known and not (is_none and text == MISSING)]
    numbers = None if column.categories else numbers_in(left)
    if numbers is not None:
        return _read(column, np.array([numbers.get(text, 0) for text in texts])[column.numbers], gone)
    if (gone == was_gone).all() and not known & {str(answer) for answer in column.categories}:
        return column
    answers = tuple(answer for answer in column.categories if str(answer) not in known)
    values = column.values.copy()
    values[gone] = None
    return Column.of(column.name, values, answers, ordered=column.ordered, missing="category")


def _read(column: Column, values: NDArray[Any], gone: NDArray[np.bool_]) -> Column:
    """Numbers, some of them missing."""
    return Column.of(column.name, np.ma.MaskedArray(values, gone), missing="category")


def numbers_in(answers: Sequence[str]) -> dict[str, float] | None:
    """Texts and the numbers that they are, whole ones as such, if all of them are numbers; otherwise None."""
    found = {answer: _number(answer) for answer in answers}
    numbers = {answer: number for answer, number in found.items() if number is not None}
    return numbers if numbers and len(numbers) == len(found) else None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
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
    if column.categories or column.numbers is None:
        return None
    counts = np.bincount(column.numbers, minlength=len(column.distinct))
    codes = {
        str(answer): int(count)
        for answer, count in zip(column.distinct, counts, strict=True)
        if count and answer != MISSING and _number(str(answer)) is None
    }
    n_numbers = len(column.distinct) - len(codes)
    few = 0 < len(codes) <= MOST_CODES and sum(codes.values()) < 0.5 * len(column.values)
    return Oddity(column.name, codes) if few and n_numbers >= LEAST_NUMBERS else None
