"""Benchmarks: the reference computation agrees with the attack, pages are current, and claims in words hold."""

import math

import numpy as np
import pytest

import hardwood as hw
from benchmarks import facts, gate, growth, mio, pages, real_tables, switches
from benchmarks.measuring import geometric_mean
from benchmarks.peers import page as peers
from benchmarks.peers.reference import worst_case, worst_case_in_boxes
from benchmarks.records import RESULTS, ROOT, load
from hardwood._util import compiled
from hardwood.experiments import analysis
from hardwood.experiments.grid import load_study
from hardwood.experiments.store import read_results
from hardwood.experiments.summary import PAPER_MEDIAN_SIZES
from hardwood.trees.tree import Branch, Leaf, Tree


def random_tree(rng, depth):
    if depth == 0 or rng.random() < 0.2:
        return ["leaf", int(rng.integers(3))]
    return ["<=", int(rng.integers(3)), int(rng.integers(-1, 6)), *(random_tree(rng, depth - 1) for _ in range(2))]


def node(tree):
    return Leaf(tree[1]) if tree[0] == "leaf" else Branch(tree[1], tree[2], node(tree[3]), node(tree[4]))


@pytest.mark.parametrize("seed", range(60))
def test_reference_and_attack_agree(seed):
    rng = np.random.default_rng(seed)
    values, labels = rng.integers(0, 6, (25, 3)), rng.integers(0, 3, 25)
    costs = rng.choice([0.5, 1.0, 2.3, math.inf], 3).tolist()
    budget = float(rng.choice([0.0, 2.3, 5.0, 11.5]))
    nested = random_tree(rng, 3)
    table = hw.encode(values, kinds="integer")
    tree = Tree(table.features, (0, 1, 2), node(nested))
    uncertainty = hw.UncertaintySet.priced(table, costs=costs, budget=budget)
    found = hw.attack(tree, hw.encode_labels(labels, 25, classes=(0, 1, 2)), uncertainty)
    assert worst_case(nested, values.tolist(), labels.tolist(), costs, budget) == found.worst_case_correct


def test_no_page_is_stale():
    """After a new measurement or a changed text: make pages."""
    assert [str(path.relative_to(ROOT)) for path in pages.stale()] == []


def test_regions_of_numbers_are_known_and_closed():
    found = set()
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        regions = pages.REGION.findall(text)
        assert text.count("<!-- numbers:") == text.count("<!-- end of numbers -->") == len(regions), path
        found |= {name for _, name, _, _ in regions}
    assert found == set(pages.FACTS)


def test_region_of_numbers_is_replaced():
    text = "before\n<!-- numbers: two threads -->\n9 times\n<!-- end of numbers -->\nafter"
    assert "9 times" not in pages.filled(text)
    assert pages.filled(pages.filled(text)) == pages.filled(text)


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_result_files_have_provenance(path):
    runs = load(path)["marks"]
    assert runs
    assert all(run[key] for run in runs for key in ("commit", "date", "machine"))


@pytest.mark.parametrize("name", ["paper", "ablation"])
def test_study_in_the_repository_is_complete(name):
    folder = ROOT / "docs" / "study" / name
    rows = read_results(folder / "results.parquet")
    assert {row["id"] for row in rows} == {instance.id for instance in load_study(name).instances}
    assert {row["outcome"] for row in rows} == {"finished"}
    assert all((folder / figure).exists() for figure in ("summary.md", "solved.svg"))


@pytest.mark.parametrize("seed", range(20))
def test_reference_and_attack_agree_on_boxes(seed):
    rng = np.random.default_rng(seed)
    values, labels = rng.integers(0, 6, (25, 3)), rng.integers(0, 3, 25)
    nested, radius = random_tree(rng, 3), int(rng.integers(0, 3))
    table = hw.encode(values, kinds="integer")
    tree = Tree(table.features, (0, 1, 2), node(nested))
    found = hw.attack(
        tree, hw.encode_labels(labels, 25, classes=(0, 1, 2)), hw.UncertaintySet.boxes(table, radius=radius)
    )
    assert worst_case_in_boxes(nested, values.tolist(), labels.tolist(), radius) == found.worst_case_correct


