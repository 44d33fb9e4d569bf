"""`hardwood check`: confirm a certificate from the data alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwood._util.text import printable
from hardwood.cli.console import NOT_CONFIRMED, errors, out, print_json
from hardwood.cli.models import load_classifier
from hardwood.cli.options import (
    AsJson,
    DataOrFolder,
    DropMissing,
    MissingCodes,
    Target,
    Weight,
    missing_values,
)
from hardwood.cli.tables import TableSource

if TYPE_CHECKING:
    from hardwood.certificate import Certificate, Check


def check(
    certificate: Annotated[Path, typer.Argument(help="A certificate that fit wrote.", show_default=False)],
    data: DataOrFolder,
    target: Target,
    model: Annotated[
        Path | None, typer.Option("--model", "-m", help="Also check that the tree is the one of this model.")
    ] = None,
    weight: Weight = None,
    na: MissingCodes = None,
    drop_missing: DropMissing = False,
    as_json: AsJson = False,
) -> None:
    """Recompute, from the data alone, what a certificate claims about its tree. No solver takes part."""
    with errors():
        from hardwood.certificate import Certificate

        claimed = Certificate.load(certificate)
        source = TableSource(data, target, weight, drop_missing=(na or []) if drop_missing else None)
        outcome = _check(claimed, source, na)
        contradictions = list(outcome.contradictions)
        if model is not None and load_classifier(model).tree_ != claimed.tree:
            contradictions.append(f"the tree in {model} is not the tree of the certificate")
        if as_json:
            values = {"worst_case_correct": outcome.worst_case_correct, "nominal_correct": outcome.nominal_correct}
            claims = {"shifts": str(claimed.shifts), "claimed_upper_bound": claimed.upper_bound}
            print_json({"confirmed": not contradictions, "contradictions": contradictions} | values | claims)
        elif contradictions:
            out.print("\n".join(["NOT CONFIRMED", *(f"* {printable(entry)}" for entry in contradictions)]))
        else:
            out.print(str(outcome))
    if contradictions:
        raise typer.Exit(NOT_CONFIRMED)


def _check(certificate: Certificate, source: TableSource, codes: list[str] | None) -> Check:
    """Check a certificate on a table in memory, or on a chunked table."""
    from hardwood.certificate import check as check_certificate

    missing = missing_values(codes)
    if source.is_chunked():
        return check_certificate(
            certificate, source.path, source.target, sample_weight=source.weight, missing_values=missing
        )
    table = source.read(certificate.tree.features)
    return check_certificate(certificate, table.X, table.y, sample_weight=table.sample_weight, missing_values=missing)
