"""Problems for engines: tiny ones of every kind for the oracle, small ones with a rule behind them, a hard one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hardwood as hw
import oracle
from hardwood import Certificate
from hardwood.problem import Goal
from hardwood.solvers.base import Status
from instances import random_instance

PENALTIES = ("auto", "auto", "0", "1e-12", "1e-9", "1e-6", "0.3", "0.5", "1", "1.7", "3")


def most_are_slow(n, quick=2):
    """Numbers of batches of one test; the first ones are enough for `make quick`."""
    return [pytest.param(k, marks=() if k < quick else pytest.mark.slow) for k in range(n)]


def random_problem(seed, goal=Goal.ROBUST, wide=False, leaves=False):
    """A tiny problem of any kind and what the oracle needs: depth 3 only where few tests leave few trees.

    leaves  whether leaves must hold some samples
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
    n_tests = sum(len(oracle._all_tests(j, column)) for j, column in enumerate(instance.columns))
    depth = min(depth, 2) if n_tests > 4 else depth
    penalty = rng.choice(PENALTIES)
    penalty = None if penalty == "auto" else float(penalty)
    least = int(rng.integers(1, 4)) if leaves else 0
    if least:
        least = min(least, int(hw.Problem(instance.encoded_labels, instance.uncertainty, depth).leaf_sizes.sum()))
    return instance, hw.Problem(instance.encoded_labels, instance.uncertainty, depth, penalty, goal, least)


def truth(instance, problem):
    n_classes = len(problem.labels.classes)
    return oracle.best_tree(
        instance.columns,
        instance.labels,
        n_classes,
        instance.budget,
        problem.max_depth,
        problem.penalty,
        in_part=problem.in_part,
        people=instance.people,
        worth=instance.worth,
        held=_held(instance, problem),
    )


def _held(instance, problem):
    """What each sample counts for in a leaf: its people if these are whole numbers everywhere, otherwise one."""
    if not problem.min_samples_leaf:
        return None
    people = instance.people or [1] * len(instance.labels)
    whole = all(float(weight).is_integer() for weight in people)
    return [weight if whole else float(weight > 0) for weight in people], problem.min_samples_leaf


def assert_claims_hold(found, best, problem):
    """Status, numbers and words of a result agree with the oracle."""
    assert found.status is Status.OPTIMAL
    assert found.upper_bound <= found.any_model_bound <= problem.total
    certificate = Certificate.of(problem, hw.ShiftDescription(), found, "test")
    slack = problem.resolution + 1e-9 * min(problem.penalty, 1.0) + 1e-13 * problem.n_samples
    assert best.objective - slack <= found.objective <= best.objective + slack
    assert found.objective_bound >= best.objective - 1e-13 * problem.n_samples
    if problem.labels.counted:
        assert found.upper_bound >= best.most_correct
    if not problem.in_part and 0 < problem.penalty * problem.most_tests < 1:
        assert (found.worst_case_correct, found.branching_nodes) == (best.correct, best.tests)
        assert (found.upper_bound, found.gap) == (best.correct, 0.0)
    if "no tree is more robust" in certificate.proved:
        assert found.worst_case_correct == best.most_correct
    if "none as robust is smaller" in certificate.proved:
        assert found.branching_nodes == best.fewest_tests
    if "samples can stay correct" in certificate.proved:
        assert f"at most {found.upper_bound} samples" in certificate.proved


def small_table(seed, n=40, n_values=3, n_columns=4, n_classes=2):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, n_values, (n, n_columns))
    score = values @ rng.normal(size=n_columns) + rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    return values, y, rng.uniform(0.2, 2.0, n_columns)


def posed(values, y, costs, budget, depth=2, penalty=None):
    table = hw.encode(values)
    uncertainty = hw.UncertaintySet.priced(table, costs=costs, budget=budget)
    return hw.Problem(hw.encode_labels(y, len(y)), uncertainty, depth, penalty)


def hard_problem(depth=4):
    """No engine of mixed-integer programmes is done with it in seconds, nor is the search at depth 6."""
    values, y, costs = small_table(1, n=400, n_values=4, n_columns=8, n_classes=3)
    return posed(values, y, costs, 60.0, depth)


needs_signals = pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
RUNS_UNTIL_INTERRUPTED = """
import sys
sys.path.insert(0, sys.argv[1])
from hardwood.solvers import solve
from problems import hard_problem
problem = hard_problem(6 if sys.argv[2] == "search" else 4)
result = solve(problem, sys.argv[2], on_progress=lambda event: print("running", flush=True))
print(result.stop_reason, result.worst_case_correct)
"""


def correct_after_ctrl_c(solver: str) -> int:
    """Interrupt an engine in a process of its own, as a person would; what its best tree keeps correct."""
    command = [sys.executable, "-c", RUNS_UNTIL_INTERRUPTED, str(Path(__file__).parent), solver]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read().split("\n")
    assert process.returncode == 0
    reason, correct = rest[-2].split()
    assert reason == "interrupted"
    return int(correct)
