"""Old names of attributes and functions warn and still work."""

import pytest

import hardwood as hw
from hardwood import evaluation, plotting
from hardwood.trees.node_stats import node_stats
from hardwood.trees.tree import Branch, Leaf, Tree


@pytest.fixture(scope="module")
def objects():
    table = hw.encode({"a": [0, 1, 2, 3]})
    labels = hw.encode_labels([0, 0, 1, 1], 4)
    uncertainty = hw.UncertaintySet.priced(table, costs=1.0, budget=1.0)
    found = hw.attack(Tree(table.features, (0, 1), Branch(0, 1, Leaf(0), Leaf(1))), labels, uncertainty)
    accuracy = evaluation.distribution_of(found.tree, table, labels, hw.Calibrated())
    return {
        "Attack": found,
        "Shift": found.shift,
        "Change": next(iter(found.shift)),
        "Curve": found.curve,
        "ClassShare": found.by_class[0],
        "GroupShare": found.by_group(["x", "y", "y", "y"])[0],
        "NodeStats": node_stats(found)[1],
        "Problem": hw.Problem(labels, uncertainty, 1),
        "AccuracyDistribution": accuracy,
    }


@pytest.mark.parametrize(
    ("cls", "old", "new"),
    [
        ("Attack", "priced_value", "distributional_value"),
        ("Attack", "lost_people", "lost_weight"),
        ("Change", "price", "cost"),
        ("Change", "people", "weight"),
        ("Shift", "prices", "costs"),
        ("Shift", "people", "weights"),
        ("Curve", "people", "total_weight"),
        ("Curve", "in_part", "fractional"),
        ("ClassShare", "people", "weight"),
        ("GroupShare", "people", "weight"),
        ("NodeStats", "lost", "flipped"),
        ("NodeStats", "within", "flippable"),
        ("Problem", "tests", "splits"),
        ("Problem", "n_tests", "n_splits"),
        ("Problem", "most_tests", "max_splits"),
        ("Problem", "engine_penalty", "solver_penalty"),
        ("Problem", "in_part", "fractional"),
        ("Problem", "judged", "attack"),
        ("Problem", "allows", "admits"),
        ("AccuracyDistribution", "chances", "probabilities"),
    ],
)
def test_old_attributes_warn_and_work(objects, cls, old, new):
    thing = objects[cls]
    with pytest.warns(DeprecationWarning, match=rf"{cls}\.{old} was renamed to {cls}\.{new}"):
        value = getattr(thing, old)
    assert value is getattr(thing, new) or value == getattr(thing, new)


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [(plotting, "plot_answers", "plot_transitions"), (evaluation, "correct_chances", "correct_probabilities")],
)
def test_old_functions_warn_and_work(module, old, new):
    with pytest.warns(DeprecationWarning, match=f"{old} was renamed to .*{new}"):
        assert getattr(module, old) is getattr(module, new)
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = module.no_such_name
