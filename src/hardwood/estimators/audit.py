"""How fragile is the tree that is in use? Any tree, under the shifts that its owner thinks plausible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hardwood._support.errors import ArgumentError
from hardwood._support.files import reading
from hardwood._support.text import shown
from hardwood.data.columns import read_column
from hardwood.data.features import NO_ANSWER_WORDS, Table, encode
from hardwood.data.labels import encode_labels
from hardwood.data.pieces import pieces_of, target_of, weight_of
from hardwood.estimators.base import TreeClassifier
from hardwood.estimators.findings import Findings
from hardwood.estimators.piecewise import PiecewiseAudit
from hardwood.estimators.robust import FORMAT as MODEL_FORMAT
from hardwood.estimators.robust import RobustTreeClassifier
from hardwood.shift.account import aligned
from hardwood.shift.calibration import FloatArray
from hardwood.shift.description import PLAUSIBILITIES, ShiftDescription
from hardwood.trees.adversary import Attack, ClassShare, Curve, GroupShare, Shift, attack
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
    groups: Any = field(default=None, repr=False)

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

    def confusion(self, *, worst_case: bool = False) -> FloatArray:
        """People by their class and by what the tree predicts, as they stand or after the worst shift."""
        return self.found.confusion(worst_case=worst_case)

    @property
    def by_group(self) -> tuple[GroupShare, ...]:
        """What becomes of each group, if groups were given."""
        return () if self.groups is None else self.found.by_group(self.groups)

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        margin = {"median_margin"}
        return super().to_dict() | {
            "classes": list(self.tree.classes),
            "confusion": self.confusion().tolist(),
            "worst_case_confusion": self.confusion(worst_case=True).tolist(),
            "by_class": [asdict(own) for own in self.by_class],
            "by_group": [
                {k: "inf" if k in margin and v == np.inf else v for k, v in asdict(own).items()}
                for own in self.by_group
            ],
            "values_changed": self.n_changed[0],
            "rows_changed": self.n_changed[1],
            "by_plausibility": [
                {"plausibility": level, "worst_case_accuracy": self.curve.accuracy_at_plausibility(level)}
                for level in PLAUSIBILITIES
            ],
        }

    @property
    def more_lines(self) -> list[str]:
        """Classes and groups."""
        head = ("", "people", "as they stand", "worst shift", "at least")
        classes: list[tuple[str, ClassShare | GroupShare]] = [(str(own.label), own) for own in self.by_class]
        groups: list[tuple[str, ClassShare | GroupShare]] = [(str(own.group), own) for own in self.by_group]
        tables = [("Correct by class (recall):", classes)]
        if groups:
            tables.append(("Correct by group:", groups))
        lines = []
        for title, entries in tables:
            rows = [
                (
                    f"  {shown(name)}",
                    f"{own.people:,.6g}",
                    f"{own.nominal:.1%}",
                    f"{own.worst_case:.1%}",
                    f"{own.guaranteed:.1%}",
                )
                for name, own in entries
            ]
            lines += ["", title, *aligned(head, rows, right=(1, 2, 3, 4))]
        return lines


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
    groups: Any = None,
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

    model          a fitted `DecisionTreeClassifier` of scikit-learn, a `RobustTreeClassifier` or another classifier of
                   ours, a `Pipeline` that ends in one of these (then what shifts are the columns that the tree reads),
                   a `Tree`, or the path of a file with a tree or a model in JSON
    groups         who belongs together: an entry for each row, or the name of a column of X; accuracy and worst case
                   are told for each group, too
    shifts         which shifts are possible, as a `ShiftDescription`
    words          or in its words: certainty, plausibility, direction, bounds, costs, budget, clip, radius. If nothing
                   is said, a classifier of ours is audited under the shifts that it was fitted for, any other tree at
                   certainty 0.9 and plausibility 0.9.
    feature_kinds  and max_bins: how to read the columns, for a scikit-learn tree; the others know it
    missing_values answers that mean that there is none, as in `RobustTreeClassifier`, for trees that do not know it
    """
    model, said, class_weight = said_for(model, shifts, words, class_weight)
    if isinstance(groups, str):
        groups, X = column_named(X, groups), only_known(model, X)
    model, X = without_steps(model, X)
    pieces = pieces_of(X)
    if pieces is not None and groups is not None:
        raise ValueError(
            "groups are given for a table in pieces; give a table in memory, such as one group after another"
        )
    if pieces is not None:
        tree, encoded = _reader(model, missing_values)
        target, weight = target_of(y, pieces, tree.features), weight_of(sample_weight, pieces)
        return PiecewiseAudit.of(tree, encoded, pieces, target, said, weight, class_weight)
    tree, table = read_for_audit(model, X, feature_kinds, max_bins, missing_values)
    words_of_labels = {"weights": sample_weight, "class_weight": class_weight}
    labels = encode_labels(y, table.n_samples, classes=tree.classes, **words_of_labels)
    return Audit(attack(tree, labels, said.uncertainty(table, people=labels.people)), said, class_weight, groups)


