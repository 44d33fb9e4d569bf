"""Who the rows of a table are: the class of each, how many people it stands for, and what these are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardwood._support.arguments import numbers_of
from hardwood._support.errors import ArgumentError, Said
from hardwood.data.columns import n_rows, read_column, refuse_missing_labels, rows_of
from hardwood.data.features import Category, IntArray, frozen, plain_classes, positions, sorted_distinct, whole_codes

FloatArray = NDArray[np.float64]
SMALLEST_TOTAL, LARGEST_TOTAL = 1e-100, 2.0**53  # beyond, doubles do not count


@dataclass(frozen=True, slots=True)
class Labels:
    """The class of every row as a position in `classes`, the people that it stands for, and what a class is worth.

    weights  how many people each row stands for; None: one each
    worth    by class, what it is worth to be right about one person; None: one
    """

    codes: IntArray
    classes: tuple[Category, ...]
    weights: FloatArray | None = None
    worth: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        codes = whole_codes("codes", self.codes, "C")
        object.__setattr__(self, "classes", plain_classes(self.classes))
        if codes.ndim != 1 or (codes.size and not 0 <= codes.min() <= codes.max() < len(self.classes)):
            raise ValueError(
                f"codes have {codes.ndim} dimensions and values up to {codes.max(initial=0)}; "
                f"expected one dimension and values from 0 to {len(self.classes) - 1}"
            )
        object.__setattr__(self, "codes", codes)
        if self.weights is not None:
            weights = _checked_numbers(self.weights, len(codes))
            object.__setattr__(self, "weights", None if (weights == 1.0).all() else frozen(weights))
        if self.worth is not None:
            object.__setattr__(self, "worth", _checked_worth(self.worth, len(self.classes)))

    @property
    def whole(self) -> bool:
        """Whether every row stands for a whole number of people."""
        return self.weights is None or bool((self.weights == np.floor(self.weights)).all())

    @property
    def counted(self) -> bool:
        """Whether people are counted one by one: rows are whole numbers of people, each of whom is worth one.

        Otherwise the last row may be lost in part.
        """
        return self.whole and self.worth is None

    @property
    def row_people(self) -> FloatArray:
        """How many people each row stands for."""
        return np.broadcast_to(np.ones(1), self.codes.shape) if self.weights is None else self.weights

    @property
    def row_worth(self) -> FloatArray:
        """What one of the people of each row is worth."""
        return np.broadcast_to(np.ones(1), self.codes.shape) if self.worth is None else np.array(self.worth)[self.codes]

    @property
    def people(self) -> float:
        """How many people all rows stand for; a whole number if each row does for one."""
        return self._total(self.row_people, self.whole)

    @property
    def total(self) -> float:
        """What all of them are worth together; their number if each is worth one."""
        return self._total(self.row_people * self.row_worth, self.counted)

    def worth_of(self, chosen: NDArray[np.bool_]) -> float:
        """What some of the rows are worth together."""
        return self._total((self.row_people * self.row_worth)[chosen], self.counted)

    @staticmethod
    def _total(amounts: FloatArray, whole: bool) -> float:
        total = float(amounts.sum())
        return int(total) if whole else total

    @property
    def class_people(self) -> FloatArray:
        """People by class."""
        return np.bincount(self.codes, weights=self.row_people, minlength=len(self.classes)).astype(np.float64)

    def rows(self, chosen: NDArray[np.integer[Any]]) -> Labels:
        """The same for some of the rows."""
        weights = None if self.weights is None else self.weights[chosen]
        return Labels(self.codes[chosen], self.classes, weights, self.worth)


def encode_labels(
    y: ArrayLike,
    n_samples: int,
    *,
    classes: Sequence[Category] | None = None,
    weights: Any = None,
    class_weight: Any = None,
) -> Labels:
    """The classes of the samples, sorted unless `classes` gives them.

    weights       how many people each sample stands for, a number >= 0 for each; None: one each
    class_weight  what a class is worth: None (one), "balanced" (all classes as much as each other), or a mapping from
                  classes to numbers > 0; classes that it leaves out are worth one
    """
    refuse_missing_labels(y)
    column = read_column("y", y)
    if column.values.ndim != 1:
        raise ValueError(f"y has shape {column.values.shape}; expected one label for each sample")
    if len(column.values) != n_samples:
        raise ValueError(f"y has {len(column.values)} labels but the table has {n_samples} rows; expected as many")
    classes = sorted_distinct(column) if classes is None else plain_classes(classes)
    own = None if weights is None else checked_weights(weights, n_samples)
    return with_worth(Labels(positions(column, classes), classes, own), class_weight)


def with_weight(X: Any, y: Any, weights: Any) -> tuple[Any, Any, Any]:
    """The rows of a caller's table that have a weight, with their labels and weights, before anything is read."""
    if weights is None:
        return X, y, weights
    values = checked_weights(weights, n_rows(X))
    if values.all():
        return X, y, values
    there = values > 0
    return rows_of(X, there), rows_of(y, there), values[there]


