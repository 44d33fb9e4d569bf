"""Facts about the model."""

from __future__ import annotations

from hardwood._version import __version__
from hardwood.certificate import Certificate
from hardwood.report.content import Content
from hardwood.report.formatting import duration
from hardwood.report.markup import Markup, comma_separated, element, isolated
from hardwood.report.tables import table_of

_CHECK_UNSAVED = "hardwood.check(model.certificate_, X, y)"  # a file cannot hold the shift model


def model_card_section(content: Content) -> list[Markup]:
    """Return the facts about the model as a table, and how to check its certificate."""
    certificate = content.level.certificate
    facts = [*_given_facts(content), *_report_facts(content)]
    if certificate is None:
        check = element("p", "The model has no certificate.")
    else:
        facts += _certificate_facts(content, certificate)
        saved = content.level.shifts.can_be_saved
        call = "hardwood check model.certificate.json table.csv --target ..." if saved else _CHECK_UNSAVED
        command = element("code", call)
        check = element("p", "Anyone who has the table can check the certificate: ", command)
    return [table_of("Facts", ("", ""), facts, show_head=False), check]


def _given_facts(content: Content) -> list[tuple[str, object]]:
    """Return the facts that do not follow from the data, as far as they are known."""
    about = content.about
    facts = {
        "predicts": about.target,
        "intended use": about.intended_use,
        "author": about.author,
        "source of the table": about.source,
        "date": about.date,
    }
    return [(term, isolated(fact)) for term, fact in facts.items() if fact]


def _report_facts(content: Content) -> list[tuple[str, object]]:
    """Return the facts about the table and the shifts of the report."""
    return [
        ("rows", f"{content.table.n_samples:,}, {'training' if content.same_data else 'not the training'} table"),
        ("columns", len(content.table.features)),
        ("classes", comma_separated([isolated(label) for label in content.tree.classes])),
        ("hedged against", content.level.title),
        ("shifts", content.level.shifts.describe()),
        ("budget", f"{content.attack.uncertainty.budget:.6g}"),
        ("report written by", f"hardwood {__version__}"),
    ]


def _certificate_facts(content: Content, certificate: Certificate) -> list[tuple[str, object]]:
    """Return the facts that the certificate states."""
    stop_reason = str(certificate.stop_reason).replace("_", " ")
    return [
        ("learnt by", f"{certificate.solver}, hardwood {certificate.version}"),
        ("time", f"{duration(certificate.seconds)}, stopped: {stop_reason}"),
        ("depth allowed", certificate.max_depth),
        ("conditions on trees", certificate.constraints_text.strip() or "none"),
        (f"no tree{certificate.constraints_text} keeps more than", _of_total(certificate, certificate.upper_bound)),
        (
            "no model of any kind keeps more than",
            f"{_of_total(certificate, certificate.any_model_bound)} under these shifts",
        ),
        ("fingerprint of the training data", certificate.data_hash),
        ("is that the table of this report?", "yes" if content.same_data else "no"),
    ]


def _of_total(certificate: Certificate, value: float) -> str:
    """Return a value beside the total, or as a share of it where values are not integers."""
    if certificate.integral:
        return f"{value:,} of {certificate.total:,} {'rows' if certificate.weights == 'none' else 'people'}"
    return f"{value / certificate.total:.2%}"
