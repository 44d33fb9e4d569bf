"""Scores for `GridSearchCV` and others: what a tree keeps after the worst shift, and on average over random ones.

Each is a function of a fitted estimator and a table, so it can be given as `scoring=` as it is. Shifts are those that
the estimator was fitted for, unless words say otherwise: `functools.partial(worst_case_accuracy, plausibility=0.9)`
judges all candidates alike, which a search over plausibilities needs.

Folds may have answers that training did not have: these are one more answer, as they are when a classifier predicts.
"""

from __future__ import annotations

from typing import Any

from hardwood.data.features import Table
from hardwood.data.labels import Labels, encode_labels
from hardwood.estimators.audit import read_for_audit, said_for, without_steps
from hardwood.estimators.base import TreeClassifier
from hardwood.evaluation import expected_accuracy as expected_over_shifts
from hardwood.shift.description import ShiftDescription
from hardwood.trees.adversary import attack
from hardwood.trees.tree import Tree


def worst_case_accuracy(estimator: Any, X: Any, y: Any, sample_weight: Any = None, **words: Any) -> float:
    """The share of samples that a fitted tree keeps correct after the worst shift.

    words  shifts, class_weight, and what else `audit` is told about shifts
    """
    tree, table, labels, shifts = _judged(estimator, X, y, sample_weight, **words)
    return attack(tree, labels, shifts.uncertainty(table, people=labels.people)).worst_case_accuracy


def expected_accuracy(estimator: Any, X: Any, y: Any, sample_weight: Any = None, **words: Any) -> float:
    """The share of samples that a fitted tree has correct on average over random shifts; words as above.

    What certainties say counts, a plausibility does not: so it may be chosen by this score.
    """
    return expected_over_shifts(*_judged(estimator, X, y, sample_weight, **words))


def _judged(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    shifts: ShiftDescription | None = None,
    class_weight: Any = None,
    **words: Any,
) -> tuple[Tree, Table, Labels, ShiftDescription]:
    """The tree, the table as it reads it, the labels, and the shifts to judge by."""
    model, said, worth = said_for(estimator, shifts, words, class_weight)
    model, X = without_steps(model, X)
    tree, table = model.at_use(X) if isinstance(model, TreeClassifier) else read_for_audit(model, X)
    labels = encode_labels(y, table.n_samples, classes=tree.classes, weights=sample_weight, class_weight=worth)
    return tree, table, labels, said


SCORERS = {"worst_case_accuracy": worst_case_accuracy, "expected_accuracy": expected_accuracy}
