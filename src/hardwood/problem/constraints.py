"""Conditions on trees.

A new constraint is a class with the methods of `TreeConstraint`, an entry in `Problem.constraints`, and one in the
`constraints` of every solver that respects it (docs/extending.md).
`Problem.admits` checks every tree that a solver returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hardwood._util import compiled
from hardwood._util.arguments import check_integer
from hardwood._util.errors import ArgumentError
from hardwood.data.labels import Labels
from hardwood.data.table import Table
from hardwood.trees.tree import Tree


class TreeConstraint(Protocol):
    """A condition on trees, independent of any table."""

    def check(self, labels: Labels) -> None:
        """Refuse the constraint if no tree for a table with these labels can meet it.

        Parameters
        ----------
        labels : Labels
            Labels and weights of the table.

        Raises
        ------
        ArgumentError
            If no tree is admissible.
        """

    def admits(self, tree: Tree, table: Table, labels: Labels) -> bool:
        """Check whether a tree meets the condition.

        Parameters
        ----------
        tree : Tree
        table : Table
            The table without a shift.
        labels : Labels
            Labels and weights of the table.

        Returns
        -------
        admitted : bool
        """

    def compiled(self) -> compiled.TreeConstraint:
        """Return the constraint as the compiled search takes it (cpp/model/constraint.h)."""

    def describe(self) -> str:
        """Describe admissible trees in a clause such as "with at least 5 samples in each leaf"."""


@dataclass(frozen=True, slots=True)
class MinLeafSize:
    """Every leaf holds a minimum number of samples of the table without a shift.

    Parameters
    ----------
    min_samples : int
        Smallest number of samples in a leaf (see `leaf_sizes`).
    """

    min_samples: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "min_samples", check_integer("min_samples_leaf", self.min_samples, at_least=0))

    def check(self, labels: Labels) -> None:
        """Refuse a limit that is larger than the table; see `TreeConstraint.check`."""
        total = leaf_sizes(labels).sum()
        if self.min_samples > total:
            raise ArgumentError(
                "min_samples_leaf", self.min_samples, f"the table has only {total:g} rows for all leaves"
            )

    def admits(self, tree: Tree, table: Table, labels: Labels) -> bool:
        """Check whether every leaf is large enough; see `TreeConstraint.admits`."""
        sizes = np.bincount(tree.leaf_of(table), weights=leaf_sizes(labels), minlength=len(tree.regions))
        return bool(sizes.min() >= self.min_samples)

    def compiled(self) -> compiled.TreeConstraint:
        """Return the constraint for the compiled search; see `TreeConstraint.compiled`."""
        return compiled.MinLeafSize(self.min_samples)

    def describe(self) -> str:
        """Describe admissible trees; see `TreeConstraint.describe`."""
        return f"with at least {self.min_samples} samples in each leaf"


def leaf_sizes(labels: Labels) -> NDArray[np.float64]:
    """Compute how many samples each row counts for in a leaf.

    Rows with integer weights count as repeated rows. With other weights, one row is one observation, whatever its
    weight.

    Parameters
    ----------
    labels : Labels

    Returns
    -------
    sizes : ndarray of float
    """
    if labels.has_integer_weights:
        return labels.sample_weights
    return (labels.sample_weights > 0).astype(np.float64)
