"""From a fitted model to a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from hardwood._support.files import write_text
from hardwood.data.features import Table
from hardwood.estimators.path import RobustnessPath
from hardwood.estimators.robust import RobustTreeClassifier
from hardwood.report.content import About, Model, content_of
from hardwood.report.page import page
from hardwood.shift.description import ShiftDescription
from hardwood.shiftlab import PlausibilityChoice
from hardwood.trees.tree import Tree

TITLE = "A tree that stays right when the data shift"


def write_report(
    model: RobustTreeClassifier,
    path: str | Path,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    rivals: Mapping[str, Tree],
    along: RobustnessPath | PlausibilityChoice | None = None,
    title: str | None = None,
    show_rows: bool = False,
    certainty: Any = None,
    costs: Any = None,
    about: About | None = None,
    X_test: Any = None,
    y_test: Any = None,
    sample_weight_test: Any = None,
) -> None:
    """Write a report about a model; `RobustTreeClassifier.report` does so with the usual rivals.

    X, y       the table that the report is about; after `fit` they may be left out: it is the training table
    sample_weight  how many people each of its rows stands for
    rivals     other trees for the same columns and classes, by name, to stand beside the model
    along      a path of the same columns and classes, to move along with a slider; or what `choose_plausibility` gives,
               to show which level to choose, too
    show_rows  whether the report may show which single rows the worst shift changes
    certainty  and costs: for each cell of X, if `fit` was given them so
    about      target, author, source and intended use, see `About`
    X_test     and y_test: rows that the tree has not seen, to stand beside (`sample_weight_test`: their weights)
    """
    check_place(path)
    table, labels, shifts = model.subject(X, y, sample_weight, certainty=certainty, costs=costs)
    own = _model(model, shifts)
    if along is not None and not isinstance(along, RobustnessPath | PlausibilityChoice):
        raise TypeError(
            f"along is a {type(along).__name__}; expected what robustness_path or choose_plausibility gives"
        )
    choice = along if isinstance(along, PlausibilityChoice) else None
    along = along.path if isinstance(along, PlausibilityChoice) else along
    models = [own, *_models_along(along, table, labels.people, shifts)]
    models.sort(key=lambda other: other.shifts.budget_for(labels.people))
    chosen = next(k for k, other in enumerate(models) if other is own)
    said = about or About()
    said = replace(said, date=said.date or date.today().isoformat(), target=said.target or model.target_name)
    headline = title or (
        f"Predicting {said.target}: a tree that stays right when the data shift" if said.target else TITLE
    )
    unseen = None
    if X_test is not None:
        there = model.encoded(X_test)
        unseen = there, model.labelled(y_test, there, sample_weight_test)
    words: dict[str, Any] = {"rivals": rivals, "title": headline, "rows": show_rows, "about": said}
    words |= {"unseen": unseen, "choice": choice}
    content = content_of(models, chosen, table, labels, **words)
    write_text(path, page(content))


def check_place(path: str | Path) -> None:
    """Refuse a place that cannot be written to, before any work."""
    if Path(path).is_dir() or not Path(path).absolute().parent.is_dir():
        raise ValueError(f"{path} cannot be written: expected a file in a folder that exists")


def _model(model: RobustTreeClassifier, shifts: ShiftDescription) -> Model:
    return Model(model.tree_, shifts, getattr(model, "certificate_", None))


def _models_along(along: RobustnessPath | None, table: Table, people: float, shifts: ShiftDescription) -> list[Model]:
    """The models of a path at other levels than the one that is reported."""
    if along is None:
        return []
    prices = shifts.uncertainty(table, budget=0.0).costs.prices
    models = []
    for other in along.classifiers:
        other.tree_.check_table(table)
        theirs = other.shifts_.uncertainty(table, budget=0.0).costs.prices
        if not all(np.array_equal(mine, his) for mine, his in zip(prices, theirs, strict=True)):
            raise ValueError(
                "along was learnt for other shifts; expected a path with the certainty, costs, direction and "
                "bounds of this model"
            )
        if other.shifts_.budget_for(people) != shifts.budget_for(people):
            models.append(_model(other, other.shifts_))
    return models
