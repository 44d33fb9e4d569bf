"""Trees that are as good as the best one, or nearly, so that users can choose among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

from hardwood._util.deprecation import renamed_attributes
from hardwood._util.notebook import NotebookMixin
from hardwood._util.text import with_noun
from hardwood._util.types import FrameColumns
from hardwood.problem import Problem
from hardwood.solvers.base import Limits, Start
from hardwood.solvers.registry import solver_with_alternatives
from hardwood.trees.attack import Attack
from hardwood.trees.tree import Tree


@renamed_attributes(said="summary")
@dataclass(frozen=True, eq=False)
class Alternatives(NotebookMixin, Sequence[Attack]):
    """Trees whose worst case is near the best, the best first; a sequence of their attacks.

    Attributes
    ----------
    attacks : tuple of Attack
        The attack on each tree.
    within : float
        How many samples less than the best tree the others may keep correct.
    complete : bool
        Whether no other such trees exist. Unknown, and False, where samples may be flipped in part: with sample
        weights that are not integers, or with class weights.

    Notes
    -----
    No split of these trees can be removed, by taking one of its sides or a leaf, without losing a sample in the worst
    case. No two of them predict the same, as far as shifts of this table can tell: thresholds that no shift
    distinguishes count as one.
    """

    attacks: tuple[Attack, ...] = field(repr=False)
    within: float
    complete: bool

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The trees alone."""
        return tuple(found.tree for found in self.attacks)

    def __len__(self) -> int:
        return len(self.attacks)

    @overload
    def __getitem__(self, index: int) -> Attack: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Attack, ...]: ...

    def __getitem__(self, index: int | slice) -> Attack | tuple[Attack, ...]:
        return self.attacks[index]

    def __iter__(self) -> Iterator[Attack]:
        return iter(self.attacks)

    def to_dict(self) -> FrameColumns:
        """Return columns by name, one entry for each tree, ready for a frame.

        Returns
        -------
        dict of lists
        """
        return {
            "worst_case_correct": [found.worst_case_correct for found in self],
            "worst_case_accuracy": [found.worst_case_accuracy for found in self],
            "nominal_accuracy": [found.nominal_accuracy for found in self],
            "branching_nodes": [found.tree.n_branching_nodes for found in self],
            "columns": [", ".join(found.tree.used_columns) for found in self],
        }

    @property
    def summary(self) -> str:
        """How many trees there are, as a sentence."""
        trees = "1 tree keeps" if len(self) == 1 else f"{len(self)} trees keep"
        rows = "1 row" if self.within == 1 else f"{self.within:,.6g} rows"
        near = f"at most {rows} less than" if self.within else "as many rows as"
        rest = "there are no others" if self.complete else "there may be others"
        return f"{trees} {near} the best in the worst case; {rest}."

    def __str__(self) -> str:
        lines = [self.summary]
        for number, found in enumerate(self, 1):
            lines += [
                "",
                f"{number}. {found.worst_case_accuracy:.1%} in the worst case, {found.nominal_accuracy:.1%} without a "
                f"shift, {with_noun(str(found.tree.n_branching_nodes), 'split', 'splits')}",
                str(found.tree),
            ]
        return "\n".join(lines)


def find_alternatives(
    problem: Problem, max_trees: int, within: float, *, start: Tree | None, limits: Limits, n_jobs: int
) -> Alternatives:
    """Search for the best trees of a problem.

    Parameters
    ----------
    problem : Problem
        The problem; its objective is the number of samples that stay correct.
    max_trees : int
        Largest number of trees.
    within : float
        How many samples less than the best tree the others may keep correct.
    start : Tree or None
        A good tree, if one is known.
    limits : Limits
        Limits of the search.
    n_jobs : int
        Threads of the search.

    Returns
    -------
    Alternatives
    """
    trees, complete = solver_with_alternatives().alternatives(
        problem, max_trees, within, limits=limits, start=Start(start), n_jobs=n_jobs
    )
    attacks = sorted(
        map(problem.attack, trees), key=lambda found: (-found.worst_case_correct, found.tree.n_branching_nodes)
    )
    if not (problem.fractional and attacks):
        return Alternatives(tuple(attacks), within, complete)
    # The search rounds fractional values up, so it may list a tree that is too weak, or miss one.
    smallest = attacks[0].worst_case_correct - within
    kept = tuple(found for found in attacks if found.worst_case_correct >= smallest)
    return Alternatives(kept, within, complete=False)
