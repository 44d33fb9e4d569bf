"""Reading arguments: whatever form a caller's numbers come in, they arrive checked, or an error names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardwood._support.errors import ArgumentError, Said


def numbers_of(argument: str, value: Any, column: str | None = None) -> NDArray[np.float64]:
    """A caller's number, or array of numbers."""
    try:
        given = np.asarray(value)
        if given.dtype.kind in "iuf" or (given.dtype.kind == "O" and None not in given.ravel().tolist()):
            return given.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise ArgumentError(argument, value, "expected a number, or an array of numbers", column=column)


def whole_number(argument: str, value: Any, *, at_least: int, column: str | None = None) -> int:
    """A caller's whole number."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise ArgumentError(argument, value, f"it must be a whole number >= {at_least}", column=column)
    return int(value)


def bytes_of(argument: str, value: Any) -> int:
    """A number of bytes: a number, or text such as "4GB" or "500 MB"."""
    text = str(value).strip().upper().removesuffix("B").rstrip()
    number, unit = (text[:-1], text[-1]) if text[-1:] in ("K", "M", "G", "T") else (text, "")
    try:
        count = float(number) * 1000.0 ** " KMGT".index(unit or " ")
        if not isinstance(value, bool) and 0 <= count < np.inf:
            return int(count)
    except ValueError:
        pass
    raise ArgumentError(argument, value, 'expected a number of bytes, or text such as "4GB"')


OTHERS = "..."  # in a mapping by column name, as text or as Python's `...`: the entry of all columns that it leaves out


def by_feature(
    argument: str,
    value: Any,
    names: Sequence[str],
    *,
    default: Any = ...,
    for_others: Sequence[bool] | None = None,
) -> list[Any]:
    """Spread an argument over the columns: a mapping by column name, one entry for each column, or one value for all.

    A mapping may leave columns out if there is a default, or if it has an entry for all others (`OTHERS`). A pandas
    series with names as its index counts as a mapping.

    for_others  which columns that entry is for; all of them if not given
    """
    if hasattr(value, "items") and list(getattr(value, "index", ())) not in ([], list(range(len(value)))):
        value = dict(value.items())
    if isinstance(value, Mapping):
        given = {OTHERS if name is ... else str(name): entry for name, entry in value.items()}
        others = given.pop(OTHERS) if OTHERS in given and OTHERS not in names else default
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ArgumentError(
                argument, given[unknown[0]], f"the table has no such column; it has {list(names)}", column=unknown[0]
            )
        missing = [name for name in names if name not in given]
        if missing and others is ...:
            raise ArgumentError(
                argument,
                Said(f"not given for {missing}"),
                "expected an entry for each column",
                remedy='an entry for "..." is for all others',
            )
        serves = [True] * len(names) if for_others is None else for_others
        return [given.get(name, others if own else default) for name, own in zip(names, serves, strict=True)]
    if value is None and default is not ...:
        return [default] * len(names)
    if isinstance(value, str) or not hasattr(value, "__len__") or getattr(value, "ndim", 1) == 0:
        return [value] * len(names)
    if len(value) != len(names):
        raise ArgumentError(
            argument,
            Said(f"a list of {len(value)}"),
            f"the table has {len(names)} columns; expected one entry for each column, a mapping by column name, or one "
            f"value for all",
        )
    return list(value)
