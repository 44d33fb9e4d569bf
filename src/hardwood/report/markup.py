"""Text becomes HTML, SVG or inline JSON in this module and nowhere else, so that escaping cannot be forgotten."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

REPLACEMENT = "\ufffd"
_WITHOUT_END_TAG = ("meta", "input", "br")
_SELF_CLOSING = ("path", "rect", "line", "polyline")  # of SVG


class Markup(str):
    """Text that is already HTML."""

    __slots__ = ()


def escaped(value: object) -> Markup:
    """Return a value as text for HTML and for quoted attributes.

    Parameters
    ----------
    value : object
        `Markup` is returned unchanged; everything else is converted to text and escaped.
    """
    return value if isinstance(value, Markup) else Markup(html.escape(_printable(str(value)), quote=True))


def element(tag: str, *children: object, **attributes: object) -> Markup:
    """Return an element of HTML or SVG.

    Parameters
    ----------
    tag : str
        Name of the element.
    *children : object
        Its content, see `joined`.
    **attributes : object
        Its attributes. A trailing underscore of a name is dropped, other underscores become hyphens. None and False
        omit the attribute, True writes its name only.
    """
    parts = [tag]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        parts.append(name if value is True else f'{name}="{escaped(value)}"')
    opening = " ".join(parts)
    if tag in _WITHOUT_END_TAG:
        return Markup(f"<{opening}>")
    if tag in _SELF_CLOSING:
        return Markup(f"<{opening}/>")
    return Markup(f"<{opening}>{joined(*children)}</{tag}>")


def joined(*parts: object) -> Markup:
    """Return the concatenation of parts; lists and tuples are flattened, None is skipped."""
    texts: list[str] = []
    for part in parts:
        if isinstance(part, list | tuple):
            texts.append(joined(*part))
        elif part is not None:
            texts.append(escaped(part))
    return Markup("".join(texts))


def isolated(text: object) -> Markup:
    """Return text from the user's table, isolated so that its writing direction does not affect what surrounds it."""
    return element("bdi", text)


def comma_separated(parts: Sequence[Markup]) -> Markup:
    """Return parts with commas between them."""
    return joined(*(joined(", " if k else "", part) for k, part in enumerate(parts)))


def inline_json(document: Json) -> Markup:
    """Return JSON for a script element; nothing in it can end the element or begin a comment."""
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def csp_hash(text: str) -> str:
    """Return the source expression by which a Content-Security-Policy allows an inline style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _printable(text: str) -> str:
    """Replace control characters and lone surrogates, which HTML does not allow."""
    return "".join(
        letter
        if letter in "\n\t" or not (ord(letter) < 32 or 127 <= ord(letter) < 160 or 0xD800 <= ord(letter) < 0xE000)
        else REPLACEMENT
        for letter in text
    )
