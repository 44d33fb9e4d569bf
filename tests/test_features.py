import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hardwood as hw
from hardwood.data.features import Feature, Kind, Table
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
    table, wanted = hw.encode(container(survey())), hw.encode(pd.DataFrame(survey()))
    assert table.features == wanted.features
    assert table.values.tolist() == wanted.values.tolist()


def test_columns_of_a_mapping_must_be_equally_long():
    with pytest.raises(ValueError, match=r'column "b" has shape \(1,\); .*as many as column "a"'):
        hw.encode({"a": [1, 2], "b": [1]})
    with pytest.raises(ValueError, match=r'column "a" has shape \(2, 1\)'):
        hw.encode({"a": np.array([[1], [2]])})


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


def test_a_binary_column_of_zeros_still_has_the_answer_one():
    assert hw.encode(np.zeros((3, 1), dtype=int), kinds="binary").features[0].categories == (0, 1)
    assert hw.encode(np.zeros((3, 1), dtype=bool)).features[0].categories == (False, True)


@pytest.mark.parametrize("max_bins", [1, 2, 7, 10, 1000])
def test_floats_are_cut_at_quantiles_into_ordered_bins(max_bins):
    numbers = np.random.default_rng(0).normal(size=500)
    table = hw.encode(numbers.reshape(-1, 1), max_bins=max_bins)
    codes = table.values[:, 0]
    feature = table.features[0]
    assert feature.n_values == len(np.unique(codes)) == min(max_bins, 500)
    assert (np.diff(codes[np.argsort(numbers)]) >= 0).all()
    counts = np.bincount(codes)
    assert counts.max() - counts.min() <= 1 + (max_bins == 7)
    for edge_below, edge, k in zip((-np.inf, *feature.edges), (*feature.edges, np.inf), range(10**6), strict=False):
        assert ((edge_below < numbers) & (numbers <= edge) == (codes == k)).all()


def test_repeated_numbers_give_fewer_bins():
    (feature,) = hw.encode(np.array([[0.5]] * 98 + [[1.0], [2.0]]), max_bins=2).features
    assert feature.edges == (0.5,)
    (feature,) = hw.encode(np.full((5, 1), 2.5)).features
    assert (feature.n_values, feature.decode(0)) == (1, "any number")


def test_another_table_is_read_with_the_features_of_the_first():
    first = hw.encode(pd.DataFrame(survey()))
    other = pd.DataFrame({"city": ["Oslo"], "smoker": [False], "age": [99], "income": [5000.0], "extra": ["ignored"]})
    assert hw.encode(other, features=first.features).values.tolist() == [[99, 2, 0, 0]]
    with pytest.raises(ValueError, match=r"lacks the columns \['age', 'income'\]"):
        hw.encode(other[["city", "smoker"]], features=first.features)
    with pytest.raises(ValueError, match=r'column "city", row 0 is \'Bern\', which is none of its known answers'):
        hw.encode(other.assign(city="Bern"), features=first.features)


def test_the_callers_data_stay_as_they_were():
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


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({"a": [1.0, float("nan")]}, ValueError, r'column "a", row 1 is missing.*drop such rows'),
        ({"a": ["x", None]}, ValueError, r'column "a", row 1 is missing'),
        ({"a": [1.0, float("inf")]}, ValueError, r'column "a", row 1 is infinite'),
        ({"a": []}, ValueError, "the table has no rows"),
        ({}, ValueError, "the table has no (rows|columns)"),
        ({"a": [1, 2**40]}, ValueError, r'column "a", row 1 is 1099511627776; an integer column must stay within'),
        (
            {"a": pd.to_datetime(["2024-01-01", "2024-01-02"])},
            TypeError,
            r'column "a" has dtype Datetime.*expected numbers',
        ),
        ({"a": ["x", "y", 3]}, ValueError, r'column "a", row 2 is 3; the column mixes text and numbers'),
        ({"a": [(1, 2), (3, 4)]}, TypeError, r'column "a", row 0 is a tuple'),
    ],
)
def test_bad_tables_are_refused_with_place_and_remedy(data, error, message):
    with pytest.raises(error, match=message):
        hw.encode(pd.DataFrame(data))


