import itertools
import math
import sys

import numpy as np
import pytest

import hardwood as hw
from hardwood.solvers import get_solver, solve
from hardwood.solvers.base import Limits, Start, Status, StopReason
from hardwood.solvers.mio import IMPROVED, PAPER, Form
from hardwood.solvers.mio import branch_and_cut as branch_and_cut_module
from hardwood.solvers.mio.branch_and_cut import BranchAndCut
from hardwood.solvers.mio.gurobi import GurobiSolver
from hardwood.solvers.mio.model import MainProblem
from hardwood.solvers.mio.scip import ScipSolver
from hardwood.solvers.mio.separation import TOLERANCE, Separation
from hardwood.solvers.run import RunOptions
from hardwood.trees.tree import Branch, Leaf, Tree
from tests.instances import KINDS, TRAITS
from tests.problems import (
    assert_claims_hold,
    correct_after_ctrl_c,
    hard_problem,
    needs_signals,
    posed,
    random_problem,
    small_table,
    truth,
)

pytestmark = pytest.mark.slow  # runs mixed-integer solvers

SOLVERS = (ScipSolver, GurobiSolver)
both_solvers = pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
FORMS = (
    Form(per_sample_cuts=False, total=False, lifted=False, splits_first=False),
    PAPER,
    Form(lifted=False),
    Form(splits_first=False),
    Form(lagrangian=True),
    Form(per_sample_cuts=False, lifted=False, lagrangian=True),
)


