"""Drift: the cost of an observed shift, compared with the budget."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.tree import DecisionTreeClassifier

import hardwood as hw
from hardwood import shiftlab
from hardwood.evaluation import shifted_tables
from hardwood.shiftlab.transport import cheapest_transport, equality_test
from hardwood.trees.tree import Branch
from tests.random_moves import cases
from tests.surveys import survey


@pytest.fixture(scope="module")
def fitted():
    X, y = survey(200)
    return hw.RobustTreeClassifier(2, certainty=0.85, plausibility=0.9).fit(X, y), X, y


def test_no_change_costs_nothing(fitted):
    model, X, y = fitted
    found = shiftlab.drift(model, X, X, y)
    assert found.status == "within"
    assert (found.cost, found.cost_of_all, found.plausibility) == (0, 0, 1)
    assert found.then == found.now == pytest.approx(model.certificate_.nominal_accuracy)
    assert found.guarantee == model.certificate_.worst_case_accuracy
    assert found.flipped == found.flipped_cost == 0
    assert found.verdict.startswith("WITHIN THE BUDGET")


def test_the_worst_shift_is_within_the_budget_and_costs_what_the_attack_states(fitted):
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
    used = {model.tree_.features[node.feature].name for node in model.tree_.nodes if isinstance(node, Branch)}
    assert "income" not in used
    found = shiftlab.drift(model, X, pd.DataFrame(now)[X.columns.tolist()], y)
    assert found.cost == pytest.approx(attack.spent)
    assert found.status == "within"
    assert found.now == pytest.approx(attack.worst_case_accuracy) == pytest.approx(found.guarantee)
    assert found.flipped_cost == pytest.approx(attack.spent)
    assert found.flipped == len(attack.lost) - np.sum(attack.margins[attack.lost] == 0)


@pytest.mark.parametrize("seed", range(5))
def test_costs_are_those_of_single_moves_and_flips_never_cost_more(fitted, seed):
    model, X, y = fitted
    table = model._encode(X)
    (shifted,) = shifted_tables(table, model._encode_labels(y, table), model.shifts_, n_tables=1, seed=seed)
    costs = model.shifts_.uncertainty(table).costs
    now = X.copy()
    for j, feature in enumerate(table.features):
        if feature.kind != "binned":
            now[feature.name] = [feature.decode(int(code)) for code in shifted.values[:, j]]
    now["trust"] = pd.Categorical(now["trust"], ["low", "middle", "high"], ordered=True)
    found = shiftlab.drift(model, X, now, y)
    for j, feature in enumerate(table.features):
        column = found.by_column[feature.name]
        if feature.kind == "binned":
            continue
        unit_costs = costs.move_costs(j, np.arange(table.n_samples), shifted.values[:, j])
        assert column.cost == pytest.approx(unit_costs.sum())
        assert column.changed == np.sum(shifted.values[:, j] != table.values[:, j])
    assert found.flipped_cost <= found.cost + 1e-9
    if found.flipped_cost <= found.budget:
        assert found.now >= found.guarantee
    assert found.within == (found.cost <= found.budget * (1 + 1e-9))
    assert found.plausibility == pytest.approx(math.exp(-found.cost / 200))
    unlinked = shiftlab.drift(model, X, now, y, different_people=True)
    for name, column in unlinked.by_column.items():
        assert column.cost <= found.by_column[name].cost + 1e-9


def test_impossible_changes_are_beyond_every_budget(fitted):
    model, X, y = fitted
    now = X.assign(party=np.where(np.arange(200) < 3, "a new party", X["party"]))
    found = shiftlab.drift(model, X, now, y)
    assert found.by_column["party"].impossible == 3
    assert found.status == "beyond"
    assert "held to be impossible" in found.verdict
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["cost"] == "inf"
    unlinked = shiftlab.drift(model, X, now.assign(party="a new party"), different_people=True)
    assert unlinked.status == "beyond"
    small = {"a": [1, 2, 3, 4] * 5}
    one_way = hw.RobustTreeClassifier(1, direction={"a": "up"}).fit(small, [0, 0, 1, 1] * 5)
    assert shiftlab.drift(one_way, small, {"a": [0, 2, 3, 4] * 5}).by_column["a"].impossible == 5
    assert shiftlab.drift(one_way, small, {"a": [2, 2, 3, 4] * 5}).by_column["a"].impossible == 0
    now_missing = shiftlab.drift(one_way, small, {"a": [np.nan, 2, 3, 4] * 5})
    assert now_missing.by_column["a"].impossible == 5
    bounded = hw.RobustTreeClassifier(1, bounds={"a": (1, 4)}).fit(small, [0, 0, 1, 1] * 5)
    assert shiftlab.drift(bounded, small, {"a": [5, 2, 3, 4] * 5}).by_column["a"].impossible == 5


@pytest.mark.parametrize("case", [case for case in cases(n=9) if len(case.columns) == 1], ids=lambda case: case.name)
def test_the_least_cost_of_different_people_is_that_of_the_best_matching(case):
    """With equal numbers of rows, the transport is an assignment of rows, which another algorithm solves."""
    rng = np.random.default_rng(2)
    frame = case.frame
    y = np.arange(len(frame)) % 2
    parameters = case.parameters | {"feature_kinds": case.kinds, "missing": case.missing, "plausibility": 0.9}
    certainty = parameters.pop("certainty") if isinstance(parameters["certainty"], np.ndarray) else None
    model = hw.RobustTreeClassifier(1, **parameters)
    model = model.fit(frame, y) if certainty is None else model.fit(frame, y, certainty=certainty)
    now = frame.iloc[rng.integers(0, len(frame), len(frame))].reset_index(drop=True)
    shifts = None if certainty is None else hw.Calibrated(certainty=certainty)
    found = shiftlab.drift(model, frame, now, different_people=True, shifts=shifts)
    table, later = model._encode(frame), model._encode(now)
    costs = (shifts or model.shifts_).uncertainty(table).costs
    n = len(frame)
    unit_costs = np.array([costs.move_costs(0, np.full(n, i), later.values[:, 0]) for i in range(n)])
    penalised = np.where(np.isfinite(unit_costs), unit_costs, 1e6)
    rows, columns = linear_sum_assignment(penalised)
    matched = unit_costs[rows, columns]
    assert found.by_column["a"].impossible == pytest.approx(np.sum(~np.isfinite(matched)), abs=1e-6)
    assert found.by_column["a"].cost == pytest.approx(matched[np.isfinite(matched)].sum(), rel=1e-5, abs=1e-6)


def test_transport_prefers_possible_moves():
    cost, lost = cheapest_transport(np.array([2.0, 1.0]), np.array([1.0, 2.0]), np.array([[0.0, 3.0], [np.inf, 0.0]]))
    assert (cost, lost) == (pytest.approx(3.0, rel=1e-6), 0.0)
    cost, lost = cheapest_transport(np.array([2.0, 1.0]), np.array([3.0, 0.0]), np.array([[0.0, 3.0], [np.inf, 0.0]]))
    assert (cost, lost) == (pytest.approx(0.0), pytest.approx(1.0))


def test_sampling_other_people_is_no_drift(fitted):
    model, X, y = fitted
    others, y_others = survey(300, seed=5)
    found = shiftlab.drift(model, X, others.assign(income=30.0), y, y_others, different_people=True)
    assert found.status == "possible"
    assert found.verdict.startswith("NOT REFUTED")
    assert found.now == pytest.approx(model.score(others, y_others))
    older = others.assign(age=others["age"] + 20, trust="high")
    older["trust"] = pd.Categorical(older["trust"], ["low", "middle", "high"], ordered=True)
    beyond = shiftlab.drift(model, X, older, different_people=True)
    assert beyond.by_column["age"].net_cost > 0.5 * beyond.by_column["age"].cost
    assert beyond.status == "beyond"
    assert "more than by drawing" in str(beyond)


def test_sampling_variation_is_rarely_called_beyond():
    """New samples: half of one of ten values become another, within the budget, or nothing changes."""
    rng = np.random.default_rng(5)
    values = np.array(list("abcdefghij"))
    beyond = {"within": 0, "nothing": 0}
    for _ in range(20):
        then, now = rng.choice(values, 500), rng.choice(values, 500)
        model = hw.RobustTreeClassifier(1, certainty=0.9, plausibility=0.74).fit({"a": then}, (then > "e").astype(int))
        moved = np.where((now == "a") & (rng.random(500) < 0.5), "b", now)
        found = shiftlab.drift(model, {"a": then}, {"a": moved}, different_people=True)
        beyond["within"] += found.status == "beyond"
        tight = shiftlab.drift(model, {"a": then}, {"a": now}, different_people=True, certainty=0.9, plausibility=0.99)
        beyond["nothing"] += tight.status == "beyond"
    assert max(beyond.values()) <= 3, beyond


def test_several_unchanged_columns_raise_no_alarm():
    rng = np.random.default_rng(6)
    alarms = 0
    for _ in range(30):
        then, now = ({f"x{j}": rng.integers(0, 8, 300) for j in range(5)} for _ in range(2))
        tree = DecisionTreeClassifier(max_depth=3).fit(pd.DataFrame(then), rng.integers(0, 2, 300))
        parameters = {"certainty": 0.9, "plausibility": 0.99, "different_people": True}
        alarms += shiftlab.drift(tree, pd.DataFrame(then), pd.DataFrame(now), **parameters).status == "beyond"
    assert alarms <= 5


def test_rows_without_an_identifier_are_not_linked():
    X = {"id": ["p", None, "q"], "a": [1, 2, 3]}
    model = hw.RobustTreeClassifier(1).fit({"a": [1, 2, 3]}, [0, 0, 1])
    with pytest.raises(ValueError, match="it is missing in row 1 of the first table"):
        shiftlab.drift(model, X, {"id": ["p", "q", None], "a": [1, 2, 3]}, on="id")


def test_certainties_by_cell_follow_the_linked_rows():
    rng = np.random.default_rng(7)
    X = pd.DataFrame({"id": np.arange(60), "a": rng.integers(0, 9, 60), "b": rng.integers(0, 3, 60)})
    cells = rng.choice([0.7, 0.9], (60, 2))
    y = (X["a"] > 4).astype(int)
    model = hw.RobustTreeClassifier(2).fit(X[["a", "b"]], y, certainty=cells)
    later = X.assign(a=X["a"] + 1).iloc[10:]
    found = shiftlab.drift(model, X, later, on="id", shifts=hw.Calibrated(certainty=cells))
    assert found.by_column["a"].cost == pytest.approx(-np.log(1 - cells[10:, 0]).sum())


@pytest.mark.parametrize("ordered", [True, False])
def test_samples_of_one_population_are_called_different_in_five_of_a_hundred_cases(ordered):
    rng = np.random.default_rng(4)
    wrong = found = 0
    for _ in range(600):
        then, now = (np.bincount(rng.integers(0, 40 if ordered else 4, n), minlength=50) for n in (200, 300))
        wrong += (equality_test(then.astype(float), now.astype(float), ordered=ordered) or 1.0) < 0.05
        later = (
            np.roll(now, 8) if ordered else now + np.eye(1, 50)[0] * 120
        )  # eight steps up; one value is more frequent
        found += equality_test(then.astype(float), later.astype(float), ordered=ordered) < 0.05
    assert wrong <= 600 * (0.05 + 3 * math.sqrt(0.05 * 0.95 / 600))
    assert found >= 570


def test_rows_are_linked_by_a_column_and_weighted(fitted):
    model, X, y = fitted
    first = X.assign(id=np.arange(200))
    second = first.sample(150, random_state=1)
    second["age"] = second["age"] + 1
    found = shiftlab.drift(model, first, second, y, on="id")
    assert found.total_weight == 150
    assert found.by_column["age"].changed == 150
    assert found.budget == pytest.approx(-150 * math.log(0.9))
    weights = np.full(200, 2.0)
    double = shiftlab.drift(model, first, second, y, None, weights, on="id")
    assert double.by_column["age"].cost == pytest.approx(2 * found.by_column["age"].cost)
    assert double.budget == pytest.approx(2 * found.budget)
    assert double.guarantee == pytest.approx(found.guarantee, abs=0.01)
    with pytest.raises(ValueError, match="row i of both tables must be the same sample"):
        shiftlab.drift(model, X, X[:50])
    with pytest.raises(ValueError, match="the table has the columns"):
        shiftlab.drift(model, X, X, on="id")


def test_changed_labels_are_counted_separately(fitted):
    model, X, y = fitted
    other = np.where(np.arange(200) < 20, np.where(y == "yes", "no", "yes"), y)
    found = shiftlab.drift(model, X, X, y, other)
    assert found.labels_changed == 20
    assert found.flipped == 0
    assert "the guarantee does not cover that" in str(found)


def test_drift_of_scikit_learn_trees():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 9, 100), "b": rng.integers(0, 3, 100)})
    y = (X["a"] > 4).astype(int)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    found = shiftlab.drift(tree, X, X.assign(a=X["a"] + (np.arange(100) < 2)), y, certainty=0.9, plausibility=0.9)
    assert found.by_column["a"].asked
    assert not found.by_column["b"].asked
    assert found.cost == pytest.approx(2 * -math.log(0.1))
    assert found.status == "within"


def test_a_plausibility_alone_keeps_the_other_shift_parameters_of_the_model(fitted):
    model, X, y = fitted
    found = shiftlab.drift(model, X, X, y, plausibility=0.5)
    wanted = model.worst_case(X, y, plausibility=0.5)
    assert (found.budget, found.guarantee) == (wanted.uncertainty.budget, wanted.worst_case_accuracy)
    covered = shiftlab.coverage(X, model, plausibility=0.5)
    assert covered.budget == found.budget
    assert covered.everything.cost.mean == shiftlab.coverage(X, model).everything.cost.mean


def test_one_person_is_a_person(fitted):
    model, X, y = fitted
    changed = np.where(np.arange(len(y)) == 0, model.classes_[0], y)
    changed[0] = next(label for label in model.classes_ if label != np.asarray(y)[0])
    text = str(shiftlab.drift(model, X, X, y, changed))
    assert "labels differ for 1 person: " in text
    assert "columns that the tree uses: 0.00 of" in text
