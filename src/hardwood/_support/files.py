"""Files: written whole or not at all, read with an error that names the file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def write_text(path: str | Path, text: str) -> None:
    """Write a file so that a crash or a full disk leaves the old one, never half of the new one."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file whole or not at all; an error names the file, whatever failed."""
    write_chunks(path, [content])


def write_chunks(path: str | Path, chunks: Iterable[bytes]) -> None:
    """The same for a content that is made while it is written."""
    path = Path(path).resolve()  # a link stays a link to the new text
    if not path.parent.is_dir():
        raise ValueError(f"{path} cannot be written: its folder does not exist")
    try:
        if path.exists() and not path.is_file():  # a pipe or a device
            with path.open("wb") as file:
                file.writelines(chunks)
        else:
            _write_whole(path, chunks)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())  # a rename may reach the disk before what it names
        Path(draft).chmod(0o666 & ~_umask())
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


@contextmanager
def reading(path: str | Path) -> Iterator[Any]:
    """The contents of a JSON file, for whoever makes something of them: all that goes wrong is one error with its name.

    with reading(path) as document:
        return Tree.from_dict(document)
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # not in UTF-8, no JSON, or a number with more digits than Python reads
        raise ValueError(f"{path} is not a JSON file: {error}") from None
    except RecursionError:
        raise ValueError(f"{path} is not a JSON file: it is nested too deep") from None
    with making(str(path)):
        yield document


@contextmanager
def making(source: str) -> Iterator[None]:
    """Something is made of a document: all that goes wrong is one error that names where the document is from."""
    try:
        yield
    except RecursionError:
        raise ValueError(f"{source} is nested too deep to be a tree, a model or a certificate") from None
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{source}: {error}") from None


def parsed_json(text: str) -> Any:
    """What a text in JSON says."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the text is not JSON: {error}") from None


def json_text(document: Any) -> str:
    """A document as JSON that people can read and edit; what JSON cannot say is refused."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
