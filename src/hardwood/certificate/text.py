"""The texts of certificates and checks. They are claims: each word must be as strong as the proof, not stronger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardwood._util.text import printable, with_noun
from hardwood.problem import Goal
from hardwood.trees.attack import ClassShare

if TYPE_CHECKING:
    from hardwood.certificate.check import Check
    from hardwood.certificate.model import Certificate


def certificate_text(certificate: Certificate) -> str:
    """Return the whole certificate as text."""
    size = with_noun(str(certificate.branching_nodes), "split", "splits")
    return (
        f"{worst_case_text(certificate)}; {certificate.nominal_accuracy:.1%} without a shift\n"
        f"{class_texts(certificate)}"
        f"{size}, depth at most {certificate.max_depth}; {proved_text(certificate)}\n"
        f"{stopping_text(certificate)}"
        f"{any_model_text(certificate)}"
        f"shifts: {certificate.shifts}\n"
        f"{printable(certificate.solver)}, {certificate.seconds:.2f} s, hardwood {printable(certificate.version)}, "
        f"data {printable(certificate.data_hash[:12])}"
    )


def check_text(outcome: Check) -> str:
    """Return the outcome of a check: what was confirmed from the data, and what remains the claim of the solver."""
    claimed = outcome.certificate
    if not outcome.confirmed:
        return "NOT CONFIRMED\n" + "\n".join(
            f"* {printable(contradiction)}" for contradiction in outcome.contradictions
        )
    kept, nominal, bound = outcome.worst_case_correct, outcome.nominal_correct, claimed.upper_bound
    total = claimed.total
    if claimed.integral:
        keeps = f"{_count(claimed, kept)} correct ({kept / total:.1%})"
        without_shift, at_most = f"{nominal:,}", f"{bound:,} correct"
    else:
        keeps = f"a {claimed.measure} of {kept / total:.1%}"
        without_shift, at_most = f"{nominal / total:.1%}", f"{bound / total:.2%}"
    return (
        f"CONFIRMED from the data alone: this tree keeps {keeps} under every shift within the budget "
        f"{claimed.budget:.4g}, and {without_shift} without a shift.\n"
        f"The shifts: {claimed.shifts}.\n"
        f"CLAIMED by the solver ({printable(claimed.solver)}, {printable(claimed.status)}), not proved again here: "
        f"no tree of depth at most {claimed.max_depth}{constraints_text(claimed)} keeps more than {at_most}; "
        f"{proved_text(claimed)}."
    )


def worst_case_text(certificate: Certificate) -> str:
    """Return what stays correct."""
    shift = f"under the worst shift with budget {certificate.budget:.4g}"
    if not certificate.integral:
        return f"{certificate.measure} stays at {certificate.worst_case_accuracy:.1%} {shift}"
    kept = _count(certificate, certificate.worst_case_correct)
    return f"{kept} ({certificate.worst_case_accuracy:.1%}) stay correct {shift}"


def _count(certificate: Certificate, count: float) -> str:
    """Return a number of samples out of all; with integer weights, their weight out of the total weight."""
    if certificate.weights == "none":
        return f"{count:,} of {certificate.total:,} samples"
    return f"samples with a weight of {count:,} of {certificate.total:,}"


def class_texts(certificate: Certificate) -> str:
    """Return the total weight if samples count in part, and with class weights a line for each class."""
    if certificate.integral:
        return ""
    rows = f"{certificate.n_samples} rows with a total weight of {certificate.total_weight:.6g}"
    lines = [f"{rows}; the last flipped row counts in part\n"]
    if certificate.class_weight is not None:
        lines += [
            f"{class_text(share, certificate.by_class)}: {share.worst_case:.1%} stay correct under that shift, at "
            f"least {share.guaranteed:.1%} under every shift within the budget; {share.nominal:.1%} without a shift\n"
            for share in certificate.by_class
        ]
    return "".join(lines)


def class_text(share: ClassShare, shares: tuple[ClassShare, ...]) -> str:
    """Return the name of a class.

    With two classes, the share of the rarer one is the sensitivity and that of the other one the specificity.

    Parameters
    ----------
    share : ClassShare
        The class.
    shares : tuple of ClassShare
        All classes.
    """
    if len(shares) != 2:
        return printable(share.label)
    rarer = shares[0] if shares[0].weight < shares[1].weight else shares[1]
    return f"{printable(share.label)} ({'sensitivity' if share is rarer else 'specificity'})"


def proved_text(certificate: Certificate) -> str:
    """Return what is proved about all trees of the depth."""
    if certificate.goal == Goal.DISTRIBUTIONAL:
        return _proved_distributional(certificate)
    if not certificate.integral:
        return _proved_fractional(certificate)
    constraints = constraints_text(certificate)
    optimal = certificate.status == "optimal"
    if optimal and certificate.gap > 0:
        penalty = f"a penalty of {certificate.branch_penalty:g} for each split"
        return f"proved optimal{constraints} for {penalty}; other trees may be more robust"
    if optimal and certificate.branch_penalty == 0:
        smaller = "branch_penalty is 0: a smaller tree that is as robust may exist"
        return f"proved optimal: no tree{constraints} is more robust ({smaller})"
    if optimal:
        return f"proved optimal: no tree{constraints} is more robust, none as robust is smaller"
    if certificate.status == "most_robust":
        return f"proved most robust{constraints}; a smaller tree that is as robust may exist"
    return f"at most {certificate.upper_bound:,} are possible{constraints} (gap {certificate.gap:.1%})"


def _proved_fractional(certificate: Certificate) -> str:
    total = certificate.total
    less = f", less {certificate.branch_penalty:.3g} for each split" if certificate.penalty_matters else ""
    bound = f"no tree{constraints_text(certificate)} keeps more than {certificate.upper_bound / total:.2%}"
    within = max(certificate.objective_bound - certificate.objective, 0.0) / total
    return f"proved optimal to within {100 * within:.2g}%{less}: {bound}" if certificate.status == "optimal" else bound


def _proved_distributional(certificate: Certificate) -> str:
    penalty, constraints = certificate.branch_penalty, constraints_text(certificate)
    less = f" less {penalty:.3g} for each split" if penalty else ""
    if certificate.status == "optimal":
        within = max(certificate.objective_bound - certificate.objective, 0.0)
        claim = f"proved to be the largest{constraints}, to within {within:.2g}"
    else:
        claim = f"{certificate.objective:.2f}, no tree{constraints} has more than {certificate.objective_bound:.2f}"
    value = f"the distributional value {certificate.distributional_value:.2f}{less} is {claim}"
    if certificate.weights == "none" and certificate.class_weight is None:
        return f"{value}; at most {certificate.upper_bound} samples can stay correct"
    return f"{value}; a weight of at most {certificate.upper_bound} of {certificate.total} can stay correct"


def constraints_text(certificate: Certificate) -> str:
    """Return which trees the claims are about, beyond their depth; empty without constraints."""
    # Integer weights count as repeated rows; with other weights each row counts once.
    by_weight = certificate.weights == "whole"
    clauses = [constraint.describe(by_weight=by_weight) for constraint in certificate.constraints]
    return f" {' and '.join(clauses)}" if clauses else ""


def stopping_text(certificate: Certificate) -> str:
    """Return a line that says why the solver stopped without a proof, and remedies; empty with a proof."""
    remedies = {
        "time_limit": f"stopped after {certificate.seconds:.3g} s; try a longer time limit",
        "memory_limit": "stopped at the memory limit; try a larger one",
        "work_limit": "stopped at the limit on work; try a larger one",
        "interrupted": f"interrupted after {certificate.seconds:.3g} s; try a longer run",
    }
    if certificate.stop_reason not in remedies or certificate.status == "optimal":
        return ""
    remedy = remedies[certificate.stop_reason]
    return f"{remedy}, a smaller depth, fewer columns, or fewer thresholds (binned columns)\n"


def any_model_text(certificate: Certificate) -> str:
    """Return a line with the any-model bound; empty if there is none below the total."""
    if certificate.any_model_bound >= certificate.total:
        return ""
    share = certificate.any_model_bound / certificate.total
    bound = f"{certificate.any_model_bound:,} ({share:.1%})" if certificate.integral else f"{share:.1%}"
    return f"no model of any kind keeps more than {bound} under these shifts\n"
