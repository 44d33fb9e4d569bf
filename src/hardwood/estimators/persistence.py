"""Models as JSON files, each with its certificate in a second file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from hardwood._util.arguments import check_integer, check_numbers
from hardwood._util.errors import ArgumentError
from hardwood._util.files import format_json, open_json, write_text
from hardwood._util.types import Arguments, JsonObject
from hardwood.certificate import Certificate
from hardwood.data.feature import Kind
from hardwood.estimators.fitting import SHIFT_PARAMETERS
from hardwood.problem import CONSTRAINTS, UNCONSTRAINED, Goal, tree_constraints
from hardwood.shifts.models import read_shift_model, without_cells
from hardwood.shifts.plain_values import plain, read_plain
from hardwood.trees.sklearn_interop import Counts
from hardwood.trees.tree import Tree

if TYPE_CHECKING:
    from hardwood.estimators.robust import RobustTreeClassifier

Classifier = TypeVar("Classifier", bound="RobustTreeClassifier")

FORMAT = "hardwood.model"
VERSION = 3
OLDEST_VERSION = 1  # that is still read
# Parameters that files of older versions do not hold.
NEWER_PARAMETERS = {"class_weight": None, "missing_values": None}
SAVED_PARAMETERS = (
    "max_depth",
    "branch_penalty",
    *CONSTRAINTS,
    "max_bins",
    "missing",
    "missing_values",
    "objective",
    "class_weight",
)


def certificate_path(model_path: str | Path) -> Path:
    """Return the path of the certificate of a model.

    Parameters
    ----------
    model_path : str or Path
        Where the model is saved, such as model.json.

    Returns
    -------
    Path
        Such as model.certificate.json.
    """
    return Path(model_path).with_suffix(".certificate.json")


def save_model(model: RobustTreeClassifier, path: str | Path) -> None:
    """Write a fitted model, and its certificate to a second file.

    Parameters
    ----------
    model : RobustTreeClassifier
        A fitted classifier with a certificate.
    path : str or Path
        Where to write the model; see `certificate_path` for the certificate.
    """
    document = format_json(_model_document(model)) + "\n"
    certificate = model.certificate_.to_json() + "\n"  # serialise both before either file is written
    write_text(path, document)
    write_text(certificate_path(path), certificate)


def load_model(classifier: type[Classifier], path: str | Path) -> Classifier:
    """Read a model, and its certificate if the file exists and is about the same tree.

    Parameters
    ----------
    classifier : type
        `RobustTreeClassifier` or a subclass.
    path : str or Path
        A file that `save_model` wrote.

    Returns
    -------
    model
        A fitted classifier; without the attribute `certificate_` if the certificate is missing or about another tree.
    """
    with open_json(path) as document:
        model = _read_model_document(classifier, document)
    certificate_file = certificate_path(path)
    if certificate_file.exists():
        certificate = Certificate.load(certificate_file)
        if certificate.tree == model.tree_:
            model.certificate_ = certificate
        else:
            message = f"{certificate_file} is about another tree than {path}; the model has no certificate"
            warnings.warn(message, stacklevel=3)
    return model


def _model_document(model: RobustTreeClassifier) -> JsonObject:
    """Return a model as values that JSON can hold; certainties and costs of single cells are left out."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "named": hasattr(model, "feature_names_in_"),
        "parameters": {name: plain(getattr(model, name)) for name in SAVED_PARAMETERS},
        "leaf_counts": model.leaf_counts_.tolist(),
        "columns": _column_records(model.tree_),
        "target": model._target_name,
        "shifts": without_cells(model.shifts_).to_dict(),
        "tree": model.tree_.to_dict(),
    }


def _read_model_document(classifier: type[Classifier], document: object) -> Classifier:
    """Build a model from the document of a file, or refuse the document."""
    if (
        not isinstance(document, dict)
        or document.get("format") != FORMAT
        or document.get("version") not in range(OLDEST_VERSION, VERSION + 1)
    ):
        raise ValueError(
            f'this is not a model; expected an object with "format": "{FORMAT}", version {OLDEST_VERSION} to {VERSION}'
        )
    parameters = _read_parameters(document)
    tree = Tree.from_dict(document.get("tree"))
    shifts = read_shift_model(document.get("shifts"))
    shift_parameters = {name: value for name, value in shifts.parameters().items() if name in SHIFT_PARAMETERS}
    model = classifier(**shift_parameters, **parameters)
    model._set_tree(tree, _read_leaf_counts(document, tree))
    if document.get("named"):
        model.feature_names_in_ = np.array([feature.name for feature in tree.features], dtype=object)
    model.shifts_ = shifts
    model.target_name_ = str(document.get("target", ""))
    return model


def _read_parameters(document: JsonObject) -> Arguments:
    """Read the parameters of the classifier from a document, with defaults for those newer than the file."""
    parameters = document.get("parameters")
    if isinstance(parameters, dict):
        parameters = UNCONSTRAINED | parameters
        if document["version"] < VERSION:
            parameters = NEWER_PARAMETERS | parameters
    if not isinstance(parameters, dict) or set(parameters) != set(SAVED_PARAMETERS):
        raise ValueError(f"parameters are {parameters!r}; expected {list(SAVED_PARAMETERS)}")
    _check_parameters(parameters)
    return {name: read_plain(value) for name, value in parameters.items()}


def _check_parameters(parameters: JsonObject) -> None:
    """Refuse parameters of a file that `fit` would refuse."""
    check_integer("max_depth", parameters["max_depth"], at_least=0)
    check_integer("max_bins", parameters["max_bins"], at_least=1)
    tree_constraints({name: parameters[name] for name in CONSTRAINTS})
    if parameters["branch_penalty"] != "auto":
        check_numbers("branch_penalty", parameters["branch_penalty"])
    for name, known in (("objective", list(Goal)), ("missing", ["error", "category"])):
        if parameters[name] not in known:
            raise ArgumentError(name, parameters[name], f"expected one of {[str(word) for word in known]}")


def _read_leaf_counts(document: JsonObject, tree: Tree) -> Counts:
    """Read the weight of the training samples by leaf and class."""
    shape = (len(tree.regions), len(tree.classes))
    try:
        counts = np.array(document.get("leaf_counts"))
    except ValueError:
        counts = np.zeros(0)
    if counts.shape != shape or counts.dtype.kind not in "if" or not (counts >= 0).all():
        raise ValueError(f"leaf_counts do not fit the tree; expected {shape[0]} rows of {shape[1]} counts")
    return counts


def _column_records(tree: Tree) -> list[JsonObject]:
    """Describe the training columns for readers of the file; `load_model` takes them from the tree instead."""
    records = []
    for feature in tree.features:
        record: JsonObject = {"name": feature.name, "kind": str(feature.kind), "missing": feature.missing}
        if feature.kind is Kind.INTEGER:
            record |= {"from": feature.low, "to": feature.high}
        elif feature.kind is Kind.BINNED:
            record |= {"bins": feature.n_values}
        else:
            record |= {"values": list(feature.categories)}
        records.append(record)
    return records
