"""The top of a page: headline, key numbers, what they mean, and what they do not promise."""

from __future__ import annotations

from collections.abc import Sequence

from hardwood.certificate import Certificate, is_about
from hardwood.report.content import Content, Level
from hardwood.report.formatting import amount, counted, duration, percent, row_count
from hardwood.report.markup import Markup, element, isolated, joined
from hardwood.report.sections.common import Section
from hardwood.trees.attack import Attack

LIMITS = (
    "It holds for the rows of this table and for shifts of their answers within the budget. It is no promise about "
    "other people, or about shifts that are less plausible than the chosen level.",
    "It is only as good as the certainties and costs below: if answers change more often, more rows may be lost.",
    "Labels are taken as recorded. If the outcome itself is recorded differently, nothing is proved.",
    "A correct prediction is not necessarily fair or wise to act on. For each group that matters, check who is "
    "misclassified, and how often.",
    "That no tree is better holds for trees of this depth with questions about single columns, under the conditions "
    "that the facts about the model list, not for other models.",
)


def header(content: Content, sections: Sequence[Section]) -> Markup:
    """Return the header of a page.

    Parameters
    ----------
    content : Content
        What the page shows.
    sections : sequence of Section
        The sections to link to.
    """
    facts = [
        element("dl", *_key_facts(content, number), class_="facts", data_facts=number, hidden=number != content.chosen)
        for number in range(len(content.levels))
    ]
    links = [element("li", element("a", section.title, href=f"#{section.key}")) for section in sections]
    hedge = element("p", _hedge_text(content), class_="soft")
    return element(
        "header",
        element("h1", isolated(content.title)),
        element("p", _data_text(content), class_="about"),
        *facts,
        element("p", _plain_summary(content)),
        element("details", element("summary", "What exactly it is hedged against"), hedge),
        element(
            "details",
            element("summary", "What this does not promise"),
            element("ul", *(element("li", text) for text in LIMITS)),
        ),
        element("nav", element("ul", *links), aria_label="Sections"),
    )


def _key_facts(content: Content, number: int) -> list[Markup]:
    """Return the numbers that a reader looks for first, for the tree of one level."""
    level = content.levels[number]
    attack = level.attack
    nominal, worst_case = (
        _counted(content, value, attack) for value in (attack.nominal_correct, attack.worst_case_correct)
    )
    n_questions = counted(attack.tree.n_branching_nodes, "question")
    facts: list[tuple[str, object, str]] = [
        ("correct without a shift", percent(attack.nominal_accuracy), nominal),
        (
            "correct after the worst plausible shift",
            percent(attack.worst_case_accuracy),
            f"{worst_case}, whichever such shift occurs",
        ),
    ]
    if content.unseen:
        unseen = content.unseen[number]
        facts.append(
            (
                f"on {row_count(unseen.labels.total_weight)} that it has not seen",
                percent(unseen.nominal_accuracy),
                f"without a shift; {percent(unseen.worst_case_accuracy)} after the worst shift of these rows",
            )
        )
    facts.append(("could any tree do better?", *_proof(content, level)))
    facts.append(("size", n_questions, f"at most {attack.tree.depth} before a prediction"))
    return [
        element("div", element("dt", term), element("dd", value, element("small", note))) for term, value, note in facts
    ]


def _counted(content: Content, value: float, attack: Attack) -> str:
    """Return how many rows a share is, or the name of the accuracy if classes are weighted."""
    if attack.labels.class_weights is not None:
        return content.measure
    return f"{amount(value)} of {row_count(attack.total)}"


def _data_text(content: Content) -> Markup:
    """Describe what is predicted, and whether the tree was learnt from the rows of the report."""
    target = content.about.target
    sentences = [
        "All numbers are about "
        + row_count(content.table.n_samples)
        + (
            " that the tree was learnt from (training rows)."
            if content.same_data
            else ", which are not the table that the tree was learnt from."
            if content.level.certificate is not None
            else "; it is not known whether the tree was learnt from them."
        )
    ]
    if content.weighted:
        sentences.append(
            f"The rows represent {amount(content.total_weight)} people; numbers of rows below count these people."
        )
    if content.attack.labels.class_weights is not None:
        sentences.append(f"Shares are {content.measure}.")
    predicts = joined("Predicts ", element("strong", isolated(target)), ". ") if target else None
    return joined(predicts, " ".join(sentences))


