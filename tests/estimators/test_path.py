import math
import os
import signal
import sys
import threading

import pytest

import hardwood as hw
from hardwood import RobustTreeClassifier, robustness_path
from hardwood.data.encode import learn_table
from hardwood.estimators import base
from hardwood.estimators.path import _share_claims
from hardwood.solvers.base import Limits
from hardwood.solvers.search import SearchSolver
from tests.problems import needs_signals, small_table
from tests.shifts.models_of_users import LevelledSteps, numbers
from tests.surveys import survey

LEVELS = (1.0, 0.97, 0.9, 0.75)


@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_each_level_equals_a_fit_at_this_plausibility(n_jobs):
    frame, y = survey(80)
    path = robustness_path(frame, y, LEVELS, n_jobs=n_jobs, max_depth=2, certainty=0.8)
    for level, classifier in zip(path.plausibilities, path.classifiers, strict=True):
        alone = RobustTreeClassifier(2, certainty=0.8, plausibility=level).fit(frame, y).certificate_
        assert classifier.certificate_.objective == alone.objective
        assert classifier.certificate_.status == alone.status == "optimal"
        assert hw.check(classifier.certificate_, frame, y).confirmed
    worst = path.to_dict()["worst_case_accuracy"]
    assert worst == sorted(worst, reverse=True)


def test_levels_are_sorted_without_duplicates():
    path = robustness_path(*survey(40), (0.9, 1, 0.9), max_depth=1)
    assert path.plausibilities == (1.0, 0.9)


def test_the_table_is_encoded_once_for_all_levels(monkeypatch):
    encoded = []

    def count(columns, **options):
        encoded.append(columns)
        return learn_table(columns, **options)

    monkeypatch.setattr(base, "learn_table", count)
    frame, y = survey(40)
    path = robustness_path(frame, y, LEVELS, max_depth=1)
    assert len(encoded) == 1
    assert len({id(classifier._problem.table) for classifier in path.classifiers}) == 1
    for level, classifier in zip(LEVELS, path.classifiers, strict=True):
        assert classifier.get_params() == RobustTreeClassifier(1, plausibility=level).get_params()
        assert list(classifier.feature_names_in_) == list(frame.columns)


def test_stopped_levels_share_trees_and_bounds():
    frame, y = survey(120)
    problems = []
    for level in LEVELS:
        table = hw.encode(frame)
        shifts = hw.UncertaintySet.calibrated(table, certainty=0.7, plausibility=level)
        problems.append(hw.Problem(hw.encode_labels(y, len(y)), shifts, 2))
    best = [SearchSolver().solve(problem) for problem in problems]
    for stopped in range(len(LEVELS)):
        results = list(best)
        results[stopped] = hw.solve(problems[stopped], "leaf", limits=Limits(seconds=0))
        shared = _share_claims(problems, results)
        for found, true in zip(shared, best, strict=True):
            assert found.objective <= true.objective <= found.objective_bound
            assert found.worst_case_correct <= true.worst_case_correct <= found.upper_bound
        assert shared[stopped].objective > results[stopped].objective
        if stopped:
            assert shared[stopped].upper_bound < results[stopped].upper_bound


def test_the_path_as_a_frame_text_and_plot():
    path = robustness_path(*survey(60), LEVELS, max_depth=1)
    frame = path.to_frame()
    assert list(frame["plausibility"]) == list(LEVELS)
    assert {"nominal_accuracy", "worst_case_accuracy", "branching_nodes", "gap", "status"} <= set(frame.columns)
    assert str(path).count("\n") == len(LEVELS)
    axes = path.plot()
    assert path.plot(ax=axes) is axes
    lines = {line.get_label(): line for line in axes.get_lines()[:2]}
    assert list(lines["after the worst shift"].get_ydata()) == list(frame["worst_case_accuracy"])
    assert list(lines["without a shift"].get_xdata()) == list(LEVELS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"plausibilities": ()}, "plausibilities are empty"),
        ({"plausibilities": (0.9, 0.0)}, "plausibility is 0.0"),
        ({"plausibility": 0.9}, "plausibility is given to robustness_path"),
        ({"budget": 3.0}, "budget is given to robustness_path"),
    ],
)
def test_invalid_levels_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        robustness_path(*survey(20), **arguments)


