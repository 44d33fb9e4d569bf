"""Reading arguments: whatever form a caller's numbers come in, they arrive checked, or an error names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def numbers_of(place: str, value: Any) -> NDArray[np.float64]:
    """A caller's number, or array of numbers."""
    try:
        given = np.asarray(value)
        if given.dtype.kind in "iuf" or (given.dtype.kind == "O" and None not in given.ravel().tolist()):
            return given.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{place} is {value!r}; expected a number, or an array of numbers")


def whole_number(argument: str, value: Any, *, at_least: int) -> int:
    """A caller's whole number."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise ValueError(f"{argument} is {value!r}; it must be a whole number >= {at_least}")
    return int(value)


def by_feature(argument: str, value: Any, names: Sequence[str], *, default: Any = ...) -> list[Any]:
    """Spread an argument over the columns: a mapping by column name, one entry for each column, or one value for all.

    A mapping may leave columns out if there is a default. A pandas series with names as its index counts as a mapping.
    """
    if hasattr(value, "items") and list(getattr(value, "index", ())) not in ([], list(range(len(value)))):
        value = dict(value.items())
    if isinstance(value, Mapping):
        given = {str(name): entry for name, entry in value.items()}
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(
                f'{argument} names the column "{unknown[0]}", which the table does not have; '
                f"its columns are {list(names)}"
            )
        missing = [name for name in names if name not in given]
        if missing and default is ...:
            raise ValueError(f"{argument} leaves out the columns {missing}; expected an entry for each column")
        return [given.get(name, default) for name in names]
    if value is None and default is not ...:
        return [default] * len(names)
    if isinstance(value, str) or not hasattr(value, "__len__") or getattr(value, "ndim", 1) == 0:
        return [value] * len(names)
    if len(value) != len(names):
        raise ValueError(
            f"{argument} has {len(value)} entries but the table has {len(names)} columns; "
            f"expected one for each column, a mapping by column name, or one value for all"
        )
    return list(value)
