"""Labels: classes as codes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import hardwood as hw


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        (["no", "yes", "no"], ("no", "yes"), [0, 1, 0]),
        (np.array([5, 3, 5]), (3, 5), [1, 0, 1]),
        (pd.Series([True, False, True]), (False, True), [1, 0, 1]),
        (pl.Series(["b", "a", "b"]), ("a", "b"), [1, 0, 1]),
        (pd.Series(["hi", "lo", "hi"], dtype="category"), ("hi", "lo"), [0, 1, 0]),
    ],
)
def test_labels_are_coded_by_sorted_classes(y, classes, codes):
    labels = hw.encode_labels(y, 3)
    assert (labels.classes, labels.codes.tolist()) == (classes, codes)


@pytest.mark.parametrize("labels", [[2**63 + 1, 2**63 + 2], [2**63 + 2, 2**63 + 1, 2**64 - 1]])
def test_labels_may_be_the_largest_integers(labels):
    encoded = hw.encode_labels(np.array(labels, dtype=np.uint64), len(labels))
    assert [encoded.classes[code] for code in encoded.codes] == labels


def test_classes_are_plain_values_and_differ():
    labels = hw.encode_labels([3, 5], 2, classes=np.array([3, 5]))
    assert [type(entry) for entry in labels.classes] == [int, int]
    with pytest.raises(ValueError, match=r"classes are \[0, 1, 1\]; expected text, numbers or booleans, each once"):
        hw.encode_labels([0, 1], 2, classes=(0, 1, 1))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 2], "y has 2 labels but the table has 3 rows"),
        ([1.0, float("nan"), 2.0], r"y, row 1 is missing"),
        (["a", None, "b"], r"y, row 1 is missing"),
        (np.array([[1], [2], [3]]), r"y has shape \(3, 1\)"),
    ],
)
def test_bad_labels_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        hw.encode_labels(y, 3)
