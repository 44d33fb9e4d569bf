"""Choosing a plausibility: three rules along one path of trees."""

import json

import numpy as np
import pytest

import hardwood as hw
from hardwood import plotting, shiftlab
from tests.shifts.models_of_users import Steps
from tests.surveys import survey

LEVELS = (1.0, 0.97, 0.9, 0.6)


@pytest.fixture(scope="module")
def choice():
    X, y = survey(150)
    return shiftlab.choose_plausibility(X, y, LEVELS, certainty=0.9, max_depth=2, cv=3), X, y


def test_every_number_equals_that_of_the_separate_functions(choice):
    found, X, y = choice
    assert [level.plausibility for level in found.levels] == list(LEVELS)
    for level, model in zip(found.levels, found.path.classifiers, strict=True):
        coverage = shiftlab.coverage(X, model)
        accuracy = shiftlab.accuracy_distribution(model, X, y)
        assert level.covered == pytest.approx(coverage.all_columns.value, abs=1e-9)
        assert level.covered_asked == pytest.approx(coverage.used_columns.value, abs=1e-9)
        assert level.kept == pytest.approx(accuracy.at_least(model.certificate_.worst_case_accuracy).value)
        assert level.expected == pytest.approx(accuracy.mean)
        assert level.expected == pytest.approx(hw.expected_accuracy(model, X, y))
        assert level.nominal == model.certificate_.nominal_accuracy
        assert level.worst_case == model.certificate_.worst_case_accuracy
        assert 0 <= level.validated <= 1
        assert level.validated_error is not None
    assert found.levels[0].lost == 0


def test_the_choices_follow_from_the_numbers(choice):
    found, _, _ = choice
    covering = [level.plausibility for level in found.levels if level.covered_asked >= 0.95]
    assert found.by_coverage == (max(covering) if covering else None)
    cheap = [level.plausibility for level in found.levels if level.lost <= 0.01]
    assert found.by_price == min(cheap)
    best = max(found.levels, key=lambda level: level.validated)
    close = [level.plausibility for level in found.levels if level.validated >= best.validated - best.validated_error]
    assert found.by_validation == max(close)
    assert 0 < found.needed < 1
    text = str(found)
    assert "by coverage (95% of random shifts within the budget)" in text
    assert "3 folds" in text
    json.dumps(found.to_dict(), allow_nan=False)


def test_held_out_rows_replace_folds():
    X, y = survey(150)
    X_test, y_test = survey(80, seed=3)
    found = shiftlab.choose_plausibility(X, y, (1.0, 0.9), X_test=X_test, y_test=y_test, certainty=0.9, max_depth=1)
    for level, model in zip(found.levels, found.path.classifiers, strict=True):
        assert level.validated == pytest.approx(hw.expected_accuracy(model, X_test, y_test))
        assert level.validated_error is None
    assert "rows held out" in str(found)


def test_invalid_arguments_are_refused_before_any_tree_is_learnt():
    X, y = survey(40)
    with pytest.raises(ValueError, match="costs is given; costs alone"):
        shiftlab.choose_plausibility(X, y, costs=1.0)
    with pytest.raises(ValueError, match=r"coverage is 1\.5"):
        shiftlab.choose_plausibility(X, y, coverage=1.5)
    with pytest.raises(ValueError, match="X_test and y_test belong together"):
        shiftlab.choose_plausibility(X, y, X_test=X)
    with pytest.raises(ValueError, match="cv is 1"):
        shiftlab.choose_plausibility(X, y, (1.0,), cv=1, max_depth=0)


def test_plots_show_the_choice(choice):
    found, X, y = choice
    axes = found.plot()
    assert len(axes) == 3
    assert "by validation" in axes[1].get_title(loc="left")
    model = found.path.classifiers[2]
    drawn = plotting.plot_accuracy(
        {
            "robust": shiftlab.accuracy_distribution(model, X, y),
            "weighted": shiftlab.accuracy_distribution(model, X, y, np.linspace(0.5, 2, 150)),
        },
        guarantee=model.certificate_.worst_case_accuracy,
    )
    labels = [text.get_text() for text in drawn.get_legend().get_texts()]
    assert len(labels) == 3
    assert labels[0].startswith("robust (mean")
    estimate = shiftlab.estimate_certainty(X, X.assign(age=X["age"] + (np.arange(150) < 20)))
    assert [label.get_text() for label in estimate.plot().get_yticklabels()] == list(X.columns)
    assert "values later by values now" in estimate.plot_table("party").get_title()
    with pytest.raises(ValueError, match="too many values"):
        estimate.plot_table("age")
    with pytest.raises(ValueError, match="found is empty"):
        plotting.plot_accuracy({})


def test_the_report_shows_random_shifts_and_the_choice(choice, tmp_path):
    found, X, y = choice
    model = found.path.classifiers[2]
    model.report(tmp_path / "with.html", along=found)
    page = (tmp_path / "with.html").read_text()
    assert "Which plausibility?" in page
    assert "by validation (most accurate under random shifts" in page
    assert '<h2 id="random-shifts-title">Random shifts</h2>' in page
    accuracy = shiftlab.accuracy_distribution(model, X, y)
    assert f"{100 * accuracy.mean:.1f}\N{NO-BREAK SPACE}% of the rows are right on average" in page
    model.report(tmp_path / "without.html", along=found.path)
    assert "Which plausibility?" not in (tmp_path / "without.html").read_text()
    priced = hw.RobustTreeClassifier(1, costs=1.0, budget=3.0).fit(X, y)
    priced.report(tmp_path / "priced.html")
    text = (tmp_path / "priced.html").read_text().split(">Random shifts</h2>")[1]
    assert text.startswith("<p>No certainties were given, so it is not known how likely a change is.</p>")


def test_a_shift_model_gives_the_levels_of_its_parameters():
    X, y = survey(60)
    words = {"max_depth": 1, "cv": 2}
    whole = shiftlab.choose_plausibility(X, y, (0.95, 0.9), shifts=hw.Calibrated(0.85, plausibility=0.5), **words)
    flat = shiftlab.choose_plausibility(X, y, (0.95, 0.9), certainty=0.85, **words)
    assert whole.to_dict() == flat.to_dict()
    (only,) = shiftlab.choose_plausibility(X, y, (0.9,), shifts=hw.Calibrated(0.85, plausibility=0.95), **words).levels
    assert only == flat.levels[1]


@pytest.mark.parametrize("shifts", [hw.Priced(1.0), hw.Boxes(1), Steps()], ids=str)
def test_a_shift_model_without_probabilities_is_refused_before_a_tree_is_learnt(shifts):
    learnt = []
    with pytest.raises(ValueError, match=r"costs alone do not state|states no probabilities"):
        shiftlab.choose_plausibility(*survey(60), shifts=shifts, on_level=lambda *level: learnt.append(level))
    assert not learnt
