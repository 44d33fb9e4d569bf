"""The audit of an existing tree of any library, under the shifts that its user considers plausible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from hardwood._util.arrays import FloatArray
from hardwood._util.text import printable
from hardwood._util.types import ColumnLike, FittedModel, JsonObject, LabelsLike, PerColumn, TableLike, WeightsLike
from hardwood.data.chunks import ChunkedTable, chunked_table, target_column, weight_column
from hardwood.data.labels import ClassWeight, encode_labels
from hardwood.estimators.any_model import (
    column_named,
    known_columns,
    shifts_for,
    tree_and_encoder,
    tree_and_table,
    unwrap_pipeline,
)
from hardwood.estimators.chunked import ChunkedAudit
from hardwood.estimators.findings import Findings
from hardwood.shifts.column_summary import aligned
from hardwood.shifts.models import PLAUSIBILITIES, ShiftModel
from hardwood.trees.attack import Attack, ClassShare, GroupShare, attack
from hardwood.trees.curve import Curve
from hardwood.trees.shift import ChangeGroup, Shift
from hardwood.trees.tree import Tree


@dataclass(frozen=True, eq=False)
class Audit(Findings):
    """What the worst shift does to a tree on a table in memory. Prints as a page of text.

    Attributes
    ----------
    found : Attack
        The attack on the tree.
    shifts : ShiftModel
        Which shifts are possible.
    class_weight : None, "balanced" or mapping
        Class weights, as in `RobustTreeClassifier`.
    groups : sequence or None
        The group of each row.
    """

    found: Attack = field(repr=False)
    shifts: ShiftModel = field(repr=False)
    class_weight: ClassWeight = None
    groups: ColumnLike | None = field(default=None, repr=False)

    @property
    def tree(self) -> Tree:
        """The tree, as hardwood reads it."""
        return self.found.tree

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.found.n_samples

    @property
    def by_class(self) -> tuple[ClassShare, ...]:
        """Shares of correct samples for each class."""
        return self.found.by_class

    @property
    def nominal_accuracy(self) -> float:
        """Share of samples that are correct without a shift."""
        return self.found.nominal_accuracy

    @property
    def worst_case_accuracy(self) -> float:
        """Share of samples that are correct after the worst shift within the budget."""
        return self.found.worst_case_accuracy

    @property
    def margins(self) -> FloatArray:
        """Smallest total cost that makes the tree misclassify each sample.

        0 for a sample that is misclassified without a shift, +inf if no shift can change its prediction.
        """
        return self.found.margins

    @property
    def budget(self) -> float:
        """Total cost that the adversary may spend on the whole table."""
        return self.found.uncertainty.budget

    @property
    def curve(self) -> Curve:
        """Worst-case accuracy for every budget."""
        return self.found.curve

    @property
    def shift(self) -> Shift:
        """The worst shift itself, in the order in which the adversary pays for the changes."""
        return self.found.shift

    @property
    def n_changed(self) -> tuple[int, int]:
        """Number of values that the worst shift changes, and number of rows with such values."""
        return len(self.shift), len(np.unique(self.shift.rows))

    def changes(self) -> list[ChangeGroup]:
        """Return the kinds of changes of the worst shift, the most frequent first.

        Returns
        -------
        list of dict
            As in `Findings.changes`.
        """
        return self.shift.grouped()

    def confusion(self, *, worst_case: bool = False) -> FloatArray:
        """Return the confusion matrix.

        Parameters
        ----------
        worst_case : bool, default=False
            After the worst shift instead of without a shift.

        Returns
        -------
        array of shape (n_classes, n_classes)
            Weight of the samples by their class (rows) and by the predicted class (columns).
        """
        return self.found.confusion(worst_case=worst_case)

    @property
    def by_group(self) -> tuple[GroupShare, ...]:
        """Shares of correct samples for each group; empty without groups."""
        return () if self.groups is None else self.found.by_group(self.groups)

    def to_dict(self) -> JsonObject:
        """Return the numbers, ready for JSON.

        Returns
        -------
        dict
        """
        n_values, n_rows = self.n_changed
        return super().to_dict() | {
            "classes": list(self.tree.classes),
            "confusion": self.confusion().tolist(),
            "worst_case_confusion": self.confusion(worst_case=True).tolist(),
            "by_class": [asdict(share) for share in self.by_class],
            "by_group": [_group_entry(share) for share in self.by_group],
            "values_changed": n_values,
            "rows_changed": n_rows,
            "by_plausibility": [
                {"plausibility": level, "worst_case_accuracy": self.curve.accuracy_at_plausibility(level)}
                for level in PLAUSIBILITIES
            ],
        }

    @property
    def _further_lines(self) -> list[str]:
        """Tables of classes and groups."""
        lines = _share_lines("Correct by class (recall):", [(str(share.label), share) for share in self.by_class])
        if self.by_group:
            lines += _share_lines("Correct by group:", [(str(share.group), share) for share in self.by_group])
        return lines


def _group_entry(share: GroupShare) -> JsonObject:
    """Return the shares of a group as values that JSON can hold."""
    entry = asdict(share)
    return entry | {"median_margin": "inf"} if share.median_margin == np.inf else entry


def _share_lines(title: str, entries: Sequence[tuple[str, ClassShare | GroupShare]]) -> list[str]:
    """Return a table of shares as lines of text."""
    head = ("", "weight", "no shift", "worst shift", "at least")
    rows = [
        (
            f"  {printable(name)}",
            f"{share.weight:,.6g}",
            f"{share.nominal:.1%}",
            f"{share.worst_case:.1%}",
            f"{share.guaranteed:.1%}",
        )
        for name, share in entries
    ]
    return ["", title, *aligned(head, rows, right=(1, 2, 3, 4))]


def audit(
    model: FittedModel,
    X: TableLike,
    y: LabelsLike,
    sample_weight: WeightsLike | None = None,
    *,
    shifts: ShiftModel | None = None,
    feature_kinds: PerColumn = None,
    max_bins: int = 10,
    class_weight: ClassWeight = None,
    missing_values: PerColumn = None,
    groups: ColumnLike | None = None,
    **shift_parameters: object,
) -> Audit | ChunkedAudit:
    """Attack an existing tree.

    Parameters
    ----------
    model : classifier, Tree, str or Path
        A fitted `DecisionTreeClassifier` of scikit-learn, a classifier of hardwood, a `Pipeline` that ends in one of
        these (then the columns that the tree reads are shifted), a `Tree`, or the path of a JSON file with a tree or
        a model.
    X : table, str, Path or Dask frame
        A table in memory, or a chunked table, which may be larger than memory: the path of a Parquet file or of a
        folder of them, a `pyarrow.dataset`, or a Dask frame. Every chunk is read on its own, on the cluster in the
        case of Dask. The numbers are the same; the margins of single samples are not kept.
    y : array of shape (n_samples,) or str
        Class labels; for a chunked table the name of its target column.
    sample_weight : array of shape (n_samples,) or str, optional
        Weight of each sample; for a chunked table the name of the column that holds it.
    shifts : ShiftModel, optional
        Which shifts are possible.
    feature_kinds, max_bins : optional
        How to read the columns, for a tree of scikit-learn. Other models store it.
    class_weight : None, "balanced" or mapping, default=None
        Class weights, as in `RobustTreeClassifier`. A classifier of hardwood is audited with its own if not given.
    missing_values : value, list or mapping, default=None
        Missing codes, as in `RobustTreeClassifier`, for trees that do not store them.
    groups : sequence or str, optional
        The group of each row, or the name of a column of X. Accuracy and worst case are computed for each group, too.
    **shift_parameters
        Instead of `shifts`: certainty, plausibility, direction, bounds, costs, budget, clip, radius. Without any of
        them, a robust classifier of hardwood is audited under the shifts that it was fitted for, any other tree at
        certainty 0.9 and plausibility 0.9. A plausibility alone changes only the budget of the shifts that a robust
        classifier was fitted for.

    Returns
    -------
    Audit or ChunkedAudit
    """
    model, description, class_weight = shifts_for(model, shifts, shift_parameters, class_weight)
    if isinstance(groups, str):
        groups, X = column_named(X, groups), known_columns(model, X)
    model, X = unwrap_pipeline(model, X)
    chunks = chunked_table(X)
    if chunks is not None:
        if groups is not None:
            raise ValueError("groups are given for a chunked table; audit a table in memory, such as one of each group")
        return _audit_chunks(model, chunks, y, sample_weight, description, class_weight, missing_values)
    tree, table = tree_and_table(model, X, feature_kinds, max_bins, missing_values)
    labels = encode_labels(y, table.n_samples, classes=tree.classes, weights=sample_weight, class_weight=class_weight)
    uncertainty = description.uncertainty(table, total_weight=labels.total_weight)
    return Audit(attack(tree, labels, uncertainty), description, class_weight, groups)


def _audit_chunks(
    model: FittedModel,
    chunks: ChunkedTable,
    y: LabelsLike,
    sample_weight: WeightsLike | None,
    description: ShiftModel,
    class_weight: ClassWeight,
    missing_values: PerColumn,
) -> ChunkedAudit:
    """Audit a model on a chunked table."""
    tree, encoder = tree_and_encoder(model, missing_values)
    target, weight = target_column(y, chunks, tree.features), weight_column(sample_weight, chunks)
    return ChunkedAudit.of(tree, encoder, chunks, target, description, weight, class_weight)
