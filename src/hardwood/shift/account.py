"""How a table was read and what its shifts cost, column by column: what a user should see before anything is learnt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardwood._support.text import shown
from hardwood.data.columns import MISSING
from hardwood.data.features import NO_ANSWER, Feature, Kind, Table
from hardwood.shift.calibration import FloatArray, by_feature_and_sample
from hardwood.shift.chances import chances_of
from hardwood.shift.description import ShiftDescription
from hardwood.shift.tables import is_table
from hardwood.shift.uncertainty import UncertaintySet

WHY_THEY_DIFFER = (
    "Expected: how many answers of a column change by chance, if certainties are right. Affordable: how many the "
    "adversary may change, at the worst places, if it spends the whole budget on that column alone. The budget comes "
    "from the plausibility, not from what is expected: it pays for every shift that is at least so likely, per row, as "
    "no change at all. A lower plausibility pays for more."
)
WHY_MANY_ANSWERS = (
    "A column with many answers is dearer to change: what is left of the certainty is shared by all other answers, so "
    "each of them is less likely, and a price is -log of that."
)


@dataclass(frozen=True)
class ColumnAccount:
    """One column.

    values             what it holds, in words
    n_missing          rows without an answer
    certainty          in words
    lowest, highest    price of a step, or of changing a categorical answer, over all rows
    missing_price      lowest price of giving no answer, or one after all; None where nobody is without one
    expected_changes   answers that change by chance, on average; None if there are no certainties
    affordable_changes answers that the budget pays for if nothing else changes; `people` if changes are free
    """

    name: str
    kind: str
    values: str
    n_missing: int
    certainty: str
    lowest: float
    highest: float
    missing_price: float | None
    expected_changes: float | None
    affordable_changes: float

    @property
    def price(self) -> str:
        """In words."""
        same = math.isclose(self.lowest, self.highest, rel_tol=1e-6)
        words = f"{self.lowest:.3f}" if same else f"{self.lowest:.3f} to {self.highest:.3f}"
        return words if self.missing_price is None else f"{words}, no answer {self.missing_price:.3f}"


def accounts_of(
    table: Table, uncertainty: UncertaintySet, shifts: ShiftDescription, people: FloatArray | None = None
) -> list[ColumnAccount]:
    """All columns of a table; `people` says how many each row stands for."""
    weights = np.ones(table.n_samples) if people is None else people
    plain = shifts.costs is not None or shifts.radius is not None
    entries = [None] * len(table.features) if plain else by_feature_and_sample("certainty", shifts.certainty, table)
    chances = [] if plain else chances_of(table, weights, shifts)
    found = []
    for j, feature in enumerate(table.features):
        missing = uncertainty.costs.missing[j]
        lowest, highest = uncertainty.costs.price_range(j)
        stays = None if plain else chances[j].stays()
        found.append(
            ColumnAccount(
                feature.name,
                str(feature.kind),
                _values(feature, table.values[:, j]),
                _n_missing(feature, table.values[:, j]),
                _certainty(shifts, entries[j]),
                lowest,
                highest,
                None if missing is None else float(missing.min()),
                None if stays is None else float((weights * (1.0 - stays)).sum()),
                _affordable(uncertainty, lowest, float(weights.sum())),
            )
        )
    return found


def reading_lines(accounts: Sequence[ColumnAccount]) -> list[str]:
    """The columns as lines of text: how each was read, and what a change costs."""
    head = ("column", "kind", "values", "no answer", "certainty", "price of a change")
    rows = [
        (
            shown(own.name),
            own.kind,
            shown(own.values),
            f"{own.n_missing:,}" if own.n_missing else "-",
            shown(own.certainty),
            own.price,
        )
        for own in accounts
    ]
    return aligned(head, rows, right=(3,))


def calibration_lines(accounts: Sequence[ColumnAccount]) -> list[str]:
    """The columns as lines of text: what a change costs, and how many are expected and affordable."""
    head = ("column", "kind", "certainty", "price of a change", "expected changes", "affordable changes")
    rows = [
        (
            shown(own.name),
            own.kind,
            shown(own.certainty),
            own.price,
            "-" if own.expected_changes is None else f"{own.expected_changes:,.0f}",
            "all" if own.lowest == 0 else f"{own.affordable_changes:,.0f}",
        )
        for own in accounts
    ]
    return aligned(head, rows, right=(4, 5))


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Lines of a table; columns of numbers stand on the right."""
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    return [
        "  ".join(
            cell.rjust(w) if k in right else cell.ljust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [head, *rows]
    ]


def _values(feature: Feature, codes: Any) -> str:
    if feature.kind is Kind.INTEGER:
        there = codes[codes != NO_ANSWER]
        return f"{int(there.min())} to {int(there.max())}" if there.size else "none"
    if feature.kind is Kind.BINNED:
        return f"{feature.n_values} bins" if feature.edges else "1 bin"
    answers = [str(answer) for answer in feature.categories if answer != MISSING]
    joint = " < " if feature.kind is Kind.ORDINAL else ", "
    listed = joint.join(answers[:3]) + (", ..." if len(answers) > 3 else "")
    return f"{len(answers)} answers: {listed}" if len(listed) <= 40 else f"{len(answers)} answers"


def _n_missing(feature: Feature, codes: Any) -> int:
    return 0 if feature.none is None else int(np.count_nonzero(codes == feature.none))


def _certainty(shifts: ShiftDescription, entry: Any) -> str:
    if shifts.radius is not None:
        return "moves freely within a box"
    if shifts.costs is not None:
        return "prices given"
    if is_table(entry):
        return "a table"
    numbers = np.asarray(entry, dtype=np.float64)
    low, high = float(numbers.min()), float(numbers.max())
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g} by cell"


def _affordable(uncertainty: UncertaintySet, lowest: float, people: float) -> float:
    if lowest == 0:
        return people
    if not math.isfinite(lowest):
        return 0.0
    return min(people, float(math.floor(uncertainty.budget / lowest + 1e-9)))
