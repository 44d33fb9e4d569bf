"""How accurate a tree is when answers really do shift at random: not one number but all that may come, exactly."""

from __future__ import annotations

from typing import Any

from hardwood.data.labels import encode_labels
from hardwood.estimators.audit import read_for_audit, said_for, without_steps
from hardwood.evaluation import AccuracyDistribution, distribution_of
from hardwood.shift.description import ShiftDescription


def accuracy_distribution(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    shifts: ShiftDescription | None = None,
    class_weight: Any = None,
    feature_kinds: Any = None,
    max_bins: int = 10,
    missing_values: Any = None,
    **words: Any,
) -> AccuracyDistribution:
    """The distribution of a tree's accuracy on a table whose answers shift at random: nothing is drawn.

    model          a tree, anything that `audit` takes
    X, y           a table and its labels
    sample_weight  how many people each row stands for. Where that is a whole number, each of them shifts alone;
                   otherwise a row shifts as one.
    shifts         what may shift, as a `ShiftDescription`, or in its `words`: certainty, direction, bounds, ...; what
                   the model was fitted for if nothing is said. A plausibility does not matter.
    class_weight   and feature_kinds, max_bins, missing_values: as in `audit`
    """
    model, said, worth = said_for(model, shifts, words, class_weight)
    model, X = without_steps(model, X)
    tree, table = read_for_audit(model, X, feature_kinds, max_bins, missing_values)
    labels = encode_labels(y, table.n_samples, classes=tree.classes, weights=sample_weight, class_weight=worth)
    return distribution_of(tree, table, labels, said)
