import sqlite3
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier, export_text, plot_tree

import hardwood as hw
from hardwood import RobustTreeClassifier, interop
from hardwood.trees.tree import Branch, Leaf, Tree
from tests.surveys import survey

HOSTILE = ["it's", 'say "hi"', "back\\slash", "new\nline", "</script>", "ünï ☃", "a; DROP TABLE t --", "%s{}"]


@pytest.fixture(scope="module")
def fitted():
    frame, y = survey()
    return RobustTreeClassifier(3, plausibility=1.0).fit(frame, y)


def hostile_tree():
    """A chain of splits on columns and categories whose names need quoting."""
    frame = pd.DataFrame({name: [f"{name}{k}" for k in range(3)] for name in HOSTILE})
    table = hw.encode(frame)
    node = Leaf(0)
    for j in range(len(HOSTILE)):
        node = Branch(j, j % 3, Leaf(1 + j % 2), node)
    return Tree(table.features, ("it's", 'a "b"', "c\\d"), node), frame


def rows_of(frame):
    return frame.to_dict("records")


def test_python_rules_predict_the_same(fitted):
    frame, _ = survey(seed=5)
    space = {}
    exec(interop.to_python(fitted.tree_), space)
    assert [space["predict"](row) for row in rows_of(frame)] == fitted.predict(frame).tolist()


def test_sql_rules_predict_the_same(fitted):
    frame, _ = survey(seed=5)
    with sqlite3.connect(":memory:") as base:
        frame.assign(trust=frame["trust"].astype(str)).to_sql("answers", base, index=False)
        found = base.execute(f"SELECT {interop.to_sql(fitted.tree_)} FROM answers").fetchall()
    assert [label for (label,) in found] == fitted.predict(frame).tolist()


def test_names_that_need_quoting_stay_text_in_every_language():
    tree, frame = hostile_tree()
    expected = [tree.classes[k] for k in tree.predict(hw.encode(frame, features=tree.features))]
    space = {}
    exec(interop.to_python(tree), space)
    assert [space["predict"](row) for row in rows_of(frame)] == expected
    with sqlite3.connect(":memory:") as base:
        frame.to_sql("t", base, index=False)
        found = base.execute(f"SELECT {interop.to_sql(tree, column='x' + chr(34) + 'y')} FROM t")
        assert found.description[0][0] == 'x"y'
        assert [label for (label,) in found] == expected
    dot = interop.to_dot(tree)
    assert dot.count("->") == 2 * tree.n_branching_nodes
    assert '\\"hi\\"' in dot
    assert "back\\\\slash" in dot
    assert "\nline" not in dot.replace("\\n", "")


def test_graphviz_reads_the_exported_tree():
    try:
        drawn = subprocess.run(
            ["dot", "-Tplain"], input=interop.to_dot(hostile_tree()[0]), capture_output=True, text=True, check=True
        ).stdout
    except FileNotFoundError:
        pytest.skip("Graphviz is not installed")
    assert drawn.count("\nnode ") == len(hostile_tree()[0].nodes)


def test_sql_refuses_nul_characters():
    tree = Tree(hw.encode({"a\0b": [1, 2]}).features, ("x", "y"), Branch(0, 1, Leaf(0), Leaf(1)))
    with pytest.raises(ValueError, match="NUL character"):
        interop.to_sql(tree)


def test_a_function_needs_an_identifier():
    with pytest.raises(ValueError, match="expected a Python identifier"):
        interop.to_python(hostile_tree()[0], name="not a name")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_the_scikit_learn_tree_predicts_the_same(seed):
    frame, y = survey(seed=seed)
    classifier = RobustTreeClassifier(3, plausibility=1.0 if seed % 2 else 0.9).fit(frame, y)
    converted = classifier.to_sklearn()
    other, _ = survey(seed=seed + 50)
    assert isinstance(converted, DecisionTreeClassifier)
    assert (converted.predict(classifier.design_matrix(other)) == classifier.predict(other)).all()
    assert len(interop.design_names(classifier.tree_)) == converted.n_features_in_ == 7


