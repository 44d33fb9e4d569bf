"""Which plausibility: three answers along one path."""

import json

import numpy as np
import pytest

import hardwood as hw
from hardwood import plotting, shiftlab
from surveys import survey

LEVELS = (1.0, 0.97, 0.9, 0.6)


@pytest.fixture(scope="module")
def choice():
    X, y = survey(150)
    return shiftlab.choose_plausibility(X, y, LEVELS, certainty=0.9, max_depth=2, cv=3), X, y


def test_every_number_is_that_of_the_single_calls(choice):
    found, X, y = choice
    assert [own.plausibility for own in found.levels] == list(LEVELS)
    for own, model in zip(found.levels, found.path.classifiers, strict=True):
        covered = shiftlab.coverage(X, model)
        accuracy = shiftlab.accuracy_distribution(model, X, y)
        assert own.covered == pytest.approx(covered.all_columns.value, abs=1e-9)
        assert own.covered_asked == pytest.approx(covered.asked_columns.value, abs=1e-9)
        assert own.kept == pytest.approx(accuracy.at_least(model.certificate_.worst_case_accuracy).value)
        assert own.expected == pytest.approx(accuracy.mean)
        assert own.expected == pytest.approx(hw.expected_accuracy(model, X, y))
        assert own.nominal == model.certificate_.nominal_accuracy
        assert own.worst_case == model.certificate_.worst_case_accuracy
        assert 0 <= own.validated <= 1
        assert own.validated_error is not None
    assert found.levels[0].lost == 0


def test_the_choices_follow_from_the_numbers(choice):
    found, _, _ = choice
    covering = [own.plausibility for own in found.levels if own.covered_asked >= 0.95]
    assert found.by_coverage == (max(covering) if covering else None)
    cheap = [own.plausibility for own in found.levels if own.lost <= 0.01]
    assert found.by_price == min(cheap)
    best = max(found.levels, key=lambda own: own.validated)
    close = [own.plausibility for own in found.levels if own.validated >= best.validated - best.validated_error]
    assert found.by_validation == max(close)
    assert 0 < found.needed < 1
    text = str(found)
    assert "by coverage (95% of random shifts within the budget)" in text
    assert "3 folds" in text
    json.dumps(found.to_dict(), allow_nan=False)


def test_rows_held_out_take_the_place_of_folds():
    X, y = survey(150)
    X_test, y_test = survey(80, seed=3)
    found = shiftlab.choose_plausibility(X, y, (1.0, 0.9), X_test=X_test, y_test=y_test, certainty=0.9, max_depth=1)
    for own, model in zip(found.levels, found.path.classifiers, strict=True):
        assert own.validated == pytest.approx(hw.expected_accuracy(model, X_test, y_test))
        assert own.validated_error is None
    assert "rows held out" in str(found)


def test_what_makes_no_sense_is_refused_before_anything_is_learnt():
    X, y = survey(40)
    with pytest.raises(ValueError, match="costs is given; prices alone"):
        shiftlab.choose_plausibility(X, y, costs=1.0)
    with pytest.raises(ValueError, match=r"coverage is 1\.5"):
        shiftlab.choose_plausibility(X, y, coverage=1.5)
    with pytest.raises(ValueError, match="X_test and y_test belong together"):
        shiftlab.choose_plausibility(X, y, X_test=X)
    with pytest.raises(ValueError, match="cv is 1"):
        shiftlab.choose_plausibility(X, y, (1.0,), cv=1, max_depth=0)


def test_plots_show_what_was_chosen(choice):
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
    words = [text.get_text() for text in drawn.get_legend().get_texts()]
    assert len(words) == 3
    assert words[0].startswith("robust (mean")
    estimate = shiftlab.estimate_certainty(X, X.assign(age=X["age"] + (np.arange(150) < 20)))
    assert [label.get_text() for label in estimate.plot().get_yticklabels()] == list(X.columns)
    assert "answers later by answers now" in estimate.plot_table("party").get_title()
    with pytest.raises(ValueError, match="too many answers"):
        estimate.plot_table("age")
    with pytest.raises(ValueError, match="found is empty"):
        plotting.plot_accuracy({})


def test_the_report_shows_chance_and_choice(choice, tmp_path):
    found, X, y = choice
    model = found.path.classifiers[2]
    model.report(tmp_path / "with.html", along=found)
    page = (tmp_path / "with.html").read_text()
    assert "Which plausibility?" in page
    assert "by validation (most accurate under random shifts" in page
    assert "What chance does" in page
    accuracy = shiftlab.accuracy_distribution(model, X, y)
    assert f"{100 * accuracy.mean:.1f}\N{NO-BREAK SPACE}% of the rows are right on average" in page
    model.report(tmp_path / "without.html", along=found.path)
    assert "Which plausibility?" not in (tmp_path / "without.html").read_text()
    priced = hw.RobustTreeClassifier(1, costs=1.0, budget=3.0).fit(X, y)
    priced.report(tmp_path / "priced.html")
    assert "nothing is said about how likely a change is, so nothing here" in (tmp_path / "priced.html").read_text()
