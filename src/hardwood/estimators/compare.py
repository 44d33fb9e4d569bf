"""Several models on the same table under the same shifts."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from hardwood._util.arguments import check_integer
from hardwood._util.notebook import NotebookMixin
from hardwood._util.text import printable
from hardwood._util.types import FittedModel, FrameColumns, JsonObject, LabelsLike, TableLike, WeightsLike
from hardwood.data.columns import Category
from hardwood.data.encode import encode
from hardwood.data.feature import Feature, Kind
from hardwood.data.frames import read_columns
from hardwood.data.labels import ClassWeight, Labels, encode_labels
from hardwood.data.table import Table
from hardwood.estimators.any_model import unwrap_pipeline
from hardwood.estimators.base import TreeClassifier
from hardwood.estimators.frames import accuracy_of, values_like
from hardwood.evaluation import expected_accuracy, shifted_tables, simulate_shifts
from hardwood.shifts.column_summary import aligned
from hardwood.shifts.models import Calibrated, ShiftModel, resolve_shifts
from hardwood.trees.attack import attack
from hardwood.trees.sklearn_interop import from_sklearn, table_read
from hardwood.trees.tree import Tree, finest_features

_MAX_TABLES = 100  # sampled for a model that is not a tree: it predicts every one of them
_TITLES = {
    "nominal_accuracy": "no shift",
    "worst_case_accuracy": "worst shift",
    "expected_accuracy": "expected",
    "lowest_sampled_accuracy": "lowest sampled",
    "branching_nodes": "splits",
    "seconds": "seconds",
    "training_nominal_accuracy": "training: no shift",
    "training_worst_case_accuracy": "training: worst shift",
}


@dataclass(frozen=True)
class Comparison(NotebookMixin):
    """Results of several methods. Prints as a table.

    Attributes
    ----------
    rows : tuple of dict
        For each method its name ("method"), accuracy without a shift, after the worst shift within the budget (exact),
        expected over random shifts (exact), and the lowest over sampled tables; number of splits ("branching_nodes")
        and seconds to learn. With a test table, the accuracies are about it, and `training_...` about the training
        table. For a model that is not a tree, the worst case is not available (None), and the expected accuracy is the
        mean over sampled tables.
    shifts : ShiftModel
        Which shifts are possible.
    """

    rows: tuple[JsonObject, ...]
    shifts: ShiftModel

    def to_dict(self) -> FrameColumns:
        """Return columns by name, ready for a frame.

        Returns
        -------
        dict of lists
        """
        return {name: [row[name] for row in self.rows] for name in self.rows[0]}

    def __str__(self) -> str:
        titles = {name: title for name, title in _TITLES.items() if name in self.rows[0]}
        rows = [(printable(row["method"]), *(_cell_text(name, row[name]) for name in titles)) for row in self.rows]
        lines = aligned(("method", *titles.values()), rows, right=range(1, len(titles) + 1))
        notes = []
        if any(row["worst_case_accuracy"] is None for row in self.rows):
            notes = ["-: not available; the worst case is known for trees, other models are scored on sampled tables"]
        return "\n".join([*lines, "", *notes, f"shifts: {self.shifts}"])


def compare(
    methods: Mapping[str, FittedModel] | Sequence[FittedModel],
    X: TableLike,
    y: LabelsLike,
    *,
    X_test: TableLike | None = None,
    y_test: LabelsLike | None = None,
    sample_weight: WeightsLike | None = None,
    sample_weight_test: WeightsLike | None = None,
    shifts: ShiftModel | None = None,
    n_tables: int = 1000,
    seed: int = 0,
    class_weight: ClassWeight = None,
    **shift_parameters: object,
) -> Comparison:
    """Fit each method to a table and evaluate all models under the same shifts.

    Parameters
    ----------
    methods : mapping or sequence of estimators
        Classifiers of hardwood, scikit-learn's `DecisionTreeClassifier`, and pipelines that end in one of them. Any
        other classifier is evaluated without a shift and on sampled tables. Copies are fitted.
    X, y : table and array
        Training samples and their labels.
    X_test, y_test : optional
        A test table to evaluate on instead of the training table.
    sample_weight : array of shape (n_samples,), optional
        Weights of the training samples, for learning and for evaluation.
    sample_weight_test : array of shape (n_test_samples,), optional
        Weights of the test samples.
    shifts : ShiftModel, optional
        Which shifts are possible.
    n_tables : int, default=1000
        Number of randomly shifted tables that are sampled for the lowest accuracy.
    seed : int, default=0
        Seed of the random shifts.
    class_weight : None, "balanced" or mapping, default=None
        Class weights of the evaluation, as in `RobustTreeClassifier`.
    **shift_parameters
        Instead of `shifts`: certainty, plausibility, direction, bounds, budget, clip; certainty 0.9 and plausibility
        0.9 by default.

    Returns
    -------
    Comparison

    Notes
    -----
    Float columns move by bins. All trees are evaluated with the same bins: every threshold of every tree is a border
    between two bins, and a move across it costs the same for all. So a tree may lose slightly more or less here than
    with the bins that it was learnt with.
    """
    named = _named_methods(methods)
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test belong together; give both or neither")
    description = resolve_shifts(shifts, shift_parameters) or Calibrated()
    if not description.has_probabilities:
        raise ValueError(
            f"shifts are {description}; expected certainties, since accuracy under random shifts needs probabilities"
        )
    if X_test is None and sample_weight_test is not None:
        raise ValueError("sample_weight_test belongs to X_test and y_test; give them, too")
    _check_methods(named, n_tables)
    fitted = {name: _fit_copy(method, X, y, sample_weight) for name, method in named.items()}
    training = _Samples(X, y, sample_weight, class_weight)
    evaluated = training if X_test is None else _Samples(X_test, y_test, sample_weight_test, class_weight)
    evaluation = _Evaluation.of({name: model for name, (model, _) in fitted.items()}, X, description, n_tables, seed)
    rows = []
    for name, (_, seconds) in fitted.items():
        row: JsonObject = {"method": name} | evaluation.numbers(name, evaluated) | {"seconds": seconds}
        if X_test is not None:
            row |= {f"training_{key}": value for key, value in evaluation.training_numbers(name, training).items()}
        rows.append(row)
    return Comparison(tuple(rows), description)


def _named_methods(methods: Mapping[str, FittedModel] | Sequence[FittedModel]) -> dict[str, FittedModel]:
    """Return the methods by name; those of a list by their class, numbered where a class occurs twice."""
    if isinstance(methods, Mapping):
        named = dict(methods)
    else:
        classes = [type(method).__name__ for method in methods]
        names = [f"{name} {k + 1}" if classes.count(name) > 1 else name for k, name in enumerate(classes)]
        named = dict(zip(names, methods, strict=True))
    if not named:
        raise ValueError("methods are empty; give at least one estimator")
    return named


def _check_methods(methods: Mapping[str, FittedModel], n_tables: int) -> None:
    """Refuse bad arguments before any method is fitted."""
    check_integer("n_tables", n_tables, at_least=1)
    for name, method in methods.items():
        if not (hasattr(method, "fit") and hasattr(method, "predict")):
            raise TypeError(f'method "{name}" is a {type(method).__name__}; expected a classifier with fit and predict')


def _fit_copy(
    method: FittedModel, X: TableLike, y: LabelsLike, sample_weight: WeightsLike | None
) -> tuple[FittedModel, float]:
    """Fit a copy of a method; return it and the seconds that it took."""
    model = clone(method)
    began = time.perf_counter()
    if sample_weight is None:
        model.fit(X, y)
    else:
        model.fit(X, y, sample_weight=sample_weight)
    return model, time.perf_counter() - began


@dataclass(frozen=True)
class _Samples:
    """A caller's table to evaluate on, with labels and weights."""

    X: TableLike
    y: LabelsLike
    sample_weight: WeightsLike | None
    class_weight: ClassWeight

    def labels(self, n_samples: int, classes: Sequence[Category]) -> Labels:
        """Return the labels as codes."""
        return encode_labels(
            self.y, n_samples, classes=classes, weights=self.sample_weight, class_weight=self.class_weight
        )


