"""Output streams, exit codes and error messages that all commands share."""

from __future__ import annotations

import json
import shlex
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

import typer
from rich.console import Console

from hardwood._util.errors import DROP_ROWS, ArgumentError, Setting
from hardwood._util.text import printable, printable_lines
from hardwood.shifts.models import PARAMETERS

if TYPE_CHECKING:
    import numpy as np

NOT_CONFIRMED, BAD_INPUT, INTERRUPTED = 1, 2, 130  # exit codes
_PLAIN = {"soft_wrap": True, "highlight": False, "markup": False, "emoji": False}
# Options by Python argument, where the two names differ by more than hyphens.
_OPTIONS = {
    "sample_weight": "--weight",
    "max_depth": "--depth",
    "n_jobs": "--jobs",
    "seconds": "--time-limit",
    "memory_bytes": "--memory-limit",
    "kinds": "--kind",
    "feature_kinds": "--kind",
    "costs": "--cost",
    "branch_penalty": "--penalty",
    "plausibilities": "--levels",
    "missing_values": "--na",
    "y": "the target",
}


class _HarmlessConsole(Console):
    """A console that shows control characters instead of sending them to the terminal.

    Column names, labels and file names come from the user's files; they must not be able to control the terminal.
    """

    def print(self, *objects: object, **options: Any) -> None:
        """Print objects; control characters in texts are escaped."""
        super().print(*(printable_lines(item) if isinstance(item, str) else item for item in objects), **options)


out, err = _HarmlessConsole(**_PLAIN), _HarmlessConsole(stderr=True, **_PLAIN)  # type: ignore[arg-type]


class ShellDialect:
    """Words error messages with the options of the command line."""

    def argument(self, name: str, column: str | None) -> str:
        """Return `--certainty`, or `--certainty age` for one column."""
        option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
        return option if column is None else f"{option} {printable(column)}"

    def setting(self, setting: Setting) -> str:
        """Return `--clip`, or `--kind 'party=left<right'` for one column."""
        option = self.argument(setting.argument, None)
        if setting.value is True:
            return f"{option} leaves such rows out" if setting == DROP_ROWS else option
        if isinstance(setting.value, list) and setting.argument == "missing_values":
            return " ".join(f"{option} {shlex.quote(str(code))}" for code in setting.value)
        value = "<".join(map(str, setting.value)) if isinstance(setting.value, list) else str(setting.value)
        return f"{option} {shlex.quote(value if setting.column is None else f'{setting.column}={value}')}"


@contextmanager
def errors(source: Path | None = None) -> Iterator[None]:
    """Turn errors into a message and an exit code, and warnings into a line without a source location.

    Parameters
    ----------
    source : Path or None, default=None
        File that states the shift model if no option does; errors about the shift model then name this file.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_: _print_message(f"warning: {_warning_text(message)}")
            yield
    except ArgumentError as error:
        is_from_file = source is not None and error.argument in PARAMETERS
        _print_message(f"{source}: {error}" if is_from_file else error.render(ShellDialect()))
        raise typer.Exit(BAD_INPUT) from None
    except (ValueError, TypeError, OSError, ImportError) as error:
        _print_message(str(error))
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        _print_message("interrupted")
        raise typer.Exit(INTERRUPTED) from None


def _warning_text(message: Warning | str) -> str:
    """Return the text of a warning, with the options of the command line where the warning supports it."""
    return str(message.render(ShellDialect())) if hasattr(message, "render") else str(message)


def _print_message(message: str) -> None:
    err.print(f"hardwood: {printable(message)}")


def print_json(document: object) -> None:
    """Print JSON on standard output; control characters are written as JSON escapes."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, default=_plain)
    escapes = {ord(letter): json.dumps(letter)[1:-1] for letter in set(text) if printable_lines(letter) != letter}
    sys.stdout.write(text.translate(escapes) + "\n")


class _Result(Protocol):
    """A result that prints as text and as JSON."""

    def to_dict(self) -> Mapping[str, object]:
        """Return the result as a JSON document."""


def print_result(result: _Result, *, as_json: bool) -> None:
    """Print a result on standard output, as text or as JSON."""
    if as_json:
        print_json(result.to_dict())
    else:
        out.print(str(result))


def print_text(text: str) -> None:
    """Print data on standard output, unchanged unless it is a terminal, where control characters are escaped."""
    sys.stdout.write(printable_lines(text) if is_terminal(sys.stdout) else text)


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream is a terminal."""
    return stream.isatty()


def _plain(value: np.generic) -> object:
    return value.item()


def finite(value: object) -> object:
    """Return a value that JSON can represent: infinity becomes the text "inf"."""
    value = value.item() if hasattr(value, "item") else value
    return "inf" if value == float("inf") else value
