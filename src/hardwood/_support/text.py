"""Anybody's text, shown without harm: what would steer a terminal or turn the direction of writing becomes visible."""

from __future__ import annotations

import unicodedata

# Controls, format characters (direction marks, zero-width ones), halves of surrogate pairs, line and paragraph ends.
_STEERING = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_JOINERS = "\u200c\u200d"  # letters of some scripts, and emoji of several parts, need them


def shown(value: object) -> str:
    """A name, an answer or a label in one line of text."""
    return _escaped(str(value), keep="")


def harmless(text: str) -> str:
    """A text of several lines, such as a page that was put together from anybody's names."""
    return _escaped(text, keep="\n\t")


def _escaped(text: str, keep: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if _is_harmless(letter, keep) else _escape(letter) for letter in text)


def _is_harmless(letter: str, keep: str) -> bool:
    return letter in keep or letter in _JOINERS or unicodedata.category(letter) not in _STEERING


def _escape(letter: str) -> str:
    """As Python and JSON would write it."""
    code = ord(letter)
    if letter in "\n\t\r":
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}[letter]
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