def test_the_scikit_learn_tree_reads_a_table_of_numbers_itself():
    frame, y = survey()
    numbers = frame[["age", "income", "asked before"]]
    classifier = RobustTreeClassifier(3, plausibility=1.0).fit(numbers, y)
    converted = classifier.to_sklearn()
    assert (converted.predict(numbers.to_numpy(dtype=float)) == classifier.predict(numbers)).all()
    assert converted.predict_proba(numbers.to_numpy(dtype=float)) == pytest.approx(classifier.predict_proba(numbers))


def test_scikit_learn_plots_and_prints_the_converted_tree(fitted):
    names = interop.design_names(fitted.tree_)
    converted = fitted.to_sklearn()
    drawn = plot_tree(converted, feature_names=names, class_names=list(fitted.classes_))
    assert sum("gini" in text.get_text() for text in drawn) == len(fitted.tree_.nodes)
    assert "party = left" in export_text(converted, feature_names=names)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_shap_explains_the_converted_tree(fitted):
    shap = pytest.importorskip("shap")
    frame, _ = survey()
    matrix = fitted.design_matrix(frame)
    converted = fitted.to_sklearn()
    explainer = shap.TreeExplainer(converted)
    values = explainer.shap_values(matrix)
    total = values[..., 1].sum(axis=1) + explainer.expected_value[1]
    assert total == pytest.approx(converted.predict_proba(matrix)[:, 1], abs=1e-6)


def test_a_robust_label_wins_over_a_frequent_one():
    tree = Tree(hw.encode({"a": [0, 1]}).features, ("x", "y"), Branch(0, 0, Leaf(0), Leaf(1)))
    converted = interop.to_sklearn(tree, np.array([[2, 5], [0, 0]]))
    assert converted.predict([[0.0], [1.0]]).tolist() == ["x", "y"]


def test_single_leaves_are_converted():
    tree = Tree(hw.encode({"a": [0, 1]}).features, ("x", "y"), Leaf(1))
    assert interop.to_sklearn(tree).predict([[0.0]]).tolist() == ["y"]
    assert interop.to_sql(tree) == "'y' AS \"prediction\"\n"
    assert interop.to_text(tree) == "-> y"


def test_rules_handle_missing_categories():
    frame = survey(seed=1)[0][["party", "age"]].copy()
    frame.loc[frame.index[::3], "party"] = None
    y = np.where(frame["party"].isna(), "yes", "no")
    classifier = RobustTreeClassifier(2, missing="category", plausibility=1.0).fit(frame, y)
    assert "party = (missing)" in str(classifier.tree_)
    space = {}
    exec(interop.to_python(classifier.tree_), space)
    expected = classifier.predict(frame).tolist()
    assert [space["predict"](row) for row in rows_of(frame)] == expected
    with sqlite3.connect(":memory:") as base:
        frame.to_sql("answers", base, index=False)
        found = base.execute(f"SELECT {interop.to_sql(classifier.tree_)} FROM answers").fetchall()
    assert [label for (label,) in found] == expected
    assert classifier.to_sklearn().predict(classifier.design_matrix(frame)).tolist() == expected


def test_numbers_that_scikit_learn_would_round_are_refused():
    large = pd.DataFrame({"day": np.arange(16777210, 16777230)})
    classifier = RobustTreeClassifier(1, plausibility=1.0).fit(large, np.arange(20) % 20 > 9)
    with pytest.raises(ValueError, match="which scikit-learn rounds"):
        classifier.design_matrix(large)
    times = pd.DataFrame({"time": 1_700_000_000.0 + 10 * np.arange(20)})
    classifier = RobustTreeClassifier(1, plausibility=1.0, max_bins=20, feature_kinds={"time": "binned"}).fit(
        times, np.arange(20) > 9
    )
    with pytest.raises(ValueError, match="rounds to 32 bits"):
        classifier.design_matrix(times)
