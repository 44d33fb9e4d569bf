"""The audit of a chunked table: margins take few different values, so counts are sufficient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import TypeAlias

import numpy as np

from hardwood._util.arrays import FloatArray
from hardwood._util.deprecation import renamed_attributes
from hardwood._util.errors import ArgumentError
from hardwood._util.types import TableLike
from hardwood.data.chunks import ChunkedTable, chunk_labels, select_columns
from hardwood.data.columns import Category
from hardwood.data.labels import ClassWeight, Labels, check_weights, with_class_weight
from hardwood.data.table import Table
from hardwood.estimators.findings import Findings
from hardwood.shifts.models import ShiftModel
from hardwood.trees.attack import Attack, attack
from hardwood.trees.curve import Curve
from hardwood.trees.shift import ChangeGroup, plain_number
from hardwood.trees.tree import Tree

Encoder: TypeAlias = Callable[[TableLike], Table]
"""How a tree reads a table."""

_Changes: TypeAlias = tuple[list[ChangeGroup], tuple[int, int]]  # kinds of changes; changed values and rows


@dataclass(frozen=True)
class ChunkAttack:
    """The attack on a tree that is computed for each chunk, with costs rounded as those of the whole table.

    Attributes
    ----------
    tree : Tree
        The tree.
    encoder : callable
        How the tree reads a table.
    target : str
        Column of labels.
    shifts : ShiftModel
        Which shifts are possible.
    budget : float
        Budget of the whole table.
    weight : str or None
        Column of sample weights.
    class_weights : tuple of float or None
        Class weights in the order of the classes.
    """

    tree: Tree
    encoder: Encoder
    target: str
    shifts: ShiftModel
    budget: float
    weight: str | None = None
    class_weights: tuple[float, ...] | None = None

    @property
    def columns(self) -> list[str]:
        """Names of the columns that are needed from a chunk."""
        return [*self._feature_names, self.target, *([] if self.weight is None else [self.weight])]

    @property
    def _feature_names(self) -> list[str]:
        return [feature.name for feature in self.tree.features]

    def labels(self, frame: TableLike) -> Labels:
        """Return the labels of one chunk."""
        return replace(
            chunk_labels(frame, self.target, self.weight, self.tree.classes), class_weights=self.class_weights
        )

    def attack(self, frame: TableLike) -> Attack:
        """Attack the tree on one chunk."""
        table = self.encoder(select_columns(frame, self._feature_names))
        return attack(self.tree, self.labels(frame), self.shifts.uncertainty(table, budget=self.budget))


@renamed_attributes(question="chunk_attack", pieces="chunks")
@dataclass(frozen=True, eq=False)
class ChunkedAudit(Findings):
    """What the worst shift does to a tree on a chunked table. The numbers are those of an `Audit`.

    Attributes
    ----------
    chunk_attack : ChunkAttack
        The attack on each chunk.
    chunks : ChunkedTable
        The table.
    nominal_correct : float
        Samples that are correct without a shift.
    curves : tuple of Curve
        Worst-case accuracy of each chunk for every budget.
    class_weight : None, "balanced" or mapping
        Class weights, as in `RobustTreeClassifier`.

    Notes
    -----
    `curve` is exact: margins take few different values, so the curve is made of counts.
    """

    chunk_attack: ChunkAttack = field(repr=False)
    chunks: ChunkedTable = field(repr=False)
    nominal_correct: float
    curves: tuple[Curve, ...] = field(repr=False)
    class_weight: ClassWeight = None

    @classmethod
    def of(
        cls,
        tree: Tree,
        encoder: Encoder,
        chunks: ChunkedTable,
        target: str,
        shifts: ShiftModel,
        weight: str | None = None,
        class_weight: ClassWeight = None,
    ) -> ChunkedAudit:
        """Attack a tree on every chunk.

        Parameters
        ----------
        tree : Tree
            The tree.
        encoder : callable
            How the tree reads a table.
        chunks : ChunkedTable
            The table. With weights, it is read twice: the total weight sets the budget.
        target : str
            Column of labels.
        shifts : ShiftModel
            Which shifts are possible; not by cell.
        weight : str or None
            Column of sample weights.
        class_weight : None, "balanced" or mapping
            See `encode_labels`.

        Returns
        -------
        ChunkedAudit
        """
        if shifts.per_cell:
            raise ArgumentError(
                "shifts", shifts, "costs of single cells need a table in memory", remedy="give them by column"
            )
        chunk_attack = ChunkAttack(tree, encoder, target, shifts, shifts.budget_for(chunks.n_rows), weight)
        if weight is not None or class_weight is not None:
            columns = [target, *([] if weight is None else [weight])]
            by_class = np.sum(list(chunks.map(partial(_weight_by_class, chunk_attack), columns)), axis=0)
            weights = check_weights(by_class, len(by_class))
            totals = Labels(np.arange(len(by_class), dtype=np.int32), tree.classes, weights)
            class_weights = with_class_weight(totals, class_weight).class_weights
            budget = shifts.budget_for(totals.total_weight)
            chunk_attack = replace(chunk_attack, budget=budget, class_weights=class_weights)
        correct, curves = zip(*chunks.map(partial(_nominal_and_curve, chunk_attack), chunk_attack.columns), strict=True)
        return cls(chunk_attack, chunks, sum(correct), curves, class_weight)

    @cached_property
    def curve(self) -> Curve:
        """Worst-case accuracy for every budget."""
        return reduce(add, self.curves)

    @property
    def tree(self) -> Tree:
        """The tree, as hardwood reads it."""
        return self.chunk_attack.tree

    @property
    def shifts(self) -> ShiftModel:  # type: ignore[override]
        """Which shifts are possible."""
        return self.chunk_attack.shifts

    @property
    def budget(self) -> float:
        """Total cost that the adversary may spend on the whole table."""
        return self.chunk_attack.budget

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.chunks.n_rows

    @property
    def worst_case_correct(self) -> float:
        """Samples that are correct after the worst shift within the budget."""
        return plain_number(float(self.curve.correct_at(self.budget)))

    @property
    def nominal_accuracy(self) -> float:
        """Share of samples that are correct without a shift."""
        return self.nominal_correct / self.curve.total

    @property
    def worst_case_accuracy(self) -> float:
        """Share of samples that are correct after the worst shift within the budget."""
        return self.worst_case_correct / self.curve.total

    @property
    def n_changed(self) -> tuple[int, int]:
        """Number of values that the worst shift changes, and number of rows with such values."""
        return self._changes[1]

    def changes(self) -> list[ChangeGroup]:
        """Return the kinds of changes of the worst shift, the most frequent first.

        Returns
        -------
        list of dict
            As in `Findings.changes`.

        Notes
        -----
        This reads all chunks again: which samples are lost is known only after all margins are.
        """
        return self._changes[0]

    @cached_property
    def _changes(self) -> _Changes:
        """Kinds of changes of all chunks, and the number of changed values and rows."""
        largest, quotas = self._lost
        merged: dict[tuple[str, Category, Category], ChangeGroup] = {}
        n_values = n_rows = 0
        ask = partial(_chunk_changes, self.chunk_attack, largest, quotas)
        for entries, (values, rows) in self.chunks.map(ask, self.chunk_attack.columns):
            n_values += values
            n_rows += rows
            for entry in entries:
                key = entry["column"], entry["from"], entry["to"]
                total = merged.setdefault(key, entry | {"rows": 0, "cost": 0.0})
                total["rows"] += entry["rows"]
                total["cost"] += entry["cost"]
        return sorted(merged.values(), key=lambda entry: -entry["rows"]), (n_values, n_rows)

    @property
    def _lost(self) -> tuple[float, list[float]]:
        """The largest margin that the budget pays for, and how much weight with this margin each chunk loses."""
        lost = self.curve.total - self.worst_case_correct
        if lost <= 0:
            return -1.0, [0.0] * len(self.curves)
        up_to = np.cumsum(self.curve.counts)
        group = min(int(np.searchsorted(up_to, lost, side="left")), len(up_to) - 1)
        largest = float(self.curve.margins[group])
        left = float(lost - up_to[group] + self.curve.counts[group])
        quotas: list[float] = []
        for curve in self.curves:  # the first chunks lose first
            available = float(curve.counts[curve.margins == largest].sum())
            quotas.append(min(left, available))
            left -= quotas[-1]
        return largest, quotas


def _weight_by_class(chunk_attack: ChunkAttack, frame: TableLike, _number: int) -> FloatArray:
    """Return the total weight of each class in a chunk."""
    return chunk_attack.labels(frame).weight_by_class


def _nominal_and_curve(chunk_attack: ChunkAttack, frame: TableLike, _number: int) -> tuple[float, Curve]:
    """Return the samples of a chunk that are correct without a shift, and its curve."""
    found = chunk_attack.attack(frame)
    return found.nominal_correct, found.curve


def _chunk_changes(
    chunk_attack: ChunkAttack, largest: float, quotas: Sequence[float], frame: TableLike, number: int
) -> _Changes:
    """Return the changes in a chunk: all samples with smaller margins, and a quota of those with the largest one."""
    found = chunk_attack.attack(frame)
    labels, margins = found.labels, found.margins / found.labels.sample_class_weights
    cheaper, next_rows = np.flatnonzero(margins < largest), np.flatnonzero(margins == largest)
    weights = np.array(labels.sample_weights)
    amounts = weights[next_rows] * labels.sample_class_weights[next_rows]
    taken = np.clip(quotas[number] - (np.cumsum(amounts) - amounts), 0.0, amounts)  # of each row, in order
    weights[next_rows] = taken / labels.sample_class_weights[next_rows]
    shift = found.shift_of(np.concatenate([cheaper, next_rows[taken > 0]]), weights)
    return shift.grouped(), (len(shift), len(np.unique(shift.rows)))
