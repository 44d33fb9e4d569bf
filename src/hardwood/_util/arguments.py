"""Arguments: numbers and entries by column, checked; errors name the argument."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeGuard

import numpy as np

from hardwood._util.arrays import FloatArray
from hardwood._util.errors import ArgumentError, Verbatim
from hardwood._util.types import PerColumn

OTHERS = "..."  # in a mapping by column name, as text or as Python's `...`: the entry of all columns that it leaves out


def check_numbers(argument: str, value: object, column: str | None = None) -> FloatArray:
    """Return a number or an array of numbers as an array of floats; anything else is refused.

    Parameters
    ----------
    argument : str
        Name of the argument, for the message of an error.
    value : number or array-like
        What the caller gave.
    column : str, optional
        The column that the value is for, for the message.
    """
    try:
        given = np.asarray(value)
        if given.dtype.kind in "iuf" or (given.dtype.kind == "O" and None not in given.ravel().tolist()):
            return given.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise ArgumentError(argument, value, "expected a number, or an array of numbers", column=column)


def check_integer(argument: str, value: object, *, at_least: int, column: str | None = None) -> int:
    """Return an integer of at least `at_least`; anything else is refused. Parameters as in `check_numbers`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise ArgumentError(argument, value, f"it must be a whole number >= {at_least}", column=column)
    return int(value)


def parse_bytes(argument: str, value: object) -> int:
    """Return a number of bytes, given as a number or as text such as "4GB" or "500 MB"."""
    text = str(value).strip().upper().removesuffix("B").rstrip()
    number, unit = (text[:-1], text[-1]) if text[-1:] in ("K", "M", "G", "T") else (text, "")
    try:
        count = float(number) * 1000.0 ** " KMGT".index(unit or " ")
        if not isinstance(value, bool) and 0 <= count < np.inf:
            return int(count)
    except ValueError:
        pass
    raise ArgumentError(argument, value, 'expected a number of bytes, or text such as "4GB"')


def by_feature(
    argument: str,
    value: PerColumn,
    names: Sequence[str],
    *,
    default: object = ...,
    for_others: Sequence[bool] | None = None,
) -> list[object]:
    """Return one entry of an argument for each column.

    Parameters
    ----------
    argument : str
        Name of the argument, for the message of an error.
    value : mapping, sequence or scalar
        A mapping by column name, one entry for each column, or one value for all. A pandas series with names as its
        index counts as a mapping.
    names : sequence of str
        Names of all columns.
    default : optional
        Entry of columns that a mapping leaves out. If not given, a mapping must have an entry for each column, or one
        for all others (`OTHERS`).
    for_others : sequence of bool, optional
        Which columns the entry `OTHERS` is for; all of them if not given.
    """
    if hasattr(value, "items") and (index := list(getattr(value, "index", ()))) != list(range(len(index))):
        value = dict(value.items())
    if isinstance(value, Mapping):
        return _from_mapping(argument, value, names, default, [True] * len(names) if for_others is None else for_others)
    if value is None and default is not ...:
        return [default] * len(names)
    if not is_sequence(value) or getattr(value, "ndim", 1) == 0:
        return [value] * len(names)
    if len(value) != len(names):
        raise ArgumentError(
            argument,
            Verbatim(f"a list of {len(value)}"),
            f"the table has {len(names)} columns; expected one entry for each column, a mapping by column name, or one "
            f"value for all",
        )
    return list(value)


def _from_mapping(
    argument: str, value: Mapping[object, object], names: Sequence[str], default: object, for_others: Sequence[bool]
) -> list[object]:
    given = {OTHERS if name is ... else str(name): entry for name, entry in value.items()}
    others = given.pop(OTHERS) if OTHERS in given and OTHERS not in names else default
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ArgumentError(
            argument, given[unknown[0]], f"the table has no such column; it has {list(names)}", column=unknown[0]
        )
    absent = [name for name in names if name not in given]
    if absent and others is ...:
        raise ArgumentError(
            argument,
            Verbatim(f"not given for {absent}"),
            "expected an entry for each column",
            remedy='an entry for "..." is for all others',
        )
    return [given.get(name, others if is_other else default) for name, is_other in zip(names, for_others, strict=True)]


def is_sequence(entry: object) -> TypeGuard[Collection[object]]:
    """Return whether an entry has several values: a list, an array or a series, but no text and no mapping."""
    return hasattr(entry, "__len__") and not isinstance(entry, str | Mapping)
