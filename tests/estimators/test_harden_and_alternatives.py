"""Trees with hardened predictions, and other trees that are as good."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import hardwood as hw
from hardwood import RobustTreeClassifier, audit, harden
from hardwood.solvers.base import Limits
from hardwood.solvers.search import SearchSolver
from hardwood.trees.tree import Branch, Leaf, Tree
from tests.problems import most_are_slow, random_problem, small_table


def random_tree(rng, problem, depth):
    """A tree with splits that the search would not use, too: beyond the range of the table, and implied by others."""
    splits = list(problem.splits)
    for j, feature in enumerate(problem.table.features):
        if str(feature.kind) == "integer":
            splits += [(j, feature.low - 1, False), (j, feature.high, False), (j, feature.high + 1, False)]

    def grow(levels):
        if levels == 0 or rng.random() < 0.15:
            return Leaf(int(rng.integers(len(problem.labels.classes))))
        feature, code, missing_left = splits[rng.integers(len(splits))]
        return Branch(feature, code, grow(levels - 1), grow(levels - 1), missing_left)

    return Tree(problem.table.features, problem.labels.classes, grow(depth))


def with_labels(node, labels):
    if isinstance(node, Leaf):
        return Leaf(next(labels))
    left = with_labels(node.left, labels)
    return Branch(node.feature, node.code, left, with_labels(node.right, labels), node.missing_left)


def best_over_labels(problem, tree):
    n_classes, n_leaves = len(tree.classes), len(tree.regions)
    every = itertools.product(range(n_classes), repeat=n_leaves)
    trees = (Tree(tree.features, tree.classes, with_labels(tree.root, iter(labels))) for labels in every)
    return max(problem.attack(candidate).worst_case_correct for candidate in trees)


@pytest.mark.parametrize("number", most_are_slow(12, quick=1))
def test_relabelled_trees_match_enumeration_of_all_labels(number):
    done = 0
    for k in range(400):
        rng = np.random.default_rng([81, number, k])
        _, problem = random_problem([82, number, k], wide=k % 2 == 1)
        if len(problem.labels.classes) < 2 or not problem.splits:
            continue
        tree = random_tree(rng, problem, 3)
        if len(tree.classes) ** len(tree.regions) > 260:
            continue
        best = best_over_labels(problem, tree)
        found = SearchSolver().relabel(problem, tree)
        assert found.proved
        assert found.upper_bound >= best - 1e-9
        assert problem.attack(found.tree).worst_case_correct >= best - problem.resolution - 1e-9
        assert [type(node) for node in found.tree.nodes] == [type(node) for node in tree.nodes]
        done += 1
        if done == 45:
            break
    assert done == 45


def fragile():
    """A tree that is correct without a shift, because of a rare value that is one misreport away from all others."""
    X = pd.DataFrame({"often": [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] * 20})
    y = np.where(X["often"] == 0, 1, 0)
    return X, y, DecisionTreeClassifier(max_depth=2).fit(X, y)


def test_harden_keeps_the_splits_and_lists_the_changes():
    X, y, model = fragile()
    shifts = {"certainty": 0.6, "plausibility": 0.8}
    found = harden(model, X, y, **shifts)
    assert found.proved
    assert found.before.worst_case_accuracy == audit(model, X, y, **shifts).worst_case_accuracy
    assert found.after.worst_case_accuracy > found.before.worst_case_accuracy
    assert found.after.worst_case_accuracy == audit(found.tree, X, y, **shifts).worst_case_accuracy
    splits = [(n.feature, n.code) for n in found.tree.nodes if isinstance(n, Branch)]
    assert splits == [(n.feature, n.code) for n in found.before.tree.nodes if isinstance(n, Branch)]
    changes = found.changes()
    assert changes
    for entry in changes:
        assert {"leaf", "from", "to", "rows"} == set(entry)
        assert entry["leaf"] in str(found)
        assert entry["from"] != entry["to"]


def test_predictions_change_only_where_it_helps():
    X, y, model = fragile()
    unchanged = harden(model, X, y, plausibility=1.0)
    assert unchanged.changes() == []
    assert "No prediction changes" in str(unchanged)
    assert unchanged.tree == unchanged.before.tree


def test_harden_reads_what_an_audit_reads(tmp_path):
    values, y, _ = small_table(3, n=80)
    model = RobustTreeClassifier(2, certainty=0.8, class_weight="balanced").fit(values, y)
    model.save(tmp_path / "model.json")
    for source in (model, tmp_path / "model.json"):
        found = harden(source, values, y)
        assert found.after.worst_case_accuracy == pytest.approx(model.certificate_.worst_case_accuracy, abs=0.01)
    with pytest.raises(TypeError, match="no shift parameter 'certinty'"):
        harden(model, values, y, certinty=0.7)
    deep = DecisionTreeClassifier().fit(np.arange(20)[:, None], np.arange(20) % 2)
    if deep.get_depth() > 12:
        with pytest.raises(ValueError, match="12 at most"):
            harden(deep, np.arange(20)[:, None], np.arange(20) % 2)


def all_trees(depth, splits, n_classes):
    leaves = [Leaf(label) for label in range(n_classes)]
    if depth == 0:
        return leaves
    below = all_trees(depth - 1, splits, n_classes)
    return leaves + [Branch(j, code, *pair) for j, code in splits for pair in itertools.product(below, repeat=2)]


def one_split_less(node, n_classes):
    if isinstance(node, Leaf):
        return
    yield from (Leaf(label) for label in range(n_classes))
    yield from (node.left, node.right)
    yield from (
        Branch(node.feature, node.code, smaller, node.right) for smaller in one_split_less(node.left, n_classes)
    )
    yield from (
        Branch(node.feature, node.code, node.left, smaller) for smaller in one_split_less(node.right, n_classes)
    )


def tiny(seed):
    """A problem whose table contains every value, so that every value distinguishes two trees."""
    rng = np.random.default_rng([83, seed])
    n, n_classes, n_values = int(rng.integers(5, 10)), int(rng.integers(2, 4)), rng.integers(2, 4, 2)
    values = np.column_stack([np.append(np.arange(k), rng.integers(0, k, n - k)) for k in n_values])
    kinds = [str(kind) for kind in rng.choice(["integer", "categorical"], 2)]
    table = hw.encode(values, kinds=kinds)
    costs, budget = rng.integers(1, 4, 2).astype(float), float(rng.integers(0, 6))
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
    min_leaf = int(rng.integers(0, 3)) if seed % 3 == 0 else 0
    uncertainty = hw.UncertaintySet.priced(table, costs=costs, budget=budget)
    problem = hw.Problem(hw.encode_labels(y, n), uncertainty, 2, min_samples_leaf=min_leaf)
    every = np.array(list(itertools.product(*map(range, n_values))))
    return problem, hw.encode(every, features=table.features), int(rng.integers(0, 3))


@pytest.mark.parametrize("number", most_are_slow(6, quick=1))
def test_alternatives_match_enumeration_of_all_trees_near_the_best(number):
    for k in range(15):
        problem, every, within = tiny(100 * number + k)
        splits = [(split.feature, split.code) for split in problem.splits]
        if len(splits) > 4:
            continue
        n_classes, known = len(problem.labels.classes), {}

        def evaluate(node, known=known, problem=problem, every=every):
            if node not in known:
                tree = Tree(problem.table.features, problem.labels.classes, node)
                kept = problem.attack(tree).worst_case_correct
                known[node] = kept, tree.predict(every).tobytes(), tree.n_branching_nodes, problem.admits(tree)
            return known[node]

        trees = [node for node in all_trees(2, splits, n_classes) if evaluate(node)[3]]
        best = max(evaluate(node)[0] for node in trees)
        expected = {}
        for node in trees:
            kept, predictions, size, _ = evaluate(node)
            minimal = all(evaluate(smaller)[0] < kept for smaller in one_split_less(node, n_classes))
            if kept >= best - within and minimal:
                expected[predictions] = kept, min(size, expected.get(predictions, (0, size))[1])
        found, complete = SearchSolver().alternatives(problem, 10_000, within)
        listed = [evaluate(tree.root) for tree in found]
        assert complete
        assert {predictions: (kept, size) for kept, predictions, size, _ in listed} == expected
        assert len(listed) == len(expected)
        best_two = sorted((kept for kept, _ in expected.values()), reverse=True)[:2]
        few, complete = SearchSolver().alternatives(problem, 2, within)
        assert [evaluate(tree.root)[0] for tree in few] == best_two
        assert complete == (len(expected) <= 2)


def test_a_classifier_finds_its_alternatives():
    values, y, _ = small_table(1, n=60, n_columns=3)
    model = RobustTreeClassifier(2, certainty=0.8).fit(values, y)
    found = model.alternatives(50, within=3)
    assert found.complete
    assert "there are no others" in str(found)
    assert found[0].worst_case_correct == model.certificate_.worst_case_correct
    kept = [attack.worst_case_correct for attack in found]
    assert kept == sorted(kept, reverse=True)
    assert kept[-1] >= kept[0] - 3
    assert len(found.trees) == len(found) == len(found.to_dict()["columns"])
    few = model.alternatives(2, within=3)
    assert (len(few), few.complete) == (2, False)
    assert "there may be others" in str(few)
    assert [attack.worst_case_correct for attack in few] == kept[:2]


def test_alternatives_of_a_stopped_search_are_not_complete():
    values, y, costs = small_table(1, n=400, n_values=4, n_columns=8)
    uncertainty = hw.UncertaintySet.priced(hw.encode(values), costs=costs, budget=40.0)
    problem = hw.Problem(hw.encode_labels(y, 400), uncertainty, 4)
    trees, complete = SearchSolver().alternatives(problem, 5, 1, limits=Limits(work=200))
    assert not complete
    assert trees


def test_invalid_arguments_of_alternatives_are_refused():
    values, y, _ = small_table(1)
    model = RobustTreeClassifier(2).fit(values, y)
    with pytest.raises(ValueError, match="k is 0"):
        model.alternatives(0)
    with pytest.raises(ValueError, match="within is -1"):
        model.alternatives(3, within=-1)


def test_harden_is_optimal_among_trees_with_the_same_splits():
    """Regression: the search changed the splits, too, and claimed a proof for the predictions of another tree."""
    X = {"b": list("rqrqrqqqrprpqrr"), "c": [0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1]}
    y = [0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1]
    shifts = {"certainty": 0.9, "plausibility": 0.8, "class_weight": "balanced"}
    features = hw.encode(X).features

    def tree(*labels):
        first, second, third = map(Leaf, labels)
        return Tree(features, (0, 1), Branch(0, 2, Branch(1, 0, first, second), third))

    best = max(
        audit(tree(*labels), X, y, **shifts).worst_case_accuracy for labels in itertools.product((0, 1), repeat=3)
    )
    found = harden(tree(1, 0, 1), X, y, **shifts)
    assert found.proved
    assert found.after.worst_case_accuracy == pytest.approx(best)
    assert "No other predictions keep more than" in str(found)


def test_alternatives_stay_within_the_tolerance_where_values_are_fractional():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"a": rng.integers(0, 3, 9), "b": rng.integers(0, 2, 9)})
        y = np.append([0, 1], rng.integers(0, 2, 7))
        model = RobustTreeClassifier(2, certainty=0.75, plausibility=0.9, class_weight="balanced").fit(X, y)
        found = model.alternatives(100, within=0.5)
        kept = [attack.worst_case_correct for attack in found]
        assert min(kept) >= max(kept) - 0.5
        assert not found.complete