def with_worth(labels: Labels, class_weight: Any) -> Labels:
    """The same rows, with classes that are worth what `class_weight` says (see `encode_labels`)."""
    return Labels(labels.codes, labels.classes, labels.weights, _worth(labels, class_weight))


def checked_weights(weights: Any, n_samples: int) -> FloatArray:
    """Weights as an array: one for each sample, none negative, not all zero."""
    values = _checked_numbers(weights, n_samples)
    if not values.any():
        raise ArgumentError("sample_weight", Said("zero for every row"), "some weight must be more than zero")
    if not SMALLEST_TOTAL <= values.sum() <= LARGEST_TOTAL:
        raise ArgumentError(
            "sample_weight",
            Said(f"{values.sum():g} in total"),
            f"it must lie between {SMALLEST_TOTAL:g} and {LARGEST_TOTAL:g}",
            remedy="rescale the weights",
        )
    return values


def _checked_numbers(weights: Any, n_samples: int) -> FloatArray:
    given = np.asarray(weights)
    values = numbers_of("sample_weight", given.astype(np.float64) if given.dtype == bool else weights)
    if values.ndim == 0:  # as in scikit-learn, one for all
        values = np.full(n_samples, float(values))
    if values.shape != (n_samples,):
        raise ArgumentError(
            "sample_weight",
            Said(f"an array of shape {values.shape}"),
            f"expected one weight for each of {n_samples} rows",
        )
    bad = ~((values >= 0) & np.isfinite(values))
    if bad.any():
        row = int(bad.argmax())
        raise ArgumentError(
            "sample_weight", float(values[row]), "it must be a number >= 0", remedy="0 leaves a row out", row=row
        )
    return values


def _worth(labels: Labels, class_weight: Any) -> tuple[float, ...] | None:
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        people = labels.class_people
        present = people > 0
        share = float(people.sum()) / np.count_nonzero(present)
        return tuple(share / own if own > 0 else 1.0 for own in people.tolist())
    if not isinstance(class_weight, Mapping):
        raise ArgumentError("class_weight", class_weight, 'expected None, "balanced", or a number > 0 for each class')
    unknown = [label for label in class_weight if label not in labels.classes]
    if unknown:
        raise ArgumentError("class_weight", unknown[0], f"it is no class; the classes are {list(labels.classes)}")
    return tuple(_single_worth(class_weight.get(label, 1.0)) for label in labels.classes)


def _single_worth(value: Any) -> float:
    worth = numbers_of("class_weight", value)
    if worth.ndim != 0:
        raise ArgumentError("class_weight", value, "expected one number for a class")
    return float(worth)


def _checked_worth(worth: tuple[float, ...], n_classes: int) -> tuple[float, ...] | None:
    if len(worth) != n_classes:
        raise ArgumentError("class_weight", worth, f"expected a number for each of {n_classes} classes")
    for value in worth:
        if not (1e-100 <= value <= 1e100):
            raise ArgumentError("class_weight", value, "it must be a number > 0 (and a reasonable one)")
    return None if all(value == 1.0 for value in worth) else tuple(map(float, worth))
