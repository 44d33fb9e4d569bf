"""Missing values in ordered columns."""

import json
import math
import sqlite3

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier

import hardwood as hw
from hardwood import RobustTreeClassifier
from hardwood.data.codes import BELOW_ALL, MISSING_CODE
from hardwood.data.encode import encode
from hardwood.evaluation import expected_accuracy, simulate_shifts
from hardwood.interop import design_matrix, from_sklearn, to_dot, to_python, to_sklearn, to_sql
from hardwood.trees.node_stats import rule_of
from hardwood.trees.tree import Branch, Leaf, Tree


def survey(seed=0, n=150):
    """Every kind of column, each with missing values."""
    rng = np.random.default_rng([43, seed])

    def missing():
        return rng.random(n) < 0.2

    age, income, visits = rng.integers(18, 80, n), rng.normal(30, 8, n), rng.integers(0, 4, n)
    trust = pd.Categorical(rng.choice(["low", "middle", "high"], n), ["low", "middle", "high"], ordered=True)
    frame = pd.DataFrame(
        {
            "age": np.where(missing(), np.nan, age),
            "income": np.where(missing(), np.nan, income),
            "visits": pd.array(np.where(missing(), None, visits), dtype="Int64"),
            "trust": trust,
            "smokes": pd.array(np.where(missing(), None, rng.random(n) < 0.5), dtype="boolean"),
            "party": np.where(missing(), None, rng.choice(["left", "right"], n)),
        }
    )
    frame.loc[missing(), "trust"] = None
    score = (age > 45) + 0.8 * (frame["visits"].fillna(0).to_numpy(dtype=int) > 1) + 0.9 * frame["trust"].isna()
    y = np.where(score + rng.normal(0, 0.5, n) > 1.2, "ill", "well")
    return frame, y


def fitted(X, y, depth=3, **parameters):
    settings = {"certainty": 0.85, "plausibility": 0.97, "missing": "category", "clip": True}
    return RobustTreeClassifier(depth, **(settings | parameters)).fit(X, y)


def random_tree(rng, features, classes, depth):
    if depth == 0 or rng.random() < 0.15:
        return Leaf(int(rng.integers(len(classes))))
    j = int(rng.integers(len(features)))
    feature = features[j]
    left, right = (random_tree(rng, features, classes, depth - 1) for _ in range(2))
    if not feature.ordered:
        return Branch(j, int(rng.integers(feature.n_values)), left, right)
    if rng.random() < 0.25:
        return Branch(j, BELOW_ALL, left, right, True)
    code = int(rng.integers(feature.low, feature.high))
    return Branch(j, code, left, right, bool(rng.random() < 0.5))