def said_for(
    model: Any, shifts: ShiftDescription | None, words: Mapping[str, Any], class_weight: Any
) -> tuple[Any, ShiftDescription, Any]:
    """A model (read, if it is a file), and what is said about shifts and worth, or else what it was fitted for."""
    if isinstance(model, str | Path):
        model = read_model(Path(model))
    said = ShiftDescription.said(shifts, words)
    last = model[-1] if hasattr(model, "named_steps") else model
    if said is None:
        said = last.shifts_ if isinstance(last, RobustTreeClassifier) else ShiftDescription()
    if class_weight is None and isinstance(last, RobustTreeClassifier):
        class_weight = last.class_weight
    return model, said, class_weight


def column_named(X: Any, name: str, argument: str = "groups") -> Any:
    """A column of a caller's table, which an argument names."""
    names = list(X) if isinstance(X, Mapping) else list(getattr(X, "column_names", getattr(X, "columns", ())))
    if name not in names:
        raise ArgumentError(argument, name, f"the table has the columns {names}")
    column = read_column(name, X[name], "category")
    if column.gone is None:
        return column.values
    return np.where(column.gone, NO_ANSWER_WORDS, column.values.astype(str)).astype(object)


def only_known(model: Any, X: Any) -> Any:
    """The columns that a classifier of ours knows by name; a column of groups need not be one of them."""
    if not isinstance(model, TreeClassifier) or not hasattr(model, "feature_names_in_"):
        return X
    return {str(name): X[name] for name in model.feature_names_in_}


def without_steps(model: Any, X: Any) -> tuple[Any, Any]:
    """The last step of a pipeline, and the table as the steps before leave it; anything else as it is."""
    if not (hasattr(model, "steps") and hasattr(model, "named_steps")):
        return model, X
    before, last = model[:-1], model[-1]
    if not len(before.steps):
        return last, X
    read = before.transform(X)
    read = read.toarray() if hasattr(read, "toarray") else read
    if isinstance(last, TreeClassifier) and not hasattr(last, "feature_names_in_"):
        return last, np.asarray(read)  # it knows its columns by their places
    if isinstance(read, np.ndarray):
        try:
            names = [str(name) for name in before.get_feature_names_out()]
        except (AttributeError, ValueError):
            return last, read
        read = {name: read[:, j] for j, name in enumerate(names)}
        if not hasattr(last, "feature_names_in_"):
            last = copy(last)
            last.feature_names_in_ = np.array(names, dtype=object)
    return last, read


def read_for_audit(
    model: Any, X: Any, kinds: Any = None, max_bins: int = 10, missing_values: Any = None
) -> tuple[Tree, Table]:
    """The tree of a model, and a table as it reads it."""
    model, X = without_steps(model, X)
    if isinstance(model, TreeClassifier | Tree):
        tree, encoded = _reader(model, missing_values)
        return tree, encoded(X)
    return from_sklearn(model, X, kinds=kinds, max_bins=max_bins)


def _reader(model: Any, missing_values: Any) -> tuple[Tree, Callable[[Any], Table]]:
    """The tree, and how it reads a table."""
    if isinstance(model, TreeClassifier):
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
