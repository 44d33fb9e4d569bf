"""How fragile is the tree that is in use? Any tree, under the shifts that its owner thinks plausible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hardwood._support.files import reading
from hardwood.data.features import Table, encode
from hardwood.data.labels import encode_labels
from hardwood.data.pieces import pieces_of, target_of, weight_of
from hardwood.estimators.findings import Findings
from hardwood.estimators.piecewise import PiecewiseAudit
from hardwood.estimators.robust import FORMAT as MODEL_FORMAT
from hardwood.estimators.robust import RobustTreeClassifier
from hardwood.shift.calibration import FloatArray
from hardwood.shift.description import ShiftDescription
from hardwood.trees.adversary import Attack, ClassShare, Curve, Shift, attack
from hardwood.trees.scikit import from_sklearn
from hardwood.trees.tree import Tree


@dataclass(frozen=True, eq=False)
class Audit(Findings):
    """What the worst shift does to a tree on a table in memory. Prints as a page of text.

    margins  the price at which each sample is lost: 0 if it is wrong as it stands, +inf if no shift can
    """

    found: Attack = field(repr=False)
    shifts: ShiftDescription = field(repr=False)
    class_weight: Any = None

    @property
    def tree(self) -> Tree:
        """The tree, as hardwood reads it."""
        return self.found.tree

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.found.n_samples

    @property
    def by_class(self) -> tuple[ClassShare, ...]:
        """What becomes of each class."""
        return self.found.by_class

    @property
    def nominal_accuracy(self) -> float:
        """Share of samples that are correct as they stand."""
        return self.found.nominal_accuracy

    @property
    def worst_case_accuracy(self) -> float:
        """Share of samples that are correct after the worst shift within the budget."""
        return self.found.worst_case_accuracy

    @property
    def margins(self) -> FloatArray:
        """The price at which each sample is lost."""
        return self.found.margins

    @property
    def budget(self) -> float:
        """What the adversary may pay on the whole table."""
        return self.found.uncertainty.budget

    @property
    def curve(self) -> Curve:
        """Worst-case accuracy for every budget."""
        return self.found.curve

    @property
    def shift(self) -> Shift:
        """The worst shift itself, in the order in which the adversary buys the changes."""
        return self.found.shift

    @property
    def n_changed(self) -> tuple[int, int]:
        """How many values the worst shift changes, and in how many rows."""
        return len(self.shift), len(np.unique(self.shift.rows))

    def changes(self) -> list[dict[str, Any]]:
        """Which answers the adversary changes, most often first: column, from, to, how many, and the price of all."""
        return self.shift.grouped()


def audit(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    shifts: ShiftDescription | None = None,
    feature_kinds: Any = None,
    max_bins: int = 10,
    class_weight: Any = None,
    missing_values: Any = None,
    **words: Any,
) -> Audit | PiecewiseAudit:
    """Let the adversary loose on a tree that exists.

    X              a table in memory, or one in pieces, which may be larger than memory: the path of a Parquet file or
                   of a folder of them, a `pyarrow.dataset`, or a Dask frame. Of these, every piece is looked at on its
                   own, wherever Dask computes. The numbers are the same; single margins are not kept.
    y              the labels; of a table in pieces, the name of its target column
    sample_weight  how many people each row stands for; of a table in pieces, the name of the column that says so
    class_weight   what a class is worth, as in `RobustTreeClassifier`; a classifier of ours is audited with its own if
                   nothing is said

    model          a fitted `DecisionTreeClassifier` of scikit-learn, a `RobustTreeClassifier`, a `Tree`, or the path of
                   a file with a tree or a model in JSON
    shifts         which shifts are possible, as a `ShiftDescription`
    words          or in its words: certainty, plausibility, direction, bounds, costs, budget, clip, radius. If nothing
                   is said, a classifier of ours is audited under the shifts that it was fitted for, any other tree at
                   certainty 0.9 and plausibility 0.9.
    feature_kinds  and max_bins: how to read the columns, for a scikit-learn tree; the others know it
    missing_values answers that mean that there is none, as in `RobustTreeClassifier`, for trees that do not know it
    """
    model, said, class_weight = said_for(model, shifts, words, class_weight)
    pieces = pieces_of(X)
    if pieces is not None:
        tree, encoded = _reader(model, missing_values)
        target, weight = target_of(y, pieces, tree.features), weight_of(sample_weight, pieces)
        return PiecewiseAudit.of(tree, encoded, pieces, target, said, weight, class_weight)
    tree, table = read_for_audit(model, X, feature_kinds, max_bins, missing_values)
    words_of_labels = {"weights": sample_weight, "class_weight": class_weight}
    labels = encode_labels(y, table.n_samples, classes=tree.classes, **words_of_labels)
    return Audit(attack(tree, labels, said.uncertainty(table, people=labels.people)), said, class_weight)


def said_for(
    model: Any, shifts: ShiftDescription | None, words: Mapping[str, Any], class_weight: Any
) -> tuple[Any, ShiftDescription, Any]:
    """A model (read, if it is a file), and what is said about shifts and worth, or else what it was fitted for."""
    if isinstance(model, str | Path):
        model = read_model(Path(model))
    said = ShiftDescription.said(shifts, words)
    if said is None:
        said = model.shifts_ if isinstance(model, RobustTreeClassifier) else ShiftDescription()
    if class_weight is None and isinstance(model, RobustTreeClassifier):
        class_weight = model.class_weight
    return model, said, class_weight


def read_for_audit(model: Any, X: Any, kinds: Any, max_bins: int, missing_values: Any = None) -> tuple[Tree, Table]:
    """The tree of a model, and a table as it reads it."""
    if isinstance(model, RobustTreeClassifier | Tree):
        tree, encoded = _reader(model, missing_values)
        return tree, encoded(X)
    return from_sklearn(model, X, kinds=kinds, max_bins=max_bins)


def _reader(model: Any, missing_values: Any) -> tuple[Tree, Callable[[Any], Table]]:
    """The tree, and how it reads a table."""
    if isinstance(model, RobustTreeClassifier):
        return model.tree_, model.encoded
    if isinstance(model, Tree):
        return model, partial(encode, features=model.features, missing_values=missing_values)
    raise TypeError(
        f"the model is a {type(model).__name__}; its columns are learnt from a table in memory. Make a tree of it from "
        f"a sample first: hardwood.interop.from_sklearn(model, X_sample)[0]"
    )


def read_model(path: Path) -> Tree | RobustTreeClassifier:
    """A model or a tree from a JSON file."""
    with reading(path) as document:
        if not isinstance(document, Mapping) or document.get("format") != MODEL_FORMAT:
            return Tree.from_dict(document)
    return RobustTreeClassifier.load(path)
