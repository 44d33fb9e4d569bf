"""Several trees on the same table under the same shifts, side by side."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from hardwood._support.arguments import whole_number
from hardwood._support.notebook import InNotebook
from hardwood._support.text import shown
from hardwood.data.columns import read_columns
from hardwood.data.features import Feature, Kind, Table, encode
from hardwood.data.labels import Labels, encode_labels
from hardwood.estimators.audit import without_steps
from hardwood.estimators.base import TreeClassifier
from hardwood.estimators.frames import accuracy_of, values_like
from hardwood.evaluation import expected_accuracy, shifted_tables, simulate_shifts
from hardwood.shift.account import aligned
from hardwood.shift.description import ShiftDescription
from hardwood.trees.adversary import attack
from hardwood.trees.scikit import from_sklearn, table_read
from hardwood.trees.tree import Tree, finest_features

SAMPLED_BY_ANY = 100  # tables that a model which is no tree is judged by at most: it predicts each of them
COLUMNS = {
    "nominal_accuracy": "as it stands",
    "worst_case_accuracy": "worst shift",
    "expected_accuracy": "expected",
    "lowest_sampled_accuracy": "lowest sampled",
    "branching_nodes": "tests",
    "seconds": "seconds",
}


@dataclass(frozen=True)
class Comparison(InNotebook):
    """One row for each method: accuracy as the table stands, after the worst shift within the budget (exact), expected
    over random shifts (exact), lowest over sampled tables, number of tests, seconds to learn. With a test table, all
    but the last two are about it, and `training_...` about the training table. For a model that is no tree the worst
    case is not available (None), and what is expected is the mean over sampled tables.
    """

    rows: tuple[dict[str, Any], ...]
    shifts: ShiftDescription

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns by name, ready for a frame."""
        return {name: [row[name] for row in self.rows] for name in self.rows[0]}

    def __str__(self) -> str:
        titles = {name: title for name, title in (COLUMNS | TRAINING).items() if name in self.rows[0]}
        rows = [(shown(row["method"]), *(_cell(name, row[name]) for name in titles)) for row in self.rows]
        lines = aligned(("method", *titles.values()), rows, right=range(1, len(titles) + 1))
        notes = []
        if any(row["worst_case_accuracy"] is None for row in self.rows):
            notes = [
                "-: not available; the worst case is known for trees, and other models are judged by sampled tables"
            ]
        return "\n".join([*lines, "", *notes, f"shifts: {self.shifts}"])


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

    methods   estimators by name, or a list of them: ours, scikit-learn's `DecisionTreeClassifier`, and pipelines that
              end in one; any other classifier is judged as the tables stand and by sampled ones. Copies are fitted, the
              given ones stay as they are
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
    _check_methods(named, n_tables)
    fitted = {name: _fitted(method, X, y, sample_weight) for name, method in named.items()}
    training = _Judged(X, y, sample_weight, class_weight)
    own = training if X_test is None else _Judged(X_test, y_test, sample_weight_test, class_weight)
    models = {name: model for name, (model, _) in fitted.items()}
    trees = _trees(models, X)
    judge = _Judge(said, n_tables, seed, _features(trees, models), trees)
    rows = []
    for name, (model, seconds) in fitted.items():
        row = {"method": name} | judge.numbers(name, model, own) | {"seconds": seconds}
        if X_test is not None:
            row |= {f"training_{key}": value for key, value in judge.on_training(name, model, training).items()}
        rows.append(row)
    return Comparison(tuple(rows), said)


TRAINING = {
    "training_nominal_accuracy": "training: as it stands",
    "training_worst_case_accuracy": "training: worst shift",
}


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.1%}" if name.endswith("accuracy") else f"{value:.3g}"


def _check_methods(methods: Mapping[str, Any], n_tables: int) -> None:
    """Bad arguments are found before anything is fitted."""
    whole_number("n_tables", n_tables, at_least=1)
    for name, method in methods.items():
        if not (hasattr(method, "fit") and hasattr(method, "predict")):
            raise TypeError(f'method "{name}" is a {type(method).__name__}; expected a classifier with fit and predict')