def peer(method, case, outcome, seconds, correct, group="robust", depth=3):
    row = {"method": method, "case": case, "outcome": outcome, "seconds": seconds, "group": group, "depth": depth}
    return row if correct is None else row | {"correct": correct}


PEERS = [
    peer("search", "a", "proved", 0.01, 90),
    peer("search", "b", "proved", 0.02, 80),
    peer("search", "c", "proved", 0.02, 70),
    peer("ODTLearn, Gurobi", "a", "proved", 4.0, 90),
    peer("ODTLearn, Gurobi", "b", "stopped", 60.0, 78),
    peer("ODTLearn, Gurobi", "c", "hung", 80.0, None),
    peer("our Gurobi", "b", "proved", 6.0, 80),
    peer("CART", "a", "greedy", 0.001, 85),
]


def test_standings_compare_methods_with_the_search():
    found = peers.standings(PEERS, "robust")
    theirs = found["ODTLearn, Gurobi"]
    assert theirs.ratios == pytest.approx([400.0])  # time relative to the search
    assert (theirs.ended("proved"), theirs.ended("hung"), theirs.wrong, theirs.losses) == (1, 1, 0, [0, 2])
    assert found["CART"].is_greedy
    assert found["our Gurobi"].ratios == pytest.approx([300.0])
    assert peers.alone(PEERS, "robust") == (2, 3)  # the solvers of this package are not counted as other packages
    assert peers.alone([row for row in PEERS if row["method"] in ("search", "CART")], "robust") is None
    assert list(peers.disagreeing(PEERS)) == []


def test_tree_that_beats_a_claimed_optimum_is_listed():
    better = [*PEERS, peer("CART", "b", "greedy", 0.001, 81)]
    assert [line.split(":")[0] for line in peers.disagreeing(better)] == ["robust, b"]
    other = [*PEERS, peer("our SCIP", "c", "proved", 1.0, 69)]
    assert peers.standings(other, "robust")["our SCIP"].wrong == 1
    assert [line.split(":")[0] for line in peers.disagreeing(other)] == ["robust, c"]


def test_robust_proofs_on_surveys_are_compared_with_the_ordinary_tree_of_the_same_depth():
    rows = [
        peer("search", "fair/p0.9/d3", "proved", 0.5, 50, "robust, all rows"),
        peer("search", "monks-1/p0.9/d3", "proved", 0.5, 50, "robust, all rows"),
        peer("pystreed", "fair/d3", "proved", 0.1, 60, "ordinary"),
        peer("pystreed", "fair/d2", "proved", 0.9, 60, "ordinary", 2),
        peer("pystreed", "monks-1/d3", "proved", 0.1, 60, "ordinary"),
    ]
    assert peers.survey_ratios(rows) == pytest.approx([5.0])
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)


def test_claims_in_words_about_the_study_hold():
    """docs/study.md: gains at every plausibility, prices and sizes as in the paper, searches with their time."""
    rows = facts.study("paper")
    worst, mean = analysis.mean_gains(rows, "worst"), analysis.mean_gains(rows, "mean")
    by_level = {level: analysis.at(rows, level) for level in worst}
    assert min(worst.values()) > 0
    assert list(worst.values()) == sorted(worst.values(), reverse=True)  # growing down to 0.5
    assert max(worst.values()) > 0.1248
    assert mean[0.5] < 0 < min(gain for level, gain in mean.items() if level > 0.5)
    assert 0.04 < max(mean.values()) < 0.0485
    differences = [
        gain - analysis.gains(by_level[level], "worst", analysis.UNEXPECTED).mean() for level, gain in worst.items()
    ]
    assert 0 < min(differences) <= max(differences) < 0.025
    assert all(analysis.prices_of_robustness(by_level[level]).mean() <= 0.1 + 5e-4 for level in (0.75, 0.85, 0.9))
    larger = [np.median(analysis.sizes(group)) > PAPER_MEDIAN_SIZES[level] for level, group in by_level.items()]
    assert larger == [level >= 0.85 for level in by_level]
    stopped = [row for row in rows if row["robust_stop_reason"] == "time_limit"]
    assert min(row["robust_cpu_seconds"] for row in stopped) > 50


