"""The compiled extension refuses arguments that would crash it with a ValueError or a TypeError."""

import itertools
import math

import numpy as np
import pytest

from hardwood._util import compiled


def column_costs(costs=((1.0,),), *, ordered=True, upper=2):
    return compiled.FeatureCosts(np.array(costs, dtype=float), ordered, True, True, 0, upper, 1000)


def arguments(**changes):
    given = {
        "values": np.asfortranarray([[0, 0], [1, 1], [2, 2], [0, 1]], dtype=np.int32),
        "costs": [column_costs(), column_costs(ordered=False)],
        "labels": np.array([0, 1, 1, 0], dtype=np.int32),
        "n_classes": 2,
        "splits": [(0, 0, False), (0, 1, False), (1, 0, False), (1, 2, False)],
        "budget": 1.0,
        "depth": 2,
        "penalty": 0.25,
    }
    return given | changes


def search(problem, **changes):
    given = {
        "seconds": math.inf,
        "work": -1,
        "memory": 1e9,
        "n_jobs": 1,
        "upper_bound": 4.0,
        "start": [],
        "switches": {},
        "on_progress": lambda *_: None,
    }
    return compiled.search(problem, **(given | changes))


def test_a_valid_problem_is_solved():
    found = search(compiled.SearchProblem(**arguments()))
    assert found.proved
    assert found.value == found.upper_bound
    assert found.nodes >= 1
    ((name, statistics),) = found.bounds
    assert name == "lagrangian"
    assert statistics.steps >= statistics.calls >= 1
    assert statistics.branchings >= statistics.closed >= 1
    assert statistics.seconds > 0


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": np.array([0, 1, 2, 0], dtype=np.int32)},
        {"labels": np.array([0, -1, 1, 0], dtype=np.int32)},
        {"labels": np.array([0, 1], dtype=np.int32)},
        {"n_classes": 0},
        {"n_classes": 10**9},
        {"splits": [(2, 0, False)]},
        {"splits": [(0, 1, False), (0, 0, False)]},
        {"splits": [(0, 0, False), (0, 0, False)]},
        {"splits": [(1, 3, False)]},
        {"splits": [(1, -1, False)]},
        {"splits": [(0, 2**31 - 1)]},
        {"splits": [(0, k, False) for k in range(40_000)]},
        {"depth": -1},
        {"depth": 13},
        {"depth": 2**31 - 1},
        lambda: {"costs": []},
        lambda: {"costs": [column_costs()]},
        lambda: {"costs": [column_costs(), column_costs(((1.0, 2.0),), ordered=False)]},
        lambda: {"costs": [column_costs(((1.0,), (1.0,))), column_costs(ordered=False)]},
        lambda: {"costs": [column_costs(((-1.0,),)), column_costs(ordered=False)]},
        lambda: {"costs": [column_costs(((math.nan,),)), column_costs(ordered=False)]},
        lambda: {"costs": [column_costs(), column_costs(ordered=False, upper=1)]},
        lambda: {"costs": [column_costs(), column_costs(ordered=False, upper=-1)]},
        lambda: {"costs": [1.0, 2.0]},
        lambda: {"costs": [None, None]},
        {"budget": math.nan},
        {"budget": math.inf},
        {"budget": -1.0},
        {"penalty": -1.0},
        {"penalty": math.nan},
        {"values": np.zeros((0, 2), dtype=np.int32, order="F"), "labels": np.zeros(0, dtype=np.int32)},
        {"values": np.zeros((4, 0), dtype=np.int32, order="F")},
    ],
)
def test_an_inconsistent_problem_is_refused(changes):
    changes = changes() if callable(changes) else changes
    with pytest.raises((ValueError, TypeError)):
        compiled.SearchProblem(**arguments(**changes))


@pytest.mark.parametrize(
    "start",
    [
        [(-1, 0)],
        [(-1, 0)] * 7,
        [(-1, 0), (9, 0), *[(-1, 0)] * 6],
        [(-1, 0), (-2, 0), *[(-1, 0)] * 6],
        [(-1, 0), (-1, 5), *[(-1, 0)] * 6],
        [(-1, 0), (-1, -1), *[(-1, 0)] * 6],
        [*[(-1, 0)] * 7, (0, 0)],
    ],
)
def test_an_invalid_start_tree_is_refused(start):
    with pytest.raises(ValueError, match="tree: "):
        search(compiled.SearchProblem(**arguments()), start=start)


def test_invalid_threads_and_switches_are_refused():
    problem = compiled.SearchProblem(**arguments())
    with pytest.raises(ValueError, match="n_jobs: expected 1 to 1024"):
        search(problem, n_jobs=0)
    with pytest.raises(ValueError, match="switches: unknown name"):
        search(problem, switches={"magic": True})


def test_without_splits_classes_or_levels_the_tree_is_a_leaf():
    for changes in ({"splits": []}, {"depth": 0}, {"n_classes": 1, "labels": np.zeros(4, dtype=np.int32)}):
        found = search(compiled.SearchProblem(**arguments(**changes)))
        assert (found.proved, found.n_splits) == (True, 0)


def test_a_problem_outlives_the_arrays_of_its_constructor():
    problem = compiled.SearchProblem(**arguments())
    expected = search(problem).value
    junk = [np.random.default_rng(k).integers(0, 9, (4, 2)).astype(np.int32) for k in range(200)]
    assert len(junk) == 200
    assert search(problem).value == expected


def test_trees_without_nodes_or_with_wrong_links_are_refused():
    empty = np.zeros(0, dtype=np.int32)
    with pytest.raises(ValueError, match="node"):
        compiled.Tree(empty, empty, empty, empty, empty, empty, 1)
    for left, right in itertools.product((-5, 0, 7), (1, 9)):
        nodes = [
            np.array(numbers, dtype=np.int32) for numbers in ([0, -1], [0, 0], [left, -1], [right, -1], [1, 1], [0, 0])
        ]
        with pytest.raises(ValueError, match="node"):
            compiled.Tree(*nodes, 1)
