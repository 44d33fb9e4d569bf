import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwood as hw
from hardwood._util import compiled
from hardwood.problem import Goal
from hardwood.solvers.base import Limits, Status
from hardwood.solvers.search import SearchSolver
from tests import oracle
from tests.instances import KINDS, TRAITS, WIDE_TRAITS
from tests.problems import (
    assert_claims_hold,
    most_are_slow,
    posed,
    random_problem,
    small_table,
    truth,
)

N_BATCHES, BATCH = 34, 100
SWITCHES = tuple(compiled.search_switches())
# The other switches have no effect on trees of up to three levels without a smallest leaf size; `columnwise` has one
# without `subset_sums` only, and `shallower_half` where a limit stops the search. `choose_nodes` is on in every second
# combination of the others.
ELSEWHERE = ("iterative_deepening", "leaf_size_bounds", "large_subsets", "columnwise", "shallower_half", "choose_nodes")
EVERYWHERE = tuple(name for name in SWITCHES if name not in ELSEWHERE)
BY_COLUMNS = {"subset_sums": False}  # as with hundreds of splits: three levels column by column
OWN_LISTS = {"all_pairs": False, "full_domain": False}  # as in large tables: each row has its own list of points


@pytest.mark.parametrize("number", most_are_slow(N_BATCHES))
def test_the_search_finds_the_same_optimum_as_enumerating_every_tree_and_shift(number):
    for k in range(BATCH):
        instance, problem = random_problem([31, number, k])
        assert_claims_hold(SearchSolver().solve(problem), truth(instance, problem), problem)


@pytest.mark.parametrize("number", most_are_slow(10))
def test_the_variants_for_large_tables_find_the_same_optimum(number):
    for k in range(BATCH):
        instance, problem = random_problem([34, number, k])
        assert_claims_hold(SearchSolver(**OWN_LISTS).solve(problem), truth(instance, problem), problem)


@pytest.mark.parametrize("switches", [BY_COLUMNS, BY_COLUMNS | {"columnwise": False}, BY_COLUMNS | OWN_LISTS])
@pytest.mark.parametrize("number", most_are_slow(2))
def test_the_variants_for_many_splits_find_the_same_optimum(number, switches):
    for k in range(BATCH):
        instance, problem = random_problem([37, number, k], wide=k % 2 == 0)
        assert_claims_hold(SearchSolver(**switches).solve(problem), truth(instance, problem), problem)


@pytest.mark.parametrize("number", most_are_slow(32))
def test_weights_class_weights_missing_values_and_cost_tables_have_the_same_optimum(number):
    for k in range(BATCH):
        instance, problem = random_problem([35, number, k], wide=True)
        assert_claims_hold(SearchSolver().solve(problem), truth(instance, problem), problem)


@pytest.mark.parametrize("number", most_are_slow(4))
def test_so_they_have_with_the_variants_for_large_tables(number):
    for k in range(BATCH):
        instance, problem = random_problem([36, number, k], wide=True)
        assert_claims_hold(SearchSolver(**OWN_LISTS).solve(problem), truth(instance, problem), problem)


@pytest.mark.parametrize("number", most_are_slow(6))
def test_the_distributional_value_is_the_largest_of_all_trees(number):
    for k in range(BATCH):
        instance, problem = random_problem([33, number, k], Goal.DISTRIBUTIONAL)
        found, best = hw.solve(problem), truth(instance, problem)
        assert_claims_hold(found, best, problem)
        if problem.penalty * problem.max_splits * problem.copies < 1:  # then D decides before the penalty
            assert found.worst_case_correct == best.max_correct


def test_the_problems_cover_every_kind():
    wide = [random_problem([35, number, k], wide=True) for number in range(2) for k in range(BATCH)]
    assert {*KINDS, *WIDE_TRAITS} <= set().union(*(instance.traits for instance, _ in wide))
    problems = [random_problem([31, number, k]) for number in range(3) for k in range(BATCH)]
    traits = set().union(*(instance.traits for instance, _ in problems))
    assert {*KINDS, *TRAITS} <= traits
    assert {problem.max_depth for _, problem in problems} == {0, 1, 2, 3}


