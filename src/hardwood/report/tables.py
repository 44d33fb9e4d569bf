"""Tables of a report, and how its numbers are written."""

from __future__ import annotations

from typing import Any, TypeAlias

from hardwood.report.markup import Markup, element

Lines: TypeAlias = list[tuple[list[Any], dict[str, Any]]]  # cells and attributes


def counted(n: int, what: str) -> str:
    """A number of things."""
    return f"1 {what}" if n == 1 else f"{n} {what}s"


def percent(share: float) -> str:
    """A share in per cent."""
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def table_of(
    caption: str,
    head: tuple[str, ...],
    rows: Lines,
    *,
    numbers: int,
    first_number: int = 0,
    head_shown: bool = True,
) -> Markup:
    """A table; `numbers` columns from `first_number` on are numbers."""

    def is_number(k: int) -> str | None:
        return "number" if first_number <= k < first_number + numbers else None

    titles = element("tr", *(element("th", title, scope="col", class_=is_number(k)) for k, title in enumerate(head)))
    lines = [
        element("tr", *(_cell(cell, k, is_number(k)) for k, cell in enumerate(cells)), **attributes)
        for cells, attributes in rows
    ]
    table = element(
        "table", element("caption", caption), element("thead", titles) if head_shown else None, element("tbody", *lines)
    )
    return element("div", table, class_="table", tabindex=0, role="region", aria_label=caption)


def _cell(cell: object, k: int, class_: str | None) -> Markup:
    if k == 0:
        return element("th", cell, scope="row", class_=class_)
    return element("td", cell, class_=class_)
