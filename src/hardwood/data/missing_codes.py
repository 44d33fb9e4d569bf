"""Missing codes: values such as "?" or -9 that the caller declares to mean missing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import narwhals.stable.v2 as nw
import numpy as np

from hardwood._util.arguments import by_feature
from hardwood._util.arrays import Array, BoolArray
from hardwood._util.types import ColumnLike, PerColumn, TableLike
from hardwood.data.columns import (
    MAX_MISSING_CODES,
    MISSING_CATEGORY,
    Column,
    check_not_missing,
    object_array,
)
from hardwood.data.frames import read_columns

Codes: TypeAlias = tuple[object, ...]  # of one column; plain values, but of any type

MIN_NUMBERS = 4  # text with at least this many distinct numbers, and few other values, looks like coded numbers
MAX_CODED_SHARE = 0.5  # of the rows; text in more of them is not a missing code


def read_coded_columns(X: TableLike, missing: str = "error", missing_values: PerColumn = None) -> list[Column]:
    """Read the columns of a table whose missing values may be coded.

    Parameters
    ----------
    X : frame, mapping, array or list of rows
        See `read_columns`.
    missing : {"error", "category"}, default="error"
        Whether missing values, coded or not, are refused or allowed.
    missing_values : scalar, sequence or mapping, optional
        Values that mean missing: one, several, or a mapping by column name. If all other values of a column of text
        are numbers, the column is read as numbers.

    Returns
    -------
    columns : list of Column
        See `read_columns`.
    """
    if missing_values is None:
        return read_columns(X, missing)
    columns = read_columns(_without_code_objects(X, missing_values), "category")
    by_column = _codes_by_column(missing_values, [column.name for column in columns])
    columns = [_decode_column(column, codes) for column, codes in zip(columns, by_column, strict=True)]
    for column in columns if missing == "error" else ():
        if column.is_missing is not None:
            check_not_missing(column.name, column.is_missing)
    return columns


def parse_numbers(texts: Sequence[str]) -> dict[str, float] | None:
    """Return the number that each text stands for, whole numbers as int; None unless all texts are numbers."""
    parsed = {text: _parse_number(text) for text in texts}
    numbers = {text: number for text, number in parsed.items() if number is not None}
    return numbers if numbers and len(numbers) == len(parsed) else None


@dataclass(frozen=True, slots=True)
class SuspectedCodes:
    """Values of a column of text that look like missing codes, because all others are numbers.

    Attributes
    ----------
    name : str
        Name of the column.
    codes : dict
        Number of rows by value.
    """

    name: str
    codes: dict[str, int]


def find_suspected_codes(column: Column) -> SuspectedCodes | None:
    """Return the values of a column of text that look like missing codes; None if there are none."""
    if column.categories or column.level_codes is None:
        return None
    counts = np.bincount(column.level_codes, minlength=len(column.levels))
    codes = {
        str(level): int(count)
        for level, count in zip(column.levels, counts, strict=True)
        if count and level != MISSING_CATEGORY and _parse_number(str(level)) is None
    }
    n_numbers = len(column.levels) - len(codes)
    are_few = 0 < len(codes) <= MAX_MISSING_CODES and sum(codes.values()) < MAX_CODED_SHARE * len(column.values)
    return SuspectedCodes(column.name, codes) if are_few and n_numbers >= MIN_NUMBERS else None


def _codes_by_column(missing_values: PerColumn, names: Sequence[str]) -> list[Codes]:
    if isinstance(missing_values, Mapping):
        given = by_feature("missing_values", missing_values, names, default=())
    else:
        given = [missing_values] * len(names)
    return [_plain_codes(codes) for codes in given]


def _plain_codes(codes: object) -> Codes:
    """Return codes as plain values; text that is a number also stands for the number."""
    several = list(codes) if isinstance(codes, Iterable) and not isinstance(codes, str) else [codes]
    plain = [code.item() if isinstance(code, np.generic) else code for code in several]
    numbers = [number for code in plain if isinstance(code, str) and (number := _parse_number(code)) is not None]
    return (*plain, *numbers)


def _without_code_objects(X: TableLike, missing_values: PerColumn) -> TableLike:
    """Return a table whose columns of Python objects hold None in place of codes, since they may mix numbers and text.

    Otherwise such columns would be refused.
    """
    if isinstance(X, list | tuple):
        X = np.array(X, dtype=object)
    if isinstance(X, np.ndarray):
        if X.ndim != 2 or X.dtype.kind != "O" or not X.size:
            return X
        by_column = _codes_by_column(missing_values, [f"x{j}" for j in range(X.shape[1])])
        return np.column_stack([_replace_code_objects(X[:, j], codes) for j, codes in enumerate(by_column)])
    if not isinstance(X, Mapping):
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return X
        X = {str(series.name): series.to_native() for series in frame.iter_columns()}
    by_column = _codes_by_column(missing_values, [str(name) for name in X])
    return {
        name: _replace_code_objects(values, codes) for (name, values), codes in zip(X.items(), by_column, strict=True)
    }


def _replace_code_objects(values: ColumnLike, codes: Codes) -> ColumnLike:
    """Return objects with None in place of codes; a column with another dtype stays unchanged."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.dtype != nw.Object:
            return values
        values = series.to_list()
    if not isinstance(values, list) and getattr(getattr(values, "dtype", None), "kind", "") != "O":
        return values
    return object_array([None if _is_code(value, codes) else value for value in values])


