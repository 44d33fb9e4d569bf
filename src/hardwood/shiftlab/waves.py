"""Two tables of different people: the least change of values that explains how their distributions differ.

No person is in both tables, so changes of single people are unknown. A lower bound is known: the cheapest way to
transform the distribution of each column in the first table into that of the second (optimal transport). The bound
includes real change, misreporting and sampling variation; changes that cancel out are not visible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hardwood._util.arrays import FloatArray, IntArray
from hardwood._util.deprecation import renamed_attributes
from hardwood._util.notebook import NotebookMixin
from hardwood._util.text import printable
from hardwood._util.types import JsonObject, PerColumn
from hardwood.data.codes import MISSING_CODE
from hardwood.data.feature import Feature
from hardwood.data.pairs import Pair
from hardwood.shiftlab.transport import cheapest_transport, equality_test, shares_by_code
from hardwood.shifts.column_summary import aligned
from hardwood.shifts.reach import reaches


@dataclass(frozen=True)
class ColumnChange:
    """The least change in one column.

    Parameters
    ----------
    name, kind : str
        The column and its kind.
    moved : float
        Lower bound on the share of people whose value changed.
    steps : float or None
        Lower bound on the mean number of steps, over all people; None without an order.
    certainty : float
        The highest certainty that explains the change.
    p : float or None
        The p-value of the hypothesis that the distribution did not change and only other people were drawn.
    """

    name: str
    kind: str
    moved: float
    steps: float | None
    certainty: float
    p: float | None


@renamed_attributes(people="total_weight")
@dataclass(frozen=True, eq=False)
class LeastChange(NotebookMixin):
    """Lower bounds on the change between two tables of different people. Prints as a table.

    Parameters
    ----------
    by_column : dict of str to ColumnChange
        The columns by name.
    total_weight : tuple of two int
        Number of rows of the two tables.
    left_out : tuple of str
        Columns that only one of the tables has.
    """

    by_column: dict[str, ColumnChange]
    total_weight: tuple[int, int]
    left_out: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> ColumnChange:
        return self.by_column[name]

    @property
    def certainty(self) -> dict[str, float]:
        """The highest certainty that explains the change, by column name; the true one may be much lower."""
        return {column.name: column.certainty for column in self.by_column.values()}

    def to_dict(self) -> JsonObject:
        """Return the numbers as a dictionary that JSON can hold."""
        columns = [
            {
                "name": column.name,
                "kind": column.kind,
                "moved_at_least": column.moved,
                "steps_at_least": column.steps,
                "certainty_at_most": column.certainty,
                "p": column.p,
            }
            for column in self.by_column.values()
        ]
        return {
            "linked": False,
            "total_weight": list(self.total_weight),
            "columns": columns,
            "left_out": list(self.left_out),
        }

    def __str__(self) -> str:
        head = ("column", "kind", "changed at least", "steps at least", "certainty at most", "more than by drawing?")
        rows = [
            (
                printable(column.name),
                column.kind,
                f"{column.moved:.1%}",
                "-" if column.steps is None else f"{column.steps:.3f}",
                f"{column.certainty:.3f}",
                "-" if column.p is None else "yes" if column.p < 0.05 else "no",
            )
            for column in self.by_column.values()
        ]
        note = (
            "The tables are of different people, so this is a lower bound of change: it mixes real change, "
            "misreporting and the chance of who was asked, and changes that cancel each other are not seen."
        )
        return "\n".join([*(line.rstrip() for line in aligned(head, rows, right=(2, 3, 4))), "", note])


def least_change(pair: Pair, bounds: PerColumn = None) -> LeastChange:
    """Compute the least change between two tables, column by column.

    Parameters
    ----------
    pair : Pair
        The two tables.
    bounds : mapping or None
        Bounds of the values, as in `RobustTreeClassifier`.

    Returns
    -------
    change : LeastChange
    """
    reach = reaches(pair.first, None, bounds)
    columns = {}
    for j, feature in enumerate(pair.first.features):
        codes, (then, now) = shares_by_code(pair.first.values[:, j], pair.second.values[:, j])
        moved, steps = _least_moves(codes, then, now, feature)
        certainty = 1.0 - moved
        if (
            steps is not None and reach[j].endless
        ):  # at certainty rho, a value moves by (1 - rho) / rho steps on average
            certainty = min(certainty, 1.0 / (1.0 + steps))
        counts = then * pair.first.n_samples, now * pair.second.n_samples
        p = equality_test(*counts, ordered=feature.ordered)
        columns[feature.name] = ColumnChange(feature.name, str(feature.kind), moved, steps, certainty, p)
    return LeastChange(columns, (pair.first.n_samples, pair.second.n_samples), pair.left_out)


def _least_moves(codes: IntArray, then: FloatArray, now: FloatArray, feature: Feature) -> tuple[float, float | None]:
    """Least share of values that changed, and least mean number of steps if the values are ordered.

    Missingness has a certainty of its own, so becoming or ceasing to be missing costs nothing here.
    """
    is_scale = feature.ordered and feature.n_values > 2
    missing_code = MISSING_CODE if feature.missing_code is None else feature.missing_code
    if missing_code not in codes:
        steps = float(np.abs(np.cumsum(then - now))[:-1] @ np.diff(codes.astype(np.float64))) if is_scale else None
        return 0.5 * float(np.abs(then - now).sum()), steps
    is_missing = codes == missing_code
    free = is_missing[:, None] | is_missing[None, :]
    changed = np.where(free | np.eye(len(codes), dtype=bool), 0.0, 1.0)
    moved = cheapest_transport(then, now, changed)[0]
    if not is_scale:
        return moved, None
    positions = np.where(is_missing, 0, codes).astype(np.float64)
    return moved, cheapest_transport(then, now, np.where(free, 0.0, np.abs(positions[:, None] - positions)))[0]
