"""`hardwood fit`: learn a robust tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwood._util.text import printable
from hardwood.cli.console import INTERRUPTED, err, errors, out, print_json
from hardwood.cli.options import (
    AsJson,
    ColumnOptions,
    Data,
    Jobs,
    ShiftOptions,
    Target,
    TreeOptions,
    Weight,
    with_options,
)
from hardwood.cli.outputs import check_output
from hardwood.cli.progress import FitProgress
from hardwood.cli.tables import TableSource

if TYPE_CHECKING:
    from hardwood.estimators.robust import RobustTreeClassifier
    from hardwood.problem import Problem

_MAX_LISTED_CLASSES = 5


@with_options()
def fit(
    data: Data,
    target: Target,
    trees: TreeOptions = TreeOptions(),  # noqa: B008 - immutable
    shifts: ShiftOptions = ShiftOptions(),  # noqa: B008 - immutable
    columns: ColumnOptions = ColumnOptions(),  # noqa: B008 - immutable
    weight: Weight = None,
    penalty: Annotated[
        float | None, typer.Option(help="Penalty for each split, in rows; if not given, the smallest optimal tree.")
    ] = None,
    jobs: Jobs = 1,
    model: Annotated[Path, typer.Option("--model", "-m", help="Where to write the model.")] = Path("model.json"),
    as_json: AsJson = False,
) -> None:
    """Learn a robust tree; write the model, and its certificate beside it."""
    with errors():
        from hardwood.estimators.robust import RobustTreeClassifier

        check_output("--model", model, data)
        table = TableSource(data, target, weight, columns.drop or (), columns.dropped_codes).read()
        classifier = RobustTreeClassifier(
            **trees.parameters(),
            **shifts.parameters(table.X.column_names),
            **columns.parameters(),
            branch_penalty="auto" if penalty is None else penalty,
            n_jobs=jobs,
        )
        if as_json:
            classifier._fit(table.X, table.y, table.sample_weight)
        else:
            with FitProgress(trees.time_limit) as progress:

                def on_columns(problem: Problem, lines: list[str]) -> None:
                    _print_columns(data, target, problem, lines)
                    progress.start()

                classifier._fit(table.X, table.y, table.sample_weight, on_columns=on_columns, on_progress=progress)
        classifier.target_name_ = target
        classifier.save(model)
        _print_result(classifier, model, as_json=as_json)
    if classifier.result_.stop_reason == "interrupted":
        err.print("interrupted: the best tree so far was kept")
        raise typer.Exit(INTERRUPTED)


def _print_columns(data: Path, target: str, problem: Problem, lines: list[str]) -> None:
    """Print how the table was read, on standard error."""
    classes = problem.labels.classes
    more = ", ..." if len(classes) > _MAX_LISTED_CLASSES else ""
    listed = ", ".join(printable(label) for label in classes[:_MAX_LISTED_CLASSES]) + more
    size = f"{problem.n_samples:,} rows and {len(problem.table.features)} columns"
    err.print(f"{data.name}: {size}; the target {printable(target)} has {len(classes)} classes ({listed})\n")
    err.print("\n".join([*lines, ""]))


def _print_result(classifier: RobustTreeClassifier, model: Path, *, as_json: bool) -> None:
    """Print the tree, its certificate and the files that were written."""
    from hardwood.estimators.persistence import certificate_path

    certificate = classifier.certificate_
    if as_json:
        print_json(json.loads(certificate.to_json()) | {"gap": certificate.gap, "model": str(model)})
        return
    out.print(f"{classifier.tree_}\n\n{certificate}")
    out.print(f"\nwritten: {model}, {certificate_path(model)}")
