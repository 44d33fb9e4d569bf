"""The audit of a table in pieces: margins take few different values, so counts are enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from operator import add
from typing import Any

import numpy as np

from hardwood._support.errors import ArgumentError
from hardwood.data.features import Table, encode_labels
from hardwood.data.pieces import Pieces, chosen
from hardwood.estimators.findings import Findings
from hardwood.shift.description import ShiftDescription
from hardwood.trees.adversary import Attack, Curve, attack
from hardwood.trees.tree import Tree

Encoder = Callable[[Any], Table]


@dataclass(frozen=True)
class Question:
    """What is asked about each piece: how the adversary fares there, with prices rounded as those of the whole."""

    tree: Tree
    encoded: Encoder
    target: str
    shifts: ShiftDescription
    budget: float

    @property
    def columns(self) -> list[str]:
        """What of a piece is needed."""
        return [*(feature.name for feature in self.tree.features), self.target]

    def attacked(self, frame: Any) -> Attack:
        """The adversary against the tree on one piece."""
        table = self.encoded(chosen(frame, self.columns[:-1]))
        labels = encode_labels(frame[self.target], table.n_samples, classes=self.tree.classes)
        return attack(self.tree, labels, self.shifts.uncertainty(table, budget=self.budget))


def _counted(question: Question, frame: Any, _number: int) -> tuple[int, Curve]:
    found = question.attacked(frame)
    return found.nominal_correct, found.curve


def _changed(
    question: Question, dearest: float, quotas: Sequence[int], frame: Any, number: int
) -> tuple[list[dict[str, Any]], int]:
    """What is changed in a piece, and in how many rows: all that are cheaper than the dearest, and so many of those."""
    found = question.attacked(frame)
    lost = np.concatenate(
        [np.flatnonzero(found.margins < dearest), np.flatnonzero(found.margins == dearest)[: quotas[number]]]
    )
    shift = found.shift_of(lost)
    return shift.grouped(), len(np.unique(shift.rows))


@dataclass(frozen=True, eq=False)
class PiecewiseAudit(Findings):
    """What the worst shift does to a tree on a table in pieces. The same numbers as those of an `Audit`.

    curve  worst-case accuracy for every budget, exact: margins take few different values, so it is made of counts
    """

    question: Question = field(repr=False)
    pieces: Pieces = field(repr=False)
    nominal_correct: int
    curves: tuple[Curve, ...] = field(repr=False)  # of the pieces

    @classmethod
    def of(cls, tree: Tree, encoded: Encoder, pieces: Pieces, target: str, shifts: ShiftDescription) -> PiecewiseAudit:
        """Ask every piece."""
        if shifts.by_cell:
            raise ArgumentError(
                "shifts", shifts, "prices of single cells belong to a table in memory", remedy="give them by column"
            )
        question = Question(tree, encoded, target, shifts, shifts.budget_for(pieces.n_rows))
        correct, curves = zip(*pieces.map(partial(_counted, question), question.columns), strict=True)
        return cls(question, pieces, sum(correct), curves)

    @cached_property
    def curve(self) -> Curve:
        """Worst-case accuracy for every budget."""
        return reduce(add, self.curves)

    @property
    def tree(self) -> Tree:
        """The tree, as hardwood reads it."""
        return self.question.tree

    @property
    def shifts(self) -> ShiftDescription:  # type: ignore[override]
        """Which shifts are possible."""
        return self.question.shifts

    @property
    def budget(self) -> float:
        """What the adversary may pay on the whole table."""
        return self.question.budget

    @property
    def worst_case_correct(self) -> int:
        """Samples that are correct after the worst shift within the budget."""
        return int(self.curve.correct_at(self.budget))

    @property
    def nominal_accuracy(self) -> float:
        """Share of samples that are correct as they stand."""
        return self.nominal_correct / self.n_samples

    @property
    def worst_case_accuracy(self) -> float:
        """Share of samples that are correct after the worst shift within the budget."""
        return self.worst_case_correct / self.n_samples

    @property
    def n_changed(self) -> tuple[int, int]:
        """How many values the worst shift changes, and in how many rows."""
        return sum(entry["rows"] for entry in self.changes()), self._changes[1]

    def changes(self) -> list[dict[str, Any]]:
        """Which answers the adversary changes, most often first: column, from, to, how many, and the price of all.

        This looks at all pieces once more: who is lost is known when all margins are.
        """
        return self._changes[0]

    @cached_property
    def _changes(self) -> tuple[list[dict[str, Any]], int]:
        dearest, quotas = self._lost
        changes: dict[tuple[Any, ...], dict[str, Any]] = {}
        n_rows = 0
        for entries, rows in self.pieces.map(partial(_changed, self.question, dearest, quotas), self.question.columns):
            n_rows += rows
            for entry in entries:
                known = changes.setdefault(
                    (entry["column"], entry["from"], entry["to"]), entry | {"rows": 0, "price": 0.0}
                )
                known["rows"] += entry["rows"]
                known["price"] += entry["price"]
        return sorted(changes.values(), key=lambda entry: -entry["rows"]), n_rows

    @property
    def _lost(self) -> tuple[float, list[int]]:
        """The largest margin that is paid for, and how many samples with it are lost in each piece: the first ones."""
        lost = self.n_samples - self.worst_case_correct
        if lost == 0:
            return -1.0, [0] * len(self.curves)
        up_to = np.cumsum(self.curve.counts)
        group = int(np.searchsorted(up_to, lost, side="left"))
        dearest = float(self.curve.margins[group])
        left = int(lost - up_to[group] + self.curve.counts[group])
        quotas = []
        for curve in self.curves:
            here = int(curve.counts[curve.margins == dearest].sum())
            quotas.append(min(left, here))
            left -= quotas[-1]
        return dearest, quotas