def test_claims_in_words_about_other_packages_hold():
    """README: mixed-integer solvers take hundreds to thousands of times as long, pystreed about as long."""
    rows = facts.results("peers")["results"]
    slower = [geometric_mean(peers.standings(rows, "robust")[name].ratios) for name in ("our Gurobi", "our SCIP")]
    assert all(100 < ratio < 10_000 for ratio in slower)
    assert geometric_mean(peers.standings(rows, "ordinary")["pystreed"].ratios) > 0.9
    hung = [row["outcome"] for row in rows if row["method"] == "ODTLearn, CBC"]
    assert set(hung) == {"hung"}
    assert list(peers.disagreeing(rows)) == []


@pytest.mark.slow
def test_search_does_no_more_work_than_recorded():
    """After an intended change: python -m benchmarks.gate --record."""
    lines, failures = gate.compared(load(gate.RECORD)["results"], gate.measured())
    assert not failures, "\n".join([*lines, *failures])


def test_gate_refuses_more_work_and_other_results():
    base = {name: {"work": 100, "correct": 5, "branching_nodes": 1} for name in "abc"}
    assert gate.compared(base, base)[1] == []
    slower = base | {"a": base["a"] | {"work": 180}}
    assert any("the work grew by a factor of 1.79" in line for line in gate.compared(base, slower)[1])
    assert gate.compared(base, {name: base[name] for name in "ab"})[1] == ["c: this instance is missing now"]
    other = base | {"b": base["b"] | {"correct": 4}}
    assert gate.compared(base, other)[1] == ["b: 5 correct with 1 splits before, now 4 with 1"]
    assert gate.compared_instructions({"a": 1000}, {"a": 1050})[1] == []
    assert gate.compared_instructions({"a": 1000}, {"a": 1200})[1] == ["a: 1.200 times the instructions"]


def test_grid_refuses_any_difference():
    base = {name: {"tree": [[0, 1, 0]], "correct": 5.0, "upper_bound": 6.0} for name in "ab"}
    assert gate.compared_grid(base, base) == []
    other = base | {"b": base["b"] | {"upper_bound": 7.0}}
    assert gate.compared_grid(base, other) == ["b: upper_bound 6.0 before, 7.0 now"]
    assert gate.compared_grid(base, {"a": base["a"]}) == ["b: only one version solved this instance"]


def test_recorded_results_use_current_names():
    recorded = facts.results("switches")["results"]
    assert {result["off"] for result in recorded} - {switches.ALL_ON} <= set(compiled.search_switches())
    assert "branching_nodes" in recorded[0]
    forms = {result["method"] for result in facts.results("mio-forms")["results"]}
    assert forms == set(mio.OF_FORMS)
    assert set(facts.results("growth")["series"]) == set(growth.SERIES)


def test_integrals_of_the_way_to_a_result_are_those_of_step_functions():
    bounds = [None, 100.0, 90.0, 90.0, 85.0, 80.0, 80.0, None, None]  # at TIMES: 0.1, 0.2, 0.5, 1, 2, 5, 10, ...
    row = {
        "total": 100.0,
        "seconds": 20.0,
        "status": "feasible",
        "values": [[0.2, 60.0], [1.0, 80.0]],
        "bounds": bounds,
    }
    primal, gap = real_tables.integrals(row)
    assert primal == pytest.approx((0.2 * 80 + 0.8 * 20) / 100)
    assert gap == pytest.approx((0.2 * 100 + 0.3 * 40 + 0.5 * 30 + 1.0 * 10 + 3.0 * 5 + 5.0 * 0) / 100)
    primal, gap = real_tables.integrals(row | {"status": "optimal", "seconds": 1.5})
    assert primal == pytest.approx((0.2 * 80 + 0.8 * 20) / 100)
    assert gap == pytest.approx((0.2 * 100 + 0.3 * 40 + 0.5 * 30 + 0.5 * 10) / 100)
