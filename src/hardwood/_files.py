"""Files: written whole or not at all, read with an error that names the file."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any


def write_text(path: str | Path, text: str) -> None:
    """Write a file so that a crash or a full disk leaves the old one, never half of the new one."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    path = Path(path).resolve()  # a link stays a link to the new text
    if not path.parent.is_dir():
        raise ValueError(f"{path} cannot be written: its folder does not exist")
    if path.exists() and not path.is_file():  # a pipe or a device
        path.write_bytes(content)
        return
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # a rename may reach the disk before what it names
        Path(draft).chmod(0o666 & ~_umask())
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def read_json(path: str | Path) -> Any:
    """The contents of a JSON file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a JSON file: {error}") from None
    return parsed_json(text, f"{path} is not a JSON file")


def parsed_json(text: str, complaint: str = "the text is not JSON") -> Any:
    """What a text in JSON says."""
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{complaint}: {error}") from None


def json_text(document: Any) -> str:
    """A document as JSON that people can read and edit; what JSON cannot say is refused."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
