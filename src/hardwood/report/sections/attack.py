"""What the worst shift changes."""

from __future__ import annotations

from hardwood.report.changes import change_groups
from hardwood.report.content import Content
from hardwood.report.formatting import amount, counted
from hardwood.report.markup import Markup, element, isolated
from hardwood.report.sections.common import reported_level
from hardwood.report.tables import table_of

_MAX_CHANGES = 40


def attack_section(content: Content) -> list[Markup]:
    """Return the changes of the worst shift in groups, and row by row if the report may show single rows."""
    attack, groups = content.attack, change_groups(content)
    if not groups:
        text = "Within the budget, no shift makes a row wrong that is right without a shift."
        return [*reported_level(content), element("p", text)]
    n_values, n_rows = len(attack.shift), len(set(attack.shift.rows.tolist()))
    summary = (
        f"The worst shift changes {counted(n_values, 'value')} in {counted(n_rows, 'row')} and spends "
        f"{attack.spent:.4g} of the budget of {attack.uncertainty.budget:.4g}. These "
        "are the answers to ask for twice, or to record with care."
    )
    rows = [
        [
            isolated(group.column),
            isolated(group.old),
            isolated(group.new),
            amount(group.weight),
            f"{group.cost / group.weight:.2f}",
            f"{group.cost:.1f}",
        ]
        for group in groups[:_MAX_CHANGES]
    ]
    head = ("question", "from", "to", "rows", "cost of one", "cost of all")
    parts = [
        *reported_level(content),
        element("p", summary),
        table_of("What the worst shift changes, most frequent first", head, rows, numbers=range(3, 6)),
    ]
    if len(groups) > _MAX_CHANGES:
        parts.append(element("p", f"... and {len(groups) - _MAX_CHANGES} other kinds of changes.", class_="soft"))
    if content.show_rows:
        parts.append(element("details", element("summary", "Row by row"), _row_table(content)))
    return parts


def _row_table(content: Content) -> Markup:
    """Return every single change of the worst shift."""
    rows = [
        [change.row, isolated(change.column), isolated(change.old), isolated(change.new), f"{change.cost:.2f}"]
        for change in content.attack.shift
    ]
    return table_of("Row by row, counted from 0", ("row", "question", "from", "to", "cost"), rows, numbers=range(1))
