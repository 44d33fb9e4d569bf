"""Tables that come in pieces: Parquet files larger than memory, and Dask frames. Every piece is a frame of its own.

What is asked about such a table is asked about each piece, in this process or on a cluster, and the answers are put
together in the order of the rows. So answers must be small where rows are many: counts, not rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from hardwood._support.errors import ArgumentError, Said
from hardwood.data.columns import NO_ROWS, read_column
from hardwood.data.features import Category, Feature, IntArray, Table, encode, sealed
from hardwood.data.labels import Labels, encode_labels

Answer = TypeVar("Answer")

ROWS = 1 << 18  # of a Parquet file in a piece: some megabytes for each column
WAVE = 32  # pieces of a Dask frame that are under way at a time, so that answers do not pile up


class Pieces(ABC):
    """A table in pieces."""

    names: list[str]
    n_rows: int

    @abstractmethod
    def map(self, ask: Callable[[Any, int], Answer], columns: Sequence[str]) -> Iterator[Answer]:
        """The answers about all pieces, in order; `ask` gets a frame with these columns, and the piece's number."""

    def check_columns(self, columns: Sequence[str]) -> None:
        """Refuse columns that are not there before any work is done."""
        lacking = [name for name in columns if name not in self.names]
        if lacking:
            raise ValueError(f"the table lacks the columns {lacking}; it has {self.names}")


class ParquetPieces(Pieces):
    """Parquet files, read piece by piece: one file, a folder of them, or a `pyarrow.dataset`."""

    def __init__(self, source: Any) -> None:
        from pyarrow import ArrowException, dataset

        try:
            self._dataset = dataset.dataset(source, format="parquet") if isinstance(source, str | Path) else source
            self.names = list(self._dataset.schema.names)
            self.n_rows = int(self._dataset.count_rows())
        except (ArrowException, OSError) as error:
            raise ValueError(f"{source} cannot be read as Parquet: {error}") from None
        _refuse_empty(self.n_rows)

    def map(self, ask: Callable[[Any, int], Answer], columns: Sequence[str]) -> Iterator[Answer]:
        """In this process, one piece after the other; the next ones are read meanwhile."""
        import pyarrow as pa

        self.check_columns(columns)
        # Few pieces ahead: by default, whole groups of rows pile up in memory.
        batches = self._dataset.to_batches(
            columns=list(columns), batch_size=ROWS, batch_readahead=2, fragment_readahead=1
        )
        begin = number = 0
        for batch in _read(batches):
            if batch.num_rows == 0:
                continue
            yield _asked(ask, pa.Table.from_batches([batch]), number, begin)
            begin += batch.num_rows
            number += 1


class DaskPieces(Pieces):
    """A Dask frame: its partitions are asked wherever Dask computes, on a cluster if a client is at hand."""

    def __init__(self, frame: Any) -> None:
        from dask.base import compute
        from dask.delayed import delayed

        self._frame = frame
        self.names = [str(name) for name in frame.columns]
        parts = frame[list(frame.columns[:1])].to_delayed()
        self._lengths = list(compute(*(delayed(len)(part) for part in parts)))
        self.n_rows = sum(self._lengths)
        _refuse_empty(self.n_rows)

    def map(self, ask: Callable[[Any, int], Answer], columns: Sequence[str]) -> Iterator[Answer]:
        """Some partitions at a time."""
        from dask.base import compute
        from dask.delayed import delayed

        self.check_columns(columns)
        parts = zip(self._frame[list(columns)].to_delayed(), self._lengths, strict=True)
        begin = 0
        asked: list[Any] = []
        for part, length in parts:
            if length:
                asked.append(delayed(_asked)(ask, part, len(asked), begin))
            begin += length
        waves = iter(asked)
        while wave := list(islice(waves, WAVE)):
            yield from compute(*wave)


def pieces_of(X: Any) -> Pieces | None:
    """The table in pieces, if it is one: a path, a `pyarrow.dataset`, or a Dask frame."""
    module = type(X).__module__.split(".")[0]
    if isinstance(X, str | Path):
        if not Path(X).exists():
            raise ArgumentError("X", str(X), "there is no such file or folder; expected Parquet, or a table")
        return ParquetPieces(X)
    if module == "pyarrow" and hasattr(X, "count_rows"):
        return ParquetPieces(X)
    if module in ("dask", "dask_expr") and hasattr(X, "to_delayed"):
        if not hasattr(X, "columns"):
            raise ArgumentError("X", Said(f"a Dask {type(X).__name__}"), "expected a Dask DataFrame")
        return DaskPieces(X)
    return None


