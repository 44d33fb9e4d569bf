"""`hardwood report`: write an HTML report about a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwood.cli.console import errors, out
from hardwood.cli.models import load_classifier, missing_codes_of
from hardwood.cli.options import Data, DropMissing, FittedModel, Target, TestTable, TimeLimit, Weight
from hardwood.cli.outputs import check_output
from hardwood.cli.parsing import numbers
from hardwood.cli.progress import print_level
from hardwood.cli.tables import LabelledTable, TableSource

if TYPE_CHECKING:
    from hardwood.estimators.path import RobustnessPath
    from hardwood.estimators.robust import RobustTreeClassifier

_OTHER_PARAMETERS = ("plausibility", "budget", "n_jobs")  # a path sets these itself


def report(
    model: FittedModel,
    data: Data,
    target: Target,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="The headline.", show_default=False)] = None,
    levels: Annotated[
        str | None,
        typer.Option(help="Plausibilities, separated by commas: learn a tree for each, and show them with a slider."),
    ] = None,
    weight: Weight = None,
    rows: Annotated[bool, typer.Option("--rows", help="Show which single rows the worst shift changes.")] = False,
    drop_missing: DropMissing = False,
    test: TestTable = None,
    author: Annotated[str, typer.Option(help="Who is responsible for the model.")] = "",
    source: Annotated[str, typer.Option(help="Where the table comes from.")] = "",
    intended_use: Annotated[str, typer.Option(help="What the model is for, and what it is not for.")] = "",
    time_limit: TimeLimit = 60.0,
) -> None:
    """Write a report about a model: one HTML file that opens in any browser and needs no network."""
    with errors(source=model):
        check_output("--output", output, data, model)
        classifier = load_classifier(model)
        features = classifier.tree_.features
        codes = missing_codes_of(classifier) if drop_missing else None
        tables = TableSource(data, target, weight, drop_missing=codes)
        table = tables.read(features)
        path = None if levels is None else _path(classifier, table, numbers("--levels", levels), time_limit)
        unseen = None if test is None else replace(tables, path=test).read(features)
        classifier.report(
            output,
            table.X,
            table.y,
            table.sample_weight,
            along=path,
            title=title,
            show_rows=rows,
            target=target,
            author=author,
            source=source,
            intended_use=intended_use,
            X_test=None if unseen is None else unseen.X,
            y_test=None if unseen is None else unseen.y,
            sample_weight_test=None if unseen is None else unseen.sample_weight,
        )
        out.print(f"written: {output} ({output.stat().st_size / 1024:.0f} kB)")


def _path(
    classifier: RobustTreeClassifier, table: LabelledTable, levels: list[float], time_limit: float
) -> RobustnessPath:
    """Learn a tree for each level, with the parameters of the classifier."""
    from hardwood.certificate import is_about
    from hardwood.data.feature import Kind
    from hardwood.estimators.path import robustness_path

    kinds = {
        feature.name: list(feature.categories) if feature.kind is Kind.ORDINAL else str(feature.kind)
        for feature in classifier.tree_.features
    }
    parameters = classifier.get_params() | {"feature_kinds": kinds, "time_limit": time_limit}
    certificate = getattr(classifier, "certificate_", None)
    encoded = classifier._encode(table.X)
    if not is_about(certificate, encoded, classifier._encode_labels(table.y, encoded, table.sample_weight)):
        raise ValueError("--levels learns other trees from the table, which is not the one the model was learnt from")
    path = robustness_path(
        table.X,
        table.y,
        levels,
        sample_weight=table.sample_weight,
        on_level=print_level,
        **{name: value for name, value in parameters.items() if name not in _OTHER_PARAMETERS},
    )
    if path.interrupted:
        raise KeyboardInterrupt  # a report with only some of the levels is not what the user asked for
    return path
