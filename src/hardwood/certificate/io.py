"""Certificates as JSON: writing, reading of all versions, and validation.

Version 2 had no weights, version 3 no leaf sizes; up to version 4, "total_weight" was called "people".
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from hardwood._util.errors import short_repr
from hardwood._util.files import format_json, open_json, parse_json, prefix_errors
from hardwood._util.types import JsonObject
from hardwood.problem import UNCONSTRAINED, Goal, constraint_parameters, tree_constraints
from hardwood.shifts.models import read_shift_model
from hardwood.shifts.plain_values import plain, read_plain
from hardwood.trees.attack import ClassShare
from hardwood.trees.tree import Tree

if TYPE_CHECKING:
    from hardwood.certificate.model import Certificate

FORMAT = "hardwood.certificate"
VERSION = 5
OLDEST_VERSION = 2  # that is still read
WEIGHTS = ("none", "whole", "real")
SHARES = ("weight", "nominal", "worst_case", "guaranteed")
MAX_COUNT, MAX_NUMBER = 2**53, 1e300  # no computation gives larger numbers
_TEXT, _INTEGER, _NUMBER = (str,), (int,), (int, float)
_CLAIMS: dict[str, tuple[type, ...]] = {
    "goal": _TEXT,
    "status": _TEXT,
    "stop_reason": _TEXT,
    "n_samples": _INTEGER,
    "weights": _TEXT,
    "total_weight": _NUMBER,
    "total": _NUMBER,
    "worst_case_correct": _NUMBER,
    "nominal_correct": _NUMBER,
    "distributional_value": _NUMBER,
    "upper_bound": _NUMBER,
    "any_model_bound": _NUMBER,
    "branching_nodes": _INTEGER,
    "objective": _NUMBER,
    "objective_bound": _NUMBER,
    "max_depth": _INTEGER,
    "branch_penalty": _NUMBER,
    "budget": _NUMBER,
    "seconds": _NUMBER,
    "solver": _TEXT,
    "version": _TEXT,
    "data_hash": _TEXT,
}
_ENTRIES = {"format", "format_version", *_CLAIMS, *UNCONSTRAINED, "class_weight", "by_class", "shifts", "tree"}


def text_of(certificate: Certificate) -> str:
    """Return the certificate as JSON."""
    document: JsonObject = {"format": FORMAT, "format_version": VERSION}
    document |= {name: getattr(certificate, name) for name in _CLAIMS} | constraint_parameters(certificate)
    document["class_weight"] = plain(certificate.class_weight)
    document["by_class"] = [asdict(share) for share in certificate.by_class]
    document |= {"shifts": certificate.shifts.to_dict(), "tree": certificate.tree.to_dict()}
    return format_json(document)


def fields_from_text(text: str) -> JsonObject:
    """Return the fields of a certificate in JSON; raise an error that names the first fault."""
    with prefix_errors("the text"):
        return _fields_of(parse_json(text))


def fields_from_file(path: str | Path) -> JsonObject:
    """Return the fields of a certificate in a file; errors name the file."""
    with open_json(path) as document:
        return _fields_of(document)


def _fields_of(document: object) -> JsonObject:
    """Return the fields of a parsed certificate of any version."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f'the text is not a certificate; expected an object with "format": "{FORMAT}"')
    document = _upgraded(document)
    if document.get("format_version") != VERSION:
        raise ValueError(
            f"the certificate has version {document.get('format_version')!r}; this hardwood reads {OLDEST_VERSION} "
            f"to {VERSION}"
        )
    unknown = sorted(set(document) - _ENTRIES)
    if unknown:
        raise ValueError(
            f"the certificate has the entry {short_repr(unknown[0])}, which this hardwood does not know; it may limit "
            "what is claimed"
        )
    claims = {name: _claim(document, name) for name in _CLAIMS}
    _check_claims(claims)
    shifts = read_shift_model(document.get("shifts"))
    tree = Tree.from_dict(document.get("tree"))
    return {
        **claims,
        **_constraints(document),
        "tree": tree,
        "shifts": shifts,
        "class_weight": read_plain(document.get("class_weight")),
        "by_class": _class_shares(document, tree),
    }


def _constraints(document: JsonObject) -> JsonObject:
    """Return the parameters of all constraints; files that are older than a constraint do not have it."""
    parameters = {name: document.get(name, value) for name, value in UNCONSTRAINED.items()}
    with prefix_errors("the certificate"):
        tree_constraints(parameters)
    return parameters


def _upgraded(document: JsonObject) -> JsonObject:
    """Return a certificate in the current format."""
    version = document.get("format_version")
    if version not in (2, 3, 4):
        return document
    n_samples = document.get("n_samples")
    added: JsonObject = {}
    if version == 2:
        added |= {"weights": "none", "total_weight": n_samples, "total": n_samples}
        added |= {"class_weight": None, "by_class": []}
    else:
        shares = document.get("by_class")
        if isinstance(shares, list) and all(isinstance(share, dict) for share in shares):
            added["by_class"] = [{("weight" if k == "people" else k): v for k, v in share.items()} for share in shares]
        added["total_weight"] = document.get("people")
    return {k: v for k, v in document.items() if k != "people"} | added | {"format_version": VERSION}


def _claim(document: JsonObject, name: str) -> str | float:
    """Return one claim after checking its type and size."""
    value = document.get(name)
    kind = _CLAIMS[name]
    if not isinstance(value, str | int | float) or isinstance(value, bool) or not isinstance(value, kind):
        expected = {_TEXT: "text", _INTEGER: "a whole number", _NUMBER: "a number"}[kind]
        raise ValueError(f"the certificate has {name} {short_repr(value)}; expected {expected}")
    limit = MAX_COUNT if kind == _INTEGER else MAX_NUMBER
    if not isinstance(value, str) and not abs(value) <= limit:
        raise ValueError(f"the certificate has {name} {short_repr(value)}; expected a number up to {limit:g}")
    return value


def _check_claims(claims: JsonObject) -> None:
    """Raise if a claim has a value that no certificate can have."""
    if claims["goal"] not in list(Goal):
        raise ValueError(f"the certificate has goal {claims['goal']!r}; expected one of {[str(g) for g in Goal]}")
    if claims["weights"] not in WEIGHTS:
        raise ValueError(f"the certificate has weights {claims['weights']!r}; expected one of {list(WEIGHTS)}")
    if claims["n_samples"] < 1:
        raise ValueError(f"the certificate has n_samples {claims['n_samples']}; expected at least 1")
    for name in ("total_weight", "total"):
        if not claims[name] > 0:
            raise ValueError(f"the certificate has {name} {claims[name]}; expected > 0")


def _class_shares(document: JsonObject, tree: Tree) -> tuple[ClassShare, ...]:
    """Return the entries of "by_class"."""
    entries = document.get("by_class")
    if not isinstance(entries, list) or not all(_is_class_share(entry, tree) for entry in entries):
        raise ValueError(
            f"the certificate has by_class {short_repr(entries)}; expected a list of objects with label, "
            f"{', '.join(SHARES)}"
        )
    return tuple(ClassShare(**entry) for entry in entries)


def _is_class_share(entry: object, tree: Tree) -> bool:
    if not isinstance(entry, dict) or set(entry) != {"label", *SHARES}:
        return False
    return entry["label"] in tree.classes and all(isinstance(entry[name], int | float) for name in SHARES)