def _is_code(value: object, codes: Codes) -> bool:
    """Return whether a value is one of the codes; a boolean is not equal to a number here."""
    if not isinstance(value, str | int | float | np.generic):
        return False
    return any(isinstance(code, bool) == isinstance(value, bool) and value == code for code in codes)


def _decode_column(column: Column, codes: Codes) -> Column:
    """Return the column with missing values in place of codes.

    Text whose other values are all numbers becomes numbers, also in tables in which no code occurs: the meaning of a
    column must not depend on that.
    """
    if not codes:
        return column
    mask = np.zeros(len(column.values), dtype=bool) if column.is_missing is None else column.is_missing
    if column.level_codes is None:
        coded = mask | _is_number_code(column.values, codes)
        return column if (coded == mask).all() else _number_column(column, column.values, coded)
    texts = [str(level) for level in column.levels]
    code_texts = {str(code) for code in codes}
    coded = mask | np.array([text in code_texts for text in texts], dtype=bool)[column.level_codes]
    has_missing = column.is_missing is not None  # otherwise "(missing)" is a recorded value
    others = [text for text in texts if text not in code_texts and not (has_missing and text == MISSING_CATEGORY)]
    numbers = None if column.categories else parse_numbers(others)
    if numbers is not None:
        return _number_column(column, np.array([numbers.get(text, 0) for text in texts])[column.level_codes], coded)
    if (coded == mask).all() and not code_texts & {str(category) for category in column.categories}:
        return column
    categories = tuple(category for category in column.categories if str(category) not in code_texts)
    values = column.values.astype(object)
    values[coded] = None
    return Column.from_values(column.name, values, categories, ordered=column.ordered, missing="category")


def _is_number_code(values: Array, codes: Codes) -> BoolArray:
    """Return where numbers are equal to a code; nowhere in an array of another dtype."""
    kind = values.dtype.kind
    if kind not in "iuf":
        return np.zeros(len(values), dtype=bool)
    numbers = np.array([code for code in codes if isinstance(code, int | float) and not isinstance(code, bool)])
    numbers = numbers.astype(values.dtype) if kind == "f" else numbers  # 99.9 is another number in 32 bits
    return np.isin(values, numbers)


def _number_column(column: Column, values: Array, mask: BoolArray) -> Column:
    return Column.from_values(column.name, np.ma.MaskedArray(values, mask), missing="category")


def _parse_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