def test_bad_polars_tables_are_refused_too():
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
    with pytest.raises(ValueError, match='"1" stands twice'):
        hw.encode(pd.DataFrame({1: [1], "1": [2]}))


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"a": "integer"}, r'column "a", row 1 is 2.5; an integer column needs whole numbers.*"binned"'),
        ({"a": "binary"}, r'kinds\["a"\] is "binary"; the column has 3 answers'),
        ({"a": "numeric"}, r'kinds\["a"\] is \'numeric\'; expected "integer", "ordinal"'),
        ({"b": "integer"}, r'column "b", row 0 is \'x\'; expected a number'),
        (
            {"b": "ordinal"},
            r'"ordinal"; its answers are text without an order.*kinds=\{"b": \["x", "y", "z"\]\}',
        ),
        ({"b": ["x", "y"]}, r'column "b", row 2 is \'z\', which is none of its known answers'),
        ({"b": ["x", "y", "z", "x"]}, r'column "b" names a category twice'),
        (
            {"c": "integer"},
            r'kinds\["c"\] is .*; the table has no such column; it has \[\'a\', \'b\'\]',
        ),
        (["integer"], "kinds is a list of 1; the table has 2 columns"),
    ],
)
def test_impossible_kinds_are_refused(kinds, message):
    with pytest.raises(ValueError, match=message):
        hw.encode(pd.DataFrame({"a": [1.0, 2.5, 3.0], "b": ["x", "y", "z"]}), kinds=kinds)


def test_max_bins_must_be_a_positive_whole_number():
    with pytest.raises(ValueError, match="max_bins is 0; it must be a whole number >= 1"):
        hw.encode(np.array([[1.0]]), max_bins=0)


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
        ({1: [1], "1": [2]}, ValueError, '"1" stands twice'),
        (np.ma.array([[1], [999]], mask=[[0], [1]]), ValueError, r'column "x0", row 1 is missing'),
        ([["x", 1.0], ["y", float("nan")]], ValueError, r'column "x1", row 1 is missing'),
        ([], ValueError, "no rows"),
        ([[1, 2], [3]], ValueError, "rows of equal length"),
        (np.array([[1j]]), TypeError, r'column "x0" has dtype complex128'),
        (pd.Series([1, 2]), TypeError, "make a frame of a series"),
        (pd.DataFrame({"a": pd.Categorical([1], categories=[1, "x"])}), ValueError, "categories of a.* mixes"),
    ],
)
def test_nothing_missing_or_mixed_slips_through_as_text(X, error, message):
    with pytest.raises(error, match=message):
        hw.encode(X)


def test_each_column_of_a_list_of_rows_keeps_its_own_type():
    table = hw.encode([["x", 1, 1.5], ["y", 2, 2.5]])
    assert [feature.kind for feature in table.features] == ["categorical", "integer", "binned"]


def test_declared_categories_survive_in_mappings_too():
    answers = pd.Categorical(["lo", "hi"], ["lo", "mid", "hi"], ordered=True)
    for column in (answers, pd.Series(answers), pl.Series(["lo", "hi"], dtype=pl.Enum(["lo", "mid", "hi"]))):
        (feature,) = hw.encode({"a": column}).features
        assert (feature.kind, feature.categories) == ("ordinal", ("lo", "mid", "hi"))


def test_a_series_of_kinds_is_matched_by_name():
    kinds = pd.Series({"b": "ordinal", "a": "binned"})
    assert [f.kind for f in hw.encode({"a": [1, 2], "b": [3, 4]}, kinds=kinds).features] == ["binned", "ordinal"]


