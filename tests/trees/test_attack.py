from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwood as hw
from hardwood.data.codes import MISSING_CODE
from hardwood.trees.tree import Branch, Leaf, Tree
from tests import oracle
from tests.instances import KINDS, random_instance
from tests.problems import most_are_slow

N_BATCHES, BATCH = 30, 100


def batch(number):
    rng = np.random.default_rng([2026, number])
    return [random_instance(rng) for _ in range(BATCH)]


@pytest.mark.parametrize("number", most_are_slow(N_BATCHES))
def test_worst_case_equals_trying_every_perturbation_of_the_table(number):
    for instance in batch(number):
        attack = hw.attack(instance.tree, instance.encoded_labels, instance.uncertainty)
        assert attack.worst_case_correct == oracle.worst_case(*instance.case, instance.budget)
        assert attack.nominal_correct == sum(
            oracle.predict(instance.plain_tree, [column.codes[i] for column in instance.columns]) == label
            for i, label in enumerate(instance.labels)
        )
        check_margins(instance, attack)
        check_shift(instance, attack)
        check_curve(instance, attack)


@pytest.mark.parametrize("number", most_are_slow(N_BATCHES + 2))
def test_worst_case_with_weights_missing_values_and_pair_tables_equals_the_oracle(number):
    rng = np.random.default_rng([2027, number])
    for instance in [random_instance(rng, wide=True) for _ in range(BATCH)]:
        labels = instance.encoded_labels
        attack = hw.attack(instance.tree, labels, instance.uncertainty)
        check_margins(instance, attack)
        margins = [oracle.margin(*instance.case, i) for i in range(len(labels.codes))]
        weights = instance.weights or [1] * len(margins)
        class_weights = [
            1.0 if instance.class_weights is None else instance.class_weights[label] for label in instance.labels
        ]
        fractional = oracle.fractional_value(margins, weights, class_weights, instance.budget)
        assert attack.distributional_value == pytest.approx(fractional, rel=1e-9, abs=1e-7)
        if labels.integral:
            assert attack.worst_case_correct == worst_case_of_repeated_rows(instance, weights)
        assert attack.curve.correct_at(instance.budget) == pytest.approx(attack.worst_case_correct, abs=1e-7)
        assert attack.spent <= instance.budget * (1 + 2.0**-31)
        assert sum(change.cost for change in attack.shift) == pytest.approx(attack.spent, rel=1e-9, abs=1e-9)
        lost = sum(w * k for w, k in zip(attack.lost_weight, class_weights, strict=True))
        assert attack.worst_case_correct == pytest.approx(attack.total - lost, abs=1e-9)
        costs = {}
        for row, j, code in zip(attack.shift.rows, attack.shift.columns, attack.shift.codes, strict=True):
            new = oracle.MISSING if code == MISSING_CODE else int(code)
            costs[row] = costs.get(row, 0) + instance.columns[j].cost(row, new)
        for row in attack.lost:
            assert float(costs.get(row, 0)) == pytest.approx(attack.margins[row], rel=1e-9, abs=1e-9)


def worst_case_of_repeated_rows(instance, weights):
    """Every perturbation of the table with repeated rows; if these are too many, the cheapest rows first."""
    rows = [i for i, w in enumerate(weights) for _ in range(int(w))]
    if len(rows) > 6:
        margins = [oracle.margin(*instance.case, i) for i in range(len(weights))]
        return oracle.integral_value(margins, weights, instance.budget)
    columns = [
        replace(
            column,
            codes=[column.codes[i] for i in rows],
            costs=[column.costs[i] for i in rows],
            missing=None if column.missing is None else [column.missing[i] for i in rows],
        )
        for column in instance.columns
    ]
    labels = [instance.labels[i] for i in rows]
    return oracle.worst_case(columns, labels, instance.plain_tree, instance.budget)


def check_margins(instance, attack):
    for i in range(len(instance.labels)):
        truth = oracle.margin(*instance.case, i)
        assert attack.margins[i] == pytest.approx(float("inf") if truth is None else float(truth), rel=1e-9, abs=1e-9)


