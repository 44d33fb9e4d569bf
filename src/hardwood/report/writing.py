"""From a fitted model to a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

from hardwood._util.files import write_text
from hardwood._util.types import LabelsLike, PerCell, TableLike, WeightsLike
from hardwood.data.labels import Labels
from hardwood.data.table import Table
from hardwood.estimators.path import RobustnessPath
from hardwood.estimators.robust import RobustTreeClassifier
from hardwood.report.content import About, Model, content_of
from hardwood.report.page import page
from hardwood.shiftlab import PlausibilityChoice
from hardwood.shifts.models import ShiftModel
from hardwood.trees.tree import Tree

TITLE = "A tree that stays right when the data shift"


def write_report(
    model: RobustTreeClassifier,
    path: str | Path,
    X: TableLike | None = None,
    y: LabelsLike | None = None,
    sample_weight: WeightsLike | None = None,
    *,
    baselines: Mapping[str, Tree],
    along: RobustnessPath | PlausibilityChoice | None = None,
    title: str | None = None,
    show_rows: bool = False,
    certainty: PerCell = None,
    costs: PerCell = None,
    about: About | None = None,
    X_test: TableLike | None = None,
    y_test: LabelsLike | None = None,
    sample_weight_test: WeightsLike | None = None,
) -> None:
    """Write a report about a model.

    `RobustTreeClassifier.report` calls this function with the usual baselines.

    Parameters
    ----------
    model : RobustTreeClassifier
        The fitted model.
    path : str or Path
        The HTML file to write.
    X, y : table and labels, optional
        The table that the report is about. A model that was fitted, not loaded, uses its training table if they are
        omitted.
    sample_weight : array-like, optional
        Weight of each row of X: how many people it represents.
    baselines : mapping of str to Tree
        Trees for the same columns and classes to compare with, by name.
    along : RobustnessPath or PlausibilityChoice, optional
        A path of the same columns and classes, to move along with a slider. With the result of
        `shiftlab.choose_plausibility`, the report also shows which level to choose.
    title : str, optional
        The headline.
    show_rows : bool, default=False
        Whether the report may show which single rows the worst shift changes.
    certainty, costs : array-like, optional
        Certainty or costs for each cell of X, if `fit` was given them for each cell.
    about : About, optional
        Target, author, source and intended use.
    X_test, y_test, sample_weight_test : table, labels and weights, optional
        Rows that the tree has not seen; the report shows their accuracy, too.

    Raises
    ------
    ValueError
        If the file cannot be written, or `along` was learnt for other shifts.
    TypeError
        If `along` is neither a path nor a choice.
    """
    check_place(path)
    if along is not None and not isinstance(along, RobustnessPath | PlausibilityChoice):
        raise TypeError(
            f"along is a {type(along).__name__}; expected the result of robustness_path or choose_plausibility"
        )
    table, labels, shifts = model._given_or_training_data(X, y, sample_weight, certainty=certainty, costs=costs)
    reported = _model(model, shifts)
    choice = along if isinstance(along, PlausibilityChoice) else None
    robustness_path = along.path if isinstance(along, PlausibilityChoice) else along
    models = [reported, *_models_along(robustness_path, table, labels.total_weight, shifts)]
    models.sort(key=lambda entry: entry.shifts.budget_for(labels.total_weight))
    about = about or About()
    about = replace(about, date=about.date or date.today().isoformat(), target=about.target or model._target_name)
    content = content_of(
        models,
        next(k for k, entry in enumerate(models) if entry is reported),
        table,
        labels,
        baselines=baselines,
        title=title or _default_title(about.target),
        show_rows=show_rows,
        about=about,
        unseen=None if X_test is None else _encoded(model, X_test, y_test, sample_weight_test),
        choice=choice,
    )
    write_text(path, page(content))


def check_place(path: str | Path) -> None:
    """Raise an error if a file cannot be written, before any work is done.

    Parameters
    ----------
    path : str or Path
        The file to write.

    Raises
    ------
    ValueError
        If the path is a folder, or its folder does not exist.
    """
    if Path(path).is_dir() or not Path(path).absolute().parent.is_dir():
        raise ValueError(f"{path} cannot be written: expected a file in a folder that exists")


def _default_title(target: str) -> str:
    """Return the headline of a report without a title."""
    return f"Predicting {target}: a tree that stays right when the data shift" if target else TITLE


def _encoded(
    model: RobustTreeClassifier, X: TableLike, y: LabelsLike, sample_weight: WeightsLike | None
) -> tuple[Table, Labels]:
    """Encode a table and its labels as a model does."""
    table = model._encode(X)
    return table, model._encode_labels(y, table, sample_weight)


def _model(model: RobustTreeClassifier, shifts: ShiftModel) -> Model:
    """Return what the report needs of a classifier."""
    return Model(model.tree_, shifts, getattr(model, "certificate_", None))


def _models_along(path: RobustnessPath | None, table: Table, total_weight: float, shifts: ShiftModel) -> list[Model]:
    """Return the models of a path at other levels than the reported one."""
    if path is None:
        return []
    costs = shifts.move_costs(table)
    models = []
    for level, classifier in zip(path.plausibilities, path.classifiers, strict=True):
        classifier.tree_.check_table(table)
        budget = classifier.shifts_.budget_for(total_weight)
        has_same_costs = classifier.shifts_.move_costs(table).equals(costs)
        if not has_same_costs or budget != shifts.at(level).budget_for(total_weight):
            raise ValueError(
                "along was learnt for other shifts; expected a path with the costs (certainty, missing_certainty, "
                "tables), direction, bounds and budgets of this model (learn it with shifts=model.shifts_)"
            )
        if budget != shifts.budget_for(total_weight):
            models.append(_model(classifier, classifier.shifts_))
    return models
