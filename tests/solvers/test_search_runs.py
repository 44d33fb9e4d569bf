import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwood as hw
from hardwood.solvers.base import Limits, Start, Status, StopReason
from hardwood.solvers.search import SearchSolver
from hardwood.trees.tree import Branch, Leaf, Tree
from tests.problems import correct_after_ctrl_c, hard_problem, needs_signals, posed, small_table


def survey(seed, n=6_000):
    """A table whose sums threads share: several kinds of columns, missing values, two or three classes."""
    rng = np.random.default_rng([8, seed])
    columns = {
        "age": rng.integers(18, 90, n).astype(float),
        "party": rng.choice(["a", "b", "c", "d"], n),
        "score": rng.integers(0, 11, n).astype(float),
        "member": rng.integers(0, 2, n),
        "wage": rng.lognormal(size=n),
    }
    columns["score"][rng.random(n) < 0.1] = np.nan
    signal = (columns["age"] > 50) + (columns["party"] == "b") * (1 + seed % 2)
    y = np.where(rng.random(n) < 0.3, rng.integers(0, 2 + seed % 2, n), signal % (2 + seed % 2))
    table = hw.encode(columns, missing="category")
    uncertainty = hw.UncertaintySet.calibrated(table, certainty=0.9, plausibility=0.97)
    return hw.Problem(hw.encode_labels(y, n), uncertainty, 3, min_samples_leaf=40 * (seed % 2))


def outcome(result):
    return str(result.tree), result.objective, result.upper_bound, result.objective_bound, result.work


@pytest.mark.parametrize("n_jobs", [2, 4, 8, -1])
def test_threads_change_nothing_but_time(n_jobs):
    problem = posed(*small_table(3, n=60, n_columns=5), 6.0, depth=3)
    alone, together = (SearchSolver().solve(problem, n_jobs=jobs) for jobs in (1, n_jobs))
    assert together.status is alone.status is Status.OPTIMAL
    assert outcome(together) == outcome(alone)


@pytest.mark.parametrize("seed", range(4))
def test_threads_change_nothing_in_large_tables(seed):
    problem, switches = survey(seed), {"subset_sums": seed < 2}
    limits = Limits(work=3_000)
    alone, *others = (SearchSolver(**switches).solve(problem, limits=limits, n_jobs=jobs) for jobs in (1, 2, 4, 8))
    assert [outcome(other) for other in others] == [outcome(alone)] * 3
    assert alone.branching_nodes > 0


@pytest.mark.parametrize("depth", [3, 5])
def test_a_deeper_tree_is_not_worse_than_a_shallower_one_with_half_of_the_work(depth):
    values, y, costs = small_table(1, n=400, n_values=4, n_columns=8, n_classes=3)
    for work in (50, 400, 3_000):
        deep, shallow = (
            SearchSolver().solve(posed(values, y, costs, 60.0, levels), limits=Limits(work=share))
            for levels, share in ((depth, work), (depth - 1, work // 2))
        )
        assert deep.stop_reason is StopReason.WORK_LIMIT
        assert deep.work <= work
        assert deep.objective >= shallow.objective


def test_zero_threads_are_refused():
    with pytest.raises(ValueError, match="n_jobs is 0"):
        SearchSolver().solve(posed(*small_table(0), 1.0), n_jobs=0)


def test_threads_keep_the_time_limit():
    result = SearchSolver().solve(hard_problem(6), limits=Limits(seconds=1.0), n_jobs=2)
    assert result.stop_reason is StopReason.TIME_LIMIT
    assert result.upper_bound >= result.worst_case_correct


def test_with_just_enough_memory_the_search_finds_the_same():
    problem = posed(*small_table(3, n=60, n_columns=5), 6.0, depth=3)
    unlimited = SearchSolver().solve(problem)
    limited = SearchSolver().solve(problem, limits=Limits(memory_bytes=200_000))
    assert limited.status is unlimited.status is Status.OPTIMAL
    assert (limited.worst_case_correct, limited.branching_nodes) == (
        unlimited.worst_case_correct,
        unlimited.branching_nodes,
    )


def test_a_start_bound_that_cannot_be_true_is_refused():
    with pytest.raises(ValueError, match=r"start\.objective_bound is 1\.0, but a tree reaches"):
        SearchSolver().solve(posed(*small_table(0), 1.0), start=Start(objective_bound=1.0))


def test_depths_beyond_the_limit_are_refused():
    with pytest.raises(ValueError, match="max_depth is 40; the search takes trees of depth 12 at most"):
        SearchSolver().solve(posed(*small_table(0), 1.0, depth=40))


def test_an_unknown_switch_is_refused():
    with pytest.raises(ValueError, match="the search has no switch 'magic'"):
        SearchSolver(magic=True)


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


def test_a_stopped_search_reports_it_and_keeps_its_tree_and_bound():
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
    solver = SearchSolver(shallower_half=False)  # otherwise the clock decides when the shallower search begins
    timed = solver.solve(hard_problem(6), limits=Limits(seconds=seconds))
    assert timed.stop_reason is StopReason.TIME_LIMIT
    again = solver.solve(hard_problem(6), limits=Limits(work=timed.work))
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
    with pytest.raises(ValueError, match=r"3 rows and 1000000 candidate splits.*\"binned\""):
        SearchSolver().solve(posed(values, [0, 1, 1], 1e-6, 1.0, depth=1))
    small = posed(*small_table(0), 1.0)
    with pytest.raises(ValueError, match=r"memory_limit is 1KB; the solver needs at least \d+KB for \d+ rows"):
        SearchSolver().solve(small, limits=Limits(memory_bytes=1000))


class AlarmError(Exception):
    """Raised by a signal handler of the caller."""


@needs_signals
@pytest.mark.parametrize("error", [SystemExit(3), TimeoutError("late"), AlarmError("mine")])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_exception_of_a_signal_handler_stops_the_search_and_is_raised(error, n_jobs):
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


FEW_THREADS = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from hardwood.solvers.search import SearchSolver
from tests.problems import posed, small_table
problem = posed(*small_table(3, n=60, n_columns=5), 6.0, depth=3)
alone = SearchSolver().solve(problem)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, resource.RLIM_INFINITY))  # too little for the stacks of all
together = SearchSolver().solve(problem, n_jobs=1_000)
print((together.tree, together.work) == (alone.tree, alone.work))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_a_system_without_more_threads_solves_with_fewer():
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", FEW_THREADS, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr
