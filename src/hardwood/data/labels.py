"""Labels: the class of each sample, its sample weight, and the class weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from hardwood._util.arguments import check_numbers
from hardwood._util.arrays import BoolArray, FloatArray, Indices, IntArray, frozen
from hardwood._util.errors import ArgumentError, Verbatim
from hardwood._util.types import LabelsLike, TableLike, WeightsLike
from hardwood.data.codes import as_codes, category_codes, sorted_levels
from hardwood.data.columns import Category
from hardwood.data.frames import check_labels_not_missing, n_rows, read_column, select_rows

ClassWeight: TypeAlias = Mapping[Category, float] | str | None  # as in scikit-learn

MIN_TOTAL, MAX_TOTAL = 1e-100, 2.0**53  # beyond, sums of doubles are not exact enough to count
MIN_CLASS_WEIGHT, MAX_CLASS_WEIGHT = 1e-100, 1e100


@dataclass(frozen=True, slots=True)
class Labels:
    """The class of every sample, with sample weights and class weights.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_samples,)
        Position of each sample's class in `classes`; read-only.
    classes : tuple
        Class labels.
    weights : ndarray of shape (n_samples,) or None
        Sample weights; None if all are 1.
    class_weights : tuple of float or None
        How much a correct prediction of each class counts; None if all are 1.
    """

    codes: IntArray
    classes: tuple[Category, ...]
    weights: FloatArray | None = None
    class_weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        codes = as_codes("codes", self.codes, "C")
        object.__setattr__(self, "classes", check_classes(self.classes))
        if codes.ndim != 1 or (codes.size and not 0 <= codes.min() <= codes.max() < len(self.classes)):
            raise ValueError(
                f"codes have {codes.ndim} dimensions and values up to {codes.max(initial=0)}; "
                f"expected one dimension and values from 0 to {len(self.classes) - 1}"
            )
        object.__setattr__(self, "codes", codes)
        if self.weights is not None:
            weights = _nonnegative_weights(self.weights, len(codes))
            object.__setattr__(self, "weights", None if (weights == 1.0).all() else frozen(weights))
        if self.class_weights is not None:
            object.__setattr__(self, "class_weights", _check_class_weights(self.class_weights, len(self.classes)))

    @property
    def has_integer_weights(self) -> bool:
        """Whether every sample weight is an integer."""
        return self.weights is None or bool((self.weights == np.floor(self.weights)).all())

    @property
    def integral(self) -> bool:
        """Whether totals are integers: sample weights are integers, and there are no class weights.

        Otherwise the adversary may flip the last sample in part.
        """
        return self.has_integer_weights and self.class_weights is None

    @property
    def sample_weights(self) -> FloatArray:
        """Weight of each sample."""
        return np.broadcast_to(np.ones(1), self.codes.shape) if self.weights is None else self.weights

    @property
    def sample_class_weights(self) -> FloatArray:
        """Class weight of each sample's class."""
        return (
            np.broadcast_to(np.ones(1), self.codes.shape)
            if self.class_weights is None
            else np.array(self.class_weights)[self.codes]
        )

    @property
    def total_weight(self) -> float:
        """Sum of the sample weights; an int if all of them are integers."""
        return self._total(self.sample_weights, self.has_integer_weights)

    @property
    def total(self) -> float:
        """Sum of sample weight times class weight; the number of samples if there are no weights."""
        return self._total(self.sample_weights * self.sample_class_weights, self.integral)

    def weighted_count(self, chosen: BoolArray) -> float:
        """Return the sum of sample weight times class weight over some of the samples."""
        return self._total((self.sample_weights * self.sample_class_weights)[chosen], self.integral)

    @staticmethod
    def _total(amounts: FloatArray, integral: bool) -> float:
        total = float(amounts.sum())
        return int(total) if integral else total

    @property
    def weight_by_class(self) -> FloatArray:
        """Sum of the sample weights of each class."""
        return np.bincount(self.codes, weights=self.sample_weights, minlength=len(self.classes)).astype(np.float64)

    def rows(self, chosen: Indices) -> Labels:
        """Return the labels of some samples, given by their positions."""
        weights = None if self.weights is None else self.weights[chosen]
        return Labels(self.codes[chosen], self.classes, weights, self.class_weights)


def encode_labels(
    y: LabelsLike,
    n_samples: int,
    *,
    classes: Sequence[Category] | None = None,
    weights: WeightsLike | None = None,
    class_weight: ClassWeight = None,
) -> Labels:
    """Encode the classes of the samples as integers.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class of each sample: text, numbers or booleans, none of them missing.
    n_samples : int
        Number of rows of the table that the labels belong to.
    classes : sequence, optional
        Class labels in the order of their codes; the sorted values of `y` if not given.
    weights : array-like of shape (n_samples,) or float, optional
        Sample weights >= 0; 1 for each sample if not given.
    class_weight : mapping, "balanced" or None, default=None
        How much a correct prediction of a class counts, a number > 0 by class. Classes that a mapping leaves out have
        weight 1. "balanced" gives all classes the same total weight.

    Returns
    -------
    labels : Labels
        Class codes and weights.
    """
    check_labels_not_missing(y)
    column = read_column("y", y)
    if column.values.ndim != 1:
        raise ValueError(f"y has shape {column.values.shape}; expected one label for each sample")
    if len(column.values) != n_samples:
        raise ValueError(f"y has {len(column.values)} labels but the table has {n_samples} rows; expected as many")
    classes = sorted_levels(column) if classes is None else check_classes(classes)
    checked = None if weights is None else check_weights(weights, n_samples)
    return with_class_weight(Labels(category_codes(column, classes), classes, checked), class_weight)


