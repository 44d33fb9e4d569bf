"""Drift: what a shift really cost, beside the budget."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.tree import DecisionTreeClassifier

import hardwood as hw
from chances import cases
from hardwood import shiftlab
from hardwood.evaluation import shifted_tables
from hardwood.shiftlab.transport import cheapest_transport, drawn_alike
from hardwood.trees.tree import Branch
from surveys import survey


@pytest.fixture(scope="module")
def fitted():
    X, y = survey(200)
    return hw.RobustTreeClassifier(2, certainty=0.85, plausibility=0.9).fit(X, y), X, y


def test_nothing_changed_costs_nothing(fitted):
    model, X, y = fitted
    found = shiftlab.drift(model, X, X, y)
    assert found.status == "within"
    assert (found.price, found.price_of_all, found.plausibility) == (0, 0, 1)
    assert found.then == found.now == pytest.approx(model.certificate_.nominal_accuracy)
    assert found.guarantee == model.certificate_.worst_case_accuracy
    assert found.turned == found.turned_price == 0
    assert found.verdict.startswith("WITHIN THE BUDGET")


def test_the_worst_shift_is_within_the_budget_and_costs_what_it_says(fitted):
    model, X, y = fitted
    attack = model.worst_case(X, y)
    shifted = attack.shift.apply()
    now = {
        feature.name: [feature.decode(int(code)) for code in shifted.values[:, j]]
        for j, feature in enumerate(shifted.features)
        if feature.kind != "binned"
    }
    now["income"] = X["income"]
    now["trust"] = pd.Categorical(now["trust"], ["low", "middle", "high"], ordered=True)
    asked = {model.tree_.features[node.feature].name for node in model.tree_.nodes if isinstance(node, Branch)}
    assert "income" not in asked
    found = shiftlab.drift(model, X, pd.DataFrame(now)[X.columns.tolist()], y)
    assert found.price == pytest.approx(attack.spent)
    assert found.status == "within"
    assert found.now == pytest.approx(attack.worst_case_accuracy) == pytest.approx(found.guarantee)
    assert found.turned_price == pytest.approx(attack.spent)
    assert found.turned == len(attack.lost) - np.sum(attack.margins[attack.lost] == 0)


@pytest.mark.parametrize("seed", range(5))
def test_prices_are_those_of_single_changes_and_harm_never_costs_more(fitted, seed):
    model, X, y = fitted
    table = model.encoded(X)
    (shifted,) = shifted_tables(table, model.labelled(y, table), model.shifts_, n_tables=1, seed=seed)
    costs = model.shifts_.uncertainty(table).costs
    now = X.copy()
    for j, feature in enumerate(table.features):
        if feature.kind != "binned":
            now[feature.name] = [feature.decode(int(code)) for code in shifted.values[:, j]]
    now["trust"] = pd.Categorical(now["trust"], ["low", "middle", "high"], ordered=True)
    found = shiftlab.drift(model, X, now, y)
    for j, feature in enumerate(table.features):
        own = found.by_column[feature.name]
        if feature.kind == "binned":
            continue
        prices = costs.move_prices(j, np.arange(table.n_samples), shifted.values[:, j])
        assert own.price == pytest.approx(prices.sum())
        assert own.changed == np.sum(shifted.values[:, j] != table.values[:, j])
    assert found.turned_price <= found.price + 1e-9
    if found.turned_price <= found.budget:
        assert found.now >= found.guarantee
    assert found.within == (found.price <= found.budget * (1 + 1e-9))
    assert found.plausibility == pytest.approx(math.exp(-found.price / 200))
    apart = shiftlab.drift(model, X, now, y, different_people=True)
    for name, own in apart.by_column.items():
        assert own.price <= found.by_column[name].price + 1e-9


def test_changes_that_were_held_impossible_are_beyond_every_budget(fitted):
    model, X, y = fitted
    now = X.assign(party=np.where(np.arange(200) < 3, "a new party", X["party"]))
    found = shiftlab.drift(model, X, now, y)
    assert found.by_column["party"].impossible == 3
    assert found.status == "beyond"
    assert "held to be impossible" in found.verdict
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["price"] == "inf"
    apart = shiftlab.drift(model, X, now.assign(party="a new party"), different_people=True)
    assert apart.status == "beyond"
    down = {"a": [1, 2, 3, 4] * 5}
    one_way = hw.RobustTreeClassifier(1, direction={"a": "up"}).fit(down, [0, 0, 1, 1] * 5)
    assert shiftlab.drift(one_way, down, {"a": [0, 2, 3, 4] * 5}).by_column["a"].impossible == 5
    assert shiftlab.drift(one_way, down, {"a": [2, 2, 3, 4] * 5}).by_column["a"].impossible == 0
    gone = shiftlab.drift(one_way, down, {"a": [np.nan, 2, 3, 4] * 5})
    assert gone.by_column["a"].impossible == 5
    bounded = hw.RobustTreeClassifier(1, bounds={"a": (1, 4)}).fit(down, [0, 0, 1, 1] * 5)
    assert shiftlab.drift(bounded, down, {"a": [5, 2, 3, 4] * 5}).by_column["a"].impossible == 5


@pytest.mark.parametrize("case", [case for case in cases(n=9) if len(case.columns) == 1], ids=lambda case: case.name)
def test_the_least_price_of_different_people_is_that_of_the_best_matching(case):
    """As many rows in both tables: then the transport is an assignment of rows, which another algorithm solves."""
    rng = np.random.default_rng(2)
    frame = case.frame
    y = np.arange(len(frame)) % 2
    words = case.words | {"feature_kinds": case.kinds, "missing": case.missing, "plausibility": 0.9}
    certainty = words.pop("certainty") if isinstance(words["certainty"], np.ndarray) else None
    model = hw.RobustTreeClassifier(1, **words)
    model = model.fit(frame, y) if certainty is None else model.fit(frame, y, certainty=certainty)
    now = frame.iloc[rng.integers(0, len(frame), len(frame))].reset_index(drop=True)
    shifts = None if certainty is None else hw.ShiftDescription(certainty=certainty)
    found = shiftlab.drift(model, frame, now, different_people=True, shifts=shifts)
    table, later = model.encoded(frame), model.encoded(now)
    costs = (shifts or model.shifts_).uncertainty(table).costs
    n = len(frame)
    prices = np.array([costs.move_prices(0, np.full(n, i), later.values[:, 0]) for i in range(n)])
    dear = np.where(np.isfinite(prices), prices, 1e6)
    rows, columns = linear_sum_assignment(dear)
    matched = prices[rows, columns]
    assert found.by_column["a"].impossible == pytest.approx(np.sum(~np.isfinite(matched)), abs=1e-6)
    assert found.by_column["a"].price == pytest.approx(matched[np.isfinite(matched)].sum(), rel=1e-5, abs=1e-6)


def test_transport_prefers_ways_that_exist():
    price, lost = cheapest_transport(np.array([2.0, 1.0]), np.array([1.0, 2.0]), np.array([[0.0, 3.0], [np.inf, 0.0]]))
    assert (price, lost) == (pytest.approx(3.0, rel=1e-6), 0.0)
    price, lost = cheapest_transport(np.array([2.0, 1.0]), np.array([3.0, 0.0]), np.array([[0.0, 3.0], [np.inf, 0.0]]))
    assert (price, lost) == (pytest.approx(0.0), pytest.approx(1.0))


def test_other_people_alone_are_no_drift(fitted):
    model, X, y = fitted
    others, y_others = survey(300, seed=5)
    found = shiftlab.drift(model, X, others.assign(income=30.0), y, y_others, different_people=True)
    assert found.status == "possible"
    assert found.verdict.startswith("NOT REFUTED")
    assert found.now == pytest.approx(model.score(others, y_others))
    older = others.assign(age=others["age"] + 20, trust="high")
    older["trust"] = pd.Categorical(older["trust"], ["low", "middle", "high"], ordered=True)
    beyond = shiftlab.drift(model, X, older, different_people=True)
    assert beyond.by_column["age"].told > 0.5 * beyond.by_column["age"].price
    assert beyond.status == "beyond"
    assert "more than by drawing" in str(beyond)


def test_drawing_other_people_alone_is_seldom_called_beyond():
    """Ten answers, half of one become another, within the budget: also of people who were drawn anew. And no change."""
    rng = np.random.default_rng(5)
    answers = np.array(list("abcdefghij"))
    beyond = {"within": 0, "nothing": 0}
    for _ in range(20):
        then, now = rng.choice(answers, 500), rng.choice(answers, 500)
        model = hw.RobustTreeClassifier(1, certainty=0.9, plausibility=0.74).fit({"a": then}, (then > "e").astype(int))
        moved = np.where((now == "a") & (rng.random(500) < 0.5), "b", now)
        found = shiftlab.drift(model, {"a": then}, {"a": moved}, different_people=True)
        beyond["within"] += found.status == "beyond"
        tight = shiftlab.drift(model, {"a": then}, {"a": now}, different_people=True, certainty=0.9, plausibility=0.99)
        beyond["nothing"] += tight.status == "beyond"
    assert max(beyond.values()) <= 3, beyond


def test_several_columns_that_did_not_change_are_no_reason_for_an_alarm():
    rng = np.random.default_rng(6)
    alarms = 0
    for _ in range(30):
        then, now = ({f"x{j}": rng.integers(0, 8, 300) for j in range(5)} for _ in range(2))
        tree = DecisionTreeClassifier(max_depth=3).fit(pd.DataFrame(then), rng.integers(0, 2, 300))
        words = {"certainty": 0.9, "plausibility": 0.99, "different_people": True}
        alarms += shiftlab.drift(tree, pd.DataFrame(then), pd.DataFrame(now), **words).status == "beyond"
    assert alarms <= 5


def test_people_without_a_name_are_not_linked():
    X = {"id": ["p", None, "q"], "a": [1, 2, 3]}
    model = hw.RobustTreeClassifier(1).fit({"a": [1, 2, 3]}, [0, 0, 1])
    with pytest.raises(ValueError, match="it is missing in row 1 of the first table"):
        shiftlab.drift(model, X, {"id": ["p", "q", None], "a": [1, 2, 3]}, on="id")


def test_rows_that_are_left_out_take_their_certainties_along():
    rng = np.random.default_rng(7)
    X = pd.DataFrame({"id": np.arange(60), "a": rng.integers(0, 9, 60), "b": rng.integers(0, 3, 60)})
    cells = rng.choice([0.7, 0.9], (60, 2))
    y = (X["a"] > 4).astype(int)
    model = hw.RobustTreeClassifier(2).fit(X[["a", "b"]], y, certainty=cells)
    later = X.assign(a=X["a"] + 1).iloc[10:]
    found = shiftlab.drift(model, X, later, on="id", shifts=hw.ShiftDescription(certainty=cells))
    assert found.by_column["a"].price == pytest.approx(-np.log(1 - cells[10:, 0]).sum())


@pytest.mark.parametrize("ordered", [True, False])
def test_drawing_other_people_is_taken_for_a_change_in_five_of_a_hundred_cases(ordered):
    rng = np.random.default_rng(4)
    wrong = found = 0
    for _ in range(600):
        then, now = (np.bincount(rng.integers(0, 40 if ordered else 4, n), minlength=50) for n in (200, 300))
        wrong += (drawn_alike(then.astype(float), now.astype(float), ordered=ordered) or 1.0) < 0.05
        later = np.roll(now, 8) if ordered else now + np.eye(1, 50)[0] * 120  # eight steps up; one answer more often
        found += drawn_alike(then.astype(float), later.astype(float), ordered=ordered) < 0.05
    assert wrong <= 600 * (0.05 + 3 * math.sqrt(0.05 * 0.95 / 600))
    assert found >= 570


def test_people_are_linked_by_a_column_and_weights_count(fitted):
    model, X, y = fitted
    first = X.assign(id=np.arange(200))
    second = first.sample(150, random_state=1)
    second["age"] = second["age"] + 1
    found = shiftlab.drift(model, first, second, y, on="id")
    assert found.people == 150
    assert found.by_column["age"].changed == 150
    assert found.budget == pytest.approx(-150 * math.log(0.9))
    weights = np.full(200, 2.0)
    double = shiftlab.drift(model, first, second, y, None, weights, on="id")
    assert double.by_column["age"].price == pytest.approx(2 * found.by_column["age"].price)
    assert double.budget == pytest.approx(2 * found.budget)
    assert double.guarantee == pytest.approx(found.guarantee, abs=0.01)
    with pytest.raises(ValueError, match="row i of both tables must be the same person"):
        shiftlab.drift(model, X, X[:50])
    with pytest.raises(ValueError, match="the table has the columns"):
        shiftlab.drift(model, X, X, on="id")


def test_labels_that_changed_are_told_apart(fitted):
    model, X, y = fitted
    other = np.where(np.arange(200) < 20, np.where(y == "yes", "no", "yes"), y)
    found = shiftlab.drift(model, X, X, y, other)
    assert found.labels_changed == 20
    assert found.turned == 0
    assert "no guarantee speaks of that" in str(found)


def test_trees_of_scikit_learn_can_be_watched_too():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 9, 100), "b": rng.integers(0, 3, 100)})
    y = (X["a"] > 4).astype(int)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    found = shiftlab.drift(tree, X, X.assign(a=X["a"] + (np.arange(100) < 2)), y, certainty=0.9, plausibility=0.9)
    assert found.by_column["a"].asked
    assert not found.by_column["b"].asked
    assert found.price == pytest.approx(2 * -math.log(0.1))
    assert found.status == "within"
