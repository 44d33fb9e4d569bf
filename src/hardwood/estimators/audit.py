"""How fragile is the tree that is in use? Any tree, under the shifts that its owner thinks plausible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hardwood._support.files import reading
from hardwood._support.text import shown
from hardwood.data.features import Table, encode, encode_labels
from hardwood.estimators.robust import FORMAT as MODEL_FORMAT
from hardwood.estimators.robust import RobustTreeClassifier
from hardwood.shift.calibration import FloatArray
from hardwood.shift.description import PLAUSIBILITIES, ShiftDescription
from hardwood.trees.adversary import Attack, Curve, Shift, attack
from hardwood.trees.scikit import from_sklearn
from hardwood.trees.tree import Tree


@dataclass(frozen=True, eq=False)
class Audit:
    """What the worst shift does to a tree. Prints as a page of text.

    margins  the price at which each sample is lost: 0 if it is wrong as it stands, +inf if no shift can
    """

    found: Attack = field(repr=False)
    shifts: ShiftDescription = field(repr=False)

    @property
    def tree(self) -> Tree:
        """The tree, as hardwood reads it."""
        return self.found.tree

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
    def curve(self) -> Curve:
        """Worst-case accuracy for every budget."""
        return self.found.curve

    @property
    def shift(self) -> Shift:
        """The worst shift itself, in the order in which the adversary buys the changes."""
        return self.found.shift

    def changes(self) -> list[dict[str, Any]]:
        """Which answers the adversary changes, most often first: column, from, to, how many, and the price of all."""
        return self.shift.grouped()

    def __str__(self) -> str:
        found = self.found
        lines = [
            f"{self.nominal_accuracy:.1%} of {found.n_samples} samples are correct as they stand,",
            f"{self.worst_case_accuracy:.1%} after the worst shift within the budget {found.uncertainty.budget:.4g} "
            f"({len(self.shift)} values changed in {len(np.unique(self.shift.rows))} rows).",
            f"Shifts: {self.shifts}.",
            "",
            "Correct after the worst shift that is at least so plausible:",
        ]
        for level in PLAUSIBILITIES:
            share = self.curve.accuracy_at_plausibility(level)
            lines.append(f"  {level:5.2f}  {share:6.1%}  {'█' * round(40 * share)}")
        changes = self.changes()
        lines += ["", "What the adversary changes:" if changes else "The adversary needs no change."]
        for entry in changes[:8]:
            what = f"{shown(entry['column'])}: {shown(entry['from'])} -> {shown(entry['to'])}"
            lines.append(f"  {what} in {entry['rows']} rows for {entry['price']:.3g}")
        if len(changes) > 8:
            lines.append(f"  ... and {len(changes) - 8} other kinds of changes")
        return "\n".join(lines)


def audit(
    model: Any,
    X: Any,
    y: Any,
    *,
    shifts: ShiftDescription | None = None,
    feature_kinds: Any = None,
    max_bins: int = 10,
    **words: Any,
) -> Audit:
    """Let the adversary loose on a tree that exists.

    model          a fitted `DecisionTreeClassifier` of scikit-learn, a `RobustTreeClassifier`, a `Tree`, or the path of
                   a file with a tree or a model in JSON
    shifts         which shifts are possible, as a `ShiftDescription`
    words          or in its words: certainty, plausibility, direction, bounds, costs, budget, clip, radius. If nothing
                   is said, a classifier of ours is audited under the shifts that it was fitted for, any other tree at
                   certainty 0.9 and plausibility 0.9.
    feature_kinds  and max_bins: how to read the columns, for a scikit-learn tree; the others know it
    """
    if isinstance(model, str | Path):
        model = read_model(Path(model))
    said = ShiftDescription.said(shifts, words)
    if said is None:
        said = model.shifts_ if isinstance(model, RobustTreeClassifier) else ShiftDescription()
    tree, table = _read(model, X, feature_kinds, max_bins)
    labels = encode_labels(y, table.n_samples, classes=tree.classes)
    return Audit(attack(tree, labels, said.uncertainty(table)), said)


def _read(model: Any, X: Any, kinds: Any, max_bins: int) -> tuple[Tree, Table]:
    if isinstance(model, RobustTreeClassifier):
        return model.tree_, model.encoded(X)
    if isinstance(model, Tree):
        return model, encode(X, features=model.features)
    return from_sklearn(model, X, kinds=kinds, max_bins=max_bins)


def read_model(path: Path) -> Tree | RobustTreeClassifier:
    """A model or a tree from a JSON file."""
    with reading(path) as document:
        if not isinstance(document, Mapping) or document.get("format") != MODEL_FORMAT:
            return Tree.from_dict(document)
    return RobustTreeClassifier.load(path)
