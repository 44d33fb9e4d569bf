import itertools
import math
import signal
import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwood as hw
import oracle
from hardwood._support import compiled
from hardwood.problem import Goal
from hardwood.solvers.base import Limits, Start, Status, StopReason
from hardwood.solvers.search import SearchSolver
from hardwood.trees.tree import Branch, Leaf, Tree
from instances import KINDS, TRAITS, WIDE_TRAITS
from problems import (
    assert_claims_hold,
    correct_after_ctrl_c,
    hard_problem,
    most_are_slow,
    needs_signals,
    posed,
    random_problem,
    small_table,
    truth,
)

N_BATCHES, BATCH = 34, 100
SWITCHES = tuple(compiled.search_switches())
# Trees of up to three levels without a limit on their leaves know nothing of the others.
EVERYWHERE = tuple(name for name in SWITCHES if name not in ("climb", "leaf_sizes"))
OWN_LISTS = {"all_pairs": False, "whole_domains": False}  # as in large tables: each row has a list of points of its own


@pytest.mark.parametrize("number", most_are_slow(N_BATCHES))
def test_the_search_finds_the_same_optimum_as_enumerating_every_tree_and_shift(number):
    for k in range(BATCH):
        instance, problem = random_problem([31, number, k])
        assert_claims_hold(SearchSolver().solve(problem), truth(instance, problem), problem)


@pytest.mark.parametrize("number", most_are_slow(10))
def test_the_ways_of_large_tables_find_the_same_optimum(number):
    for k in range(BATCH):
        instance, problem = random_problem([34, number, k])
        assert_claims_hold(SearchSolver(**OWN_LISTS).solve(problem), truth(instance, problem), problem)


@pytest.mark.parametrize("number", most_are_slow(32))
def test_weights_worth_missing_answers_and_tables_have_the_same_optimum(number):
    for k in range(BATCH):
        instance, problem = random_problem([35, number, k], wide=True)
        assert_claims_hold(SearchSolver().solve(problem), truth(instance, problem), problem)


@pytest.mark.parametrize("number", most_are_slow(4))
def test_so_they_have_in_the_ways_of_large_tables(number):
    for k in range(BATCH):
        instance, problem = random_problem([36, number, k], wide=True)
        assert_claims_hold(SearchSolver(**OWN_LISTS).solve(problem), truth(instance, problem), problem)


@pytest.mark.parametrize("number", most_are_slow(6))
def test_the_distributional_value_is_the_largest_of_all_trees(number):
    for k in range(BATCH):
        instance, problem = random_problem([33, number, k], Goal.DISTRIBUTIONAL)
        found, best = hw.solve(problem), truth(instance, problem)
        assert_claims_hold(found, best, problem)
        if problem.penalty * problem.most_tests * problem.copies < 1:  # D comes first, and with it the worst case
            assert found.worst_case_correct == best.most_correct


def test_the_problems_cover_every_kind():
    wide = [random_problem([35, number, k], wide=True) for number in range(2) for k in range(BATCH)]
    assert {*KINDS, *WIDE_TRAITS} <= set().union(*(instance.traits for instance, _ in wide))
    problems = [random_problem([31, number, k]) for number in range(3) for k in range(BATCH)]
    traits = set().union(*(instance.traits for instance, _ in problems))
    assert {*KINDS, *TRAITS} <= traits
    assert {problem.max_depth for _, problem in problems} == {0, 1, 2, 3}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_every_combination_of_speed_ups_reaches_the_same_optimum(seed):
    values, y, costs = small_table(seed, n=25, n_columns=3)
    problem = posed(values, y, costs, budget=3.0, depth=3 if seed == 0 else 2)
    results = set()
    for on in itertools.product([True, False], repeat=len(EVERYWHERE)):
        found = SearchSolver(**dict(zip(EVERYWHERE, on, strict=True))).solve(problem)
        assert found.status is Status.OPTIMAL
        results.add((found.worst_case_correct, found.branching_nodes))
    assert len(results) == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_so_they_do_with_weights_worth_missing_answers_and_a_table(seed):
    problem = wide_problem(seed)
    objectives, bounds = [], []
    for on in itertools.product([True, False], repeat=len(EVERYWHERE)):
        found = SearchSolver(**dict(zip(EVERYWHERE, on, strict=True))).solve(problem)
        assert found.status is Status.OPTIMAL
        objectives.append(found.objective)
        bounds.append(found.objective_bound)
    assert max(objectives) <= min(bounds) + 1e-9
    assert max(objectives) - min(objectives) <= problem.resolution


