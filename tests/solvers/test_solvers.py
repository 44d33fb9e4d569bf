import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

import hardwood as hw
from hardwood.solvers import get_solver, solve
from hardwood.solvers.base import Limits, Progress, Start, Status, StopReason
from hardwood.solvers.leaf import LeafSolver
from hardwood.solvers.registry import SOLVERS, solver_with_alternatives, solver_with_relabelling, solvers_text
from hardwood.solvers.run import Run
from hardwood.solvers.search import SearchSolver
from hardwood.solvers.stable import StableSolver
from hardwood.trees.tree import Branch, Leaf, Tree
from tests.instances import random_instance


def problem(max_depth=2, branch_penalty=None, y=(0, 0, 1, 1, 1), budget=1.0):
    table = hw.encode(np.arange(5).reshape(-1, 1))
    uncertainty = hw.UncertaintySet.priced(table, costs=1.0, budget=budget)
    return hw.Problem(hw.encode_labels(list(y), 5), uncertainty, max_depth, branch_penalty)


def test_the_leaf_solver_predicts_the_most_frequent_class():
    result = solve(problem(), "leaf")
    assert result.tree.root == Leaf(1)
    assert (result.worst_case_correct, result.branching_nodes, result.objective) == (3, 0, 3.0)
    assert (result.upper_bound, result.gap) == (5, pytest.approx(0.4))
    assert (result.status, result.stop_reason, result.solver) == (Status.FEASIBLE, StopReason.FINISHED, "leaf")
    assert result.objective_bound == 5 - 0.25


def test_a_leaf_is_optimal_at_depth_zero_and_for_a_single_class():
    at_depth_zero = solve(problem(max_depth=0), "leaf")
    assert (at_depth_zero.status, at_depth_zero.gap, at_depth_zero.upper_bound) == (Status.OPTIMAL, 0.0, 3)
    assert solve(problem(y=(1, 1, 1, 1, 1)), "leaf").status is Status.OPTIMAL


def test_a_known_bound_can_finish_the_proof():
    result = solve(problem(), "leaf", start=Start(objective_bound=3.0))
    assert (result.status, result.upper_bound, result.gap) == (Status.OPTIMAL, 3, 0.0)
    result = solve(problem(), "leaf", start=Start(objective_bound=3.5))
    assert (result.status, result.upper_bound) == (Status.FEASIBLE, 4)


def test_a_start_bound_that_cannot_be_true_is_refused():
    with pytest.raises(ValueError, match=r"start.objective_bound is 1.0, but a tree reaches 3.0"):
        solve(problem(), "leaf", start=Start(objective_bound=1.0))


def test_progress_reaches_the_listener_and_the_history():
    events = []
    result = solve(problem(), "leaf", on_progress=events.append)
    assert events == list(result.history)
    assert isinstance(events[0], Progress)
    assert (events[0].objective, events[0].objective_bound) == (3.0, 4.75)
    assert 0 <= events[0].seconds <= result.seconds


@pytest.mark.parametrize("seed", range(50))
def test_no_shift_changes_what_a_leaf_gets_right(seed):
    instance = random_instance(np.random.default_rng([5, seed]))
    posed = hw.Problem(instance.encoded_labels, instance.uncertainty, 3)
    assert solve(posed, "leaf").worst_case_correct == np.bincount(instance.labels).max()


def test_any_object_with_the_contract_is_a_solver():
    class Fixed:
        name = "fixed"

        def solve(self, problem, *, limits, start, on_progress, seed, n_jobs):
            del limits, start, seed, n_jobs
            run = Run(problem, self.name, on_progress)
            tree = Tree(problem.table.features, problem.labels.classes, Branch(0, 1, Leaf(0), Leaf(1)))
            return run.result(tree, objective_bound=4.75, upper_bound=5, stop_reason=StopReason.TIME_LIMIT)

    result = solve(problem(), Fixed(), limits=Limits(seconds=1))
    assert (result.worst_case_correct, result.objective, result.solver) == (4, 3.75, "fixed")
    assert (result.status, result.stop_reason) == (Status.FEASIBLE, StopReason.TIME_LIMIT)


