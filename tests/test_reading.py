"""How a table was read is said, and codes for no answer are known."""

import json
import logging
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning

import hardwood as hw
from hardwood import RobustTreeClassifier
from hardwood.data.codes import read_coded_columns
from hardwood.data.features import NO_ANSWER
from hardwood.estimators.base import CodesWarning
from hardwood.shift.account import accounts_of, reading_lines
from problems import hard_problem, small_table


def survey(n=60, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    frame = pd.DataFrame(
        {
            "age": [str(value) for value in age],
            "education": rng.choice(["low", "middle", "high"], n),
            "children": rng.integers(0, 4, n).astype(float),
            "trust": rng.integers(1, 6, n),
        }
    )
    frame.loc[[3, 17, 40], "age"] = "?"
    frame.loc[[5, 6], "education"] = "?"
    frame.loc[8, "trust"] = -9
    return frame, np.where(age > 45, "right", "left")


FORMS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "mapping": lambda frame: {name: frame[name].tolist() for name in frame},
    "rows": lambda frame: frame.to_numpy(dtype=object).tolist(),
}


@pytest.mark.parametrize("form", FORMS)
def test_codes_are_no_answer_and_what_is_left_are_numbers(form):
    frame, _ = survey()
    table = hw.encode(FORMS[form](frame), missing="category", missing_values=["?", -9])
    age, education, _, trust = table.features
    assert (str(age.kind), age.missing) == ("integer", True)
    assert np.flatnonzero(table.values[:, 0] == NO_ANSWER).tolist() == [3, 17, 40]
    assert "?" not in education.categories
    assert "(missing)" in education.categories
    assert (trust.low, trust.missing) == (1, True)


def test_codes_may_be_given_by_column():
    frame, _ = survey()
    table = hw.encode(frame, missing="category", missing_values={"age": "?", ...: []})
    assert str(table.features[0].kind) == "integer"
    assert "?" in table.features[1].categories
    assert table.features[3].low == -9


def test_an_object_column_may_mix_numbers_and_codes():
    columns = read_coded_columns({"a": [3, "?", 5, None, 4.5]}, "category", "?")
    assert columns[0].gone.tolist() == [False, True, False, True, False]
    assert columns[0].values[[0, 2, 4]].tolist() == [3, 5, 4.5]


def test_true_is_no_code_for_one():
    (column,) = read_coded_columns({"a": [True, False, True]}, "category", [1, "?"])
    assert column.gone is None
    (column,) = read_coded_columns({"a": pd.Series([True, False, "?"], dtype=object)}, "category", [1, "?"])
    assert column.gone.tolist() == [False, False, True]


def test_codes_in_ordered_categories_are_no_answer():
    answers = pd.Categorical(["low", "dk", "high"], categories=["low", "high", "dk"], ordered=True)
    (column,) = read_coded_columns(pd.DataFrame({"a": answers}), "category", "dk")
    assert column.categories == ("low", "high")
    assert column.gone.tolist() == [False, True, False]


def test_codes_are_refused_where_nothing_may_be_missing():
    frame, y = survey()
    with pytest.raises(ValueError, match=r'column "age", row 3 is missing \(NaN\), as in 2 other rows'):
        RobustTreeClassifier(1, missing_values="?").fit(frame, y)


def test_what_a_column_means_does_not_depend_on_codes_in_later_tables(tmp_path):
    frame, y = survey()
    model = RobustTreeClassifier(2, missing="category", missing_values=["?", -9]).fit(frame, y)
    later = frame.drop(index=[3, 17, 40, 5, 6, 8])
    assert (model.predict(later) == model.predict(frame)[later.index]).all()
    model.save(tmp_path / "model.json")
    again = RobustTreeClassifier.load(tmp_path / "model.json")
    assert again.missing_values == ["?", -9]
    assert (again.predict(frame) == model.predict(frame)).all()
    assert hw.check(model.certificate_, frame, y, missing_values=["?", -9]).confirmed
    assert hw.audit(model.tree_, frame, y, missing_values=["?", -9]).n_samples == len(frame)


