"""Everything that a report says, as numbers and words, before it becomes a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from hardwood.certificate import Certificate, is_about
from hardwood.data.features import BELOW_ALL, NO_ANSWER, NO_ANSWER_WORDS, Kind, Table
from hardwood.data.labels import Labels
from hardwood.evaluation import AccuracyDistribution, distribution_of
from hardwood.shift.calibration import Direction
from hardwood.shift.description import ShiftDescription
from hardwood.shiftlab import PlausibilityChoice
from hardwood.shiftlab.coverage import PriceDistribution, asked_by, price_distributions
from hardwood.trees.adversary import Attack, attack, plain_number
from hardwood.trees.anatomy import Part, anatomy, words_of
from hardwood.trees.tree import Branch, Leaf, Limit, Node, Tree

OWN = "this tree"
ANY_OTHER = "any other answer"
MOST_ANSWERS = 50  # of a table of prices in the page
MOST_PRICES = 2000  # of one column in the page; a wider column with prices by value has no margins there
GRID = 201  # points of a curve
FEW = 5  # rows that are not told apart


@dataclass(frozen=True)
class Model:
    """A tree, the shifts that it was learnt for, and what is proved about it."""

    tree: Tree
    shifts: ShiftDescription
    certificate: Certificate | None


@dataclass(frozen=True, eq=False)
class Level:
    """A tree for one plausibility, on the table of the report."""

    found: Attack
    shifts: ShiftDescription
    certificate: Certificate | None

    @property
    def plausibility(self) -> float | None:
        """What the tree was made for; None if it was not said by a plausibility, but by a budget or by boxes."""
        return self.shifts.plausibility if self.shifts.budget is None and self.shifts.radius is None else None

    @property
    def words(self) -> str:
        """What the tree was made for."""
        if self.shifts.radius is not None:
            return "Boxes around each row"
        if self.plausibility is None:
            return f"Budget {self.found.uncertainty.budget:.4g}"
        return f"Plausibility {self.plausibility:.6g}"

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The tree with its samples."""
        return anatomy(self.found)

    @property
    def leaves(self) -> list[Part]:
        """The leaves, from left to right."""
        return [part for part in self.parts if part.leaf is not None]


@dataclass(frozen=True)
class About:
    """What a reader should know about a model that no number says; "" where nobody said it.

    target        what is predicted
    date          of the report
    author        who answers for the model
    source        where the table comes from
    intended_use  what the model is for, and what it is not for
    """

    target: str = ""
    date: str = ""
    author: str = ""
    source: str = ""
    intended_use: str = ""


