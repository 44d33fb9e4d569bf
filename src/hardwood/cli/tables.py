"""Tables that commands read: CSV and Parquet files, and the columns with special roles in them."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arrays import Array
from hardwood._util.text import printable
from hardwood.cli.console import err
from hardwood.data.columns import Category
from hardwood.data.feature import MISSING_TEXT, Feature

if TYPE_CHECKING:
    import pyarrow as pa

_PARQUET = (".parquet", ".pq")
_MAX_ROWS_IN_MEMORY = 2_000_000  # a Parquet file with more rows is read in chunks


@dataclass(frozen=True)
class LabelledTable:
    """A table in memory, split into features, labels and sample weights.

    Attributes
    ----------
    X : pyarrow.Table
        The feature columns.
    y : array
        The label of each row.
    sample_weight : array or None
        The weight of each row; None if the table has no column of weights.
    """

    X: pa.Table
    y: Array
    sample_weight: Array | None


@dataclass(frozen=True)
class TableSource:
    """A table in a file or a folder, and the columns with special roles in it.

    Parameters
    ----------
    path : Path
        A CSV or Parquet file, or a folder of Parquet files.
    target : str
        The column to predict.
    weight : str or None, default=None
        The column of sample weights.
    drop : sequence of str, default=()
        Columns to leave out.
    drop_missing : sequence or None, default=None
        Missing codes: rows that hold one of them or a missing value are left out. None keeps all rows.
    """

    path: Path
    target: str
    weight: str | None = None
    drop: Sequence[str] = ()
    drop_missing: Sequence[Category] | None = None

    def is_chunked(self) -> bool:
        """Whether the table is read in chunks.

        Raises
        ------
        ValueError
            If rows with missing values are to be left out, which needs the table in memory.
        """
        if not is_chunked(self.path):
            return False
        if self.drop_missing is not None:
            raise ValueError(f"--drop-missing needs a table in memory; {self.path} is read in chunks")
        return True

    def read(self, features: Sequence[Feature] = ()) -> LabelledTable:
        """Read the table into memory.

        Parameters
        ----------
        features : sequence of Feature, default=()
            The features of a tree: X then has these columns, in this order, with the types of the features.
        """
        table, drop = read_table(self.path, features), [*self.drop]
        if self.drop_missing is not None:
            complete = complete_rows(without(table, drop), self.drop_missing)
            n_lost = table.num_rows - complete.num_rows
            err.print(f"{n_lost:,} of {table.num_rows:,} rows have a missing value and are left out")
            table, drop = complete, []
        y, weights = self._labels(table, drop), self._weights(table)
        roles = [self.target] if self.weight is None else [self.target, self.weight]
        X = without(table, [*roles, *drop])
        return LabelledTable(select_features(X, features) if features else X, y, weights)

    def _labels(self, table: pa.Table, drop: Sequence[str]) -> Array:
        if self.target in drop:
            raise ValueError(f'--drop names the target "{self.target}", which is not a feature anyway')
        if self.target not in table.column_names:
            raise ValueError(f'--target is "{self.target}"; {self.path} has the columns {table.column_names}')
        labels = table.column(self.target)
        if labels.null_count:
            row = labels.is_null().to_pylist().index(True)
            raise ValueError(f'the target "{self.target}" is missing in row {row} (counted from 0); drop such rows')
        return np.asarray(labels.to_numpy())

    def _weights(self, table: pa.Table) -> Array | None:
        if self.weight is None:
            return None
        if self.weight not in table.column_names or self.weight == self.target:
            raise ValueError(f'--weight is "{self.weight}"; {self.path} has the columns {table.column_names}')
        weights = table.column(self.weight)
        if weights.null_count:
            row = weights.is_null().to_pylist().index(True)
            raise ValueError(
                f'the weight "{self.weight}" is missing in row {row} (counted from 0); give 0 to leave a row out'
            )
        return np.asarray(weights.to_numpy())


def is_chunked(path: Path) -> bool:
    """Whether a table is read in chunks: a folder of Parquet files, or a Parquet file with very many rows."""
    from pyarrow import ArrowException, parquet

    if path.is_dir():
        return True
    if path.suffix.lower() not in _PARQUET or not path.is_file():
        return False
    try:
        return bool(parquet.read_metadata(path).num_rows > _MAX_ROWS_IN_MEMORY)
    except (ArrowException, OSError):
        return False  # reading the file reports what is wrong


def read_table(path: Path, features: Sequence[Feature] = ()) -> pa.Table:
    """Read a CSV or Parquet file.

    Parameters
    ----------
    path : Path
        The file; the separator of a CSV file is detected.
    features : sequence of Feature, default=()
        Features of a tree; their columns are read with the types of the features.
    """
    from pyarrow import ArrowException, parquet, types
    from pyarrow import csv as arrow_csv

    if not path.is_file():
        raise ValueError(f"{path} is not a file")
    try:
        if path.suffix.lower() in _PARQUET:
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
            raise _not_utf8(path, f'its column "{printable(field.name)}"')
    return table


def _separator(path: Path) -> str:
    """Return the separator, comma, semicolon, tab or bar, that is most frequent in the first line."""
    with path.open("rb") as file:
        start = file.read(65536)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError(f"{path} is in UTF-16; save it as UTF-8")
    head = start.splitlines()[0] if start.strip() else b""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # a long line may be cut within a character
    except UnicodeDecodeError:
        raise _not_utf8(path, "its first line, with the names of the columns,") from None
    return max(",;\t|", key=lambda character: head.count(character.encode()))


def _not_utf8(path: Path, where: str) -> ValueError:
    """Return an error that names the probable encoding of the file and how to convert it."""
    try:
        path.read_bytes().decode("cp1252")
        guess = "it looks like Windows-1252 (Latin-1)"
        remedy = f"iconv -f WINDOWS-1252 -t UTF-8 {path.name} > utf8-{path.name}"
    except UnicodeDecodeError:
        guess, remedy = "its encoding is unknown", "iconv -f ENCODING -t UTF-8"
    return ValueError(
        f"{path} is not in UTF-8: {where} cannot be read; {guess}. Save it as UTF-8, or convert it: {remedy}"
    )


def _arrow_types(features: Sequence[Feature]) -> dict[str, pa.DataType]:
    """Return column types by name, so that the type of a column does not depend on the other rows of a file."""
    import pyarrow as pa

    arrow_types = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    types_by_name: dict[str, pa.DataType] = {}
    for feature in features:
        types = {type(category) for category in feature.categories}
        if len(types) == 1:
            types_by_name[feature.name] = arrow_types[types.pop()]
    return types_by_name


def complete_rows(table: pa.Table, codes: Sequence[Category]) -> pa.Table:
    """Return the rows of a table without a missing value.

    Parameters
    ----------
    table : pyarrow.Table
        Any table.
    codes : sequence
        Missing codes: these values count as missing, too.
    """
    import pyarrow as pa
    from pyarrow import compute

    is_missing = pa.array(np.zeros(table.num_rows, dtype=bool))
    code_texts = pa.array(sorted({str(code) for code in codes}), pa.string())
    for column in table.columns:
        if codes and (pa.types.is_string(column.type) or pa.types.is_integer(column.type)):
            is_missing = compute.or_(is_missing, compute.is_in(column.cast(pa.string()), value_set=code_texts))
        is_missing = compute.or_(is_missing, compute.is_null(column, nan_is_null=True))
    return table.filter(compute.invert(is_missing))


def group_column(path: Path, name: str) -> NDArray[np.str_]:
    """Return the values of a column as text, one for each row."""
    if path.is_dir():
        raise ValueError(f"--groups needs a table in memory; {path} is a folder")
    table = read_table(path)
    if name not in table.column_names:
        raise ValueError(f'--groups is "{name}"; {path} has the columns {table.column_names}')
    return np.array([MISSING_TEXT if value is None else str(value) for value in table.column(name).to_pylist()])


def pair_shares(path: Path) -> dict[Category | None, dict[Category | None, float]]:
    """Read a table P(later value | value now) from a CSV file.

    The first column holds the values now, the header the values later; an empty cell or name means missing.

    Returns
    -------
    shares : dict of dict
        Probabilities by value now, then by value later.
    """
    table = read_table(path)
    names = table.column_names
    if len(names) != table.num_rows + 1:
        raise ValueError(
            f"{path} has {table.num_rows} rows and {len(names)} columns; expected a first column of values and one "
            f"further column for each of them"
        )
    now = table.column(0).to_pylist()
    value_of_text = {str(value): value for value in now}
    later = [value_of_text.get(name, None if not name.strip() else name) for name in names[1:]]
    columns = [table.column(k + 1).to_pylist() for k in range(len(later))]
    return {value: {to: columns[k][row] for k, to in enumerate(later)} for row, value in enumerate(now)}


def without(table: pa.Table, names: list[str]) -> pa.Table:
    """Return a table without some of its columns."""
    unknown = [name for name in names if name not in table.column_names]
    if unknown:
        raise ValueError(f'--drop names "{unknown[0]}"; the table has the columns {table.column_names}')
    return table.drop_columns(names) if names else table


def select_features(table: pa.Table, features: Sequence[Feature]) -> pa.Table:
    """Return the columns of the features, in their order; other columns are ignored."""
    names = [feature.name for feature in features]
    lacking = [name for name in names if name not in table.column_names]
    if lacking:
        raise ValueError(f"the table lacks the columns {lacking}; it has {table.column_names}")
    return table.select(names)


def checked_column(table: pa.Table, name: str, option: str) -> str:
    """Return the name of a column after checking that the table has it; `option` is the option that names it."""
    if name not in table.column_names:
        raise ValueError(f'{option} is "{name}"; the table has the columns {table.column_names}')
    return name
