"""Test tables, groups, classes, scorers, comparisons with any model, and representations in notebooks."""

import itertools
import json
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import hardwood as hw
from hardwood import Calibrated, OrdinaryTreeClassifier, RobustTreeClassifier, audit, compare, robustness_path
from hardwood.estimators.frames import values_like
from hardwood.evaluation import expected_accuracy, shifted_tables, simulate_shifts
from tests.problems import small_table


def survey(n=160, seed=1):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "region": rng.choice(["north", "south", "west"], n),
            "trust": rng.integers(1, 6, n),
        }
    )
    y = np.where((frame["age"] > 45) ^ (rng.random(n) < 0.15), "right", "left")
    return frame, y


@pytest.fixture(scope="module")
def model():
    return RobustTreeClassifier(2, certainty=0.8).fit(*survey())


# ---- classes and groups


def test_confusion_counts_samples_before_and_after_the_worst_shift(model):
    X, y = survey(seed=2)
    found = model.worst_case(X, y)
    before, after = found.confusion(), found.confusion(worst_case=True)
    predicted = model.predict(X)
    for (i, true), (j, label) in itertools.product(enumerate(model.classes_), repeat=2):
        assert before[i, j] == np.sum((y == true) & (predicted == label))
    shifted = found.tree.predict(found.shift.apply())
    for i, j in itertools.product(range(2), repeat=2):
        assert after[i, j] == np.sum((found.labels.codes == i) & (shifted == j))
    assert np.trace(after) == found.worst_case_correct
    recalls = [share.worst_case for share in found.by_class]
    assert recalls == pytest.approx(np.diag(after) / after.sum(axis=1))


def test_shares_are_computed_for_each_group(model):
    X, y = survey(seed=2)
    found = audit(model, X, y, groups="region")
    assert [share.group for share in found.by_group] == ["north", "south", "west"]
    for share in found.by_group:
        in_group = (X["region"] == share.group).to_numpy()
        alone = model.worst_case(X[in_group], y[in_group])
        assert share.weight == in_group.sum()
        assert share.nominal == pytest.approx(alone.nominal_accuracy)
        kept = found.found.curve  # the whole budget may be spent on one group
        assert share.guaranteed <= share.worst_case + 1e-12
        assert share.guaranteed == pytest.approx(
            float(hw.attack(alone.tree, alone.labels, alone.uncertainty).curve.accuracy_at(found.budget))
        )
        assert kept.total == len(X)
    lost = sum((1 - share.worst_case) * share.weight for share in found.by_group)
    assert lost == pytest.approx(len(X) - found.found.worst_case_correct)
    assert "Correct by group:" in str(found)
    assert audit(model, X, y, groups=X["region"].tolist()).by_group == found.by_group
    document = json.loads(json.dumps(found.to_dict()))
    assert {"confusion", "worst_case_confusion", "by_class", "by_group", "by_plausibility"} <= set(document)


def test_unknown_groups_are_refused(model):
    X, y = survey()
    with pytest.raises(ValueError, match="groups is 'town'; the table has the columns"):
        audit(model, X, y, groups="town")
    with pytest.raises(ValueError, match="expected an entry for each of 160 rows"):
        _ = audit(model, X, y, groups=[1, 2]).by_group


def test_an_attack_prints_accuracy_and_the_first_changes(model):
    X, y = survey(seed=2)
    text = str(model.worst_case(X, y))
    assert "correct without a shift" in text
    assert "->" in text
    assert len(text.splitlines()) <= 7


# ---- test tables and scorers


def test_a_path_is_evaluated_on_a_test_table():
    X, y = survey()
    X_test, y_test = survey(seed=5)
    path = robustness_path(X, y, (1, 0.9), max_depth=2, certainty=0.8, X_test=X_test, y_test=y_test)
    columns = path.to_dict()
    for k, classifier in enumerate(path.classifiers):
        found = classifier.worst_case(X_test, y_test)
        assert columns["test_worst_case_accuracy"][k] == found.worst_case_accuracy
        assert columns["test_nominal_accuracy"][k] == found.nominal_accuracy
    assert "test: correct" in str(path)
    assert len(path.plot().get_legend().get_texts()) == 5
    with pytest.raises(ValueError, match="X_test and y_test belong together"):
        robustness_path(X, y, (1,), X_test=X_test)


def test_a_path_reports_its_progress():
    X, y = survey()
    levels = []
    robustness_path(X, y, (1, 0.8), max_depth=2, on_progress=lambda *event: levels.append(event[0]))
    assert set(levels) == {1.0, 0.8}


