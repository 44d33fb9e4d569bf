"""Problems for engines: tiny ones of every kind for the oracle, small ones with a rule behind them, a hard one."""

from __future__ import annotations

import numpy as np

import hardwood as hw
import oracle
from instances import random_instance


def random_problem(seed):
    """A tiny problem of any kind and what the oracle needs: depth 3 only where few tests leave few trees."""
    rng = np.random.default_rng(seed)
    depth = int(rng.choice([0, 1, 2, 2, 2, 3]))
    instance = random_instance(
        rng, max_samples=10 if depth < 3 else 7, max_columns=3 if depth < 2 else 2, max_classes=3 if depth < 3 else 2
    )
    n_tests = sum(len(oracle._all_tests(j, column)) for j, column in enumerate(instance.columns))
    depth = min(depth, 2) if n_tests > 4 else depth
    penalty = float(rng.choice([2.0**-depth, 2.0**-depth, 0.0, 0.3, 1.0, 1.7]))
    return instance, hw.Problem(instance.encoded_labels, instance.uncertainty, depth, penalty)


def truth(instance, problem):
    n_classes = len(problem.labels.classes)
    return oracle.best_tree(
        instance.columns, instance.labels, n_classes, instance.budget, problem.max_depth, problem.penalty
    )


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


def hard_problem():
    values, y, costs = small_table(1, n=400, n_values=4, n_columns=8, n_classes=3)
    return posed(values, y, costs, 60.0, depth=4)
