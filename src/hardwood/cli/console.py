"""What all commands share: where they write, how they end, and what bad input sounds like here."""

from __future__ import annotations

import json
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import typer
from rich.console import Console

from hardwood._support.errors import DROP_ROWS, ArgumentError, Setting
from hardwood._support.text import harmless, shown
from hardwood.shift.description import FIELDS

OK, NOT_CONFIRMED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
PLAIN = {"soft_wrap": True, "highlight": False, "markup": False, "emoji": False}
# Arguments of Python by the options that stand for them here, where the two differ by more than hyphens.
OPTIONS = {
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


class HarmlessConsole(Console):
    """A console to which nobody's name, label or file can send commands."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print texts with whatever steers a terminal made visible."""
        super().print(*(harmless(thing) if isinstance(thing, str) else thing for thing in objects), **options)


out, err = HarmlessConsole(**PLAIN), HarmlessConsole(stderr=True, **PLAIN)  # type: ignore[arg-type]


class ShellDialect:
    """Arguments as options."""

    def argument(self, name: str, column: str | None) -> str:
        """--certainty, or --certainty age."""
        option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
        return option if column is None else f"{option} {shown(column)}"

    def setting(self, setting: Setting) -> str:
        """--clip, or --kind 'party=left<right'."""
        option = self.argument(setting.argument, None)
        if setting.value is True:
            return f"{option} leaves such rows out" if setting == DROP_ROWS else option
        if isinstance(setting.value, list) and setting.argument == "missing_values":
            return " ".join(f"{option} {shlex.quote(str(code))}" for code in setting.value)
        value = "<".join(map(str, setting.value)) if isinstance(setting.value, list) else str(setting.value)
        return f"{option} {shlex.quote(value if setting.column is None else f'{setting.column}={value}')}"


@contextmanager
def errors(words_of: Path | None = None) -> Iterator[None]:
    """Bad input ends with its message, not with a traceback; a warning is a line, without a place in our sources.

    words_of  the file that says what may shift, if no option does: then it is to blame
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_: _complain(f"warning: {_worded(message)}")
            yield
    except ArgumentError as error:
        is_from_file = words_of is not None and error.argument in FIELDS
        _complain(f"{words_of}: {error}" if is_from_file else error.worded(ShellDialect()))
        raise typer.Exit(BAD_INPUT) from None
    except (ValueError, TypeError, OSError, ImportError) as error:
        _complain(str(error))
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        _complain("interrupted")
        raise typer.Exit(INTERRUPTED) from None


def _worded(message: Any) -> str:
    """A warning that knows several interfaces, in ours."""
    return str(message.worded(ShellDialect())) if hasattr(message, "worded") else str(message)


def _complain(message: str) -> None:
    err.print(f"hardwood: {shown(message)}")


def print_json(document: Any) -> None:
    """JSON for machines, on standard output; what would steer a terminal is written as JSON can write it, too."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, default=_plain)
    steering = {ord(letter): json.dumps(letter)[1:-1] for letter in set(text) if harmless(letter) != letter}
    sys.stdout.write(text.translate(steering) + "\n")


def print_text(text: str) -> None:
    """Data on standard output: as they are, but for a terminal, which would obey them."""
    sys.stdout.write(harmless(text) if is_terminal(sys.stdout) else text)


def is_terminal(stream: TextIO) -> bool:
    """Whether somebody looks at what is written there."""
    return stream.isatty()


def _plain(value: Any) -> Any:
    return value.item()


def finite(value: Any) -> Any:
    """A number that JSON can say."""
    value = value.item() if hasattr(value, "item") else value
    return "inf" if value == float("inf") else value
