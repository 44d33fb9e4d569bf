"""The report as one HTML file."""

from __future__ import annotations

from importlib import resources

from hardwood.report.content import Content
from hardwood.report.markup import Markup, csp_hash, element, inline_json
from hardwood.report.script_data import script_data
from hardwood.report.sections.attack import attack_section
from hardwood.report.sections.common import Section
from hardwood.report.sections.costs import costs_section
from hardwood.report.sections.curve import curve_section
from hardwood.report.sections.header import header
from hardwood.report.sections.model_card import model_card_section
from hardwood.report.sections.random_shifts import random_shifts_section
from hardwood.report.sections.record import record_section
from hardwood.report.sections.rules import rules_section
from hardwood.report.sections.tree import tree_section

SECTIONS = (
    Section("tree", "The tree", tree_section),
    Section("curve", "How it holds up", curve_section),
    Section("attack", "What hurts most", attack_section),
    Section("random-shifts", "Random shifts", random_shifts_section),
    Section("record", "Try a record", record_section),
    Section("costs", "Certainty and costs", costs_section),
    Section("rules", "Rules to copy", rules_section),
    Section("card", "Model card", model_card_section),
)


def page(content: Content) -> str:
    """Return the whole HTML file; its Content-Security-Policy allows no style and no script but its own."""
    style, script = _asset("report.css"), _asset("report.js")
    policy = (
        f"default-src 'none'; style-src {csp_hash(style)}; script-src {csp_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", content.title),
        element("style", Markup(style)),
    )
    body = element(
        "body",
        header(content, SECTIONS),
        element("main", *(_section(section, content) for section in SECTIONS)),
        element("script", inline_json(script_data(content)), type="application/json", id="data"),
        element("script", Markup(script)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _asset(file_name: str) -> str:
    """Return the text of a file of this package."""
    return (resources.files("hardwood.report") / "assets" / file_name).read_text(encoding="utf-8")


def _section(section: Section, content: Content) -> Markup:
    """Return a section with its heading."""
    heading_id = f"{section.key}-title"
    heading = element("h2", section.title, id=heading_id)
    return element("section", heading, *section.build(content), id=section.key, aria_labelledby=heading_id)
