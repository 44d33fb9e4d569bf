"""Pairs of tables with the same columns: of the same samples at two times, or of two groups of samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arrays import Array
from hardwood._util.errors import ArgumentError, Setting, Verbatim
from hardwood._util.types import PerColumn, TableLike
from hardwood.data.columns import Column, object_array
from hardwood.data.encode import learn_table
from hardwood.data.missing_codes import read_coded_columns
from hardwood.data.table import Table


@dataclass(frozen=True, eq=False)
class Pair:
    """Two tables with the same features.

    Attributes
    ----------
    first, second : Table
        The tables; row i of both is the same sample if the tables are linked.
    rows : tuple of two ndarrays
        Position of each row in the table that the caller gave.
    left_out : tuple of str
        Columns that only one of the two tables has.
    """

    first: Table
    second: Table
    rows: tuple[NDArray[np.intp], NDArray[np.intp]]
    left_out: tuple[str, ...] = ()


def read_pair(
    first: TableLike,
    second: TableLike,
    *,
    on: str | None = None,
    linked: bool = True,
    kinds: PerColumn = None,
    max_bins: int = 10,
    missing_values: PerColumn = None,
) -> Pair:
    """Read two tables with common features, which are learnt from both. Missing values are allowed in all columns.

    Parameters
    ----------
    first, second : frame, mapping or array
        The tables; see `encode`.
    on : str, optional
        Column that identifies samples; samples that only one table has are left out. If not given, row i of both
        tables is the same sample.
    linked : bool, default=True
        Whether the tables hold the same samples. Otherwise all rows of both are kept.
    kinds, max_bins, missing_values
        As in `encode`.

    Returns
    -------
    pair : Pair
        The tables, restricted to common columns and, if linked, to common samples.
    """
    tables = [read_coded_columns(table, "category", missing_values) for table in (first, second)]
    rows = _linked_rows(tables, on, linked)
    by_name = [{column.name: column for column in columns if column.name != on} for columns in tables]
    common = [name for name in by_name[0] if name in by_name[1]]
    if not common:
        raise ValueError(
            f"the tables have no column in common: {list(by_name[0])[:12]} and {list(by_name[1])[:12]}; rename columns "
            f"so that the same feature has the same name"
        )
    requested = {name: kind for name, kind in kinds.items() if name in common} if isinstance(kinds, dict) else kinds
    stacked = [_stack(by_name[0][name], by_name[1][name]) for name in common]
    both = learn_table(stacked, kinds=requested, max_bins=max_bins)
    n = len(tables[0][0].values)
    halves = Table(both.features, both.values[:n]), Table(both.features, both.values[n:])
    left_out = [name for name in (*by_name[0], *by_name[1]) if name not in common]
    return Pair(halves[0].rows(rows[0]), halves[1].rows(rows[1]), rows, tuple(left_out))


def row_identifiers(column: Column, which: str) -> Array:
    """Return the values of a column that identifies samples; missing ones are refused.

    `which` says which table the column belongs to, for the message: "first" or "second".
    """
    if column.is_missing is not None:
        row = int(column.is_missing.argmax())
        raise ArgumentError(
            "on", column.name, f"it is missing in row {row} of the {which} table", remedy="drop such rows"
        )
    return column.values


def check_equal_row_counts(first: int, second: int) -> None:
    """Refuse tables with different numbers of rows where rows are linked by their position."""
    if first != second:
        raise ArgumentError(
            "on",
            Verbatim("not given"),
            f"row i of both tables must be the same sample, but they have {first:,} and {second:,} rows",
            remedy=(Setting("on", "id"), " if that column identifies samples; ", Setting("different_people", True)),
        )


def matching_rows(on: str, first: Array, second: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of two tables with the same identifiers, in the order of the first table.

    Parameters
    ----------
    on : str
        Column that holds the identifiers, for messages.
    first, second : ndarray
        Identifiers in both tables; each may occur once in a table.
    """
    for identifiers, which in ((first, "first"), (second, "second")):
        if len(set(identifiers.tolist())) < len(identifiers):
            raise ArgumentError("on", on, f"the {which} table has an identifier twice; expected each sample once")
    kinds = {first.dtype.kind, second.dtype.kind}
    if "O" in kinds:  # numbers in one table may be text in the other
        first, second = first.astype(str), second.astype(str)
    elif kinds == {"i", "u"}:  # numpy would compare them as floats, in which large numbers are equal
        first, second = first.astype(object), second.astype(object)
    _, in_first, in_second = np.intersect1d(first, second, return_indices=True)
    if not in_first.size:
        raise ArgumentError("on", on, "the tables have no sample in common")
    order = np.argsort(in_first)
    return in_first[order], in_second[order]


def _linked_rows(tables: list[list[Column]], on: str | None, linked: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    counts = [len(columns[0].values) for columns in tables]
    if on is None or not linked:
        if linked:
            check_equal_row_counts(*counts)
        return np.arange(counts[0]), np.arange(counts[1])
    identifiers = []
    for columns, which in zip(tables, ("first", "second"), strict=True):
        key = next((column for column in columns if column.name == on), None)
        if key is None:
            raise ArgumentError("on", on, f"the {which} table has no such column; it has {[c.name for c in columns]}")
        identifiers.append(row_identifiers(key, which))
    return matching_rows(on, *identifiers)


def _stack(first: Column, second: Column) -> Column:
    """Return one column with the rows of both, one below the other."""
    both = (first, second)
    has_text = [column.values.dtype.kind == "O" for column in both]
    if has_text[0] != has_text[1] and not any(_is_empty(column) for column in both):
        types = ["text" if is_text else "numbers" for is_text in has_text]
        raise ValueError(f'column "{first.name}" holds {types[0]} in one table and {types[1]} in the other; convert it')
    mask = np.concatenate(
        [
            np.zeros(len(column.values), dtype=bool) if column.is_missing is None else column.is_missing
            for column in both
        ]
    )
    values: Array
    if any(has_text):
        values = object_array([*first.values.tolist(), *second.values.tolist()])
        values[mask] = None
    else:
        values = np.concatenate([first.values, second.values])
        values = np.ma.MaskedArray(values, mask) if mask.any() else values
    categories = (*first.categories, *(entry for entry in second.categories if entry not in first.categories))
    ordered = first.ordered and second.ordered
    return Column.from_values(first.name, values, categories, ordered=ordered, missing="category")


def _is_empty(column: Column) -> bool:
    return column.is_missing is not None and bool(column.is_missing.all())
