"""Text for terminals: characters that control a terminal or the direction of writing are escaped."""

from __future__ import annotations

import unicodedata

# Control and format characters (direction marks, zero-width ones), lone surrogates, line and paragraph separators.
_ESCAPED_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_JOINERS = "\u200c\u200d"  # letters of some scripts, and emoji of several parts, need them


def printable(value: object) -> str:
    """Return a name, a value or a label as one line of text, with control characters escaped."""
    return _escape(str(value), keep="")


def printable_lines(text: str) -> str:
    """Return a text of several lines with all control characters escaped but line feeds and tabs."""
    return _escape(text, keep="\n\t")


def with_noun(number: str, one: str, many: str) -> str:
    """Return a number that is already text with its noun, such as "1 row" or "2,000 rows"."""
    return f"{number} {one if number == '1' else many}"


def _escape(text: str, keep: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if _is_printable(letter, keep) else _escape_letter(letter) for letter in text)


def _is_printable(letter: str, keep: str) -> bool:
    return letter in keep or letter in _JOINERS or unicodedata.category(letter) not in _ESCAPED_CATEGORIES


def _escape_letter(letter: str) -> str:
    """Return the escape sequence that Python and JSON use."""
    code = ord(letter)
    if letter in "\n\t\r":
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}[letter]
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
