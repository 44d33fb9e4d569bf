"""Column summaries: how columns were read and what changing their values costs."""

import logging
import math

import numpy as np
import pytest

import hardwood as hw
from hardwood import RobustTreeClassifier
from hardwood.shifts.column_summary import summarize_columns, summary_lines
from tests.surveys import coded_survey


def test_the_summary_has_a_line_for_each_column_and_verbose_logs_it(caplog):
    frame, y = coded_survey()
    model = RobustTreeClassifier(1, certainty={"age": 0.7, ...: 0.9}, missing="category", missing_values=["?", -9])
    model.set_params(verbose=1)
    with caplog.at_level(logging.INFO, logger="hardwood"):
        model.fit(frame, y)
    text = caplog.text
    assert "age" in text
    assert "children: floats that are whole numbers, read as integers" in text
    assert "rows (" in text
    problem, shifts = model._pose(*model._training_data(frame, y))
    lines = summary_lines(summarize_columns(problem.table, problem.uncertainty, shifts))
    assert len(lines) == 5
    assert lines[1].split()[:2] == ["age", "integer"]
    assert " 3 " in lines[1]
    assert "0.7" in lines[1]


def test_expected_changes_follow_from_the_certainties():
    values = np.random.default_rng(2).integers(0, 5, (200, 2))
    table = hw.encode(values, kinds=["integer", "categorical"])
    shifts = hw.Calibrated(certainty={"x0": 0.8, "x1": 0.9}, plausibility=0.9)
    first, second = summarize_columns(table, shifts.uncertainty(table), shifts)
    assert (first.expected_changes, second.expected_changes) == (pytest.approx(40), pytest.approx(20))
    budget = shifts.uncertainty(table).budget
    assert first.affordable_changes == np.floor(budget / first.lowest)
    assert second.affordable_changes == np.floor(budget / second.lowest)
    priced = hw.Priced(costs=1.0, budget=3.5)
    first, _ = summarize_columns(table, priced.uncertainty(table), priced)
    assert (first.expected_changes, first.affordable_changes) == (None, 3)


def test_expected_changes_agree_with_random_shifts():
    from hardwood.evaluation import simulate_shifts
    from hardwood.trees.tree import Branch, Leaf, Tree

    table = hw.encode({"a": [False] * 300})
    shifts = hw.Calibrated(certainty=0.85)
    tree = Tree(table.features, (0, 1), Branch(0, 0, Leaf(0), Leaf(1)))
    labels = hw.encode_labels([0] * 300, 300, classes=[0, 1])
    drawn = simulate_shifts([tree], table, labels, shifts, n_tables=400)
    (own,) = summarize_columns(table, shifts.uncertainty(table), shifts)
    assert 300 * (1 - drawn.mean()) == pytest.approx(own.expected_changes, rel=0.05)


def test_costs_without_an_end_are_worded():
    table = hw.encode({"a": ["x", "y", "z"], "b": ["x", "x", "x"]})
    pairs = {"x": {"x": 0, "y": 2.5, "z": math.inf}, "y": {"x": 3, "y": 0, "z": 4}, "z": {"x": 3, "y": 3, "z": 0}}
    shifts = hw.Priced({"a": pairs, "b": math.inf}, budget=3.0)
    first, second = summarize_columns(table, shifts.uncertainty(table), shifts)
    assert (first.cost, second.cost) == ("from 2.500; some changes never", "never changes")
