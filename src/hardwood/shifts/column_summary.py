"""How a table was read and what its shifts cost, column by column: shown to the user before a tree is learnt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hardwood._util.arrays import FloatArray, IntArray
from hardwood._util.text import printable
from hardwood.data.codes import MISSING_CODE
from hardwood.data.columns import MISSING_CATEGORY
from hardwood.data.feature import Feature, Kind
from hardwood.data.table import Table
from hardwood.shifts.models import ShiftModel
from hardwood.shifts.uncertainty_set import UncertaintySet

WHY_THEY_DIFFER = (
    "Expected: how many values of a column change at random, if the certainties are right. Affordable: how many the "
    "adversary may change, at the worst places, if it spends the whole budget on that column alone. The budget follows "
    "from the plausibility, not from the expected changes: it pays for every shift whose likelihood, per row and "
    "relative to no change, is at least the plausibility. A lower plausibility pays for more."
)
WHY_MANY_VALUES = (
    "A column with many values costs more to change, unless it has a table of its own: all other values share what is "
    "left of the certainty, so each of them is less likely, and the cost is -log of its likelihood."
)


@dataclass(frozen=True)
class ColumnSummary:
    """How a column was read, and what changing its values costs.

    Parameters
    ----------
    name, kind : str
    values : str
        What the column holds, as text.
    n_missing : int
        Missing values.
    certainty : str
        As text.
    lowest, highest : float
        Cost of a step, or of changing a category, over all rows.
    missing_cost : float or None
        Smallest cost of a change to or from missing; None without missing values.
    expected_changes : float or None
        Values that change at random, on average; None without certainties.
    affordable_changes : float
        Values that the budget pays for if nothing else changes; the total weight if changes are free.
    """

    name: str
    kind: str
    values: str
    n_missing: int
    certainty: str
    lowest: float
    highest: float
    missing_cost: float | None
    expected_changes: float | None
    affordable_changes: float

    @property
    def cost(self) -> str:
        """The cost of a change, as text."""
        text = _range_text(self.lowest, self.highest)
        if self.missing_cost is None:
            return text
        return f"{text}, missing {'never' if math.isinf(self.missing_cost) else f'{self.missing_cost:.3f}'}"


def summarize_columns(
    table: Table, uncertainty: UncertaintySet, shifts: ShiftModel, weights: FloatArray | None = None
) -> list[ColumnSummary]:
    """Summarize all columns of a table, with sample weights if given."""
    weights = np.ones(table.n_samples) if weights is None else weights
    probabilities = shifts.probabilities(table, weights)
    certainties = shifts.certainty_texts(table)
    found = []
    for j, feature in enumerate(table.features):
        missing = uncertainty.costs.missing_costs[j]
        lowest, highest = uncertainty.costs.cost_range(j)
        stays = None if probabilities is None else probabilities[j].stays()
        found.append(
            ColumnSummary(
                feature.name,
                str(feature.kind),
                _values(feature, table.values[:, j]),
                _n_missing(feature, table.values[:, j]),
                certainties[j],
                lowest,
                highest,
                None if missing is None else float(missing.min()),
                None if stays is None else float((weights * (1.0 - stays)).sum()),
                _affordable(uncertainty, lowest, float(weights.sum())),
            )
        )
    return found


def summary_lines(summaries: Sequence[ColumnSummary]) -> list[str]:
    """Return lines of text: how each column was read, and what a change costs."""
    head = ("column", "kind", "values", "missing", "certainty", "cost of a change")
    rows = [
        (
            printable(own.name),
            own.kind,
            printable(own.values),
            f"{own.n_missing:,}" if own.n_missing else "-",
            printable(own.certainty),
            own.cost,
        )
        for own in summaries
    ]
    return aligned(head, rows, right=(3,))


def calibration_lines(summaries: Sequence[ColumnSummary]) -> list[str]:
    """Return lines of text: what a change costs, and how many changes are expected and affordable."""
    head = ("column", "kind", "certainty", "cost of a change", "expected changes", "affordable changes")
    rows = [
        (
            printable(own.name),
            own.kind,
            printable(own.certainty),
            own.cost,
            "-" if own.expected_changes is None else f"{own.expected_changes:,.0f}",
            "all" if own.lowest == 0 else f"{own.affordable_changes:,.0f}",
        )
        for own in summaries
    ]
    return aligned(head, rows, right=(4, 5))


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Return the lines of a table; the columns in `right` are aligned to the right."""
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    return [
        "  ".join(
            cell.rjust(w) if k in right else cell.ljust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [head, *rows]
    ]


def _range_text(lowest: float, highest: float) -> str:
    """Describe the lowest and the highest cost of a change."""
    if math.isinf(lowest):
        return "never changes"
    if math.isinf(highest):
        return f"from {lowest:.3f}; some changes never"
    same = math.isclose(lowest, highest, rel_tol=1e-6)
    return f"{lowest:.3f}" if same else f"{lowest:.3f} to {highest:.3f}"


def _values(feature: Feature, codes: IntArray) -> str:
    if feature.kind is Kind.INTEGER:
        observed = codes[codes != MISSING_CODE]
        return f"{int(observed.min())} to {int(observed.max())}" if observed.size else "none"
    if feature.kind is Kind.BINNED:
        return f"{feature.n_values} bins: {_bins(feature.edges)}" if feature.edges else "1 bin"
    values = [str(value) for value in feature.categories if value != MISSING_CATEGORY]
    separator = " < " if feature.kind is Kind.ORDINAL else ", "
    listed = separator.join(values[:3]) + (", ..." if len(values) > 3 else "")
    return f"{len(values)} values: {listed}" if len(listed) <= 40 else f"{len(values)} values"


def _bins(edges: Sequence[float]) -> str:
    """Return the first and the last bin as text."""
    return f"<= {edges[0]:g}" + (", > " if len(edges) == 1 else ", ..., > ") + f"{edges[-1]:g}"


def _n_missing(feature: Feature, codes: IntArray) -> int:
    return 0 if feature.missing_code is None else int(np.count_nonzero(codes == feature.missing_code))


def _affordable(uncertainty: UncertaintySet, lowest: float, total_weight: float) -> float:
    if lowest == 0:
        return total_weight
    if not math.isfinite(lowest):
        return 0.0
    return min(total_weight, float(math.floor(uncertainty.budget / lowest + 1e-9)))
