"""The one place where text becomes HTML, SVG or inline JSON."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from typing import Any

REPLACEMENT = "\ufffd"


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escaped(value: object) -> Markup:
    """Any value as text for HTML and for quoted attributes; what is markup already stays so."""
    return value if isinstance(value, Markup) else Markup(html.escape(_printable(str(value)), quote=True))


def element(tag: str, *children: object, **attributes: object) -> Markup:
    """An element. Attributes that are None are left out; their names lose a last underscore, others become hyphens."""
    words = [tag]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        words.append(name if value is True else f'{name}="{escaped(value)}"')
    opening = f"<{' '.join(words)}>"
    if tag in ("meta", "input", "br", "path", "rect", "line", "polyline"):
        return Markup(opening if tag in ("meta", "input", "br") else f"{opening[:-1]}/>")
    return Markup(f"{opening}{joined(*children)}</{tag}>")


def joined(*pieces: object) -> Markup:
    """Pieces one after the other; lists count as their entries, None as nothing."""
    texts: list[str] = []
    for piece in pieces:
        if isinstance(piece, list | tuple):
            texts.append(joined(*piece))
        elif piece is not None:
            texts.append(escaped(piece))
    return Markup("".join(texts))


def name(text: object) -> Markup:
    """Somebody's word, whose direction of writing must not turn its surroundings."""
    return element("bdi", text)


def inline_json(document: Any) -> Markup:
    """JSON for a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def fingerprint(text: str) -> str:
    """How a Content-Security-Policy names an inline style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _printable(text: str) -> str:
    """HTML has no place for control characters and halves of surrogate pairs."""
    return "".join(
        letter
        if letter in "\n\t" or not (ord(letter) < 32 or 127 <= ord(letter) < 160 or 0xD800 <= ord(letter) < 0xE000)
        else REPLACEMENT
        for letter in text
    )
