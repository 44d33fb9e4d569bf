"""`hardwood audit`: the worst case of a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hardwood._util.types import Arguments
from hardwood.cli.console import NOT_CONFIRMED, err, errors, print_result
from hardwood.cli.models import features_of, missing_codes_of
from hardwood.cli.options import (
    AsJson,
    ClassWeight,
    DataOrFolder,
    DropMissing,
    ModelOrTree,
    ShiftOptions,
    Target,
    Weight,
    with_options,
)
from hardwood.cli.parsing import class_weights
from hardwood.cli.tables import TableSource, group_column

if TYPE_CHECKING:
    from hardwood.data.labels import ClassWeight as ClassWeightSetting
    from hardwood.estimators.audit import Audit
    from hardwood.estimators.chunked import ChunkedAudit
    from hardwood.estimators.robust import RobustTreeClassifier
    from hardwood.trees.tree import Tree


@with_options()
def audit(
    model: ModelOrTree,
    data: DataOrFolder,
    target: Target,
    shifts: ShiftOptions = ShiftOptions(),  # noqa: B008 - immutable
    weight: Weight = None,
    class_weight: ClassWeight = None,
    fail_under: Annotated[
        float | None,
        typer.Option(help="End with exit code 1 if the worst-case accuracy is lower, such as 0.8.", show_default=False),
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="A column: accuracy and worst case for each of its values.", show_default=False)
    ] = None,
    drop_missing: DropMissing = False,
    as_json: AsJson = False,
) -> None:
    """Show how fragile a tree is: its worst case, and what the adversary changes."""
    with errors(source=None if shifts.given else model):
        from hardwood.estimators.any_model import read_model

        if fail_under is not None and not 0 <= fail_under <= 1:
            raise ValueError(f"--fail-under is {fail_under:g}; expected a share from 0 to 1")
        tree = read_model(model)
        # What no option states is as the model was fitted for, see `audit`.
        stated = shifts.parameters([feature.name for feature in features_of(tree)])
        weight_by_class = class_weights(class_weight)
        if drop_missing and groups is not None:
            raise ValueError("--groups and --drop-missing are both given; leave the rows out of the file first")
        source = TableSource(data, target, weight, drop_missing=missing_codes_of(tree) if drop_missing else None)
        result = _audit(tree, source, groups, weight_by_class, stated)
        print_result(result, as_json=as_json)
    if fail_under is not None and result.worst_case_accuracy < fail_under:
        err.print(f"{result.worst_case_accuracy:.1%} stay correct in the worst case, less than {fail_under:.1%}")
        raise typer.Exit(NOT_CONFIRMED)


def _audit(
    tree: Tree | RobustTreeClassifier,
    source: TableSource,
    groups: str | None,
    class_weight: ClassWeightSetting,
    stated: Arguments,
) -> Audit | ChunkedAudit:
    """Audit a tree on a table in memory, or on a chunked table."""
    from hardwood.estimators.audit import audit as audit_tree

    chunked = source.is_chunked()
    table = None if chunked else source.read(features_of(tree))
    group_values = None if groups is None else group_column(source.path, groups)
    rows = (source.path, source.target, source.weight) if table is None else (table.X, table.y, table.sample_weight)
    return audit_tree(tree, *rows, groups=group_values, class_weight=class_weight, **stated)
