"""A problem: which tree to find, for which table and which shifts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hardwood._util import compiled
from hardwood._util.arguments import check_integer
from hardwood._util.deprecation import renamed_attributes
from hardwood._util.errors import ArgumentError
from hardwood.data.labels import Labels
from hardwood.data.table import Table
from hardwood.problem.candidate_splits import CandidateSplits, Split
from hardwood.problem.constraints import (
    CONSTRAINTS,
    TreeConstraint,
    constraint_parameters,
    leaf_sizes,
    tree_constraints,
)
from hardwood.problem.heap import HeapNode, heap_form, root_of_heap
from hardwood.problem.objective import Goal, Objective
from hardwood.shifts.uncertainty_set import UncertaintySet
from hardwood.trees.attack import Attack, attack
from hardwood.trees.nodes import MAX_DEPTH
from hardwood.trees.tree import Limit, Tree


@renamed_attributes(
    tests="splits",
    n_tests="n_splits",
    most_tests="max_splits",
    most_correct="max_correct",
    engine_penalty="solver_penalty",
    in_part="fractional",
    judged="attack",
    allows="admits",
)
@dataclass(frozen=True, eq=False)
class Problem:
    """Find the tree that keeps the most samples correct under the worst affordable shift.

        maximise   (samples correct in the worst case) - branch_penalty * (branching nodes)

    over all trees of depth at most `max_depth` that meet the constraints.

    Parameters
    ----------
    labels : Labels
        Labels and weights of the table.
    uncertainty : UncertaintySet
        The table, costs of all moves, and the budget.
    max_depth : int
        Largest depth of a tree.
    branch_penalty : float or None, default=None
        Penalty for each branching node, in samples. None asks for the fewest branching nodes among the best trees: the
        penalty is then 1 / 2^max_depth of the smallest difference that counts (see `quantum`), as in the paper's
        experiments. All penalties of a tree then add up to less than that difference.
    goal : Goal, default=Goal.ROBUST
        Which samples count as correct.
    min_samples_leaf : int, default=0
        Smallest number of samples in each leaf (see `leaf_sizes`); 0 admits empty leaves.

    Raises
    ------
    ValueError
        If labels and table have different lengths, or if a parameter is out of range.
    """

    labels: Labels
    uncertainty: UncertaintySet
    max_depth: int
    branch_penalty: float | None = None
    goal: Goal = Goal.ROBUST
    min_samples_leaf: int = 0

    def __post_init__(self) -> None:
        if len(self.labels.codes) != self.table.n_samples:
            raise ValueError(
                f"there are {len(self.labels.codes)} labels but {self.table.n_samples} rows; expected as many"
            )
        object.__setattr__(self, "max_depth", check_integer("max_depth", self.max_depth, at_least=0))
        if self.max_depth > MAX_DEPTH:
            raise ArgumentError("max_depth", self.max_depth, f"trees have {MAX_DEPTH} levels at most")
        if self.goal not in list(Goal):
            raise ArgumentError("goal", self.goal, f"expected one of {[str(goal) for goal in Goal]}")
        object.__setattr__(self, "goal", Goal(self.goal))
        for name, kind in CONSTRAINTS.items():
            object.__setattr__(self, name, kind.from_value(getattr(self, name)).value)
        for constraint in self.constraints:
            constraint.check(self.labels)
        object.__setattr__(self, "branch_penalty", self._objective.penalty)

    @cached_property
    def _objective(self) -> Objective:
        return Objective(self.table, self.labels, self.max_depth, self.goal, self.branch_penalty)

    @cached_property
    def _candidates(self) -> CandidateSplits:
        cost_limit = None
        if self.fractional:
            # Parts of a sample that weigh less than 1/16 quantum do not matter, as in the compiled search.
            parts = compiled.FRACTIONAL_COST_FACTOR * max(self.labels.class_weights or (1.0,)) / self.quantum
            cost_limit = self.uncertainty.affordable_total * parts
        return CandidateSplits(self.uncertainty, cost_limit)

    # ---- Data and admissible trees ----------------------------------------------------------------------------------

    @property
    def table(self) -> Table:
        """The table that the costs belong to."""
        return self.uncertainty.costs.table

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.table.n_samples

    @property
    def total(self) -> float:
        """Total weight of all samples, class weights included; their number if there are no weights."""
        return self._objective.total

    @property
    def leaf_sizes(self) -> NDArray[np.float64]:
        """How many samples each row counts for in a leaf; see `constraints.leaf_sizes`."""
        return leaf_sizes(self.labels)

    @cached_property
    def constraints(self) -> tuple[TreeConstraint, ...]:
        """Conditions on trees, in addition to their depth."""
        return tree_constraints(constraint_parameters(self))

    def admits(self, tree: Tree) -> bool:
        """Check whether a tree is admissible: not too deep, and meeting all constraints."""
        return tree.depth <= self.max_depth and all(
            constraint.admits(tree, self.table, self.labels) for constraint in self.constraints
        )

    def attack(self, tree: Tree) -> Attack:
        """Compute the worst affordable shift against a tree."""
        return attack(tree, self.labels, self.uncertainty)

    # ---- Objective (see `Objective`) --------------------------------------------------------------------------------

    @property
    def penalty(self) -> float:
        """Penalty for each branching node, in samples."""
        return self._objective.penalty

    @property
    def max_splits(self) -> int:
        """Number of splits of a full tree."""
        return self._objective.max_splits

    @property
    def solver_penalty(self) -> float:
        """A penalty with the same optimal trees that solvers can represent, in quanta."""
        return self._objective.solver_penalty

    @property
    def fractional(self) -> bool:
        """Whether the adversary may flip the last sample in part, so that values are not integers."""
        return self._objective.fractional

    @property
    def copies(self) -> int:
        """Number of copies of each row that represent the distributional value; 1 for the robust goal."""
        return self._objective.copies

    @property
    def quantum(self) -> float:
        """Smallest difference of values that counts."""
        return self._objective.quantum

    @property
    def fineness(self) -> int:
        """Number of quanta in a sample, or in a row of average weight."""
        return self._objective.fineness

    @property
    def resolution(self) -> float:
        """Objectives that differ by less are not distinguished; 0 where values are integers."""
        return self._objective.resolution

    @property
    def rounding(self) -> float:
        """Number of quanta by which a value that is not an integer may be missed."""
        return self._objective.rounding

    @property
    def lost_to_rounding(self) -> float:
        """Number of copies by which the value of a tree on the repeated table may miss the repeated value."""
        return self._objective.lost_to_rounding

    def objective(self, correct: float, splits: int) -> float:
        """Compute the objective of a tree with given correct samples and splits; see `Objective.value`."""
        return self._objective.value(correct, splits)

    def objective_of(self, found: Attack) -> float:
        """Compute the objective of a tree from the attack on it."""
        return self._objective.value_of(found)

    def max_correct(self, objective_bound: float) -> float:
        """Derive an upper bound on correct samples from a bound on the objective; see `Objective.max_correct`."""
        return self._objective.max_correct(objective_bound)

    # ---- Candidate splits (see `CandidateSplits`) and heap form -----------------------------------------------------

    @property
    def splits(self) -> tuple[Split, ...]:
        """All candidate splits, by feature and code."""
        return self._candidates.splits

    @property
    def n_splits(self) -> int:
        """Number of candidate splits, which are counted without listing them."""
        return self._candidates.n_splits

    def n_splits_of(self, j: int) -> int:
        """Count the candidate splits of a feature without listing them."""
        return self._candidates.n_splits_of(j)

    def cells(self, j: int) -> tuple[list[Limit], NDArray[np.bool_]]:
        """Partition the domain of a feature into the cells that its splits distinguish; see `CandidateSplits.cells`."""
        return self._candidates.cells(j)

    def position(self, feature: int, code: int, missing_left: bool = False) -> int | None:
        """Find a split, or the candidate that represents it, among `splits`; None if no optimal tree needs it."""
        return self._candidates.position(Split(feature, code, missing_left))

    def heap(self, tree: Tree) -> list[HeapNode] | None:
        """Write a tree in heap form.

        Parameters
        ----------
        tree : Tree

        Returns
        -------
        nodes : list of HeapNode or None
            None if the tree is too deep, or has a split that no candidate represents.
        """
        if tree.depth > self.max_depth:
            return None
        return heap_form(tree.root, self.max_depth, lambda node: self._candidates.position(Split.of(node)))

    def tree(self, nodes: Sequence[tuple[int, int]]) -> Tree:
        """Read a tree in heap form; splits are given by their positions among `splits`."""
        return Tree(self.table.features, self.labels.classes, root_of_heap(nodes, self.splits))