@dataclass(frozen=True)
class _Evaluation:
    """Evaluates all models under the same shifts; `trees` and `features` are those of the models that are trees."""

    models: Mapping[str, FittedModel]
    trees: Mapping[str, Tree]
    features: Mapping[str, tuple[Feature, ...]]
    shifts: ShiftModel
    n_tables: int
    seed: int

    @classmethod
    def of(
        cls, models: Mapping[str, FittedModel], X: TableLike, shifts: ShiftModel, n_tables: int, seed: int
    ) -> _Evaluation:
        """Convert the models that are trees, and find bins that suit all of them."""
        trees = _trees(models, X)
        return cls(models, trees, _common_features(trees, models), shifts, n_tables, seed)

    def numbers(self, name: str, samples: _Samples) -> dict[str, float | None]:
        """Return all accuracies of a model, and the number of its splits."""
        if name not in self.trees:
            return self._sampled_numbers(self.models[name], samples)
        tree, table, labels = self._read(name, samples)
        found = attack(tree, labels, self.shifts.uncertainty(table, total_weight=labels.total_weight))
        sampled = simulate_shifts([tree], table, labels, self.shifts, n_tables=self.n_tables, seed=self.seed)
        return {
            "nominal_accuracy": found.nominal_accuracy,
            "worst_case_accuracy": found.worst_case_accuracy,
            "expected_accuracy": expected_accuracy(tree, table, labels, self.shifts),
            "lowest_sampled_accuracy": float(sampled.min()),
            "branching_nodes": tree.n_branching_nodes,
        }

    def training_numbers(self, name: str, samples: _Samples) -> dict[str, float | None]:
        """Return the accuracy of a model on the training table, without a shift and in the worst case."""
        if name not in self.trees:
            _, labels, classes = self._read_without_tree(self.models[name], samples)
            nominal = accuracy_of(self.models[name], samples.X, labels, classes)
            return {"nominal_accuracy": nominal, "worst_case_accuracy": None}
        tree, table, labels = self._read(name, samples)
        found = attack(tree, labels, self.shifts.uncertainty(table, total_weight=labels.total_weight))
        return {"nominal_accuracy": found.nominal_accuracy, "worst_case_accuracy": found.worst_case_accuracy}

    def _sampled_numbers(self, model: FittedModel, samples: _Samples) -> dict[str, float | None]:
        """Evaluate a model that is not a tree on sampled tables."""
        table, labels, classes = self._read_without_tree(model, samples)
        n_tables = min(self.n_tables, _MAX_TABLES)
        shifted = shifted_tables(table, labels, self.shifts, n_tables=n_tables, seed=self.seed)
        shares = [accuracy_of(model, values_like(samples.X, table, other), labels, classes) for other in shifted]
        return {
            "nominal_accuracy": accuracy_of(model, samples.X, labels, classes),
            "worst_case_accuracy": None,
            "expected_accuracy": float(np.mean(shares)),
            "lowest_sampled_accuracy": float(np.min(shares)),
            "branching_nodes": None,
        }

    def _read(self, name: str, samples: _Samples) -> tuple[Tree, Table, Labels]:
        """Return the tree of a model, the table and the labels, all with the common features."""
        features = self.features[name]
        tree = self.trees[name].with_features(features)
        model, X = unwrap_pipeline(self.models[name], samples.X)
        if isinstance(model, TreeClassifier):
            table = model._encode(X, features=features)
        else:
            table = table_read(model, X, features)
        return tree, table, samples.labels(table.n_samples, tree.classes)

    def _read_without_tree(self, model: FittedModel, samples: _Samples) -> tuple[Table, Labels, Sequence[Category]]:
        """Return the table as the trees read it, if there are any, the labels, and the classes of the model."""
        columns = {column.name for column in read_columns(samples.X, "category")}
        same = [features for features in self.features.values() if {feature.name for feature in features} == columns]
        table = encode(samples.X, kinds=_kinds(same[0]) if same else None, missing="category")
        return table, samples.labels(table.n_samples, list(model.classes_)), model.classes_


