"""Everything that a report says, as numbers and words, before it becomes a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hardwood.adversary import Attack, attack
from hardwood.anatomy import Part, anatomy
from hardwood.calibration import Direction
from hardwood.certificate import Certificate, data_hash
from hardwood.features import Feature, Kind, Labels, Table
from hardwood.problem import Problem
from hardwood.report.rivals import rivals
from hardwood.shifts import ShiftDescription
from hardwood.tree import Branch, Leaf, Node, Tree

OWN = "this tree"
MOST_PRICES = 2000  # of one column in the page; a wider column with prices by value has no margins there
GRID = 201  # points of a curve


@dataclass(frozen=True)
class Model:
    """A tree, the shifts that it was learnt for, what is proved about it, and the depth that was allowed."""

    tree: Tree
    shifts: ShiftDescription
    certificate: Certificate | None
    max_depth: int


@dataclass(frozen=True, eq=False)
class Level:
    """A tree for one plausibility, on the table of the report."""

    found: Attack
    shifts: ShiftDescription
    certificate: Certificate | None

    @property
    def plausibility(self) -> float:
        """What the tree was made for; a budget counts as the plausibility that it would be on this table."""
        if self.shifts.budget is None:
            return self.shifts.plausibility
        return math.exp(-self.found.uncertainty.budget / self.found.n_samples)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The tree with its samples."""
        return anatomy(self.found)

    @property
    def leaves(self) -> list[Part]:
        """The leaves, from left to right."""
        return [part for part in self.parts if part.leaf is not None]


@dataclass(frozen=True, eq=False)
class Content:
    """A report.

    levels  trees by plausibility, from 1 downwards; `chosen` is the one that the report is about
    rivals  what else one might have used, under the same shifts
    rows    whether single rows may be shown
    """

    title: str
    levels: tuple[Level, ...]
    chosen: int
    rivals: dict[str, Attack] = field(repr=False)
    rows: bool = False

    @property
    def level(self) -> Level:
        """The tree that the report is about."""
        return self.levels[self.chosen]

    @property
    def table(self) -> Table:
        """The rows that all numbers are about."""
        return self.level.found.uncertainty.costs.table

    @property
    def same_data(self) -> bool:
        """Whether the table is the one that the certificate is about."""
        certificate = self.level.certificate
        return certificate is not None and certificate.data_hash == data_hash(self.table, self.level.found.labels)

    @cached_property
    def curves(self) -> dict[str, list[float]]:
        """Worst-case accuracy of all trees at equally spaced budgets up to `largest_budget`."""
        budgets = np.linspace(0.0, self.largest_budget, GRID)
        found = {OWN: self.level.found} | self.rivals
        return {name: [round(float(x), 5) for x in own.curve.accuracy_at(budgets)] for name, own in found.items()}

    @property
    def largest_budget(self) -> float:
        """Where the curves end: at plausibility 0.5, or at twice the budget if that is more."""
        n_samples = self.table.n_samples
        return max(n_samples * math.log(2.0), 2.0 * self.level.found.uncertainty.budget)

    @cached_property
    def asked(self) -> tuple[int, ...]:
        """The columns that some tree of the report asks for."""
        nodes = [node for level in self.levels for node in level.found.tree.nodes]
        return tuple(sorted({node.feature for node in nodes if isinstance(node, Branch)}))

    def script_data(self) -> dict[str, Any]:
        """What the script needs to trace a record and to move along the path."""
        return {
            "chosen": self.chosen,
            "classes": [str(name) for name in self.level.found.tree.classes],
            "features": [_feature_data(j, self.table.features[j], self._moves(j)) for j in self.asked],
            "levels": [
                {"plausibility": level.plausibility, "tree": _node_data(level.found.tree.root, [0])}
                for level in self.levels
            ],
            "curves": self.curves,
            "largestBudget": self.largest_budget,
            "budget": self.level.found.uncertainty.budget,
            "nSamples": self.table.n_samples,
        }

    def _moves(self, j: int) -> dict[str, Any] | None:
        """Prices of moving a value of a column, for any record; None if they belong to single rows."""
        shifts = self.level.shifts
        if shifts.by_cell:
            return None
        feature = self.table.features[j]
        n_probes = min(feature.n_values, MOST_PRICES)
        probes = np.repeat(self.table.values[:1], n_probes, axis=0)
        probes[:, j] = feature.low + np.arange(n_probes)
        costs = shifts.uncertainty(Table(self.table.features, probes), budget=0.0).costs
        prices, reach = costs.prices[j], costs.reach[j]
        if feature.ordered and (prices == prices[0]).all():
            prices = prices[:1]
        if len(prices) > 1 and feature.n_values > MOST_PRICES:
            return None
        return {
            "prices": [[_number(price) for price in row] for row in prices.tolist()],
            "mayRise": reach.direction is not Direction.DOWN,
            "mayFall": reach.direction is not Direction.UP,
            "lower": reach.lower,
            "upper": reach.upper,
            "steps": reach.steps,
        }


def content_of(
    models: Sequence[Model],
    chosen: int,
    table: Table,
    labels: Labels,
    *,
    title: str,
    rows: bool = False,
) -> Content:
    """Work out everything about models, by falling plausibility, on one table; the chosen one is reported."""
    levels = tuple(
        Level(attack(model.tree, labels, model.shifts.uncertainty(table)), model.shifts, model.certificate)
        for model in models
    )
    uncertainty = levels[chosen].found.uncertainty
    others = rivals(Problem(labels, uncertainty, models[chosen].max_depth))
    against = {name: attack(tree, labels, uncertainty) for name, tree in others.items()}
    return Content(title, levels, chosen, against, rows)


def _feature_data(j: int, feature: Feature, moves: dict[str, Any] | None) -> dict[str, Any]:
    answers = [str(answer) for answer in feature.categories]
    return {
        "index": j,
        "name": feature.name,
        "kind": str(feature.kind),
        "ordered": feature.ordered,
        "low": feature.low,
        "high": feature.high,
        "answers": answers,
        "edges": list(feature.edges) if feature.kind is Kind.BINNED else [],
        "moves": moves,
    }


def _node_data(node: Node, next_leaf: list[int]) -> dict[str, Any]:
    if isinstance(node, Leaf):
        next_leaf[0] += 1
        return {"label": node.label, "leaf": next_leaf[0] - 1}
    left = _node_data(node.left, next_leaf)
    return {"feature": node.feature, "code": node.code, "yes": left, "no": _node_data(node.right, next_leaf)}


def _number(price: float) -> float | None:
    """JSON has no infinity: null is a move that never happens."""
    return price if math.isfinite(price) else None