def combinations(seed, n_seeds):
    """Every combination of switches for one of the seeds, and all switches on for each."""
    every = itertools.product([True, False], repeat=len(EVERYWHERE))
    return [
        dict(zip(EVERYWHERE, on, strict=True)) | {"choose_nodes": sum(on) % 2 == 0}
        for k, on in enumerate(every)
        if k == 0 or k % n_seeds == seed
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_every_combination_of_speed_ups_reaches_the_same_optimum(seed):
    values, y, costs = small_table(seed, n=25, n_columns=3)
    problem = posed(values, y, costs, budget=3.0, depth=3 if seed == 0 else 2)
    results = set()
    for switches in combinations(seed, 3):
        found = SearchSolver(**switches).solve(problem)
        assert found.status is Status.OPTIMAL
        results.add((found.worst_case_correct, found.branching_nodes))
    assert len(results) == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_so_they_do_with_weights_class_weights_missing_values_and_a_cost_table(seed):
    problem = wide_problem(seed)
    objectives, bounds = [], []
    for switches in combinations(seed, 2):
        found = SearchSolver(**switches).solve(problem)
        assert found.status is Status.OPTIMAL
        objectives.append(found.objective)
        bounds.append(found.objective_bound)
    assert max(objectives) <= min(bounds) + 1e-9
    assert max(objectives) - min(objectives) <= problem.resolution


def wide_problem(seed, n=16):
    """A column with missing values, one with a table of costs, real weights, and for one of the seeds class weights."""
    rng = np.random.default_rng([6, seed])
    frame = pd.DataFrame({"age": rng.integers(0, 4, n).astype(float), "party": rng.choice(["a", "b", "c"], n)})
    frame.loc[rng.random(n) < 0.25, "age"] = np.nan
    y = np.where(rng.random(n) < 0.3, 1, (frame["age"] > 1) & (frame["party"] != "b")).astype(int)
    table = hw.encode(frame, missing="category")
    costs = {"age": 0.7, "party": rng.uniform(0.2, 2.0, (3, 3)).tolist()}
    uncertainty = hw.UncertaintySet.priced(table, costs=costs, budget=2.5, missing_certainty={"age": 0.8})
    labels = hw.encode_labels(y, n, weights=rng.lognormal(size=n), class_weight="balanced" if seed else None)
    return hw.Problem(labels, uncertainty, 2)


def survey(seed):
    """Columns of several kinds, labels with signal and noise: too large for the oracle."""
    rng = np.random.default_rng([5, seed])
    n, n_columns, n_classes = int(rng.integers(20, 90)), int(rng.integers(3, 7)), int(rng.choice([2, 2, 3]))
    columns = {}
    for j in range(n_columns):
        codes = rng.integers(0, rng.choice([2, 2, 3, 4]), n)
        columns[f"c{j}"] = codes.tolist() if rng.random() < 0.5 else [f"value {code}" for code in codes]
    score = sum(np.asarray([value == column[0] for value in column]) for column in list(columns.values())[:2])
    y = np.where(rng.random(n) < 0.25, rng.integers(0, n_classes, n), score % n_classes)
    table = hw.encode(columns)
    uncertainty = hw.UncertaintySet.calibrated(
        table,
        certainty=rng.normal(rng.choice([0.6, 0.75, 0.9]), 0.2, n_columns),
        plausibility=float(rng.choice([0.5, 0.75, 0.9, 0.97, 1.0])),
        bounds=(0, 4) if seed % 2 else None,
        clip=True,
    )
    depth = int(rng.choice([2, 3, 4]))
    return hw.Problem(hw.encode_labels(y.tolist(), n), uncertainty, depth, rng.choice([2.0**-depth, 0.0, 0.4]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_supports_multipliers_and_threads_agree_on_larger_tables(seed):
    problem = survey(seed)
    variants = [SearchSolver(), SearchSolver(**OWN_LISTS), *(SearchSolver(**{name: False}) for name in SWITCHES)]
    results = [variant.solve(problem, limits=Limits(seconds=4)) for variant in variants]
    results.append(SearchSolver().solve(problem, limits=Limits(seconds=4), n_jobs=2))
    proved = {round(result.objective, 9) for result in results if result.status is Status.OPTIMAL}
    assert len(proved) <= 1
    best = max(result.objective for result in results)
    assert all(result.objective_bound >= best - 1e-9 for result in results)
    max_correct = max(result.worst_case_correct for result in results)
    assert all(result.upper_bound >= max_correct for result in results)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_more_time_never_makes_a_tree_worse(seed):
    values, y, costs = small_table(seed, n=400, n_values=5, n_columns=7, n_classes=2 + seed % 2)
    for depth in (3, 4, 6):
        problem = posed(values, y, costs, 40.0, depth)
        works = (5, 50, 500, 2000)
        kept = [SearchSolver().solve(problem, limits=Limits(work=work)).worst_case_correct for work in works]
        assert kept == sorted(kept)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_more_levels_never_make_a_tree_worse(seed):
    """Not even without a proof, since the search deepens iteratively."""
    values, y, costs = small_table(seed, n=300, n_values=5, n_columns=7, n_classes=2 + seed % 2)
    limits = Limits(work=14_000)  # iterative deepening takes 4,000 for each depth
    results = [SearchSolver().solve(posed(values, y, costs, 40.0, depth), limits=limits) for depth in range(1, 6)]
    kept = [result.worst_case_correct for result in results]
    assert kept == sorted(kept)
    assert results[-1].status is Status.FEASIBLE


def test_the_first_bound_is_at_most_the_nominal_optimum_of_any_model():
    values, y, costs = small_table(3, n=400, n_values=2, n_columns=4)
    problem, bounds = posed(values, y, costs, 20.0, 4), []
    SearchSolver().solve(problem, on_progress=lambda event: bounds.append(event.objective_bound), limits=Limits(work=1))
    groups = pd.DataFrame(values).assign(y=y).groupby([0, 1, 2, 3])["y"]
    assert max(bounds) <= groups.agg(lambda labels: labels.value_counts().iloc[0]).sum() < len(y)


@pytest.mark.slow
def test_the_larger_tables_are_mostly_proved():
    results = [SearchSolver().solve(survey(seed), limits=Limits(work=300_000)) for seed in range(10)]
    assert sum(result.status is Status.OPTIMAL for result in results) >= 8


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 10), st.floats(0, 1))
def test_more_budget_never_raises_the_optimum(seed, budget, part):
    values, y, costs = small_table(seed)
    more, less = (SearchSolver().solve(posed(values, y, costs, b)) for b in (budget, part * budget))
    assert more.worst_case_correct <= less.worst_case_correct


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_budget_zero_is_the_ordinary_optimal_tree(seed):
    values, y, costs = small_table(seed, n=30)
    found = SearchSolver().solve(posed(values, y, costs, budget=0.0))
    best = 0
    halves = [values[:, j] <= t for j in range(values.shape[1]) for t in range(2)]
    n_classes = y.max() + 1

    def majority(mask):
        return np.bincount(y[mask], minlength=n_classes).max()

    def stump(mask):
        return max(majority(mask), *(majority(mask & half) + majority(mask & ~half) for half in halves))

    all_rows = np.ones(len(y), dtype=bool)
    best = max(majority(all_rows), *(stump(half) + stump(~half) for half in halves))
    assert found.worst_case_correct == best


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 3))
def test_the_order_of_rows_columns_and_labels_changes_nothing(seed, n_classes):
    values, y, costs = small_table(seed, n_classes=n_classes)
    rng = np.random.default_rng(seed)
    rows, columns, names = rng.permutation(len(y)), rng.permutation(values.shape[1]), rng.permutation(n_classes)
    plain = SearchSolver().solve(posed(values, y, costs, 4.0))
    shuffled = SearchSolver().solve(posed(values[rows][:, columns], names[y[rows]], costs[columns], 4.0))
    assert (plain.worst_case_correct, plain.branching_nodes) == (shuffled.worst_case_correct, shuffled.branching_nodes)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_doubling_rows_and_budget_doubles_the_optimum_or_misses_it_by_one(seed):
    values, y, costs = small_table(seed)
    single, double = posed(values, y, costs, 4.0), posed(np.repeat(values, 2, axis=0), np.repeat(y, 2), costs, 8.0)
    once, twice = SearchSolver().solve(single), SearchSolver().solve(double)
    assert twice.worst_case_correct in (2 * once.worst_case_correct, 2 * once.worst_case_correct - 1)
    # The fractional value of every tree is doubled exactly, so that of the best one is, too.
    for tree in (once.tree, twice.tree):
        fractional = [
            hw.attack(tree, problem.labels, problem.uncertainty).distributional_value for problem in (single, double)
        ]
        assert fractional[1] == pytest.approx(2 * fractional[0], abs=1e-9)
        assert hw.attack(tree, single.labels, single.uncertainty).worst_case_correct == math.ceil(fractional[0] - 1e-9)