def test_scorers_choose_plausibility():
    X, y = survey()
    search = GridSearchCV(
        RobustTreeClassifier(2, certainty=0.8),
        {"plausibility": [1.0, 0.9]},
        scoring=hw.SCORERS,
        refit="expected_accuracy",
        cv=3,
    ).fit(X, y)
    assert {"mean_test_worst_case_accuracy", "mean_test_expected_accuracy"} <= set(search.cv_results_)
    same_shifts = partial(hw.worst_case_accuracy, certainty=0.8, plausibility=0.9)
    chosen = GridSearchCV(
        RobustTreeClassifier(2, certainty=0.8), {"plausibility": [1.0, 0.9]}, scoring=same_shifts, cv=3
    )
    assert chosen.fit(X, y).best_params_["plausibility"] in (1.0, 0.9)


def test_scores_are_those_of_an_audit(model):
    X, y = survey(seed=2)
    assert hw.worst_case_accuracy(model, X, y) == model.worst_case(X, y).worst_case_accuracy
    table = model._encode(X)
    expected = expected_accuracy(model.tree_, table, model._encode_labels(y, table), model.shifts_)
    assert hw.expected_accuracy(model, X, y) == expected
    assert hw.expected_accuracy(model, X, y, certainty=1.0) == pytest.approx(model.score(X, y))


def test_folds_with_unseen_values_are_scored():
    X, y = survey()
    X.loc[7, "region"] = "islands"
    X["age"] = X["age"].astype(float)
    X.loc[90, "age"] = np.nan
    model = RobustTreeClassifier(2, certainty=0.8, missing="category")
    search = GridSearchCV(model, {"plausibility": [1.0, 0.9]}, scoring=hw.SCORERS, refit="expected_accuracy", cv=3)
    found = search.fit(X, y).cv_results_
    assert np.isfinite(found["mean_test_worst_case_accuracy"]).all()
    assert np.isfinite(found["mean_test_expected_accuracy"]).all()


# ---- any model


def test_a_pipeline_that_ends_in_a_tree_is_audited():
    X, y = survey()
    numbers = X[["age", "trust"]]
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)).fit(numbers, y)
    scaled = pipeline[:-1].transform(numbers)
    assert audit(pipeline, numbers, y).worst_case_accuracy == audit(pipeline[-1], scaled, y).worst_case_accuracy
    robust = make_pipeline("passthrough", RobustTreeClassifier(2, certainty=0.7)).fit(numbers, y)
    assert audit(robust, numbers, y).worst_case_accuracy == robust[-1].certificate_.worst_case_accuracy
    spread = make_column_transformer((OneHotEncoder(), ["region"]), remainder="passthrough")
    found = audit(make_pipeline(spread, DecisionTreeClassifier(max_depth=3)).fit(X, y), X, y)
    assert "onehotencoder__region_north" in [feature.name for feature in found.tree.features]


def test_ordinary_classifiers_are_audited():
    values, y, _ = small_table(2)
    ordinary = OrdinaryTreeClassifier(2, random_state=0).fit(values, y)
    assert audit(ordinary, values, y).nominal_accuracy == ordinary.score(values, y)


def test_any_classifier_is_compared():
    X, y = survey()
    X_test, y_test = survey(seed=5)
    spread = make_column_transformer((OneHotEncoder(), ["region"]), remainder="passthrough")
    methods = {
        "robust": RobustTreeClassifier(2),
        "pipeline": make_pipeline(spread, DecisionTreeClassifier(max_depth=2)),
        "forest": make_pipeline(spread, RandomForestClassifier(10, random_state=0)),
        "majority": DummyClassifier(),
    }
    found = compare(methods, X, y, X_test=X_test, y_test=y_test, n_tables=30)
    rows = {row["method"]: row for row in found.rows}
    assert rows["forest"]["worst_case_accuracy"] is None
    assert rows["pipeline"]["worst_case_accuracy"] is not None
    assert rows["forest"]["training_nominal_accuracy"] > 0.9
    majority = np.mean(y_test == DummyClassifier().fit(X, y).predict(X_test[:1])[0])
    assert rows["majority"]["expected_accuracy"] == pytest.approx(majority)  # no shift changes its prediction
    assert "not available" in str(found)
    assert set(found.to_dict()) >= {"method", "training_worst_case_accuracy"}


def test_arguments_are_checked_before_any_method_is_fitted():
    class Never:
        def fit(self, *_):
            raise AssertionError("fitted")

        def predict(self, *_):
            raise AssertionError("predicted")

    X, y = survey()
    with pytest.raises(ValueError, match="n_tables is 0"):
        compare({"never": Never()}, X, y, n_tables=0)
    with pytest.raises(TypeError, match='method "text" is a str; expected a classifier'):
        compare({"text": "cart", "never": Never()}, X, y)


