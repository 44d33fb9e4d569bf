import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import hardwood as hw
from hardwood import RobustTreeClassifier, audit
from hardwood.estimators.audit import Audit
from tests.surveys import survey


def numbers(n=150, seed=0):
    frame, y = survey(n, seed)
    return frame[["age", "income", "asked before"]].assign(rating=np.arange(n) % 5), y


@pytest.mark.parametrize("seed", range(15))
def test_a_scikit_learn_tree_is_read_exactly(seed):
    frame, y = numbers(seed=seed)
    tree = DecisionTreeClassifier(max_depth=4, random_state=seed).fit(frame, y)
    other, _ = numbers(seed=seed + 100)
    found = audit(tree, frame, y)
    assert found.nominal_accuracy == tree.score(frame, y)
    table = hw.encode(other.astype({"income": np.float32}).astype({"income": float}), features=found.tree.features)
    assert (np.array(found.tree.classes)[found.tree.predict(table)] == tree.predict(other)).all()


def test_the_worst_shift_makes_the_scikit_learn_tree_misclassify():
    frame, y = numbers()
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(frame[["age", "rating"]], y)
    found = audit(tree, frame[["age", "rating"]], y, certainty=0.8)
    shifted = found.shift.apply()
    moved = frame[["age", "rating"]].assign(age=shifted.values[:, 0], rating=shifted.values[:, 1])
    assert (tree.predict(moved) == y).mean() == pytest.approx(found.worst_case_accuracy)
    assert found.worst_case_accuracy < found.nominal_accuracy
    assert found.found.spent <= found.found.uncertainty.budget * (1 + 1e-9)


def test_classifiers_trees_and_files_of_hardwood_are_read(tmp_path):
    frame, y = survey()
    classifier = RobustTreeClassifier(2).fit(frame, y)
    classifier.save(tmp_path / "model.json")
    (tmp_path / "tree.json").write_text(classifier.tree_.to_json())
    sources = [classifier, classifier.tree_, tmp_path / "model.json", str(tmp_path / "tree.json")]
    audits = [audit(source, frame, y) for source in sources]
    assert {found.worst_case_accuracy for found in audits} == {classifier.certificate_.worst_case_accuracy}
    assert {found.nominal_accuracy for found in audits} == {classifier.certificate_.nominal_accuracy}


def test_the_audit_lists_the_values_that_the_adversary_changes():
    frame, y = survey()
    found = audit(RobustTreeClassifier(2).fit(frame, y), frame, y, plausibility=0.8)
    changes = found.changes()
    assert sum(entry["rows"] for entry in changes) == len(found.shift)
    assert sum(entry["cost"] for entry in changes) == pytest.approx(found.found.spent)
    assert changes[0]["rows"] == max(entry["rows"] for entry in changes)
    text = str(found)
    assert "of 120 samples are correct without a shift" in text
    assert f"{changes[0]['column']}: {changes[0]['from']} -> {changes[0]['to']}" in text
    assert text.count("█") > 20
    assert isinstance(found, Audit)


def test_a_budget_of_zero_needs_no_change():
    frame, y = survey()
    found = audit(RobustTreeClassifier(1).fit(frame, y), frame, y, plausibility=1.0)
    assert "The adversary can do no harm" in str(found)
    assert found.curve.accuracy_at_plausibility(1.0) == found.worst_case_accuracy == found.nominal_accuracy


def test_thresholds_beyond_a_boolean_column_are_folded():
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit([[-2.0], [0.0], [1.0], [3.0]], [0, 1, 1, 0])
    flags = np.array([[False], [True], [True]])
    found = audit(tree, flags, [1, 1, 0], certainty=0.9)
    assert found.nominal_accuracy == tree.score(flags.astype(float), [1, 1, 0])


@pytest.mark.parametrize(
    ("model", "columns", "message"),
    [
        (DecisionTreeClassifier(), ["age"], "expected a fitted DecisionTreeClassifier"),
        (object(), ["age"], "the model is a object"),
        (DecisionTreeClassifier().fit([[0], [1]], [0, 1]), ["age", "income"], "X has 2 columns; .* fitted with 1"),
        (DecisionTreeClassifier().fit([[0], [1]], [0, 1]), ["party"], 'column "party" is text'),
    ],
)
def test_models_and_tables_that_cannot_be_read_are_refused(model, columns, message):
    frame, y = survey()
    with pytest.raises((TypeError, ValueError), match=message):
        audit(model, frame[columns], y)


