"""Problems for solvers: tiny ones of every kind for the oracle, small ones with signal and noise, and a hard one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hardwood as hw
from hardwood import Certificate
from hardwood.problem import Goal
from hardwood.solvers.base import Status
from tests import oracle
from tests.instances import random_instance

PENALTIES = ("auto", "auto", "0", "1e-12", "1e-9", "1e-6", "0.3", "0.5", "1", "1.7", "3")


def most_are_slow(n, quick=2):
    """Numbers of the batches of one test; `make quick` runs only the first ones."""
    return [pytest.param(k, marks=() if k < quick else pytest.mark.slow) for k in range(n)]


def random_problem(seed, goal=Goal.ROBUST, wide=False, min_leaf=False):
    """A tiny problem of any kind, with its instance for the oracle.

    Depth 3 occurs only with few splits, so that few trees have to be enumerated. `wide` is that of `random_instance`;
    `min_leaf` says whether there is a smallest leaf size.
    """
    rng = np.random.default_rng(seed)
    depth = int(rng.choice([0, 1, 2, 2, 2, 3]))
    instance = random_instance(
        rng,
        max_samples=10 if depth < 3 else 7,
        max_columns=3 if depth < 2 else 2,
        max_classes=3 if depth < 3 else 2,
        wide=wide,
    )
    n_splits = sum(len(oracle._all_splits(j, column)) for j, column in enumerate(instance.columns))
    depth = min(depth, 2) if n_splits > 4 else depth
    penalty = rng.choice(PENALTIES)
    penalty = None if penalty == "auto" else float(penalty)
    size = int(rng.integers(1, 4)) if min_leaf else 0
    if size:
        size = min(size, int(hw.Problem(instance.encoded_labels, instance.uncertainty, depth).leaf_sizes.sum()))
    return instance, hw.Problem(instance.encoded_labels, instance.uncertainty, depth, penalty, goal, size)


def truth(instance, problem):
    """The best tree of a problem according to the oracle."""
    n_classes = len(problem.labels.classes)
    return oracle.best_tree(
        instance.columns,
        instance.labels,
        n_classes,
        instance.budget,
        problem.max_depth,
        problem.penalty,
        fractional=problem.fractional,
        weights=instance.weights,
        class_weights=instance.class_weights,
        leaf_sizes=_leaf_sizes(instance),
        min_leaf=problem.min_samples_leaf,
    )


def _leaf_sizes(instance):
    """What each sample counts for in a leaf: its weight if all weights are integers, otherwise 1 (0 for weight 0)."""
    weights = instance.weights or [1] * len(instance.labels)
    integral = all(float(weight).is_integer() for weight in weights)
    return [weight if integral else float(weight > 0) for weight in weights]


def assert_claims_hold(result, best, problem):
    """Status, numbers and texts of a result agree with the oracle."""
    assert result.status is Status.OPTIMAL
    assert result.upper_bound <= result.any_model_bound <= problem.total
    certificate = Certificate.of(problem, hw.Calibrated(), result, "test")
    slack = problem.resolution + 1e-9 * min(problem.penalty, 1.0) + 1e-13 * problem.n_samples
    assert best.objective - slack <= result.objective <= best.objective + slack
    assert result.objective_bound >= best.objective - 1e-13 * problem.n_samples
    if problem.labels.integral:
        assert result.upper_bound >= best.max_correct
    if not problem.fractional and 0 < problem.penalty * problem.max_splits < 1:
        assert (result.worst_case_correct, result.branching_nodes) == (best.correct, best.splits)
        assert (result.upper_bound, result.gap) == (best.correct, 0.0)
    if "no tree is more robust" in certificate.proved:
        assert result.worst_case_correct == best.max_correct
    if "none as robust is smaller" in certificate.proved:
        assert result.branching_nodes == best.min_splits
    if "samples can stay correct" in certificate.proved:
        assert f"at most {result.upper_bound} samples" in certificate.proved
        assert (problem.labels.weights, problem.labels.class_weights) == (None, None)
    if problem.goal is Goal.DISTRIBUTIONAL:
        assert f"at most {result.upper_bound} " in certificate.proved


def small_table(seed, n=40, n_values=3, n_columns=4, n_classes=2):
    """Integer columns, labels that depend on them with noise, and a cost for each column."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, n_values, (n, n_columns))
    score = values @ rng.normal(size=n_columns) + rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    return values, y, rng.uniform(0.2, 2.0, n_columns)


def posed(values, y, costs, budget, depth=2, penalty=None):
    """The problem of a table of integers with costs and a budget."""
    table = hw.encode(values, kinds="integer")
    uncertainty = hw.UncertaintySet.priced(table, costs=costs, budget=budget)
    return hw.Problem(hw.encode_labels(y, len(y)), uncertainty, depth, penalty)


def hard_problem(depth=4):
    """A problem that mixed-integer solvers cannot finish in seconds, nor the search at depth 6."""
    values, y, costs = small_table(1, n=400, n_values=4, n_columns=8, n_classes=3)
    return posed(values, y, costs, 60.0, depth)


needs_signals = pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
RUNS_UNTIL_INTERRUPTED = """
import sys
sys.path.insert(0, sys.argv[1])
from hardwood.solvers import solve
from tests.problems import hard_problem
problem = hard_problem(6 if sys.argv[2] == "search" else 4)
result = solve(problem, sys.argv[2], on_progress=lambda event: print("running", flush=True))
print(result.stop_reason, result.worst_case_correct)
"""


def correct_after_ctrl_c(solver: str) -> int:
    """Interrupt a solver in its own process with Ctrl-C; returns what its best tree keeps correct."""
    command = [sys.executable, "-c", RUNS_UNTIL_INTERRUPTED, str(Path(__file__).parents[1]), solver]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read().split("\n")
    assert process.returncode == 0
    reason, correct = rest[-2].split()
    assert reason == "interrupted"
    return int(correct)
