"""A form to try a record."""

from __future__ import annotations

from hardwood.data.feature import MISSING_TEXT, Feature, Kind
from hardwood.report.content import Content
from hardwood.report.markup import Markup, element, isolated


def record_section(content: Content) -> list[Markup]:
    """Return a form with a field for each column that some tree uses, and a place for the result."""
    if not content.used_features:
        return [element("p", "This tree asks no questions: every record gets the same prediction.")]
    fields = [_field(content.table.features[j], j) for j in content.used_features]
    return [
        element(
            "p",
            "Enter a person's answers to see the path through the tree, the prediction, and how much misreporting it "
            "survives. Nothing leaves this page. (The form needs JavaScript; the tree can also be followed by hand.)",
        ),
        element(
            "form", element("div", *fields, class_="fields"), id="record-form", autocomplete="off", class_="js-only"
        ),
        element("div", "", id="result", class_="result card js-only", role="status", aria_live="polite"),
    ]


def _field(feature: Feature, j: int) -> Markup:
    """Return the field of a column; an empty field is a missing value where the column has such values."""
    key = f"field-{j}"
    missing = MISSING_TEXT if feature.missing else ""
    if feature.kind is Kind.INTEGER:
        entry = element("input", id=key, type="number", step=1, inputmode="numeric", placeholder=missing or None)
    elif feature.kind is Kind.BINNED:
        entry = element("input", id=key, type="number", step="any", inputmode="decimal", placeholder=missing or None)
    else:
        options = [element("option", missing, value="")]
        options += [element("option", category, value=k) for k, category in enumerate(feature.categories)]
        entry = element("select", *options, id=key)
    return element("label", element("span", isolated(feature.name)), entry, for_=key)