@dataclass(frozen=True, eq=False)
class Content:
    """A report.

    levels  trees by plausibility, from 1 downwards; `chosen` is the one that the report is about
    rivals  what else one might have used, under the same shifts
    rows    whether single rows may be shown
    about   what no number says
    unseen  for each level, what the adversary does to its tree on rows that it has not seen, if there are some
    choice  what each level of a path brings, if somebody asked which one to choose
    """

    title: str
    levels: tuple[Level, ...]
    chosen: int
    rivals: dict[str, Attack] = field(repr=False)
    rows: bool = False
    about: About = About()
    unseen: tuple[Attack, ...] = ()
    choice: PlausibilityChoice | None = None

    @property
    def level(self) -> Level:
        """The tree that the report is about."""
        return self.levels[self.chosen]

    @property
    def table(self) -> Table:
        """The rows that all numbers are about."""
        return self.level.found.uncertainty.costs.table

    @property
    def people(self) -> float:
        """How many people the rows stand for."""
        return self.level.found.labels.people

    @property
    def weighted(self) -> bool:
        """Whether rows stand for other numbers of people than one."""
        return self.level.found.labels.weights is not None

    @property
    def measure(self) -> str:
        """What shares are called."""
        if self.level.found.labels.worth is None:
            return "accuracy"
        said = None if self.level.certificate is None else self.level.certificate.class_weight
        return "balanced accuracy" if said == "balanced" else "accuracy by what classes are worth"

    @cached_property
    def same_data(self) -> bool:
        """Whether the table is the one that the certificate is about."""
        return is_about(self.level.certificate, self.table, self.level.found.labels)

    @cached_property
    def curves(self) -> dict[str, list[float]]:
        """Worst-case accuracy of all trees at equally spaced budgets up to `largest_budget`."""
        budgets = np.linspace(0.0, self.largest_budget, GRID)
        found = {OWN: self.level.found} | self.rivals
        return {name: [round(float(x), 5) for x in own.curve.accuracy_at(budgets)] for name, own in found.items()}

    @property
    def largest_budget(self) -> float:
        """Where the curves end: at plausibility 0.5, or at twice the budget if that is more."""
        return max(self.people * math.log(2.0), 2.0 * self.level.found.uncertainty.budget)

    @cached_property
    def asked(self) -> tuple[int, ...]:
        """The columns that some tree of the report asks for."""
        nodes = [node for level in self.levels for node in level.found.tree.nodes]
        return tuple(sorted({node.feature for node in nodes if isinstance(node, Branch)}))

    @cached_property
    def by_chance(self) -> tuple[AccuracyDistribution, PriceDistribution, PriceDistribution] | None:
        """Accuracy under random shifts, and what these cost: all columns, those that the tree asks for.

        None if prices were given instead of certainties.
        """
        if not self.likely or self.level.shifts.certainty is None:
            return None
        found, shifts = self.level.found, self.level.shifts
        people, whole = np.asarray(found.labels.row_people), found.labels.whole
        columns = range(len(self.table.features)), asked_by(found.tree)
        everything, asked = price_distributions(self.table, people, shifts, columns, whole=whole)
        return distribution_of(found.tree, self.table, found.labels, shifts), everything, asked

    def changes(self) -> list[dict[str, Any]]:
        """What the worst shift changes, told as the tree sees it, most frequent first; few rows together are "other".

        Single values of rows stay unknown: a value is told by the range between two thresholds of the tree.
        """
        shift, tree = self.level.found.shift, self.level.found.tree
        groups: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
        cells = zip(shift.columns, shift.rows, shift.codes, shift.prices * shift.people, shift.people, strict=True)
        for j, row, code, price, people in cells:
            old = self.table.values[row, j]
            feature = tree.features[j]
            new = self._choice(int(j), int(row), int(old)) or _seen(tree, int(j), int(code))
            key = (feature.name, _seen(tree, int(j), int(old)), new)
            groups.setdefault(key, []).append((float(people), float(price)))
        others = [own for own in groups.values() if len(own) < FEW]
        entries: list[dict[str, Any]] = [
            {"column": column, "from": old, "to": new} | _together(own)
            for (column, old, new), own in groups.items()
            if len(own) >= FEW
        ]
        entries.sort(key=lambda entry: -entry["rows"])
        if others:
            entries.append(
                {"column": "other changes", "from": "", "to": ""}
                | _together([change for own in others for change in own])
            )
        return entries

    def _choice(self, j: int, row: int, old: int) -> str:
        """Words for several answers that the adversary could give as well, at one price; "" if there is one only."""
        costs, feature = self.level.found.uncertainty.costs, self.table.features[j]
        if feature.ordered or costs.tables[j] is not None or costs.prices[j].shape[1] > 1:
            return ""
        region = self.level.found.tree.regions[self.level.found.region_of[row]]
        limit = next(own for own in region.limits if own.feature == j)
        others = sorted((limit.allowed or frozenset()) - {old})
        if len(others) < 2:
            return ""
        if len(others) == feature.n_values - 1:
            return ANY_OTHER
        return " or ".join(str(feature.categories[k]) for k in others) if len(others) <= 3 else f"one of {len(others)}"

    def script_data(self) -> dict[str, Any]:
        """What the script needs to trace a record and to move along the path."""
        return {
            "chosen": self.chosen,
            "classes": [str(name) for name in self.level.found.tree.classes],
            "features": [self._feature_data(j) for j in self.asked],
            "levels": [_node_data(level.found.tree.root, [0]) for level in self.levels],
            "curves": self.curves,
            "largestBudget": self.largest_budget,
            "nSamples": self.people,
            "likely": self.likely,
            "noAnswer": NO_ANSWER,
        }

    @property
    def likely(self) -> bool:
        """Whether prices stand for probabilities: they follow from certainties."""
        shifts = self.level.shifts
        return shifts.costs is None and shifts.radius is None

    def _moves(self, j: int) -> dict[str, Any] | None:
        """Prices of moving a value of a column, for any record; None if they belong to single rows, or are too many.

        With a bound, the price of an integer depends on the value: there is one for each value, from `first` on.
        Otherwise it is the same for all.
        """
        shifts = replace(self.level.shifts, clip=True)  # values that no row has may be less certain than allowed
        if shifts.by_cell:
            return None
        costs = self.level.found.uncertainty.costs
        feature, reach = self.table.features[j], costs.reach[j]
        if (own := costs.tables[j]) is not None:
            numbers = own.numbers.tolist()
            table = [[_number(price) for price in row] for row in numbers]
            return {"codes": own.codes.tolist(), "table": table} if len(table) <= MOST_ANSWERS else None
        first = last = feature.low
        if feature.ordered and (reach.lower is not None or reach.upper is not None):
            beyond = feature.n_values + 10  # on a side without a bound; farther out the page has no margin
            first = feature.low - beyond if reach.lower is None else min(feature.low, reach.lower)
            last = feature.high + beyond if reach.upper is None else max(feature.high, reach.upper)
        if last - first >= MOST_PRICES:
            return None
        probes = np.repeat(self.table.values[:1], last - first + 1, axis=0)
        probes[:, j] = np.arange(first, last + 1)
        probed = shifts.uncertainty(Table(self.table.features, probes), budget=0.0).costs
        prices, missing = probed.prices[j], probed.missing[j]
        return {
            "table": None,
            "missing": None if missing is None else _number(float(missing[0])),
            "prices": [[_number(price) for price in row] for row in prices.tolist()],
            "first": first if len(prices) > 1 else None,
            "mayRise": reach.direction is not Direction.DOWN,
            "mayFall": reach.direction is not Direction.UP,
            "lower": reach.lower,
            "upper": reach.upper,
            "steps": reach.steps,
        }

    def _feature_data(self, j: int) -> dict[str, Any]:
        feature = self.table.features[j]
        return {
            "index": j,
            "name": feature.name,
            "kind": str(feature.kind),
            "ordered": feature.ordered,
            "missing": feature.missing,
            "middle": (feature.low + feature.high) // 2,
            "answers": [str(answer) for answer in feature.categories],
            "edges": list(feature.edges) if feature.kind is Kind.BINNED else [],
            "moves": self._moves(j),
        }


