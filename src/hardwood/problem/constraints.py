"""Conditions on trees.

A constraint is a subclass of `TreeConstraint` and an entry of `CONSTRAINTS`. The parameter that states it has the same
name in estimators, problems, certificates and files, which are connected by `constraint_parameters`
(docs/extending.md). `Problem.admits` checks every tree that a solver returns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hardwood._util import compiled
from hardwood._util.arguments import check_integer
from hardwood._util.errors import ArgumentError
from hardwood._util.types import Arguments
from hardwood.data.labels import Labels
from hardwood.data.table import Table
from hardwood.trees.tree import Tree


class TreeConstraint(ABC):
    """A condition on trees, independent of any table."""

    parameter: ClassVar[str]
    """Name of the parameter that states the constraint."""
    default: ClassVar[int | float | bool | str]
    """Value of the parameter that admits all trees."""

    @classmethod
    @abstractmethod
    def from_value(cls, value: object) -> Self:
        """Build the constraint from a value of the parameter; refuse what is no such value."""

    @property
    @abstractmethod
    def value(self) -> int | float | bool | str:
        """The value of the parameter."""

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
        del labels

    @abstractmethod
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

    @abstractmethod
    def compiled(self) -> compiled.TreeConstraint:
        """Return the constraint as the compiled search takes it (cpp/model/constraint.h)."""

    @abstractmethod
    def describe(self, *, by_weight: bool = False) -> str:
        """Describe admissible trees in a clause that follows "tree", such as "with at least 5 samples in each leaf".

        Parameters
        ----------
        by_weight : bool, default=False
            Whether samples count as many times as their weights say.
        """

    def for_copies(self, copies: int) -> Self:
        """Return the same condition for a table in which every row occurs `copies` times as often."""
        del copies
        return self


@dataclass(frozen=True, slots=True)
class MinLeafSize(TreeConstraint):
    """Every leaf holds a minimum number of samples of the table without a shift.

    Parameters
    ----------
    min_samples : int
        Smallest number of samples in a leaf (see `leaf_sizes`).
    """

    parameter = "min_samples_leaf"
    default = 0

    min_samples: int

    @classmethod
    def from_value(cls, value: object) -> Self:
        """Build the constraint from a number of samples; see `TreeConstraint.from_value`."""
        return cls(check_integer(cls.parameter, value, at_least=0))

    @property
    def value(self) -> int:
        """The number of samples."""
        return self.min_samples

    def check(self, labels: Labels) -> None:
        """Refuse a limit that is larger than the table; see `TreeConstraint.check`."""
        total = leaf_sizes(labels).sum()
        if self.min_samples > total:
            raise ArgumentError(self.parameter, self.min_samples, f"the table has only {total:g} rows for all leaves")

    def admits(self, tree: Tree, table: Table, labels: Labels) -> bool:
        """Check whether every leaf is large enough; see `TreeConstraint.admits`."""
        sizes = np.bincount(tree.leaf_of(table), weights=leaf_sizes(labels), minlength=len(tree.regions))
        return bool(sizes.min() >= self.min_samples)

    def compiled(self) -> compiled.TreeConstraint:
        """Return the constraint for the compiled search; see `TreeConstraint.compiled`."""
        return compiled.MinLeafSize(self.min_samples)

    def describe(self, *, by_weight: bool = False) -> str:
        """Describe admissible trees; see `TreeConstraint.describe`."""
        held = f"a weight of at least {self.min_samples}" if by_weight else f"at least {self.min_samples} samples"
        return f"with {held} in each leaf"

    def for_copies(self, copies: int) -> Self:
        """Return the limit on leaves of repeated rows; see `TreeConstraint.for_copies`."""
        return type(self)(self.min_samples * copies)


CONSTRAINTS: dict[str, type[TreeConstraint]] = {cls.parameter: cls for cls in (MinLeafSize,)}
"""All constraints by their parameters."""

UNCONSTRAINED: Arguments = {name: constraint.default for name, constraint in CONSTRAINTS.items()}
"""The parameters that admit all trees."""


def constraint_parameters(source: object) -> Arguments:
    """Return the parameters of an object that state constraints.

    Parameters
    ----------
    source : Problem, Certificate or estimator
        Its attributes have the names of the parameters.
    """
    return {name: getattr(source, name) for name in CONSTRAINTS}


def tree_constraints(parameters: Mapping[str, object]) -> tuple[TreeConstraint, ...]:
    """Return the constraints that parameters state.

    Parameters
    ----------
    parameters : mapping
        Values by name. A parameter that is left out admits all trees.
    """
    stated = (CONSTRAINTS[name].from_value(value) for name, value in parameters.items())
    return tuple(constraint for constraint in stated if constraint.value != constraint.default)


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
