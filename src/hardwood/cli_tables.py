"""Files of the command line: tables in CSV and Parquet, and outputs that replace no input."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hardwood.features import Feature


def check_output(option: str, path: Path, *inputs: Path) -> None:
    """Find out before the work, not after it, that its result cannot be written, or would replace what it came from."""
    if not path.resolve().parent.is_dir():
        raise ValueError(f"{option} is {path}; its folder does not exist: make it first")
    if path.is_dir():
        raise ValueError(f"{option} is {path}, which is a folder; give the name of a file")
    if any(path.resolve() == source.resolve() for source in inputs):
        raise ValueError(f"{option} is {path}, which would overwrite an input; give another name")


def read_table(path: Path, features: Sequence[Feature] = ()) -> Any:
    """A CSV or Parquet file as an arrow table. Columns that a tree knows are read with the types that it knows."""
    from pyarrow import ArrowException, parquet, types
    from pyarrow import csv as arrow_csv

    if not path.is_file():
        raise ValueError(f"{path} is not a file")
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            table = parquet.read_table(path)
        else:
            table = arrow_csv.read_csv(
                path,
                parse_options=arrow_csv.ParseOptions(delimiter=_separator(path), newlines_in_values=True),
                convert_options=arrow_csv.ConvertOptions(strings_can_be_null=True, column_types=_arrow_types(features)),
            )
    except (ArrowException, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from None
    if len(set(table.column_names)) < len(table.column_names):
        raise ValueError(f"{path} names a column twice: {table.column_names}; rename the columns")
    if any(types.is_binary(field.type) for field in table.schema):
        raise ValueError(f"{path} is not in UTF-8; save it in that encoding")
    return table


def _separator(path: Path) -> str:
    """Comma, semicolon, tab or bar: whichever the first line has most of."""
    with path.open("rb") as file:
        start = file.read(65536)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError(f"{path} is in UTF-16; save it as UTF-8")
    head = start.splitlines()[0] if start.strip() else b""
    return max(",;\t|", key=lambda character: head.count(character.encode()))


def _arrow_types(features: Sequence[Feature]) -> dict[str, Any]:
    """So that what a column means does not depend on the other rows of a file."""
    import pyarrow as pa

    found: dict[str, Any] = {}
    for feature in features:
        kinds = {type(category) for category in feature.categories}
        if kinds and len(kinds) == 1:
            found[feature.name] = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}[
                kinds.pop()
            ]
    return found


def features_and_target(
    path: Path, target: str, drop: list[str] | None, features: Sequence[Feature] = ()
) -> tuple[Any, Any]:
    """The table without its target and the columns to drop, and the target."""
    table = read_table(path, features)
    if target in (drop or []):
        raise ValueError(f'--drop names the target "{target}"; it is left out of the questions anyway')
    if target not in table.column_names:
        raise ValueError(f'--target is "{target}"; {path} has the columns {table.column_names}')
    y = table.column(target)
    if y.null_count:
        row = y.is_null().to_pylist().index(True)
        raise ValueError(f'the target "{target}" is missing in row {row} (counted from 0); drop such rows')
    return without(table, [target, *(drop or [])]), y.to_numpy()


def without(table: Any, names: list[str]) -> Any:
    """The table without some columns."""
    unknown = [name for name in names if name not in table.column_names]
    if unknown:
        raise ValueError(f'--drop names "{unknown[0]}"; the table has the columns {table.column_names}')
    return table.drop_columns(names) if names else table


def only(table: Any, features: Sequence[Feature]) -> Any:
    """The columns that a tree knows, in its order; what else the table holds does not matter to it."""
    names = [feature.name for feature in features]
    lacking = [name for name in names if name not in table.column_names]
    if lacking:
        raise ValueError(f"the table lacks the columns {lacking}; it has {table.column_names}")
    return table.select(names)


def csv_text(columns: dict[str, list[Any]]) -> str:
    """Columns as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