def content_of(
    models: Sequence[Model],
    chosen: int,
    table: Table,
    labels: Labels,
    *,
    rivals: Mapping[str, Tree],
    title: str,
    rows: bool = False,
    about: About = About(),
    unseen: tuple[Table, Labels] | None = None,
    choice: PlausibilityChoice | None = None,
) -> Content:
    """Work out everything about models, by falling plausibility, on one table; the chosen one is reported."""
    levels = tuple(
        Level(
            attack(model.tree, labels, model.shifts.uncertainty(table, people=labels.people)),
            model.shifts,
            model.certificate,
        )
        for model in models
    )
    set_of_shifts = levels[chosen].found.uncertainty
    against = {name: attack(tree, labels, set_of_shifts) for name, tree in rivals.items()}
    others: tuple[Attack, ...] = ()
    if unseen is not None:
        there, who = unseen
        others = tuple(attack(model.tree, who, model.shifts.uncertainty(there, people=who.people)) for model in models)
    return Content(title, levels, chosen, against, rows, about, others, choice)


def _seen(tree: Tree, j: int, code: int) -> str:
    """A value as a tree sees it: between which of its thresholds, or which answer."""
    feature = tree.features[j]
    if code == NO_ANSWER:
        return NO_ANSWER_WORDS
    if not feature.ordered:
        return str(feature.categories[code])
    thresholds = sorted(
        node.code for node in tree.nodes if isinstance(node, Branch) and node.feature == j and node.code != BELOW_ALL
    )
    above = [threshold for threshold in thresholds if threshold >= code]
    below = [threshold + 1 for threshold in thresholds if threshold < code]
    return words_of(feature, Limit(j, below[-1] if below else None, above[0] if above else None))


def _node_data(node: Node, next_leaf: list[int]) -> dict[str, Any]:
    if isinstance(node, Leaf):
        next_leaf[0] += 1
        return {"label": node.label, "leaf": next_leaf[0] - 1}
    left = _node_data(node.left, next_leaf)
    own = {"feature": node.feature, "code": node.code, "missingLeft": node.missing_left}
    return own | {"yes": left, "no": _node_data(node.right, next_leaf)}


def _together(changes: list[tuple[float, float]]) -> dict[str, float]:
    """People and price of some changes."""
    return {"rows": plain_number(sum(people for people, _ in changes)), "price": sum(price for _, price in changes)}


def _number(price: float) -> float | None:
    """JSON has no infinity: null is a move that never happens."""
    return price if math.isfinite(price) else None
