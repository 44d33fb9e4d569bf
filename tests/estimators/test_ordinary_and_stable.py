import itertools
import math

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import hardwood as hw
from hardwood import (
    Calibrated,
    OrdinaryTreeClassifier,
    RobustTreeClassifier,
    StableTreeClassifier,
    audit,
    compare,
)
from hardwood.problem import DISTRIBUTIONAL_FINENESS
from hardwood.solvers.repeated_rows import repeated
from hardwood.solvers.stable import row_radius
from hardwood.trees.tree import Branch, Leaf
from tests.instances import random_instance
from tests.problems import small_table
from tests.surveys import survey


@parametrize_with_checks(
    [OrdinaryTreeClassifier(max_depth=2), StableTreeClassifier(max_depth=2, certainty=0.99, solver="gurobi")]
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def test_the_strength_of_the_regularisation_is_chosen_on_a_held_out_part():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, (150, 5))
    y = (values[:, 0] > 0).astype(int)
    y = np.where(rng.random(150) < 0.25, 1 - y, y)
    model = OrdinaryTreeClassifier(4, random_state=0).fit(values, y)
    assert set(model.scores_) == {0.6, 0.7, 0.8, 0.9, 0.95, 1.0}
    assert model.scores_[model.strength_] == max(model.scores_.values())
    assert model.strength_ == min(s for s, score in model.scores_.items() if score == max(model.scores_.values()))
    again = OrdinaryTreeClassifier(4, random_state=0).fit(values, y)
    assert again.tree_ == model.tree_
    unregularised = OrdinaryTreeClassifier(4, strengths=[1.0]).fit(values, y)
    assert unregularised.scores_ == {}
    assert unregularised.score(values, y) >= model.score(values, y)
    assert unregularised.tree_.n_branching_nodes >= model.tree_.n_branching_nodes


def test_the_regularised_objective_is_that_of_the_paper():
    values, y, _ = small_table(4, n=30, n_columns=2)
    strength = 0.7
    model = OrdinaryTreeClassifier(1, strengths=[strength]).fit(values, y)
    best = max(np.bincount(y)) * strength
    for j, threshold, left, right in itertools.product(range(2), range(2), range(2), range(2)):
        predicted = np.where(values[:, j] <= threshold, left, right)
        best = max(best, strength * (predicted == y).sum() - (1 - strength))
    correct = (model.predict(values) == y).sum()
    assert strength * correct - (1 - strength) * model.tree_.n_branching_nodes == pytest.approx(best)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strengths": []}, "strengths are"),
        ({"strengths": [0.0, 1.0]}, r"expected numbers in \(0, 1\]"),
        ({"held_out": 0.0}, "held_out is 0.0"),
        ({"held_out": 0.999}, "none would be left"),
    ],
)
def test_invalid_strengths_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        OrdinaryTreeClassifier(1, **parameters).fit([[0], [1], [2]], [0, 1, 0])


def test_the_radius_of_a_row_is_that_of_the_paper():
    binary = hw.encode({"a": [True, False]})
    assert row_radius(binary, 0.6, 0.5) == math.floor(-math.log(0.5) / math.log(0.6 / 0.4)) == 1
    assert row_radius(binary, 0.9, 0.9) == 0
    assert row_radius(binary, {"a": 0.5}, 0.9) == math.inf
    assert row_radius(binary, 1.0, 0.5) == row_radius(binary, 0.7, 1.0) == 0
    integer = hw.encode({"a": [1, 5]})
    assert row_radius(integer, [0.2, 0.4], 0.5) == math.floor(-math.log(0.5) / -math.log(0.7)) == 1
    with pytest.raises(ValueError, match="both must lie in"):
        row_radius(integer, 0.0, 0.5)


