"""Accuracy of a tree under random shifts: its exact distribution."""

from __future__ import annotations

from hardwood._util.types import FittedModel, LabelsLike, PerColumn, TableLike, WeightsLike
from hardwood.data.labels import ClassWeight, encode_labels
from hardwood.estimators.any_model import shifts_for, tree_and_table, unwrap_pipeline
from hardwood.evaluation import AccuracyDistribution, distribution_of
from hardwood.shifts.models import ShiftModel


def accuracy_distribution(
    model: FittedModel,
    X: TableLike,
    y: LabelsLike,
    sample_weight: WeightsLike | None = None,
    *,
    shifts: ShiftModel | None = None,
    class_weight: ClassWeight = None,
    feature_kinds: PerColumn = None,
    max_bins: int = 10,
    missing_values: PerColumn = None,
    **shift_parameters: object,
) -> AccuracyDistribution:
    """Compute the distribution of a tree's accuracy on a table whose values shift at random.

    The distribution is computed, not simulated.

    Parameters
    ----------
    model : tree
        Anything that `audit` accepts.
    X, y : table and labels
    sample_weight : array-like or None
        Weight of each row. If all weights are integers, a row of weight w counts as w rows that shift independently;
        otherwise each row shifts as a whole.
    shifts : ShiftModel or None
        The shifts; the default is what the model was fitted for. Their plausibility has no effect.
    class_weight, feature_kinds, max_bins, missing_values
        As in `audit`.
    **shift_parameters
        The shifts as separate arguments instead of `shifts`: certainty, direction, bounds, ...

    Returns
    -------
    distribution : AccuracyDistribution
    """
    model, shifts, class_weights = shifts_for(model, shifts, shift_parameters, class_weight)
    model, X = unwrap_pipeline(model, X)
    tree, table = tree_and_table(model, X, feature_kinds, max_bins, missing_values)
    labels = encode_labels(y, table.n_samples, classes=tree.classes, weights=sample_weight, class_weight=class_weights)
    return distribution_of(tree, table, labels, shifts)
