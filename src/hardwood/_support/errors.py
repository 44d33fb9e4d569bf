"""Bad input, told in parts, so that every interface words it in its own way: Python by arguments, a shell by options.

certainty["income"] is 0.12; with 5 categories it must be at least 0.2 (clip=True uses that limit)
--certainty income is 0.12; with 5 categories it must be at least 0.2 (--clip uses that limit)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np


class Said(str):
    """Words for what was received, instead of its representation."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """An argument with a value that would help, perhaps for one column."""

    argument: str
    value: Any
    column: str | None = None


DROP_ROWS = Setting("drop_missing", True)  # in Python it is the caller who drops rows
LONGEST = 300  # letters of a value in a message
Part: TypeAlias = str | Setting
Words: TypeAlias = str | tuple[Part, ...]


class Dialect(Protocol):
    """How an interface names arguments and settings."""

    def argument(self, name: str, column: str | None) -> str:
        """An argument, or its entry for a column."""

    def setting(self, setting: Setting) -> str:
        """An argument with its value."""


class PythonDialect:
    """Arguments of functions."""

    def argument(self, name: str, column: str | None) -> str:
        """certainty, or certainty["age"]."""
        return name if column is None else f"{name}[{_in_python(column)}]"

    def setting(self, setting: Setting) -> str:
        """clip=True, or kinds={"party": ["left", "right"]}."""
        if setting == DROP_ROWS:
            return "drop such rows"
        value = setting.value if setting.column is None else {setting.column: setting.value}
        return f"{setting.argument}={_in_python(value)}"


class ArgumentError(ValueError):
    """Bad input: whose fault it is, what was received, what was expected, and what would help.

    argument  the name of a parameter; "" if a cell of the table itself is meant, given by column and row
    received  the value; `Said` for words about it
    expected  a clause that follows a semicolon
    remedy    what to do, in brackets
    """

    def __init__(
        self,
        argument: str,
        received: object,
        expected: Words,
        *,
        remedy: Words = (),
        column: str | None = None,
        row: int | None = None,
    ) -> None:
        super().__init__(argument, received, expected)
        self.argument, self.received, self.expected, self.remedy = argument, received, expected, remedy
        self.column, self.row = column, row

    def worded(self, dialect: Dialect) -> str:
        """The message as an interface says it."""
        subject = dialect.argument(self.argument, self.column) if self.argument else f'column "{self.column}"'
        place = "" if self.row is None else f", row {self.row}"
        remedy = f" ({_joined(self.remedy, dialect)})" if self.remedy else ""
        return f"{subject}{place} is {_shown(self.received)}; {_joined(self.expected, dialect)}{remedy}"

    def __str__(self) -> str:
        return self.worded(PythonDialect())

    def __reduce__(self) -> Any:
        state = {"remedy": self.remedy, "column": self.column, "row": self.row}
        return type(self), (self.argument, self.received, self.expected), state


def shortened(received: object) -> str:
    """A value as Python writes it; of a long one, both ends."""
    try:
        text = repr(received)
    except ValueError:  # a whole number with more digits than Python writes
        return "a number with thousands of digits"
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}...{text[-LONGEST // 4 :]}"


def _shown(received: object) -> str:
    plain = received.item() if isinstance(received, np.generic) else received
    return str(plain) if isinstance(plain, Said) else shortened(plain)


def _in_python(value: Any) -> str:
    """As one would type it: in double quotes if it has no quotes of its own."""
    text = repr(value)
    return text if '"' in text or "\\'" in text else text.replace("'", '"')


def _joined(words: Words, dialect: Dialect) -> str:
    parts = (words,) if isinstance(words, str) else words
    return "".join(part if isinstance(part, str) else dialect.setting(part) for part in parts)