@pytest.mark.parametrize("norm", [1, "infinity"])
def test_a_stable_classifier_keeps_its_predictions(norm):
    values, y, _ = small_table(3, n=40, n_columns=2, n_values=9)
    model = StableTreeClassifier(2, radius=1, norm=norm, solver="gurobi").fit(values, y)
    predicted = model.predict(values)
    for step in ([1, 0], [-1, 0], [0, 1], [0, -1]):
        assert (model.predict(values + step) == predicted).all()
    assert model.radius_ == 1
    derived = StableTreeClassifier(1, certainty=0.9, plausibility=0.9).fit(values, y)
    assert derived.radius_ == 0
    unlimited = StableTreeClassifier(1, certainty=1e-9, plausibility=0.5, solver="gurobi").fit(values, y)
    assert unlimited.tree_.n_branching_nodes == 0
    with pytest.raises(ValueError, match='norm is 2; expected 1 or "infinity"'):
        StableTreeClassifier(1, norm=2).fit(values, y)


def test_the_worst_case_is_the_distributional_value_rounded_up():
    below = 0
    for k in range(400):
        instance = random_instance(np.random.default_rng([71, k]), max_samples=12)
        found = hw.attack(instance.tree, instance.encoded_labels, instance.uncertainty)
        assert found.worst_case_correct == math.ceil(found.distributional_value - 1e-12)
        below += found.distributional_value < found.worst_case_correct
    assert below > 50


@pytest.mark.parametrize("seed", range(6))
def test_the_distributional_tree_has_the_largest_value_and_is_most_robust(seed):
    values, y, costs = small_table(seed, n=12, n_columns=2)
    common = {"costs": costs, "budget": 3.3, "branch_penalty": 0.0}
    best = 0.0
    table = hw.encode(values)
    labels = hw.encode_labels(y, 12)
    shifts = hw.UncertaintySet.priced(table, costs=costs, budget=3.3)
    for j, code, left, right in itertools.product(range(2), range(2), range(2), range(2)):
        branch = Branch(j, code, Leaf(left), Leaf(right))
        tree = hw.Tree(table.features, labels.classes, branch)
        best = max(best, hw.attack(tree, labels, shifts).distributional_value)
    best = max(best, float(np.bincount(y).max()))
    model = RobustTreeClassifier(1, objective="distributional", **common).fit(values, y)
    assert best - 1 / DISTRIBUTIONAL_FINENESS - 1e-9 <= model.distributional_value_ <= best + 1e-9
    robust = RobustTreeClassifier(1, **common).fit(values, y)
    assert model.certificate_.worst_case_correct == robust.certificate_.worst_case_correct
    assert robust.distributional_value_ <= model.distributional_value_ + 1 / DISTRIBUTIONAL_FINENESS
    assert model.certificate_.upper_bound >= robust.certificate_.worst_case_correct
    assert hw.check(model.certificate_, values, y).confirmed


def test_repeating_rows_and_budget_multiplies_the_value():
    values, y, costs = small_table(1)
    table = hw.encode(values)
    problem = hw.Problem(hw.encode_labels(y, 40), hw.UncertaintySet.priced(table, costs=costs, budget=4.0), 2)
    many = repeated(problem, 7)
    tree = hw.solve(problem).tree
    once, seven = (hw.attack(tree, p.labels, p.uncertainty).distributional_value for p in (problem, many))
    assert seven == pytest.approx(7 * once, abs=1e-6)


def test_unknown_objectives_are_refused():
    with pytest.raises(ValueError, match="objective is 'gini'"):
        RobustTreeClassifier(1, objective="gini").fit([[0], [1]], [0, 1])