@both_solvers
@pytest.mark.parametrize("batch", range(20))
def test_solvers_find_the_same_optimum_as_enumerating_every_tree_and_shift(solver, batch):
    for k in range(20):
        instance, problem = random_problem([41, batch, k])
        form = IMPROVED if k % 2 else FORMS[(batch + k // 2) % len(FORMS)]
        assert_claims_hold(solver(form).solve(problem), truth(instance, problem), problem)


@both_solvers
@pytest.mark.parametrize("batch", range(5))
def test_so_they_do_with_a_smallest_leaf_size(solver, batch):
    for k in range(20):
        instance, problem = random_problem([45, batch, k], min_leaf=True, wide=k % 2 == 1)
        form = IMPROVED if k % 3 else FORMS[(batch + k) % len(FORMS)]
        if problem.labels.integral:
            assert_claims_hold(solve(problem, solver(form)), truth(instance, problem), problem)


@both_solvers
@pytest.mark.parametrize("batch", range(6))
def test_so_they_do_with_weights_missing_values_and_cost_tables(solver, batch):
    for k in range(20):
        instance, problem = random_problem([44, batch, k], wide=True)
        if problem.labels.integral:
            assert_claims_hold(solve(problem, solver()), truth(instance, problem), problem)
        else:
            with pytest.raises(ValueError, match="it takes integer sample weights only"):
                solve(problem, solver())


def test_the_problems_cover_every_kind():
    problems = [random_problem([41, batch, k]) for batch in range(20) for k in range(20)]
    traits = set().union(*(instance.traits for instance, _ in problems))
    assert {*KINDS, *TRAITS} <= traits
    assert {problem.max_depth for _, problem in problems} == {0, 1, 2, 3}


@both_solvers
@pytest.mark.parametrize("seed", range(3))
def test_every_form_and_the_search_reach_the_same_optimum(solver, seed):
    problem = posed(*small_table(seed, n=25, n_columns=3), budget=3.0)
    expected = solve(problem)
    for form in (*FORMS, IMPROVED):
        found = solver(form).solve(problem)
        assert (found.status, found.objective) == (Status.OPTIMAL, expected.objective)
        assert found.upper_bound == expected.worst_case_correct


@both_solvers
@pytest.mark.parametrize("plausibility", [1.0, 0.8])
def test_solvers_by_name_solve_ordinary_and_robust_calibrated_problems(solver, plausibility):
    values, y, _ = small_table(7, n=30, n_columns=3)
    table = hw.encode(values)
    uncertainty = hw.UncertaintySet.calibrated(table, certainty=0.8, plausibility=plausibility)
    problem = hw.Problem(hw.encode_labels(y, len(y)), uncertainty, 2)
    found = solve(problem, solver.name)
    assert (found.solver, found.status, found.objective) == (solver.name, Status.OPTIMAL, solve(problem).objective)


@pytest.mark.parametrize("name", ["monks-1", "monks-2", "monks-3", "hayes-roth", "house-votes-84"])
@both_solvers
def test_real_tables_have_one_optimum(solver, name, benchmark_problem):
    problem = benchmark_problem(name, 0.8, 0.9, 1)
    found, expected = solver().solve(problem), solve(problem)
    assert (found.status, found.objective) == (expected.status, expected.objective)


def random_tree(rng, problem, depth):
    splits = problem.splits
    if depth == 0 or not splits or rng.random() < 0.2:
        return Leaf(int(rng.integers(len(problem.labels.classes))))
    feature, code, missing_left = splits[rng.integers(len(splits))]
    return Branch(feature, code, *(random_tree(rng, problem, depth - 1) for _ in range(2)), missing_left)


@pytest.mark.parametrize("form", [*FORMS, IMPROVED], ids=str)
def test_cuts_hold_for_every_tree_and_exclude_the_one_that_claims_too_much(form):
    excluded = 0
    for k in range(60):
        rng = np.random.default_rng([43, k])
        _, problem = random_problem([42, k])
        main = MainProblem(problem, form)
        separation = Separation(main)
        trees = [
            Tree(problem.table.features, problem.labels.classes, random_tree(rng, problem, problem.max_depth))
            for _ in range(6)
        ]
        attacks = [hw.attack(tree, problem.labels, problem.uncertainty) for tree in trees]
        exact = [main.values(found) for found in attacks]
        for values, found in zip(exact, attacks, strict=True):
            assert all(row.lower - 1e-9 <= row.activity(values) <= row.upper + 1e-9 for row in main.rows)
            assert main.tree(values) == found.tree
            assert main.objective @ values == pytest.approx(
                found.worst_case_correct - problem.solver_penalty * found.tree.n_branching_nodes
            )
            claimed = values.copy()
            claimed[main.t] = 1.0
            claimed[main.total] = problem.n_samples
            claimed[main.multiplier] = 0.0
            claimed[main.share] = 1.0
            cuts = separation.propose(claimed).cuts
            claims_too_much = found.worst_case_correct < problem.n_samples
            assert bool(cuts) == claims_too_much or (
                main.lagrangian and cuts
            )  # shares at multiplier 0 are a claim, too
            excluded += len(cuts)
            for cut, others in itertools.product(cuts, exact):
                assert cut.activity(others) <= cut.upper + 1e-9
            assert not separation.propose(values).cuts
    assert excluded > 100


def test_equal_rows_share_a_variable_in_the_lifted_form_unless_their_costs_differ():
    table = hw.encode(np.array([[0], [0], [0], [1]]))
    labels = hw.encode_labels([0, 0, 1, 1], 4)
    shared = hw.Problem(labels, hw.UncertaintySet.priced(table, costs=1.0, budget=1.0), 1)
    assert MainProblem(shared, IMPROVED).t.shape == (3, 1)
    assert MainProblem(shared, PAPER).t.shape == (4, 1)
    costs = np.array([[1.0], [2.0], [1.0], [1.0]])
    own = hw.Problem(labels, hw.UncertaintySet.priced(table, costs=costs, budget=1.0), 1)
    assert MainProblem(own, IMPROVED).t.shape == (4, 1)


@both_solvers
def test_a_stopped_solver_reports_it_and_keeps_its_tree_and_bound(solver):
    result = solver().solve(hard_problem(), limits=Limits(seconds=1.0))
    assert (result.stop_reason, result.status) == (StopReason.TIME_LIMIT, Status.FEASIBLE)
    assert result.worst_case_correct < result.upper_bound <= 400
    assert result.worst_case_correct >= np.bincount(hard_problem().labels.codes).max()


@both_solvers
@pytest.mark.parametrize("seed", range(8))
def test_bounds_hold_whenever_the_solver_is_stopped(solver, seed):
    problem = posed(*small_table(seed), 4.0)
    best = solve(problem).objective
    result = solver().solve(problem, limits=Limits(work=1 + 3 * seed))
    assert result.stop_reason in (StopReason.WORK_LIMIT, StopReason.FINISHED)
    assert result.objective <= best <= result.objective_bound
    assert all(event.objective <= best <= event.objective_bound for event in result.history)


@both_solvers
def test_a_warm_start_is_the_first_tree(solver):
    problem = posed(*small_table(3), 4.0)
    best = solve(problem)
    result = solver().solve(problem, limits=Limits(seconds=0.0), start=Start(best.tree))
    assert result.objective == best.objective
    events = solver().solve(problem, start=Start(best.tree)).history
    assert {event.objective for event in events} == {best.objective}
    known = solver().solve(problem, start=Start(best.tree, best.objective_bound))
    assert (known.status, known.stop_reason) == (Status.OPTIMAL, StopReason.FINISHED)
    assert known.work <= 1


@both_solvers
def test_a_warm_start_that_the_model_cannot_express_is_kept(solver):
    problem = posed(*small_table(3), 4.0)
    odd = Branch(0, 50, solve(problem, "leaf").tree.root, Leaf(0))  # all samples go left
    tree = Tree(problem.table.features, problem.labels.classes, odd)
    assert BranchAndCut(problem, IMPROVED, "x", RunOptions(start=Start(tree))).best.worst_case_correct > 0
    assert solver().solve(problem, start=Start(tree)).objective == solve(problem).objective
    deep = Tree(problem.table.features, problem.labels.classes, Branch(0, 1, odd, Branch(1, 0, odd, odd)))
    assert solver().solve(problem, start=Start(deep)).objective == solve(problem).objective


@both_solvers
def test_a_start_bound_that_cannot_be_true_is_refused(solver):
    with pytest.raises(ValueError, match=r"start\.objective_bound is 1\.0, but a tree reaches"):
        solver().solve(posed(*small_table(0), 1.0), start=Start(objective_bound=1.0))


@both_solvers
def test_errors_in_callbacks_keep_their_type(solver, monkeypatch):
    def listener(_event):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        solver().solve(hard_problem(), limits=Limits(seconds=20), on_progress=listener)

    def broken(*_args):
        raise ZeroDivisionError("deep inside")

    monkeypatch.setattr(branch_and_cut_module.Separation, "propose", broken)
    with pytest.raises(ZeroDivisionError, match="deep inside"):
        solver().solve(posed(*small_table(0), 1.0))


@both_solvers
def test_ctrl_c_in_the_listener_counts_like_any_other(solver):
    def listener(_event):
        raise KeyboardInterrupt

    result = solver().solve(hard_problem(), limits=Limits(seconds=20), on_progress=listener)
    assert result.stop_reason is StopReason.INTERRUPTED


@needs_signals
@both_solvers
def test_ctrl_c_keeps_the_best_tree(solver):
    assert correct_after_ctrl_c(solver.name) >= 134


@both_solvers
def test_the_same_seed_gives_the_same_tree(solver):
    problem = posed(*small_table(5), 4.0)
    first, second = solver().solve(problem, seed=3), solver().solve(problem, seed=3)
    assert (first.tree, first.work) == (second.tree, second.work)


def test_bounds_between_two_objectives_mean_the_lower_one():
    problem = posed(*small_table(0), 1.0)  # penalty 1/4, at most 3 splits
    run = BranchAndCut(problem, IMPROVED, "x", RunOptions())
    assert run.objective_bound(35.1) == 35.0
    assert run.objective_bound(34.9999999) == 35.0
    assert run.objective_bound(34.9) == 34.75
    assert run.objective_bound(math.inf) == problem.n_samples
    assert run.objective_bound(-math.inf) == run.objective


@pytest.mark.parametrize(("name", "package"), [("scip", "pyscipopt"), ("gurobi", "gurobipy")])
def test_a_missing_package_names_the_extra(monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"hardwood.solvers.mio.{name}")
    with pytest.raises(ImportError, match=rf"solver \"{name}\" needs the package {package}.*hardwood\[{name}\]"):
        get_solver(name)


def test_a_model_beyond_the_free_licence_is_refused_with_a_remedy():
    rng = np.random.default_rng(0)
    problem = posed(rng.integers(0, 9, (2500, 3)), rng.integers(0, 2, 2500), 1.0, 5.0)
    with pytest.raises(ValueError, match=r'the free licence of Gurobi takes 2,000 of each.*solver="scip"'):
        GurobiSolver(PAPER).solve(problem)


@both_solvers
def test_models_that_are_too_large_for_any_solver_are_refused(solver):
    with pytest.raises(ValueError, match=r"max_depth is 1; with 1000000 candidate splits .*binned"):
        solver().solve(posed(np.array([[0], [10**6]]), [0, 1], 1e-6, 1.0, depth=1))
    with pytest.raises(ValueError, match="max_depth is 40"):
        solver().solve(posed(*small_table(0), 1.0, depth=40))


@pytest.mark.parametrize("wrong", [{"total": False}, {"per_sample_cuts": False}, {"lifted": False, "total": False}])
def test_forms_that_contradict_themselves_are_refused(wrong):
    with pytest.raises(ValueError, match="form needs total=True"):
        Form(lagrangian=True, **wrong)


def test_the_tolerance_is_wider_than_that_of_solvers():
    assert TOLERANCE > 1e-6


@both_solvers
@pytest.mark.parametrize("high", [1e10, 1e30])
def test_costs_far_above_the_budget_keep_the_lagrangian_form_exact(solver, high):
    values = np.array([[1, 2], [2, 0], [0, 2], [2, 0], [0, 2], [1, 0]])
    costs = np.array([[1, 1], [high, 1], [high, high], [high, high], [high, high], [1, high]])
    table = hw.encode(values)
    problem = hw.Problem(
        hw.encode_labels([1, 0, 0, 1, 1, 0], 6), hw.UncertaintySet.priced(table, costs=costs, budget=1.0), 2
    )
    assert solver(Form(lagrangian=True)).solve(problem).objective == solve(problem).objective == 3.25


@both_solvers
def test_a_proposal_has_a_limited_number_of_cuts(solver, monkeypatch):
    monkeypatch.setattr("hardwood.solvers.mio.separation.MAX_NONZEROS", 30)
    problem = posed(*small_table(1, n=25, n_columns=3), budget=3.0)
    for form in (PAPER, IMPROVED):
        assert solver(form).solve(problem).objective == solve(problem).objective


@both_solvers
def test_unlimited_limits_and_huge_penalties_are_accepted(solver):
    problem = posed(*small_table(3, n=20), 2.0, penalty=1e25)
    limits = Limits(seconds=math.inf, memory_bytes=10**20, work=10**20)
    result = solver().solve(problem, limits=limits)
    assert (result.status, result.branching_nodes) == (Status.OPTIMAL, 0)
    with pytest.raises(ValueError, match="n_jobs is 0"):
        solver().solve(problem, n_jobs=0)
    with pytest.raises(ValueError, match="objective_bound is nan"):
        Start(objective_bound=math.nan)


@both_solvers
def test_deep_trees_on_constant_columns_are_refused_before_they_fill_the_memory(solver):
    with pytest.raises(ValueError, match="max_depth is 18"):
        solver().solve(posed(np.zeros((20, 1), dtype=int), [0, 1] * 10, 1.0, 1.0, depth=18))
