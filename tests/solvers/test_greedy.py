import itertools

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

import hardwood as hw
from hardwood import RobustTreeClassifier
from hardwood.solvers.greedy import GreedySolver, _Growth, gini, possible_cells, sides_of_splits, worst_attack
from tests.problems import small_table
from tests.surveys import survey


def impurity(left, right):
    """The Gini impurity of two sides, weighted, from the definition."""
    total = 0.0
    for counts in (left, right):
        n = sum(counts)
        if n:
            total += n * (1 - sum((c / n) ** 2 for c in counts))
    return total


def enumerated(left, right, movable):
    """The largest impurity over every way to send the movable samples."""
    best = 0.0
    for sent in itertools.product(*(range(int(m) + 1) for m in movable)):
        kept = [m - s for m, s in zip(movable, sent, strict=True)]
        best = max(best, impurity(np.add(left, sent), np.add(right, kept)))
    return best


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_worst_attack_is_the_worst_of_all_attacks(n_classes):
    rng = np.random.default_rng(n_classes)
    for _ in range(150 if n_classes < 4 else 60):
        left, right = rng.integers(0, 12, (2, n_classes)).astype(float)
        movable = rng.integers(0, 7 if n_classes < 4 else 4, n_classes).astype(float)
        sent = worst_attack(left, right, movable)
        assert (sent >= 0).all()
        assert (sent <= movable).all()
        found = gini(left + sent) + gini(right + movable - sent)
        assert found == pytest.approx(enumerated(left, right, movable), abs=1e-9)


@pytest.mark.parametrize("criterion", ["groot", "chen"])
@pytest.mark.parametrize("seed", range(10))
def test_every_split_is_rated_by_attacks_on_real_samples(criterion, seed):
    """Enumerate where each movable sample of a small table goes, and compare with the rating of each split."""
    values, y, _ = small_table(seed, n=9, n_columns=2, n_values=4)
    table = hw.encode(values)
    problem = hw.Problem(hw.encode_labels(y, 9), hw.UncertaintySet.boxes(table, radius=1), 2)
    growth = _Growth(problem, criterion, lambda: False)
    for j in range(2):
        splits = [split for split in problem.splits if split.feature == j]
        thresholds = [split.code for split in splits]
        assert thresholds == list(range(values[:, j].min(), values[:, j].max()))  # every code is in reach
        lefts, rights = sides_of_splits(possible_cells(problem, j), problem.cells(j)[1])
        for k, threshold in enumerate(thresholds):
            low, high = (
                np.maximum(values[:, j] - 1, values[:, j].min()),
                np.minimum(values[:, j] + 1, values[:, j].max()),
            )
            can_left, can_right = low <= threshold, high > threshold
            assert (lefts[:, k] == can_left).all()
            assert (rights[:, k] == can_right).all()
            split = growth._rated(np.arange(9), splits[k], can_left, can_right)
            if split is None:
                assert can_left.all() or can_right.all()
                continue
            movable = np.flatnonzero(can_left & can_right)
            nominally_left = values[:, j] <= threshold
            if criterion == "chen":
                ways = [
                    nominally_left[movable],
                    [True] * len(movable),
                    [False] * len(movable),
                    ~nominally_left[movable],
                ]
            else:
                ways = itertools.product([True, False], repeat=len(movable))
            worst = 0.0
            for way in ways:
                goes_left = can_left.copy()
                goes_left[movable] = way
                sides = [np.bincount(y[side], minlength=2) for side in (goes_left, ~goes_left)]
                worst = max(worst, impurity(*sides))
            assert split.impurity == pytest.approx(worst)


@pytest.mark.parametrize("solver", ["groot", "chen"])
def test_without_shifts_it_is_an_ordinary_greedy_tree(solver):
    values, y, _ = small_table(2, n=80)
    ours = RobustTreeClassifier(3, solver=solver, radius=0).fit(values, y)
    cart = DecisionTreeClassifier(max_depth=3, random_state=0).fit(values, y)
    assert ours.score(values, y) == pytest.approx(cart.score(values, y), abs=0.04)
    assert ours.tree_.root.feature == cart.tree_.feature[0]
    assert ours.tree_.root.code == int(cart.tree_.threshold[0])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("solver", ["groot", "chen"])
def test_it_never_beats_the_optimal_tree_for_the_same_boxes(solver, seed):
    frame, y = survey(80, seed)
    radius = {"age": 4, "party": 0, "trust": 1, "asked before": 0, "income": 1}
    greedy = RobustTreeClassifier(2, solver=solver, radius=radius).fit(frame, y).certificate_
    best = RobustTreeClassifier(2, radius=radius).fit(frame, y).certificate_
    assert best.status == "optimal"
    assert greedy.worst_case_correct <= best.worst_case_correct
    assert greedy.upper_bound >= best.worst_case_correct
    assert greedy.status == "feasible"


def test_a_robust_greedy_tree_has_a_better_worst_case():
    """The first column equals the label, but one step flips it; the second is noisier but far from its threshold."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    sharp = y  # 0 or 1: a step flips it
    wide = np.where(rng.random(200) < 0.15, 1 - y, y) * 9
    table = np.column_stack([sharp, wide])
    ordinary = RobustTreeClassifier(2, solver="groot", radius=0).fit(table, y)
    robust = RobustTreeClassifier(2, solver="groot", radius=1).fit(table, y)
    after = [
        hw.audit(tree, table, y, costs=1.0, budget=0.0).found.n_samples
        - np.count_nonzero(tree.worst_case(table, y, costs=1.0).margins <= 1)
        for tree in (ordinary.set_params(radius=None), robust.set_params(radius=None))
    ]
    assert after[1] > after[0]


def test_with_a_budget_each_row_may_spend_all_of_it():
    values = np.array([[0], [1], [2], [3]])
    table = hw.encode(values)
    problem = hw.Problem(hw.encode_labels([0, 0, 1, 1], 4), hw.UncertaintySet.priced(table, costs=1.0, budget=1.5), 2)
    assert possible_cells(problem, 0).sum(axis=1).tolist() == [2, 3, 3, 2]


def test_columns_of_identifiers_are_refused_before_their_splits_are_listed():
    rng = np.random.default_rng(3)
    ids = rng.integers(0, 2_000_000_000, (200, 1))
    y = rng.integers(0, 2, 200)
    with pytest.raises(ValueError, match=r'10MB; the solver needs .* \d+ of them in the column "x0"'):
        RobustTreeClassifier(
            2, solver="groot", costs=1e-3, budget=1e3, feature_kinds="integer", memory_limit="10MB"
        ).fit(ids, y)
    found = RobustTreeClassifier(2, solver="groot", costs=1.0, budget=3.0, feature_kinds="integer").fit(ids, y)
    assert found.tree_.depth <= 2


def test_a_greedy_tree_stopped_by_time_is_returned():
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 30, (300, 4)), rng.integers(0, 2, 300)
    with pytest.warns(ConvergenceWarning, match="stopped after"):
        model = RobustTreeClassifier(4, solver="groot", radius=1, time_limit=0).fit(X, y)
    assert model.result_.stop_reason == "time_limit"
    assert model.tree_.n_branching_nodes == 0


def test_unknown_criteria_are_refused():
    with pytest.raises(ValueError, match='criterion is \'gain\'; expected "groot" or "chen"'):
        GreedySolver("gain")