def check_shift(instance, attack):
    """The oracle computes the same cost, the budget affords it, and exactly the lost rows are misclassified."""
    shift = attack.shift
    cells = list(zip(shift.rows.tolist(), shift.columns.tolist(), shift.codes.tolist(), strict=True))
    total = sum((instance.columns[j].cost(row, code) for row, j, code in cells), Fraction(0))
    assert total <= Fraction(instance.budget) * (1 + 2 * oracle.TOLERANCE)
    assert float(total) == pytest.approx(attack.spent, rel=1e-9, abs=1e-9)
    assert attack.spent == pytest.approx(shift.costs.sum(), rel=1e-12)
    assert len({(row, j) for row, j, _ in cells}) == len(shift)
    correct = attack.tree.predict(shift.apply()) == instance.encoded_labels.codes
    assert np.flatnonzero(~correct).tolist() == sorted(attack.lost.tolist())


def check_curve(instance, attack):
    assert attack.curve.correct_at(instance.budget) == attack.worst_case_correct
    for budget in (0.0, instance.budget / 2, instance.budget + 1.0):
        assert attack.curve.correct_at(budget) == oracle.worst_case(*instance.case, budget)


@pytest.mark.slow
def test_the_instances_cover_every_kind_direction_bound_and_cost():
    seen = Counter(trait for number in range(N_BATCHES) for instance in batch(number) for trait in instance.traits)
    directed = [f"{kind} {way}" for kind in KINDS for way in ("both", "up", "down")]
    wanted = {
        *KINDS,
        *directed,
        "open",
        "one bound",
        "both bounds",
        "per sample",
        "by value",
        "shared",
        "by category",
        "few steps",
    }
    wanted |= {"free", "immovable", "tie"}
    wanted -= {"categorical up", "categorical down"}  # no order, no direction
    assert {trait: seen[trait] for trait in wanted if seen[trait] < 50} == {}


def two_sided(n, budget, costs=1.0, values=None):
    """n samples around a threshold at 5, half below and half above it, all correct."""
    values = np.arange(n).reshape(-1, 1) if values is None else values
    table = hw.encode(values)
    labels = hw.encode_labels((values[:, 0] > n // 2 - 1).astype(int), n, classes=(0, 1))
    tree = Tree(table.features, (0, 1), Branch(0, n // 2 - 1, Leaf(0), Leaf(1)))
    return hw.attack(tree, labels, hw.UncertaintySet.priced(table, costs=costs, budget=budget))


def test_cheapest_samples_are_lost_first_and_ties_go_to_the_earlier_row():
    attack = two_sided(6, budget=3.0)
    assert attack.margins.tolist() == [3.0, 2.0, 1.0, 1.0, 2.0, 3.0]
    assert attack.lost.tolist() == [2, 3]
    assert attack.shift.to_dict() == {
        "row": [2, 3],
        "column": ["x0", "x0"],
        "from": [2, 3],
        "to": [3, 2],
        "cost": [1.0, 1.0],
        "weight": [1, 1],
    }


def test_the_curve_is_the_staircase_of_all_budgets():
    curve = two_sided(6, budget=0.0).curve
    assert curve.budgets.tolist() == [1.0, 2.0, 4.0, 6.0, 9.0, 12.0]
    assert curve.correct_at([0, 0.99, 1, 3.9, 4, 100]).tolist() == [6, 6, 5, 4, 3, 0]
    assert curve.accuracy_at(2.0) == pytest.approx(4 / 6)
    assert curve.accuracy_at_plausibility(1.0) == 1.0


def test_free_moves_are_made_even_without_a_budget():
    attack = two_sided(6, budget=0.0, costs=0.0)
    assert (attack.nominal_correct, attack.worst_case_correct, attack.spent) == (6, 0, 0.0)
    assert len(attack.shift) == 6


def test_a_sample_that_is_wrong_without_a_shift_does_not_change():
    table = hw.encode(np.array([[5]]))
    tree = Tree(table.features, (0, 1), Branch(0, 0, Leaf(1), Branch(0, 3, Leaf(0), Leaf(1))))
    uncertainty = hw.UncertaintySet.priced(table, costs=0.0, budget=0.0)
    attack = hw.attack(tree, hw.encode_labels([0], 1, classes=(0, 1)), uncertainty)
    assert (attack.nominal_correct, attack.worst_case_correct, len(attack.shift)) == (0, 0, 0)


@pytest.mark.parametrize("budget", [-1.0, float("nan"), None, "x"])
def test_a_curve_refuses_budgets_that_are_not_numbers_from_zero(budget):
    with pytest.raises(ValueError, match=r"budget is .*; expected"):
        two_sided(6, budget=0.0).curve.correct_at(budget)


def test_immovable_samples_are_never_lost():
    attack = two_sided(6, budget=1e9, costs=np.inf)
    assert attack.worst_case_correct == 6
    assert np.isinf(attack.margins).all()
    assert len(attack.shift) == 0
    assert attack.curve.budgets.size == 0


@settings(max_examples=200, deadline=None)
@given(
    costs=st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=60),
    chosen=st.integers(1, 60),
    order=st.randoms(use_true_random=False),
)
def test_a_budget_that_is_a_sum_of_costs_in_any_order_affords_them(costs, chosen, order):
    """One sample just below a threshold for each cost: flipping the k cheapest costs their sum, however rounded."""
    chosen = min(chosen, len(costs))
    cheapest = sorted(costs)[:chosen]
    order.shuffle(cheapest)
    table = hw.encode(np.zeros((len(costs), 1), dtype=int))
    labels = hw.encode_labels(np.zeros(len(costs), dtype=int), len(costs), classes=(0, 1))
    tree = Tree(table.features, (0, 1), Branch(0, 0, Leaf(0), Leaf(1)))
    uncertainty = hw.UncertaintySet.priced(table, costs={"x0": np.array(costs)}, budget=sum(cheapest))
    assert hw.attack(tree, labels, uncertainty).worst_case_correct <= len(costs) - chosen


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), smaller=st.floats(0, 1), data=st.data())
def test_more_budget_never_leaves_more_samples_correct(seed, smaller, data):
    instance = random_instance(np.random.default_rng(seed))
    budget = data.draw(st.floats(0, 20))

    def correct(budget):
        uncertainty = hw.UncertaintySet(instance.uncertainty.costs, budget)
        return hw.attack(instance.tree, instance.encoded_labels, uncertainty).worst_case_correct

    assert correct(budget) <= correct(smaller * budget)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, (30, 3))
    y = rng.integers(0, 2, 30)
    costs = rng.lognormal(size=(30, 3))
    budget = float(rng.uniform(0, 8))
    order = rng.permutation(30)

    def lost(rows):
        table = hw.encode(values[rows])
        root = Branch(0, 2, Branch(1, 3, Leaf(0), Leaf(1)), Branch(2, 1, Leaf(1), Leaf(0)))
        tree = Tree(table.features, (0, 1), root)
        labels = hw.encode_labels(y[rows], 30)
        attack = hw.attack(tree, labels, hw.UncertaintySet.priced(table, costs=costs[rows], budget=budget))
        return sorted(rows[attack.lost].tolist()), attack.margins[np.argsort(rows)].tolist()

    assert lost(np.arange(30)) == lost(order)


