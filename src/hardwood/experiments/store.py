"""The folder of a study: a journal that only grows, and a Parquet file made from it.

    journal.jsonl    a line for each task that ended, written whole and flushed to the disk before the next
    results.parquet  a row for each instance, complete without the journal

A line carries a checksum. A last line without its end was being written when the power went, and is left out; any other
damage is an error that says where it is, and nothing is written to a damaged folder.
"""

from __future__ import annotations

import errno
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hardwood._support.files import write_bytes

JOURNAL, RESULTS = "journal.jsonl", "results.parquet"
Row = dict[str, Any]


class Store:
    """Rows by id, on disk."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._file: int | None = None
        self.rows: dict[str, Row] = {}
        self._whole = 0  # bytes of the journal up to the end of its last whole line
        self._read()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Open the journal and read it again; only one process may write a folder."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            how = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
            self._file = os.open(self.folder / JOURNAL, how, 0o666)
        except OSError as error:
            raise ValueError(
                f"results cannot be written to {self.folder}: {error.strerror}; choose another folder"
            ) from error
        try:
            self._lock()
            self._read()  # what another run added in the meantime
            os.ftruncate(self._file, self._whole)  # what a crash left of a line
            yield
        finally:
            os.close(self._file)
            self._file = None

    def add(self, row: Row) -> None:
        """Append a row: afterwards it is on the disk, or the journal is as before and an error says why."""
        if self._file is None:
            raise RuntimeError("the store is not open for writing")
        line = _line(row)
        try:
            written = 0
            while written < len(line):
                written += os.write(self._file, line[written:])
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._whole)
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            raise ValueError(
                f"{self.folder / JOURNAL} cannot be written: {error.strerror}; the {len(self.rows)} rows before are "
                f"kept. {'Free some space' if full else 'Mend this'} and run again: it goes on from there"
            ) from error
        self._whole += len(line)
        self.rows[row["id"]] = row

    def write_results(self, rows: list[Row]) -> None:
        """Write rows as Parquet, whole or not at all."""
        path = self.folder / RESULTS
        try:
            write_bytes(path, parquet_bytes(rows))
        except OSError as error:
            raise ValueError(
                f"{path} cannot be written: {error.strerror}; all {len(rows)} rows are in {JOURNAL}; run again "
                f"to write them"
            ) from error

    def _lock(self) -> None:
        try:
            import fcntl
        except ModuleNotFoundError:  # Windows: nobody tells if two runs write the same folder
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
        if (self.folder / RESULTS).exists():
            self.rows |= {row["id"]: row for row in read_results(self.folder / RESULTS)}
        self._whole = 0
        if (self.folder / JOURNAL).exists():
            self._read_journal()

    def _read_journal(self) -> None:
        path = self.folder / JOURNAL
        for number, line in enumerate(path.read_bytes().splitlines(keepends=True), start=1):
            if not line.endswith(b"\n"):
                return
            try:
                row = _row(line)
            except ValueError as error:
                raise ValueError(
                    f"{path}, line {number}, is damaged ({error}); nothing was changed. Delete this line (unless "
                    f"{RESULTS} has it, its instance is run again), or take the file from a backup"
                ) from None
            self._whole += len(line)
            self.rows[row["id"]] = row


def _line(row: Row) -> bytes:
    text = json.dumps(row, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return f"{zlib.crc32(text.encode()):08x} {text}\n".encode()


def _row(line: bytes) -> Row:
    checksum, _, text = line.rstrip(b"\r\n").partition(b" ")
    if checksum != f"{zlib.crc32(text):08x}".encode():
        raise ValueError("its checksum is wrong")
    row: Row = json.loads(text)
    return row


def parquet_bytes(rows: list[Row]) -> bytes:
    """Rows as a Parquet file; a row without a column has null there."""
    pyarrow, parquet = needs_arrow()
    names = sorted({name for row in rows for name in row}, key=_column_order)
    table = pyarrow.table({name: pyarrow.array([row.get(name) for row in rows]) for name in names})
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd", compression_level=9)
    return bytes(sink.getvalue())


def read_results(path: str | Path) -> list[Row]:
    """The rows of a Parquet file of results, without the columns that a row has not."""
    pyarrow, parquet = needs_arrow()
    try:
        rows = parquet.read_table(path).to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(
            f"{path} cannot be read as Parquet ({error}); nothing was changed. Move it away: if {JOURNAL} is beside "
            f"it, no row is lost"
        ) from None
    if rows and "id" not in rows[0]:
        raise ValueError(f"{path} has no column id; expected results of a study")
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def _column_order(name: str) -> tuple[int, str]:
    first = ("id", "dataset", "mean_certainty", "plausibility", "depth", "outcome", "message")
    return (first.index(name), "") if name in first else (len(first), name)


def needs_arrow() -> tuple[Any, Any]:
    """pyarrow, or an error that says how to get it."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise ImportError("studies need the package pyarrow; run: pip install 'hardwood[experiments]'") from error
    return pyarrow, parquet
