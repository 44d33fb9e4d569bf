import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest

import hardwood as hw
from hardwood.data.feature import Feature, Kind
from hardwood.trees.tree import Branch, Leaf, Limit, Tree
from tests import oracle
from tests.instances import random_instance

FEATURES = (
    Feature("age", Kind.INTEGER, 18, 90),
    Feature("rating", Kind.ORDINAL, 0, 2, ("poor", "fair", "good")),
    Feature("smoker", Kind.BINARY, 0, 1, (False, True)),
    Feature("city", Kind.CATEGORICAL, 0, 2, ("Bern", "Oslo", "Rome")),
    Feature("income", Kind.BINNED, 0, 2, edges=(1000.5, 2500.0)),
)
ROOT = Branch(
    0,
    37,
    Branch(3, 2, Leaf(1), Branch(1, 1, Leaf(0), Leaf(1))),
    Branch(4, 0, Leaf(0), Branch(2, 0, Branch(0, 60, Leaf(1), Leaf(0)), Leaf(1))),
)
TREE = Tree(FEATURES, ("at risk", "fine"), ROOT)
TEXT = """\
age <= 37?
├─ yes: city = Rome?
│  ├─ yes: -> fine
│  └─ no:  rating <= fair?
│     ├─ yes: -> at risk
│     └─ no:  -> fine
└─ no:  income <= 1000.5?
   ├─ yes: -> at risk
   └─ no:  smoker = False?
      ├─ yes: age <= 60?
      │  ├─ yes: -> fine
      │  └─ no:  -> at risk
      └─ no:  -> fine"""


def test_a_tree_prints_with_the_names_of_the_table():
    assert str(TREE) == TEXT
    assert str(Tree(FEATURES, ("a",), Leaf(0))) == "-> a"


def test_size_and_depth():
    assert (TREE.n_branching_nodes, TREE.depth, len(TREE.regions)) == (6, 4, 7)
    assert (Tree(FEATURES, ("a",), Leaf(0)).n_branching_nodes, Tree(FEATURES, ("a",), Leaf(0)).depth) == (0, 0)


def test_regions_and_paths_follow_the_leaves_from_left_to_right():
    region = TREE.regions[4]
    assert region.label == 1
    assert region.limits == (Limit(0, 38, 60), Limit(4, 1, None), Limit(2, None, 0))
    assert TREE.regions[1].limits == (
        Limit(0, None, 37),
        Limit(3, allowed=frozenset({0, 1})),
        Limit(1, None, 1),
    )
    assert [(branch.feature, left) for branch, left in TREE.paths[4]] == [(0, False), (4, False), (2, True), (0, True)]


def test_contradicting_splits_leave_an_empty_region():
    twice = Branch(0, 30, Leaf(0), Branch(0, 20, Leaf(1), Leaf(0)))
    assert Tree(FEATURES, ("a", "b"), twice).regions[1].limits == (Limit(0, 31, 20),)
    same_city = Branch(3, 1, Branch(3, 0, Leaf(1), Leaf(0)), Leaf(0))
    assert Tree(FEATURES, ("a", "b"), same_city).regions[0].limits == (Limit(3, allowed=frozenset()),)


@pytest.mark.parametrize("seed", range(200))
def test_predictions_equal_walking_the_tree_node_by_node(seed):
    instance = random_instance(np.random.default_rng([3, seed]))
    table = instance.uncertainty.costs.table
    expected = [
        oracle.predict(instance.plain_tree, [column.codes[i] for column in instance.columns])
        for i in range(len(instance.labels))
    ]
    assert instance.tree.predict(table).tolist() == expected
    for i, leaf in enumerate(instance.tree.leaf_of(table)):
        for limit in instance.tree.regions[leaf].limits:
            value = table.values[i, limit.feature]
            if limit.allowed is not None:
                assert value in limit.allowed
            assert limit.low is None or value >= limit.low
            assert limit.high is None or value <= limit.high


