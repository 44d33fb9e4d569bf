"""Missing codes: values such as "?" or -9 are read as missing wherever a table is read."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import hardwood as hw
from hardwood import RobustTreeClassifier
from hardwood.data.codes import MISSING_CODE
from hardwood.data.missing_codes import read_coded_columns
from hardwood.estimators.base import CodesWarning
from tests.surveys import coded_survey

FORMS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "mapping": lambda frame: {name: frame[name].tolist() for name in frame},
    "rows": lambda frame: frame.to_numpy(dtype=object).tolist(),
}


@pytest.mark.parametrize("form", FORMS)
def test_missing_codes_are_missing_and_the_rest_are_numbers(form):
    frame, _ = coded_survey()
    table = hw.encode(FORMS[form](frame), missing="category", missing_values=["?", -9])
    age, education, _, trust = table.features
    assert (str(age.kind), age.missing) == ("integer", True)
    assert np.flatnonzero(table.values[:, 0] == MISSING_CODE).tolist() == [3, 17, 40]
    assert "?" not in education.categories
    assert "(missing)" in education.categories
    assert (trust.low, trust.missing) == (1, True)


def test_missing_codes_may_be_given_by_column():
    frame, _ = coded_survey()
    table = hw.encode(frame, missing="category", missing_values={"age": "?", ...: []})
    assert str(table.features[0].kind) == "integer"
    assert "?" in table.features[1].categories
    assert table.features[3].low == -9


def test_an_object_column_may_mix_numbers_and_missing_codes():
    columns = read_coded_columns({"a": [3, "?", 5, None, 4.5]}, "category", "?")
    assert columns[0].is_missing.tolist() == [False, True, False, True, False]
    assert columns[0].values[[0, 2, 4]].tolist() == [3, 5, 4.5]


def test_true_is_not_equal_to_a_missing_code_of_one():
    (column,) = read_coded_columns({"a": [True, False, True]}, "category", [1, "?"])
    assert column.is_missing is None
    (column,) = read_coded_columns({"a": pd.Series([True, False, "?"], dtype=object)}, "category", [1, "?"])
    assert column.is_missing.tolist() == [False, False, True]


def test_missing_codes_in_ordered_categories_are_missing():
    ordered = pd.Categorical(["low", "dk", "high"], categories=["low", "high", "dk"], ordered=True)
    (column,) = read_coded_columns(pd.DataFrame({"a": ordered}), "category", "dk")
    assert column.categories == ("low", "high")
    assert column.is_missing.tolist() == [False, True, False]


def test_missing_codes_are_refused_where_values_must_not_be_missing():
    frame, y = coded_survey()
    with pytest.raises(ValueError, match=r'column "age", row 3 is missing \(NaN\), as in 2 other rows'):
        RobustTreeClassifier(1, missing_values="?").fit(frame, y)


def test_the_meaning_of_a_column_does_not_depend_on_codes_in_later_tables(tmp_path):
    frame, y = coded_survey()
    model = RobustTreeClassifier(2, missing="category", missing_values=["?", -9]).fit(frame, y)
    later = frame.drop(index=[3, 17, 40, 5, 6, 8])
    assert (model.predict(later) == model.predict(frame)[later.index]).all()
    model.save(tmp_path / "model.json")
    again = RobustTreeClassifier.load(tmp_path / "model.json")
    assert again.missing_values == ["?", -9]
    assert (again.predict(frame) == model.predict(frame)).all()
    assert hw.check(model.certificate_, frame, y, missing_values=["?", -9]).confirmed
    assert hw.audit(model.tree_, frame, y, missing_values=["?", -9]).n_samples == len(frame)


def test_text_that_looks_like_numbers_with_missing_codes_gives_a_warning():
    frame, y = coded_survey()
    with pytest.warns(CodesWarning, match=r'"age" holds numbers and 3 x \'\?\'.*give missing_values="\?"'):
        RobustTreeClassifier(1).fit(frame[["age"]], y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # other text and complete numbers give no warning
        RobustTreeClassifier(1).fit(frame[["education"]], y)
        RobustTreeClassifier(1).fit(frame[["age"]].replace("?", "50"), y)


@pytest.mark.parametrize("codes", [np.array([-9]), np.int64(-9), pd.Series([-9]), "-9", {-9}])
def test_missing_codes_of_every_type_are_found(codes, tmp_path):
    X, y = pd.DataFrame({"age": [30, -9, 50, 60] * 10}), [0, 1, 1, 0] * 10
    model = RobustTreeClassifier(1, missing="category", missing_values=codes).fit(X, y)
    assert (model.tree_.features[0].low, model.tree_.features[0].missing) == (30, True)
    model.save(tmp_path / "model.json")
    assert (RobustTreeClassifier.load(tmp_path / "model.json").predict(X) == model.predict(X)).all()


def test_missing_codes_in_32_bits_are_found():
    (column,) = read_coded_columns({"a": np.array([1.5, 99.9], dtype=np.float32)}, "category", 99.9)
    assert column.is_missing.tolist() == [False, True]


def test_a_missing_code_has_no_rank_whether_it_occurs_or_not():
    order = ["low", "refused", "mid", "high"]
    for values in (["low", "mid", "high"], ["low", "refused", "high"]):
        frame = pd.DataFrame({"a": pd.Categorical(values, categories=order, ordered=True)})
        assert hw.encode(frame, missing="category", missing_values="refused").features[0].categories == (
            "low",
            "mid",
            "high",
        )


def test_the_recorded_text_missing_is_a_value():
    table = hw.encode({"t": ["(missing)", "1", "2"] * 4}, missing="category", missing_values="?")
    assert str(table.features[0].kind) == "categorical"


def test_missing_codes_apply_wherever_a_classifier_reads_a_table():
    from hardwood.evaluation import simulate_shifts

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 80, 300)})
    X.loc[::6, "age"] = -9
    y = np.where(X["age"] < 0, 0, (X["age"] < 45) * 1)
    model = RobustTreeClassifier(1, missing="category", missing_values=-9, certainty=0.95).fit(X, y)
    assert (model.to_sklearn().predict(model.design_matrix(X)) == model.predict(X)).all()
    drawn = simulate_shifts([model.tree_], X, y, model.shifts_, n_tables=300, missing_values=-9)
    assert drawn.mean() == pytest.approx(hw.expected_accuracy(model, X, y), abs=0.01)
    assert hw.harden(model.tree_, X, y, missing_values=-9, certainty=0.95).proved