def _trees(models: Mapping[str, FittedModel], X: TableLike) -> dict[str, Tree]:
    """Return the trees of the models that are trees; those of scikit-learn read columns as a tree of hardwood does."""
    known = [model.tree_ for model in models.values() if isinstance(model, TreeClassifier)]
    kinds = _kinds(known[0].features) if known else None
    trees = {}
    for name, model in models.items():
        last, table = unwrap_pipeline(model, X)
        if isinstance(last, TreeClassifier):
            trees[name] = last.tree_
        elif hasattr(getattr(last, "tree_", None), "children_left"):
            is_pipeline = last is not model  # its steps make other columns
            trees[name] = from_sklearn(last, table, kinds=None if is_pipeline else kinds)[0]
    return trees


def _common_features(trees: Mapping[str, Tree], models: Mapping[str, FittedModel]) -> dict[str, tuple[Feature, ...]]:
    """Return the features for each tree: the same bins for all, except for pipelines, which read other columns."""
    alone = {name: tree.features for name, tree in trees.items() if hasattr(models[name], "named_steps")}
    together = [tree for name, tree in trees.items() if name not in alone]
    finest = finest_features(together) if together else ()
    return {name: alone.get(name, finest) for name in trees}


def _kinds(features: Sequence[Feature]) -> dict[str, str | list[Category]]:
    """Return the kinds of features as `encode` takes them."""
    return {
        feature.name: list(feature.categories) if feature.kind is Kind.ORDINAL else str(feature.kind)
        for feature in features
    }


def _cell_text(name: str, value: float | None) -> str:
    """Return a number of the comparison as text."""
    if value is None:
        return "-"
    return f"{value:.1%}" if name.endswith("accuracy") else f"{value:.3g}"
