"""The check of a certificate: everything that can be computed from the data is computed again, without a solver."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from hardwood._util.errors import ArgumentError, Verbatim
from hardwood._util.types import LabelsLike, PerColumn, TableLike, WeightsLike
from hardwood.certificate.fingerprint import data_hash, weighted_rows
from hardwood.certificate.io import SHARES
from hardwood.certificate.model import Certificate, kind_of_weights
from hardwood.certificate.text import check_text
from hardwood.data.chunks import chunked_table, encode_chunks, target_column
from hardwood.data.encode import encode
from hardwood.data.labels import Labels, encode_labels, with_class_weight, without_zero_weights
from hardwood.data.table import Table
from hardwood.data.unseen import warn_of_unseen_values
from hardwood.problem import Goal, Problem, constraint_parameters
from hardwood.trees.attack import Attack, ClassShare

STATUSES = ("optimal", "most_robust", "feasible")


@dataclass(frozen=True)
class Check:
    """The outcome of `check`. Prints as text.

    Attributes
    ----------
    certificate : Certificate
        The certificate that was checked.
    data_hash : str
        Fingerprint of the data that it was checked with.
    worst_case_correct, nominal_correct : float
        As computed from the data.
    contradictions : tuple of str
        Every claim that the data, or another claim, contradicts.
    """

    certificate: Certificate = field(repr=False)
    data_hash: str
    worst_case_correct: float
    nominal_correct: float
    contradictions: tuple[str, ...]

    @property
    def confirmed(self) -> bool:
        """Whether everything that can be computed again agrees with the certificate."""
        return not self.contradictions

    def __str__(self) -> str:
        return check_text(self)


def check(
    certificate: Certificate | str | Path,
    X: TableLike,
    y: LabelsLike,
    *,
    sample_weight: WeightsLike = None,
    missing_values: PerColumn = None,
) -> Check:
    """Compute again, from the data alone, what a certificate claims about its tree.

    Parameters
    ----------
    certificate : Certificate, str or Path
        The certificate, or the file of one.
    X : table
        The training table. It may be a chunked table (see `audit`), of which only the codes are kept.
    y : array, or str for a chunked table
        The labels, or the name of the target column.
    sample_weight : array, optional
        Sample weights, if the tree was learnt with them; rows of weight 0 are left out.
    missing_values : value, list or mapping, optional
        Missing codes, if the tree was learnt with them.

    Returns
    -------
    outcome : Check
        What was computed, and every contradiction.

    Raises
    ------
    TypeError
        If `certificate` is neither a certificate nor a path.
    ValueError
        If the data do not fit the certificate's tree, or the certificate describes an impossible problem.
    """
    if isinstance(certificate, str | Path):
        certificate = Certificate.load(certificate)
    if not isinstance(certificate, Certificate):
        raise TypeError(f"the certificate is a {type(certificate).__name__}; expected a Certificate, or a path of one")
    table, labels = _encoded(certificate, X, y, sample_weight, missing_values)
    warn_of_unseen_values(table, certificate.tree.features, stacklevel=2)
    table, labels = weighted_rows(table, labels)
    if (labels.weights is None) != (certificate.weights == "none"):
        raise ArgumentError(
            "sample_weight",
            Verbatim("given" if sample_weight is not None else "not given"),
            f"the certificate is about a table {'without' if certificate.weights == 'none' else 'with'} weights",
        )
    problem = _problem_of(certificate, table, labels)
    attack = problem.attack(certificate.tree)
    fingerprint = data_hash(table, labels)
    differences = _differences(certificate, problem, attack, fingerprint)
    contradictions = (*differences, *_inconsistencies(certificate, problem))
    return Check(certificate, fingerprint, attack.worst_case_correct, attack.nominal_correct, contradictions)


def _encoded(
    certificate: Certificate, X: TableLike, y: LabelsLike, sample_weight: WeightsLike, missing_values: PerColumn
) -> tuple[Table, Labels]:
    """Return the data, encoded with the features and classes of the certificate's tree."""
    tree = certificate.tree
    chunks = chunked_table(X)
    if chunks is not None:
        target = target_column(y, chunks, tree.features)
        return encode_chunks(chunks, tree.features, target, tree.classes, sample_weight, missing_values)
    X, y, sample_weight = without_zero_weights(X, y, sample_weight)
    table = encode(X, features=tree.features, missing_values=missing_values)
    return table, encode_labels(y, table.n_samples, classes=tree.classes, weights=sample_weight)