def wide_problem(seed, n=16):
    """A column with missing numbers, one with a table of prices, real weights, and for one of the seeds worth."""
    rng = np.random.default_rng([6, seed])
    frame = pd.DataFrame({"age": rng.integers(0, 4, n).astype(float), "party": rng.choice(["a", "b", "c"], n)})
    frame.loc[rng.random(n) < 0.25, "age"] = np.nan
    y = np.where(rng.random(n) < 0.3, 1, (frame["age"] > 1) & (frame["party"] != "b")).astype(int)
    table = hw.encode(frame, missing="category")
    prices = {"age": 0.7, "party": rng.uniform(0.2, 2.0, (3, 3)).tolist()}
    uncertainty = hw.UncertaintySet.priced(table, costs=prices, budget=2.5, missing_certainty={"age": 0.8})
    labels = hw.encode_labels(y, n, weights=rng.lognormal(size=n), class_weight="balanced" if seed else None)
    return hw.Problem(labels, uncertainty, 2)


def survey(seed):
    """Answers of several kinds to a few questions, with a rule behind them and noise: more than the oracle can take."""
    rng = np.random.default_rng([5, seed])
    n, n_columns, n_classes = int(rng.integers(20, 90)), int(rng.integers(3, 7)), int(rng.choice([2, 2, 3]))
    columns = {}
    for j in range(n_columns):
        answers = rng.integers(0, rng.choice([2, 2, 3, 4]), n)
        columns[f"c{j}"] = answers.tolist() if rng.random() < 0.5 else [f"answer {a}" for a in answers]
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
def test_supports_prices_and_threads_agree_on_larger_tables(seed):
    problem = survey(seed)
    ways = [SearchSolver(), SearchSolver(**OWN_LISTS), *(SearchSolver(**{name: False}) for name in SWITCHES)]
    results = [way.solve(problem, limits=Limits(seconds=4)) for way in ways]
    results.append(SearchSolver().solve(problem, limits=Limits(seconds=4), n_jobs=2))
    proved = {round(result.objective, 9) for result in results if result.status is Status.OPTIMAL}
    assert len(proved) <= 1
    best = max(result.objective for result in results)
    assert all(result.objective_bound >= best - 1e-9 for result in results)
    most = max(result.worst_case_correct for result in results)
    assert all(result.upper_bound >= most for result in results)


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
    """Not even where nothing is proved: the search climbs from few levels to many."""
    values, y, costs = small_table(seed, n=300, n_values=5, n_columns=7, n_classes=2 + seed % 2)
    limits = Limits(work=14_000)  # the climb takes 4,000 for each number of levels
    results = [SearchSolver().solve(posed(values, y, costs, 40.0, depth), limits=limits) for depth in range(1, 6)]
    kept = [result.worst_case_correct for result in results]
    assert kept == sorted(kept)
    assert results[-1].status is Status.FEASIBLE


def test_the_bound_begins_at_what_any_model_gets_right_as_the_table_stands():
    values, y, costs = small_table(3, n=400, n_values=2, n_columns=4)
    problem, bounds = posed(values, y, costs, 20.0, 4), []
    SearchSolver().solve(problem, on_progress=lambda event: bounds.append(event.objective_bound), limits=Limits(work=1))
    groups = pd.DataFrame(values).assign(y=y).groupby([0, 1, 2, 3])["y"]
    assert max(bounds) <= groups.agg(lambda own: own.value_counts().iloc[0]).sum() < len(y)


@pytest.mark.slow
def test_the_larger_tables_are_mostly_proved():
    results = [SearchSolver().solve(survey(seed), limits=Limits(work=300_000)) for seed in range(10)]
    assert sum(result.status is Status.OPTIMAL for result in results) >= 8


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_change_nothing_but_time(n_jobs):
    problem = posed(*small_table(3, n=60, n_columns=5), 6.0, depth=3)
    alone, together = (SearchSolver().solve(problem, n_jobs=jobs) for jobs in (1, n_jobs))
    assert together.status is alone.status is Status.OPTIMAL
    assert together.objective == alone.objective


