"""What several sections share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hardwood.report.content import Content
from hardwood.report.markup import Markup, element

NO_CERTAINTIES = "No certainties were given, so it is not known how likely a change is."


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Parameters
    ----------
    key : str
        Its id, to which links refer.
    title : str
        Its heading.
    build : callable
        Returns the elements below the heading.
    """

    key: str
    title: str
    build: Callable[[Content], list[Markup]]


def reported_level(content: Content) -> list[Markup]:
    """Return a note that names the reported tree, which does not follow the slider; empty if there is one tree only."""
    if len(content.levels) == 1:
        return []
    return [element("p", f"About the tree of this report ({content.level.title.lower()}).", class_="soft")]


def scroll_box(drawing: Markup, label: str) -> Markup:
    """Return a drawing in a box that scrolls sideways and can be reached by keyboard."""
    return element("div", drawing, class_="scroll", tabindex=0, role="region", aria_label=label)
