"""Columns: the values of one feature as read, checked and in a numpy array, with a mask where they are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arrays import Array, BoolArray, IntArray
from hardwood._util.errors import DROP_ROWS, ArgumentError, MessagePart, Setting, Verbatim

Category: TypeAlias = str | int | float | bool  # a plain Python value

MISSING_CATEGORY = "(missing)"  # the category of missing values in a column of text, where missing values are allowed
MAX_MISSING_CODES = 4  # a column with more different odd values has no missing codes


@dataclass(frozen=True, slots=True)
class Column:
    """A column as read: numbers or booleans in a numeric array, anything else as objects of one Python type.

    Attributes
    ----------
    name : str
        Name of the column.
    values : ndarray of shape (n_rows,)
        One value for each row.
    categories : tuple
        Declared values, whether they occur or not; empty if none were declared.
    ordered : bool
        Whether the declared values have an order.
    levels : tuple
        Distinct values of a column of text, in any order; empty for numbers.
    level_codes : ndarray of int32 or None
        Position of each row's value among `levels`, so that text is compared only once; None for numbers.
    is_missing : ndarray of bool or None
        Where values are missing; None if none are. There, `values` holds the value of another row in columns of
        numbers and ordered values, and `MISSING_CATEGORY` in columns of text.
    """

    name: str
    values: Array
    categories: tuple[Category, ...] = ()
    ordered: bool = False
    levels: tuple[Category, ...] = ()
    level_codes: IntArray | None = None
    is_missing: BoolArray | None = None

    @classmethod
    def from_levels(
        cls,
        name: str,
        levels: tuple[str, ...],
        level_codes: IntArray,
        categories: tuple[Category, ...] = (),
        is_missing: BoolArray | None = None,
    ) -> Column:
        """Make a column of text from its distinct values and the position of each row's value among them."""
        values = object_array(levels)[level_codes]
        return cls(name, values, categories, levels=levels, level_codes=level_codes, is_missing=is_missing)

    @classmethod
    def from_values(
        cls,
        name: str,
        values: Array,
        categories: Sequence[object] = (),
        *,
        ordered: bool = False,
        missing: str = "error",
    ) -> Column:
        """Check values and make a column of them.

        Parameters
        ----------
        name : str
            Name of the column, for messages.
        values : ndarray
            May be masked, and may hold objects.
        categories : sequence
            Declared values.
        ordered : bool, default=False
            Whether the declared values have an order.
        missing : {"error", "category"}, default="error"
            Whether missing values are refused or allowed.

        Raises
        ------
        ValueError
            If a value is missing where that is not allowed, infinite, or of another type than the others.
        TypeError
            If values are neither numbers nor booleans nor text.
        """
        if values.dtype.kind in "USOT":
            values = values.astype(object)
        text_mask = np.zeros(0, dtype=bool)
        if missing == "category" and not ordered and values.dtype.kind == "O":
            values, categories, text_mask = _missing_as_category(values, categories)
        values, mask = _fill_missing(values)
        if missing == "error":
            check_not_missing(name, mask)
        if values.dtype.kind == "O":
            values = _plain_values(name, values)
        if mask.any():
            values = _integers_if_possible(values)
        if values.dtype.kind not in "biufO":
            raise TypeError(dtype_message(name, values.dtype))
        _check_finite(name, values)
        declared = tuple(_plain_values(f"categories of {name}", object_array(categories)).tolist())
        if values.dtype.kind != "O":
            return cls(name, values, declared, ordered, is_missing=mask if mask.any() else None)
        position: dict[Category, int] = {}
        level_codes = np.fromiter(
            (position.setdefault(value, len(position)) for value in values), np.int32, len(values)
        )
        mask = text_mask if text_mask.any() else mask
        return cls(name, values, declared, ordered, tuple(position), level_codes, mask if mask.any() else None)


