"""Plots show what was computed, on the given axes."""

import numpy as np
import pytest
from matplotlib import pyplot

import hardwood as hw
from hardwood.evaluation import simulate_shifts
from hardwood.plotting import (
    plot_adversary,
    plot_margins,
    plot_path,
    plot_shifts,
    plot_tree,
    plot_worst_case,
    shortened,
    spent_by_direction,
)
from hardwood.trees.node_stats import node_stats
from tests.surveys import survey


@pytest.fixture(scope="module")
def fitted():
    frame, y = survey()
    model = hw.RobustTreeClassifier(2, certainty=0.8, plausibility=0.85).fit(frame, y)
    return model, frame, y, model.worst_case(frame, y)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_a_tree_shows_its_splits_classes_samples_and_flipped_samples(fitted):
    found = fitted[3]
    shown = texts(plot_tree(found))
    parts = node_stats(found)
    for part in parts:
        if part.leaf is None:
            name = found.tree.features[part.node.feature].name
            split = found.tree.condition(part.node).removeprefix(f"{name} ")
            assert f"{name}\n{split}?\n{part.n_samples} samples" in shown
        else:
            assert f"{part.n_samples} samples, {part.wrong} wrong, {part.flipped} flipped" in shown
    assert sum(text in ("yes", "no") for text in shown) >= len(parts) - 1


def test_curves_are_those_of_the_attacks(fitted):
    model, frame, y, found = fitted
    ordinary = hw.RobustTreeClassifier(2, plausibility=1.0).fit(frame, y)
    other = ordinary.worst_case(frame, y, plausibility=0.85, certainty=0.8)
    ax = plot_worst_case({"robust": found, "ordinary": other})
    for line, own in zip(ax.lines[:2], (found, other), strict=True):
        assert np.allclose(line.get_ydata(), 100 * own.curve.accuracy_at(line.get_xdata()))
    assert ax.lines[0].get_linestyle() != ax.lines[1].get_linestyle()  # distinguished without colours
    assert ax.lines[2].get_xdata()[0] == model.certificate_.budget
    with pytest.raises(ValueError, match="found is empty"):
        plot_worst_case({})
    with pytest.raises(ValueError, match="expected the same table for all"):
        plot_worst_case({"a": found, "b": model.worst_case(frame[:50], y[:50])})


def test_margins_count_every_sample_that_is_correct(fitted):
    found = fitted[3]
    ax = plot_margins(found)
    drawn = sum(patch.get_height() for container in ax.containers for patch in container)
    never = int(np.isinf(found.margins).sum())
    assert drawn == found.nominal_correct - never
    lost = int((found.margins[found.lost] > 0).sum())
    assert ax.get_legend().get_texts()[0].get_text() == f"flipped by the worst shift ({lost})"


def test_the_heat_map_shows_all_that_is_spent(fitted):
    found = fitted[3]
    spent = spent_by_direction(found)
    assert spent.sum() == pytest.approx(found.spent)
    ax = plot_adversary(found)
    assert ax.images[0].get_array().sum() == pytest.approx(found.spent)
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        feature.name for feature, own in zip(found.tree.features, spent, strict=True) if own.any()
    ]
    nothing = fitted[0].worst_case(fitted[1], fitted[2], plausibility=1.0)
    assert texts(plot_adversary(nothing)) == ["the adversary changes nothing"]


def test_what_is_spent_counts_weights(fitted):
    model, frame, y, _ = fitted
    weights = np.random.default_rng(0).integers(1, 5, len(y))
    found = model.worst_case(frame, y, weights)
    assert spent_by_direction(found).sum() == pytest.approx(found.spent)


def test_shifted_tables_are_counted(fitted):
    model, _, _, found = fitted
    table = found.uncertainty.costs.table
    accuracies = simulate_shifts([model.tree_], table, found.labels, model.shifts_, n_tables=200)
    ax = plot_shifts({"robust": accuracies[0]})
    assert ax.patches[0].get_data().values.sum() == pytest.approx(100)
    assert ax.lines[0].get_xdata()[0] == pytest.approx(100 * accuracies.min())
    with pytest.raises(ValueError, match="accuracies are empty"):
        plot_shifts({})


def test_everything_is_drawn_on_given_axes(fitted):
    found = fitted[3]
    path = {
        "plausibility": [1.0, 0.9],
        "upper_bound": [90, 80],
        "n_samples": [100, 100],
        "worst_case_accuracy": [0.9, 0.7],
        "nominal_accuracy": [0.9, 0.8],
    }
    calls = [
        lambda ax: plot_tree(found, ax=ax),
        lambda ax: plot_worst_case({"one": found}, ax=ax),
        lambda ax: plot_path(path, ax=ax),
        lambda ax: plot_margins(found, ax=ax),
        lambda ax: plot_adversary(found, ax=ax),
        lambda ax: plot_shifts({"one": [0.5, 0.6]}, ax=ax),
    ]
    for call in calls:
        ax = pyplot.subplots()[1]
        assert call(ax) is ax
        ax.figure.canvas.draw()


def test_names_are_shortened_and_never_markup():
    assert shortened("abcdef", 4) == "abc…"
    assert shortened("a\nb", 9) == "a b"
    frame = {r"$\frac{ and " + "y" * 100: [0, 0, 1, 1, 2, 2]}
    y = ["$a$", "$a$", "$a$", "_b", "_b", "_b"]
    model = hw.RobustTreeClassifier(1, plausibility=1.0).fit(frame, y)
    found = model.worst_case(frame, y, plausibility=0.5)
    for ax in (plot_tree(found), plot_adversary(found), plot_worst_case({r"$\frac{": found})):
        ax.figure.canvas.draw()  # invalid mathematics would raise here
