"""What an audit computes, for a table in memory and for a chunked table alike."""

from __future__ import annotations

from abc import ABC, abstractmethod

from hardwood._util.deprecation import renamed_attributes
from hardwood._util.notebook import NotebookMixin
from hardwood._util.text import with_noun
from hardwood._util.types import JsonObject
from hardwood.data.labels import ClassWeight
from hardwood.shifts.models import PLAUSIBILITIES, ShiftModel
from hardwood.trees.curve import Curve
from hardwood.trees.shift import ChangeGroup, change_text
from hardwood.trees.tree import Tree

_MAX_CHANGES = 8  # printed
_BAR_LENGTH = 40  # characters for an accuracy of 100 %


@renamed_attributes(everybody="sample_text")
class Findings(NotebookMixin, ABC):
    """What the worst shift does to a tree. Prints as a page of text.

    Attributes
    ----------
    shifts : ShiftModel
        Which shifts are possible.
    class_weight : None, "balanced" or mapping
        Class weights, as in `RobustTreeClassifier`.
    """

    shifts: ShiftModel
    class_weight: ClassWeight

    @property
    @abstractmethod
    def tree(self) -> Tree:
        """The tree, as hardwood reads it."""

    @property
    @abstractmethod
    def budget(self) -> float:
        """Total cost that the adversary may spend on the whole table."""

    @property
    @abstractmethod
    def nominal_accuracy(self) -> float:
        """Share of samples that are correct without a shift."""

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
        """Number of values that the worst shift changes, and number of rows with such values."""

    @abstractmethod
    def changes(self) -> list[ChangeGroup]:
        """Return the kinds of changes of the worst shift, the most frequent first.

        Returns
        -------
        list of dict
            Column, old value ("from"), new value ("to"), weight of the changed samples ("rows"), and total cost.
        """

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of rows."""

    @property
    def sample_text(self) -> str:
        """The samples that shares refer to, as text."""
        if self.curve.total_weight == self.n_samples:
            return f"{self.n_samples:,} samples"
        return f"{self.n_samples:,} samples with a total weight of {self.curve.total_weight:,.6g}"

    def to_dict(self) -> JsonObject:
        """Return the numbers, ready for JSON.

        Returns
        -------
        dict
        """
        return {
            "nominal_accuracy": self.nominal_accuracy,
            "worst_case_accuracy": self.worst_case_accuracy,
            "n_samples": self.n_samples,
            "total_weight": self.curve.total_weight,
            "shifts": str(self.shifts),
            "budget": self.budget,
            "changes": self.changes(),
        }

    def __str__(self) -> str:
        n_values, n_rows = (f"{count:,}" for count in self.n_changed)
        changed = f"{with_noun(n_values, 'value', 'values')} changed in {with_noun(n_rows, 'row', 'rows')}"
        lines = [
            self._nominal_text,
            f"{self.worst_case_accuracy:.1%} after the worst shift within the budget {self.budget:.4g} ({changed}).",
            f"Shifts: {self.shifts}.",
            "",
            "Correct after the worst shift of at least this plausibility:",
        ]
        for level in PLAUSIBILITIES:
            share = self.curve.accuracy_at_plausibility(level)
            lines.append(f"  {level:5.2f}  {share:6.1%}  {'█' * round(_BAR_LENGTH * share)}")
        changes = self.changes()
        lines += ["", "What the adversary changes:" if changes else "The adversary can do no harm."]
        lines += [change_text(entry) for entry in changes[:_MAX_CHANGES]]
        if len(changes) > _MAX_CHANGES:
            lines.append(f"  ... and {len(changes) - _MAX_CHANGES} other kinds of changes")
        return "\n".join([*lines, *self._further_lines])

    @property
    def _nominal_text(self) -> str:
        """The first line: accuracy without a shift."""
        if self.class_weight is None:
            return f"{self.nominal_accuracy:.1%} of {self.sample_text} are correct without a shift,"
        measure = "balanced accuracy" if self.class_weight == "balanced" else "class-weighted accuracy"
        return f"{measure} of {self.sample_text}: {self.nominal_accuracy:.1%} without a shift,"

    @property
    def _further_lines(self) -> list[str]:
        """Lines that a subclass appends to the text."""
        return []
