"""The audit of a table in pieces: margins take few different values, so counts are enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import Any

import numpy as np

from hardwood._support.errors import ArgumentError
from hardwood.data.features import Table
from hardwood.data.labels import Labels, checked_weights, with_worth
from hardwood.data.pieces import Pieces, chosen, labels_in
from hardwood.estimators.findings import Findings
from hardwood.shift.calibration import FloatArray
from hardwood.shift.description import ShiftDescription
from hardwood.trees.adversary import Attack, Curve, attack, plain_number
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
    weight: str | None = None
    worth: tuple[float, ...] | None = None

    @property
    def columns(self) -> list[str]:
        """What of a piece is needed."""
        return [*self._asked, self.target, *([] if self.weight is None else [self.weight])]

    @property
    def _asked(self) -> list[str]:
        return [feature.name for feature in self.tree.features]

    def labels(self, frame: Any) -> Labels:
        """The labels of one piece."""
        return replace(labels_in(frame, self.target, self.weight, self.tree.classes), worth=self.worth)

    def attacked(self, frame: Any) -> Attack:
        """The adversary against the tree on one piece."""
        table = self.encoded(chosen(frame, self._asked))
        return attack(self.tree, self.labels(frame), self.shifts.uncertainty(table, budget=self.budget))


def _people(question: Question, frame: Any, _number: int) -> FloatArray:
    return question.labels(frame).class_people


def _counted(question: Question, frame: Any, _number: int) -> tuple[float, Curve]:
    found = question.attacked(frame)
    return found.nominal_correct, found.curve


def _changed(
    question: Question, dearest: float, quotas: Sequence[float], frame: Any, number: int
) -> tuple[list[dict[str, Any]], tuple[int, int]]:
    """What is changed in a piece, and how many values in how many rows: all cheaper than the dearest, some of those."""
    found = question.attacked(frame)
    labels, prices = found.labels, found.margins / found.labels.row_worth
    cheaper, next_ones = np.flatnonzero(prices < dearest), np.flatnonzero(prices == dearest)
    people = np.array(labels.row_people)
    worth = people[next_ones] * labels.row_worth[next_ones]
    taken = np.clip(quotas[number] - (np.cumsum(worth) - worth), 0.0, worth)  # of each row, in order
    people[next_ones] = taken / labels.row_worth[next_ones]
    shift = found.shift_of(np.concatenate([cheaper, next_ones[taken > 0]]), people)
    return shift.grouped(), (len(shift), len(np.unique(shift.rows)))


@dataclass(frozen=True, eq=False)
class PiecewiseAudit(Findings):
    """What the worst shift does to a tree on a table in pieces. The same numbers as those of an `Audit`.

    curve  worst-case accuracy for every budget, exact: margins take few different values, so it is made of counts
    """

    question: Question = field(repr=False)
    pieces: Pieces = field(repr=False)
    nominal_correct: float
    curves: tuple[Curve, ...] = field(repr=False)  # of the pieces
    class_weight: Any = None

    @classmethod
    def of(
        cls,
        tree: Tree,
        encoded: Encoder,
        pieces: Pieces,
        target: str,
        shifts: ShiftDescription,
        weight: str | None = None,
        class_weight: Any = None,
    ) -> PiecewiseAudit:
        """Ask every piece; first how many people its rows stand for, if they do not for one each.

        weight        the column that says so
        class_weight  see `encode_labels`
        """
        if shifts.by_cell:
            raise ArgumentError(
                "shifts", shifts, "prices of single cells belong to a table in memory", remedy="give them by column"
            )
        question = Question(tree, encoded, target, shifts, shifts.budget_for(pieces.n_rows), weight)
        if weight is not None or class_weight is not None:
            columns = [target, *([] if weight is None else [weight])]
            people = np.sum(list(pieces.map(partial(_people, question), columns)), axis=0)
            own = checked_weights(people, len(people))
            everybody = Labels(np.arange(len(people), dtype=np.int32), tree.classes, own)
            worth = with_worth(everybody, class_weight).worth
            question = replace(question, budget=shifts.budget_for(everybody.people), worth=worth)
        correct, curves = zip(*pieces.map(partial(_counted, question), question.columns), strict=True)
        return cls(question, pieces, sum(correct), curves, class_weight)

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
    def n_samples(self) -> int:
        """Number of rows."""
        return self.pieces.n_rows

    @property
    def worst_case_correct(self) -> float:
        """Samples that are correct after the worst shift within the budget."""
        return plain_number(float(self.curve.correct_at(self.budget)))

    @property
    def nominal_accuracy(self) -> float:
        """Share of samples that are correct as they stand."""
        return self.nominal_correct / self.curve.total

    @property
    def worst_case_accuracy(self) -> float:
        """Share of samples that are correct after the worst shift within the budget."""
        return self.worst_case_correct / self.curve.total

    @property
    def n_changed(self) -> tuple[int, int]:
        """How many values the worst shift changes, and in how many rows."""
        return self._changes[1]

    def changes(self) -> list[dict[str, Any]]:
        """Which answers the adversary changes, most often first: column, from, to, how many, and the price of all.

        This looks at all pieces once more: who is lost is known when all margins are.
        """
        return self._changes[0]

    @cached_property
    def _changes(self) -> tuple[list[dict[str, Any]], tuple[int, int]]:
        dearest, quotas = self._lost
        changes: dict[tuple[Any, ...], dict[str, Any]] = {}
        n_values = n_rows = 0
        for entries, (values, rows) in self.pieces.map(
            partial(_changed, self.question, dearest, quotas), self.question.columns
        ):
            n_values += values
            n_rows += rows
            for entry in entries:
                known = changes.setdefault(
                    (entry["column"], entry["from"], entry["to"]), entry | {"rows": 0, "price": 0.0}
                )
                known["rows"] += entry["rows"]
                known["price"] += entry["price"]
        return sorted(changes.values(), key=lambda entry: -entry["rows"]), (n_values, n_rows)

    @property
    def _lost(self) -> tuple[float, list[float]]:
        """The largest margin that is paid for, and how much with it is lost in each piece: the first ones."""
        lost = self.curve.total - self.worst_case_correct
        if lost <= 0:
            return -1.0, [0.0] * len(self.curves)
        up_to = np.cumsum(self.curve.counts)
        group = min(int(np.searchsorted(up_to, lost, side="left")), len(up_to) - 1)
        dearest = float(self.curve.margins[group])
        left = float(lost - up_to[group] + self.curve.counts[group])
        quotas: list[float] = []
        for curve in self.curves:
            here = float(curve.counts[curve.margins == dearest].sum())
            quotas.append(min(left, here))
            left -= quotas[-1]
        return dearest, quotas
