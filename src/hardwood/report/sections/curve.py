"""Worst-case accuracy over all budgets, compared with baselines, and accuracy by class."""

from __future__ import annotations

from hardwood.certificate import class_text
from hardwood.report.content import Content
from hardwood.report.drawing.curves import curve_svg
from hardwood.report.formatting import amount, percent
from hardwood.report.markup import Markup, element, isolated
from hardwood.report.sections.common import reported_level, scroll_box
from hardwood.report.tables import table_of
from hardwood.shifts.models import PLAUSIBILITIES


def curve_section(content: Content) -> list[Markup]:
    """Return the curves of the reported tree and of the baselines, and the accuracy of each class."""
    if not content.level.shifts.has_budget:
        return [element("p", "Rows move freely within their boxes, so there is no budget to draw a curve against.")]
    slider = element("input", type="range", id="curve-slider", min=0, max=100, value=0)
    reading = element("p", "", id="curve-text", aria_live="polite")
    return [
        *reported_level(content),
        element(
            "p",
            "How many rows stay right after the worst shift, from no shift (left) to larger and less plausible shifts "
            "(right), for this tree and for the models that it is compared with.",
        ),
        _legend(content),
        scroll_box(curve_svg(content), "Curves"),
        element("div", element("label", "Read the curves at ", slider), reading, class_="js-only"),
        element("details", element("summary", "The numbers"), _curve_table(content)),
        element(
            "p",
            "The table shows how many rows of each class are right: without a shift, after the worst shift, and at "
            'least. "At least" holds for every shift within the budget, even if all of the budget is spent on that '
            "class.",
        ),
        _class_table(content),
    ]


def _legend(content: Content) -> Markup:
    """Return a list of the curves with their lines."""
    entries = []
    for k, name in enumerate(content.curves):
        line = element("line", x1=0, x2=34, y1=7, y2=7, class_=f"curve line-{k}")
        sample = element("svg", line, width=34, height=14, aria_hidden="true")
        entries.append(element("li", sample, " ", name))
    return element("ul", *entries, class_="legend", aria_label="Lines")


def _curve_table(content: Content) -> Markup:
    """Return the curves as a table."""
    attacks = content.attacks
    rows = [
        [f"{level:g}", *(percent(attack.curve.accuracy_at_plausibility(level)) for attack in attacks.values())]
        for level in PLAUSIBILITIES
    ]
    caption = "Correct after the worst shift that is at least this plausible"
    return table_of(caption, ("plausibility", *attacks), rows, numbers=range(len(attacks) + 1))


def _class_table(content: Content) -> Markup:
    """Return the accuracy of each class; of two classes, these are sensitivity and specificity."""
    by_class = content.attack.by_class
    rows = [
        [
            isolated(class_text(share, by_class)),
            amount(share.weight),
            percent(share.nominal),
            percent(share.worst_case),
            percent(share.guaranteed),
        ]
        for share in by_class
    ]
    head = ("class", "people" if content.weighted else "rows", "without a shift", "after the worst shift", "at least")
    return table_of("Correct, by class", head, rows, numbers=range(1, 5))
