"""The folder of a study: an append-only journal, and a Parquet file that is made from it.

    journal.jsonl    one line for each task that ended, flushed to the disk before the next
    results.parquet  one row for each instance; it does not need the journal

Every line has a checksum. An incomplete last line is the result of a crash and is ignored. Any other damage is an error
that names the line, and nothing is written to a damaged folder.
"""

from __future__ import annotations

import errno
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

from hardwood._util.files import write_bytes
from hardwood._util.types import JsonObject

JOURNAL, RESULTS = "journal.jsonl", "results.parquet"
Row: TypeAlias = JsonObject  # numbers and text by column name


class Store:
    """Rows of results on disk.

    Parameters
    ----------
    folder : str or Path

    Attributes
    ----------
    rows : dict of str to dict
        The rows by id.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._file: int | None = None
        self.rows: dict[str, Row] = {}
        self._complete = 0  # bytes of the journal up to the end of its last complete line
        self._read()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Open the journal for writing and read it again; only one process may write to a folder."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
            self._file = os.open(self.folder / JOURNAL, flags, 0o666)
        except OSError as error:
            raise ValueError(
                f"results cannot be written to {self.folder}: {error.strerror}; choose another folder"
            ) from error
        try:
            self._lock()
            self._read()  # another run may have added rows
            os.ftruncate(self._file, self._complete)  # removes the incomplete line that a crash left
            yield
        finally:
            os.close(self._file)
            self._file = None

    def add(self, row: Row) -> None:
        """Append a row; if it cannot be written to the disk, the journal is restored and an error is raised."""
        if self._file is None:
            raise RuntimeError("the store is not open for writing")
        line = _encoded_line(row)
        try:
            written = 0
            while written < len(line):
                written += os.write(self._file, line[written:])
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._complete)
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            raise ValueError(
                f"{self.folder / JOURNAL} cannot be written: {error.strerror}; the {len(self.rows)} rows before are "
                f"kept. {'Free some space' if full else 'Fix this'} and run again to continue"
            ) from error
        self._complete += len(line)
        self.rows[row["id"]] = row

    def write_results(self, rows: list[Row]) -> None:
        """Write rows to the Parquet file, atomically."""
        path = self.folder / RESULTS
        try:
            write_bytes(path, _parquet_bytes(rows))
        except OSError as error:
            raise ValueError(
                f"{path} cannot be written: {error.strerror}; all {len(rows)} rows are in {JOURNAL}; run again "
                f"to write them"
            ) from error

    def _lock(self) -> None:
        """Lock the journal against other processes."""
        try:
            import fcntl
        except ModuleNotFoundError:  # Windows has no such locks
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # type: ignore[arg-type]  # it is open
        except BlockingIOError:
            raise ValueError(f"another run is writing to {self.folder}; wait for it, or give another folder") from None
        except OSError as error:
            raise ValueError(
                f"{self.folder} cannot be locked against other runs ({error.strerror}); give a folder on a local disk"
            ) from error

    def _read(self) -> None:
        """Read the rows of both files."""
        if (self.folder / RESULTS).exists():
            self.rows |= {row["id"]: row for row in read_results(self.folder / RESULTS)}
        self._complete = 0
        if (self.folder / JOURNAL).exists():
            self._read_journal()

    def _read_journal(self) -> None:
        """Read the rows of the journal up to an incomplete last line."""
        path = self.folder / JOURNAL
        for number, line in enumerate(path.read_bytes().splitlines(keepends=True), start=1):
            if not line.endswith(b"\n"):
                return
            try:
                row = _decoded_line(line)
            except ValueError as error:
                raise ValueError(
                    f"{path}, line {number}, is damaged ({error}); nothing was changed. Delete this line (unless "
                    f"{RESULTS} has its row, the instance is run again), or restore the file from a backup"
                ) from None
            self._complete += len(line)
            self.rows[row["id"]] = row


def _encoded_line(row: Row) -> bytes:
    """A row as a line of the journal."""
    text = json.dumps(row, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return f"{zlib.crc32(text.encode()):08x} {text}\n".encode()


def _decoded_line(line: bytes) -> Row:
    """The row of a line of the journal."""
    checksum, _, text = line.rstrip(b"\r\n").partition(b" ")
    if checksum != f"{zlib.crc32(text):08x}".encode():
        raise ValueError("its checksum is wrong")
    row: Row = json.loads(text)
    return row


def _parquet_bytes(rows: list[Row]) -> bytes:
    """Rows as the content of a Parquet file; a missing column is null."""
    pyarrow, parquet = needs_arrow()
    names = sorted({name for row in rows for name in row}, key=_column_order)
    table = pyarrow.table({name: pyarrow.array([row.get(name) for row in rows]) for name in names})
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd", compression_level=9)
    return bytes(sink.getvalue())


def read_results(path: str | Path) -> list[Row]:
    """Read the rows of a Parquet file of results.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    rows : list of dict
        Rows without their null columns.
    """
    pyarrow, parquet = needs_arrow()
    try:
        rows = parquet.read_table(path).to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(
            f"{path} cannot be read as Parquet ({error}); nothing was changed. Move the file away: if {JOURNAL} is in "
            f"the same folder, no row is lost"
        ) from None
    if rows and "id" not in rows[0]:
        raise ValueError(f"{path} has no column id; expected results of a study")
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def _column_order(name: str) -> tuple[int, str]:
    """Sort key of a column: the identifying columns first, then by name."""
    first = ("id", "dataset", "mean_certainty", "plausibility", "depth", "outcome", "message")
    return (first.index(name), "") if name in first else (len(first), name)


def needs_arrow() -> tuple[ModuleType, ModuleType]:
    """Import pyarrow and pyarrow.parquet, or raise an error that says how to install them."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise ImportError("studies need the package pyarrow; run: pip install 'hardwood[experiments]'") from error
    return pyarrow, parquet
