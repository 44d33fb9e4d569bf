"""Two tables of the same questions: asked twice of the same people, or once each of two groups of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardwood._support.errors import ArgumentError, Said, Setting
from hardwood.data.codes import read_coded_columns
from hardwood.data.columns import Column, objects_of
from hardwood.data.features import Table, learn_table


@dataclass(frozen=True, eq=False)
class Pair:
    """Two tables with the same features.

    rows      of the first table as it was given, and of the second: which of them stand here, in this order
    left_out  columns that only one of the two has
    """

    first: Table
    second: Table
    rows: tuple[NDArray[np.intp], NDArray[np.intp]]
    left_out: tuple[str, ...] = ()


def read_pair(
    first: Any,
    second: Any,
    *,
    on: str | None = None,
    linked: bool = True,
    kinds: Any = None,
    max_bins: int = 10,
    missing_values: Any = None,
) -> Pair:
    """Read two tables alike: a feature knows the answers of both. Missing answers are allowed everywhere.

    on      a column that says who is who: people that only one of the tables has are left out
    linked  whether the tables are of the same people; row i of both, if there is no such column
    """
    tables = [read_coded_columns(table, "category", missing_values) for table in (first, second)]
    rows = _linked_rows(tables, on, linked)
    by_name = [{column.name: column for column in columns if column.name != on} for columns in tables]
    common = [name for name in by_name[0] if name in by_name[1]]
    if not common:
        raise ValueError(
            f"the tables have no column in common: {list(by_name[0])[:12]} and {list(by_name[1])[:12]}; rename columns "
            f"so that the same question has the same name"
        )
    wishes = {name: wish for name, wish in kinds.items() if name in common} if isinstance(kinds, dict) else kinds
    both = learn_table([_stacked(*(own[name] for own in by_name)) for name in common], kinds=wishes, max_bins=max_bins)
    n = len(tables[0][0].values)
    halves = Table(both.features, both.values[:n]), Table(both.features, both.values[n:])
    left_out = [name for name in (*by_name[0], *by_name[1]) if name not in common]
    return Pair(halves[0].rows(rows[0]), halves[1].rows(rows[1]), rows, tuple(left_out))


def _linked_rows(tables: list[list[Column]], on: str | None, linked: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    counts = [len(columns[0].values) for columns in tables]
    if on is None or not linked:
        if linked:
            refuse_other_counts(*counts)
        return np.arange(counts[0]), np.arange(counts[1])
    people = []
    for columns, which in zip(tables, ("first", "second"), strict=True):
        own = next((column for column in columns if column.name == on), None)
        if own is None:
            raise ArgumentError("on", on, f"the {which} table has no such column; it has {[c.name for c in columns]}")
        people.append(names_in(own, which))
    return matching_rows(on, *people)


def names_in(column: Column, which: str) -> NDArray[Any]:
    """Who is who in a table; everybody has a name."""
    if column.gone is not None:
        row = int(column.gone.argmax())
        raise ArgumentError(
            "on", column.name, f"it is missing in row {row} of the {which} table", remedy="drop such rows"
        )
    return column.values


def refuse_other_counts(first: int, second: int) -> None:
    """Tables whose rows are linked one by one have as many of them."""
    if first != second:
        raise ArgumentError(
            "on",
            Said("not given"),
            f"row i of both tables must be the same person, but they have {first:,} and {second:,} rows",
            remedy=(Setting("on", "id"), " if that column says who is who; ", Setting("different_people", True)),
        )


def matching_rows(on: str, first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows of two tables that are about the same people, in the order of the first; each has a name there once."""
    for names, which in ((first, "first"), (second, "second")):
        if len(set(names.tolist())) < len(names):
            raise ArgumentError("on", on, f"the {which} table names somebody twice; expected each person once")
    kinds = {first.dtype.kind, second.dtype.kind}
    if "O" in kinds:  # a number is no name
        first, second = first.astype(str), second.astype(str)
    elif kinds == {"i", "u"}:  # together they would become floats, which do not tell large numbers apart
        first, second = first.astype(object), second.astype(object)
    _, ours, theirs = np.intersect1d(first, second, return_indices=True)
    if not ours.size:
        raise ArgumentError("on", on, "nobody is in both tables")
    order = np.argsort(ours)
    return ours[order], theirs[order]


def _stacked(first: Column, second: Column) -> Column:
    """The rows of one column below those of the other."""
    texts = [own.values.dtype.kind == "O" for own in (first, second)]
    if texts[0] != texts[1] and not any(own.gone is not None and own.gone.all() for own in (first, second)):
        kinds = ["text" if is_text else "numbers" for is_text in texts]
        raise ValueError(f'column "{first.name}" holds {kinds[0]} in one table and {kinds[1]} in the other; convert it')
    gone = np.concatenate(
        [np.zeros(len(own.values), dtype=bool) if own.gone is None else own.gone for own in (first, second)]
    )
    if any(texts):
        values = objects_of([*first.values.tolist(), *second.values.tolist()])
        values[gone] = None
    else:
        values = np.concatenate([first.values, second.values])
        values = np.ma.MaskedArray(values, gone) if gone.any() else values
    categories = (*first.categories, *(entry for entry in second.categories if entry not in first.categories))
    return Column.of(first.name, values, categories, ordered=first.ordered and second.ordered, missing="category")
