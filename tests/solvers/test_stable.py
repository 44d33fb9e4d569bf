import sys

import numpy as np
import pytest

import hardwood as hw
from hardwood.solvers.base import Limits, Start, Status
from hardwood.solvers.run import RunOptions
from hardwood.solvers.search import SearchSolver
from hardwood.solvers.stable import StableRun, StableSolver
from tests import oracle
from tests.problems import posed, random_problem, small_table

pytestmark = pytest.mark.slow  # runs mixed-integer solvers

both_solvers = pytest.mark.parametrize("solver", ["scip", "gurobi"])


@both_solvers
@pytest.mark.parametrize("batch", range(8))
def test_it_finds_the_same_optimum_as_enumerating_every_tree_and_shift(solver, batch):
    for k in range(20):
        instance, problem = random_problem([51, batch, k])
        best = oracle.best_stable_tree(
            instance.columns,
            instance.labels,
            len(problem.labels.classes),
            instance.budget,
            problem.max_depth,
            problem.penalty,
        )
        found = StableSolver(solver).solve(problem)
        assert found.status is Status.OPTIMAL
        assert found.objective == pytest.approx(best.objective, abs=1e-9)


def test_the_problems_have_stable_trees_with_splits():
    sizes = []
    for k in range(60):
        _, problem = random_problem([51, 0, k])
        sizes.append(StableSolver("gurobi").solve(problem).branching_nodes)
    assert sum(size > 0 for size in sizes) >= 5


@pytest.mark.parametrize("norm", ["one", "infinity"])
@pytest.mark.parametrize("seed", range(4))
def test_on_larger_tables_a_stable_tree_survives_every_shift_of_every_row(norm, seed):
    values, y, _ = small_table(seed, n=40, n_columns=3, n_values=8)
    table = hw.encode(values)
    boxes = hw.UncertaintySet.boxes(table, radius=1)
    rows = boxes if norm == "infinity" else hw.UncertaintySet.priced(table, costs=1.0, budget=1.0)
    problem = hw.Problem(hw.encode_labels(y, 40), rows, 2)
    found = StableSolver("gurobi").solve(problem, limits=Limits(seconds=20))
    steps = [[0, 0, 0]] + [[s * (j == k) for j in range(3)] for k in range(3) for s in (1, -1)]
    if norm == "infinity":
        steps = [[a, b, c] for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1)]
    predicted = found.tree.predict(table)
    for step in steps:
        assert (found.tree.predict(hw.encode(values + step, features=table.features)) == predicted).all()
    assert found.worst_case_correct == (predicted == problem.labels.codes).sum()
    robust = SearchSolver().solve(problem if norm == "infinity" else hw.Problem(problem.labels, boxes, 2))
    if norm == "infinity":  # the paper's Proposition 1: stable trees are among the robust ones
        assert found.worst_case_correct <= robust.worst_case_correct


def test_without_moves_it_is_the_ordinary_optimal_tree():
    problem = posed(*small_table(1), budget=0.0, depth=3)
    found = StableSolver().solve(problem)
    assert found.solver == "search"
    assert found.objective == SearchSolver().solve(problem).objective


def test_a_warm_start_must_be_stable():
    values, y, costs = small_table(2, n=30, n_columns=2)
    problem = posed(values, y, costs * 0 + 1, budget=1.0)
    unstable = SearchSolver().solve(posed(values, y, costs, budget=0.0)).tree
    run = StableRun(problem, RunOptions(start=Start(unstable)))
    assert not run.is_stable(unstable)
    assert run.is_stable(run._best)
    best = StableSolver("gurobi").solve(problem)
    again = StableSolver("gurobi").solve(problem, start=Start(best.tree), limits=Limits(seconds=0.0))
    assert again.objective == best.objective


def test_unknown_solvers_are_refused():
    with pytest.raises(ValueError, match="solver is 'cbc'"):
        StableSolver("cbc")


def test_the_example_of_the_papers_proposition():
    """Nine points on a line, each may move by one: the optimum, and the cost of stability.

    The paper calls x >= 6 the only optimum and x >= 2 the best stable tree. By enumeration, three thresholds are
    optimal, and since every threshold lies within reach of two points, no tree with a split is stable.
    """
    x, y = np.arange(1, 10)[:, None], np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])
    table = hw.encode(x)
    problem = hw.Problem(hw.encode_labels(y, 9), hw.UncertaintySet.boxes(table, radius=1), 1, 0.0)
    worst = {}
    for threshold in range(1, 9):
        for low, high in ((0, 1), (1, 0)):
            shifted = [{(low if v <= threshold else high) for v in (p - 1, p, p + 1)} for p in range(1, 10)]
            right = sum(classes == {label} for classes, label in zip(shifted, y, strict=True))
            worst[threshold, low] = (right, all(len(classes) == 1 for classes in shifted))
    best = max(right for right, _ in worst.values())
    assert best == 7
    assert [key for key, (right, _) in worst.items() if right == best] == [(3, 0), (4, 0), (5, 0)]
    assert not any(stable for _, stable in worst.values())
    assert SearchSolver().solve(problem).worst_case_correct == 7
    stable = StableSolver("gurobi").solve(problem)
    assert (stable.worst_case_correct, stable.branching_nodes) == (5, 0)


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    monkeypatch.delitem(sys.modules, "hardwood.solvers.mio.scip", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'hardwood\[scip\]'"):
        StableSolver("scip").solve(posed(*small_table(2, n=10, n_columns=2), budget=3.0))
