"""Chunked tables: Parquet files larger than memory, and Dask frames. Every chunk is a frame of its own.

A function is applied to each chunk, in this process or on a cluster, and its results are combined in the order of the
rows. Results must be small where there are many rows: counts, rather than rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from hardwood._util.arrays import IntArray, read_only
from hardwood._util.errors import ArgumentError, Verbatim
from hardwood._util.types import LabelsLike, PerColumn, TableLike, WeightsLike
from hardwood.data.columns import Category
from hardwood.data.encode import encode
from hardwood.data.feature import Feature
from hardwood.data.frames import NO_ROWS, read_column
from hardwood.data.labels import Labels, encode_labels
from hardwood.data.table import Table

if TYPE_CHECKING:
    import dask.dataframe
    import pyarrow.dataset
    from dask.delayed import Delayed

Frame: TypeAlias = TableLike  # an arrow table or a pandas frame
Result = TypeVar("Result")
ChunkFunction: TypeAlias = Callable[[Frame, int], Result]

CHUNK_ROWS = 1 << 18  # of a Parquet file: some megabytes for each column
MAX_PENDING = 32  # partitions of a Dask frame that are computed at a time, so that results do not fill the memory


class ChunkedTable(ABC):
    """A table that is read chunk by chunk.

    Attributes
    ----------
    names : list of str
        Column names.
    n_rows : int
        Number of rows of all chunks; at least 1.
    """

    names: list[str]
    n_rows: int

    @abstractmethod
    def map(self, function: ChunkFunction[Result], columns: Sequence[str]) -> Iterator[Result]:
        """Apply a function to all chunks and yield its results in order.

        Parameters
        ----------
        function : callable
            Gets a frame with these columns, and the number of the chunk.
        columns : sequence of str
            Columns to read.
        """

    def check_columns(self, columns: Sequence[str]) -> None:
        """Raise an error if the table lacks some of the columns, before any chunk is read."""
        lacking = [name for name in columns if name not in self.names]
        if lacking:
            raise ValueError(f"the table lacks the columns {lacking}; it has {self.names}")


class ParquetChunks(ChunkedTable):
    """Parquet files that are read chunk by chunk: one file, a folder, or a `pyarrow.dataset`."""

    def __init__(self, source: str | Path | pyarrow.dataset.Dataset) -> None:
        from pyarrow import ArrowException, dataset

        try:
            self._dataset = dataset.dataset(source, format="parquet") if isinstance(source, str | Path) else source
            self.names = list(self._dataset.schema.names)
            self.n_rows = int(self._dataset.count_rows())
        except (ArrowException, OSError) as error:
            raise ValueError(f"{source} cannot be read as Parquet: {error}") from None
        _check_not_empty(self.n_rows)

    def map(self, function: ChunkFunction[Result], columns: Sequence[str]) -> Iterator[Result]:
        """Apply a function to one chunk after the other in this process; see `ChunkedTable.map`."""
        import pyarrow as pa

        self.check_columns(columns)
        # By default, arrow reads whole row groups ahead, which fill the memory.
        batches = self._dataset.to_batches(
            columns=list(columns), batch_size=CHUNK_ROWS, batch_readahead=2, fragment_readahead=1
        )
        begin = number = 0
        for batch in _read_batches(batches):
            if batch.num_rows == 0:
                continue
            yield _apply(function, pa.Table.from_batches([batch]), number, begin)
            begin += batch.num_rows
            number += 1


class DaskChunks(ChunkedTable):
    """A Dask frame, whose partitions are processed where Dask computes: on a cluster if there is a client."""

    def __init__(self, frame: dask.dataframe.DataFrame) -> None:
        from dask.base import compute
        from dask.delayed import delayed

        self._frame = frame
        self.names = [str(name) for name in frame.columns]
        partitions = frame[list(frame.columns[:1])].to_delayed()
        self._lengths = list(compute(*(delayed(len)(partition) for partition in partitions)))
        self.n_rows = sum(self._lengths)
        _check_not_empty(self.n_rows)

    def map(self, function: ChunkFunction[Result], columns: Sequence[str]) -> Iterator[Result]:
        """Apply a function to some partitions at a time; see `ChunkedTable.map`."""
        from dask.base import compute
        from dask.delayed import delayed

        self.check_columns(columns)
        partitions = zip(self._frame[list(columns)].to_delayed(), self._lengths, strict=True)
        begin = 0
        tasks: list[Delayed] = []
        for partition, length in partitions:
            if length:
                tasks.append(delayed(_apply)(function, partition, len(tasks), begin))
            begin += length
        waiting = iter(tasks)
        while pending := list(islice(waiting, MAX_PENDING)):
            yield from compute(*pending)


def chunked_table(X: TableLike) -> ChunkedTable | None:
    """Return the chunked table for a path, a `pyarrow.dataset` or a Dask frame; None for a table in memory."""
    module = type(X).__module__.split(".")[0]
    if isinstance(X, str | Path):
        if not Path(X).exists():
            raise ArgumentError("X", str(X), "there is no such file or folder; expected Parquet, or a table")
        return ParquetChunks(X)
    if module == "pyarrow" and hasattr(X, "count_rows"):
        return ParquetChunks(X)
    if module in ("dask", "dask_expr") and hasattr(X, "to_delayed"):
        if not hasattr(X, "columns"):
            raise ArgumentError("X", Verbatim(f"a Dask {type(X).__name__}"), "expected a Dask DataFrame")
        return DaskChunks(X)
    return None


def target_column(y: LabelsLike, chunks: ChunkedTable, features: Sequence[Feature]) -> str:
    """Check and return the name of the column to predict, which a chunked table must hold itself."""
    if not isinstance(y, str):
        raise ArgumentError(
            "y", Verbatim(f"a {type(y).__name__}"), "of a chunked table, give the name of its target column"
        )
    chunks.check_columns([y])
    if y in [feature.name for feature in features]:
        raise ArgumentError("y", y, "the tree has this column as a feature; expected the column that it predicts")
    return y


def weight_column(sample_weight: WeightsLike | None, chunks: ChunkedTable) -> str | None:
    """Check and return the name of the column with sample weights, which a chunked table must hold itself."""
    if sample_weight is None:
        return None
    if not isinstance(sample_weight, str):
        raise ArgumentError(
            "sample_weight",
            Verbatim(f"a {type(sample_weight).__name__}"),
            "of a chunked table, give the name of the column that holds it",
        )
    chunks.check_columns([sample_weight])
    return sample_weight


def select_columns(frame: Frame, columns: Sequence[str]) -> Frame:
    """Return some columns of a chunk."""
    return frame.select(list(columns)) if hasattr(frame, "select") else frame[list(columns)]


def chunk_labels(frame: Frame, target: str, weight: str | None, classes: Sequence[Category]) -> Labels:
    """Return the labels of a chunk; `weight` is the column with sample weights."""
    labels = encode_labels(frame[target], len(frame), classes=classes)
    if weight is None:
        return labels
    # Not `encode_labels(weights=...)`, which refuses weights that are all zero: a single chunk may have such weights.
    column = read_column(weight, frame[weight])
    if column.values.dtype.kind not in "iufb":
        raise ArgumentError("sample_weight", weight, f"it holds {column.values[0]!r}; expected a column of numbers")
    return replace(labels, weights=column.values.astype(np.float64))


def encode_chunks(
    chunks: ChunkedTable,
    features: Sequence[Feature],
    target: str,
    classes: Sequence[Category],
    sample_weight: WeightsLike | None = None,
    missing_values: PerColumn = None,
) -> tuple[Table, Labels]:
    """Encode a chunked table and its labels. Only the codes are kept in memory.

    Parameters
    ----------
    chunks : ChunkedTable
        The table.
    features : sequence of Feature
        Features by which the columns are read.
    target : str
        Name of the column to predict.
    classes : sequence
        Class labels in the order of their codes.
    sample_weight : str, optional
        Name of the column with sample weights.
    missing_values : optional
        Missing codes, see `encode`.
    """
    names = [feature.name for feature in features]
    weight = weight_column(sample_weight, chunks)
    values = np.empty((chunks.n_rows, len(names)), dtype=np.int32, order="F")
    codes = np.empty(chunks.n_rows, dtype=np.int32)
    weights = None if weight is None else np.empty(chunks.n_rows)
    begin = 0
    columns = [*names, target] if weight is None else [*names, target, weight]
    encode_chunk = partial(_encode_chunk, features, missing_values, target, weight, classes)
    for chunk_values, labels in chunks.map(encode_chunk, columns):
        rows = slice(begin, begin + len(chunk_values))
        values[rows] = chunk_values
        codes[rows] = labels.codes
        if weights is not None:
            weights[rows] = labels.sample_weights
        begin = rows.stop
    return Table(tuple(features), read_only(values)), Labels(read_only(codes), tuple(classes), weights)


def _encode_chunk(
    features: Sequence[Feature],
    missing_values: PerColumn,
    target: str,
    weight: str | None,
    classes: Sequence[Category],
    frame: Frame,
    _number: int,
) -> tuple[IntArray, Labels]:
    own = select_columns(frame, [feature.name for feature in features])
    table = encode(own, features=features, missing_values=missing_values)
    return table.values, chunk_labels(frame, target, weight, classes)


def _check_not_empty(n_rows: int) -> None:
    if n_rows == 0:
        raise ValueError(NO_ROWS)


def _read_batches(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Yield the batches of a dataset; errors of arrow become errors about the table."""
    from pyarrow import ArrowException

    try:
        yield from batches
    except (ArrowException, OSError) as error:
        raise ValueError(f"the table cannot be read to its end: {error}") from None


def _apply(function: ChunkFunction[Result], frame: Frame, number: int, begin: int) -> Result:
    """Apply a function to a chunk; an error is raised again with the rows of the chunk."""
    try:
        return function(frame, number)
    except (ValueError, TypeError) as error:
        rows = f"rows {begin} to {begin + len(frame) - 1}"
        raise ValueError(f"in the chunk with {rows} (below, rows are counted from its first): {error}") from error
