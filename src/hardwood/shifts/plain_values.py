"""Values that callers state, as JSON can hold them, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from hardwood._util.arguments import OTHERS
from hardwood._util.arrays import shape_of
from hardwood._util.types import PerCell, TableLike
from hardwood.shifts.pair_tables import is_table, named_rows

PAIRS = "pairs"  # the key under which a mapping with keys other than text is written


def plain(value: object) -> object:
    """Return numbers, names and mappings of them as JSON can hold them."""
    if hasattr(value, "columns"):
        return _plain_frame(value)
    if isinstance(value, Mapping):
        value = named_rows(value) if is_table(value) else {OTHERS if k is ... else k: v for k, v in value.items()}
        if all(isinstance(name, str) for name in value):
            return {name: plain(entry) for name, entry in value.items()}
        return {PAIRS: [[plain(name), plain(entry)] for name, entry in value.items()]}
    if hasattr(value, "items") and (index := list(getattr(value, "index", ()))) != list(range(len(index))):
        return {str(name): plain(entry) for name, entry in value.items()}  # a series by column name
    if hasattr(value, "tolist"):
        value = value.tolist()
    elif hasattr(value, "to_list"):
        value = value.to_list()
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def has_cells(value: PerCell) -> bool:
    """Return whether an entry holds one number for each sample, not only one for each column."""
    if hasattr(value, "columns"):
        return True
    if isinstance(value, Mapping | list | tuple):
        entries = value.values() if isinstance(value, Mapping) else value
        return any(hasattr(own, "__len__") and not isinstance(own, str) and not _is_square(own) for own in entries)
    return len(shape_of(value)) > 1


def _is_square(entry: object) -> bool:
    """Return whether an entry for a column is a table of values by values, or costs by category."""
    return isinstance(entry, Mapping) or is_square_table(entry)


def is_square_table(entry: object) -> bool:
    """Return whether an entry is a table that has as many rows as columns."""
    return is_table(entry) and (not isinstance(entry, list | np.ndarray) or len({*shape_of(entry)}) == 1)


def _plain_frame(frame: TableLike) -> object:
    """Return a table of values by values, or a value for each cell."""
    if sorted(map(str, getattr(frame, "index", ()))) == sorted(map(str, frame.columns)):
        return plain(named_rows(frame))
    return {str(name): plain(np.asarray(frame[name])) for name in frame.columns}


def read_plain(value: object) -> object:
    """Read what `plain` wrote."""
    if isinstance(value, Mapping):
        if set(value) == {PAIRS}:
            return _read_pairs(value[PAIRS])
        return {name: read_plain(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [read_plain(entry) for entry in value]
    return float(value) if value in ("inf", "-inf") else value


def _read_pairs(pairs: object) -> dict[object, object]:
    if (
        not isinstance(pairs, list)
        or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
        or any(isinstance(name, list | dict) for name, _ in pairs)
    ):
        raise ValueError(f'the description of shifts has "{PAIRS}": {pairs!r}; expected a list of [name, value]')
    return {read_plain(name): read_plain(entry) for name, entry in pairs}