def test_numbers_that_scikit_learn_would_round_are_refused():
    tree = DecisionTreeClassifier().fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="which scikit-learn rounds"):
        audit(tree, np.array([[2**25 + 1], [0]]), [0, 1])


def test_files_without_a_tree_are_refused(tmp_path):
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(ValueError, match="the tree has"):
        audit(tmp_path / "x.json", *survey())


def test_columns_of_a_scikit_learn_tree_are_found_by_name():
    frame, y = numbers()
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(frame, y)
    shuffled = frame[list(frame.columns)[::-1]]
    assert audit(tree, shuffled, y).nominal_accuracy == tree.score(frame, y)
    with pytest.raises(ValueError, match=r"X lacks the columns \['age'\]"):
        audit(tree, frame.rename(columns={"age": "years"}), y)
    assert audit(tree, frame.to_numpy(dtype=float), y).nominal_accuracy == tree.score(frame, y)


def test_robust_classifiers_are_audited_under_the_shifts_of_fit_by_default():
    frame, y = survey()
    classifier = RobustTreeClassifier(2, certainty=0.6, bounds={"age": (0, 120)}).fit(frame, y)
    assert audit(classifier, frame, y).worst_case_accuracy == classifier.certificate_.worst_case_accuracy
    assert "Shifts: certainty 0.6" in str(audit(classifier, frame, y))
    assert audit(classifier, frame, y, certainty=0.95).worst_case_accuracy > classifier.certificate_.worst_case_accuracy


def test_a_regressor_is_refused():
    from sklearn.tree import DecisionTreeRegressor

    with pytest.raises(TypeError, match="which predicts no classes"):
        audit(DecisionTreeRegressor().fit([[0], [1]], [0, 1]), [[0], [1]], [0, 1])


def test_renamed_attributes_warn():
    frame, y = survey()
    model = RobustTreeClassifier(1).fit(frame, y)
    with pytest.warns(DeprecationWarning, match="Findings.everybody was renamed to Findings.sample_text"):
        assert audit(model, frame, y).everybody == "120 samples"
    with pytest.warns(DeprecationWarning, match="Alternatives.said was renamed to Alternatives.summary"):
        assert model.alternatives(1).said.startswith("1 tree keeps")


def test_a_plausibility_alone_keeps_the_other_shift_parameters_of_the_model():
    frame, y = survey(80)
    model = RobustTreeClassifier(2, certainty={"age": 0.7, ...: 0.85}, direction={"age": "up"}).fit(frame, y)
    wanted = model.worst_case(frame, y, plausibility=0.5)
    found = audit(model, frame, y, plausibility=0.5)
    assert found.shifts == model.shifts_.at(0.5)
    assert found.worst_case_accuracy == wanted.worst_case_accuracy
    assert hw.worst_case_accuracy(model, frame, y, plausibility=0.5) == wanted.worst_case_accuracy
    in_full = audit(model, frame, y, plausibility=0.5, certainty=0.9)
    assert in_full.shifts == hw.Calibrated(0.9, 0.5)
    assert audit(model.tree_, frame, y, plausibility=0.5).shifts == hw.Calibrated(0.9, 0.5)


def test_a_plausibility_for_a_model_of_boxes_is_refused():
    frame, y = survey(40)
    model = RobustTreeClassifier(1, radius=1).fit(frame, y)
    with pytest.raises(ValueError, match=r"plausibility is 0\.5; the shift model Boxes has no plausibility"):
        audit(model, frame, y, plausibility=0.5)


def test_one_change_of_one_row_is_singular():
    frame = {"a": [0] * 20 + [9] * 20 + [4]}
    y = [0] * 20 + [1] * 20 + [0]
    text = str(audit(DecisionTreeClassifier(max_depth=1).fit(np.c_[frame["a"]], y), np.c_[frame["a"]], y, budget=7.5))
    assert "(1 value changed in 1 row)" in text
    assert "in 1 row for" in text
