"""Random shifts: their accuracy and their price, exactly, against shifts that are drawn by hand."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import hardwood as hw
from hardwood import shiftlab
from hardwood.data.codes import MISSING_CODE
from hardwood.data.columns import MISSING_CATEGORY
from hardwood.data.table import Table
from hardwood.evaluation import correct_probabilities, distribution_of, simulate_shifts
from hardwood.shifts.models import shift_model
from hardwood.shifts.move_costs import given_costs
from hardwood.trees.tree import Branch, Leaf, Tree
from tests.random_moves import cases
from tests.shifts.models_of_users import ScaledCosts

CASES = cases()
DRAWS = 200_000
# Dvoretzky, Kiefer and Wolfowitz: so far may shares of draws differ from probabilities, but for a chance of 1e-9.
AWAY = math.sqrt(math.log(2e9) / (2 * DRAWS))


def read(case):
    table = hw.encode(case.frame, kinds=case.kinds, missing=case.missing)
    return table, shift_model(**case.parameters)


def code_of(feature, value):
    """The code of a value of the moves by hand."""
    if value is None:
        return MISSING_CODE if feature.ordered else feature.categories.index(MISSING_CATEGORY)
    return feature.categories.index(value) if feature.kind in ("categorical", "binary") else int(value)


def random_tree(rng, table, depth):
    if depth == 0 or rng.random() < 0.1:
        return Leaf(int(rng.integers(2)))
    j = int(rng.integers(len(table.features)))
    feature = table.features[j]
    code = int(rng.integers(feature.low - (feature.kind == "integer"), feature.high + (not feature.ordered)))
    children = [random_tree(rng, table, depth - 1) for _ in range(2)]
    return Branch(j, code, *children, missing_left=bool(feature.missing and rng.random() < 0.5))


def labelled(rng, n, how):
    weights = {"whole": rng.integers(1, 4, n), "real": rng.uniform(0.2, 3, n)}.get(how)
    class_weights = {0: 1.0, 1: 2.5} if how == "worth" else None
    return hw.encode_labels(rng.integers(0, 2, n), n, classes=(0, 1), weights=weights, class_weight=class_weights)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_value_is_correct_as_often_as_all_its_moves_say(case):
    table, shifts = read(case)
    rng = np.random.default_rng(1)
    for _ in range(20):
        tree = Tree(table.features, (0, 1), random_tree(rng, table, 3))
        labels = labelled(rng, table.n_samples, "plain")
        found = correct_probabilities(tree, table, labels, shifts)
        if len(case.moves) > 1:  # of several columns, all combinations: a few rows suffice
            continue
        (name,) = case.moves
        for i, moves in enumerate(case.moves[name]):
            new = np.array([[code_of(table.features[0], v)] for v in moves], dtype=np.int32)
            right = tree.predict(Table(table.features, new)) == labels.codes[i]
            assert found[i] == pytest.approx(sum(np.array([p for p, _ in moves.values()])[right]), abs=1e-9)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_chance_to_stay_is_that_of_the_move_by_hand(case):
    table, shifts = read(case)
    found = shifts.probabilities(table)
    for j, moves in enumerate(case.moves.values()):
        codes = table.values[:, j]
        wanted = [
            next(p for v, (p, _) in own.items() if code_of(table.features[j], v) == code)
            for own, code in zip(moves, codes, strict=True)
        ]
        assert found[j].stays() == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("how", ["plain", "whole", "real", "worth"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_exact_distribution_is_that_of_200000_simulations(case, how):
    table, shifts = read(case)
    rng = np.random.default_rng(3)
    tree = Tree(table.features, (0, 1), random_tree(rng, table, 3))
    labels = labelled(rng, table.n_samples, how)
    exact = distribution_of(tree, table, labels, shifts)
    drawn = np.sort(simulate_shifts([tree], table, labels, shifts, n_tables=DRAWS, seed=5)[0])
    assert drawn.mean() == pytest.approx(exact.mean, abs=6 * exact.deviation / math.sqrt(DRAWS) + 1e-6)
    for accuracy in np.unique(drawn)[:: max(1, len(np.unique(drawn)) // 40)]:
        share = 1.0 - np.searchsorted(drawn, accuracy - 1e-7, side="left") / DRAWS
        probability = exact.at_least(accuracy - 1e-7)
        assert probability.low - AWAY <= share <= probability.high + AWAY
    for share in (0.05, 0.5, 0.95):
        at = exact.quantile(share)
        assert np.mean(drawn <= at + 1e-4) >= share - AWAY - 1e-3


def drawn_costs(case, rng, n_draws, columns):
    """What drawn shifts cost, by hand."""
    total = np.zeros(n_draws)
    for name in columns:
        for moves in case.moves[name]:
            probabilities = np.array([p for p, _ in moves.values()])
            costs = np.array([cost for _, cost in moves.values()])
            total += rng.choice(costs, n_draws, p=probabilities / probabilities.sum())
    return total


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_coverage_is_that_of_drawn_shifts_and_the_plausibility_inverts_it(case):
    rng = np.random.default_rng(7)
    n_draws = 40_000
    away = math.sqrt(math.log(2e9) / (2 * n_draws))
    words = case.parameters | {"feature_kinds": case.kinds, "missing": case.missing}
    costs = drawn_costs(case, rng, n_draws, case.moves)
    n = len(case.frame)
    for plausibility in np.exp(-np.quantile(costs, [0.05, 0.3, 0.6, 0.9]) / n):
        found = shiftlab.coverage(case.frame, plausibility=float(plausibility), **words)
        share = np.mean(costs <= found.budget * (1 + 1e-9))
        probability = found.all_columns
        assert probability.draws is None
        assert probability.low - away <= share <= probability.high + away
        assert found.everything.cost.mean == pytest.approx(costs.mean(), rel=0.05, abs=0.05)
    for target in (0.5, 0.95):
        level = shiftlab.plausibility_for_coverage(target, case.frame, **words)
        assert shiftlab.coverage(case.frame, plausibility=level, **words).all_columns.value >= target
        if level < 1:
            tighter = shiftlab.coverage(case.frame, plausibility=min(1.0, level * 1.0005 + 1e-9), **words)
            assert tighter.all_columns.low <= target + 1e-6


def test_the_columns_that_a_tree_asks_for_are_easier_to_cover():
    case = CASES[-1]
    y = (case.columns["a"] > 2).astype(int)
    model = hw.RobustTreeClassifier(1, feature_kinds=case.kinds, plausibility=0.6, **case.parameters).fit(case.frame, y)
    asked = sorted({node.feature for node in model.tree_.nodes if isinstance(node, Branch)})
    found = shiftlab.coverage(case.frame, model)
    assert found.asked.columns == tuple(model.tree_.features[j].name for j in asked)
    assert found.used_columns.value > found.all_columns.value
    costs = drawn_costs(case, np.random.default_rng(1), 20_000, found.asked.columns)
    assert found.used_columns.value == pytest.approx(np.mean(costs <= found.budget), abs=0.02)
    assert shiftlab.plausibility_for_coverage(0.9, case.frame, model) > shiftlab.plausibility_for_coverage(
        0.9, case.frame, feature_kinds=case.kinds, **case.parameters
    )
    assert "the columns that the tree uses" in str(found)
    assert found.to_dict()["used_columns"]["coverage"] == found.used_columns.value


def test_four_uncertain_columns_and_plausibility_a_half_cover_almost_nothing():
    X = np.random.default_rng(0).integers(0, 10, (500, 4))
    assert shiftlab.coverage(X, certainty=0.9, plausibility=0.5).all_columns.high < 1e-3


@pytest.mark.parametrize("seed", range(3))
def test_weights_count_as_repeated_rows_or_pay_for_all_of_their_people(seed):
    rng = np.random.default_rng(seed)
    X = {"a": rng.integers(0, 5, 12), "b": rng.choice(["x", "y"], 12).tolist()}
    weights = rng.integers(1, 4, 12)
    repeated = {name: np.repeat(column, weights) for name, column in X.items()}
    words = {"certainty": 0.8, "plausibility": 0.6}
    own = shiftlab.coverage(X, sample_weight=weights, **words)
    other = shiftlab.coverage(repeated, **words)
    assert own.all_columns.value == pytest.approx(other.all_columns.value, abs=1e-9)
    real = rng.uniform(0.2, 2, 12)
    found = shiftlab.coverage(X, sample_weight=real, **words)
    draw = np.random.default_rng(9)
    a = (draw.geometric(0.8, (100_000, 12)) - 1) * -math.log(0.2)
    b = (draw.random((100_000, 12)) < 0.2) * math.log(0.8 / 0.2)
    share = np.mean((a + b) @ real <= -real.sum() * math.log(0.6))
    assert found.all_columns.low - 0.01 <= share <= found.all_columns.high + 0.01


def test_a_change_that_has_no_price_is_never_covered():
    X = {"a": [1, 2, 3, 4]}
    table = {v: {w: 0.7 if v == w else 0.1 for w in range(1, 5)} for v in range(1, 5)}
    found = shiftlab.coverage(X, certainty={"a": table}, direction={"a": "up"}, plausibility=1e-9)
    assert found.all_columns.value == pytest.approx(1.0 * 0.9 * 0.8 * 0.7)
    assert shiftlab.plausibility_for_coverage(0.5, X, certainty={"a": table}, direction={"a": "up"}) > 0
    with pytest.raises(ValueError, match="no plausibility covers"):
        shiftlab.plausibility_for_coverage(0.6, X, certainty={"a": table}, direction={"a": "up"})


def test_a_table_that_stays_as_it_is_has_a_chance_also_if_certainties_differ():
    X = {"a": np.arange(1, 6), "b": np.arange(1, 6)}
    found = shiftlab.coverage(X, certainty={"a": 0.99, "b": 0.98}, plausibility=1.0).all_columns
    assert found.value == pytest.approx((0.99 * 0.98) ** 5, abs=1e-5)
    assert shiftlab.plausibility_for_coverage(0.8, X, certainty={"a": 0.99, "b": 0.98}) == 1.0
    assert shiftlab.plausibility_for_coverage(0.49, {"a": [1, 2]}, certainty=0.7) == 1.0


def test_what_is_certain_never_changes_also_where_answers_are_missing():
    X = {"a": [1, 2, np.nan, 4, 2, 1]}
    words = {"missing": "category", "feature_kinds": {"a": "integer"}, "plausibility": 0.5}
    assert shiftlab.coverage(X, certainty=1.0, **words).everything.cost.mean == 0
    found = shiftlab.coverage(X, certainty=0.9, missing_certainty=1.0, **words)
    assert found.everything.cost.mean == pytest.approx(5 * (0.1 / 0.9) * -math.log(0.1))


def test_columns_with_one_answer_never_change():
    words = {"certainty": 0.8, "plausibility": 0.7}
    alone = shiftlab.coverage({"a": [1, 2, 3, 4]}, **words).all_columns.value
    for constant in (["x"] * 4, [0.5] * 4):
        assert shiftlab.coverage({"a": [1, 2, 3, 4], "b": constant}, **words).all_columns.value == pytest.approx(alone)
    nothing = {"a": [1, 2, 3, 4], "b": [None] * 4}
    for more in ({}, {"missing_certainty": {"b": 0.9}}):
        found = shiftlab.coverage(nothing, missing="category", feature_kinds={"b": "categorical"}, **words, **more)
        assert found.all_columns.value == pytest.approx(alone)


def test_costs_alone_do_not_state_probabilities():
    X, y = {"a": [1, 2, 3, 4]}, [0, 0, 1, 1]
    with pytest.raises(ValueError, match="costs is given; costs alone do not state how likely a change is"):
        shiftlab.coverage(X, costs=1.0, budget=2.0)
    model = hw.RobustTreeClassifier(1, radius=1).fit(X, y)
    with pytest.raises(ValueError, match="radius is given; costs alone"):
        shiftlab.accuracy_distribution(model, X, y)
    with pytest.raises(ValueError, match="it must lie between 0 and 1"):
        shiftlab.plausibility_for_coverage(1.5, X)


def shifted_by_hand(case, rng, features):
    """A drawn table, and what it costs."""
    codes, cost = [], 0.0
    for j, moves in enumerate(case.moves.values()):
        column = []
        for own in moves:
            answers, (probabilities, costs) = list(own), zip(*own.values(), strict=True)
            k = rng.choice(len(answers), p=np.array(probabilities) / sum(probabilities))
            cost += costs[k]
            column.append(code_of(features[j], answers[k]))
        codes.append(column)
    return np.array(codes, dtype=np.int32).T, cost


@pytest.mark.slow
def test_no_shift_within_the_budget_keeps_less_than_the_guarantee():
    """10,000 drawn shifts of every kind: whenever the price, by hand, is within the budget, the promise is kept."""
    rng = np.random.default_rng(11)
    within = trials = 0
    while trials < 10_000:
        for case in cases(n=8, seed=int(rng.integers(1 << 30))):
            table, shifts = read(case)
            tree = Tree(table.features, (0, 1), random_tree(rng, table, 3))
            labels = labelled(rng, table.n_samples, "plain")
            usual = np.median([shifted_by_hand(case, rng, table.features)[1] for _ in range(5)])
            budget = float(usual * rng.uniform(0.3, 2.0)) if rng.random() < 0.8 else 0.0
            promise = hw.attack(tree, labels, shifts.uncertainty(table, budget=budget)).worst_case_correct
            for _ in range(20):
                values, cost = shifted_by_hand(case, rng, table.features)
                trials += 1
                if cost <= budget:
                    within += 1
                    assert np.sum(tree.predict(Table(table.features, values)) == labels.codes) >= promise, case.name
    assert within > trials / 4


def test_a_distribution_tells_its_numbers():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (60, 2)), rng.integers(0, 2, 60)
    model = hw.RobustTreeClassifier(2, certainty=0.8).fit(X, y)
    found = shiftlab.accuracy_distribution(model, X, y)
    places, probabilities = found.points
    assert probabilities.sum() == pytest.approx(1.0)
    assert places @ probabilities == pytest.approx(found.mean)
    assert found.at_least(0.0).value == pytest.approx(1.0)
    assert found.quantile(0.05) <= found.mean <= found.quantile(0.95)
    assert found.nominal == pytest.approx(model.score(X, y))
    assert "on average over random shifts" in str(found)
    assert found.to_dict()["quantile_0.5"] == found.quantile(0.5)
    with pytest.raises(ValueError, match="share is 0"):
        found.quantile(0)
    surer = shiftlab.accuracy_distribution(model.tree_, X, y, certainty=1.0)
    assert surer.deviation == 0
    assert surer.mean == pytest.approx(found.nominal)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_probabilities_do_not_follow_from_the_costs(case):
    """With twice the costs and twice the budget, a random shift stays within the budget as often."""
    words = {"feature_kinds": case.kinds, "missing": case.missing}
    usual = shiftlab.coverage(case.frame, shifts=hw.Calibrated(**case.parameters, plausibility=0.5), **words)
    scaled = shiftlab.coverage(case.frame, shifts=ScaledCosts(**case.parameters, plausibility=0.25), **words)
    assert scaled.everything.cost.mean == pytest.approx(2 * usual.everything.cost.mean)
    assert scaled.all_columns.value == pytest.approx(usual.all_columns.value, abs=1e-9)


@dataclass(frozen=True)
class DownIsFree(hw.Calibrated):
    """Costs by pairs of values, which are not those of the certainties: a step up costs 1, one down nothing."""

    def move_costs(self, table):
        pairs = {a: {b: max(b - a, 0.0) for b in range(1, 4)} for a in range(1, 4)}
        return given_costs(table, {"a": pairs})


def test_the_cost_of_a_pair_counts_with_the_probability_of_its_certainty():
    shifts = DownIsFree(0.6, plausibility=0.9, bounds={"a": (1, 3)})
    found = shiftlab.coverage({"a": [1, 2, 3]}, shifts=shifts).everything.cost
    far = (math.sqrt(1 + 4 * (1 / 0.6 - 1)) - 1) / 2  # r with r + r^2 = 1 / 0.6 - 1
    from_one, from_two = 0.6 * (far + 2 * far**2), 0.2  # nothing costs from 3 on
    assert found.mean == pytest.approx(from_one + from_two)
    assert found.at_most(0.5).value == pytest.approx(0.6 * 0.8)


def test_costs_that_differ_by_row_count_for_these_rows():
    """The certainty is the same for all rows, the costs are not."""

    @dataclass(frozen=True)
    class ByRow(hw.Calibrated):
        def move_costs(self, table):
            return given_costs(table, {"a": np.array([1.0, 5.0])})

    found = shiftlab.coverage({"a": [3, 3]}, shifts=ByRow(0.75, plausibility=0.9)).everything.cost
    assert found.mean == pytest.approx((1 + 5) * 0.25 / 0.75)


def test_no_plausibility_is_named_where_none_covers():
    X = {"a": [1, 2, 3, 4]}
    table = {v: {w: 0.7 if v == w else 0.1 for w in range(1, 5)} for v in range(1, 5)}
    found = shiftlab.coverage(X, certainty={"a": table}, direction={"a": "up"}, plausibility=0.5)
    assert "; no plausibility would cover 95 in 100" in str(found)