def test_missing_packages_are_named(monkeypatch):
    path = robustness_path(*survey(30), (1.0,), max_depth=1)
    for package in ("matplotlib", "pandas"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=r"plots need the package matplotlib; run: pip install 'hardwood\[report\]'"):
        path.plot()
    with pytest.raises(ImportError, match="to_frame needs the package pandas"):
        path.to_frame()


def interrupt_at(monkeypatch, level):
    """Press Ctrl-C while a level is solved."""
    solve = RobustTreeClassifier._solve

    def solve_and_interrupt(self, problem, **options):
        if self.plausibility != level:
            return solve(self, problem, **options)
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        found = solve(self, problem, **options)
        timer.join()
        return found

    monkeypatch.setattr(RobustTreeClassifier, "_solve", solve_and_interrupt)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored if the suite runs in the background of a shell


@needs_signals
def test_ctrl_c_ends_the_path_with_the_levels_solved_so_far(monkeypatch):
    values, y, _ = small_table(1, n=400, n_values=4, n_columns=8, n_classes=3)
    interrupt_at(monkeypatch, 0.7)
    events = []
    path = robustness_path(
        values,
        y,
        (0.8, 0.7, 0.6, 0.5),
        max_depth=6,  # more than a second's work
        certainty=0.6,
        time_limit=1,
        on_level=lambda level, result: events.append((level, str(result.stop_reason))),
    )
    assert events == [(0.8, "time_limit"), (0.7, "interrupted")]
    assert path.plausibilities == (0.8, 0.7)
    assert path.interrupted
    assert [classifier.certificate_.stop_reason for classifier in path.classifiers] == ["time_limit", "interrupted"]
    assert str(path).count("\n") == 2
    assert not robustness_path(*survey(30), (1.0, 0.9), max_depth=1).interrupted


def test_a_path_of_a_shift_model_is_that_of_its_parameters():
    frame, y = survey(60)
    whole = robustness_path(frame, y, (1.0, 0.9, 0.8), max_depth=1, shifts=hw.Calibrated(0.8, 0.5))
    flat = robustness_path(frame, y, (1.0, 0.9, 0.8), max_depth=1, certainty=0.8)
    names = ("plausibility", "budget", "worst_case_accuracy")
    assert [whole.to_dict()[name] for name in names] == [flat.to_dict()[name] for name in names]
    assert [fitted.shifts_ for fitted in whole.classifiers] == [hw.Calibrated(0.8, p) for p in (1.0, 0.9, 0.8)]
    (only,) = robustness_path(frame, y, (0.9,), max_depth=1, shifts=hw.Calibrated(0.8, 0.5)).classifiers
    assert only.shifts_.plausibility == 0.9
    priced = robustness_path(frame, y, (0.9,), max_depth=1, shifts=hw.Priced(1.0, budget=7.0))
    assert priced.to_dict()["budget"] == [pytest.approx(-60 * math.log(0.9))]


def test_a_path_needs_a_plausibility_and_levels_that_differ_in_the_budget_alone():
    X, y = numbers()
    path = robustness_path(X, y, (0.9, 0.5), max_depth=1, shifts=LevelledSteps())
    assert path.to_dict()["budget"] == [pytest.approx(-10 * math.log(level)) for level in (0.9, 0.5)]
    with pytest.raises(ValueError, match=r"the same costs and a budget that is not smaller \(change nothing"):
        robustness_path(X, y, (0.9, 0.5), max_depth=1, shifts=LevelledSteps(scales=True))
    with pytest.raises(ValueError, match="the shift model Boxes has no plausibility"):
        robustness_path(X, y, (0.9, 0.5), max_depth=1, shifts=hw.Boxes(1))
    with pytest.raises(ValueError, match="the shift model Boxes has no plausibility"):
        robustness_path(X, y, (0.9, 0.5), max_depth=1, radius=1)
    with pytest.raises(ValueError, match=r"\['certainty'\] are given, too"):
        robustness_path(X, y, (0.9, 0.5), shifts=hw.Calibrated(0.8), certainty=0.7)
    with pytest.raises(ValueError, match="expected a shift model"):
        robustness_path(X, y, (0.9, 0.5), shifts="certain")
