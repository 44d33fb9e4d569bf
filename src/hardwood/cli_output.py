"""What all commands share: where they write, how they end, and what bad input sounds like here."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console

OK, NOT_CONFIRMED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
PLAIN = {"soft_wrap": True, "highlight": False, "markup": False, "emoji": False}
out, err = Console(**PLAIN), Console(stderr=True, **PLAIN)  # type: ignore[arg-type]
# Remedies in messages are written for Python; here they have other names.
IN_OTHER_WORDS = {
    'missing="category"': "--missing category",
    "clip=True, clip_certainty=True in the classifier, uses": "--clip uses",
    "clip=True": "--clip",
    "max_depth": "--depth",
    "n_jobs": "--jobs",
    "seconds is": "--time-limit is",
}
KINDS_IN_PYTHON = re.compile(r"kinds=\{\"(.*?)\": \[(.*?)\]\}")


@contextmanager
def errors() -> Iterator[None]:
    """Bad input ends with its message, not with a traceback."""
    try:
        yield
    except (ValueError, TypeError, OSError, ImportError) as error:
        message = str(error)
        for python, option in IN_OTHER_WORDS.items():
            message = message.replace(python, option)
        message = KINDS_IN_PYTHON.sub(
            lambda m: f"--kind '{m[1]}={m[2].replace(chr(39), '').replace(', ', '<')}'", message
        )
        err.print(f"hardwood: {message}")
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        err.print("hardwood: interrupted")
        raise typer.Exit(INTERRUPTED) from None


def print_json(document: Any) -> None:
    """JSON for machines, on standard output."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, default=_plain) + "\n")


def _plain(value: Any) -> Any:
    return value.item()


def finite(value: Any) -> Any:
    """A number that JSON can say."""
    value = value.item() if hasattr(value, "item") else value
    return "inf" if value == float("inf") else value
