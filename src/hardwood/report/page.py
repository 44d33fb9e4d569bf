"""The report as one HTML file."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources

from hardwood.certificate import is_about
from hardwood.report.chance import chance_section
from hardwood.report.content import Content, Level
from hardwood.report.drawing import amount, rows
from hardwood.report.markup import Markup, element, fingerprint, inline_json, joined, name
from hardwood.report.sections import (
    LIMITS,
    adversary_section,
    card_section,
    curve_section,
    prices_section,
    record_section,
    rules_section,
    seconds_of,
    tree_section,
)
from hardwood.report.tables import counted, percent
from hardwood.trees.adversary import Attack

SECTIONS: dict[str, tuple[str, Callable[[Content], list[Markup]]]] = {
    "tree": ("The tree", tree_section),
    "curve": ("How it holds up", curve_section),
    "adversary": ("What hurts most", adversary_section),
    "chance": ("What chance does", chance_section),
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
    boards = [
        element("dl", *_facts(content, number), class_="facts", data_facts=number, hidden=number != content.chosen)
        for number in range(len(content.levels))
    ]
    links = [element("li", element("a", title, href=f"#{key}")) for key, (title, _) in SECTIONS.items()]
    return [
        element("h1", name(content.title)),
        element("p", _about_words(content), class_="about"),
        *boards,
        element("p", _plain_words(content)),
        element(
            "details",
            element("summary", "What exactly it is hedged against"),
            element("p", _plausibility_words(content), class_="soft"),
        ),
        element(
            "details",
            element("summary", "What this does not promise"),
            element("ul", *(element("li", words) for words in LIMITS)),
        ),
        element("nav", element("ul", *links), aria_label="Sections"),
    ]


def _facts(content: Content, number: int) -> list[Markup]:
    """The numbers that a reader looks for first, for one of the trees."""
    level = content.levels[number]
    found = level.found
    nominal, worst = (_said(content, value, found) for value in (found.nominal_correct, found.worst_case_correct))
    facts = [
        ("correct as the data stand", percent(found.nominal_accuracy), nominal),
        (
            "correct after the worst plausible shift",
            percent(found.worst_case_accuracy),
            f"{worst}, whichever such shift it is",
        ),
        ("could any tree do better?", *_proof(content, level)),
        (
            "size",
            counted(found.tree.n_branching_nodes, "question"),
            f"at most {found.tree.depth} on the way to an answer",
        ),
    ]
    if content.unseen:
        own = content.unseen[number]
        facts.insert(
            2,
            (
                f"on {rows(own.labels.people)} that it has not seen",
                f"{percent(own.nominal_accuracy)}",
                f"as they stand; {percent(own.worst_case_accuracy)} after the worst shift of these rows",
            ),
        )
    return [
        element("div", element("dt", term), element("dd", value, element("small", more))) for term, value, more in facts
    ]


def _about_words(content: Content) -> Markup:
    """What is predicted, from whom, and whether the tree was learnt from these rows."""
    target = joined("Predicts ", element("strong", name(content.about.target)), ". ") if content.about.target else None
    whose = (
        "the tree was learnt from (training rows)"
        if content.same_data
        else "that are not the table the tree was learnt from"
        if content.level.certificate is not None
        else "of which it is not known whether the tree was learnt from them"
    )
    n_rows = rows(content.table.n_samples)
    stand = (
        f" The rows stand for {amount(content.people)} people, and numbers of rows below count these."
        if content.weighted
        else ""
    )
    stand += f" Shares are {content.measure}." if content.level.found.labels.worth is not None else ""
    return joined(target, f"All numbers are about {n_rows} {whose}.{stand}")


def _plain_words(content: Content) -> str:
    """What may shift, by how much, and what stays right, for whoever reads nothing else."""
    level, found = content.level, content.level.found
    kept = percent(found.worst_case_accuracy)
    if found.uncertainty.budget == 0 and level.shifts.radius is None:
        return "This tree is for answers that do not change: it was not asked to stay right if they do."
    if level.shifts.radius is not None:
        return f"Each answer may move a little. However all of them do at once, {kept} of the rows stay right."
    changes = len(found.shift)
    share = changes / max(1, content.table.n_samples)
    return (
        "Answers may be recorded differently when the tree is used: a question is reworded, people round, somebody "
        "else asks. This tree was chosen so that as many rows as possible stay right even if the answers that matter "
        f"most change, as far as that is plausible: here {changes:,} answers, {100 * share:.0f} for every 100 rows. "
        f"Whatever such change happens, {kept} of the rows stay right."
    )


def _said(content: Content, value: float, found: Attack) -> str:
    """How many rows a share is, or what else it is a share of."""
    if found.labels.worth is not None:
        return content.measure
    return f"{amount(value)} of {rows(found.total)}"


def _proof(content: Content, level: Level) -> tuple[Markup, str]:
    """What is proved about the tree, and by whom; what is proved about another table is not about this one."""
    certificate = level.certificate
    if certificate is None:
        return element("span", "not known", class_="open"), "the model has no certificate"
    if not is_about(certificate, content.table, level.found.labels):
        return element("span", "not known", class_="open"), "what is proved is about the table that it was learnt from"
    took = f"{certificate.solver}, {seconds_of(certificate.seconds)}"
    if certificate.status == "optimal" and not certificate.counted:
        within = (certificate.upper_bound - certificate.worst_case_correct) / certificate.total
        return element("span", "no: proved optimal", class_="proved"), f"to within {100 * within:.2g} % ({took})"
    if certificate.status == "optimal" and certificate.gap == 0:
        return element("span", "no: proved optimal", class_="proved"), f"none is more robust ({took})"
    if certificate.status == "most_robust":
        words = f"none is more robust; a smaller one might be as good ({took})"
        return element("span", "no: proved most robust", class_="proved"), words
    most = certificate.upper_bound / certificate.total
    if certificate.status == "optimal":
        words = f"with more questions, which were to be worth {certificate.branch_penalty:g} rows each ({took})"
        return element("span", f"up to {percent(most)}", class_="open"), words
    why = "the search was stopped" if certificate.stop_reason != "finished" else "nothing is proved"
    return element("span", "not known", class_="open"), f"{why}; no tree exceeds {percent(most)} ({took})"


def _plausibility_words(content: Content) -> str:
    level, found = content.level, content.level.found
    n, budget = found.n_samples, found.uncertainty.budget
    if level.shifts.radius is not None:
        return f"Hedged against every shift in which each of {n:,} rows moves within a box of its own, all at once."
    if budget == 0:
        return f"{level.words}: this tree is not hedged against shifts. The report is about {rows(n)}."
    if level.plausibility is None or not content.likely:
        return (
            f"{level.words}: hedged against every shift of the {n:,} rows whose changes cost {budget:.4g} in all "
            f"at most."
        )
    return (
        f"{level.words}: hedged against every shift of the {n:,} rows that is at least {level.plausibility:.6g} times "
        f"as likely as no shift at all, in the (geometric) mean over the rows: single rows may change much, if others "
        f"do not. In all the changes may cost {budget:.4g}; one that happens one time in ten costs 2.3."
    )