def without_zero_weights(
    X: TableLike, y: LabelsLike, weights: WeightsLike | None
) -> tuple[TableLike, LabelsLike, FloatArray | None]:
    """Return the rows of a caller's table whose weight is not zero, with their labels and weights."""
    if weights is None:
        return X, y, None
    values = check_weights(weights, n_rows(X))
    if values.all():
        return X, y, values
    kept = values > 0
    return select_rows(X, kept), select_rows(y, kept), values[kept]


def with_class_weight(labels: Labels, class_weight: ClassWeight) -> Labels:
    """Return the same labels with other class weights; `class_weight` as in `encode_labels`."""
    return Labels(labels.codes, labels.classes, labels.weights, _class_weights(labels, class_weight))


def check_classes(classes: Sequence[Category]) -> tuple[Category, ...]:
    """Return class labels as plain Python values; repeated labels and other types are refused."""
    plain = tuple(entry.item() if isinstance(entry, np.generic) else entry for entry in classes)
    if len(set(plain)) < len(plain) or not all(isinstance(entry, str | int | float) for entry in plain):
        raise ValueError(f"classes are {list(plain)}; expected text, numbers or booleans, each once")
    return plain


def check_weights(weights: WeightsLike, n_samples: int) -> FloatArray:
    """Return sample weights as an array: one for each sample, none negative, not all zero."""
    values = _nonnegative_weights(weights, n_samples)
    if not values.any():
        raise ArgumentError("sample_weight", Verbatim("zero for every row"), "some weight must be more than zero")
    if not MIN_TOTAL <= values.sum() <= MAX_TOTAL:
        raise ArgumentError(
            "sample_weight",
            Verbatim(f"{values.sum():g} in total"),
            f"it must lie between {MIN_TOTAL:g} and {MAX_TOTAL:g}",
            remedy="rescale the weights",
        )
    return values


def _nonnegative_weights(weights: WeightsLike, n_samples: int) -> FloatArray:
    given = np.asarray(weights)
    values = check_numbers("sample_weight", given.astype(np.float64) if given.dtype == bool else weights)
    if values.ndim == 0:  # as in scikit-learn, one for all
        values = np.full(n_samples, float(values))
    if values.shape != (n_samples,):
        raise ArgumentError(
            "sample_weight",
            Verbatim(f"an array of shape {values.shape}"),
            f"expected one weight for each of {n_samples} rows",
        )
    bad = ~((values >= 0) & np.isfinite(values))
    if bad.any():
        row = int(bad.argmax())
        raise ArgumentError(
            "sample_weight", float(values[row]), "it must be a number >= 0", remedy="0 leaves a row out", row=row
        )
    return values


def _class_weights(labels: Labels, class_weight: ClassWeight) -> tuple[float, ...] | None:
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        weights = labels.weight_by_class
        share = float(weights.sum()) / np.count_nonzero(weights > 0)
        return tuple(share / weight if weight > 0 else 1.0 for weight in weights.tolist())
    if not isinstance(class_weight, Mapping):
        raise ArgumentError("class_weight", class_weight, 'expected None, "balanced", or a number > 0 for each class')
    unknown = [label for label in class_weight if label not in labels.classes]
    if unknown:
        raise ArgumentError("class_weight", unknown[0], f"it is no class; the classes are {list(labels.classes)}")
    return tuple(_single_class_weight(class_weight.get(label, 1.0)) for label in labels.classes)


def _single_class_weight(value: object) -> float:
    number = check_numbers("class_weight", value)
    if number.ndim != 0:
        raise ArgumentError("class_weight", value, "expected one number for a class")
    return float(number)


def _check_class_weights(class_weights: tuple[float, ...], n_classes: int) -> tuple[float, ...] | None:
    if len(class_weights) != n_classes:
        raise ArgumentError("class_weight", class_weights, f"expected a number for each of {n_classes} classes")
    for value in class_weights:
        if not (MIN_CLASS_WEIGHT <= value <= MAX_CLASS_WEIGHT):
            raise ArgumentError(
                "class_weight",
                value,
                f"it must be a number > 0, from {MIN_CLASS_WEIGHT:g} to {MAX_CLASS_WEIGHT:g}",
                remedy="rescale the class weights",
            )
    return None if all(value == 1.0 for value in class_weights) else tuple(map(float, class_weights))
