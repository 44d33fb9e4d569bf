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
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from hardwood._support.errors import ArgumentError, Said, shortened
from hardwood._support.files import json_text, making, parsed_json, reading, write_text
from hardwood._support.notebook import InNotebook
from hardwood._support.text import shown
from hardwood.data.features import Table, encode
from hardwood.data.labels import Labels, encode_labels, with_weight, with_worth
from hardwood.data.pieces import encode_pieces, pieces_of, target_of
from hardwood.data.strangers import warn_of_strangers
from hardwood.problem import Goal, Problem
from hardwood.shift.description import ShiftDescription, plain, read_plain
from hardwood.trees.adversary import ClassShare, attack
from hardwood.trees.tree import Tree

FORMAT = "hardwood.certificate"
VERSION = 4
OLDEST_VERSION = 2  # that is still read
STATUSES = ("optimal", "most_robust", "feasible")
WORDS, WHOLE, NUMBER = (str,), (int,), (int, float)
WEIGHTS = ("none", "whole", "real")
LARGEST_COUNT, LARGEST_NUMBER = 2**53, 1e300  # whatever is larger was not computed
CLAIMS: dict[str, tuple[type, ...]] = {
    "goal": WORDS,
    "status": WORDS,
    "stop_reason": WORDS,
    "n_samples": WHOLE,
    "weights": WORDS,
    "people": NUMBER,
    "total": NUMBER,
    "worst_case_correct": NUMBER,
    "nominal_correct": NUMBER,
    "distributional_value": NUMBER,
    "upper_bound": NUMBER,
    "any_model_bound": NUMBER,
    "branching_nodes": WHOLE,
    "objective": NUMBER,
    "objective_bound": NUMBER,
    "max_depth": WHOLE,
    "branch_penalty": NUMBER,
    "min_samples_leaf": WHOLE,
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
    def upper_bound(self) -> float: ...  # noqa: D102
    @property
    def any_model_bound(self) -> float: ...  # noqa: D102
    @property
    def seconds(self) -> float: ...  # noqa: D102
    @property
    def solver(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Certificate(InNotebook):
    """A tree and what is claimed about it.

    goal                  what was maximised, see `Goal`
    weights               "none": every row is one person. "whole": rows stand for whole numbers of people, who are
                          counted one by one. "real": rows stand for any number of them, and the last row may be lost in
                          part.
    people, total         how many people the rows stand for, and what these are worth together (as many, if each is
                          worth one). All numbers of samples below are of this `total`.
    class_weight          what a class is worth: None, "balanced", or a mapping; with it, the last row may be lost in
                          part, too
    by_class              shares of the people of each class who are correct, see `ClassShare`
    status                "optimal": no tree has a larger objective. If the gap is 0, none is more robust; and if
                          branch_penalty is not 0, none that is as robust is smaller. "most_robust": no tree keeps more
                          samples correct. "feasible": none keeps more than the bound.
    worst_case_correct    samples that the tree classifies correctly after the worst shift within the budget
    distributional_value  the same if the adversary may lose the last sample in part in any case
    upper_bound           no tree up to this depth keeps more samples correct
    min_samples_leaf      so many samples stand in every leaf; all that is said about other trees is about such trees
    any_model_bound       no classifier of any kind keeps more samples correct under these shifts (docs/theory.md); all
                          samples if the engine does not know
    objective             what the goal counts, less branch_penalty for each branching node; no tree exceeds
                          `objective_bound`. Where the last sample may be lost in part, "optimal" means that the two
                          differ by less than `Problem.resolution`: about a hundredth of a sample for the goal
                          "distributional", five eighths of what a row is worth on the average for weights and worth.
    data_hash             fingerprint of the table and labels that all this is about
    """

    tree: Tree = field(repr=False)
    shifts: ShiftDescription = field(repr=False)
    goal: str
    status: str
    stop_reason: str
    n_samples: int
    weights: str
    people: float
    total: float
    worst_case_correct: float
    nominal_correct: float
    distributional_value: float
    upper_bound: float
    any_model_bound: float
    branching_nodes: int
    objective: float
    objective_bound: float
    max_depth: int
    branch_penalty: float
    min_samples_leaf: int
    budget: float
    seconds: float
    solver: str
    version: str
    data_hash: str
    class_weight: Any = None
    by_class: tuple[ClassShare, ...] = field(default=(), repr=False)

    @property
    def worst_case_accuracy(self) -> float:
        """Share of samples that are correct after the worst shift."""
        return self.worst_case_correct / self.total

    @property
    def nominal_accuracy(self) -> float:
        """Share of samples that are correct as they stand."""
        return self.nominal_correct / self.total

    @property
    def gap(self) -> float:
        """(upper_bound - worst_case_correct) / total; 0: the accuracy is proved to be the best."""
        return (self.upper_bound - self.worst_case_correct) / self.total

    @property
    def counted(self) -> bool:
        """Whether people are counted one by one; otherwise the last row may be lost in part."""
        return self.weights != "real" and self.class_weight is None

    @property
    def measure(self) -> str:
        """What the shares are called."""
        if self.class_weight is None:
            return "accuracy" if self.weights == "none" else "weighted accuracy"
        return "balanced accuracy" if self.class_weight == "balanced" else "accuracy by worth"

    @classmethod
    def of(
        cls, problem: Problem, shifts: ShiftDescription, claim: Claim, version: str, class_weight: Any = None
    ) -> Certificate:
        """Put on record what an engine says of its tree; whatever can be computed without it, is."""
        found = problem.judged(claim.tree)
        return cls(
            tree=claim.tree,
            shifts=shifts,
            goal=str(problem.goal),
            status=str(claim.status),
            stop_reason=str(claim.stop_reason),
            n_samples=problem.n_samples,
            weights=_kind_of_weights(problem.labels),
            people=problem.labels.people,
            total=problem.total,
            worst_case_correct=found.worst_case_correct,
            nominal_correct=found.nominal_correct,
            distributional_value=found.priced_value,
            upper_bound=claim.upper_bound,
            any_model_bound=claim.any_model_bound,
            branching_nodes=claim.tree.n_branching_nodes,
            objective=problem.objective_of(found),
            objective_bound=claim.objective_bound,
            max_depth=problem.max_depth,
            branch_penalty=problem.penalty,
            min_samples_leaf=problem.min_samples_leaf,
            budget=problem.uncertainty.budget,
            seconds=claim.seconds,
            solver=claim.solver,
            version=version,
            data_hash=data_hash(problem.table, problem.labels),
            class_weight=_said_worth(problem.labels, class_weight),
            by_class=found.by_class,
        )

    def to_json(self) -> str:
        """The certificate as text that `from_json` reads back."""
        document = {"format": FORMAT, "format_version": VERSION}
        document |= {name: getattr(self, name) for name in CLAIMS}
        document |= {"class_weight": plain(self.class_weight), "by_class": [asdict(own) for own in self.by_class]}
        document |= {"shifts": self.shifts.to_dict(), "tree": self.tree.to_dict()}
        return json_text(document)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read a certificate; whatever is not one gets an error that says where."""
        with making("the text"):
            return cls._from_document(parsed_json(text))

    @classmethod
    def _from_document(cls, document: Any) -> Certificate:
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f'the text is not a certificate; expected an object with "format": "{FORMAT}"')
        document = _newer(document)
        if document.get("format_version") != VERSION:
            raise ValueError(
                f"the certificate has version {document.get('format_version')!r}; this hardwood reads {OLDEST_VERSION} "
                f"to {VERSION}"
            )
        claims = {name: _claim(document, name) for name in CLAIMS}
        if claims["goal"] not in list(Goal):
            raise ValueError(f"the certificate has goal {claims['goal']!r}; expected one of {[str(g) for g in Goal]}")
        if claims["weights"] not in WEIGHTS:
            raise ValueError(f"the certificate has weights {claims['weights']!r}; expected one of {list(WEIGHTS)}")
        if claims["min_samples_leaf"] < 0:
            raise ValueError(f"the certificate has min_samples_leaf {claims['min_samples_leaf']}; expected 0 or more")
        for name, least in (("n_samples", 1), ("people", 0.0), ("total", 0.0)):
            if not claims[name] >= least or claims[name] == 0:
                raise ValueError(
                    f"the certificate has {name} {claims[name]}; expected {'at least 1' if least else '> 0'}"
                )
        shifts = ShiftDescription.from_dict(document.get("shifts"))
        tree = Tree.from_dict(document.get("tree"))
        worth = read_plain(document.get("class_weight"))
        return cls(tree=tree, shifts=shifts, class_weight=worth, by_class=_shares(document, tree), **claims)

    def save(self, path: str | Path) -> None:
        """Write the certificate to a file."""
        write_text(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Certificate:
        """Read a file that `save` wrote."""
        with reading(path) as document:
            return cls._from_document(document)

    def __str__(self) -> str:
        return (
            f"{self.said_of_the_worst_case}; {self.nominal_accuracy:.1%} without a shift\n"
            f"{self.said_of_classes}"
            f"{self.branching_nodes} tests, depth at most {self.max_depth}; {self.proved}\n"
            f"{self.said_of_stopping}"
            f"{self.limit_of_any_model}"
            f"shifts: {self.shifts}\n"
            f"{shown(self.solver)}, {self.seconds:.2f} s, hardwood {shown(self.version)}, "
            f"data {shown(self.data_hash[:12])}"
        )

    @property
    def said_of_the_worst_case(self) -> str:
        """What stays correct, in words."""
        shift = f"under the worst shift with budget {self.budget:.4g}"
        if not self.counted:
            return f"{self.measure} stays at {self.worst_case_accuracy:.1%} {shift}"
        who = "samples" if self.weights == "none" else "people"
        return (
            f"{self.worst_case_correct:,} of {self.total:,} {who} ({self.worst_case_accuracy:.1%}) stay correct {shift}"
        )

    @property
    def said_of_classes(self) -> str:
        """Who is counted and what becomes of each class, one line each, where that is not plain; otherwise nothing."""
        in_part = (
            f"{self.n_samples} rows that stand for {self.people:.6g} people; the last row that is lost counts in part\n"
        )
        if self.class_weight is None:
            return "" if self.counted else in_part
        lines = [in_part] + [
            f"{class_words(own, self.by_class)}: {own.worst_case:.1%} stay correct then, "
            f"{own.guaranteed:.1%} at least whatever the shift; {own.nominal:.1%} without one\n"
            for own in self.by_class
        ]
        return "".join(lines)

    @property
    def proved(self) -> str:
        """What is proved about all trees of the depth, in words."""
        if self.goal == Goal.DISTRIBUTIONAL:
            return self._proved_distributional
        if not self.counted:
            return self._proved_in_part
        tree = f"no tree{self.of_such_leaves}"
        if self.status == "optimal" and self.gap > 0:
            costs = f"a penalty of {self.branch_penalty:g} for each test"
            return f"proved optimal{self.of_such_leaves} for {costs}; others may be more robust"
        if self.status == "optimal" and self.branch_penalty == 0:
            return f"proved optimal: {tree} is more robust (tests cost nothing: a smaller one as robust may exist)"
        if self.status == "optimal":
            return f"proved optimal: {tree} is more robust, none as robust is smaller"
        if self.status == "most_robust":
            return f"proved most robust{self.of_such_leaves}; a smaller tree that is as robust may exist"
        return f"at most {self.upper_bound:,} are possible{self.of_such_leaves} (gap {self.gap:.1%})"

    @property
    def of_such_leaves(self) -> str:
        """Which trees the claims are about, beyond their depth, in words."""
        return f" with at least {self.min_samples_leaf} rows in each leaf" if self.min_samples_leaf else ""

    @property
    def said_of_stopping(self) -> str:
        """That the search was not done, and what would help, as a line; nothing if it was."""
        why = {
            "time_limit": f"stopped after {self.seconds:.3g} s; a longer time limit",
            "memory_limit": "stopped at the memory limit; a larger one",
            "work_limit": "stopped at the limit on work; a larger one",
            "interrupted": f"interrupted after {self.seconds:.3g} s; more time",
        }.get(self.stop_reason)
        if why is None or self.status == "optimal":
            return ""
        return f"{why}, fewer levels, fewer columns or fewer thresholds (binned columns) would bring more\n"

    @property
    def limit_of_any_model(self) -> str:
        """What no model of any kind can exceed, as a line; nothing if that is not known."""
        if self.any_model_bound >= self.total:
            return ""
        share = self.any_model_bound / self.total
        most = f"{self.any_model_bound:,} ({share:.1%})" if self.counted else f"{share:.1%}"
        return f"no model of any kind keeps more than {most} under these shifts\n"

    @property
    def _proved_in_part(self) -> str:
        costly = self.branch_penalty * min(2.0**self.max_depth, 1e9) > self.total / self.n_samples
        less = f", less {self.branch_penalty:.3g} for each test" if costly else ""
        most = f"no tree{self.of_such_leaves} keeps more than {self.upper_bound / self.total:.2%}"
        within = max(self.objective_bound - self.objective, 0.0) / self.total
        return f"proved optimal to within {100 * within:.2g}%{less}: {most}" if self.status == "optimal" else most

    @property
    def _proved_distributional(self) -> str:
        less = f" less {self.branch_penalty:.3g} for each test" if self.branch_penalty else ""
        words = f"the distributional value {self.distributional_value:.2f}{less} is"
        if self.status == "optimal":
            words += f" proved to be the largest{self.of_such_leaves}, to within "
            words += f"{max(self.objective_bound - self.objective, 0.0):.2g}"
        else:
            words += f" {self.objective:.2f}, no tree{self.of_such_leaves} has more than {self.objective_bound:.2f}"
        return f"{words}; at most {self.upper_bound} samples can stay correct"


@dataclass(frozen=True)
class Check:
    """The outcome of `check`: what the data say now, and every point at which the certificate says otherwise."""

    certificate: Certificate = field(repr=False)
    data_hash: str
    worst_case_correct: float
    nominal_correct: float
    contradictions: tuple[str, ...]

    @property
    def confirmed(self) -> bool:
        """Whether everything that can be computed again came out as the certificate says."""
        return not self.contradictions

    def __str__(self) -> str:
        claimed = self.certificate
        n = claimed.total
        if not self.confirmed:
            return "NOT CONFIRMED\n" + "\n".join(f"* {shown(contradiction)}" for contradiction in self.contradictions)
        kept, nominal, most = self.worst_case_correct, self.nominal_correct, claimed.upper_bound
        if claimed.counted:
            who = "samples" if claimed.weights == "none" else "people"
            keeps, without = f"{kept:,} of {n:,} {who} correct ({kept / n:.1%})", f"{nominal:,}"
            most_said = f"{most:,} correct"
        else:
            keeps, without = f"a {claimed.measure} of {kept / n:.1%}", f"{nominal / n:.1%}"
            most_said = f"{most / n:.2%}"
        return (
            f"CONFIRMED from the data alone: this tree keeps {keeps} under every shift within the budget "
            f"{claimed.budget:.4g}, and {without} without a shift.\n"
            f"The shifts: {claimed.shifts}.\n"
            f"CLAIMED by the engine ({shown(claimed.solver)}, {shown(claimed.status)}), not proved again here: no tree "
            f"of depth {claimed.max_depth}{claimed.of_such_leaves} keeps more than {most_said}; {claimed.proved}."
        )


def check(
    certificate: Certificate | str | Path, X: Any, y: Any, *, sample_weight: Any = None, missing_values: Any = None
) -> Check:
    """Compute again, from the data alone, what a certificate (or the file of one) says about its tree.

    X may come in pieces, with y the name of its target column (see `audit`): of each piece only the codes are kept.

    sample_weight   how many people each row stands for, if the tree was learnt so; rows of weight 0 count for nothing
    missing_values  answers that mean that there is none, if the tree was learnt so
    """
    if isinstance(certificate, str | Path):
        certificate = Certificate.load(certificate)
    if not isinstance(certificate, Certificate):
        raise TypeError(f"the certificate is a {type(certificate).__name__}; expected a Certificate, or a path of one")
    tree = certificate.tree
    pieces = pieces_of(X)
    if pieces is None:
        X, y, sample_weight = with_weight(X, y, sample_weight)
        table = encode(X, features=tree.features, missing_values=missing_values)
        labels = encode_labels(y, table.n_samples, classes=tree.classes, weights=sample_weight)
    else:
        target = target_of(y, pieces, tree.features)
        table, labels = encode_pieces(pieces, tree.features, target, tree.classes, sample_weight)
    warn_of_strangers(table, tree.features, stacklevel=2)
    table, labels = _with_weight(table, labels)
    if (labels.weights is None) != (certificate.weights == "none"):
        raise ArgumentError(
            "sample_weight",
            Said("given" if sample_weight is not None else "not given"),
            f"the certificate is about a table {'without' if certificate.weights == 'none' else 'with'} weights",
        )
    try:
        labels = with_worth(labels, certificate.class_weight)
        uncertainty = certificate.shifts.uncertainty(table, people=labels.people)
        problem = Problem(
            labels,
            uncertainty,
            certificate.max_depth,
            certificate.branch_penalty,
            Goal(certificate.goal),
            certificate.min_samples_leaf,
        )
    except ArgumentError as error:  # the certificate's words, not the caller's
        raise ValueError(f"the certificate says what cannot be: {error}") from None
    found = attack(tree, labels, uncertainty)
    fingerprint = data_hash(table, labels)
    now = {
        "data_hash": fingerprint,
        "n_samples": table.n_samples,
        "weights": _kind_of_weights(labels),
        "people": labels.people,
        "total": labels.total,
        "budget": found.uncertainty.budget,
        "worst_case_correct": found.worst_case_correct,
        "nominal_correct": found.nominal_correct,
        "distributional_value": found.priced_value,
        "branching_nodes": tree.n_branching_nodes,
        "objective": problem.objective_of(found),
    }
    contradictions = [
        f"{name} is {value}, the certificate says {getattr(certificate, name)}"
        for name, value in now.items()
        if not _agrees(value, getattr(certificate, name))
    ]
    if certificate.by_class and not _same_shares(found.by_class, certificate.by_class):
        contradictions.append(f"by_class is {found.by_class}, the certificate says {certificate.by_class}")
    contradictions += _impossible(certificate, problem)
    return Check(certificate, fingerprint, found.worst_case_correct, found.nominal_correct, tuple(contradictions))


def _impossible(certificate: Certificate, problem: Problem) -> list[str]:
    """Claims that contradict each other, whatever the data."""
    found = []
    if certificate.tree.depth > certificate.max_depth:
        found.append(f"the tree has depth {certificate.tree.depth}, allowed are {certificate.max_depth}")
    elif not problem.allows(certificate.tree):
        found.append(f"a leaf holds less than {certificate.min_samples_leaf} rows")
    if not certificate.worst_case_correct <= certificate.upper_bound <= certificate.total:
        found.append(
            f"the bound {certificate.upper_bound} does not lie between the tree's own worst case and all samples"
        )
    if not certificate.upper_bound <= certificate.any_model_bound <= certificate.total:
        found.append(
            f"the bound {certificate.any_model_bound} for any model does not lie between that for trees and all"
        )
    if certificate.objective_bound < certificate.objective:
        found.append(f"the bound {certificate.objective_bound} on the objective is below the tree's own objective")
    if certificate.status not in STATUSES:
        found.append(f'the status is "{certificate.status}"; expected one of {list(STATUSES)}')
    if certificate.upper_bound > max(certificate.worst_case_correct, problem.most_correct(certificate.objective_bound)):
        found.append("the bound on correct samples is larger than what the bound on the objective allows")
    proved = certificate.objective_bound <= certificate.objective + problem.resolution
    if (certificate.status == "optimal") != proved:
        found.append(f'the status is "{certificate.status}", which the bound on the objective does not say')
    if certificate.status == "most_robust" and certificate.upper_bound != certificate.worst_case_correct:
        found.append('the status is "most_robust", but the bound allows more samples to be correct')
    return found


def _agrees(now: Any, then: Any) -> bool:
    """Whole numbers and words must be the same; a logarithm may differ in its last digit between machines."""
    if isinstance(now, float):
        return math.isclose(now, then, rel_tol=1e-12)
    return bool(now == then)


def _same_shares(now: tuple[ClassShare, ...], then: tuple[ClassShare, ...]) -> bool:
    return len(now) == len(then) and all(
        mine.label == theirs.label and all(_agrees(getattr(mine, name), getattr(theirs, name)) for name in SHARES)
        for mine, theirs in zip(now, then, strict=True)
    )


def is_about(certificate: Certificate | None, table: Table, labels: Labels) -> bool:
    """Whether there is a certificate, and it is about this table."""
    return certificate is not None and certificate.data_hash == data_hash(table, labels)


def data_hash(table: Table, labels: Labels) -> str:
    """A fingerprint of a table and its labels: names, kinds, categories, and every value of rows that have a weight."""
    table, labels = _with_weight(table, labels)
    digest = hashlib.sha256()
    meaning = [[f.name, str(f.kind), list(f.categories), list(f.edges)] for f in table.features]
    digest.update(json.dumps([meaning, list(labels.classes), table.n_samples]).encode())
    digest.update(table.values.astype("<i4").tobytes(order="C"))
    digest.update(labels.codes.astype("<i4").tobytes())
    if labels.weights is not None:
        digest.update(labels.weights.astype("<f8").tobytes())
    return digest.hexdigest()


def _with_weight(table: Table, labels: Labels) -> tuple[Table, Labels]:
    """The rows that stand for somebody."""
    if labels.weights is None or labels.weights.all():
        return table, labels
    there = np.flatnonzero(labels.weights)
    return table.rows(there), labels.rows(there)


def _claim(document: dict[str, Any], name: str) -> Any:
    value: Any = document.get(name)
    is_fit = isinstance(value, CLAIMS[name]) and not isinstance(value, bool)
    if not is_fit:
        expected = {WORDS: "text", WHOLE: "a whole number", NUMBER: "a number"}[CLAIMS[name]]
        raise ValueError(f"the certificate has {name} {shortened(value)}; expected {expected}")
    if not isinstance(value, str) and not abs(value) <= (LARGEST_COUNT if CLAIMS[name] == WHOLE else LARGEST_NUMBER):
        raise ValueError(f"the certificate has {name} {shortened(value)}; expected a number that can be reckoned with")
    return value


SHARES = ("people", "nominal", "worst_case", "guaranteed")


def _said_worth(labels: Labels, class_weight: Any) -> Any:
    """What classes are worth: in the caller's words, or in numbers if there are none."""
    if labels.worth is None or class_weight is not None:
        return None if labels.worth is None else class_weight
    return dict(zip(labels.classes, labels.worth, strict=True))


def _kind_of_weights(labels: Labels) -> str:
    if labels.weights is None:
        return "none"
    return "whole" if labels.whole else "real"


def class_words(own: ClassShare, everybody: tuple[ClassShare, ...]) -> str:
    """A class; of two, the share of the rarer one is the sensitivity, that of the other one the specificity."""
    if len(everybody) != 2:
        return shown(own.label)
    rarer = everybody[0] if everybody[0].people < everybody[1].people else everybody[1]
    return f"{shown(own.label)} ({'sensitivity' if own is rarer else 'specificity'})"


def _newer(document: dict[str, Any]) -> dict[str, Any]:
    """A certificate as this version says it. Version 2 knew neither weights nor worth, version 3 no sizes of leaves."""
    version = document.get("format_version")
    if version not in (2, 3):
        return document
    everybody = document.get("n_samples")
    said: dict[str, Any] = {"min_samples_leaf": 0}
    if version == 2:
        said |= {"weights": "none", "people": everybody, "total": everybody, "class_weight": None, "by_class": []}
    return document | said | {"format_version": VERSION}


def _shares(document: dict[str, Any], tree: Tree) -> tuple[ClassShare, ...]:
    entries = document.get("by_class")
    fit = isinstance(entries, list) and all(isinstance(own, dict) and set(own) == {"label", *SHARES} for own in entries)
    if not fit or any(
        own["label"] not in tree.classes or not all(isinstance(own[name], int | float) for name in SHARES)
        for own in entries or ()
    ):
        raise ValueError(
            f"the certificate has by_class {shortened(entries)}; expected a list of objects with label, "
            f"{', '.join(SHARES)}"
        )
    return tuple(ClassShare(**own) for own in entries or ())
