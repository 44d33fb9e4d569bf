"""Several trees on the same table under the same shifts, side by side."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from hardwood._support.text import shown
from hardwood.data.features import Feature, Kind, Table
from hardwood.data.labels import Labels, encode_labels
from hardwood.estimators.base import TreeClassifier
from hardwood.evaluation import expected_accuracy, simulate_shifts
from hardwood.shift.description import ShiftDescription
from hardwood.trees.adversary import attack
from hardwood.trees.scikit import from_sklearn, table_read
from hardwood.trees.tree import Tree, finest_features

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
        width = max(len("method"), *(len(shown(row["method"])) for row in self.rows))
        lines = [f"{'method':{width}}  " + "  ".join(f"{title:>14}" for title in COLUMNS.values())]
        for row in self.rows:
            cells = [f"{row[name]:14.1%}" if name.endswith("accuracy") else f"{row[name]:14.3g}" for name in COLUMNS]
            lines.append(f"{shown(row['method']):{width}}  " + "  ".join(cells))
        return "\n".join([*lines, "", f"shifts: {self.shifts}"])


def compare(
    methods: Mapping[str, Any] | Sequence[Any],
    X: Any,
    y: Any,
    *,
    X_test: Any = None,
    y_test: Any = None,
    sample_weight: Any = None,
    sample_weight_test: Any = None,
    shifts: ShiftDescription | None = None,
    n_tables: int = 1000,
    seed: int = 0,
    class_weight: Any = None,
    **words: Any,
) -> Comparison:
    """Learn each method on a table and judge all trees alike, on it or on a test table.

    methods   estimators by name, or a list of them: ours, and scikit-learn's `DecisionTreeClassifier`; copies are
              fitted, the given ones stay as they are
    sample_weight       how many people each row stands for: for learning, and for judging on the same table ...
    sample_weight_test  ... and on the test table
    class_weight        what a class is worth when trees are judged, as in `RobustTreeClassifier`
    shifts    what to judge by, as a `ShiftDescription`
    words     or in its words: certainty, plausibility, direction, bounds, budget, clip; certainty 0.9 and plausibility
              0.9 if nothing is said
    n_tables  how many randomly shifted tables to sample for the lowest accuracy

    Columns of floats move by bins. All trees are judged with the same ones: wherever one of them asks for a threshold,
    there is a border between two bins, and a move across it costs the same for all. So a tree may lose a little more
    or less here than with the bins that it was learnt with.
    """
    named = dict(methods) if isinstance(methods, Mapping) else {_name(m, k, methods): m for k, m in enumerate(methods)}
    if not named:
        raise ValueError("methods are empty; give at least one estimator")
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test belong together; give both or neither")
    said = ShiftDescription.said(shifts, words) or ShiftDescription()
    if said.costs is not None or said.radius is not None:
        raise ValueError(f"shifts are {said}; expected certainties, since accuracy under random shifts needs chances")
    if X_test is None and sample_weight_test is not None:
        raise ValueError("sample_weight_test belongs to X_test and y_test; give them, too")
    fitted = {name: _fitted(method, X, y, sample_weight) for name, method in named.items()}
    who = {"weights": sample_weight if X_test is None else sample_weight_test, "class_weight": class_weight}
    trees = _trees({name: model for name, (model, _) in fitted.items()}, X)
    features = finest_features(list(trees.values()))
    rows = []
    for name, (model, seconds) in fitted.items():
        tree = trees[name].with_features(features)
        table = _table(model, X if X_test is None else X_test, features)
        labels = encode_labels(y if X_test is None else y_test, table.n_samples, classes=tree.classes, **who)
        rows.append({"method": name, "seconds": seconds} | _judged(tree, table, labels, said, n_tables, seed))
    return Comparison(tuple(rows), said)


def _fitted(method: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, float]:
    """A fitted copy, and the seconds that it took."""
    model = clone(method)
    began = time.perf_counter()
    if sample_weight is None:
        model.fit(X, y)
    else:
        model.fit(X, y, sample_weight=sample_weight)
    return model, time.perf_counter() - began


def _trees(models: Mapping[str, Any], X: Any) -> dict[str, Tree]:
    """The trees of all models; those of scikit-learn read columns as ours do, if there is one of ours."""
    ours = [model.tree_ for model in models.values() if isinstance(model, TreeClassifier)]
    kinds = {
        feature.name: list(feature.categories) if feature.kind is Kind.ORDINAL else str(feature.kind)
        for feature in (ours[0].features if ours else ())
    }
    return {
        name: model.tree_ if isinstance(model, TreeClassifier) else from_sklearn(model, X, kinds=kinds or None)[0]
        for name, model in models.items()
    }


def _table(model: Any, X: Any, features: Sequence[Feature]) -> Table:
    return model.encoded(X, features=features) if isinstance(model, TreeClassifier) else table_read(model, X, features)


def _judged(
    tree: Tree, table: Table, labels: Labels, shifts: ShiftDescription, n_tables: int, seed: int
) -> dict[str, Any]:
    found = attack(tree, labels, shifts.uncertainty(table, people=labels.people))
    return {
        "nominal_accuracy": found.nominal_accuracy,
        "worst_case_accuracy": found.worst_case_accuracy,
        "expected_accuracy": expected_accuracy(tree, table, labels, shifts),
        "lowest_sampled_accuracy": float(
            simulate_shifts([tree], table, labels, shifts, n_tables=n_tables, seed=seed).min()
        ),
        "branching_nodes": tree.n_branching_nodes,
    }


def _name(method: Any, k: int, methods: Sequence[Any]) -> str:
    name = type(method).__name__
    return f"{name} {k + 1}" if sum(type(other).__name__ == name for other in methods) > 1 else name
