"""`hardwood estimate`: estimate certainties from two tables of the same samples."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwood._util.files import write_text
from hardwood.cli.console import errors, out, print_result
from hardwood.cli.options import (
    AsJson,
    Bounds,
    ColumnOptions,
    DifferentPeople,
    FirstTable,
    FirstWeight,
    On,
    Plot,
    SecondTable,
    with_options,
)
from hardwood.cli.outputs import check_output, check_picture, csv_text, save_picture
from hardwood.cli.parsing import bounds_by_column
from hardwood.cli.tables import checked_column, read_table, without

if TYPE_CHECKING:
    import pyarrow as pa

    from hardwood.shiftlab import CertaintyEstimate
    from hardwood.shiftlab.estimation_result import TransitionTable

_NOT_FOR_DIFFERENT_PEOPLE = "leave out --plot, --tables, --weight and --groups"


@with_options(without=("missing", "drop_missing"))
def estimate(
    then: FirstTable,
    now: SecondTable,
    on: On = None,
    different_people: DifferentPeople = False,
    columns: ColumnOptions = ColumnOptions(),  # noqa: B008 - immutable
    bounds: Bounds = None,
    weight: FirstWeight = None,
    groups: Annotated[
        str | None, typer.Option(help="A column of the first table: estimates for each of its values, too.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    tables: Annotated[
        Path | None,
        typer.Option(
            help="A folder for the tables P(later value | value now), one CSV file per column: for --measured."
        ),
    ] = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Estimate how certain values are, from the same questions asked twice."""
    with errors():
        from hardwood.shiftlab import LeastChange, estimate_certainty

        if different_people and any(option is not None for option in (plot, tables, weight, groups)):
            raise ValueError(f"--different-people estimates only the least change; {_NOT_FOR_DIFFERENT_PEOPLE}")
        _check_files(plot, tables, then, now)
        first, second = _tables(then, now, columns)
        result = estimate_certainty(
            first if weight is None else without(first, [checked_column(first, weight, "--weight")]),
            second if weight is None else without(second, _present(second, [weight])),
            None if weight is None else first.column(weight).to_numpy(),
            on=on,
            different_people=different_people,
            groups=None if groups is None else _texts(first, groups),
            feature_kinds=columns.kinds,
            bounds=bounds_by_column(bounds),
            missing_values=columns.missing_values,
            confidence=confidence,
        )
        print_result(result, as_json=as_json)
        if isinstance(result, LeastChange):
            return
        if not as_json:
            out.print(f"\nto use it: {_as_options(result)}")
        if tables is not None:
            _write_tables(result.tables, tables, then, now)
        if plot is not None:
            save_picture(result.plot(), plot)


def _check_files(plot: Path | None, tables: Path | None, *inputs: Path) -> None:
    """Refuse outputs that cannot be written, before the work starts."""
    if plot is not None:
        check_picture("--plot", plot, *inputs)
    if tables is not None and not tables.is_dir():
        raise ValueError(f"--tables is {tables}; expected a folder that exists")


def _tables(then: Path, now: Path, columns: ColumnOptions) -> tuple[pa.Table, pa.Table]:
    """Read both tables, without the columns to drop."""
    first, second = read_table(then), read_table(now)
    for name in [*(columns.drop or []), *(columns.kinds or {})]:
        if name not in first.column_names and name not in second.column_names:
            raise ValueError(f'neither table has the column "{name}" that --drop or --kind names')
    drop = columns.drop or []
    return without(first, _present(first, drop)), without(second, _present(second, drop))


def _present(table: pa.Table, names: list[str]) -> list[str]:
    """Return those of some columns that a table has."""
    return [name for name in names if name in table.column_names]


def _texts(table: pa.Table, name: str) -> list[str]:
    """Return the values of the column of groups as text."""
    return [str(value) for value in table.column(checked_column(table, name, "--groups")).to_pylist()]


def _as_options(result: CertaintyEstimate) -> str:
    """Return the estimate as options of `hardwood fit` and other commands."""
    options = [_option("--certainty", name, f"{value:.4g}") for name, value in result.certainty.items()]
    options += [_option("--direction", name, direction) for name, direction in result.direction.items()]
    options += [
        _option("--missing-certainty", name, f"{value:.4g}") for name, value in result.missing_certainty.items()
    ]
    return " ".join(options)


def _option(option: str, column: str, text: str) -> str:
    return f"{option} {shlex.quote(f'{column}={text}')}"


def _write_tables(tables: Mapping[str, TransitionTable], folder: Path, *inputs: Path) -> None:
    """Write tables as files for --measured: all of them, or none if one would replace an input or another table."""
    paths = {name: folder / f"{_file_name(name)}.csv" for name in tables}
    for name, path in paths.items():
        check_output("--tables", path, *inputs)
        twin = next((other for other in paths if other != name and paths[other] == path), None)
        if twin is not None:
            raise ValueError(f'--tables: the columns "{name}" and "{twin}" would both go to {path}; rename one')
    for name, table in tables.items():
        cells: dict[str, list[object]] = {name: ["" if value is None else value for value in table]}
        cells |= {"" if to is None else str(to): [row[to] for row in table.values()] for to in table}
        write_text(paths[name], csv_text(cells))


def _file_name(column: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in column)
