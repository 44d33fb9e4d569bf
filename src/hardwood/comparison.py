"""Several trees on the same table under the same shifts, side by side."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from hardwood.adversary import attack
from hardwood.evaluation import expected_accuracy, simulate_shifts
from hardwood.features import Table, encode_labels
from hardwood.interop import from_sklearn
from hardwood.shifts import ShiftDescription
from hardwood.tree import Tree
from hardwood.tree_classifier import TreeClassifier

COLUMNS = {
    "nominal_accuracy": "as it stands",
    "worst_case_accuracy": "worst shift",
    "expected_accuracy": "expected",
    "lowest_sampled_accuracy": "lowest sampled",
    "branching_nodes": "tests",
    "seconds": "seconds",
}


@dataclass(frozen=True)
class Comparison:
    """One row for each method: accuracy as the table stands, after the worst shift within the budget (exact), expected
    over random shifts (exact), lowest over sampled tables, number of tests, seconds to learn.
    """

    rows: tuple[dict[str, Any], ...]
    shifts: ShiftDescription

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns by name, ready for a frame."""
        return {name: [row[name] for row in self.rows] for name in ("method", *COLUMNS)}

    def __str__(self) -> str:
        width = max(len("method"), *(len(row["method"]) for row in self.rows))
        lines = [f"{'method':{width}}  " + "  ".join(f"{title:>14}" for title in COLUMNS.values())]
        for row in self.rows:
            cells = [f"{row[name]:14.1%}" if name.endswith("accuracy") else f"{row[name]:14.3g}" for name in COLUMNS]
            lines.append(f"{row['method']:{width}}  " + "  ".join(cells))
        return "\n".join([*lines, "", f"shifts: {self.shifts}"])


def compare(
    methods: Mapping[str, Any] | Sequence[Any],
    X: Any,
    y: Any,
    *,
    X_test: Any = None,
    y_test: Any = None,
    certainty: Any = 0.9,
    plausibility: float = 0.9,
    direction: Any = None,
    bounds: Any = None,
    clip_certainty: bool = False,
    n_tables: int = 1000,
    seed: int = 0,
) -> Comparison:
    """Learn each method on a table and judge all trees alike, on it or on a test table.

    methods   estimators by name, or a list of them: ours, and scikit-learn's `DecisionTreeClassifier`; copies are
              fitted, the given ones stay as they are
    certainty, plausibility, direction, bounds, clip_certainty : the shifts to judge by, as in `RobustTreeClassifier`
    n_tables  how many randomly shifted tables to sample for the lowest accuracy
    """
    named = dict(methods) if isinstance(methods, Mapping) else {_name(m, k, methods): m for k, m in enumerate(methods)}
    if not named:
        raise ValueError("methods are empty; give at least one estimator")
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test belong together; give both or neither")
    shifts = ShiftDescription(certainty, plausibility, direction, bounds, clip_certainty)
    rows = []
    for name, method in named.items():
        model = clone(method)
        began = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - began
        tree, table = _tree_and_table(model, X if X_test is None else X_test)
        judged = _judged(tree, table, y if X_test is None else y_test, shifts, n_tables, seed)
        rows.append({"method": name, "seconds": seconds} | judged)
    return Comparison(tuple(rows), shifts)


def _judged(tree: Tree, table: Table, y: Any, shifts: ShiftDescription, n_tables: int, seed: int) -> dict[str, Any]:
    labels = encode_labels(y, table.n_samples, classes=tree.classes)
    found = attack(tree, labels, shifts.uncertainty(table))
    return {
        "nominal_accuracy": found.nominal_accuracy,
        "worst_case_accuracy": found.worst_case_accuracy,
        "expected_accuracy": expected_accuracy(tree, table, labels, shifts),
        "lowest_sampled_accuracy": float(
            simulate_shifts([tree], table, labels, shifts, n_tables=n_tables, seed=seed).min()
        ),
        "branching_nodes": tree.n_branching_nodes,
    }


def _tree_and_table(model: Any, X: Any) -> tuple[Tree, Table]:
    if isinstance(model, TreeClassifier):
        return model.tree_, model.encoded(X)
    return from_sklearn(model, X)


def _name(method: Any, k: int, methods: Sequence[Any]) -> str:
    name = type(method).__name__
    return f"{name} {k + 1}" if sum(type(other).__name__ == name for other in methods) > 1 else name