def _refuse_empty(n_rows: int) -> None:
    if n_rows == 0:
        raise ValueError(NO_ROWS)


def _read(batches: Iterator[Any]) -> Iterator[Any]:
    """The same, with errors that say what could not be read."""
    from pyarrow import ArrowException

    try:
        yield from batches
    except (ArrowException, OSError) as error:
        raise ValueError(f"the table cannot be read to its end: {error}") from None


def target_of(y: Any, pieces: Pieces, features: Sequence[Feature]) -> str:
    """The column to predict, which such a table has to hold itself."""
    if not isinstance(y, str):
        raise ArgumentError(
            "y", Said(f"a {type(y).__name__}"), "of a table in pieces, give the name of its target column"
        )
    pieces.check_columns([y])
    if y in [feature.name for feature in features]:
        raise ArgumentError("y", y, "the tree asks about this column; expected the column that it predicts")
    return y


def chosen(frame: Any, columns: Sequence[str]) -> Any:
    """Some columns of a piece, which is an arrow table or a pandas frame."""
    return frame.select(list(columns)) if hasattr(frame, "select") else frame[list(columns)]


def weight_of(sample_weight: Any, pieces: Pieces) -> str | None:
    """The column that says how many people a row stands for, which such a table has to hold itself, too."""
    if sample_weight is None:
        return None
    if not isinstance(sample_weight, str):
        raise ArgumentError(
            "sample_weight",
            Said(f"a {type(sample_weight).__name__}"),
            "of a table in pieces, give the name of the column that holds it",
        )
    pieces.check_columns([sample_weight])
    return sample_weight


def labels_in(frame: Any, target: str, weight: str | None, classes: Sequence[Category]) -> Labels:
    """The labels of a piece."""
    labels = encode_labels(frame[target], len(frame), classes=classes)
    # A piece may stand for nobody, as long as some other does not.
    if weight is None:
        return labels
    column = read_column(weight, frame[weight])
    if column.values.dtype.kind not in "iufb":
        raise ArgumentError("sample_weight", weight, f"it holds {column.values[0]!r}; expected a column of numbers")
    return replace(labels, weights=column.values.astype(np.float64))


def encode_pieces(
    pieces: Pieces, features: Sequence[Feature], target: str, classes: Sequence[Category], sample_weight: Any = None
) -> tuple[Table, Labels]:
    """The whole table and its labels as codes: what a piece looked like is forgotten when it is encoded."""
    names = [feature.name for feature in features]
    weight = weight_of(sample_weight, pieces)
    values = np.empty((pieces.n_rows, len(names)), dtype=np.int32, order="F")
    codes = np.empty(pieces.n_rows, dtype=np.int32)
    people = None if weight is None else np.empty(pieces.n_rows)
    begin = 0
    columns = [*names, target] if weight is None else [*names, target, weight]
    for own, labels in pieces.map(partial(_codes, features, target, weight, classes), columns):
        values[begin : begin + len(own)] = own
        codes[begin : begin + len(own)] = labels.codes
        if people is not None:
            people[begin : begin + len(own)] = labels.row_people
        begin += len(own)
    return Table(tuple(features), sealed(values)), Labels(sealed(codes), tuple(classes), people)


def _codes(
    features: Sequence[Feature], target: str, weight: str | None, classes: Sequence[Category], frame: Any, _number: int
) -> tuple[IntArray, Labels]:
    table = encode(chosen(frame, [feature.name for feature in features]), features=features)
    return table.values, labels_in(frame, target, weight, classes)


def _asked(ask: Callable[[Any, int], Answer], frame: Any, number: int, begin: int) -> Answer:
    """Whatever is wrong with a piece is said together with where the piece is."""
    try:
        return ask(frame, number)
    except (ValueError, TypeError) as error:
        where = f"in the piece with the rows {begin} to {begin + len(frame) - 1} (rows are counted from its first)"
        raise ValueError(f"{where}: {error}") from error
