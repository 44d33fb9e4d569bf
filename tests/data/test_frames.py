"""Reading frames, mappings and arrays: what is accepted, and what errors say."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import hardwood as hw


def test_columns_of_a_mapping_must_be_equally_long():
    with pytest.raises(ValueError, match=r'column "b" has shape \(1,\); .*as many as column "a"'):
        hw.encode({"a": [1, 2], "b": [1]})
    with pytest.raises(ValueError, match=r'column "a" has shape \(2, 1\)'):
        hw.encode({"a": np.array([[1], [2]])})


def test_nullable_and_odd_pandas_columns_are_read():
    frame = pd.DataFrame(
        {
            "nullable": pd.array([3, 4], dtype="Int64"),
            "flag": pd.array([True, False], dtype="boolean"),
            "codes": pd.Categorical([20, 10], categories=[30, 20, 10]),
            7: [1, 2],
        },
        index=[5, 5],
    )
    table = hw.encode(frame)
    assert table.names == ("nullable", "flag", "codes", "7")
    assert [feature.kind for feature in table.features] == ["integer", "binary", "categorical", "integer"]
    assert table.features[2].categories == (30, 20, 10)
    assert table.values.tolist() == [[3, 1, 1, 1], [4, 0, 2, 2]]


def test_each_column_of_a_list_of_rows_keeps_its_own_type():
    table = hw.encode([["x", 1, 1.5], ["y", 2, 2.5]])
    assert [feature.kind for feature in table.features] == ["categorical", "integer", "binned"]


def test_declared_categories_survive_in_mappings_too():
    ordered = pd.Categorical(["lo", "hi"], ["lo", "mid", "hi"], ordered=True)
    for column in (ordered, pd.Series(ordered), pl.Series(["lo", "hi"], dtype=pl.Enum(["lo", "mid", "hi"]))):
        (feature,) = hw.encode({"a": column}).features
        assert (feature.kind, feature.categories) == ("ordinal", ("lo", "mid", "hi"))


TEXTS = ["b", "a", "b", "c"]


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(lambda pa: pa.array(TEXTS), id="text"),
        pytest.param(lambda pa: pa.array(TEXTS, pa.large_string()), id="large text"),
        pytest.param(lambda pa: pa.array(TEXTS).cast(pa.string_view()), id="text view"),
        pytest.param(lambda pa: pa.array(TEXTS).dictionary_encode(), id="dictionary"),
    ],
)
def test_arrow_text_of_every_type_is_read(column):
    pa = pytest.importorskip("pyarrow")
    table = hw.encode(pa.table({"x": column(pa)}))
    assert (table.features[0].categories, table.values.ravel().tolist()) == (("a", "b", "c"), [1, 0, 1, 2])


def test_arrow_dictionaries_of_numbers_stay_numbers():
    pa = pytest.importorskip("pyarrow")
    table = hw.encode(pa.table({"x": pa.array([3, 1, 3]).dictionary_encode()}))
    assert (table.features[0].categories, table.values.ravel().tolist()) == ((1, 3), [1, 0, 1])


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({"a": [1.0, float("nan")]}, ValueError, r'column "a", row 1 is missing.*drop such rows'),
        ({"a": ["x", None]}, ValueError, r'column "a", row 1 is missing'),
        ({"a": [1.0, float("inf")]}, ValueError, r'column "a", row 1 is infinite'),
        ({"a": []}, ValueError, "the table has no rows"),
        ({}, ValueError, "the table has no (rows|columns)"),
        (
            {"a": pd.to_datetime(["2024-01-01", "2024-01-02"])},
            TypeError,
            r'column "a" has dtype Datetime.*expected numbers',
        ),
        ({"a": ["x", "y", 3]}, ValueError, r'column "a", row 2 is 3; the column mixes text and numbers'),
        ({"a": [(1, 2), (3, 4)]}, TypeError, r'column "a", row 0 is a tuple'),
    ],
)
def test_errors_about_tables_name_place_and_remedy(data, error, message):
    with pytest.raises(error, match=message):
        hw.encode(pd.DataFrame(data))


def test_integers_must_stay_within_the_range_of_codes():
    with pytest.raises(ValueError, match=r'column "a", row 1 is 1099511627776; an integer column must stay within'):
        hw.encode(pd.DataFrame({"a": [1, 2**40]}), kinds={"a": "integer"})


def test_whole_numbers_on_a_long_scale_are_binned():
    ages, incomes = np.arange(101), np.arange(101) * 1000
    for column, kind in [(ages, "integer"), (ages.astype(float), "integer"), (np.append(ages, 101), "binned")]:
        assert hw.encode({"a": column}).features[0].kind == kind
    with_missing = pd.DataFrame({"a": [1.0, 2.0, None], "b": [1.0, 500.0, None]})
    features = hw.encode(with_missing, missing="category").features
    assert [feature.kind for feature in features] == ["integer", "binned"]
    table = hw.encode({"a": incomes, "b": [0, 2**40] * 50 + [1]}, max_bins=4)
    assert [feature.n_values for feature in table.features] == [4, 3]
    assert hw.encode({"a": incomes}, kinds="integer").values.ravel().tolist() == incomes.tolist()


def test_bad_polars_tables_are_refused():
    with pytest.raises(ValueError, match=r'column "a", row 1 is missing'):
        hw.encode(pl.DataFrame({"a": [1.0, float("nan")]}))
    with pytest.raises(ValueError, match=r'column "a", row 0 is missing'):
        hw.encode(pl.DataFrame({"a": [None, 2]}))
    with pytest.raises(TypeError, match="collect a lazy frame first"):
        hw.encode(pl.LazyFrame({"a": [1]}))


def test_bad_arrays_are_refused():
    with pytest.raises(ValueError, match=r"1-dimensional array; expected two dimensions.*reshape\(-1, 1\)"):
        hw.encode(np.arange(3))
    with pytest.raises(ValueError, match="no rows"):
        hw.encode(np.zeros((0, 2)))
    with pytest.raises(ValueError, match="no columns"):
        hw.encode(np.zeros((2, 0)))
    with pytest.raises(ValueError, match=r'column "x1", row 1 is missing'):
        hw.encode(np.array([[1.0, 2.0], [3.0, np.nan]]))
    with pytest.raises(
        TypeError, match="X is a int; expected a numpy array, a pandas, polars or arrow frame, or a mapping"
    ):
        hw.encode(5)


def test_duplicate_column_names_are_refused():
    with pytest.raises(ValueError, match=r"column names must differ[\s\S]*rename the columns"):
        hw.encode(pd.DataFrame(np.zeros((2, 2)), columns=["a", "a"]))
    with pytest.raises(ValueError, match='"1" occurs twice'):
        hw.encode(pd.DataFrame({1: [1], "1": [2]}))


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ({"a": ["x", float("nan")]}, ValueError, r'column "a", row 1 is missing'),
        ({"a": ["x", pd.NA]}, ValueError, r'column "a", row 1 is missing'),
        ({"a": np.array([1, None], dtype=object)}, ValueError, r'column "a", row 1 is missing'),
        ({"a": np.array([1, pd.NaT], dtype=object)}, ValueError, r'column "a", row 1 is missing'),
        ({"a": ["x", 3]}, ValueError, r'column "a", row 0 is \'x\'; the column mixes numbers and text'),
        ({"a": [True, 3]}, ValueError, r'column "a", row 0 is True; the column mixes'),
        ({"a": 5}, TypeError, r'column "a" is 5; expected one value for each row'),
        ({"a": [2**70, 1]}, ValueError, r'column "a", row 0 is 1180591620717411303424; whole numbers must fit'),
        ({1: [1], "1": [2]}, ValueError, '"1" occurs twice'),
        (np.ma.array([[1], [999]], mask=[[0], [1]]), ValueError, r'column "x0", row 1 is missing'),
        ([["x", 1.0], ["y", float("nan")]], ValueError, r'column "x1", row 1 is missing'),
        ([], ValueError, "no rows"),
        ([[1, 2], [3]], ValueError, "rows of equal length"),
        (np.array([[1j]]), TypeError, r'column "x0" has dtype complex128'),
        (pd.Series([1, 2]), TypeError, "make a frame of a series"),
        (pd.DataFrame({"a": pd.Categorical([1], categories=[1, "x"])}), ValueError, "categories of a.* mixes"),
    ],
)
def test_missing_and_mixed_values_are_not_read_as_text(X, error, message):
    with pytest.raises(error, match=message):
        hw.encode(X)


def test_errors_name_the_first_odd_cell_and_count_the_others():
    with pytest.raises(
        ValueError, match=r"row 2 is '\?' \(2 such values\); the column mixes numbers and text.*missing_values"
    ):
        hw.encode({"a": [1, 2, "?", 4, "?", 6]})
    with pytest.raises(ValueError, match=r"row 1 is missing \(NaN\), as in 1 other row;"):
        hw.encode({"a": [1.0, np.nan, np.nan, 3.0]})
    features = hw.encode({"a": ["x", "y"]}).features
    with pytest.raises(ValueError, match=r"row 1 is 'z'.*\(2 rows have unknown values\)"):
        hw.encode({"a": ["x", "z", "w"]}, features=features)
