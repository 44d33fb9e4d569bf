"""The tree as text, Python and SQL, ready to copy."""

from __future__ import annotations

from collections.abc import Callable

from hardwood.report.content import Content
from hardwood.report.markup import Markup, element
from hardwood.report.sections.common import reported_level
from hardwood.trees.export import to_python, to_sql, to_text
from hardwood.trees.tree import Tree

_DIRECTION_MARKS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def rules_section(content: Content) -> list[Markup]:
    """Return the reported tree in each language; a language that cannot express it safely gives the reason."""
    languages: list[tuple[str, str, Callable[[Tree], str]]] = [
        ("Text", "Text", _visible_text),
        ("Python", "Python", to_python),
        ("SQL", "Standard SQL", _checked_sql),
    ]
    parts = reported_level(content)
    for language, title, write in languages:
        summary = element("summary", title)
        try:
            code = write(content.tree)
        except ValueError as error:
            parts.append(element("details", summary, element("p", f"Not written: {error}.")))
        else:
            parts.append(element("details", summary, *_copyable(language, code), open=language == "Text"))
    return parts


def _copyable(language: str, code: str) -> list[Markup]:
    """Return code with a button that copies it."""
    key = f"rules-{language.lower()}"
    label = f"Copy the rules as {language}"
    return [
        element("button", "Copy", type="button", data_copy=key, class_="js-only", aria_label=label),
        element("pre", code, id=key, tabindex=0, role="region", aria_label=f"The rules as {language}"),
    ]


def _visible_text(tree: Tree) -> str:
    """Return the tree as text in which marks of writing direction are visible."""
    return "".join(f"\\u{ord(letter):04x}" if letter in _DIRECTION_MARKS else letter for letter in to_text(tree))


def _checked_sql(tree: Tree) -> str:
    """Return the tree as SQL; raise ValueError if it should not be copied from a page."""
    sql = to_sql(tree)
    if "\\" in sql:
        raise ValueError("a name has a backslash, which some databases read as part of the next letter")
    if any(letter in _DIRECTION_MARKS or (not letter.isprintable() and letter not in "\n ") for letter in sql):
        raise ValueError("a name has invisible characters")
    return sql
