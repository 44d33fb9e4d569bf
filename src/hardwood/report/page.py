"""The report as one HTML file."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources

from hardwood.report.content import Content
from hardwood.report.drawing import amount, rows
from hardwood.report.markup import Markup, element, fingerprint, inline_json, name
from hardwood.report.sections import (
    adversary_section,
    card_section,
    counted,
    curve_section,
    percent,
    prices_section,
    record_section,
    rules_section,
    seconds_of,
    tree_section,
)

SECTIONS: dict[str, tuple[str, Callable[[Content], list[Markup]]]] = {
    "tree": ("The tree", tree_section),
    "curve": ("How it holds up", curve_section),
    "adversary": ("What hurts most", adversary_section),
    "record": ("Try a record", record_section),
    "prices": ("How sure we are", prices_section),
    "rules": ("The rules to copy", rules_section),
    "card": ("Model card", card_section),
}


def page(content: Content) -> str:
    """The whole file."""
    style, script = _asset("report.css"), _asset("report.js")
    policy = (
        f"default-src 'none'; style-src {fingerprint(style)}; script-src {fingerprint(script)}; "
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
    data = element("script", inline_json(content.script_data()), type="application/json", id="data")
    sections = [_section(key, title, make(content)) for key, (title, make) in SECTIONS.items()]
    body = element(
        "body",
        element("header", *_header(content)),
        element("main", *sections),
        data,
        element("script", Markup(script)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _asset(file: str) -> str:
    return (resources.files("hardwood.report") / "assets" / file).read_text(encoding="utf-8")


def _section(key: str, title: str, children: list[Markup]) -> Markup:
    heading = element("h2", title, id=f"{key}-title")
    return element("section", heading, *children, id=key, aria_labelledby=f"{key}-title")


def _header(content: Content) -> list[Markup]:
    level = content.level
    found = level.found
    nominal, worst = (_said(content, value) for value in (found.nominal_correct, found.worst_case_correct))
    facts = [
        ("correct as the data stand", percent(found.nominal_accuracy), nominal),
        (
            "correct after the worst plausible shift",
            percent(found.worst_case_accuracy),
            f"{worst}, whichever such shift it is",
        ),
        ("could any tree do better?", *_proof(content)),
        (
            "size",
            counted(found.tree.n_branching_nodes, "question"),
            f"at most {found.tree.depth} on the way to an answer",
        ),
    ]
    links = [element("li", element("a", title, href=f"#{key}")) for key, (title, _) in SECTIONS.items()]
    return [
        element("h1", name(content.title)),
        element("p", _plausibility_words(content), class_="soft"),
        element(
            "dl",
            *(
                element("div", element("dt", term), element("dd", value, element("small", more)))
                for term, value, more in facts
            ),
            class_="facts",
        ),
        element("nav", element("ul", *links), aria_label="Sections"),
    ]


def _said(content: Content, value: float) -> str:
    """How many rows a share is, or what else it is a share of."""
    found = content.level.found
    if found.labels.worth is not None:
        return content.measure
    return f"{amount(value)} of {rows(found.total)}"


def _proof(content: Content) -> tuple[Markup, str]:
    """What is proved about the tree, and by whom."""
    certificate = content.level.certificate
    if certificate is None:
        return element("span", "not certified", class_="open"), "the model has no certificate"
    took = f"{certificate.solver}, {seconds_of(certificate.seconds)}"
    on = "" if content.same_data else "; proved for the training table, which is not the table of this report"
    if certificate.status == "optimal" and not certificate.counted:
        within = (certificate.upper_bound - certificate.worst_case_correct) / certificate.total
        return element("span", "no: proved optimal", class_="proved"), f"to within {100 * within:.2g} % ({took}){on}"
    if certificate.status == "optimal" and certificate.gap == 0:
        return element("span", "no: proved optimal", class_="proved"), f"none is more robust ({took}){on}"
    if certificate.status == "most_robust":
        words = f"none is more robust; a smaller one might be as good ({took}){on}"
        return element("span", "no: proved most robust", class_="proved"), words
    n_more = certificate.upper_bound - certificate.worst_case_correct
    by = rows(n_more) if certificate.counted else f"{n_more / certificate.total:.2%}"
    more = element("span", f"by {by} at most", class_="open")
    if certificate.status == "optimal":
        words = f"with more questions, which were to be worth {certificate.branch_penalty:g} rows each ({took}){on}"
        return more, words
    most = certificate.upper_bound / certificate.total
    return more, f"no tree exceeds {percent(most)} ({took}){on}"


def _plausibility_words(content: Content) -> str:
    level, found = content.level, content.level.found
    n, budget = found.n_samples, found.uncertainty.budget
    stand = (
        f" The rows stand for {amount(content.people)} people, and numbers of rows below count these."
        if content.weighted
        else ""
    )
    stand += f" Shares are {content.measure}." if found.labels.worth is not None else ""
    if level.shifts.radius is not None:
        words = f"Hedged against every shift in which each of the {n} rows moves within a box of its own, all at once."
        return words + stand
    if budget == 0:
        return f"{level.words}: this tree is not hedged against shifts. The report is about {rows(n)}.{stand}"
    if level.plausibility is None or not content.likely:
        return (
            f"{level.words}: hedged against every shift of the {n} rows whose changes cost {budget:.4g} in all at most."
            f"{stand}"
        )
    return (
        f"{level.words}: hedged against every shift of the {n} rows that is at least {level.plausibility:.6g} times as "
        f"likely as no shift at all, in the (geometric) mean over the rows: single rows may change much, if others do "
        f"not. In all the changes may cost {budget:.4g}; one that happens one time in ten costs 2.3.{stand}"
    )
