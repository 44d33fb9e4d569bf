"""`hardwood drift`: whether an observed shift is within the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hardwood.cli.console import NOT_CONFIRMED, errors, print_result
from hardwood.cli.models import features_of
from hardwood.cli.options import (
    AsJson,
    DifferentPeople,
    FirstTable,
    FirstWeight,
    ModelOrTree,
    On,
    SecondTable,
    ShiftOptions,
    with_options,
)
from hardwood.cli.tables import checked_column, read_table, select_features

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from hardwood._util.arrays import Array
    from hardwood.data.feature import Feature


@with_options()
def drift(
    model: ModelOrTree,
    then: FirstTable,
    now: SecondTable,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", help="The column that is predicted, to show what the shift changed in accuracy."
        ),
    ] = None,
    on: On = None,
    different_people: DifferentPeople = False,
    shifts: ShiftOptions = ShiftOptions(),  # noqa: B008 - immutable
    weight: FirstWeight = None,
    as_json: AsJson = False,
) -> None:
    """Show whether an observed shift was within the budget; exit code 1 if it was not."""
    with errors(source=None if shifts.given else model):
        from hardwood.estimators.any_model import read_model
        from hardwood.shiftlab import drift as measure_drift

        tree = read_model(model)
        features = features_of(tree)
        stated = shifts.parameters([feature.name for feature in features])
        first, second = read_table(then, features), read_table(now, features)
        result = measure_drift(
            tree,
            _select(first, features, on),
            _select(second, features, on),
            None if target is None else _column(first, target, "--target"),
            None if target is None or target not in second.column_names else _column(second, target, "--target"),
            None if weight is None else _column(first, weight, "--weight"),
            on=on,
            different_people=different_people,
            **stated,
        )
        print_result(result, as_json=as_json)
    if not result.within:
        raise typer.Exit(NOT_CONFIRMED)


def _select(table: pa.Table, features: Sequence[Feature], on: str | None) -> pa.Table:
    """Return the columns of the features, and the column that identifies the samples."""
    selected = select_features(table, features)
    if on is None or on in selected.column_names:
        return selected
    return selected.append_column(on, table.column(checked_column(table, on, "--on")))


def _column(table: pa.Table, name: str, option: str) -> Array:
    values: Array = table.column(checked_column(table, name, option)).to_numpy()
    return values
