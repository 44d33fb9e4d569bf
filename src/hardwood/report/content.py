"""The numbers of a report, before they become a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hardwood.certificate import Certificate, is_about
from hardwood.data.labels import Labels
from hardwood.data.table import Table
from hardwood.evaluation import AccuracyDistribution, distribution_of
from hardwood.shiftlab import PlausibilityChoice
from hardwood.shiftlab.coverage import CostDistribution, cost_distributions, used_features
from hardwood.shifts.models import ShiftModel, is_own_model
from hardwood.trees.attack import Attack, attack
from hardwood.trees.node_stats import NodeStats, node_stats
from hardwood.trees.tree import Tree

THIS_TREE = "this tree"  # name of the reported tree among the curves
_N_CURVE_POINTS = 201


@dataclass(frozen=True)
class Model:
    """A tree, the shifts that it was learnt for, and its certificate.

    Parameters
    ----------
    tree : Tree
        The tree.
    shifts : ShiftModel
        The shifts that it is hedged against.
    certificate : Certificate or None
        What is proved about the tree, if it has a certificate.
    """

    tree: Tree
    shifts: ShiftModel
    certificate: Certificate | None


@dataclass(frozen=True, eq=False)
class Level:
    """A tree for one plausibility, attacked on the table of the report.

    Parameters
    ----------
    attack : Attack
        The adversary's best affordable shift against the tree.
    shifts : ShiftModel
        The shifts that the tree is hedged against.
    certificate : Certificate or None
        What is proved about the tree, if it has a certificate.
    """

    attack: Attack
    shifts: ShiftModel
    certificate: Certificate | None

    @property
    def plausibility(self) -> float | None:
        """Plausibility that the tree was learnt for; None if a budget or boxes were given instead."""
        return self.shifts.stated_plausibility

    @property
    def title(self) -> str:
        """What the tree is hedged against, such as "Plausibility 0.9"."""
        if not self.shifts.has_budget:
            return "Boxes around each row"
        if self.plausibility is None:
            return f"Budget {self.attack.uncertainty.budget:.4g}"
        return f"Plausibility {self.plausibility:.6g}"

    @cached_property
    def nodes(self) -> tuple[NodeStats, ...]:
        """All nodes of the tree with their samples, parents before their children."""
        return node_stats(self.attack)

    @property
    def leaves(self) -> list[NodeStats]:
        """The leaves, from left to right."""
        return [node for node in self.nodes if node.leaf is not None]


@dataclass(frozen=True)
class About:
    """Facts about a model that do not follow from its data; "" omits a fact.

    Parameters
    ----------
    target : str
        What is predicted.
    date : str
        Date of the report.
    author : str
        Who is responsible for the model.
    source : str
        Where the table comes from.
    intended_use : str
        What the model is for, and what it is not for.
    """

    target: str = ""
    date: str = ""
    author: str = ""
    source: str = ""
    intended_use: str = ""


@dataclass(frozen=True, eq=False)
class RandomShifts:
    """Effect and cost of random shifts, drawn as the certainties state.

    Parameters
    ----------
    accuracy : AccuracyDistribution
        Accuracy of the reported tree under random shifts.
    all_columns : CostDistribution
        Cost of a random shift of all columns.
    used_columns : CostDistribution
        Cost of a random shift of the columns that the tree uses.
    """

    accuracy: AccuracyDistribution
    all_columns: CostDistribution
    used_columns: CostDistribution


@dataclass(frozen=True, eq=False)
class Content:
    """Everything that a report shows.

    Parameters
    ----------
    title : str
        Headline of the page.
    levels : tuple of Level
        Trees by plausibility, from 1 downwards.
    chosen : int
        Index of the level that the report is about.
    baselines : dict of str to Attack
        Trees to compare with, attacked within the same uncertainty set.
    show_rows : bool
        Whether the report may show single rows.
    about : About
        Facts that do not follow from the data.
    unseen : tuple of Attack
        For each level, the attack on rows that its tree has not seen; empty if there are none.
    choice : PlausibilityChoice or None
        Results of every level of a path, if the report shows how to choose one.
    """

    title: str
    levels: tuple[Level, ...]
    chosen: int
    baselines: dict[str, Attack] = field(repr=False)
    show_rows: bool = False
    about: About = About()
    unseen: tuple[Attack, ...] = ()
    choice: PlausibilityChoice | None = None

    @property
    def level(self) -> Level:
        """The level that the report is about."""
        return self.levels[self.chosen]

    @property
    def attack(self) -> Attack:
        """The attack on the tree that the report is about."""
        return self.level.attack

    @property
    def tree(self) -> Tree:
        """The tree that the report is about."""
        return self.attack.tree

    @property
    def table(self) -> Table:
        """The table that all numbers are about."""
        return self.attack.uncertainty.costs.table

    @property
    def total_weight(self) -> float:
        """Total weight of the rows: how many people they represent."""
        return self.attack.labels.total_weight

    @property
    def weighted(self) -> bool:
        """Whether the rows have sample weights."""
        return self.attack.labels.weights is not None

    @property
    def measure(self) -> str:
        """Name of the accuracy that shares are."""
        if self.attack.labels.class_weights is None:
            return "accuracy"
        class_weight = None if self.level.certificate is None else self.level.certificate.class_weight
        return "balanced accuracy" if class_weight == "balanced" else "class-weighted accuracy"

    @cached_property
    def same_data(self) -> bool:
        """Whether the table is the one that the certificate is about."""
        return is_about(self.level.certificate, self.table, self.attack.labels)

    @property
    def attacks(self) -> dict[str, Attack]:
        """Attacks on the reported tree and on the baselines, by name."""
        return {THIS_TREE: self.attack} | self.baselines

    @cached_property
    def curves(self) -> dict[str, list[float]]:
        """Worst-case accuracy of all trees at equally spaced budgets up to `largest_budget`."""
        budgets = np.linspace(0.0, self.largest_budget, _N_CURVE_POINTS)
        return {
            name: [round(float(accuracy), 5) for accuracy in attacked.curve.accuracy_at(budgets)]
            for name, attacked in self.attacks.items()
        }

    @property
    def largest_budget(self) -> float:
        """Where the curves end: at plausibility 0.5, or at twice the budget if that is more."""
        return max(self.total_weight * math.log(2.0), 2.0 * self.attack.uncertainty.budget)

    @cached_property
    def used_features(self) -> tuple[int, ...]:
        """Features that some tree of the report uses."""
        return tuple(sorted({j for level in self.levels for j in used_features(level.attack.tree)}))

    @property
    def calibrated(self) -> bool:
        """Whether costs follow from certainties, so that they state how likely a change is."""
        return self.has_probabilities and is_own_model(self.level.shifts)

    @property
    def has_probabilities(self) -> bool:
        """Whether the shift model states how likely changes are."""
        return self.level.shifts.has_probabilities

    @cached_property
    def random_shifts(self) -> RandomShifts | None:
        """Effect and cost of random shifts; None if the shift model does not state how likely changes are."""
        if not self.has_probabilities:
            return None
        shifts, labels = self.level.shifts, self.attack.labels
        columns = range(len(self.table.features)), used_features(self.tree)
        all_columns, used_columns = cost_distributions(
            self.table,
            np.asarray(labels.sample_weights),
            shifts,
            columns,
            has_integer_weights=labels.has_integer_weights,
        )
        accuracy = distribution_of(self.tree, self.table, labels, shifts)
        return RandomShifts(accuracy, all_columns, used_columns)


def content_of(
    models: Sequence[Model],
    chosen: int,
    table: Table,
    labels: Labels,
    *,
    baselines: Mapping[str, Tree],
    title: str,
    show_rows: bool = False,
    about: About = About(),
    unseen: tuple[Table, Labels] | None = None,
    choice: PlausibilityChoice | None = None,
) -> Content:
    """Attack all trees of a report on its table.

    Parameters
    ----------
    models : sequence of Model
        Models by falling plausibility.
    chosen : int
        Index of the model that the report is about.
    table, labels : Table, Labels
        The table of the report and its labels.
    baselines : mapping of str to Tree
        Trees to compare with, by name.
    title : str
        Headline of the page.
    show_rows : bool, default=False
        Whether the report may show single rows.
    about : About
        Facts that do not follow from the data.
    unseen : tuple of (Table, Labels), optional
        Rows that the trees have not seen.
    choice : PlausibilityChoice, optional
        Results of every level of a path.

    Returns
    -------
    content : Content
    """
    levels = tuple(Level(_attacked(model, table, labels), model.shifts, model.certificate) for model in models)
    uncertainty = levels[chosen].attack.uncertainty
    attacked_baselines = {name: attack(tree, labels, uncertainty) for name, tree in baselines.items()}
    on_unseen = () if unseen is None else tuple(_attacked(model, *unseen) for model in models)
    return Content(title, levels, chosen, attacked_baselines, show_rows, about, on_unseen, choice)


def _attacked(model: Model, table: Table, labels: Labels) -> Attack:
    """Return the attack on a model's tree within its own uncertainty set for a table."""
    return attack(model.tree, labels, model.shifts.uncertainty(table, total_weight=labels.total_weight))