def test_margins_of_a_table_longer_than_a_compiled_block():
    """Compared with a closed form."""
    values = np.random.default_rng(5).integers(0, 100, (5000, 1))
    table = hw.encode(values)
    labels = hw.encode_labels((values[:, 0] > 40).astype(int), 5000)
    tree = Tree(table.features, (0, 1), Branch(0, 40, Leaf(0), Leaf(1)))
    attack = hw.attack(tree, labels, hw.UncertaintySet.priced(table, costs=0.5, budget=1.0))
    distance = np.where(values[:, 0] > 40, values[:, 0] - 40, 41 - values[:, 0])
    assert attack.margins.tolist() == (0.5 * distance).tolist()


def test_labels_and_table_must_fit_the_tree():
    table = hw.encode(np.array([[1], [2]]))
    tree = Tree(table.features, ("a", "b"), Leaf(0))
    uncertainty = hw.UncertaintySet.priced(table, costs=1.0, budget=1.0)
    with pytest.raises(ValueError, match=r"classes=tree\.classes"):
        hw.attack(tree, hw.encode_labels(["a", "c"], 2), uncertainty)
    with pytest.raises(TypeError, match=r"expected what hardwood\.encode_labels returns"):
        hw.attack(tree, [0, 1], uncertainty)
    with pytest.raises(ValueError, match="3 labels but 2 rows"):
        hw.attack(tree, hw.encode_labels(["a", "b", "b"], 3), uncertainty)
    with pytest.raises(ValueError, match=r"features=tree\.features"):
        hw.attack(
            Tree(hw.encode(np.array([[1.5]])).features, ("a", "b"), Leaf(0)),
            hw.encode_labels(["a", "b"], 2),
            uncertainty,
        )