def test_no_threads_at_all_are_refused():
    with pytest.raises(ValueError, match="n_jobs is 0"):
        SearchSolver().solve(posed(*small_table(0), 1.0), n_jobs=0)


def test_threads_keep_the_time_limit():
    result = SearchSolver().solve(hard_problem(6), limits=Limits(seconds=1.0), n_jobs=2)
    assert result.stop_reason is StopReason.TIME_LIMIT
    assert result.upper_bound >= result.worst_case_correct


def test_with_just_enough_memory_the_search_finds_the_same():
    problem = posed(*small_table(3, n=60, n_columns=5), 6.0, depth=3)
    roomy = SearchSolver().solve(problem)
    lean = SearchSolver().solve(problem, limits=Limits(memory_bytes=200_000))
    assert lean.status is roomy.status is Status.OPTIMAL
    assert (lean.worst_case_correct, lean.branching_nodes) == (roomy.worst_case_correct, roomy.branching_nodes)


def test_a_start_bound_that_cannot_be_true_is_refused():
    with pytest.raises(ValueError, match=r"start\.objective_bound is 1\.0, but a tree reaches"):
        SearchSolver().solve(posed(*small_table(0), 1.0), start=Start(objective_bound=1.0))


def test_depths_that_nobody_reads_are_refused():
    with pytest.raises(ValueError, match="max_depth is 40; the search takes trees of depth 12 at most"):
        SearchSolver().solve(posed(*small_table(0), 1.0, depth=40))


def test_an_unknown_switch_is_refused():
    with pytest.raises(ValueError, match="the search has no switch 'magic'"):
        SearchSolver(magic=True)


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

    everyone = np.ones(len(y), dtype=bool)
    best = max(majority(everyone), *(stump(half) + stump(~half) for half in halves))
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
    # With the budget priced, every tree is worth exactly twice as much, so the best of them is, too.
    for tree in (once.tree, twice.tree):
        priced = [hw.attack(tree, problem.labels, problem.uncertainty).priced_value for problem in (single, double)]
        assert priced[1] == pytest.approx(2 * priced[0], abs=1e-9)
        assert hw.attack(tree, single.labels, single.uncertainty).worst_case_correct == math.ceil(priced[0] - 1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**4), st.floats(0.0, 0.02))
def test_bounds_hold_whenever_the_search_is_stopped(seed, seconds):
    values, y, costs = small_table(seed, n=60, n_columns=5)
    problem = posed(values, y, costs, 6.0, depth=3)
    stopped = SearchSolver().solve(problem, limits=Limits(seconds=seconds))
    finished = SearchSolver().solve(problem)
    assert finished.status is Status.OPTIMAL
    assert stopped.upper_bound >= finished.worst_case_correct >= stopped.worst_case_correct
    assert stopped.objective_bound >= finished.objective >= stopped.objective
    for event in stopped.history:
        assert event.objective_bound >= finished.objective


def test_a_stopped_search_says_so_and_keeps_its_tree_and_bound():
    result = SearchSolver().solve(hard_problem(6), limits=Limits(seconds=0.5))
    assert result.stop_reason is StopReason.TIME_LIMIT
    assert result.status is Status.FEASIBLE
    assert result.worst_case_correct < result.upper_bound <= 400
    assert result.worst_case_correct >= np.bincount(hard_problem(6).labels.codes).max()
    assert result.history[-1].objective <= result.objective


def test_a_work_limit_is_kept():
    result = SearchSolver().solve(hard_problem(6), limits=Limits(work=100))
    assert (result.stop_reason, result.work) == (StopReason.WORK_LIMIT, 100)


@pytest.mark.parametrize("seconds", [0.05, 0.2, 0.45])
def test_a_search_stopped_by_time_is_repeated_exactly_by_its_work(seconds):
    timed = SearchSolver().solve(hard_problem(6), limits=Limits(seconds=seconds))
    assert timed.stop_reason is StopReason.TIME_LIMIT
    again = SearchSolver().solve(hard_problem(6), limits=Limits(work=timed.work))
    assert again.stop_reason is StopReason.WORK_LIMIT
    assert (again.work, again.tree, again.objective_bound) == (timed.work, timed.tree, timed.objective_bound)


