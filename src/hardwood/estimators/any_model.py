"""Fitted models of any library: read from files, unwrapped from pipelines, and converted to trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from pathlib import Path

import numpy as np

from hardwood._util.arrays import Array
from hardwood._util.errors import ArgumentError
from hardwood._util.files import open_json
from hardwood._util.types import Arguments, FittedModel, PerColumn, TableLike
from hardwood.data.encode import encode
from hardwood.data.feature import MISSING_TEXT
from hardwood.data.frames import read_column
from hardwood.data.labels import ClassWeight
from hardwood.data.table import Table
from hardwood.estimators.base import TreeClassifier
from hardwood.estimators.persistence import FORMAT as MODEL_FORMAT
from hardwood.estimators.robust import RobustTreeClassifier
from hardwood.shifts.models import Calibrated, ShiftModel, resolve_shifts
from hardwood.trees.sklearn_interop import from_sklearn
from hardwood.trees.tree import Tree


def shifts_for(
    model: FittedModel,
    shifts: ShiftModel | None,
    shift_parameters: Mapping[str, object],
    class_weight: ClassWeight,
) -> tuple[FittedModel, ShiftModel, ClassWeight]:
    """Return the shifts and class weights for a model: those given, or those it was fitted for.

    Parameters
    ----------
    model : classifier, Tree, str or Path
        A model that `audit` takes.
    shifts : ShiftModel or None
        Which shifts are possible.
    shift_parameters : mapping
        Instead of `shifts`, its fields by name. A plausibility alone keeps all else of the shifts that the model was
        fitted for.
    class_weight : None, "balanced" or mapping
        Class weights.

    Returns
    -------
    model
        The model; read, if it was a path.
    description : ShiftModel
    class_weight : None, "balanced" or mapping
    """
    if isinstance(model, str | Path):
        model = read_model(Path(model))
    last = model[-1] if hasattr(model, "named_steps") else model
    fitted_for = last.shifts_ if isinstance(last, RobustTreeClassifier) else None
    description = _described(shifts, shift_parameters, fitted_for)
    if class_weight is None and isinstance(last, RobustTreeClassifier):
        class_weight = last.class_weight
    return model, description, class_weight


def _described(
    shifts: ShiftModel | None, parameters: Mapping[str, object], fitted_for: ShiftModel | None
) -> ShiftModel:
    """Return the shifts that a caller states: in full, or as another plausibility of those of a fitted model."""
    given: Arguments = {name: value for name, value in parameters.items() if value is not None}
    if shifts is None and fitted_for is not None and set(given) == {"plausibility"}:
        return fitted_for.at(given["plausibility"])
    return resolve_shifts(shifts, given) or fitted_for or Calibrated()


def column_named(X: TableLike, name: str, argument: str = "groups") -> Array:
    """Return a column of a caller's table.

    Parameters
    ----------
    X : table
        A frame or a mapping of columns.
    name : str
        Name of the column.
    argument : str, default="groups"
        The argument that names the column, for the error message.

    Returns
    -------
    array of shape (n_samples,)
        The values; text where some are missing.
    """
    names = list(X) if isinstance(X, Mapping) else list(getattr(X, "column_names", getattr(X, "columns", ())))
    if name not in names:
        raise ArgumentError(argument, name, f"the table has the columns {names}")
    column = read_column(name, X[name], "category")
    if column.is_missing is None:
        return column.values
    return np.where(column.is_missing, MISSING_TEXT, column.values.astype(str)).astype(object)


def known_columns(model: FittedModel, X: TableLike) -> TableLike:
    """Return the columns that a classifier of hardwood knows by name, since a column of groups need not be one.

    Parameters
    ----------
    model : classifier or Tree
        A model that `audit` takes.
    X : table
        A frame or a mapping of columns.

    Returns
    -------
    table
        X itself for other models.
    """
    if not isinstance(model, TreeClassifier) or not hasattr(model, "feature_names_in_"):
        return X
    return {str(name): X[name] for name in model.feature_names_in_}


def unwrap_pipeline(model: FittedModel, X: TableLike) -> tuple[FittedModel, TableLike]:
    """Apply all steps of a pipeline but the last one.

    Parameters
    ----------
    model : classifier, Pipeline or Tree
        A fitted model.
    X : table
        Rows as the model takes them.

    Returns
    -------
    model
        The last step of a pipeline; other models are returned unchanged.
    X : table
        The table as the last step reads it.
    """
    if not (hasattr(model, "steps") and hasattr(model, "named_steps")):
        return model, X
    before, last = model[:-1], model[-1]
    if not len(before.steps):
        return last, X
    transformed = before.transform(X)
    transformed = transformed.toarray() if hasattr(transformed, "toarray") else transformed
    if isinstance(last, TreeClassifier) and not hasattr(last, "feature_names_in_"):
        return last, np.asarray(transformed)  # it knows its columns by position
    if isinstance(transformed, np.ndarray):
        try:
            names = [str(name) for name in before.get_feature_names_out()]
        except (AttributeError, ValueError):
            return last, transformed
        transformed = {name: transformed[:, j] for j, name in enumerate(names)}
        if not hasattr(last, "feature_names_in_"):
            last = copy(last)
            last.feature_names_in_ = np.array(names, dtype=object)
    return last, transformed


def tree_and_table(
    model: FittedModel,
    X: TableLike,
    feature_kinds: PerColumn = None,
    max_bins: int = 10,
    missing_values: PerColumn = None,
) -> tuple[Tree, Table]:
    """Return the tree of a model, and a table as the tree reads it.

    Parameters
    ----------
    model, X, feature_kinds, max_bins, missing_values
        As in `audit`; X is in memory.

    Returns
    -------
    tree : Tree
    table : Table
    """
    model, X = unwrap_pipeline(model, X)
    if isinstance(model, TreeClassifier | Tree):
        tree, encoder = tree_and_encoder(model, missing_values)
        return tree, encoder(X)
    return from_sklearn(model, X, kinds=feature_kinds, max_bins=max_bins)


def tree_and_encoder(model: FittedModel, missing_values: PerColumn) -> tuple[Tree, Callable[[TableLike], Table]]:
    """Return the tree of a model, and how the tree reads a table.

    Parameters
    ----------
    model : TreeClassifier or Tree
        A model that stores its columns.
    missing_values : value, list or mapping
        Missing codes, for a `Tree`.

    Returns
    -------
    tree : Tree
    encoder : callable
        Encodes a caller's table.

    Raises
    ------
    TypeError
        If the columns of the model have to be learnt from a table, as those of scikit-learn's trees.
    """
    if isinstance(model, TreeClassifier):
        return model.tree_, model._encode
    if isinstance(model, Tree):
        return model, partial(encode, features=model.features, missing_values=missing_values)
    raise TypeError(
        f"the model is a {type(model).__name__}; its columns are learnt from a table in memory. Convert it with a "
        f"sample of the table first: hardwood.interop.from_sklearn(model, X_sample)[0]"
    )


def read_model(path: Path) -> Tree | RobustTreeClassifier:
    """Read a model or a tree from a JSON file.

    Parameters
    ----------
    path : Path
        A file that `RobustTreeClassifier.save` wrote, or a tree as `Tree.to_json` writes it.

    Returns
    -------
    RobustTreeClassifier or Tree
    """
    with open_json(path) as document:
        if not isinstance(document, Mapping) or document.get("format") != MODEL_FORMAT:
            return Tree.from_dict(document)
    return RobustTreeClassifier.load(path)