def test_bins_are_named_in_full():
    (feature,) = hw.encode(np.array([[1000000.1], [1000000.2], [1000000.3]])).features
    assert [feature.decode(k) for k in range(3)] == ["<= 1000000.1", "(1000000.1, 1000000.2]", "> 1000000.2"]


@pytest.mark.parametrize("wish", [5, int, {"x", "y"}, [], b"integer"])
def test_a_kind_of_the_wrong_type_is_refused(wish):
    with pytest.raises(ValueError, match=r'kinds\["a"\] is .*; expected "integer"'):
        hw.encode({"a": ["x", "y"]}, kinds={"a": wish})


def test_tables_and_labels_keep_their_values_whatever_happens_to_the_array():
    feature = Feature("a", Kind.CATEGORICAL, 0, 1, ("x", "y"))
    array = np.zeros((2, 1), dtype=np.int32, order="F")
    view = array.view()
    view.flags.writeable = False
    codes = np.zeros(2, dtype=np.int32)
    tables, labels = [Table((feature,), array), Table((feature,), view)], Labels(codes, ("a", "b"))
    array[0, 0] = codes[0] = 10**6
    assert [table.values.max() for table in tables] == [0, 0]
    assert labels.codes.max() == 0


@pytest.mark.parametrize("values", [[[2**32 + 1]], [[0.7]], [[float("nan")]]])
def test_codes_are_never_cast_in_silence(values):
    with pytest.raises(ValueError, match="expected whole numbers within"):
        Table((Feature("a", Kind.INTEGER, 0, 1),), np.array(values))


def test_classes_are_plain_and_differ():
    labels = hw.encode_labels([3, 5], 2, classes=np.array([3, 5]))
    assert [type(entry) for entry in labels.classes] == [int, int]
    with pytest.raises(ValueError, match=r"classes are \[0, 1, 1\]; expected text, numbers or booleans, each once"):
        hw.encode_labels([0, 1], 2, classes=(0, 1, 1))


def test_value_objects_refuse_nonsense():
    feature = Feature("a", Kind.ORDINAL, 0, 1, ("x", "y"))
    with pytest.raises(ValueError, match='column "a", row 0 has code 2; expected 0 to 1'):
        Table((feature,), np.array([[2]], dtype=np.int32))
    with pytest.raises(ValueError, match="expected samples by 1 features"):
        Table((feature,), np.zeros((2, 2), dtype=np.int32))
    with pytest.raises(ValueError, match="expected 0 to 1, one for each category"):
        Feature("a", Kind.ORDINAL, 0, 2, ("x", "y"))
    with pytest.raises(ValueError, match="binary but has 3"):
        Feature("a", Kind.BINARY, 0, 2, ("x", "y", "z"))
    with pytest.raises(ValueError, match="must be finite and ascend"):
        Feature("a", Kind.BINNED, 0, 2, edges=(2.0, 1.0))
    with pytest.raises(ValueError, match=r"values up to 2; expected one dimension and values from 0 to 1"):
        Labels(np.array([0, 2]), ("a", "b"))


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
def test_arrow_text_of_every_kind_is_read(column):
    pa = pytest.importorskip("pyarrow")
    table = hw.encode(pa.table({"x": column(pa)}))
    assert (table.features[0].categories, table.values.ravel().tolist()) == (("a", "b", "c"), [1, 0, 1, 2])


def test_arrow_dictionaries_of_numbers_stay_numbers():
    pa = pytest.importorskip("pyarrow")
    table = hw.encode(pa.table({"x": pa.array([3, 1, 3]).dictionary_encode()}))
    assert (table.features[0].categories, table.values.ravel().tolist()) == ((1, 3), [1, 0, 1])


@pytest.mark.parametrize("labels", [[2**63 + 1, 2**63 + 2], [2**63 + 2, 2**63 + 1, 2**64 - 1]])
def test_labels_may_be_the_largest_numbers(labels):
    encoded = hw.encode_labels(np.array(labels, dtype=np.uint64), len(labels))
    assert [encoded.classes[code] for code in encoded.codes] == labels