@pytest.fixture
def good_tree():
    posed = problem()
    return Tree(posed.table.features, posed.labels.classes, Branch(0, 1, Leaf(0), Leaf(1)))


def test_statuses_are_claims(good_tree):
    proved = Run(problem(), "x").result(good_tree, objective_bound=3.75, upper_bound=4)
    assert (proved.status, proved.gap) == (Status.OPTIMAL, 0.0)
    size_open = Run(problem(), "x").result(good_tree, objective_bound=4.0, upper_bound=4)
    assert size_open.status is Status.MOST_ROBUST
    # With the paper's penalty all splits cost less than a sample, so a bound on the objective bounds the samples.
    implied = Run(problem(), "x").result(good_tree, objective_bound=4.1, upper_bound=5)
    assert (implied.status, implied.upper_bound) == (Status.MOST_ROBUST, 4)


def test_a_bound_below_the_objective_by_a_rounding_error_is_a_proof_and_one_above_is_not(good_tree):
    posed = problem(branch_penalty=0.1)
    below = Run(posed, "x").result(good_tree, objective_bound=4 - 0.1 - 1e-15, upper_bound=4)
    assert (below.status, below.objective_bound) == (Status.OPTIMAL, below.objective)
    above = Run(posed, "x").result(good_tree, objective_bound=4 - 0.1 + 1e-15, upper_bound=4)
    assert above.status is Status.MOST_ROBUST


@pytest.mark.parametrize(("objective_bound", "upper_bound"), [(math.nan, 5), (-math.inf, 5), (5.0, math.nan)])
def test_bounds_that_are_not_numbers_are_reported_as_a_bug(good_tree, objective_bound, upper_bound):
    with pytest.raises(RuntimeError, match="please report"):
        Run(problem(), "x").result(good_tree, objective_bound=objective_bound, upper_bound=upper_bound)


def test_very_deep_trees_are_allowed():
    assert solve(problem(max_depth=200), "leaf").upper_bound == 5
    assert solve(problem(max_depth=30), "leaf", start=Start(objective_bound=3.0)).gap == 0.0
    assert solve(problem(max_depth=np.int64(2)), "leaf").upper_bound == 5


def test_a_bound_below_the_value_of_the_solvers_own_tree_is_reported_as_a_bug(good_tree):
    with pytest.raises(RuntimeError, match="its own tree reaches 4"):
        Run(problem(), "x").result(good_tree, objective_bound=9.0, upper_bound=3)
    with pytest.raises(RuntimeError, match="its own tree reaches 4"):
        Run(problem(), "x").result(good_tree, objective_bound=2.0, upper_bound=4)
    with pytest.raises(RuntimeError, match="depth 1; max_depth is 0"):
        Run(problem(max_depth=0), "x").result(good_tree, objective_bound=5.0, upper_bound=5)


def weighted_problem(goal="robust"):
    table = hw.encode(np.arange(5).reshape(-1, 1))
    uncertainty = hw.UncertaintySet.priced(table, costs=1.0, budget=1.0)
    labels = hw.encode_labels([0, 0, 1, 1, 1], 5, weights=[1, 2, 3, 1, 2])
    return hw.Problem(labels, uncertainty, 2, goal=goal)


