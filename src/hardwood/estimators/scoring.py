"""Scores for `GridSearchCV` and others: what a tree keeps after the worst shift, and on average over random ones.

Each is a function of a fitted estimator and a table, so it can be given as `scoring=` as it is. Shifts are those that
the estimator was fitted for, unless words say otherwise: `functools.partial(worst_case_accuracy, plausibility=0.9)`
judges all candidates alike, which a search over plausibilities needs.
"""

from __future__ import annotations

from typing import Any

from hardwood.data.labels import encode_labels
from hardwood.estimators.audit import audit, read_for_audit, said_for
from hardwood.evaluation import expected_accuracy as expected_over_shifts
from hardwood.shift.description import ShiftDescription


def worst_case_accuracy(estimator: Any, X: Any, y: Any, sample_weight: Any = None, **words: Any) -> float:
    """The share of samples that a fitted tree keeps correct after the worst shift; see `audit` for the words."""
    return audit(estimator, X, y, sample_weight, **words).worst_case_accuracy


def expected_accuracy(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    shifts: ShiftDescription | None = None,
    class_weight: Any = None,
    **words: Any,
) -> float:
    """The share of samples that a fitted tree has correct on average over random shifts.

    What certainties say counts, a plausibility does not: so it may be chosen by this score.
    """
    model, said, class_weight = said_for(estimator, shifts, words, class_weight)
    tree, table = read_for_audit(model, X)
    labels = encode_labels(y, table.n_samples, classes=tree.classes, weights=sample_weight, class_weight=class_weight)
    return expected_over_shifts(tree, table, labels, said)


SCORERS = {"worst_case_accuracy": worst_case_accuracy, "expected_accuracy": expected_accuracy}