def python_rows(frame):
    """Rows as plain values, missing ones as None or NaN."""
    columns = {
        name: [
            None if pd.isna(v) and k % 2 else math.nan if pd.isna(v) else v for k, v in enumerate(frame[name].tolist())
        ]
        for name in frame
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def by_sql(rule, frame):
    with sqlite3.connect(":memory:") as database:
        names = ", ".join(f'"{name}"' for name in frame)
        database.execute(f"CREATE TABLE t ({names})")
        rows = [[None if pd.isna(v) else v for v in row] for row in frame.astype(object).to_numpy().tolist()]
        database.executemany(f"INSERT INTO t VALUES ({', '.join('?' * frame.shape[1])})", rows)
        return [row[0] for row in database.execute(f"SELECT {rule} FROM t")]


@pytest.mark.parametrize("seed", range(25))
def test_all_forms_of_a_tree_predict_the_same(seed):
    frame, y = survey(seed)
    rng = np.random.default_rng(seed)
    table = encode(frame, missing="category")
    assert all(feature.missing for feature in table.features[:5])
    tree = Tree(table.features, ("ill", "well"), random_tree(rng, table.features, ("ill", "well"), 4))
    wanted = [tree.classes[k] for k in tree.predict(table)]
    space: dict = {}
    exec(to_python(tree), space)
    assert [space["predict"](row) for row in python_rows(frame)] == wanted
    assert by_sql(to_sql(tree), frame) == wanted
    assert to_sklearn(tree).predict(design_matrix(tree, frame)).tolist() == wanted
    again = Tree.from_json(tree.to_json())
    assert again == tree
    assert (again.predict(table) == tree.predict(table)).all()
    assert (tree.predict(encode(pl.from_pandas(frame), features=tree.features)) == tree.predict(table)).all()
    for branch in (node for node in tree.nodes if isinstance(node, Branch)):
        assert tree.condition(branch).replace('"', '\\"') in to_dot(tree)
    for k, region in enumerate(tree.regions):
        inside = tree.leaf_of(table) == k
        for limit in region.limits:
            values = table.values[inside, limit.feature]
            assert limit.missing or not (values == MISSING_CODE).any() or limit.allowed is not None
        assert rule_of(tree, region) is not None
    assert y is not None


def test_splits_on_missing_values_have_texts():
    table = encode({"age": [20.0, math.nan, 40.0], "vote": [True, None, False]}, missing="category")
    leaf, other = Leaf(0), Leaf(1)
    tree = Tree(
        table.features,
        ("a", "b"),
        Branch(0, 30, Branch(1, 0, leaf, other, True), Branch(0, BELOW_ALL, leaf, other, True), True),
    )
    text = tree.to_text()
    assert "age <= 30 or missing?" in text
    assert "vote = False or missing?" in text
    assert "age is missing?" in text
    rules = [dict(rule_of(tree, region)) for region in tree.regions]
    assert rules[0] == {"age": "is at most 30 or missing", "vote": "is False or missing"}
    assert rules[2] == {"age": "is an impossible value"}  # missing values went the other way
    assert json.loads(tree.to_json())["root"]["missing"] == "left"


@pytest.mark.parametrize("seed", range(4))
def test_a_model_with_missing_numbers_is_proved_checked_and_saved(seed, tmp_path):
    frame, y = survey(seed)
    model = fitted(frame, y)
    assert model.certificate_.status == "optimal"
    assert hw.check(model.certificate_, frame, y).confirmed
    model.save(tmp_path / "model.json")
    loaded = RobustTreeClassifier.load(tmp_path / "model.json")
    assert (loaded.predict(frame) == model.predict(frame)).all()
    assert (loaded.margins(frame) == model.margins(frame)).all()
    assert loaded.worst_case(frame, y).worst_case_correct == model.certificate_.worst_case_correct
    found = model.worst_case(frame, y)
    shifted = found.shift.apply()
    after = [model.tree_.classes[k] for k in model.tree_.predict(shifted)]
    assert sum(a == b for a, b in zip(after, y, strict=True)) == found.worst_case_correct
    assert sum(change.cost for change in found.shift) == pytest.approx(found.spent)


def test_a_split_may_separate_missing_values():
    frame = pd.DataFrame({"age": [20.0, 30.0, math.nan, math.nan] * 10})
    y = ["well", "well", "ill", "ill"] * 10
    model = fitted(frame, y, 1)
    assert str(model.tree_).splitlines()[0] == "age is missing?"
    assert model.score(frame, y) == 1.0
    frame = pd.DataFrame({"age": [20.0, 60.0, math.nan, math.nan] * 10})
    y = ["well", "ill", "well", "well"] * 10
    assert str(fitted(frame, y, 1).tree_).splitlines()[0].endswith("or missing?")


def test_becoming_missing_or_observed_has_its_own_cost():
    frame = pd.DataFrame({"age": [20, None, 40, None], "party": ["a", None, "b", "a"]})
    table = encode(frame, missing="category")
    settings = {"certainty": 0.9, "plausibility": 0.9}
    own = hw.UncertaintySet.calibrated(table, **settings, missing_certainty={"age": 0.99, "party": 0.7})
    usual = hw.UncertaintySet.calibrated(table, **settings)
    costs = own.costs
    assert costs.missing_costs[0] == pytest.approx(math.log(99))
    assert usual.costs.missing_costs[0] == pytest.approx(math.log(9))
    assert costs.move_costs(0, [0, 1, 1], [MISSING_CODE, 25, MISSING_CODE]) == pytest.approx(
        [math.log(99), math.log(99), 0]
    )
    assert costs.move_costs(0, [0], [22]) == pytest.approx([-2 * math.log(0.1)])
    none = table.features[1].categories.index("(missing)")
    a, b = (table.features[1].categories.index(value) for value in "ab")
    assert costs.move_costs(1, [0, 1], [none, a]) == pytest.approx([math.log(7 / 3)] * 2)
    assert costs.move_costs(1, [0], [b]) == pytest.approx([math.log(9)])  # two values are left
    assert usual.costs.move_costs(1, [0, 1], [none, a]) == pytest.approx([math.log(18)] * 2)  # one of three
    never = hw.UncertaintySet.calibrated(table, **settings, missing_certainty=1.0)
    assert np.isinf(never.costs.missing_costs[0]).all()


def test_bounds_hold_for_missing_values_that_become_observed():
    table = encode({"age": [3.0, math.nan, 5.0]}, missing="category", kinds={"age": "integer"})
    costs = hw.UncertaintySet.priced(table, costs=1.0, budget=5.0, bounds=(0, 9), direction="up").costs
    assert costs.move_costs(0, [1, 1, 1], [0, 9, 10]).tolist() == [1.0, 1.0, math.inf]
    assert costs.move_costs(0, [0, 0, 0], [2, 5, MISSING_CODE]).tolist() == [math.inf, 2.0, 1.0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"missing": "error"}, r'column "age", row \d+ is missing \(NaN\).*missing="category"'),
        ({"missing_certainty": 0.3, "clip": False}, r'missing_certainty\["age"\] is 0.3; the missingness status'),
        ({"missing_certainty": {"agee": 0.9}}, r'missing_certainty\["agee"\] is 0.9; the table has no such column'),
        ({"certainty": 0.4, "clip": False}, r'missing_certainty\["age"\] is 0.4.*it is the column\'s certainty unless'),
    ],
)
def test_invalid_statements_about_missing_values_are_refused(parameters, message):
    frame, y = survey()
    with pytest.raises(ValueError, match=message):
        fitted(frame[["age"]], y, 1, **parameters)


