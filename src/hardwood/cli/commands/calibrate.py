"""`hardwood calibrate`: the costs and the budget that a certainty and a plausibility imply."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from hardwood.cli.console import errors, finite, out, print_json
from hardwood.cli.options import AsJson, ColumnOptions, Data, OptionalTarget, ShiftOptions, with_options
from hardwood.cli.tables import complete_rows, read_table, without

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


@with_options()
def calibrate(
    data: Data,
    target: OptionalTarget = None,
    shifts: ShiftOptions = ShiftOptions(),  # noqa: B008 - immutable
    columns: ColumnOptions = ColumnOptions(),  # noqa: B008 - immutable
    as_json: AsJson = False,
) -> None:
    """Show what a certainty means: the cost of a step in each column, and the budget."""
    with errors():
        from hardwood.data.encode import encode
        from hardwood.shiftlab import coverage
        from hardwood.shifts.column_summary import (
            WHY_MANY_VALUES,
            WHY_THEY_DIFFER,
            calibration_lines,
            summarize_columns,
        )

        frame = _features(data, target, columns)
        table = encode(frame, kinds=columns.kinds, missing=columns.missing, missing_values=columns.missing_values)
        described = shifts.description(frame.column_names)
        uncertainty = described.uncertainty(table)
        summaries = summarize_columns(table, uncertainty, described)
        covered = coverage(table, shifts=described) if described.has_probabilities else None
        if as_json:
            costs = [
                {"column" if key == "name" else key: finite(value) for key, value in asdict(summary).items()}
                for summary in summaries
            ]
            document = {"budget": uncertainty.budget, "n_samples": table.n_samples, "costs": costs}
            print_json(document | {"coverage": None if covered is None else covered.to_dict()["all_columns"]})
            return
        plausibility = described.stated_plausibility
        level = "" if plausibility is None else f" at plausibility {plausibility:g}"
        out.print(f"budget {uncertainty.budget:.4g} for {table.n_samples:,} rows{level}\n")
        out.print("\n".join(calibration_lines(summaries)))
        if covered is not None:
            out.print(f"\n{covered.explanation}")
        out.print(f"\n{WHY_THEY_DIFFER}\n\n{WHY_MANY_VALUES}")


def _features(data: Path, target: str | None, columns: ColumnOptions) -> pa.Table:
    """Read the features of a table, without the target, the columns to drop and the rows to leave out."""
    table = without(read_table(data), [*([] if target is None else [target]), *(columns.drop or [])])
    return table if columns.dropped_codes is None else complete_rows(table, columns.dropped_codes)
