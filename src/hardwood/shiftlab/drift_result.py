"""Result of `drift`: the cost of an observed shift, compared with the budget."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from hardwood._util.deprecation import renamed_attributes
from hardwood._util.notebook import NotebookMixin
from hardwood._util.text import printable, with_noun
from hardwood._util.types import JsonObject
from hardwood.shifts.column_summary import aligned
from hardwood.shifts.uncertainty_set import UncertaintySet

WITHIN, BEYOND, POSSIBLE = "within", "beyond", "possible"


@renamed_attributes(price="cost", told="net_cost")
@dataclass(frozen=True)
class ColumnDrift:
    """Observed change of one column.

    Parameters
    ----------
    name : str
        The column.
    asked : bool
        Whether the tree uses the column.
    changed : float
        Weight of the changed values; a lower bound if the tables are of different people.
    cost : float
        Cost of these changes without the impossible ones; a lower bound if the tables are of different people.
    impossible : float
        Weight of the changes without a finite cost: to an unseen value, out of bounds, against the direction, or of a
        value that is certain.
    drawn : float
        For different people: the part of `cost` that sampling variation explains.
    drawn_impossible : float
        For different people: the part of `impossible` that sampling variation explains.
    """

    name: str
    asked: bool
    changed: float
    cost: float
    impossible: float
    drawn: float = 0.0
    drawn_impossible: float = 0.0

    @property
    def net_cost(self) -> float:
        """Cost beyond what sampling variation explains; +inf if there are impossible changes beyond it."""
        return math.inf if self.impossible > self.drawn_impossible else max(self.cost - self.drawn, 0.0)


@renamed_attributes(
    price="cost", price_of_all="cost_of_all", people="total_weight", turned="flipped", turned_price="flipped_cost"
)
@dataclass(frozen=True, eq=False)
class Drift(NotebookMixin):
    """Cost of an observed shift, compared with the budget. Prints as a table with a verdict.

    Parameters
    ----------
    by_column : dict of str to ColumnDrift
        The columns by name.
    total_weight : float
        Total weight of the first table.
    budget : float
        Budget for this total weight.
    linked : bool
        Whether both tables are of the same people.
    uncertainty : UncertaintySet
        The shifts that were hedged against.
    then, now : float or None
        Accuracy on the first and on the second table, if labels were given.
    guarantee : float or None
        Accuracy after the worst shift of the first table within the budget.
    labels_changed : float
        Weight of the rows whose label differs in the second table; the guarantee does not cover such changes.
    flipped : float or None
        Weight of the rows that the shift made wrong.
    flipped_cost : float or None
        Lowest cost at which the adversary could have flipped these rows. The guarantee holds while this cost stays
        within the budget, whatever else changed.
    """

    by_column: dict[str, ColumnDrift]
    total_weight: float
    budget: float
    linked: bool
    uncertainty: UncertaintySet = field(repr=False)
    then: float | None = None
    now: float | None = None
    guarantee: float | None = None
    labels_changed: float = 0.0
    flipped: float | None = None
    flipped_cost: float | None = None

    @property
    def cost(self) -> float:
        """Cost of the changes in the columns that the tree uses; +inf if one of them is impossible."""
        return _total_cost(column for column in self.by_column.values() if column.asked)

    @property
    def cost_of_all(self) -> float:
        """Cost of the changes in all columns."""
        return _total_cost(self.by_column.values())

    @property
    def plausibility(self) -> float:
        """Plausibility of the shift in the columns that the tree uses."""
        return math.exp(-self.cost / self.total_weight)

    @property
    def _hedged_plausibility(self) -> float:
        """Plausibility of the budget."""
        return math.exp(-self.budget / self.total_weight)

    @property
    def status(self) -> str:
        """One of "within" and "beyond" the budget, or "possible" if different people do not refute "within"."""
        if not self.uncertainty.affords(self.cost):
            return BEYOND
        return WITHIN if self.linked else POSSIBLE

    @property
    def within(self) -> bool:
        """Whether the shift cost at most the budget, as far as can be known."""
        return self.status != BEYOND

    @property
    def kept(self) -> bool | None:
        """Whether the accuracy is at least the guaranteed one; None without labels, or for different people.

        Within the budget it always is, if labels do not change. Beyond the budget it often is, because most changes do
        no harm.
        """
        if not self.linked or self.now is None or self.guarantee is None:
            return None
        return self.now >= self.guarantee * (1.0 - 1e-12)

    def to_dict(self) -> JsonObject:
        """Return the numbers as a dictionary that JSON can hold."""
        numbers = {
            "status": self.status,
            "within": self.within,
            "linked": self.linked,
            "total_weight": self.total_weight,
            "budget": self.budget,
            "cost": _json_number(self.cost),
            "cost_of_all_columns": _json_number(self.cost_of_all),
            "plausibility": self.plausibility,
            "hedged_plausibility": self._hedged_plausibility,
            "accuracy_then": self.then,
            "accuracy_now": self.now,
            "guarantee": self.guarantee,
            "guarantee_kept": self.kept,
            "labels_changed": self.labels_changed,
            "flipped": self.flipped,
            "flipped_cost": self.flipped_cost,
        }
        return numbers | {"columns": [asdict(column) for column in self.by_column.values()]}

    @property
    def verdict(self) -> str:
        """The verdict in one line, for monitoring."""
        hedged = self._hedged_plausibility
        if math.isinf(self.cost):
            return f"BEYOND THE BUDGET: a change that was held to be impossible (hedged {hedged:.3g})"
        at_least = "" if self.linked else "at least "
        cost = (
            f"{self.cost / self.budget:.0%} of the budget" if self.budget else f"{self.cost:,.2f}, with a budget of 0"
        )
        text = {
            WITHIN: f"WITHIN THE BUDGET: the shift cost {cost}",
            BEYOND: f"BEYOND THE BUDGET: the shift cost {at_least}{cost}",
            POSSIBLE: f"NOT REFUTED: the shift cost at least {cost}; with different people, no more can be known",
        }[self.status]
        return f"{text} (plausibility {self.plausibility:.3g}, hedged {hedged:.3g})"

    def __str__(self) -> str:
        lines = [self.verdict, "", *self._table()]
        lines.append(
            f"columns that the tree uses: {_amount(self.cost)} of {self.budget:,.2f}; all columns: "
            f"{_amount(self.cost_of_all)}"
        )
        if self.then is not None and self.guarantee is not None:
            now = "" if self.now is None else f", now {self.now:.1%}"
            kept = "" if self.kept is None else ": kept" if self.kept else ": NOT KEPT"
            lines.append(f"accuracy then {self.then:.1%}{now}, guaranteed within the budget {self.guarantee:.1%}{kept}")
        if self.flipped_cost is not None:
            lines.append(f"made wrong: {_people(self.flipped)}, at a cost of {self.flipped_cost:,.2f} to the adversary")
        if self.labels_changed:
            lines.append(f"labels differ for {_people(self.labels_changed)}: the guarantee does not cover that")
        return "\n".join(line.rstrip() for line in lines)

    def _table(self) -> list[str]:
        """Lines of the table of columns."""
        changed, last = ("changed", "impossible") if self.linked else ("changed at least", "more than by drawing")
        rows = [
            (
                printable(column.name),
                "yes" if column.asked else "no",
                f"{column.changed:,.0f} ({column.changed / self.total_weight:.1%})",
                f"{column.cost:,.2f}",
                (_impossible_cell if self.linked else _drawing_cell)(column),
            )
            for column in self.by_column.values()
        ]
        return aligned(("column", "used", changed, "cost", last), rows, right=(2, 3, 4))


def _total_cost(columns: Iterable[ColumnDrift]) -> float:
    return sum(column.net_cost for column in columns)


def _impossible_cell(column: ColumnDrift) -> str:
    return f"{column.impossible:,.0f}" if column.impossible else "-"


def _drawing_cell(column: ColumnDrift) -> str:
    """Whether the column changed by more than sampling variation explains."""
    cost = column.net_cost
    return "no" if cost == 0 else "yes, impossible" if math.isinf(cost) else f"{cost:,.2f}"


def _people(weight: float | None) -> str:
    return with_noun(f"{weight or 0:,.0f}", "person", "people")


def _json_number(cost: float) -> float | str:
    return cost if math.isfinite(cost) else "inf"


def _amount(cost: float) -> str:
    return f"{cost:,.2f}" if math.isfinite(cost) else "more than any budget"
