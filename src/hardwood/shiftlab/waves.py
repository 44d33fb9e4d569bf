"""Two tables of different people: the least change of answers that explains how their shares differ.

Nobody is seen twice, so nothing is known about single people. What is known is how much must have changed at least: the
cheapest way to carry the answers of the first table into those of the second (optimal transport). Real change,
misreporting and the accidents of drawing people are mixed in it, and changes that cancel each other are not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hardwood._support.notebook import InNotebook
from hardwood._support.text import shown
from hardwood.data.features import NO_ANSWER, Feature, IntArray
from hardwood.data.pairs import Pair
from hardwood.shift.account import aligned
from hardwood.shift.calibration import FloatArray, reaches
from hardwood.shiftlab.transport import cheapest_transport, drawn_alike, shares_by_code


@dataclass(frozen=True)
class ColumnChange:
    """The least change in one column.

    moved         share of people whose answer must be another one, at least
    steps         steps along the scale for each of them all, on average and at least; None without an order
    certainty     no certainty above this explains it
    p             p-value of shares that differ as much, if nothing had changed and only other people were drawn
    """

    name: str
    kind: str
    moved: float
    steps: float | None
    certainty: float
    p: float | None


@dataclass(frozen=True, eq=False)
class LeastChange(InNotebook):
    """What must have changed at least between two tables of different people. Prints as a table."""

    by_column: dict[str, ColumnChange]
    people: tuple[int, int]
    left_out: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> ColumnChange:
        return self.by_column[name]

    @property
    def certainty(self) -> dict[str, float]:
        """By column name: the highest certainty that explains the change. The true one may be much lower."""
        return {own.name: own.certainty for own in self.by_column.values()}

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        columns = [
            {
                "name": own.name,
                "kind": own.kind,
                "moved_at_least": own.moved,
                "steps_at_least": own.steps,
                "certainty_at_most": own.certainty,
                "p": own.p,
            }
            for own in self.by_column.values()
        ]
        return {"linked": False, "people": list(self.people), "columns": columns, "left_out": list(self.left_out)}

    def __str__(self) -> str:
        head = ("column", "kind", "changed at least", "steps at least", "certainty at most", "more than by drawing?")
        rows = [
            (
                shown(own.name),
                own.kind,
                f"{own.moved:.1%}",
                "-" if own.steps is None else f"{own.steps:.3f}",
                f"{own.certainty:.3f}",
                "-" if own.p is None else "yes" if own.p < 0.05 else "no",
            )
            for own in self.by_column.values()
        ]
        words = (
            "The tables are of different people, so this is a lower bound of change: real change, misreporting and the "
            "accident of who was asked are mixed in it, and changes that cancel each other are not seen."
        )
        return "\n".join([*(line.rstrip() for line in aligned(head, rows, right=(2, 3, 4))), "", words])


def least_change(pair: Pair, bounds: Any = None) -> LeastChange:
    """The least change between two tables, column by column."""
    reach = reaches(pair.first, None, bounds)
    columns = {}
    for j, feature in enumerate(pair.first.features):
        codes, (then, now) = shares_by_code(pair.first.values[:, j], pair.second.values[:, j])
        moved, steps = _least(codes, then, now, feature)
        certainty = 1.0 - moved
        if steps is not None and reach[j].endless:  # a value moves by (1 - rho) / rho steps on average
            certainty = min(certainty, 1.0 / (1.0 + steps))
        counts = then * pair.first.n_samples, now * pair.second.n_samples
        p = drawn_alike(*counts, ordered=feature.ordered)
        columns[feature.name] = ColumnChange(feature.name, str(feature.kind), moved, steps, certainty, p)
    return LeastChange(columns, (pair.first.n_samples, pair.second.n_samples), pair.left_out)


def _least(codes: IntArray, then: FloatArray, now: FloatArray, feature: Feature) -> tuple[float, float | None]:
    """The share of people whose answer must be another one, and the steps of all on average, if there is an order.

    Whether there is an answer at all is another question: becoming or leaving "no answer" counts for nothing here.
    """
    on_scale = feature.ordered and feature.n_values > 2
    none = NO_ANSWER if feature.none is None else feature.none
    if none not in codes:
        steps = float(np.abs(np.cumsum(then - now))[:-1] @ np.diff(codes.astype(np.float64))) if on_scale else None
        return 0.5 * float(np.abs(then - now).sum()), steps
    gone = codes == none
    free = gone[:, None] | gone[None, :]
    changed = np.where(free | np.eye(len(codes), dtype=bool), 0.0, 1.0)
    moved = cheapest_transport(then, now, changed)[0]
    if not on_scale:
        return moved, None
    places = np.where(gone, 0, codes).astype(np.float64)
    return moved, cheapest_transport(then, now, np.where(free, 0.0, np.abs(places[:, None] - places)))[0]
