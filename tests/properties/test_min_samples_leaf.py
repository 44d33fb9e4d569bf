"""Leaves that must hold a minimum number of samples of the unshifted table."""

import json
import re

import numpy as np
import pytest

import hardwood as hw
from hardwood import RobustTreeClassifier
from hardwood.certificate import Certificate
from hardwood.problem import Goal
from hardwood.solvers import solve
from hardwood.solvers.base import Limits, Start
from hardwood.solvers.search import SearchSolver
from hardwood.solvers.stable import StableSolver
from tests.problems import assert_claims_hold, most_are_slow, posed, random_problem, small_table, truth

OWN_LISTS = {"all_pairs": False, "full_domain": False}


def held(tree, table, n=None):
    return np.bincount(tree.leaf_of(table), minlength=n or len(tree.regions))


@pytest.mark.parametrize("number", most_are_slow(16))
def test_the_search_finds_the_best_of_all_admissible_trees(number):
    for k in range(100):
        instance, problem = random_problem([71, number, k], min_leaf=True, wide=k % 2 == 1)
        best = truth(instance, problem)
        for switches in ({}, {"leaf_size_bounds": False}, OWN_LISTS if k % 3 else {"subset_sums": False}):
            assert_claims_hold(SearchSolver(**switches).solve(problem), best, problem)


def test_the_limit_matters_in_some_of_these_problems():
    lower = 0
    for k in range(200):
        _, problem = random_problem([71, 0, k], min_leaf=True)
        free = hw.Problem(problem.labels, problem.uncertainty, problem.max_depth, problem.branch_penalty)
        lower += solve(problem).objective < solve(free).objective
    assert lower >= 5


@pytest.mark.parametrize("seed", range(6))
def test_on_larger_tables_bounds_with_and_without_sizes_agree(seed):
    values, y, costs = small_table(seed, n=150, n_values=4, n_columns=5, n_classes=2 + seed % 2)
    plain = posed(values, y, costs, 15.0, depth=3 + seed % 2)
    problem = hw.Problem(plain.labels, plain.uncertainty, plain.max_depth, min_samples_leaf=12)
    ways = [
        SearchSolver(),
        SearchSolver(leaf_size_bounds=False),
        SearchSolver(**OWN_LISTS),
        SearchSolver(iterative_deepening=False),
    ]
    results = [way.solve(problem, limits=Limits(seconds=20)) for way in ways]
    proved = {result.worst_case_correct for result in results if result.status == "optimal"}
    assert len(proved) == 1
    assert max(result.worst_case_correct for result in results) == proved.pop()
    assert all(held(result.tree, problem.table).min() >= 12 for result in results)


@pytest.mark.parametrize("solver", ["groot", "chen"])
def test_greedy_trees_keep_the_limit(solver):
    for seed in range(10):
        values, y, _ = small_table(seed, n=60, n_columns=5)
        table = hw.encode(values)
        problem = hw.Problem(hw.encode_labels(y, 60), hw.UncertaintySet.boxes(table, radius=1), 4, min_samples_leaf=9)
        assert held(solve(problem, solver).tree, table).min() >= 9


def test_integer_weights_count_as_repeated_rows_and_others_as_single_rows():
    values, y, costs = small_table(5, n=30)
    weights = np.random.default_rng(5).integers(1, 4, 30).astype(float)
    table = hw.encode(values)
    uncertainty = hw.UncertaintySet.priced(table, costs=costs, budget=3.0)
    whole = hw.Problem(hw.encode_labels(y, 30, weights=weights), uncertainty, 3, min_samples_leaf=8)
    repeated = np.repeat(np.arange(30), weights.astype(int))
    rows = hw.UncertaintySet.priced(table.rows(repeated), costs=costs, budget=3.0)
    single = hw.Problem(hw.encode_labels(y[repeated], len(repeated)), rows, 3, min_samples_leaf=8)
    assert solve(whole).tree == solve(single).tree
    real = hw.Problem(hw.encode_labels(y, 30, weights=weights + 0.5), uncertainty, 3, min_samples_leaf=8)
    assert held(solve(real).tree, table).min() >= 8