@dataclass(frozen=True)
class _Judged:
    """A table to judge by."""

    X: Any
    y: Any
    sample_weight: Any
    class_weight: Any

    def labels(self, n_samples: int, classes: Any) -> Labels:
        who = {"weights": self.sample_weight, "class_weight": self.class_weight}
        return encode_labels(self.y, n_samples, classes=classes, **who)


@dataclass(frozen=True)
class _Judge:
    """Judges all models alike; `trees` are those of the models that have one."""

    shifts: ShiftDescription
    n_tables: int
    seed: int
    features: Mapping[str, tuple[Feature, ...]]
    trees: Mapping[str, Tree]

    def numbers(self, name: str, model: Any, table: _Judged) -> dict[str, Any]:
        if name not in self.trees:
            return self._by_samples(model, table)
        tree, read, labels = self._read(name, model, table)
        return _judged(tree, read, labels, self.shifts, self.n_tables, self.seed)

    def on_training(self, name: str, model: Any, table: _Judged) -> dict[str, Any]:
        if name not in self.trees:
            return {
                "nominal_accuracy": accuracy_of(model, table.X, *self._sampled(model, table)[1:]),
                "worst_case_accuracy": None,
            }
        tree, read, labels = self._read(name, model, table)
        found = attack(tree, labels, self.shifts.uncertainty(read, people=labels.people))
        return {"nominal_accuracy": found.nominal_accuracy, "worst_case_accuracy": found.worst_case_accuracy}

    def _read(self, name: str, model: Any, table: _Judged) -> tuple[Tree, Table, Labels]:
        tree = self.trees[name].with_features(self.features[name])
        read = _table(model, table.X, self.features[name])
        return tree, read, table.labels(read.n_samples, tree.classes)

    def _sampled(self, model: Any, table: _Judged) -> tuple[Table, Labels, Any]:
        """The table as trees would read it, if there are some, the labels, and the classes of the model."""
        columns = {column.name for column in read_columns(table.X, "category")}
        alike = [own for own in self.features.values() if {feature.name for feature in own} == columns]
        kinds = {feature.name: _wish(feature) for feature in alike[0]} if alike else None
        read = encode(table.X, kinds=kinds, missing="category")
        return read, table.labels(read.n_samples, list(model.classes_)), model.classes_

    def _by_samples(self, model: Any, table: _Judged) -> dict[str, Any]:
        read, labels, classes = self._sampled(model, table)
        drawn = shifted_tables(read, labels, self.shifts, n_tables=min(self.n_tables, SAMPLED_BY_ANY), seed=self.seed)
        shares = [accuracy_of(model, values_like(table.X, read, own), labels, classes) for own in drawn]
        return {
            "nominal_accuracy": accuracy_of(model, table.X, labels, classes),
            "worst_case_accuracy": None,
            "expected_accuracy": float(np.mean(shares)),
            "lowest_sampled_accuracy": float(np.min(shares)),
            "branching_nodes": None,
        }


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
    """The trees of the models that have one; those of scikit-learn read columns as ours do, if there is one of ours."""
    ours = [model.tree_ for model in models.values() if isinstance(model, TreeClassifier)]
    kinds = {feature.name: _wish(feature) for feature in (ours[0].features if ours else ())}
    trees = {}
    for name, model in models.items():
        last, read = without_steps(model, X)
        if isinstance(last, TreeClassifier):
            trees[name] = last.tree_
        elif hasattr(getattr(last, "tree_", None), "children_left"):
            own = kinds if last is model else None  # what a pipeline leaves are other columns
            trees[name] = from_sklearn(last, read, kinds=own or None)[0]
    return trees


def _features(trees: Mapping[str, Tree], models: Mapping[str, Any]) -> dict[str, tuple[Feature, ...]]:
    """What each tree is judged with: the same bins for all that read the same columns, which a pipeline's does not."""
    alone = {name: tree.features for name, tree in trees.items() if hasattr(models[name], "named_steps")}
    together = [tree for name, tree in trees.items() if name not in alone]
    finest = finest_features(together) if together else ()
    return {name: alone.get(name, finest) for name in trees}


def _wish(feature: Feature) -> Any:
    return list(feature.categories) if feature.kind is Kind.ORDINAL else str(feature.kind)


def _table(model: Any, X: Any, features: Sequence[Feature]) -> Table:
    model, X = without_steps(model, X)
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
