"""What is claimed about a tree, in a form that others can check.

A certificate holds the tree, the shifts it is proof against, and two kinds of claims:

* about this tree: how many samples it keeps correct after the worst shift. `check` computes this again from the data,
  with the adversary alone; no engine is asked.
* about all other trees: that none is better than the bound. This is the engine's claim, and only as good as the engine;
  solve the problem again, or with another engine, to have it confirmed.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from hardwood._files import json_text, parsed_json, read_json, write_text
from hardwood.adversary import attack
from hardwood.features import Labels, Table, encode, encode_labels
from hardwood.problem import Problem
from hardwood.shifts import ShiftDescription
from hardwood.tree import Tree

FORMAT = "hardwood.certificate"
VERSION = 1
STATUSES = ("optimal", "most_robust", "feasible")
WORDS, WHOLE, NUMBER = (str,), (int,), (int, float)
CLAIMS: dict[str, tuple[type, ...]] = {
    "status": WORDS,
    "stop_reason": WORDS,
    "n_samples": WHOLE,
    "worst_case_correct": WHOLE,
    "nominal_correct": WHOLE,
    "upper_bound": WHOLE,
    "branching_nodes": WHOLE,
    "objective": NUMBER,
    "objective_bound": NUMBER,
    "max_depth": WHOLE,
    "branch_penalty": NUMBER,
    "budget": NUMBER,
    "seconds": NUMBER,
    "solver": WORDS,
    "version": WORDS,
    "data_hash": WORDS,
}


class Claim(Protocol):
    """What an engine says; `solvers.base.Result` is one."""

    @property
    def status(self) -> str: ...  # noqa: D102
    @property
    def stop_reason(self) -> str: ...  # noqa: D102
    @property
    def tree(self) -> Tree: ...  # noqa: D102
    @property
    def objective_bound(self) -> float: ...  # noqa: D102
    @property
    def upper_bound(self) -> int: ...  # noqa: D102
    @property
    def seconds(self) -> float: ...  # noqa: D102
    @property
    def solver(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Certificate:
    """A tree and what is claimed about it.

    status              "optimal": no tree has a larger objective (and if the gap is 0, none is more robust and none as
                        robust is smaller); "most_robust": no tree keeps more samples correct; "feasible": none keeps
                        more than the bound
    worst_case_correct  samples that the tree classifies correctly after the worst shift within the budget
    upper_bound         no tree up to this depth keeps more samples correct
    objective           worst_case_correct - branch_penalty * branching_nodes; no tree exceeds `objective_bound`
    data_hash           fingerprint of the table and labels that all this is about
    """

    tree: Tree = field(repr=False)
    shifts: ShiftDescription = field(repr=False)
    status: str
    stop_reason: str
    n_samples: int
    worst_case_correct: int
    nominal_correct: int
    upper_bound: int
    branching_nodes: int
    objective: float
    objective_bound: float
    max_depth: int
    branch_penalty: float
    budget: float
    seconds: float
    solver: str
    version: str
    data_hash: str

    @property
    def worst_case_accuracy(self) -> float:
        """Share of samples that are correct after the worst shift."""
        return self.worst_case_correct / self.n_samples

    @property
    def nominal_accuracy(self) -> float:
        """Share of samples that are correct as they stand."""
        return self.nominal_correct / self.n_samples

    @property
    def gap(self) -> float:
        """(upper_bound - worst_case_correct) / n_samples; 0: the accuracy is proved to be the best."""
        return (self.upper_bound - self.worst_case_correct) / self.n_samples

    @classmethod
    def of(cls, problem: Problem, shifts: ShiftDescription, claim: Claim, version: str) -> Certificate:
        """Put on record what an engine says of its tree; whatever can be computed without it, is."""
        found = attack(claim.tree, problem.labels, problem.uncertainty)
        tests = claim.tree.n_branching_nodes
        return cls(
            tree=claim.tree,
            shifts=shifts,
            status=str(claim.status),
            stop_reason=str(claim.stop_reason),
            n_samples=problem.n_samples,
            worst_case_correct=found.worst_case_correct,
            nominal_correct=found.nominal_correct,
            upper_bound=claim.upper_bound,
            branching_nodes=tests,
            objective=problem.objective(found.worst_case_correct, tests),
            objective_bound=claim.objective_bound,
            max_depth=problem.max_depth,
            branch_penalty=problem.penalty,
            budget=problem.uncertainty.budget,
            seconds=claim.seconds,
            solver=claim.solver,
            version=version,
            data_hash=data_hash(problem.table, problem.labels),
        )

    def to_json(self) -> str:
        """The certificate as text that `from_json` reads back."""
        document = {"format": FORMAT, "format_version": VERSION}
        document |= {name: getattr(self, name) for name in CLAIMS}
        document |= {"shifts": self.shifts.to_dict(), "tree": self.tree.to_dict()}
        return json_text(document)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read a certificate; whatever is not one gets an error that says where."""
        return cls._from_document(parsed_json(text))

    @classmethod
    def _from_document(cls, document: Any) -> Certificate:
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f'the text is not a certificate; expected an object with "format": "{FORMAT}"')
        if document.get("format_version") != VERSION:
            raise ValueError(
                f"the certificate has version {document.get('format_version')!r}; this hardwood reads {VERSION}"
            )
        claims = {name: _claim(document, name) for name in CLAIMS}
        if claims["n_samples"] < 1:
            raise ValueError(f"the certificate has n_samples {claims['n_samples']}; expected at least 1")
        shifts = ShiftDescription.from_dict(document.get("shifts"))
        return cls(tree=Tree.from_dict(document.get("tree")), shifts=shifts, **claims)

    def save(self, path: str | Path) -> None:
        """Write the certificate to a file."""
        write_text(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Certificate:
        """Read a file that `save` wrote."""
        return cls._from_document(read_json(path))

    def __str__(self) -> str:
        return (
            f"{self.worst_case_correct} of {self.n_samples} samples ({self.worst_case_accuracy:.1%}) stay correct "
            f"under the worst shift with budget {self.budget:.4g}; {self.nominal_accuracy:.1%} without a shift\n"
            f"{self.branching_nodes} tests, depth at most {self.max_depth}; {self._proved}\n"
            f"shifts: {self.shifts}\n"
            f"{self.solver}, {self.seconds:.2f} s, hardwood {self.version}, data {self.data_hash[:12]}"
        )

    @property
    def _proved(self) -> str:
        if self.status == "optimal" and self.gap == 0:
            return "proved optimal: no tree is more robust, none as robust is smaller"
        if self.status == "optimal":
            return f"proved optimal for a penalty of {self.branch_penalty:g} for each test; others may be more robust"
        if self.status == "most_robust":
            return "proved most robust; a smaller tree that is as robust may exist"
        return f"at most {self.upper_bound} are possible (gap {self.gap:.1%})"


@dataclass(frozen=True)
class Check:
    """The outcome of `check`: what the data say now, and every point at which the certificate says otherwise."""

    certificate: Certificate = field(repr=False)
    data_hash: str
    worst_case_correct: int
    nominal_correct: int
    contradictions: tuple[str, ...]

    @property
    def confirmed(self) -> bool:
        """Whether everything that can be computed again came out as the certificate says."""
        return not self.contradictions

    def __str__(self) -> str:
        claimed = self.certificate
        n = claimed.n_samples
        if not self.confirmed:
            return "NOT CONFIRMED\n" + "\n".join(f"* {contradiction}" for contradiction in self.contradictions)
        return (
            f"CONFIRMED from the data alone: this tree keeps {self.worst_case_correct} of {n} samples correct "
            f"({self.worst_case_correct / n:.1%}) under every shift within the budget {claimed.budget:.4g}, "
            f"and {self.nominal_correct} without a shift.\n"
            f"The shifts: {claimed.shifts}.\n"
            f"CLAIMED by the engine ({claimed.solver}, {claimed.status}), not proved again here: no tree of depth "
            f"{claimed.max_depth} keeps more than {claimed.upper_bound} correct."
        )


def check(certificate: Certificate | str | Path, X: Any, y: Any) -> Check:
    """Compute again, from the data alone, what a certificate (or the file of one) says about its tree."""
    if isinstance(certificate, str | Path):
        certificate = Certificate.load(certificate)
    if not isinstance(certificate, Certificate):
        raise TypeError(f"the certificate is a {type(certificate).__name__}; expected a Certificate, or a path of one")
    tree = certificate.tree
    table = encode(X, features=tree.features)
    labels = encode_labels(y, table.n_samples, classes=tree.classes)
    found = attack(tree, labels, certificate.shifts.uncertainty(table))
    problem = Problem(labels, found.uncertainty, certificate.max_depth, certificate.branch_penalty)
    fingerprint = data_hash(table, labels)
    now = {
        "data_hash": fingerprint,
        "n_samples": table.n_samples,
        "budget": found.uncertainty.budget,
        "worst_case_correct": found.worst_case_correct,
        "nominal_correct": found.nominal_correct,
        "branching_nodes": tree.n_branching_nodes,
        "objective": problem.objective(found.worst_case_correct, tree.n_branching_nodes),
    }
    contradictions = [
        f"{name} is {value}, the certificate says {getattr(certificate, name)}"
        for name, value in now.items()
        if value != getattr(certificate, name)
        # A logarithm may differ in its last digit between machines.
        and not (name == "budget" and math.isclose(found.uncertainty.budget, certificate.budget, rel_tol=1e-12))
    ]
    contradictions += _impossible(certificate, problem)
    return Check(certificate, fingerprint, found.worst_case_correct, found.nominal_correct, tuple(contradictions))


def _impossible(certificate: Certificate, problem: Problem) -> list[str]:
    """Claims that contradict each other, whatever the data."""
    found = []
    if certificate.tree.depth > certificate.max_depth:
        found.append(f"the tree has depth {certificate.tree.depth}, allowed are {certificate.max_depth}")
    if not certificate.worst_case_correct <= certificate.upper_bound <= certificate.n_samples:
        found.append(
            f"the bound {certificate.upper_bound} does not lie between the tree's own worst case and all samples"
        )
    if certificate.objective_bound < certificate.objective - problem.tolerance:
        found.append(f"the bound {certificate.objective_bound} on the objective is below the tree's own objective")
    if certificate.status not in STATUSES:
        found.append(f'the status is "{certificate.status}"; expected one of {list(STATUSES)}')
    if certificate.upper_bound > max(certificate.worst_case_correct, problem.most_correct(certificate.objective_bound)):
        found.append("the bound on correct samples is larger than what the bound on the objective allows")
    proved = certificate.objective_bound <= certificate.objective + problem.tolerance
    if (certificate.status == "optimal") != proved:
        found.append(f'the status is "{certificate.status}", which the bound on the objective does not say')
    if certificate.status == "most_robust" and certificate.upper_bound != certificate.worst_case_correct:
        found.append('the status is "most_robust", but the bound allows more samples to be correct')
    return found


def is_about(certificate: Certificate | None, table: Table, labels: Labels) -> bool:
    """Whether there is a certificate, and it is about this table."""
    return certificate is not None and certificate.data_hash == data_hash(table, labels)


def data_hash(table: Table, labels: Labels) -> str:
    """A fingerprint of a table and its labels: names, kinds, categories, and every value."""
    digest = hashlib.sha256()
    meaning = [[f.name, str(f.kind), list(f.categories), list(f.edges)] for f in table.features]
    digest.update(json.dumps([meaning, list(labels.classes), table.n_samples]).encode())
    digest.update(table.values.astype("<i4").tobytes(order="C"))
    digest.update(labels.codes.astype("<i4").tobytes())
    return digest.hexdigest()


def _claim(document: dict[str, Any], name: str) -> Any:
    value = document.get(name)
    if not isinstance(value, CLAIMS[name]) or isinstance(value, bool):
        expected = {WORDS: "text", WHOLE: "a whole number", NUMBER: "a number"}[CLAIMS[name]]
        raise ValueError(f"the certificate has {name} {value!r}; expected {expected}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"the certificate has {name} {value!r}; expected a finite number")
    return value