def _problem_of(certificate: Certificate, table: Table, labels: Labels) -> Problem:
    """Return the problem that a certificate is about."""
    try:
        labels = with_class_weight(labels, certificate.class_weight)
        uncertainty = certificate.shifts.uncertainty(table, total_weight=labels.total_weight)
        return Problem(
            labels,
            uncertainty,
            certificate.max_depth,
            certificate.branch_penalty,
            Goal(certificate.goal),
            **constraint_parameters(certificate),
        )
    except ArgumentError as error:  # an argument of the certificate, not of the caller
        raise ValueError(f"the certificate describes an impossible problem: {error}") from None


def _differences(certificate: Certificate, problem: Problem, attack: Attack, fingerprint: str) -> list[str]:
    """Return the claims that the data contradict."""
    computed: dict[str, str | float] = {
        "data_hash": fingerprint,
        "n_samples": problem.n_samples,
        "weights": kind_of_weights(problem.labels),
        "total_weight": problem.labels.total_weight,
        "total": problem.labels.total,
        "budget": problem.uncertainty.budget,
        "worst_case_correct": attack.worst_case_correct,
        "nominal_correct": attack.nominal_correct,
        "distributional_value": attack.distributional_value,
        "branching_nodes": certificate.tree.n_branching_nodes,
        "objective": problem.objective_of(attack),
    }
    differences = [
        f"{name} is {value}, the certificate says {getattr(certificate, name)}"
        for name, value in computed.items()
        if not _agrees(value, getattr(certificate, name))
    ]
    if certificate.by_class and not _same_shares(attack.by_class, certificate.by_class):
        differences.append(f"by_class is {attack.by_class}, the certificate says {certificate.by_class}")
    return differences


def _inconsistencies(certificate: Certificate, problem: Problem) -> list[str]:
    """Return claims that contradict each other, independent of the data."""
    faults = []
    if certificate.tree.depth > certificate.max_depth:
        faults.append(f"the tree has depth {certificate.tree.depth}; max_depth is {certificate.max_depth}")
    elif not problem.admits(certificate.tree):
        demanded = " and ".join(constraint.describe() for constraint in problem.constraints)
        faults.append(f"the tree is not one {demanded}")
    if not certificate.worst_case_correct <= certificate.upper_bound <= certificate.total:
        faults.append(
            f"the bound {certificate.upper_bound} does not lie between the tree's own worst case and all samples"
        )
    if not certificate.upper_bound <= certificate.any_model_bound <= certificate.total:
        faults.append(
            f"the bound {certificate.any_model_bound} for any model does not lie between that for trees and all samples"
        )
    if certificate.objective_bound < certificate.objective:
        faults.append(f"the bound {certificate.objective_bound} on the objective is below the tree's own objective")
    if certificate.status not in STATUSES:
        faults.append(f'the status is "{certificate.status}"; expected one of {list(STATUSES)}')
    if certificate.upper_bound > max(certificate.worst_case_correct, problem.max_correct(certificate.objective_bound)):
        faults.append("the bound on correct samples is larger than what the bound on the objective allows")
    proved = certificate.objective_bound <= certificate.objective + problem.resolution
    if (certificate.status == "optimal") != proved:
        faults.append(f'the status is "{certificate.status}", which the bound on the objective does not imply')
    if certificate.status == "most_robust" and certificate.upper_bound != certificate.worst_case_correct:
        faults.append('the status is "most_robust", but the bound allows more samples to be correct')
    return faults


def _agrees(computed: str | float, claimed: str | float) -> bool:
    """Return whether integers and texts are equal; logarithms may differ in the last digit between machines."""
    if isinstance(computed, float):
        return not isinstance(claimed, str) and math.isclose(computed, claimed, rel_tol=1e-12)
    return computed == claimed


def _same_shares(computed: tuple[ClassShare, ...], claimed: tuple[ClassShare, ...]) -> bool:
    return len(computed) == len(claimed) and all(
        one.label == other.label and all(_agrees(getattr(one, name), getattr(other, name)) for name in SHARES)
        for one, other in zip(computed, claimed, strict=True)
    )