@pytest.mark.parametrize(
    "solver",
    ["search", "leaf", "groot", "chen", StableSolver("gurobi")],
    ids=lambda own: own if isinstance(own, str) else "stable",
)
@pytest.mark.parametrize("goal", ["robust", "distributional"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_attack_of_a_result_is_on_the_problem_of_the_caller(solver, goal, weighted):
    posed = weighted_problem(goal) if weighted else hw.Problem(problem().labels, problem().uncertainty, 2, goal=goal)
    result = solve(posed, solver)
    assert result.attack.tree is result.tree
    assert result.attack.labels is posed.labels
    assert result.attack.uncertainty is posed.uncertainty
    assert result.attack.worst_case_correct == result.worst_case_correct
    assert posed.objective_of(result.attack) == result.objective


def test_a_stable_tree_of_an_immovable_table_is_attacked_on_the_problem_of_the_caller():
    posed = problem(budget=0.5)
    result = StableSolver().solve(posed)
    assert (result.solver, result.branching_nodes) == ("search", 1)
    assert result.attack.uncertainty is posed.uncertainty
    assert result.attack.worst_case_correct == result.worst_case_correct == 5


def test_a_pickled_result_has_all_but_the_attack_which_holds_the_table():
    result = solve(problem())
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert not hasattr(again, "attack")
    assert b"uncertainty" not in pickle.dumps(result)


def test_only_some_solvers_list_alternatives_and_relabel():
    assert isinstance(solver_with_alternatives(), SearchSolver)
    assert isinstance(solver_with_relabelling(), SearchSolver)
    with pytest.raises(
        ValueError, match=r"solver is 'leaf'; it has no method \"alternatives\".*solver=\"search\" has it"
    ):
        solver_with_alternatives("leaf")
    with pytest.raises(ValueError, match=r"solver is 'groot'; it has no method \"relabel\", which is needed to choose"):
        solver_with_relabelling(get_solver("groot"))


def test_relabelled_is_a_deprecated_name():
    with pytest.warns(DeprecationWarning, match=r"SearchSolver.relabelled was renamed to SearchSolver.relabel"):
        assert SearchSolver().relabelled(problem(), solve(problem()).tree).proved


def test_the_registry_describes_every_solver():
    assert set(SOLVERS) == {"search", "scip", "gurobi", "groot", "chen", "leaf"}
    assert all(f"{name}: {entry.description}" in solvers_text() for name, entry in SOLVERS.items())
    assert "on SCIP (extra scip);" in solvers_text()
    for name in ("search", "leaf", "groot", "chen"):
        assert get_solver(name).takes_weights == (name in ("search", "leaf"))


def test_a_solver_refuses_constraints_that_it_does_not_declare():
    class Unrestricted(LeafSolver):
        name = "unrestricted"
        constraints = ()

    restricted = replace(problem(), min_samples_leaf=1)
    assert solve(restricted, "leaf").worst_case_correct == solve(problem(), Unrestricted()).worst_case_correct
    with pytest.raises(ValueError, match=r"it cannot be restricted to trees with at least 1 .*solver=\"search\" can"):
        solve(restricted, Unrestricted())


def test_unknown_solvers_and_negative_limits_are_refused():
    with pytest.raises(ValueError, match=r"solver is 'cplex'; expected one of \['chen', 'groot', 'gurobi', 'leaf'"):
        get_solver("cplex")
    with pytest.raises(ValueError, match="seconds is -1; a limit must be a number >= 0"):
        Limits(seconds=-1)
    with pytest.raises(ValueError, match="seconds is nan"):
        Limits(seconds=math.nan)


def test_the_penalty_of_the_paper_is_less_than_one_sample_in_total():
    posed = problem(max_depth=3)
    assert posed.penalty == 1 / 8
    assert posed.objective(10, 7) > 9
    assert problem(branch_penalty=0.5).objective(10, 3) == 8.5
    assert problem(branch_penalty=0).objective(10, 3) == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_depth": -1}, "max_depth is -1; it must be a whole number >= 0"),
        ({"max_depth": 2.5}, "max_depth is 2.5"),
        ({"branch_penalty": -0.1}, "branch_penalty is -0.1; it must lie in"),
        ({"branch_penalty": math.nan}, "branch_penalty is nan"),
        ({"branch_penalty": "x"}, "branch_penalty is 'x'; expected a number"),
    ],
)
def test_impossible_problems_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        problem(**arguments)


def test_every_row_needs_a_label():
    with pytest.raises(ValueError, match="there are 4 labels but 5 rows"):
        hw.Problem(hw.encode_labels([0, 1, 0, 1], 4), problem().uncertainty, 2)