def check_not_missing(name: str, mask: BoolArray) -> None:
    """Raise an error that names the first missing value of a column and counts the others."""
    if mask.any():
        count = int(np.count_nonzero(mask))
        others = "" if count == 1 else f", as in {count - 1:,} other row{'s' if count > 2 else ''}"
        raise ArgumentError(
            "",
            Verbatim(f"missing (NaN){others}"),
            (DROP_ROWS, ", or fill them in"),
            remedy=(Setting("missing", "category"), " makes it a value of its own"),
            column=name,
            row=int(mask.argmax()),
        )


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, NaT or pandas.NA."""
    try:
        return value is None or bool(value != value)  # NaN and NaT differ from themselves
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return True


def object_array(values: Sequence[object]) -> NDArray[np.object_]:
    """Return a one-dimensional array of objects, also if the values are sequences."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def dtype_message(name: str, dtype: object) -> str:
    """Return the message for a column whose dtype cannot be read."""
    return (
        f'column "{name}" has dtype {dtype}; expected numbers, booleans, text or categories '
        f"(dates can be turned into numbers, such as days)"
    )


def _check_finite(name: str, values: Array) -> None:
    if values.dtype.kind == "f":
        infinite = np.isinf(values)
        if infinite.any():
            raise ValueError(f'column "{name}", row {infinite.argmax()} is infinite; use a finite number')


def _plain_values(name: str, values: Array) -> Array:
    """Return Python objects of one type; numbers that came as objects become a numeric array."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    check_not_missing(name, np.array([is_missing(value) for value in plain], dtype=bool))
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
        raise _mixed_types_error(name, plain)
    return object_array(plain)


def _mixed_types_error(name: str, plain: list[Category]) -> ArgumentError:
    """Return an error that names the first value of the rarer type and counts such values."""
    is_text = np.array([isinstance(value, str) for value in plain])
    odd = is_text if 2 * np.count_nonzero(is_text) <= len(plain) else ~is_text
    if not is_text.any():  # numbers and booleans
        odd = np.array([isinstance(value, bool) for value in plain])
    row, count = int(odd.argmax()), int(np.count_nonzero(odd))
    types = ("numbers", "text") if is_text[row] else ("text", "numbers")
    others = "" if count == 1 else f" ({count:,} such values)"
    remedy: tuple[MessagePart, ...] = ("make them all text or all numbers",)
    odd_values = {plain[k] for k in np.flatnonzero(odd)}
    if is_text[row] and len(odd_values) <= MAX_MISSING_CODES:
        codes = sorted(map(str, odd_values))
        remedy += (", or, if it means missing, ", Setting("missing_values", codes[0] if len(codes) == 1 else codes))
    return ArgumentError(
        "",
        Verbatim(f"{plain[row]!r}{others}"),
        f"the column mixes {types[0]} and {types[1]}",
        remedy=remedy,
        column=name,
        row=row,
    )


def _fill_missing(values: Array) -> tuple[Array, BoolArray]:
    """Return the values with another row's value where one is missing, and the mask of missing values."""
    mask = np.zeros(len(values), dtype=bool)
    if isinstance(values, np.ma.MaskedArray):
        mask, values = np.ma.getmaskarray(values).copy(), values.data
    if values.dtype.kind == "O":
        mask |= np.array([is_missing(value) for value in values], dtype=bool)
    if values.dtype.kind == "f":
        mask |= np.isnan(values)
    if not mask.any():
        return values, mask
    present = np.flatnonzero(~mask)
    if not present.size:
        return np.zeros(len(values), dtype=np.float64), mask
    values = values.copy()
    values[mask] = values[present[0]]
    return values, mask


def _integers_if_possible(values: Array) -> Array:
    """Return integers for whole floats: a column of integers becomes floats where a library needs NaN."""
    whole = values.dtype.kind == "f" and (np.abs(values) < 2**53).all() and (values == np.floor(values)).all()
    return values.astype(np.int64) if whole else values


def _missing_as_category(values: Array, categories: Sequence[object]) -> tuple[Array, Sequence[object], BoolArray]:
    """Return text with `MISSING_CATEGORY` where it is missing, and the mask; numbers stay unchanged."""
    masked = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else np.zeros(len(values), dtype=bool)
    plain = np.ma.getdata(values)
    mask = masked | np.array([is_missing(value) for value in plain], dtype=bool)
    if not mask.any() or not all(isinstance(value, str) for value in plain[~mask]):
        return values, categories, np.zeros(0, dtype=bool)
    if categories and MISSING_CATEGORY not in categories:
        categories = (*categories, MISSING_CATEGORY)
    filled = [MISSING_CATEGORY if absent else value for value, absent in zip(plain, mask, strict=True)]
    return object_array(filled), categories, mask
