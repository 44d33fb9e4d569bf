"""Settings that are given for single cells of a table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hardwood._util.arrays import BoolArray, shape_of
from hardwood._util.types import PerCell
from hardwood.data.frames import select_rows
from hardwood.shifts.pair_tables import is_table


def select_cell_rows(value: PerCell, selected: BoolArray) -> PerCell:
    """Restrict certainties or costs of single cells to some rows.

    Parameters
    ----------
    value : number, mapping, list, array or frame
        Certainties or costs, as `RobustTreeClassifier` takes them.
    selected : array of bool of shape (n_samples,)
        The rows to keep.

    Returns
    -------
    value
        The entries of the selected rows. A value that is not given by cell is returned unchanged.
    """
    if isinstance(value, Mapping):
        return {name: _select_entry_rows(entry, selected) for name, entry in value.items()}
    if isinstance(value, list | tuple) and any(is_table(entry) or shape_of(entry) == () for entry in value):
        return [_select_entry_rows(entry, selected) for entry in value]
    return select_rows(value, selected) if hasattr(value, "columns") or len(shape_of(value)) > 1 else value


def _select_entry_rows(entry: PerCell, selected: BoolArray) -> PerCell:
    """Restrict the entry of one column; a table of values by values has no entry for each row."""
    return entry if is_table(entry) or shape_of(entry) == () else np.asarray(entry)[selected]