def test_all_methods_are_compared_on_one_table():
    frame, y = survey(100)
    numbers = frame[["age", "income", "asked before"]].assign(left=frame["party"] == "left")
    methods = {
        "robust": RobustTreeClassifier(2, certainty=0.8),
        "ordinary": OrdinaryTreeClassifier(2, random_state=0),
        "stable": StableTreeClassifier(1, solver="gurobi"),
        "groot": RobustTreeClassifier(2, solver="groot", radius={"age": 1, "income": 1, "asked before": 0, "left": 0}),
        "chen": RobustTreeClassifier(2, solver="chen", radius={"age": 1, "income": 1, "asked before": 0, "left": 0}),
        "CART": DecisionTreeClassifier(max_depth=2, random_state=0),
    }
    found = compare(methods, numbers, y, certainty=0.8, n_tables=200)
    columns = found.to_dict()
    assert columns["method"] == list(methods)
    for row in found.rows:
        assert row["worst_case_accuracy"] <= row["nominal_accuracy"]
        assert row["lowest_sampled_accuracy"] <= row["expected_accuracy"] <= 1
    best = max(columns["worst_case_accuracy"][k] for k, name in enumerate(columns["method"]) if name != "CART")
    assert columns["worst_case_accuracy"][0] == best  # proved for this depth, certainty and plausibility
    text = str(found)
    assert "lowest sampled" in text
    assert "shifts: certainty 0.8, plausibility 0.9" in text
    assert not hasattr(methods["robust"], "tree_")
    listed = compare([RobustTreeClassifier(1), RobustTreeClassifier(2)], numbers, y, n_tables=10)
    assert listed.to_dict()["method"] == ["RobustTreeClassifier 1", "RobustTreeClassifier 2"]
    tested = compare(methods, numbers[:70], y[:70], X_test=numbers[70:], y_test=y[70:], n_tables=50)
    assert len(tested.rows) == 6


def test_trees_with_different_thresholds_are_evaluated_with_the_same_bins():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)
    stump, deep = DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(max_depth=4, random_state=0)
    models = {"robust": RobustTreeClassifier(2, certainty=0.8), "stump": stump}
    alone = compare(models, X, y, certainty=0.8, n_tables=5).rows
    beside = compare(models | {"deep": deep}, X, y, certainty=0.8, n_tables=5).rows
    # The same tree twice has the same numbers, whatever the other methods: all bins are common.
    twice = compare(models | {"deep": deep, "again": stump}, X, y, certainty=0.8, n_tables=5).rows
    numbers = [{name: value for name, value in row.items() if name not in ("seconds", "method")} for row in twice]
    assert numbers[1] == numbers[3]
    # More bins make a move across the same distance more expensive, for every tree.
    for before, after in zip(alone, beside, strict=False):
        assert after["nominal_accuracy"] == before["nominal_accuracy"]
        assert after["worst_case_accuracy"] >= before["worst_case_accuracy"]


def test_shifts_are_given_as_an_object_or_as_parameters():
    frame, y = survey(60)
    description = Calibrated(certainty=0.7, plausibility=0.8)
    methods = {"robust": RobustTreeClassifier(1)}
    whole = compare(methods, frame[["age"]], y, shifts=description, n_tables=5).rows[0]
    listed = compare(methods, frame[["age"]], y, certainty=0.7, plausibility=0.8, n_tables=5).rows[0]
    assert whole["worst_case_accuracy"] == listed["worst_case_accuracy"]
    tree = RobustTreeClassifier(1).fit(frame[["age"]], y).tree_
    assert (
        audit(tree, frame[["age"]], y, shifts=description).worst_case_accuracy
        == audit(tree, frame[["age"]], y, certainty=0.7, plausibility=0.8).worst_case_accuracy
    )
    with pytest.raises(ValueError, match=r"\['plausibility'\] are given, too: state everything in the shift model"):
        audit(tree, frame[["age"]], y, shifts=description, plausibility=0.8)


def test_invalid_comparisons_are_refused():
    frame, y = survey(20)
    with pytest.raises(ValueError, match="methods are empty"):
        compare([], frame, y)
    with pytest.raises(ValueError, match="X_test and y_test belong together"):
        compare([RobustTreeClassifier(1)], frame, y, X_test=frame)
