"""Other trees that are as good, or nearly: people choose among equals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hardwood._support.notebook import InNotebook
from hardwood.problem import Problem
from hardwood.solvers.base import Limits, Start
from hardwood.solvers.search import SearchSolver
from hardwood.trees.adversary import Attack
from hardwood.trees.tree import Tree


@dataclass(frozen=True, eq=False)
class Alternatives(InNotebook, Sequence[Attack]):
    """Trees whose worst case is near the best, the best first; each with what the adversary does to it.

    None of their tests can be taken out, for one of its sides or for an answer, without losing a row in the worst case;
    and no two of them answer the same, as far as shifts of this table can tell (thresholds that none can tell apart are
    one).

    within    how many rows less than the best they may keep
    complete  whether there are no others; not known where rows may be lost in part (weights that are no whole numbers,
              classes that are worth more than others)
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

    def __getitem__(self, k: Any) -> Any:
        return self.attacks[k]

    def __iter__(self) -> Iterator[Attack]:
        return iter(self.attacks)

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns by name, one entry for each tree, ready for a frame."""
        return {
            "worst_case_correct": [found.worst_case_correct for found in self],
            "worst_case_accuracy": [found.worst_case_accuracy for found in self],
            "nominal_accuracy": [found.nominal_accuracy for found in self],
            "branching_nodes": [found.tree.n_branching_nodes for found in self],
            "columns": [", ".join(found.tree.asked_columns) for found in self],
        }

    @property
    def said(self) -> str:
        """How many there are, in words."""
        trees = "1 tree keeps" if len(self) == 1 else f"{len(self)} trees keep"
        rows = "1 row" if self.within == 1 else f"{self.within:,.6g} rows"
        near = f"at most {rows} less than" if self.within else "as many rows as"
        rest = "there are no others" if self.complete else "there may be others"
        return f"{trees} {near} the best in the worst case; {rest}."

    def __str__(self) -> str:
        lines = [self.said]
        for k, found in enumerate(self, 1):
            lines += [
                "",
                f"{k}. {found.worst_case_accuracy:.1%} in the worst case, {found.nominal_accuracy:.1%} as they stand, "
                f"{found.tree.n_branching_nodes} tests",
                str(found.tree),
            ]
        return "\n".join(lines)


def alternatives_of(
    problem: Problem, most: int, within: float, *, start: Tree | None, limits: Limits, n_jobs: int
) -> Alternatives:
    """Search for the best trees of a problem."""
    trees, complete = SearchSolver().alternatives(
        problem, most, within, limits=limits, start=Start(start), n_jobs=n_jobs
    )
    found = sorted(map(problem.judged, trees), key=lambda own: (-own.worst_case_correct, own.tree.n_branching_nodes))
    if problem.in_part and found:  # the search rounds values up: a tree may be missed by that, or be listed by it
        least = found[0].worst_case_correct - within
        return Alternatives(tuple(own for own in found if own.worst_case_correct >= least), within, complete=False)
    return Alternatives(tuple(found), within, complete)
