"""The adversary's best affordable shift of a table against a tree, computed exactly.

The margin of a sample is the smallest total cost that makes the tree misclassify it: 0 if the tree misclassifies it
without a shift, +inf if no perturbation can. Perturbations of samples are independent and share one budget. So the
adversary pays for the samples with the smallest margins first, and

    correct in the worst case = samples - max { k : the k smallest margins add up to at most the budget }.

The paper's uncertainty set uses "at most", its Algorithm 1 prints a strict inequality; this module follows the set.

With sample weights or class weights (`Labels`), samples are ordered by the cost of one unit of weight, margin / class
weight. If all sample weights are integers and there are no class weights, a sample counts as repeated rows, which are
flipped one by one. Otherwise the adversary may flip the last sample in part (docs/weights.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardwood._util import compiled
from hardwood._util.arrays import FloatArray, IntArray
from hardwood._util.deprecation import renamed_attributes
from hardwood._util.notebook import NotebookMixin
from hardwood.data.columns import Category
from hardwood.data.labels import Labels
from hardwood.data.table import Table
from hardwood.shifts.uncertainty_set import UncertaintySet
from hardwood.trees.compiled_costs import compiled_costs, compiled_region
from hardwood.trees.curve import Curve, copies_within
from hardwood.trees.shift import Shift, change_text, cheapest_moves
from hardwood.trees.tree import Tree

N_SHOWN_CHANGES = 5


@renamed_attributes(people="weight")
@dataclass(frozen=True, slots=True)
class ClassShare:
    """Shares of the samples of one class that are correct.

    Parameters
    ----------
    label : str, int, float or bool
        The class.
    weight : float
        Total sample weight of the class.
    nominal : float
        Share without a shift.
    worst_case : float
        Share after the worst shift for all classes together (one of the worst shifts).
    guaranteed : float
        Share after any affordable shift, even if the adversary spends the whole budget on this class.
    """

    label: Category
    weight: float
    nominal: float
    worst_case: float
    guaranteed: float


@renamed_attributes(people="weight")
@dataclass(frozen=True, slots=True)
class GroupShare:
    """Shares of the samples of one group that are correct; see `ClassShare`.

    Parameters
    ----------
    group : str, int, float or bool
        The group.
    weight, nominal, worst_case, guaranteed : float
        As in `ClassShare`.
    median_margin : float
        Weighted median of the margins of the group; +inf if no perturbation flips half of it.
    """

    group: Category
    weight: float
    nominal: float
    worst_case: float
    guaranteed: float
    median_margin: float


@renamed_attributes(priced_value="distributional_value", lost_people="lost_weight")
@dataclass(frozen=True, eq=False)
class Attack(NotebookMixin):
    """The adversary's best affordable shift of a table against a tree, and its effect.

    `attack` computes it. Printing it shows the accuracy without and with the shift, and the most frequent changes.

    Attributes
    ----------
    tree : Tree
        The tree that is attacked.
    labels : Labels
        Labels and weights of the samples.
    uncertainty : UncertaintySet
        Costs of all moves, and the budget.
    margins : ndarray of float
        Smallest total cost that makes the tree misclassify each sample.
    """

    tree: Tree
    labels: Labels = field(repr=False)
    uncertainty: UncertaintySet = field(repr=False)
    margins: FloatArray = field(repr=False)
    _region_of: IntArray = field(repr=False)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.margins)

    @property
    def table(self) -> Table:
        """The table that is attacked."""
        return self.uncertainty.costs.table

    @cached_property
    def total(self) -> float:
        """Total weight of all samples, class weights included; their number if there are no weights."""
        return self.labels.total

    @cached_property
    def nominal_correct(self) -> float:
        """Weight of the samples that are correct without a shift."""
        return self.labels.weighted_count(self._is_correct)

    @cached_property
    def worst_case_correct(self) -> float:
        """Weight of the samples that are correct after the worst affordable shift."""
        if not self.labels.integral:
            return self.distributional_value
        return int(self.total - self.lost_weight.sum())

    @property
    def nominal_accuracy(self) -> float:
        """Share of the samples that are correct without a shift."""
        return self.nominal_correct / self.total

    @property
    def worst_case_accuracy(self) -> float:
        """Share of the samples that are correct after the worst affordable shift."""
        return self.worst_case_correct / self.total

    @property
    def spent(self) -> float:
        """Total cost of the worst shift."""
        return float((self.margins[self.lost] * self.lost_weight[self.lost]).sum())

    @cached_property
    def lost(self) -> NDArray[np.intp]:
        """Rows that are misclassified after the worst shift, by margin and then by row; the last one may be so in part.

        Rows that are misclassified without a shift are among them.
        """
        order, _ = self._by_cost
        return np.asarray(order[self.lost_weight[order] > 0])

    @cached_property
    def lost_weight(self) -> FloatArray:
        """For each row, how much of its sample weight is misclassified after the worst shift."""
        order, _ = self._by_cost
        weights, n_affordable = self.labels.sample_weights, self._n_affordable
        lost = np.zeros(self.n_samples)
        lost[order[:n_affordable]] = weights[order[:n_affordable]]
        if n_affordable < len(order):
            row, budget, margin = order[n_affordable], self._remaining_budget, self.margins[order[n_affordable]]
            lost[row] = copies_within(budget, margin) if self.labels.integral else budget / margin
        return lost

    @cached_property
    def distributional_value(self) -> float:
        """Worst case if the last sample may be flipped in part: the value of the distributionally robust problem.

        `worst_case_correct` is this value, rounded up where samples are flipped one by one.
        """
        order, _ = self._by_cost
        weights = self.labels.sample_weights * self.labels.sample_class_weights
        value = self.total - float(weights[order[: self._n_affordable]].sum())
        if self._n_affordable < len(order):
            row = order[self._n_affordable]
            value -= self._remaining_budget / self.margins[row] * self.labels.sample_class_weights[row]
        return max(float(value), 0.0)

    @cached_property
    def by_class(self) -> tuple[ClassShare, ...]:
        """Shares of correct samples for each class that has a weight."""
        rows = [(label, np.flatnonzero(self.labels.codes == k)) for k, label in enumerate(self.labels.classes)]
        return tuple(
            ClassShare(label, *self._shares(members))
            for label, members in rows
            if self.labels.sample_weights[members].any()
        )

    def by_group(self, groups: ArrayLike) -> tuple[GroupShare, ...]:
        """Compute shares of correct samples for each group.

        Parameters
        ----------
        groups : array-like
            Group of each row, such as a column of the table.

        Returns
        -------
        shares : tuple of GroupShare
            Groups that have a weight, in ascending order.

        Raises
        ------
        ValueError
            If there is not one entry for each row.
        """
        given = np.asarray(groups)
        if given.shape != (self.n_samples,):
            raise ValueError(f"groups have shape {given.shape}; expected an entry for each of {self.n_samples} rows")
        names, group_of = np.unique(given.astype(str) if given.dtype.kind == "O" else given, return_inverse=True)
        shares = []
        for k, name in enumerate(names.tolist()):
            members = np.flatnonzero(group_of.ravel() == k)
            if self.labels.sample_weights[members].any():
                shares.append(GroupShare(name, *self._shares(members), self._median_margin(members)))
        return tuple(shares)

    def _shares(self, rows: NDArray[np.intp]) -> tuple[float, float, float, float]:
        """Total sample weight of some rows, and the shares of it that are correct (see `ClassShare`)."""
        labels = Labels(self.labels.codes[rows], self.labels.classes, self.labels.sample_weights[rows])
        curve = replace(Curve.of(self.margins[rows], labels), fractional=not self.labels.integral)
        return (
            labels.total_weight,
            float(labels.sample_weights[self._is_correct[rows]].sum()) / labels.total_weight,
            1.0 - float(self.lost_weight[rows].sum()) / labels.total_weight,
            float(curve.accuracy_at(self.uncertainty.budget)),
        )

    def _median_margin(self, rows: NDArray[np.intp]) -> float:
        order = np.argsort(self.margins[rows], kind="stable")
        weights = np.cumsum(self.labels.sample_weights[rows][order])
        return float(self.margins[rows][order][np.searchsorted(weights, 0.5 * weights[-1])])

    def confusion(self, *, worst_case: bool = False) -> FloatArray:
        """Compute the confusion matrix, in sample weights.

        Parameters
        ----------
        worst_case : bool, default=False
            Whether to apply the worst shift (one of the worst shifts).

        Returns
        -------
        counts : ndarray of float
            Classes of the samples (rows) by predictions of the tree (columns), in the order of `labels.classes`.
        """
        n_classes = len(self.tree.classes)
        counts = np.zeros((n_classes, n_classes))
        weights = np.array(self.labels.sample_weights)
        if worst_case:
            predicted = np.array([region.label for region in self.tree.regions])[self._region_of]
            np.add.at(counts, (self.labels.codes[self.lost], predicted[self.lost]), self.lost_weight[self.lost])
            weights -= self.lost_weight
        np.add.at(counts, (self.labels.codes, self.tree.predict(self.table)), weights)
        return counts

    def __str__(self) -> str:
        changes = self.shift.grouped()
        lines = [
            f"{self.nominal_accuracy:.1%} correct without a shift, {self.worst_case_accuracy:.1%} after the worst "
            f"shift within the budget {self.uncertainty.budget:.4g} ({len(self.shift):,} values changed)",
            *(change_text(entry) for entry in changes[:N_SHOWN_CHANGES]),
        ]
        n_more = len(changes) - N_SHOWN_CHANGES
        return "\n".join([*lines, f"  ... and {n_more} other kinds of changes"] if n_more > 0 else lines)

    @cached_property
    def curve(self) -> Curve:
        """Worst-case accuracy as a function of the budget."""
        return Curve.of(self.margins, self.labels)

    @cached_property
    def shift(self) -> Shift:
        """The worst shift; samples that are misclassified without a shift do not change."""
        return self.shift_of(self.lost, self.lost_weight)

    def shift_of(self, rows: NDArray[np.intp], weights: FloatArray | None = None) -> Shift:
        """Find the cheapest shift that makes the tree misclassify some rows, whatever the budget.

        Parameters
        ----------
        rows : ndarray of int
            Rows with finite margins.
        weights : ndarray of float or None, default=None
            For every row of the table, how much of its sample weight is shifted; all of it if None.

        Returns
        -------
        shift : Shift
        """
        weights = self.labels.sample_weights if weights is None else weights
        return cheapest_moves(self.uncertainty.costs, rows, self._region_of[rows], self.tree.regions, weights)

    @property
    def region_of(self) -> IntArray:
        """For each row, the leaf where misclassifying it is cheapest, counted from left to right.

        A row that is misclassified without a shift stays in its leaf.
        """
        return self._region_of

    @cached_property
    def _is_correct(self) -> NDArray[np.bool_]:
        return np.asarray(self.tree.predict(self.table) == self.labels.codes)

    @cached_property
    def _by_cost(self) -> tuple[NDArray[np.intp], FloatArray]:
        """Rows with finite margins, by cost of one unit of weight and then by row, and their cumulative costs."""
        costs = self.margins / self.labels.sample_class_weights
        order = np.argsort(costs, kind="stable")
        order = order[: int(np.count_nonzero(np.isfinite(self.margins)))]
        return order, np.cumsum(self.margins[order] * self.labels.sample_weights[order])

    @cached_property
    def _n_affordable(self) -> int:
        """Number of rows in this order that the budget affords completely."""
        return int(np.count_nonzero(self.uncertainty.affords(self._by_cost[1])))

    @property
    def _remaining_budget(self) -> float:
        """Part of the budget that remains for the next row."""
        costs = self._by_cost[1]
        return self.uncertainty.affordable_total - (float(costs[self._n_affordable - 1]) if self._n_affordable else 0.0)


def attack(tree: Tree, labels: Labels, uncertainty: UncertaintySet) -> Attack:
    """Compute the worst affordable shift of a table against a tree.

    Parameters
    ----------
    tree : Tree
    labels : Labels
        Labels of the table, encoded with the classes of the tree.
    uncertainty : UncertaintySet
        Costs of all moves of the table, and the budget.

    Returns
    -------
    attack : Attack
        Exact margins, worst case, worst shift, and the curve over all budgets.

    Raises
    ------
    TypeError
        If `labels` is not a `Labels` object.
    ValueError
        If table or labels do not fit the tree.
    """
    if not isinstance(labels, Labels):
        raise TypeError(f"labels are a {type(labels).__name__}; expected what hardwood.encode_labels returns")
    table = uncertainty.costs.table
    tree.check_table(table)
    if len(labels.codes) != table.n_samples:
        raise ValueError(f"there are {len(labels.codes)} labels but {table.n_samples} rows; expected as many")
    if labels.classes != tree.classes:
        raise ValueError(
            f"the labels have the classes {list(labels.classes)}, the tree {list(tree.classes)}; "
            f"encode the labels with classes=tree.classes"
        )
    regions = [compiled_region(tree.features, region) for region in tree.regions]
    margins, region_of = compiled.margins(table.values, compiled_costs(uncertainty), labels.codes, regions)
    # A sample that is misclassified without a shift stays in its leaf, even if it could move at no cost.
    leaf_of = tree.leaf_of(table)
    leaf_labels = np.array([region.label for region in tree.regions], dtype=np.int32)
    wrong = leaf_labels[leaf_of] != labels.codes
    region_of[wrong] = leaf_of[wrong]
    return Attack(tree, labels, uncertainty, margins, region_of)
