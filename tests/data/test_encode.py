"""Encoding: kinds follow from dtypes or from the caller, codes from the features."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hardwood as hw
from hardwood import RobustTreeClassifier
from hardwood.data.feature import Kind
from hardwood.data.labels import Labels


def survey():
    return {
        "age": [34, 51, 28],
        "income": [1200.5, 3100.0, 900.25],
        "smoker": [True, False, True],
        "city": ["Rome", "Oslo", "Rome"],
    }


def with_grades(frame_library):
    if frame_library is pd:
        grade = pd.Categorical(["good", "poor", "good"], categories=["poor", "fair", "good"], ordered=True)
        return pd.DataFrame(survey() | {"grade": grade})
    return pl.DataFrame(survey()).with_columns(
        grade=pl.Series(["good", "poor", "good"], dtype=pl.Enum(["poor", "fair", "good"]))
    )


@pytest.mark.parametrize("library", [pd, pl])
def test_dtype_decides_the_kind_and_names_survive(library):
    table = hw.encode(with_grades(library))
    assert table.names == ("age", "income", "smoker", "city", "grade")
    assert [feature.kind for feature in table.features] == ["integer", "binned", "binary", "categorical", "ordinal"]
    assert table.features[4].categories == ("poor", "fair", "good")
    assert table.features[3].categories == ("Oslo", "Rome")
    assert table.values.tolist() == [[34, 1, 1, 1, 2], [51, 2, 0, 0, 0], [28, 0, 1, 1, 2]]
    decoded = [feature.decode(code) for feature, code in zip(table.features, table.values[0], strict=True)]
    assert decoded == [34, "(900.25, 1200.5]", True, "Rome", "good"]


@pytest.mark.parametrize("container", [pa.table, pl.DataFrame, dict])
def test_other_containers_are_read_the_same(container):
    table, expected = hw.encode(container(survey())), hw.encode(pd.DataFrame(survey()))
    assert table.features == expected.features
    assert table.values.tolist() == expected.values.tolist()


@pytest.mark.parametrize(
    ("array", "kind"),
    [
        (np.array([[1], [2]], dtype=np.uint8), "integer"),
        (np.array([[1.0], [2.5]], dtype=np.float32), "binned"),
        (np.array([[1.0], [2.0]], dtype=np.float32), "integer"),
        (np.array([[1.0], [500.0]]), "binned"),
        (np.array([[True], [False]]), "binary"),
        (np.array([["a"], ["b"]]), "categorical"),
        (np.array([[1], [2]], dtype=object), "integer"),
        (np.array([["a"], ["b"]], dtype=object), "categorical"),
    ],
)
def test_numpy_arrays_have_numbered_columns_and_kinds_by_dtype(array, kind):
    (feature,) = hw.encode(array).features
    assert (feature.name, feature.kind) == ("x0", kind)


def test_kinds_override_the_dtype_by_name():
    frame = pd.DataFrame(
        {
            "zero_one": [0, 1, 1],
            "whole": [1.0, 5.0, 3.0],
            "code": [10, 30, 20],
            "rank": [10, 30, 20],
            "size": ["S", "L", "M"],
            "count": [1, 2, 9],
        }
    )
    table = hw.encode(
        frame,
        kinds={
            "zero_one": "binary",
            "whole": "integer",
            "code": "categorical",
            "rank": Kind.ORDINAL,
            "size": ["S", "M", "L", "XL"],
            "count": "binned",
        },
    )
    assert [str(feature.kind) for feature in table.features] == [
        "binary",
        "integer",
        "categorical",
        "ordinal",
        "ordinal",
        "binned",
    ]
    assert table.features[4].categories == ("S", "M", "L", "XL")
    assert table.features[5].edges == (1.0, 2.0)
    assert table.values[:, 4].tolist() == [0, 2, 1]
    assert table.values[:, 3].tolist() == [0, 2, 1]


def test_a_series_of_kinds_is_matched_by_name():
    kinds = pd.Series({"b": "ordinal", "a": "binned"})
    assert [f.kind for f in hw.encode({"a": [1, 2], "b": [3, 4]}, kinds=kinds).features] == ["binned", "ordinal"]


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"a": "integer"}, r'column "a", row 1 is 2.5; an integer column needs whole numbers.*"binned"'),
        ({"a": "binary"}, r'kinds\["a"\] is "binary"; the column has 3 values'),
        ({"a": "numeric"}, r'kinds\["a"\] is \'numeric\'; expected "integer", "ordinal"'),
        ({"b": "integer"}, r'column "b", row 0 is \'x\'; expected a number'),
        (
            {"b": "ordinal"},
            r'"ordinal"; its values are text without an order.*kinds=\{"b": \["x", "y", "z"\]\}',
        ),
        ({"b": ["x", "y"]}, r'column "b", row 2 is \'z\', which is not one of its known values'),
        ({"b": ["x", "y", "z", "x"]}, r'column "b" names a category twice'),
        (
            {"c": "integer"},
            r'kinds\["c"\] is .*; the table has no such column; it has \[\'a\', \'b\'\]',
        ),
        (["integer"], "kinds is a list of 1; the table has 2 columns"),
    ],
)
def test_kinds_that_do_not_fit_are_refused(kinds, message):
    with pytest.raises(ValueError, match=message):
        hw.encode(pd.DataFrame({"a": [1.0, 2.5, 3.0], "b": ["x", "y", "z"]}), kinds=kinds)


@pytest.mark.parametrize("requested", [5, int, {"x", "y"}, [], b"integer"])
def test_a_kind_of_the_wrong_type_is_refused(requested):
    with pytest.raises(ValueError, match=r'kinds\["a"\] is .*; expected "integer"'):
        hw.encode({"a": ["x", "y"]}, kinds={"a": requested})


def test_a_binary_column_of_zeros_still_has_the_value_one():
    assert hw.encode(np.zeros((3, 1), dtype=int), kinds="binary").features[0].categories == (0, 1)
    assert hw.encode(np.zeros((3, 1), dtype=bool)).features[0].categories == (False, True)


def test_another_table_is_read_with_the_features_of_the_first():
    first = hw.encode(pd.DataFrame(survey()))
    other = pd.DataFrame({"city": ["Oslo"], "smoker": [False], "age": [99], "income": [5000.0], "extra": ["ignored"]})
    assert hw.encode(other, features=first.features).values.tolist() == [[99, 2, 0, 0]]
    with pytest.raises(ValueError, match=r"lacks the columns \['age', 'income'\]"):
        hw.encode(other[["city", "smoker"]], features=first.features)
    with pytest.raises(ValueError, match=r'column "city", row 0 is \'Bern\', which is not one of its known values'):
        hw.encode(other.assign(city="Bern"), features=first.features)


def test_encoding_does_not_change_the_callers_data():
    array = np.asfortranarray(np.array([[3, 1], [2, 5]], dtype=np.int32))
    before = array.copy()
    table = hw.encode(array)
    assert (array == before).all()
    assert array.flags.writeable
    array[0, 0] = 77
    assert table.values[0, 0] == 3
    with pytest.raises(ValueError, match="read-only"):
        table.values[0, 0] = 1
    frame = with_grades(pd)
    copy = frame.copy(deep=True)
    hw.encode(frame)
    pd.testing.assert_frame_equal(frame, copy)
    codes = np.array([0, 1], dtype=np.int32)
    Labels(codes, ("a", "b"))
    assert codes.flags.writeable


def test_whole_floats_are_integers_and_later_fractions_are_compared_exactly():
    X = np.repeat([[1.0], [2.0], [3.0], [4.0]], 10, axis=0)
    model = RobustTreeClassifier(1, plausibility=1.0).fit(X, X[:, 0] > 2)
    assert str(model.tree_).startswith("x0 <= 2?")
    assert model.predict([[1.5], [2.0], [2.5], [9.0]]).tolist() == [False, False, True, True]