def test_missing_values_in_a_column_that_had_none_in_training_are_unseen_values():
    frame, y = survey()
    complete = frame.assign(age=frame["age"].fillna(50))
    model = fitted(complete, y, 2)
    predicted = model.predict(frame)  # like any unseen value
    absent = frame["age"].isna().to_numpy()
    with pytest.warns(UserWarning, match="age: 100% of values lie outside"):
        beyond = model.predict(complete.assign(age=10**6))
    assert (predicted[absent] == beyond[absent]).all()
    strict = fitted(complete[["age"]], y, 1, missing="error")
    for refuses in (model.margins, lambda X: model.worst_case(X, y), lambda X: strict.predict(X[["age"]])):
        with pytest.raises(ValueError, match=r'column "age", row \d+ is missing \(NaN\)'):
            refuses(frame)


def test_columns_without_any_value_are_accepted():
    frame, y = survey()
    empty = frame.assign(age=np.nan, smokes=None, party=None)
    model = fitted(empty, y, 2, feature_kinds={"smokes": "binary"})
    assert model.certificate_.status == "optimal"
    assert model.predict(empty).shape == y.shape


@pytest.mark.parametrize("kind", ["integer", "categorical", "ordinal", "binned"])
def test_numbers_may_be_missing_in_every_kind(kind):
    values = [1.0, 2.0, math.nan, 3.0, 2.0, math.nan]
    for X in ({"a": values}, pd.DataFrame({"a": values}), pl.DataFrame({"a": values}), np.array(values)[:, None]):
        name = "a" if not isinstance(X, np.ndarray) else "x0"
        table = encode(X, kinds={name: kind}, missing="category")
        column = table.values[:, 0]
        assert column[2] == column[5] != column[0]
        again = encode(X, features=table.features)
        assert (again.values == table.values).all()