def test_a_warm_start_is_used():
    values, y, costs = small_table(3)
    problem = posed(values, y, costs, 4.0)
    best = SearchSolver().solve(problem)
    again = SearchSolver().solve(problem, start=Start(best.tree, best.objective_bound))
    assert (again.objective, again.status) == (best.objective, Status.OPTIMAL)
    assert again.work < SearchSolver().solve(problem).work
    tree_only = SearchSolver().solve(hard_problem(6), limits=Limits(seconds=0.0), start=Start(best_of_hard()))
    assert (
        tree_only.worst_case_correct
        >= hw.attack(best_of_hard(), hard_problem(6).labels, hard_problem(6).uncertainty).worst_case_correct
    )


def best_of_hard():
    problem = hard_problem(6)
    return Tree(problem.table.features, problem.labels.classes, Branch(0, 1, Leaf(0), Branch(1, 1, Leaf(1), Leaf(2))))


def test_the_same_problem_gives_the_same_tree():
    values, y, costs = small_table(5, n=80)
    problem = posed(values, y, costs, 5.0, depth=3)
    first, second = SearchSolver().solve(problem), SearchSolver().solve(problem)
    assert (first.tree, first.work) == (second.tree, second.work)


def test_an_error_in_the_listener_keeps_its_type():
    def listener(_event):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        SearchSolver().solve(hard_problem(6), limits=Limits(seconds=5), on_progress=listener)


def test_ctrl_c_in_the_listener_counts_like_any_other():
    def listener(_event):
        raise KeyboardInterrupt

    result = SearchSolver().solve(hard_problem(6), limits=Limits(seconds=5), on_progress=listener)
    assert result.stop_reason is StopReason.INTERRUPTED


def test_other_threads_run_while_the_search_does():
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.01):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    SearchSolver().solve(hard_problem(6), limits=Limits(seconds=0.5))
    stop.set()
    thread.join()
    assert len(ticks) > 5


@needs_signals
def test_ctrl_c_keeps_the_best_tree():
    assert correct_after_ctrl_c("search") >= 134


def test_a_problem_beyond_the_memory_is_refused_with_a_remedy():
    values = np.array([[0], [10**6], [5 * 10**5]])
    with pytest.raises(ValueError, match=r"3 rows and 1000000 possible tests.*\"binned\""):
        SearchSolver().solve(posed(values, [0, 1, 1], 1e-6, 1.0, depth=1))
    small = posed(*small_table(0), 1.0)
    with pytest.raises(ValueError, match=r"memory_limit is 1KB; the engine needs \d+KB at least for \d+ rows"):
        SearchSolver().solve(small, limits=Limits(memory_bytes=1000))


def test_wide_integer_columns_without_affordable_steps_need_few_thresholds():
    values = np.array([[0], [10**9], [5 * 10**8]])
    result = SearchSolver().solve(posed(values, [0, 1, 1], math.inf, 1.0, depth=1))
    assert (result.status, result.worst_case_correct) == (Status.OPTIMAL, 3)


def test_a_test_on_a_category_that_nobody_has_may_take_a_cheap_way_out():
    answers = ["a", "a", "a", "b", "c", "d"]
    column = pd.Categorical(answers, categories=["a", "b", "c", "d", "z"])
    table = hw.encode(pd.DataFrame({"answer": column}))
    prices = {"a": 1.0, "b": 10.0, "c": 10.0, "d": 10.0, "z": 1.0}
    by_code = [prices[name] for name in table.features[0].categories]
    uncertainty = hw.UncertaintySet.priced(table, costs={"answer": [by_code]}, budget=9.0)
    problem = hw.Problem(hw.encode_labels([0, 0, 0, 1, 1, 1], 6), uncertainty, 2, 0.0)
    for solver in (SearchSolver(), SearchSolver(whole_domains=False)):
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
    assert (found.worst_case_correct, found.branching_nodes) == (best.correct, best.tests)


class AlarmError(Exception):
    """What the caller's own handler of a signal raises."""


@needs_signals
@pytest.mark.parametrize("error", [SystemExit(3), TimeoutError("late"), AlarmError("mine")])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_a_handler_of_signals_raises_ends_the_search_and_is_not_swallowed(error, n_jobs):
    def handler(_number, _frame):
        raise error

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(type(error)) as raised:
            SearchSolver().solve(hard_problem(6), limits=Limits(seconds=60), n_jobs=n_jobs)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert raised.value is error
