"""The benchmarks judge rightly: plain arithmetic and our adversary agree on every tree."""

import json
import math

import numpy as np
import pytest

import gate
import hardwood as hw
from hardwood.trees.tree import Branch, Leaf, Tree
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
