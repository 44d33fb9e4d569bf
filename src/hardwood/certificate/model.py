"""The certificate: a tree and the claims about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from hardwood._util.deprecation import renamed_attributes
from hardwood._util.files import write_text
from hardwood._util.notebook import NotebookMixin
from hardwood.certificate import io, text
from hardwood.certificate.fingerprint import data_hash
from hardwood.data.labels import ClassWeight, Labels
from hardwood.problem import Problem, TreeConstraint, constraint_parameters, tree_constraints
from hardwood.shifts.models import ShiftModel
from hardwood.trees.attack import Attack, ClassShare
from hardwood.trees.tree import Tree


class Claim(Protocol):
    """What a solver claims; `solvers.base.Result` is one."""

    @property
    def status(self) -> str: ...  # noqa: D102
    @property
    def stop_reason(self) -> str: ...  # noqa: D102
    @property
    def tree(self) -> Tree: ...  # noqa: D102
    @property
    def attack(self) -> Attack: ...  # noqa: D102
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


@renamed_attributes(people="total_weight", counted="integral", leaf_size_text="constraints_text")
@dataclass(frozen=True)
class Certificate(NotebookMixin):
    """A tree and the claims about it. Prints as text.

    Attributes
    ----------
    tree : Tree
        The tree.
    shifts : ShiftModel
        The shifts that the claims are about.
    goal : str
        What was maximised, see `Goal`.
    status : {"optimal", "most_robust", "feasible"}
        "optimal": no tree has a larger objective. If the gap is 0, none is more robust; if also branch_penalty is not
        0, none that is as robust is smaller. "most_robust": no tree keeps more samples correct. "feasible": none keeps
        more than the bound.
    stop_reason : str
        Why the solver stopped.
    n_samples : int
        Number of rows.
    weights : {"none", "whole", "real"}
        "none": rows have no weights. "whole": weights are integers, and count as repeated rows. "real": other weights,
        and the last row may be flipped in part.
    total_weight, total : float
        Sum of the sample weights; sum of sample weights times class weights. All numbers of samples below are out of
        this `total`.
    worst_case_correct : float
        Samples that the tree classifies correctly after the worst shift within the budget.
    nominal_correct : float
        Samples that the tree classifies correctly without a shift.
    distributional_value : float
        `worst_case_correct` if the adversary may flip the last sample in part in any case.
    upper_bound : float
        No tree up to this depth keeps more samples correct.
    any_model_bound : float
        No classifier of any kind keeps more samples correct under these shifts (docs/theory.md); the total if the
        solver has no such bound.
    branching_nodes : int
        Number of splits.
    objective, objective_bound : float
        What the goal counts, minus branch_penalty for each split; no tree exceeds the bound. In fractional problems,
        "optimal" means that the two differ by less than `Problem.resolution`: about a hundredth of a sample for the
        goal "distributional", five eighths of an average row (weight times class weight) for weights and class weights.
    max_depth : int
        Largest depth of the trees that the claims are about.
    branch_penalty : float
        Penalty for each split.
    min_samples_leaf : int
        Every leaf holds at least this many samples; claims about other trees are about such trees.
    budget : float
        Budget of the adversary.
    seconds : float
        Duration of the solver's run.
    solver, version : str
        Name of the solver, and version of hardwood.
    data_hash : str
        Fingerprint of the table and labels that the claims are about.
    class_weight : None, "balanced" or mapping
        Weights of the classes; with them, too, the last row may be flipped in part.
    by_class : tuple of ClassShare
        Shares of each class that are correct.
    """

    tree: Tree = field(repr=False)
    shifts: ShiftModel = field(repr=False)
    goal: str
    status: str
    stop_reason: str
    n_samples: int
    weights: str
    total_weight: float
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
    class_weight: ClassWeight = None
    by_class: tuple[ClassShare, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls, problem: Problem, shifts: ShiftModel, claim: Claim, version: str, class_weight: ClassWeight = None
    ) -> Certificate:
        """Return the certificate for the result of a solver.

        Only the status and the bounds are the solver's; everything about the tree itself comes from the attack.

        Parameters
        ----------
        problem : Problem
            The problem that was solved.
        shifts : ShiftModel
            How its shifts were described.
        claim : Claim
            The result of the solver, with the attack on its tree.
        version : str
            Version of hardwood.
        class_weight : None, "balanced" or mapping
            As given by the caller; the numbers of the labels by default.

        Raises
        ------
        ValueError
            If the attack of the claim is about another tree or another problem, or if the problem has constraints
            that no parameter states.
        """
        stated = tree_constraints(constraint_parameters(problem))
        unstated = [constraint.describe() for constraint in problem.constraints if constraint not in stated]
        if unstated:
            raise ValueError(
                f"the problem asks for trees {' and '.join(unstated)}, which a certificate cannot state: its claims "
                f"would be read as claims about all trees"
            )
        attack = claim.attack
        if (
            attack.tree is not claim.tree
            or attack.labels is not problem.labels
            or attack.uncertainty is not problem.uncertainty
        ):
            raise ValueError("the attack of the claim is about another tree or problem; expected that of its own tree")
        return cls(
            tree=claim.tree,
            shifts=shifts,
            goal=str(problem.goal),
            status=str(claim.status),
            stop_reason=str(claim.stop_reason),
            n_samples=problem.n_samples,
            weights=kind_of_weights(problem.labels),
            total_weight=problem.labels.total_weight,
            total=problem.total,
            worst_case_correct=attack.worst_case_correct,
            nominal_correct=attack.nominal_correct,
            distributional_value=attack.distributional_value,
            upper_bound=claim.upper_bound,
            any_model_bound=claim.any_model_bound,
            branching_nodes=claim.tree.n_branching_nodes,
            objective=problem.objective_of(attack),
            objective_bound=claim.objective_bound,
            max_depth=problem.max_depth,
            branch_penalty=problem.penalty,
            budget=problem.uncertainty.budget,
            seconds=claim.seconds,
            solver=claim.solver,
            version=version,
            data_hash=data_hash(problem.table, problem.labels),
            class_weight=_stated_class_weight(problem.labels, class_weight),
            by_class=attack.by_class,
            **constraint_parameters(problem),
        )

    @property
    def worst_case_accuracy(self) -> float:
        """Share of samples that are correct after the worst shift."""
        return self.worst_case_correct / self.total

    @property
    def nominal_accuracy(self) -> float:
        """Share of samples that are correct without a shift."""
        return self.nominal_correct / self.total

    @property
    def gap(self) -> float:
        """(upper_bound - worst_case_correct) / total; 0 proves that no tree has a larger worst-case accuracy."""
        return (self.upper_bound - self.worst_case_correct) / self.total

    @property
    def integral(self) -> bool:
        """Whether numbers of samples are integers; otherwise the last row may be flipped in part."""
        return self.weights != "real" and self.class_weight is None

    @property
    def penalty_matters(self) -> bool:
        """Whether the penalty may decide against a tree that keeps more, not only between trees that keep as much."""
        # By at most an average row for a full tree, it does not.
        return self.branch_penalty * min(2.0**self.max_depth, 1e9) > self.total / self.n_samples

    @property
    def measure(self) -> str:
        """Name of the accuracy that the shares are about."""
        if self.class_weight is None:
            return "accuracy" if self.weights == "none" else "weighted accuracy"
        return "balanced accuracy" if self.class_weight == "balanced" else "class-weighted accuracy"

    @property
    def worst_case_text(self) -> str:
        """What stays correct, as text."""
        return text.worst_case_text(self)

    @property
    def class_texts(self) -> str:
        """The total weight if samples count in part, and with class weights a line for each class; else empty."""
        return text.class_texts(self)

    @property
    def proved(self) -> str:
        """What is proved about all trees of the depth, as text."""
        return text.proved_text(self)

    @property
    def constraints(self) -> tuple[TreeConstraint, ...]:
        """Conditions on the trees that the claims are about, beyond their depth."""
        return tree_constraints(constraint_parameters(self))

    @property
    def constraints_text(self) -> str:
        """Which trees the claims are about, beyond their depth, as text after "tree"; empty without constraints."""
        return text.constraints_text(self)

    @property
    def stopping_text(self) -> str:
        """Why the solver stopped without a proof, and remedies, as a line; empty with a proof."""
        return text.stopping_text(self)

    @property
    def any_model_text(self) -> str:
        """The any-model bound as a line; empty if there is none below the total."""
        return text.any_model_text(self)

    def __str__(self) -> str:
        return text.certificate_text(self)

    def to_json(self) -> str:
        """Return the certificate as text that `from_json` reads."""
        return io.text_of(self)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read a certificate of any supported version.

        Raises
        ------
        ValueError
            If the text is not a certificate; the message names the first fault.
        """
        return cls(**io.fields_from_text(text))

    def save(self, path: str | Path) -> None:
        """Write the certificate to a file."""
        write_text(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Certificate:
        """Read a file that `save` wrote; errors name the file."""
        return cls(**io.fields_from_file(path))


def kind_of_weights(labels: Labels) -> str:
    """Return the kind of sample weights, as in `Certificate.weights`."""
    if labels.weights is None:
        return "none"
    return "whole" if labels.has_integer_weights else "real"


def _stated_class_weight(labels: Labels, class_weight: ClassWeight) -> ClassWeight:
    """Return the class weights as the caller gave them, or else as numbers; None if classes count alike."""
    if labels.class_weights is None or class_weight is not None:
        return None if labels.class_weights is None else class_weight
    return dict(zip(labels.classes, labels.class_weights, strict=True))