@pytest.mark.parametrize("certainty", [0.7, 0.9])
def test_the_mean_over_sampled_tables_is_the_expected_accuracy(certainty):
    X, y = survey()
    X = X.assign(income=np.random.default_rng(0).normal(size=len(X)).round(2))
    model = RobustTreeClassifier(2, certainty=certainty, plausibility=1.0).fit(X, y)
    table = model._encode(X)
    labels, shifts = model._encode_labels(y, table), Calibrated(certainty=certainty)
    shares = [
        np.mean(model.tree_.predict(shifted) == labels.codes)
        for shifted in shifted_tables(table, labels, shifts, n_tables=300)
    ]
    assert np.mean(shares) == pytest.approx(expected_accuracy(model.tree_, table, labels, shifts), abs=0.01)


@pytest.mark.parametrize("form", ["pandas", "polars", "mapping", "numpy"])
def test_shifted_values_have_the_form_of_the_table(form):
    frame, y = survey()
    numbers = frame[["age", "trust"]].assign(height=np.random.default_rng(1).normal(170, 9, len(frame)))
    X = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "mapping": {name: frame[name].to_numpy() for name in frame},
        "numpy": numbers.to_numpy(),
    }[form]
    table = hw.encode(X)
    (shifted,) = shifted_tables(table, hw.encode_labels(y, len(y)), Calibrated(certainty=0.6), n_tables=1)
    back = values_like(X, table, shifted)
    assert type(back) is type(X)
    assert (hw.encode(back, features=table.features).values == shifted.values).all()


def test_simulate_shifts_reads_frames(model):
    X, y = survey()
    table = model._encode(X)
    expected = simulate_shifts([model.tree_], table, model._encode_labels(y, table), model.shifts_, n_tables=20)
    assert (simulate_shifts([model.tree_], X, y, model.shifts_, n_tables=20) == expected).all()


def test_pipelines_that_end_in_a_robust_classifier_read_frames():
    X, y = survey()
    pipeline = make_pipeline(StandardScaler(), RobustTreeClassifier(2)).fit(X[["age", "trust"]], y)
    assert audit(pipeline, X[["age", "trust"]], y).nominal_accuracy == pipeline.score(X[["age", "trust"]], y)


def test_groups_may_be_a_column_that_the_tree_does_not_know(model):
    X, y = survey(seed=2)
    extended = X.assign(sex=np.where(np.arange(len(X)) % 2, "f", "m"))
    assert [share.group for share in audit(model, extended, y, groups="sex").by_group] == ["f", "m"]


# ---- failed fits, unseen values, notebooks


def test_a_failed_fit_leaves_the_model_unchanged():
    X, y = survey()
    model = RobustTreeClassifier(2)
    with pytest.raises(ValueError, match="certainty"):
        model.set_params(certainty=3).fit(X, y)
    with pytest.raises(Exception, match="not fitted"):
        model.predict(X)
    model.set_params(certainty=0.9).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="labels"):
        model.fit(X[["age"]], y[:-1])
    assert (model.predict(X) == before).all()
    assert list(model.feature_names_in_) == list(X.columns)


def test_many_unseen_values_cause_a_warning(model):
    X, y = survey(seed=4)
    with pytest.warns(UserWarning, match=r"age: 100% of values lie outside what training saw \(18 to 79\)"):
        model.predict(X.assign(age=1900 + X["age"]))
    with pytest.warns(UserWarning, match="region: 100% of values lie outside"):
        model.predict(X.assign(region="east"))
    with pytest.warns(UserWarning, match="age: 100%"):
        assert not hw.check(model.certificate_, X.assign(age=1900 + X["age"]), y).confirmed
    with pytest.warns(UserWarning, match="age: 100%"):
        model._given_or_training_data(X.assign(age=1900 + X["age"]), y)


def test_a_model_file_describes_its_columns(model, tmp_path):
    model.save(tmp_path / "model.json")
    columns = json.loads((tmp_path / "model.json").read_text())["columns"]
    assert columns[0] == {"name": "age", "kind": "integer", "missing": False, "from": 18, "to": 79}
    assert columns[1]["values"] == ["north", "south", "west"]


def test_results_are_html_in_a_notebook_with_all_names_escaped():
    X, y = survey()
    X = X.rename(columns={"age": "<b>age</b>"})
    y = np.where(y == "left", "<script>alert(1)</script>", "right")
    model = RobustTreeClassifier(2).fit(X, y)
    path = robustness_path(X, y, (1, 0.9), max_depth=1)
    results = [
        model.tree_,
        model.certificate_,
        model.worst_case(X, y),
        audit(model, X, y),
        path,
        compare([RobustTreeClassifier(1)], X, y, n_tables=5),
        model.alternatives(2, within=1),
        hw.harden(model, X, y),
    ]
    for result in results:
        html = result._repr_html_()
        assert html.startswith('<div class="hardwood">')
        assert "<script>" not in html
        assert "<b>age" not in html
    assert "<svg" in model.worst_case(X, y)._repr_html_()
    assert "<svg" in audit(model, X, y)._repr_html_()