def test_a_node_object_may_occur_twice_in_a_tree():
    leaf = Leaf(0)
    tree = Tree(FEATURES, ("a", "b"), Branch(0, 30, leaf, Branch(0, 50, Leaf(1), leaf)))
    frame = pd.DataFrame({"age": [20, 40, 60], "rating": "poor", "smoker": True, "city": "Oslo", "income": 1.0})
    assert tree.leaf_of(hw.encode(frame, features=FEATURES)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("seed", range(100))
def test_json_round_trip_gives_the_same_tree(seed):
    tree = random_instance(np.random.default_rng([4, seed])).tree
    assert Tree.from_json(tree.to_json()) == tree


def test_json_is_readable_and_complete():
    document = json.loads(TREE.to_json())
    assert (document["format"], document["version"]) == ("hardwood.tree", 3)
    assert document["root"]["feature"] == "age"
    assert document["root"]["left"]["value"] == "Rome"
    assert document["root"]["right"]["value"] == 1000.5
    assert Tree.from_json(TREE.to_json()) == TREE


def test_trees_pickle_copy_and_compare():
    TREE.predict(
        hw.encode(
            pd.DataFrame({"age": [20], "rating": "poor", "smoker": True, "city": "Oslo", "income": 1.0}),
            features=FEATURES,
        )
    )
    assert pickle.loads(pickle.dumps(TREE)) == TREE
    assert copy.deepcopy(TREE) == TREE
    assert hash(copy.copy(TREE)) == hash(TREE)


def edited(**changes):
    document = json.loads(TREE.to_json())
    for path, value in changes.items():
        *parents, key = path.split("__")
        entry = document
        for parent in parents:
            entry = entry[int(parent) if parent.isdigit() else parent]
        if value is ...:
            del entry[key]
        else:
            entry[key] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the text is not JSON"),
        ("[" * 100_000, "the text is not JSON"),
        ("[]", "expected an object with exactly"),
        (
            edited(version=99),
            r"'hardwood.tree' version 99; this version of hardwood reads 'hardwood.tree' versions 1 to 3",
        ),
        (edited(format="other"), "'other' version 3"),
        (edited(classes=["a", "a"]), "each once"),
        (edited(classes=[]), "expected a list of text, numbers or booleans"),
        (edited(classes=[["a"], "b"]), "expected a list of text, numbers or booleans"),
        (edited(features={}), "features is {}; expected a list"),
        (edited(features__0__kind="float"), "expected an object with a name and a kind"),
        (edited(features__0__name=7), "has the name 7; expected text"),
        (edited(features__0__low="a"), "low is 'a'; expected a whole number"),
        (edited(features__4__edges=[3, "x"]), r"expected numbers"),
        (edited(features__4__edges=[3, 2]), "must be finite and ascend"),
        (edited(features__1__name="age"), "features repeat a name"),
        (edited(root__feature="height"), "the feature at root is 'height'; expected one of"),
        (edited(root__value=3.5), "the value at root is 3.5; expected a whole number"),
        (edited(root__value=True), "the value at root is True; expected a whole number"),
        (edited(root__value=2**40), "expected a whole number from"),
        (
            edited(root__comparison="=="),
            r"the comparison at root is '=='; expected '<=' for the integer column \"age\"",
        ),
        (edited(root__left__value="Paris"), "the value at root.left is 'Paris'; expected one of"),
        (edited(root__left__left__label="ill"), "the label at root.left.left is 'ill'; expected one of"),
        (edited(root__right=...), "root has .*; expected an object with exactly"),
        (edited(root__left=None), "root.left has None; expected an object"),
    ],
)
def test_invalid_json_is_refused_with_the_place(text, message):
    with pytest.raises(ValueError, match=message):
        Tree.from_json(text)


@pytest.mark.parametrize(
    ("root", "message"),
    [
        (Branch(0, 0.5, Leaf(0), Leaf(1)), 'splits "age" at code 0.5; expected a whole number'),
        (Leaf(2), "a leaf has label 2; expected 0 to 1"),
        (Branch(9, 0, Leaf(0), Leaf(1)), "a node splits on feature 9; expected 0 to 4"),
        (Branch(1, 2, Leaf(0), Leaf(1)), 'splits "rating" at code 2; expected a whole number from 0 to 1'),
        (Branch(3, 3, Leaf(0), Leaf(1)), 'splits "city" at code 3; expected a whole number from 0 to 2'),
    ],
)
def test_impossible_nodes_are_refused(root, message):
    with pytest.raises(ValueError, match=message):
        Tree(FEATURES, ("a", "b"), root)


def test_a_table_with_other_features_is_refused():
    with pytest.raises(ValueError, match=r"the tree has 5 features, the table 1"):
        TREE.predict(hw.encode(np.array([[1]])))
