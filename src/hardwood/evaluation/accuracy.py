"""Exact distribution of a tree's accuracy on a table that shifts at random."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arguments import check_numbers
from hardwood._util.arrays import FloatArray
from hardwood._util.deprecation import renamed_attributes
from hardwood._util.errors import ArgumentError
from hardwood.data.labels import Labels
from hardwood.data.table import Table
from hardwood.evaluation.cells import cells_of_trees
from hardwood.shifts.models import ShiftModel
from hardwood.shifts.sums import Amounts, Draws, Probability, Total, distribution_of_sum
from hardwood.trees.tree import Leaf, Node, Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN_TAIL = 1e-5  # probability that `AccuracyDistribution.bars` leaves out at each end


def expected_accuracy(tree: Tree, table: Table, labels: Labels, shifts: ShiftModel) -> float:
    """Compute the expected accuracy over all random shifts; exact, without sampling.

    Parameters
    ----------
    tree : Tree
    table : Table
    labels : Labels
    shifts : ShiftModel
        Distribution of the shifts; its plausibility does not matter.

    Returns
    -------
    accuracy : float
    """
    weights = labels.sample_weights * labels.sample_class_weights
    return float(correct_probabilities(tree, table, labels, shifts) @ weights) / labels.total


def correct_probabilities(tree: Tree, table: Table, labels: Labels, shifts: ShiftModel) -> FloatArray:
    """Compute the probability that each sample is correct after a random shift.

    Features change independently, so a sample reaches a leaf with the product of the probabilities of its limits.

    Parameters
    ----------
    tree : Tree
    table : Table
    labels : Labels
    shifts : ShiftModel

    Returns
    -------
    probabilities : ndarray of float
    """
    tree.check_table(table)
    cells = cells_of_trees([tree], table, labels, shifts)
    probabilities = np.zeros(table.n_samples)

    def add(node: Node, allowed: dict[int, NDArray[np.bool_]]) -> None:
        """Add the probabilities of reaching correct leaves of a subtree, given the cells on the path to it."""
        if isinstance(node, Leaf):
            members = labels.codes == node.label
            probability = np.ones(np.count_nonzero(members))
            for j, mask in allowed.items():
                probability *= cells[j].probability(mask)[members]
            probabilities[members] += probability
            return
        left = cells[node.feature].left(node)
        everywhere = np.ones(len(left), dtype=bool)
        for child, side in ((node.left, left), (node.right, ~left)):
            add(child, allowed | {node.feature: allowed.get(node.feature, everywhere) & side})

    add(tree.root, {})
    return np.clip(probabilities, 0.0, 1.0)


@renamed_attributes(chances="probabilities")
@dataclass(frozen=True, eq=False)
class AccuracyDistribution:
    """Exact distribution of a tree's accuracy on a table that shifts at random.

    Parameters
    ----------
    probabilities : ndarray of float
        Probability that each sample is correct after the shift.
    total : float
        Total weight of all samples, class weights included; their number if there are no weights.
    nominal : float
        Accuracy without a shift.
    correct : Total or Draws
        Distribution of the weight of the correct samples.
    """

    probabilities: FloatArray
    total: float
    nominal: float
    correct: Total | Draws

    @property
    def mean(self) -> float:
        """Expected accuracy."""
        return self.correct.mean / self.total

    @property
    def deviation(self) -> float:
        """Standard deviation of the accuracy."""
        return self.correct.deviation / self.total

    def quantile(self, share: float) -> float:
        """Compute a quantile of the accuracy.

        Parameters
        ----------
        share : float
            Probability in (0, 1] of not exceeding the quantile: 95 in 100 shifts reach the quantile of 0.05.

        Returns
        -------
        accuracy : float

        Raises
        ------
        ArgumentError
            If the share does not lie in (0, 1].
        """
        level = check_numbers("share", share)
        if level.ndim != 0 or not 0 < level <= 1:
            raise ArgumentError("share", share, "it must lie in (0, 1]")
        return self.correct.quantile(float(level)) / self.total

    def at_least(self, accuracy: float) -> Probability:
        """Compute the probability of an accuracy or a higher one.

        Parameters
        ----------
        accuracy : float
            A number in [0, 1].

        Returns
        -------
        probability : Probability

        Raises
        ------
        ArgumentError
            If the accuracy does not lie in [0, 1].
        """
        level = check_numbers("accuracy", accuracy)
        if level.ndim != 0 or not 0 <= level <= 1:
            raise ArgumentError("accuracy", accuracy, "it must lie in [0, 1]")
        return self.correct.at_least(float(level) * self.total)

    @cached_property
    def points(self) -> tuple[FloatArray, FloatArray]:
        """Accuracies and the probability of each; on a grid where weights are not integers."""
        return self.correct.points / self.total, self.correct.probabilities

    def bars(self, max_bars: int) -> tuple[FloatArray, FloatArray]:
        """Summarise the distribution by bars, each with equally many points, so that none is empty by accident.

        Parameters
        ----------
        max_bars : int
            Largest number of bars.

        Returns
        -------
        edges : ndarray of float
            Edges of the bars.
        probabilities : ndarray of float
            Probability of each bar.
        """
        points, probabilities = self.points
        shown = (points >= self.quantile(SHOWN_TAIL)) & (points <= self.quantile(1.0 - SHOWN_TAIL))
        points, probabilities = points[shown], probabilities[shown]
        if isinstance(self.correct, Draws):
            counts, edges = np.histogram(points, bins=max_bars, weights=probabilities)
            return edges, counts
        step = -(-len(points) // max_bars)
        firsts = np.arange(0, len(points), step)
        gap = float(points[1] - points[0]) if len(points) > 1 else 0.01
        edges = np.append(points[firsts], points[firsts[-1]] + step * gap) - gap / 2
        return edges, np.add.reduceat(probabilities, firsts)

    def plot(self, guarantee: float | None = None, ax: Axes | None = None) -> Axes:
        """Plot the distribution.

        Parameters
        ----------
        guarantee : float or None, default=None
            Worst-case accuracy to show beside it.
        ax : matplotlib axes or None, default=None
            Axes to draw on; new ones if None.

        Returns
        -------
        ax : matplotlib axes
        """
        from hardwood.plotting import plot_accuracy

        return plot_accuracy({"this tree": self}, guarantee=guarantee, ax=ax)

    def __str__(self) -> str:
        low, median, high = (self.quantile(share) for share in (0.05, 0.5, 0.95))
        return (
            f"{self.nominal:.1%} correct without a shift, {self.mean:.1%} on average over random shifts "
            f"(95 in 100 shifts keep at least {low:.1%}, half of them {median:.1%}, 5 in 100 {high:.1%})"
        )

    def to_dict(self) -> dict[str, float]:
        """Return the main numbers, ready for JSON."""
        shares = (0.01, 0.05, 0.5, 0.95, 0.99)
        return {"nominal": self.nominal, "mean": self.mean, "deviation": self.deviation} | {
            f"quantile_{share:g}": self.quantile(share) for share in shares
        }


def distribution_of(tree: Tree, table: Table, labels: Labels, shifts: ShiftModel) -> AccuracyDistribution:
    """Compute the exact distribution of a tree's accuracy on a table that shifts at random.

    Parameters
    ----------
    tree : Tree
    table : Table
    labels : Labels
    shifts : ShiftModel

    Returns
    -------
    distribution : AccuracyDistribution
    """
    probabilities = correct_probabilities(tree, table, labels, shifts)
    if labels.has_integer_weights:  # repeated rows shift independently
        weights, counts = labels.sample_class_weights, labels.sample_weights.astype(np.int64)
    else:
        weights, counts = labels.sample_weights * labels.sample_class_weights, np.ones(table.n_samples, dtype=np.int64)
    kinds, kind_of = np.unique(np.column_stack([weights, probabilities]), axis=0, return_inverse=True)
    times = np.bincount(kind_of.ravel(), weights=counts, minlength=len(kinds)).round().astype(np.int64)
    amounts = (
        Amounts(np.array([0.0, weight]), np.array([1.0 - probability, probability]), int(count))
        for (weight, probability), count in zip(kinds, times, strict=True)
    )
    nominal = labels.weighted_count(tree.predict(table) == labels.codes) / labels.total
    return AccuracyDistribution(probabilities, labels.total, nominal, distribution_of_sum(amounts))