def _plain_summary(content: Content) -> str:
    """Describe what may shift, by how much, and what stays right, for a reader who reads nothing else."""
    level, attack = content.level, content.attack
    kept = percent(attack.worst_case_accuracy)
    if attack.uncertainty.budget == 0 and level.shifts.has_budget:
        return "This tree is for answers that do not change. It was not chosen to stay right if they do."
    if not level.shifts.has_budget:
        return f"Each answer may change a little. However all of them change at once, {_kept_text(content, kept)}."
    n_changes = len(attack.shift)
    per_hundred = 100 * n_changes / max(1, content.table.n_samples)
    return (
        "Answers may be recorded differently when the tree is used: a question is reworded, people round numbers, or "
        f"a different interviewer asks. This tree was chosen so that {_chosen_for(content)} even if the "
        f"answers that matter most change, as far as that is plausible: here {n_changes:,} answers, {per_hundred:.0f} "
        f"for every 100 rows. Whichever such change happens, {_kept_text(content, kept)}."
    )


def _kept_text(content: Content, kept: str) -> str:
    """Describe what is left of the accuracy after the worst shift."""
    is_share = content.attack.labels.class_weights is None
    return f"{kept} of the rows stay right" if is_share else f"the {content.measure} stays at {kept} or more"


def _chosen_for(content: Content) -> str:
    """Describe what the tree maximises."""
    if content.attack.labels.class_weights is None:
        return "as many rows as possible stay right"
    return f"the {content.measure} stays as high as possible"


def _hedge_text(content: Content) -> str:
    """Describe the uncertainty set of the reported tree."""
    level, attack = content.level, content.attack
    n, budget = attack.n_samples, attack.uncertainty.budget
    if not level.shifts.has_budget:
        return f"Hedged against every shift in which each of {n:,} rows moves within its own box, all at once."
    if budget == 0:
        return f"{level.title}: this tree is not hedged against shifts. The report is about {row_count(n)}."
    if level.plausibility is None or not content.calibrated:
        return (
            f"{level.title}: hedged against every shift of the {n:,} rows whose changes cost at most {budget:.4g} in "
            f"total. The shifts: {level.shifts}."
        )
    return (
        f"{level.title}: hedged against every shift of the {n:,} rows that is at least {level.plausibility:.6g} times "
        "as likely as no shift at all, in the geometric mean over the rows. Single rows may change a lot if others do "
        f"not. In total, the changes may cost {budget:.4g}; a change that is a tenth as likely as no change costs 2.3."
    )


def _proof(content: Content, level: Level) -> tuple[Markup, str]:
    """Return whether a better tree can exist, and why; a proof about another table is not about this one."""
    certificate = level.certificate
    if certificate is None:
        return _unproved("not known"), "the model has no certificate"
    if not is_about(certificate, content.table, level.attack.labels):
        return _unproved("not known"), "what is proved is about the table that the tree was learnt from"
    verdict, reason = _claim(certificate)
    return verdict, f"{reason} ({certificate.solver}, {duration(certificate.seconds)})"


def _claim(certificate: Certificate) -> tuple[Markup, str]:
    """Return the certificate's claim about other trees, as short as it can be without saying more."""
    bound = percent(certificate.upper_bound / certificate.total)
    others = certificate.constraints_text
    if certificate.status == "optimal" and not certificate.integral and not certificate.penalty_matters:
        gap = (certificate.upper_bound - certificate.worst_case_correct) / certificate.total
        return _proved("no: proved optimal"), f"no tree{others} is better, to within {100 * gap:.2g} %"
    if certificate.status == "optimal" and certificate.gap == 0:
        return _proved("no: proved optimal"), f"no tree{others} is more robust"
    if certificate.status == "most_robust":
        return _proved("no: proved most robust"), f"no tree{others} is more robust; a smaller one might be as good"
    if certificate.status == "optimal":
        # The penalty decided against larger trees, which may keep more.
        worth = f"each of which had to be worth {certificate.branch_penalty:g} rows"
        return _unproved(f"up to {bound}"), f"a tree{others} with more questions, {worth}"
    reason = "the search was stopped" if certificate.stop_reason != "finished" else "nothing is proved"
    return _unproved("not known"), f"{reason}; no tree{others} exceeds {bound}"


def _proved(text: str) -> Markup:
    """Return text in the colour of what is proved."""
    return element("span", text, class_="proved")


def _unproved(text: str) -> Markup:
    """Return text in the colour of what is open."""
    return element("span", text, class_="open")
