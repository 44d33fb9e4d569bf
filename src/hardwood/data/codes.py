"""Codes: the 32-bit integers that stand for the values of a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardwood._util.arrays import FloatArray, Indices, IntArray, frozen
from hardwood.data.columns import Category, Column

# One code stays free at each end of the 32-bit range, so that `threshold + 1` and open ends of regions do not overflow.
MAX_CODE = 2**31 - 2
MISSING_CODE = MAX_CODE + 1  # code of a missing value in an ordered column; no range of codes includes it
BELOW_ALL = -MISSING_CODE  # threshold below all codes: "value <= BELOW_ALL, or missing" holds for missing values alone
MAX_COUNTED_RANGE = 1 << 16  # integers within this range are counted in a lookup table, which is faster than sorting


def as_codes(name: str, values: ArrayLike, order: Literal["C", "F"]) -> IntArray:
    """Return integers as a read-only array of codes.

    Parameters
    ----------
    name : str
        What the values are, for the message of an error.
    values : array-like
        Integers within +-`MAX_CODE`, or `MISSING_CODE`; other dtypes are not cast.
    order : {"C", "F"}
        Memory order of the result.
    """
    given = np.asarray(values)
    if given.dtype.kind not in "iu" or (given.size and not -MAX_CODE <= given.min() <= given.max() <= MISSING_CODE):
        raise ValueError(f"{name} have dtype {given.dtype}; expected whole numbers within +-{MAX_CODE}")
    return frozen(np.asarray(given, dtype=np.int32, order=order))


def column_numbers(column: Column) -> FloatArray:
    """Return the values of a column as floats; text is refused."""
    if column.values.dtype.kind not in "iufb":
        row = next(i for i, value in enumerate(column.values) if isinstance(value, str))
        raise ValueError(f'column "{column.name}", row {row} is {column.values[row]!r}; expected a number')
    return column.values.astype(np.float64)


def column_integers(column: Column) -> NDArray[np.int64]:
    """Return the values of a column as integers that are valid codes; others are refused."""
    numbers = column.values if column.values.dtype.kind in "iu" else column_numbers(column)
    fractional = numbers != np.rint(numbers) if numbers.dtype.kind == "f" else np.zeros(0, dtype=bool)
    if fractional.any():
        row = int(fractional.argmax())
        raise ValueError(
            f'column "{column.name}", row {row} is {numbers[row]}; an integer column needs whole numbers '
            f'(round it, or use the kind "binned")'
        )
    for row in (int(numbers.argmin()), int(numbers.argmax())):
        if not -MAX_CODE <= numbers[row] <= MAX_CODE:
            raise ValueError(
                f'column "{column.name}", row {row} is {numbers[row]}; an integer column must stay within '
                f'+-{MAX_CODE} (rescale it, or use the kind "binned")'
            )
    return numbers.astype(np.int64)


def column_levels(column: Column) -> tuple[list[Category], Indices]:
    """Return the distinct values of a column, and the position of each row's value among them."""
    if column.level_codes is not None:
        return list(column.levels), column.level_codes
    values = column.values
    if values.dtype.kind in "biu" and values.size:
        low, high = int(values.min()), int(values.max())
        if high - low < MAX_COUNTED_RANGE:
            numbers = values.astype(np.int8) if values.dtype.kind == "b" else values
            offsets = (numbers - numbers.min()).astype(np.int64)
            seen = np.flatnonzero(np.bincount(offsets))
            position = np.empty(high - low + 1, dtype=np.int32)
            position[seen] = np.arange(len(seen))
            return (numbers.min() + seen.astype(numbers.dtype)).astype(values.dtype).tolist(), position[offsets]
    levels, inverse = np.unique(values, return_inverse=True)
    return levels.tolist(), inverse


def sorted_levels(column: Column) -> tuple[Category, ...]:
    """Return the distinct values of a column in ascending order."""
    levels: list[Any] = column_levels(column)[0]  # of one type, which mypy cannot know
    return tuple(sorted(levels))


def category_codes(column: Column, categories: Sequence[Category]) -> IntArray:
    """Return the position of each value among the categories; other values are refused."""
    position = {category: k for k, category in enumerate(categories)}
    levels, level_codes = column_levels(column)
    codes: IntArray = np.array([position.get(level, -1) for level in levels], dtype=np.int32)[level_codes]
    if (codes < 0).any():
        row, count = int((codes < 0).argmax()), int(np.count_nonzero(codes < 0))
        others = "" if count == 1 else f" ({count:,} rows have unknown values)"
        raise ValueError(
            f'column "{column.name}", row {row} is {column.values[row : row + 1].tolist()[0]!r}, which is not one of '
            f"its known values {list(categories[:12])}{others}; map it to one of them or drop the row"
        )
    return codes
