"""`hardwood path`: learn a tree for each level of plausibility."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from hardwood.cli.console import INTERRUPTED, err, errors, print_result
from hardwood.cli.options import (
    AsJson,
    ColumnOptions,
    Data,
    Plot,
    ShiftOptions,
    Target,
    TestTable,
    TreeOptions,
    Weight,
    with_options,
)
from hardwood.cli.outputs import check_picture, save_picture
from hardwood.cli.parsing import numbers
from hardwood.cli.progress import PathProgress, print_level
from hardwood.cli.tables import TableSource
from hardwood.shifts.models import PLAUSIBILITIES

_LEVELS = ",".join(f"{level:g}" for level in PLAUSIBILITIES)


@with_options(without=("plausibility", "budget"))
def path(
    data: Data,
    target: Target,
    levels: Annotated[str, typer.Option(help="Plausibilities, separated by commas.")] = _LEVELS,
    trees: TreeOptions = TreeOptions(),  # noqa: B008 - immutable
    shifts: ShiftOptions = ShiftOptions(),  # noqa: B008 - immutable
    columns: ColumnOptions = ColumnOptions(),  # noqa: B008 - immutable
    weight: Weight = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Levels at a time.")] = 1,
    test: TestTable = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Learn a tree for each level of plausibility."""
    with errors():
        from hardwood.estimators.path import robustness_path

        if plot is not None:
            check_picture("--plot", plot, data)
        source = TableSource(data, target, weight, columns.drop or (), columns.dropped_codes)
        table = source.read()
        unseen = None if test is None else replace(source, path=test).read(columns.features_of(table.X))
        result = robustness_path(
            table.X,
            table.y,
            numbers("--levels", levels),
            sample_weight=table.sample_weight,
            n_jobs=jobs,
            on_level=None if as_json else print_level,
            on_progress=None if as_json else PathProgress(trees.time_limit),
            X_test=None if unseen is None else unseen.X,
            y_test=None if unseen is None else unseen.y,
            sample_weight_test=None if unseen is None else unseen.sample_weight,
            **trees.parameters(),
            **columns.parameters(),
            **shifts.parameters(table.X.column_names),
        )
        print_result(result, as_json=as_json)
        if plot is not None:
            save_picture(result.plot(), plot)
    if result.interrupted:
        err.print("interrupted: the path has only the levels that were finished")
        raise typer.Exit(INTERRUPTED)