def test_wide_integer_columns_without_affordable_steps_need_few_thresholds():
    values = np.array([[0], [10**9], [5 * 10**8]])
    result = SearchSolver().solve(posed(values, [0, 1, 1], math.inf, 1.0, depth=1))
    assert (result.status, result.worst_case_correct) == (Status.OPTIMAL, 3)


def test_a_split_on_an_empty_category_may_intercept_cheap_moves():
    values = ["a", "a", "a", "b", "c", "d"]
    column = pd.Categorical(values, categories=["a", "b", "c", "d", "z"])
    table = hw.encode(pd.DataFrame({"party": column}))
    costs = {"a": 1.0, "b": 10.0, "c": 10.0, "d": 10.0, "z": 1.0}
    by_code = [costs[name] for name in table.features[0].categories]
    uncertainty = hw.UncertaintySet.priced(table, costs={"party": [by_code]}, budget=9.0)
    problem = hw.Problem(hw.encode_labels([0, 0, 0, 1, 1, 1], 6), uncertainty, 2, 0.0)
    for solver in (SearchSolver(), SearchSolver(full_domain=False)):
        assert solver.solve(problem).worst_case_correct == 6


@pytest.mark.parametrize("seed", range(60))
def test_the_best_tree_for_boxes_is_that_of_all_trees_and_all_points_of_the_boxes(seed):
    rng = np.random.default_rng([61, seed])
    n = int(rng.integers(3, 9))
    columns = [
        oracle.Column(True, rng.integers(0, 5, n).tolist(), None, "both", None, None, [0.0] * n, 1) for _ in range(2)
    ]
    columns[1] = oracle.Column(True, columns[1].codes, None, "both", None, None, [0.0] * n, 0)
    labels = rng.integers(0, 2, n).tolist()
    best = oracle.best_tree(columns, labels, 2, 0.0, 2, 0.25)
    table = hw.encode({"a": columns[0].codes, "b": columns[1].codes})
    boxes = hw.UncertaintySet.boxes(table, radius={"a": 1, "b": 0})
    found = SearchSolver().solve(hw.Problem(hw.encode_labels(labels, n, classes=(0, 1)), boxes, 2))
    assert (found.worst_case_correct, found.branching_nodes) == (best.correct, best.splits)
