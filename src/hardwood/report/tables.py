"""Tables of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from hardwood.report.markup import Markup, element

Cells: TypeAlias = Sequence[object]


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Parameters
    ----------
    cells : sequence of object
        One entry for each column; the first one is the header of the row.
    attributes : dict of str to object
        Attributes of the row's element.
    """

    cells: Cells
    attributes: dict[str, object] = field(default_factory=dict)


def table_of(
    caption: str, head: Sequence[str], rows: Sequence[Row | Cells], *, numbers: range = range(0), show_head: bool = True
) -> Markup:
    """Return a table in a box that scrolls sideways.

    Parameters
    ----------
    caption : str
        The caption, which is also the box's name for screen readers.
    head : sequence of str
        Titles of the columns.
    rows : sequence of Row or of sequences
        The rows; a sequence is a row without attributes.
    numbers : range
        Columns that hold numbers, which are aligned at their end.
    show_head : bool, default=True
        Whether the titles are shown.
    """

    def class_of(k: int) -> str | None:
        return "number" if k in numbers else None

    titles = element("tr", *(element("th", title, scope="col", class_=class_of(k)) for k, title in enumerate(head)))
    lines = []
    for row in rows:
        entry = row if isinstance(row, Row) else Row(row)
        cells = [_cell(cell, k, class_of(k)) for k, cell in enumerate(entry.cells)]
        lines.append(element("tr", *cells, **entry.attributes))
    table = element(
        "table", element("caption", caption), element("thead", titles) if show_head else None, element("tbody", *lines)
    )
    return element("div", table, class_="table", tabindex=0, role="region", aria_label=caption)


def _cell(cell: object, k: int, class_: str | None) -> Markup:
    """Return a cell; the first one of a row is its header."""
    if k == 0:
        return element("th", cell, scope="row", class_=class_)
    return element("td", cell, class_=class_)