def test_categorical_numbers_with_missing_values_are_checked():
    X, y = pd.DataFrame({"a": [1.0, 2, 2, math.nan] * 3}), [0, 1, 1, 0] * 3
    model = fitted(X, y, 1, feature_kinds={"a": "categorical"})
    assert hw.check(model.certificate_, X, y).confirmed
    assert (model.to_sklearn().predict(model.design_matrix(X)) == model.predict(X)).all()
    assert hw.audit(model.tree_, X, y).nominal_accuracy == model.score(X, y)


def test_columns_without_a_type_are_missing():
    frame = pl.DataFrame({"a": [None] * 4, "b": [1, 2, 3, 4]})
    model = fitted(frame, [0, 1, 0, 1], 1)
    assert model.predict(frame).shape == (4,)
    known = fitted(pl.DataFrame({"a": [1, 2, None, 1], "b": [1, 2, 3, 4]}), [0, 1, 0, 1], 2)
    assert known.predict(frame).shape == (4,)


def test_masked_values_are_missing():
    values = np.ma.MaskedArray(np.arange(12.0).reshape(12, 1), [[i % 2 == 0] for i in range(12)])
    with pytest.raises(ValueError, match='column "x0", row 0 is missing'):
        RobustTreeClassifier(1).fit(values, [0, 1] * 6)
    assert fitted(values, [0, 1] * 6, 1).score(values, [0, 1] * 6) == 1.0


def test_a_value_called_missing_is_a_value():
    with pytest.raises(ValueError, match="row 2 is '\\(missing\\)', which is not one of its known values"):
        RobustTreeClassifier(1, feature_kinds={"a": ["lo", "hi"]}).fit({"a": ["lo", "hi", "(missing)"]}, [0, 1, 1])


def test_a_scikit_learn_tree_with_missing_values_reads_tables_without():
    X = np.array([[1.0], [2], [math.nan], [math.nan]] * 5)
    y = np.isnan(X[:, 0]).astype(int)
    model = DecisionTreeClassifier().fit(X, y)
    given = ~np.isnan(X[:, 0])
    for table in (X[given], X[given].astype(int)):
        assert hw.audit(model, table, y[given]).nominal_accuracy == 1.0


@pytest.mark.parametrize("seed", range(8))
def test_scikit_learn_trees_with_missing_values_are_converted_exactly(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (200, 3)).astype(float)
    X[:, 2] += rng.random(200)
    y = (np.nan_to_num(X[:, 0]) + X[:, 2] > 5).astype(int)
    X[rng.random(X.shape) < 0.25] = np.nan
    X[:5] = np.nan
    y[np.isnan(X[:, 0]) & (rng.random(200) < 0.7)] = 1
    model = DecisionTreeClassifier(max_depth=5, random_state=seed).fit(X, y)
    tree, table = from_sklearn(model, X)
    assert (np.array(tree.classes)[tree.predict(table)] == model.predict(X)).all()
    audit = hw.audit(model, X, y, certainty=0.9, plausibility=0.95)
    assert audit.nominal_accuracy == pytest.approx(model.score(X, y))
    assert audit.worst_case_accuracy < audit.nominal_accuracy


@pytest.mark.parametrize("seed", range(4))
def test_expected_accuracy_agrees_with_simulation(seed):
    frame, y = survey(seed)
    table = encode(frame, missing="category")
    rng = np.random.default_rng(seed)
    tree = Tree(table.features, ("ill", "well"), random_tree(rng, table.features, ("ill", "well"), 4))
    labels = hw.encode_labels(y, len(y))
    known = {"age": 0.8, "party": 0.75} if seed % 2 else None
    shifts = hw.Calibrated(certainty=0.8, missing_certainty=known, clip=True)
    expected = expected_accuracy(tree, table, labels, shifts)
    drawn = simulate_shifts([tree], table, labels, shifts, n_tables=4000, seed=seed)[0]
    assert drawn.mean() == pytest.approx(expected, abs=4.5 * drawn.std() / math.sqrt(4000) + 1e-9)