def test_text_that_looks_like_numbers_with_codes_is_pointed_out():
    frame, y = survey()
    with pytest.warns(CodesWarning, match=r'"age" holds numbers and 3 x \'\?\'.*give missing_values="\?"'):
        RobustTreeClassifier(1).fit(frame[["age"]], y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # answers that are no numbers are nothing odd
        RobustTreeClassifier(1).fit(frame[["education"]], y)
        RobustTreeClassifier(1).fit(frame[["age"]].replace("?", "50"), y)


def test_errors_name_the_odd_cells_and_how_many_there_are():
    with pytest.raises(
        ValueError, match=r"row 2 is '\?' \(2 such values\); the column mixes numbers and text.*missing_values"
    ):
        hw.encode({"a": [1, 2, "?", 4, "?", 6]})
    with pytest.raises(ValueError, match=r"row 1 is missing \(NaN\), as in 1 other row;"):
        hw.encode({"a": [1.0, np.nan, np.nan, 3.0]})
    features = hw.encode({"a": ["x", "y"]}).features
    with pytest.raises(ValueError, match=r"row 1 is 'z'.*\(2 rows have such answers\)"):
        hw.encode({"a": ["x", "z", "w"]}, features=features)


def test_whole_floats_are_integers_and_later_fractions_are_compared_as_they_are():
    X = np.repeat([[1.0], [2.0], [3.0], [4.0]], 10, axis=0)
    model = RobustTreeClassifier(1, plausibility=1.0).fit(X, X[:, 0] > 2)
    assert str(model.tree_).startswith("x0 <= 2?")
    assert model.predict([[1.5], [2.0], [2.5], [9.0]]).tolist() == [False, False, True, True]


def test_each_column_has_a_line_and_verbose_logs_them(caplog):
    frame, y = survey()
    model = RobustTreeClassifier(1, certainty={"age": 0.7, ...: 0.9}, missing="category", missing_values=["?", -9])
    model.set_params(verbose=1)
    with caplog.at_level(logging.INFO, logger="hardwood"):
        model.fit(frame, y)
    text = caplog.text
    assert "age" in text
    assert "children: floats that are whole numbers, read as integers" in text
    assert "rows (" in text
    problem, shifts = model.pose(frame, y)
    lines = reading_lines(accounts_of(problem.table, problem.uncertainty, shifts))
    assert len(lines) == 5
    assert lines[1].split()[:2] == ["age", "integer"]
    assert " 3 " in lines[1]
    assert "0.7" in lines[1]


def test_expected_changes_are_those_of_the_certainties():
    values = np.random.default_rng(2).integers(0, 5, (200, 2))
    table = hw.encode(values, kinds=["integer", "categorical"])
    shifts = hw.ShiftDescription(certainty={"x0": 0.8, "x1": 0.9}, plausibility=0.9)
    first, second = accounts_of(table, shifts.uncertainty(table), shifts)
    assert (first.expected_changes, second.expected_changes) == (pytest.approx(40), pytest.approx(20))
    budget = shifts.uncertainty(table).budget
    assert first.affordable_changes == np.floor(budget / first.lowest)
    assert second.affordable_changes == np.floor(budget / second.lowest)
    priced = hw.ShiftDescription(costs=1.0, budget=3.5)
    first, _ = accounts_of(table, priced.uncertainty(table), priced)
    assert (first.expected_changes, first.affordable_changes) == (None, 3)


def test_expected_changes_agree_with_random_shifts():
    from hardwood.evaluation import simulate_shifts
    from hardwood.trees.tree import Branch, Leaf, Tree

    table = hw.encode({"a": [False] * 300})
    shifts = hw.ShiftDescription(certainty=0.85)
    tree = Tree(table.features, (0, 1), Branch(0, 0, Leaf(0), Leaf(1)))
    labels = hw.encode_labels([0] * 300, 300, classes=[0, 1])
    drawn = simulate_shifts([tree], table, labels, shifts, n_tables=400)
    (own,) = accounts_of(table, shifts.uncertainty(table), shifts)
    assert 300 * (1 - drawn.mean()) == pytest.approx(own.expected_changes, rel=0.05)


def test_a_search_that_was_stopped_warns_and_its_certificate_says_so():
    values, y, _ = small_table(1, n=400, n_values=4, n_columns=8, n_classes=3)
    with pytest.warns(ConvergenceWarning, match="stopped after .* s; a longer time limit"):
        model = RobustTreeClassifier(5, certainty=0.8, time_limit=0.3).fit(values, y)
    assert "stopped after" in str(model.certificate_)
    document = json.loads(model.certificate_.to_json())
    assert document["stop_reason"] == "time_limit"
    finished = RobustTreeClassifier(1).fit(values, y)
    assert "stopped" not in str(finished.certificate_)


def test_progress_is_told_in_rows():
    from hardwood.solvers.base import Progress, progress_words, time_words

    problem = hard_problem(2)
    assert progress_words(problem, Progress(1.0, 211.75, 301.5, 5)) == (
        "keeps 212 of 400 rows (53.0%), at most 302 possible, gap 22.4%"
    )
    assert time_words(2.04, 60) == "2.0 s, 58 s left"
    assert time_words(2.04, None) == "2.0 s"


@pytest.mark.parametrize("codes", [np.array([-9]), np.int64(-9), pd.Series([-9]), "-9", {-9}])
def test_codes_of_every_make_are_known(codes, tmp_path):
    X, y = pd.DataFrame({"age": [30, -9, 50, 60] * 10}), [0, 1, 1, 0] * 10
    model = RobustTreeClassifier(1, missing="category", missing_values=codes).fit(X, y)
    assert (model.tree_.features[0].low, model.tree_.features[0].missing) == (30, True)
    model.save(tmp_path / "model.json")
    assert (RobustTreeClassifier.load(tmp_path / "model.json").predict(X) == model.predict(X)).all()


def test_codes_in_32_bits_are_known():
    (column,) = read_coded_columns({"a": np.array([1.5, 99.9], dtype=np.float32)}, "category", 99.9)
    assert column.gone.tolist() == [False, True]


def test_a_code_is_no_rank_whether_somebody_gave_it_or_not():
    order = ["low", "refused", "mid", "high"]
    for answers in (["low", "mid", "high"], ["low", "refused", "high"]):
        frame = pd.DataFrame({"a": pd.Categorical(answers, categories=order, ordered=True)})
        assert hw.encode(frame, missing="category", missing_values="refused").features[0].categories == (
            "low",
            "mid",
            "high",
        )


def test_an_honest_answer_missing_is_text():
    table = hw.encode({"t": ["(missing)", "1", "2"] * 4}, missing="category", missing_values="?")
    assert str(table.features[0].kind) == "categorical"


def test_codes_are_known_wherever_a_classifier_reads():
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
