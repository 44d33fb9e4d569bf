"""Errors about arguments, kept in parts, so that each interface renders them in its own terms.

In Python, a message names arguments; on the command line, options:

certainty["income"] is 0.12; with 5 categories it must be at least 0.2 (clip=True uses that limit)
--certainty income is 0.12; with 5 categories it must be at least 0.2 (--clip uses that limit)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np

MAX_REPR = 300  # characters of a value in a message


class Verbatim(str):
    """A description of what was received, which a message contains instead of its representation."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """An argument with a value that would help.

    Parameters
    ----------
    argument : str
        Name of the argument.
    value : object
        The value.
    column : str, optional
        The column that the value is for.
    """

    argument: str
    value: object
    column: str | None = None


DROP_ROWS = Setting("drop_missing", True)  # an option of the command line; in Python, the caller drops rows
MessagePart: TypeAlias = str | Setting
Message: TypeAlias = str | tuple[MessagePart, ...]


class Dialect(Protocol):
    """How an interface writes arguments and settings."""

    def argument(self, name: str, column: str | None) -> str:
        """Return the name of an argument, or of its entry for a column."""

    def setting(self, setting: Setting) -> str:
        """Return an argument with its value."""


class PythonDialect:
    """Arguments of Python functions."""

    def argument(self, name: str, column: str | None) -> str:
        """Return, for example, certainty or certainty["age"]."""
        return name if column is None else f"{name}[{_literal(column)}]"

    def setting(self, setting: Setting) -> str:
        """Return, for example, clip=True or kinds={"party": ["left", "right"]}."""
        if setting == DROP_ROWS:
            return "drop such rows"
        value = setting.value if setting.column is None else {setting.column: setting.value}
        return f"{setting.argument}={_literal(value)}"


class ArgumentError(ValueError):
    """An error about an argument: what was received, what was expected, and what would help.

    Parameters
    ----------
    argument : str
        Name of the argument; "" for a cell of the table itself, given by column and row.
    received : object
        The value; `Verbatim` for a description of it.
    expected : Message
        A clause that follows a semicolon.
    remedy : Message, optional
        What to do, in brackets at the end.
    column, row : optional
        Where in the argument, or in the table, the value is.
    """

    def __init__(
        self,
        argument: str,
        received: object,
        expected: Message,
        *,
        remedy: Message = (),
        column: str | None = None,
        row: int | None = None,
    ) -> None:
        super().__init__(argument, received, expected)
        self.argument, self.received, self.expected, self.remedy = argument, received, expected, remedy
        self.column, self.row = column, row

    def renamed(self, name: str, new_name: str) -> ArgumentError:
        """Return the same error for a caller whose argument has another name."""

        def rename(message: Message) -> Message:
            if isinstance(message, str):
                return message
            return tuple(
                replace(part, argument=new_name) if isinstance(part, Setting) and part.argument == name else part
                for part in message
            )

        return ArgumentError(
            new_name if self.argument == name else self.argument,
            self.received,
            rename(self.expected),
            remedy=rename(self.remedy),
            column=self.column,
            row=self.row,
        )

    def render(self, dialect: Dialect) -> str:
        """Return the message in the terms of an interface."""
        subject = dialect.argument(self.argument, self.column) if self.argument else f'column "{self.column}"'
        place = "" if self.row is None else f", row {self.row}"
        remedy = f" ({_render(self.remedy, dialect)})" if self.remedy else ""
        return f"{subject}{place} is {_describe(self.received)}; {_render(self.expected, dialect)}{remedy}"

    def __str__(self) -> str:
        return self.render(PythonDialect())

    def __reduce__(self) -> tuple[object, ...]:
        state = {"remedy": self.remedy, "column": self.column, "row": self.row}
        return type(self), (self.argument, self.received, self.expected), state


def short_repr(value: object) -> str:
    """Return the representation of a value; the middle of a long one is left out."""
    try:
        text = repr(value)
    except ValueError:  # Python does not print integers with thousands of digits
        return "a number with thousands of digits"
    return text if len(text) <= MAX_REPR else f"{text[: MAX_REPR // 2]}...{text[-MAX_REPR // 4 :]}"


def _describe(received: object) -> str:
    plain = received.item() if isinstance(received, np.generic) else received
    return str(plain) if isinstance(plain, Verbatim) else short_repr(plain)


def _literal(value: object) -> str:
    """Return a Python literal, in double quotes unless it contains quotes."""
    text = repr(value)
    return text if '"' in text or "\\'" in text else text.replace("'", '"')


def _render(message: Message, dialect: Dialect) -> str:
    parts = (message,) if isinstance(message, str) else message
    return "".join(part if isinstance(part, str) else dialect.setting(part) for part in parts)
