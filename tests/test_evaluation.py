import itertools
import math

import numpy as np
import pytest

import hardwood as hw
from hardwood.data.table import Table
from hardwood.evaluation import expected_accuracy, simulate_shifts
from hardwood.shifts.models import Calibrated
from hardwood.trees.tree import Branch, Leaf, Tree
from tests.surveys import survey

FAR = 60  # steps; the probability beyond is below double precision


def move_probabilities(value, certainty, direction, lower, upper):
    """Distribution of an integer after the shift, as the documentation of the calibration defines it."""
    low = value if direction == "up" else (value - FAR if lower is None else lower)
    high = value if direction == "down" else (value + FAR if upper is None else upper)
    reachable = range(low, high + 1)
    if lower is None and upper is None:
        half = 0.5 if direction == "both" else 1.0
        return {v: certainty * (1 - certainty) ** abs(v - value) * (1.0 if v == value else half) for v in reachable}
    # rho r^|k| with the r for which probabilities add up to one, by bisection.
    small, large = 0.0, 1.0
    for _ in range(200):
        r = (small + large) / 2
        total = sum(certainty * r ** abs(v - value) for v in reachable)
        small, large = (small, r) if total > 1 else (r, large)
    return {v: certainty * r ** abs(v - value) for v in reachable}


def random_tree(rng, table, depth):
    if depth == 0 or rng.random() < 0.15:
        return Leaf(int(rng.integers(2)))
    j = int(rng.integers(len(table.features)))
    feature = table.features[j]
    if feature.kind == "integer":
        code = int(rng.integers(feature.low - 1, feature.high + 1))
    else:
        code = int(rng.integers(0, feature.n_values - feature.ordered))
    return Branch(j, code, *(random_tree(rng, table, depth - 1) for _ in range(2)))


@pytest.mark.parametrize("seed", range(40))
def test_the_expectation_is_the_sum_over_all_shifts(seed):
    rng = np.random.default_rng(seed)
    n = 4
    table = hw.encode({"a": rng.integers(0, 4, n), "b": rng.choice(["x", "y", "z"], n).tolist()})
    labels = hw.encode_labels(rng.integers(0, 2, n), n, classes=(0, 1))
    direction = str(rng.choice(["both", "up", "down"]))
    lower, upper = (None if rng.random() < 0.5 else -1), (None if rng.random() < 0.5 else 5)
    certainty = {"a": rng.uniform(0.5, 0.95), "b": rng.uniform(0.5, 1.0)}
    shifts = Calibrated(certainty=certainty, direction={"a": direction}, bounds={"a": (lower, upper)})
    tree = Tree(table.features, (0, 1), random_tree(rng, table, 3))
    n_categories = table.features[1].n_values
    expected = 0.0
    for i in range(n):
        a = move_probabilities(int(table.values[i, 0]), certainty["a"], direction, lower, upper)
        rest = (1 - certainty["b"]) / (n_categories - 1) if n_categories > 1 else 0.0
        b = {k: certainty["b"] if k == table.values[i, 1] else rest for k in range(n_categories)}
        if n_categories == 1:
            b = {0: 1.0}
        for (va, pa), (vb, pb) in itertools.product(a.items(), b.items()):
            leaf = tree.predict(Table(table.features, np.array([[va, vb]], dtype=np.int32)))
            expected += pa * pb * (leaf[0] == labels.codes[i])
    assert expected_accuracy(tree, table, labels, shifts) == pytest.approx(expected / n, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_sampled_tables_agree_with_the_expectation(seed):
    frame, y = survey(60, seed)
    table, labels = hw.encode(frame), hw.encode_labels(y, 60)
    shifts = Calibrated(certainty=0.7)
    rng = np.random.default_rng(seed)
    trees = [Tree(table.features, ("no", "yes"), random_tree(rng, table, 3)) for _ in range(3)]
    found = simulate_shifts(trees, table, labels, shifts, n_tables=3000, seed=seed)
    assert found.shape == (3, 3000)
    for tree, accuracies in zip(trees, found, strict=True):
        exact = expected_accuracy(tree, table, labels, shifts)
        spread = math.sqrt(0.25 / 60 / 3000)
        assert abs(accuracies.mean() - exact) < 6 * spread
        assert set(np.unique(np.round(accuracies * 60, 6))) <= set(range(61))


def test_seeds_determine_the_tables_and_trees_share_them():
    frame, y = survey(50)
    table, labels = hw.encode(frame), hw.encode_labels(y, 50)
    shifts = Calibrated(certainty=0.7)
    tree = hw.RobustTreeClassifier(2).fit(frame, y).tree_
    first = simulate_shifts([tree, tree], table, labels, shifts, n_tables=200, seed=3)
    assert (first[0] == first[1]).all()
    assert (simulate_shifts([tree], table, labels, shifts, n_tables=200, seed=3)[0] == first[0]).all()
    assert (simulate_shifts([tree], table, labels, shifts, n_tables=200, seed=4)[0] != first[0]).any()


def test_values_that_are_certain_never_move():
    frame, y = survey(50)
    table, labels = hw.encode(frame), hw.encode_labels(y, 50)
    tree = hw.RobustTreeClassifier(2).fit(frame, y).tree_
    sure = Calibrated(certainty=1.0)
    nominal = float((tree.predict(table) == labels.codes).mean())
    assert expected_accuracy(tree, table, labels, sure) == pytest.approx(nominal)
    assert simulate_shifts([tree], table, labels, sure, n_tables=5)[0] == pytest.approx(nominal)


def test_certainties_may_differ_by_cell_and_leaves_need_no_draw():
    frame, y = survey(30)
    table, labels = hw.encode(frame), hw.encode_labels(y, 30)
    certainty = np.random.default_rng(0).uniform(0.6, 1.0, (30, 5))
    tree = hw.RobustTreeClassifier(2).fit(frame, y).tree_
    shifts = Calibrated(certainty=certainty)
    sampled = simulate_shifts([tree], table, labels, shifts, n_tables=4000).mean()
    assert sampled == pytest.approx(expected_accuracy(tree, table, labels, shifts), abs=0.01)
    leaf = Tree(table.features, tree.classes, Leaf(0))
    assert simulate_shifts([leaf], table, labels, shifts, n_tables=2)[0].tolist() == [np.mean(y == "no")] * 2


def test_thousands_of_tables_are_drawn_at_once():
    rng = np.random.default_rng(0)
    table = hw.encode(rng.integers(0, 5, (600, 40)))
    labels = hw.encode_labels(rng.integers(0, 2, 600), 600)
    tree = Tree(table.features, (0, 1), random_tree(np.random.default_rng(5), table, 5))
    found = simulate_shifts([tree], table, labels, Calibrated(certainty=0.8), n_tables=5000)
    assert found.shape == (1, 5000)
    assert len(np.unique(found)) > 20


def test_trees_of_other_classes_or_columns_are_refused():
    frame, y = survey(20)
    table, labels = hw.encode(frame), hw.encode_labels(y, 20)
    with pytest.raises(ValueError, match="a tree has the classes"):
        simulate_shifts([Tree(table.features, ("a", "b"), Leaf(0))], table, labels, Calibrated())
    with pytest.raises(ValueError, match="n_tables is 0"):
        simulate_shifts([], table, labels, Calibrated(), n_tables=0)
