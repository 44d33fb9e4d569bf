import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import hardwood as hw
from hardwood import Problem, RobustTreeClassifier
from hardwood.problem import Goal
from hardwood.solvers import solve
from hardwood.solvers.base import Status
from hardwood.trees.tree import Branch, Leaf, Tree
from tests.problems import posed, random_problem, small_table


def column(values, costs, budget, **options):
    """A problem with one column of whole numbers."""
    table = hw.encode({"a": values}, kinds="integer")
    uncertainty = hw.UncertaintySet.priced(table, costs={"a": costs}, budget=budget, **options)
    return Problem(hw.encode_labels([k % 2 for k in range(len(values))], len(values)), uncertainty, 2)


def test_candidates_are_thresholds_that_a_shift_can_cross_and_all_categories():
    table = hw.encode({"age": [3, 6, 4], "answer": ["a", "b", "c"], "asked": ["no", "yes", "yes"]})
    uncertainty = hw.UncertaintySet.priced(table, costs=1.0, budget=1.0)
    problem = Problem(hw.encode_labels([0, 1, 0], 3), uncertainty, 2)
    assert [split[:2] for split in problem.splits] == [(0, 3), (0, 4), (0, 5), (1, 0), (1, 1), (1, 2), (2, 0)]
    assert problem.n_splits == 7


@pytest.mark.parametrize(
    ("costs", "budget", "options", "expected"),
    [
        (1.0, 0.0, {}, {0, 10}),
        (1.0, 1.5, {}, {0, 1, 2, 8, 9, 10, 11, 12, 28, 29}),  # one step more than the quotient
        (1.0, 1.5, {"direction": "up"}, {0, 1, 2, 10, 11, 12}),
        (1.0, 1.5, {"direction": "down"}, {0, 8, 9, 10, 28, 29}),
        (1.0, 100.0, {"steps": 1}, {0, 1, 9, 10, 11, 29}),
        (1.0, 100.0, {}, set(range(30))),
        (math.inf, 100.0, {}, {0, 10}),
        ([1.0, math.inf, 1.0], 1.5, {}, {0, 1, 2, 10, 28, 29}),
    ],
)
def test_one_of_several_thresholds_between_which_no_sample_can_move_is_listed(costs, budget, options, expected):
    problem = column([0, 10, 30], costs, budget, **options)
    assert {split.code for split in problem.splits} == expected
    assert problem.n_splits == len(expected)


def test_a_split_that_is_not_listed_is_represented_by_a_candidate():
    problem = column([0, 10, 30], 1.0, 0.0)
    assert [problem.position(0, code) for code in (-1, 0, 5, 9, 10, 29, 30)] == [None, 0, 0, 0, 1, 1, None]


def test_a_column_of_phone_numbers_is_counted_not_listed():
    rng = np.random.default_rng(0)
    phones = rng.integers(0, 2_000_000_000, 500).tolist()
    problem = column(phones, 1e-9, 100.0)
    assert problem.n_splits > 1_000_000_000
    with pytest.raises(ValueError, match=r'memory_limit is .*candidate splits, \d+ of them in the column "a"'):
        solve(problem)
    dear = column(phones, 1.0, 3.0)
    assert dear.n_splits == len(dear.splits) < 5000
    model = RobustTreeClassifier(1, costs={"a": 1e-9}, budget=100.0, feature_kinds="integer", memory_limit="1GB")
    with pytest.raises(ValueError, match=r"memory_limit is 1GB.*feature_kinds=\{\"a\": \"binned\"\}"):
        model.fit({"a": phones}, [k % 2 for k in range(500)])


@pytest.mark.parametrize("limit", ["much", -1, True, "4XB", math.nan])
def test_invalid_memory_limits_are_refused(limit):
    with pytest.raises(ValueError, match=r"memory_limit is .*; expected a number of bytes, or text such as \"4GB\""):
        RobustTreeClassifier(1, memory_limit=limit).fit([[0], [1]], [0, 1])


@pytest.mark.parametrize("limit", ["2GB", "2 gb", 2e9, 2_000_000_000, "2000m"])
def test_memory_limits_are_read(limit):
    assert RobustTreeClassifier(1, memory_limit=limit).fit([[0], [1]], [0, 1]).certificate_.status == "optimal"


@pytest.mark.parametrize("k", range(60))
def test_heap_form_round_trip_gives_the_same_tree(k):
    _, problem = random_problem([97, k])
    rng = np.random.default_rng(k)

    def grown(depth):
        if depth == 0 or not problem.splits or rng.random() < 0.2:
            return Leaf(int(rng.integers(len(problem.labels.classes))))
        feature, code, missing_left = problem.splits[rng.integers(len(problem.splits))]
        return Branch(feature, code, grown(depth - 1), grown(depth - 1), missing_left)

    tree = Tree(problem.table.features, problem.labels.classes, grown(problem.max_depth))
    assert problem.tree(problem.heap(tree)) == tree
    deeper = (
        Tree(tree.features, tree.classes, Branch(0, problem.splits[0][1], tree.root, tree.root)) if k == 0 else None
    )
    assert deeper is None or problem.heap(deeper) is None