def test_copied_rows_for_the_distributional_goal_keep_the_limit():
    pytest.importorskip("pyscipopt")
    values, y, costs = small_table(8, n=20, n_columns=2)
    table = hw.encode(values)
    uncertainty = hw.UncertaintySet.priced(table, costs=costs[:2], budget=2.0)
    problem = hw.Problem(hw.encode_labels(y, 20), uncertainty, 2, None, Goal.DISTRIBUTIONAL, 5)
    found = [solve(problem, "search"), solve(problem, "scip", limits=Limits(seconds=60))]
    assert abs(found[0].objective - found[1].objective) <= problem.resolution
    assert all(held(own.tree, table).min() >= 5 for own in found)


def test_a_start_with_small_leaves_is_not_taken():
    values, y, costs = small_table(2)
    plain = posed(values, y, costs, 1.0, depth=3)
    free = solve(plain)
    assert held(free.tree, plain.table).min() < 8
    problem = hw.Problem(plain.labels, plain.uncertainty, 3, min_samples_leaf=8)
    for solver in ("search", "scip"):
        found = solve(problem, solver, start=Start(free.tree), limits=Limits(seconds=60))
        assert held(found.tree, plain.table).min() >= 8


def test_the_classifier_and_its_certificate_state_the_limit(tmp_path):
    values, y, _ = small_table(4, n=120)
    model = RobustTreeClassifier(3, certainty=0.8, min_samples_leaf=15).fit(values, y)
    assert model.leaf_counts_.sum(axis=1).min() >= 15
    assert "with at least 15 samples in each leaf" in str(model.certificate_)
    assert hw.check(model.certificate_, values, y).confirmed
    model.save(tmp_path / "model.json")
    assert RobustTreeClassifier.load(tmp_path / "model.json").min_samples_leaf == 15
    document = json.loads(model.certificate_.to_json())
    document["min_samples_leaf"] = 60
    outcome = hw.check(Certificate.from_json(json.dumps(document)), values, y)
    assert any(
        "not one with at least 60 samples in each leaf" in contradiction for contradiction in outcome.contradictions
    )


def test_a_report_says_which_trees_its_claims_are_about(tmp_path):
    values, y, _ = small_table(4, n=120)
    model = RobustTreeClassifier(3, certainty=0.8, min_samples_leaf=15).fit(values, y)
    along = hw.robustness_path(values, y, (0.95, 0.9), max_depth=3, certainty=0.8, min_samples_leaf=15)
    model.report(tmp_path / "report.html", along=along)
    page = (tmp_path / "report.html").read_text("utf-8")
    bound = f"{model.certificate_.upper_bound:,}"
    assert "no tree with at least 15 samples in each leaf is more robust" in page
    assert re.search(rf"no tree with at least 15 samples in each leaf keeps more than</t[dh]><td>{bound} of", page)
    assert "of the trees with at least 15 samples in each leaf" in page


def test_older_files_have_no_limit(tmp_path):
    values, y, _ = small_table(4)
    model = RobustTreeClassifier(2).fit(values, y)
    model.save(tmp_path / "model.json")
    old = json.loads((tmp_path / "model.json").read_text())
    old["version"] = 2
    del old["parameters"]["min_samples_leaf"]
    (tmp_path / "model.json").write_text(json.dumps(old))
    certificate = json.loads(model.certificate_.to_json()) | {"format_version": 3}
    del certificate["min_samples_leaf"]
    certificate["people"] = certificate.pop("total_weight")
    for share in certificate["by_class"]:
        share["people"] = share.pop("weight")
    assert RobustTreeClassifier.load(tmp_path / "model.json").min_samples_leaf == 0
    assert Certificate.from_json(json.dumps(certificate)) == model.certificate_


@pytest.mark.parametrize(
    ("value", "message"), [(-1, "min_samples_leaf is -1"), (2.5, "min_samples_leaf is 2.5"), (41, "only 40 rows")]
)
def test_invalid_limits_are_refused(value, message):
    values, y, _ = small_table(4)
    with pytest.raises((ValueError, TypeError), match=message):
        RobustTreeClassifier(2, min_samples_leaf=value).fit(values, y)


def test_stable_trees_refuse_the_limit():
    values, y, _ = small_table(4)
    boxes = hw.UncertaintySet.boxes(hw.encode(values), radius=1)
    with pytest.raises(
        ValueError, match=r"solver is 'stable'; it cannot be restricted to trees with at least 2 samples in each leaf"
    ):
        StableSolver().solve(hw.Problem(hw.encode_labels(y, 40), boxes, 2, min_samples_leaf=2))
