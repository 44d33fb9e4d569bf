"""Files: written completely or not at all, and read with errors that name the file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def write_text(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8; after a crash or on a full disk, the old file is still there."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file completely or not at all; errors name the file."""
    write_chunks(path, [content])


def write_chunks(path: str | Path, chunks: Iterable[bytes]) -> None:
    """Write a file completely or not at all, from chunks that are made while it is written; errors name the file."""
    path = Path(path).resolve()  # a symbolic link stays a link, and its target is replaced
    if not path.parent.is_dir():
        raise ValueError(f"{path} cannot be written: its folder does not exist")
    try:
        if path.exists() and not path.is_file():  # a pipe or a device
            with path.open("wb") as file:
                file.writelines(chunks)
        else:
            _replace_file(path, chunks)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _replace_file(path: Path, chunks: Iterable[bytes]) -> None:
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())  # otherwise the new name may reach the disk before the content
        Path(draft).chmod(0o666 & ~_umask())
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


@contextmanager
def open_json(path: str | Path) -> Iterator[object]:
    """Read a JSON file; errors in the file, and in the body of the `with` statement, name the file."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # not in UTF-8, not JSON, or an integer with more digits than Python reads
        raise ValueError(f"{path} is not a JSON file: {error}") from None
    except RecursionError:
        raise ValueError(f"{path} is not a JSON file: it is nested too deep") from None
    with prefix_errors(str(path)):
        yield document


@contextmanager
def prefix_errors(source: str) -> Iterator[None]:
    """Put the source of a document in front of the messages of errors in the body of the `with` statement."""
    try:
        yield
    except RecursionError:
        raise ValueError(f"{source} is nested too deep to be a tree, a model or a certificate") from None
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{source}: {error}") from None


def parse_json(text: str) -> object:
    """Return the document that a text in JSON holds."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the text is not JSON: {error}") from None


def format_json(document: object) -> str:
    """Return a document as indented JSON; NaN and infinity, which JSON does not have, are refused."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
