"""Files of the command line: tables in CSV and Parquet, and outputs that replace no input."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hardwood._support.files import write_bytes
from hardwood._support.text import shown
from hardwood.cli.console import err
from hardwood.data.features import NO_ANSWER_WORDS, Feature

PARQUET = (".parquet", ".pq")
MANY_ROWS = 2_000_000  # of a Parquet file: more are read piece by piece
# How a cell begins that spreadsheets reckon with, in the wide letters of East Asia, too.
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def check_output(option: str, path: Path, *inputs: Path) -> None:
    """Find out before the work, not after it, that its result cannot be written, or would replace what it came from."""
    if not path.resolve().parent.is_dir():
        raise ValueError(f"{option} is {path}; its folder does not exist: make it first")
    if path.is_dir():
        raise ValueError(f"{option} is {path}, which is a folder; give the name of a file")
    if any(path.resolve().parent == source.resolve() for source in inputs):
        raise ValueError(f"{option} is {path}, which lies in the folder that is read; give a name elsewhere")
    if any(path.resolve() == source.resolve() for source in inputs):
        raise ValueError(f"{option} is {path}, which would overwrite an input; give another name")


def check_picture(option: str, path: Path, *inputs: Path) -> None:
    """The same for a picture, which needs matplotlib and a name that says its kind."""
    from hardwood.plotting import needs_matplotlib

    needs_matplotlib()
    check_output(option, path, *inputs)
    if path.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise ValueError(f"{option} is {path}; expected a file that ends in .svg, .png or .pdf")


def save_picture(figure: Any, path: Path) -> None:
    """Write a picture of matplotlib as a whole or not at all."""
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:].lower())
    write_bytes(path, picture.getvalue())


def comes_in_pieces(path: Path) -> bool:
    """Whether a table is read piece by piece: Parquet files in a folder, or one with very many rows."""
    from pyarrow import ArrowException, parquet

    if path.is_dir():
        return True
    if path.suffix.lower() not in PARQUET or not path.is_file():
        return False
    try:
        return bool(parquet.read_metadata(path).num_rows > MANY_ROWS)
    except (ArrowException, OSError):
        return False  # whoever reads it says what is wrong


def read_table(path: Path, features: Sequence[Feature] = ()) -> Any:
    """A CSV or Parquet file as an arrow table. Columns that a tree knows are read with the types that it knows."""
    from pyarrow import ArrowException, parquet, types
    from pyarrow import csv as arrow_csv

    if not path.is_file():
        raise ValueError(f"{path} is not a file")
    try:
        if path.suffix.lower() in PARQUET:
            table = parquet.read_table(path)
        else:
            table = arrow_csv.read_csv(
                path,
                parse_options=arrow_csv.ParseOptions(delimiter=_separator(path), newlines_in_values=True),
                convert_options=arrow_csv.ConvertOptions(strings_can_be_null=True, column_types=_arrow_types(features)),
            )
    except (ArrowException, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from None
    try:
        names = table.column_names
    except UnicodeDecodeError:
        raise _not_utf8(path, "the name of a column") from None
    if len(set(names)) < len(names):
        raise ValueError(f"{path} names a column twice: {names}; rename the columns")
    for field in table.schema:
        if types.is_binary(field.type):
            raise _not_utf8(path, f'its column "{shown(field.name)}"')
    return table


def _separator(path: Path) -> str:
    """Comma, semicolon, tab or bar: whichever the first line has most of."""
    with path.open("rb") as file:
        start = file.read(65536)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError(f"{path} is in UTF-16; save it as UTF-8")
    head = start.splitlines()[0] if start.strip() else b""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # a long line may be cut within a letter
    except UnicodeDecodeError:
        raise _not_utf8(path, "its first line, with the names of the columns,") from None
    return max(",;\t|", key=lambda character: head.count(character.encode()))


def _not_utf8(path: Path, where: str) -> ValueError:
    """An error that says what the file probably is instead, and how to mend it."""
    try:
        path.read_bytes().decode("cp1252")
        guess = "it looks like Windows-1252 (Latin-1)"
        mend = f"iconv -f WINDOWS-1252 -t UTF-8 {path.name} > utf8-{path.name}"
    except UnicodeDecodeError:
        guess, mend = "its encoding is unknown", "iconv -f ENCODING -t UTF-8"
    return ValueError(
        f"{path} is not in UTF-8: {where} cannot be read; {guess}. Save it as UTF-8, or convert it: {mend}"
    )


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


def complete_rows(table: Any, codes: Sequence[Any]) -> Any:
    """The rows of a table that have an answer in every column."""
    import pyarrow as pa
    from pyarrow import compute

    gone = pa.array(np.zeros(table.num_rows, dtype=bool))
    known = pa.array(sorted({str(code) for code in codes}), pa.string())
    for column in table.columns:
        if codes and (pa.types.is_string(column.type) or pa.types.is_integer(column.type)):
            gone = compute.or_(gone, compute.is_in(column.cast(pa.string()), value_set=known))
        gone = compute.or_(gone, compute.is_null(column, nan_is_null=True))
    return table.filter(compute.invert(gone))


def features_and_target(
    path: Path,
    target: str,
    drop: list[str] | None,
    features: Sequence[Feature] = (),
    weight: str | None = None,
    complete: Sequence[Any] | None = None,
) -> tuple[Any, Any, Any]:
    """The table without its target, its weights and the columns to drop, the target, and the weights.

    complete  codes for no answer: rows with one of them, or without an answer, are left out; None leaves nobody out
    """
    table = read_table(path, features)
    if complete is not None:
        kept = complete_rows(without(table, drop or []), complete)
        lost = table.num_rows - kept.num_rows
        err.print(f"{lost:,} of {table.num_rows:,} rows have no answer in some column and are left out")
        table, drop = kept, None
    if target in (drop or []):
        raise ValueError(f'--drop names the target "{target}"; it is left out of the questions anyway')
    if target not in table.column_names:
        raise ValueError(f'--target is "{target}"; {path} has the columns {table.column_names}')
    y = table.column(target)
    if y.null_count:
        row = y.is_null().to_pylist().index(True)
        raise ValueError(f'the target "{target}" is missing in row {row} (counted from 0); drop such rows')
    if weight is None:
        return without(table, [target, *(drop or [])]), y.to_numpy(), None
    if weight not in table.column_names or weight == target:
        raise ValueError(f'--weight is "{weight}"; {path} has the columns {table.column_names}')
    people = table.column(weight)
    if people.null_count:
        row = people.is_null().to_pylist().index(True)
        raise ValueError(f'the weight "{weight}" is missing in row {row} (counted from 0); give 0 to leave a row out')
    return without(table, [target, weight, *(drop or [])]), y.to_numpy(), people.to_numpy()


def group_column(path: Path, name: str) -> Any:
    """The answers of a column as text, one for each row."""
    if path.is_dir():
        raise ValueError(f"--groups needs a table in memory; {path} is a folder")
    table = read_table(path)
    if name not in table.column_names:
        raise ValueError(f'--groups is "{name}"; {path} has the columns {table.column_names}')
    return np.array([NO_ANSWER_WORDS if value is None else str(value) for value in table.column(name).to_pylist()])


def answer_shares(path: Path) -> dict[Any, dict[Any, float]]:
    """A CSV table of answers by answers: rows for the answer now, columns for the answer later; empty for none."""
    table = read_table(path)
    names = table.column_names
    if len(names) != table.num_rows + 1:
        raise ValueError(
            f"{path} has {table.num_rows} rows and {len(names)} columns; expected a column of answers, and one column "
            f"for each of them"
        )
    now = table.column(0).to_pylist()
    words = {str(answer): answer for answer in now}
    later = [words.get(name, None if not name.strip() else name) for name in names[1:]]
    columns = [table.column(k + 1).to_pylist() for k in range(len(later))]
    return {answer: {to: columns[k][row] for k, to in enumerate(later)} for row, answer in enumerate(now)}


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


def csv_text(columns: dict[str, list[Any]], *, escape_formulas: bool = False, header: bool = True) -> str:
    """Columns as CSV; on request with an apostrophe before text that spreadsheets would take for a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in (*([columns] if header else []), *zip(*columns.values(), strict=True)):
        writer.writerow([_escaped(cell) for cell in row] if escape_formulas else row)
    return text.getvalue()


def _escaped(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
