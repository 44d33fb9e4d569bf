"""What an audit says, whether the table lies in memory or comes in pieces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from hardwood._support.notebook import InNotebook
from hardwood.shift.description import PLAUSIBILITIES, ShiftDescription
from hardwood.trees.adversary import Curve, change_words
from hardwood.trees.tree import Tree


class Findings(InNotebook, ABC):
    """What the worst shift does to a tree. Prints as a page of text.

    shifts        which shifts are possible
    class_weight  what a class is worth, as in `RobustTreeClassifier`
    budget        what the adversary may pay on the whole table
    """

    shifts: ShiftDescription
    class_weight: Any

    @property
    @abstractmethod
    def tree(self) -> Tree:
        """The tree, as hardwood reads it."""

    @property
    @abstractmethod
    def budget(self) -> float:
        """What the adversary may pay on the whole table."""

    @property
    @abstractmethod
    def nominal_accuracy(self) -> float:
        """Share of samples that are correct as they stand."""

    @property
    @abstractmethod
    def worst_case_accuracy(self) -> float:
        """Share of samples that are correct after the worst shift within the budget."""

    @property
    @abstractmethod
    def curve(self) -> Curve:
        """Worst-case accuracy for every budget."""

    @property
    @abstractmethod
    def n_changed(self) -> tuple[int, int]:
        """How many values the worst shift changes, and in how many rows."""

    @abstractmethod
    def changes(self) -> list[dict[str, Any]]:
        """Which answers the adversary changes, most often first: column, from, to, how many, and the price of all."""

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of rows."""

    @property
    def everybody(self) -> str:
        """What shares are shares of, in words."""
        if self.curve.people == self.n_samples:
            return f"{self.n_samples:,} samples"
        return f"{self.curve.people:,.6g} people in {self.n_samples:,} rows"

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        return {
            "nominal_accuracy": self.nominal_accuracy,
            "worst_case_accuracy": self.worst_case_accuracy,
            "n_samples": self.n_samples,
            "people": self.curve.people,
            "shifts": str(self.shifts),
            "budget": self.budget,
            "changes": self.changes(),
        }

    def __str__(self) -> str:
        n_values, n_rows = self.n_changed
        start = f"{self.nominal_accuracy:.1%} of {self.everybody} are correct as they stand,"
        if self.class_weight is not None:
            measure = "balanced accuracy" if self.class_weight == "balanced" else "accuracy by worth"
            start = f"{measure} of {self.everybody}: {self.nominal_accuracy:.1%} as they stand,"
        lines = [
            start,
            f"{self.worst_case_accuracy:.1%} after the worst shift within the budget {self.budget:.4g} "
            f"({n_values:,} values changed in {n_rows:,} rows).",
            f"Shifts: {self.shifts}.",
            "",
            "Correct after the worst shift that is at least so plausible:",
        ]
        for level in PLAUSIBILITIES:
            share = self.curve.accuracy_at_plausibility(level)
            lines.append(f"  {level:5.2f}  {share:6.1%}  {'█' * round(40 * share)}")
        changes = self.changes()
        lines += ["", "What the adversary changes:" if changes else "The adversary needs no change."]
        lines += [change_words(entry) for entry in changes[:8]]
        if len(changes) > 8:
            lines.append(f"  ... and {len(changes) - 8} other kinds of changes")
        return "\n".join([*lines, *self.more_lines])

    @property
    def more_lines(self) -> list[str]:
        """What else is printed."""
        return []