def test_objectives_are_rounded_once_so_that_larger_means_better():
    problem = posed(*small_table(0), 1.0, depth=4, penalty=0.1)
    pairs = list(itertools.product(range(38, 41), range(16)))
    exact = {pair: Fraction(pair[0]) - Fraction(0.1) * pair[1] for pair in pairs}
    for one, other in itertools.combinations(pairs, 2):
        if problem.objective(*one) > problem.objective(*other):
            assert exact[one] > exact[other]


def test_solvers_may_use_another_penalty_with_the_same_order():
    for penalty in (1e-12, 1e-9, 1e-3, 0.066):
        assert posed(*small_table(0), 1.0, depth=4, penalty=penalty).solver_penalty == 1 / 16
    assert posed(*small_table(0), 1.0, depth=4, penalty=0.07).solver_penalty == 0.07
    assert posed(*small_table(0), 1.0, depth=4, penalty=0.0).solver_penalty == 0.0
    assert posed(*small_table(0), 1.0, depth=4, penalty=1e25).solver_penalty == 41.0


def test_a_penalty_below_double_precision_is_refused_with_the_smallest_that_works():
    smallest = 40 * 2.0**-50
    with pytest.raises(ValueError, match=rf"with 40 samples it must be 0, or at least {smallest!r}"):
        posed(*small_table(0), 1.0, penalty=smallest / 2)
    problem = posed(*small_table(0), 1.0, penalty=smallest)
    assert len({problem.objective(40, splits) for splits in range(4)}) == 4
    found = solve(problem)
    assert (found.status, found.branching_nodes) == (Status.OPTIMAL, solve(posed(*small_table(0), 1.0)).branching_nodes)


@pytest.mark.parametrize("penalty", [1e-12, 1e-10, 5e-10])
def test_a_tiny_penalty_still_gives_the_smallest_of_the_most_robust_trees(penalty):
    for k in range(40):
        values, y, costs = small_table(k, n=14, n_columns=2)
        tiny, auto = (solve(posed(values, y, costs, 2.0, penalty=value)) for value in (penalty, None))
        assert (tiny.worst_case_correct, tiny.branching_nodes) == (auto.worst_case_correct, auto.branching_nodes)
        assert tiny.status is Status.OPTIMAL


def test_certificates_mention_smaller_trees_only_if_the_penalty_supports_it():
    X = [[1, 2], [2, 1], [2, 1], [0, 1], [2, 2], [0, 2]]
    y = [1, 0, 1, 0, 0, 1]
    common = {"costs": 1.0, "budget": 1.0}
    free = RobustTreeClassifier(2, branch_penalty=0, **common).fit(X, y).certificate_
    small = RobustTreeClassifier(2, **common).fit(X, y).certificate_
    assert free.worst_case_correct == small.worst_case_correct == 4
    assert small.branching_nodes == 2
    assert "none as robust is smaller" in str(small)
    assert "none as robust is smaller" not in str(free)
    assert "no tree is more robust" in str(free)


def test_the_distributional_value_of_the_default_penalty_is_the_largest():
    x, y = np.array([[0], [2], [1], [1], [0], [0]]), [1, 1, 0, 0, 1, 0]
    found = RobustTreeClassifier(2, objective="distributional", costs=1.0, budget=1.5).fit(x, y)
    assert found.distributional_value_ == pytest.approx(3.5, abs=1e-6)
    assert found.certificate_.goal == "distributional"
    assert "is proved to be the largest, to within" in str(found.certificate_)
    assert hw.check(found.certificate_, x, y).confirmed
    penalised = RobustTreeClassifier(2, objective="distributional", costs=1.0, budget=1.5, branch_penalty=0.25).fit(
        x, y
    )
    assert penalised.distributional_value_ == pytest.approx(3.0, abs=1e-6)
    assert penalised.certificate_.objective == pytest.approx(3.0, abs=1e-6)
    assert "less 0.25 for each split" in str(penalised.certificate_)


def test_a_path_is_as_good_as_single_trees_by_the_objective_that_is_maximised():
    levels = (1.0, 0.97, 0.93, 0.9, 0.85, 0.75, 0.5)
    for k in range(15):
        values, y, _ = small_table(k, n=16, n_columns=2)
        options = {"max_depth": 2, "certainty": 0.7, "objective": "distributional"}
        path = hw.robustness_path(values, y, levels, **options)
        for level, classifier in zip(path.plausibilities, path.classifiers, strict=True):
            alone = RobustTreeClassifier(plausibility=level, **options).fit(values, y)
            resolution = classifier._problem.resolution
            assert classifier.certificate_.objective >= alone.certificate_.objective - resolution
            assert classifier.certificate_.objective_bound >= alone.certificate_.objective


def test_an_unknown_goal_is_refused():
    problem = posed(*small_table(0), 1.0)
    with pytest.raises(ValueError, match=r"goal is 'gini'; expected one of \['robust', 'distributional'\]"):
        Problem(problem.labels, problem.uncertainty, 2, goal="gini")
    assert Problem(problem.labels, problem.uncertainty, 2, goal="distributional").goal is Goal.DISTRIBUTIONAL
