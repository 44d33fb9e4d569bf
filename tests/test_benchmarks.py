"""The benchmarks judge rightly: plain arithmetic and our adversary agree on every tree."""

import json
import math

import numpy as np
import pytest

import gate
import hardwood as hw
import pages
from hardwood.experiments.grid import load_study
from hardwood.experiments.store import read_results
from hardwood.trees.tree import Branch, Leaf, Tree
from marks import RESULTS, ROOT
from peers.judge import worst_case


def random_tree(rng, depth):
    if depth == 0 or rng.random() < 0.2:
        return ["leaf", int(rng.integers(3))]
    return ["<=", int(rng.integers(3)), int(rng.integers(-1, 6)), *(random_tree(rng, depth - 1) for _ in range(2))]


def grown(tree):
    return Leaf(tree[1]) if tree[0] == "leaf" else Branch(tree[1], tree[2], grown(tree[3]), grown(tree[4]))


@pytest.mark.parametrize("seed", range(60))
def test_plain_arithmetic_and_the_adversary_agree(seed):
    rng = np.random.default_rng(seed)
    values, labels = rng.integers(0, 6, (25, 3)), rng.integers(0, 3, 25)
    prices = rng.choice([0.5, 1.0, 2.3, math.inf], 3).tolist()
    budget = float(rng.choice([0.0, 2.3, 5.0, 11.5]))
    plain = random_tree(rng, 3)
    table = hw.encode(values, kinds="integer")
    tree = Tree(table.features, (0, 1, 2), grown(plain))
    shifts = hw.UncertaintySet.priced(table, costs=prices, budget=budget)
    found = hw.attack(tree, hw.encode_labels(labels, 25, classes=(0, 1, 2)), shifts)
    assert worst_case(plain, values.tolist(), labels.tolist(), prices, budget) == found.worst_case_correct


def test_no_page_is_stale():
    """After new results: make pages."""
    assert [str(path.relative_to(ROOT)) for path in pages.stale()] == []


def test_every_region_of_numbers_is_known_and_closed():
    found = set()
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        regions = pages.REGION.findall(text)
        assert text.count("<!-- numbers:") == text.count("<!-- end of numbers -->") == len(regions), path
        found |= {name for _, name, _, _ in regions}
    assert found == set(pages.FACTS)


def test_numbers_of_a_region_are_made_anew():
    text = "before\n<!-- numbers: two threads -->\n9 times\n<!-- end of numbers -->\nafter"
    assert "9 times" not in pages.filled(text)
    assert pages.filled(pages.filled(text)) == pages.filled(text)


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_every_file_of_results_says_where_it_comes_from(path):
    for own in json.loads(path.read_text())["marks"]:
        assert all(own[key] for key in ("commit", "date", "machine"))


@pytest.mark.parametrize("name", ["paper", "ablation"])
def test_the_whole_study_is_in_the_repository(name):
    folder = ROOT / "docs" / "study" / name
    rows = read_results(folder / "results.parquet")
    assert {row["id"] for row in rows} == {instance.id for instance in load_study(name).instances}
    assert {row["outcome"] for row in rows} == {"finished"}
    assert all((folder / figure).exists() for figure in ("summary.md", "solved.svg"))


@pytest.mark.slow
def test_the_search_does_no_more_work_than_is_recorded():
    """What is faster or slower on purpose is recorded anew: python benchmarks/gate.py --record."""
    lines, wrong = gate.compared(json.loads(gate.RECORD.read_text())["results"], gate.measured())
    assert not wrong, "\n".join([*lines, *wrong])


def test_the_gate_closes():
    base = {name: {"work": 100, "correct": 5, "tests": 1} for name in "abc"}
    assert gate.compared(base, base)[1] == []
    slower = base | {"a": base["a"] | {"work": 180}}
    assert any("the work grew by a factor of 1.79" in line for line in gate.compared(base, slower)[1])
    other = base | {"b": base["b"] | {"correct": 4}}
    assert gate.compared(base, other)[1] == ["b: 5 correct with 1 tests before, now 4 with 1"]
    assert gate.compared_instructions({"a": 1000}, {"a": 1050})[1] == []
    assert gate.compared_instructions({"a": 1000}, {"a": 1200})[1] == ["a: 1.200 times the instructions"]
