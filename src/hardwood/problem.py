"""The task for a solver: a table with labels, the shifts to hedge against, and the trees that are allowed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hardwood._arguments import numbers_of, whole_number
from hardwood.features import Labels, Table
from hardwood.uncertainty import UncertaintySet


@dataclass(frozen=True, eq=False)
class Problem:
    """Find the tree of depth at most `max_depth` that keeps the most samples correct under the worst affordable shift.

        maximise   (samples correct in the worst case) - branch_penalty * (branching nodes)

    branch_penalty  None stands for 1 / 2^max_depth as in the paper's experiments: always less than one sample in total,
                    so the fewest branching nodes among the most robust trees
    """

    labels: Labels
    uncertainty: UncertaintySet
    max_depth: int
    branch_penalty: float | None = None

    def __post_init__(self) -> None:
        if len(self.labels.codes) != self.table.n_samples:
            raise ValueError(
                f"there are {len(self.labels.codes)} labels but {self.table.n_samples} rows; expected as many"
            )
        object.__setattr__(self, "max_depth", whole_number("max_depth", self.max_depth, at_least=0))
        penalty = numbers_of(
            "branch_penalty", 2.0**-self.max_depth if self.branch_penalty is None else self.branch_penalty
        )
        object.__setattr__(self, "branch_penalty", float(penalty))
        if not 0 <= penalty < float("inf"):
            raise ValueError(f"branch_penalty is {self.branch_penalty!r}; it must be a finite number >= 0")

    @property
    def table(self) -> Table:
        """The table that the prices are about."""
        return self.uncertainty.costs.table

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.table.n_samples

    @property
    def penalty(self) -> float:
        """What a branching node costs, in samples."""
        return float(self.branch_penalty)  # type: ignore[arg-type]  # set in __post_init__

    @property
    def tolerance(self) -> float:
        """Objectives that differ by less are equal: more than rounding makes of a sum, less than a test costs."""
        return min(1e-9, self.penalty / 4) if self.penalty else 1e-9

    def most_correct(self, objective_bound: float) -> int:
        """What a bound on the objective says about the number of correct samples: a full tree pays the most penalty."""
        full_tree = 2.0 ** min(self.max_depth, 1000) - 1
        most = objective_bound + self.penalty * full_tree + self.tolerance
        return self.n_samples if most > self.n_samples else math.floor(most)

    def objective(self, worst_case_correct: int, branching_nodes: int) -> float:
        """The value that solvers maximise."""
        return worst_case_correct - self.penalty * branching_nodes
