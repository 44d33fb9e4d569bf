"""Scores for `GridSearchCV` and similar tools: accuracy in the worst case, and on average over random shifts.

Each score is a function of a fitted estimator and a table, so it can be passed as `scoring=`. The shifts are those that
the estimator was fitted for, unless parameters replace them: `functools.partial(worst_case_accuracy, plausibility=0.9)`
scores all candidates under the same shifts, which a search over plausibilities needs.

Folds may contain unseen values: they form one more category, as in `predict`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hardwood._util.types import FittedModel, LabelsLike, TableLike, WeightsLike
from hardwood.data.labels import ClassWeight, Labels, encode_labels
from hardwood.data.table import Table
from hardwood.estimators.any_model import shifts_for, tree_and_table, unwrap_pipeline
from hardwood.estimators.base import TreeClassifier
from hardwood.evaluation import expected_accuracy as expected_over_shifts
from hardwood.shifts.models import ShiftModel
from hardwood.trees.attack import attack
from hardwood.trees.tree import Tree


def worst_case_accuracy(
    estimator: FittedModel,
    X: TableLike,
    y: LabelsLike,
    sample_weight: WeightsLike | None = None,
    **shift_parameters: Any,
) -> float:
    """Compute the share of samples that a fitted tree keeps correct after the worst shift.

    Parameters
    ----------
    estimator : classifier
        A fitted model that `audit` takes.
    X, y : table and array
        Samples and their labels.
    sample_weight : array of shape (n_samples,), optional
        Weight of each sample; 1 if not given.
    **shift_parameters
        `shifts`, `class_weight`, and the other parameters of `audit` that describe shifts.

    Returns
    -------
    float
    """
    tree, table, labels, description = _read(estimator, X, y, sample_weight, **shift_parameters)
    return attack(tree, labels, description.uncertainty(table, total_weight=labels.total_weight)).worst_case_accuracy


def expected_accuracy(
    estimator: FittedModel,
    X: TableLike,
    y: LabelsLike,
    sample_weight: WeightsLike | None = None,
    **shift_parameters: Any,
) -> float:
    """Compute the expected accuracy of a fitted tree over random shifts.

    Parameters
    ----------
    estimator, X, y, sample_weight, **shift_parameters
        As in `worst_case_accuracy`.

    Returns
    -------
    float

    Notes
    -----
    The score depends on certainties, but not on a plausibility, so it can be used to choose the plausibility.
    """
    return expected_over_shifts(*_read(estimator, X, y, sample_weight, **shift_parameters))


def _read(
    estimator: FittedModel,
    X: TableLike,
    y: LabelsLike,
    sample_weight: WeightsLike | None,
    *,
    shifts: ShiftModel | None = None,
    class_weight: ClassWeight = None,
    **shift_parameters: object,
) -> tuple[Tree, Table, Labels, ShiftModel]:
    """Return the tree, the table as it reads it, the labels, and the shifts."""
    model, description, class_weight = shifts_for(estimator, shifts, shift_parameters, class_weight)
    model, X = unwrap_pipeline(model, X)
    tree, table = model._encode_for_prediction(X) if isinstance(model, TreeClassifier) else tree_and_table(model, X)
    labels = encode_labels(y, table.n_samples, classes=tree.classes, weights=sample_weight, class_weight=class_weight)
    return tree, table, labels, description


SCORERS: Final[dict[str, Callable[..., float]]] = {
    "worst_case_accuracy": worst_case_accuracy,
    "expected_accuracy": expected_accuracy,
}
