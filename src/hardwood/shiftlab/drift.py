"""Was it within the budget? What the shift that really came cost, beside what was hedged against.

Of the same people in two tables, the price is known: change by change, as the adversary would have paid. Of different
people, only the least price that explains how the answers of each column are shared out. A tree sees the columns that
it asks for, so its guarantee needs the changes of these to stay within the budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from hardwood._support.notebook import InNotebook
from hardwood._support.text import shown
from hardwood.data.columns import Column, read_column
from hardwood.data.features import NO_ANSWER, Feature, IntArray, Table, encode
from hardwood.data.labels import Labels, encode_labels
from hardwood.data.pairs import matching_rows, names_in, refuse_other_counts
from hardwood.estimators.audit import column_named, only_known, read_for_audit, said_for, without_steps
from hardwood.estimators.base import TreeClassifier
from hardwood.estimators.robust import cell_rows
from hardwood.shift.account import aligned
from hardwood.shift.calibration import FloatArray
from hardwood.shift.description import ShiftDescription
from hardwood.shift.uncertainty import MoveCosts, UncertaintySet
from hardwood.shiftlab.coverage import asked_by
from hardwood.shiftlab.transport import cheapest_transport, shares_by_code
from hardwood.trees.adversary import attack
from hardwood.trees.tree import Tree

WITHIN, BEYOND, POSSIBLE = "within", "beyond", "possible"
SURE = 0.05  # the chance with which drawing other people may be taken for a shift, in all columns together
DRAWINGS = 60  # that show how much drawing other people explains
MOST_CODES = 40  # of a column whose transport is computed; of more, what every step costs at least is taken


@dataclass(frozen=True)
class ColumnDrift:
    """What happened to one column.

    asked       whether the tree asks for it
    changed     people whose answer is another one; of different people, at least
    price       of these changes, without those that have none; of different people, at least
    impossible  people whose change has no price: a new answer, out of bounds, against the direction, or certain
    drawn       of different people: how much of the price drawing other people explains, and ...
    drawn_impossible  ... how many of those whose change has no price
    """

    name: str
    asked: bool
    changed: float
    price: float
    impossible: float
    drawn: float = 0.0
    drawn_impossible: float = 0.0

    @property
    def told(self) -> float:
        """The price that counts: +inf if a change has none; without what drawing other people explains."""
        return math.inf if self.impossible > self.drawn_impossible else max(self.price - self.drawn, 0.0)


@dataclass(frozen=True, eq=False)
class Drift(InNotebook):
    """What a shift cost, beside the budget. Prints as a table with a verdict.

    by_column    columns by name
    people       how many the first table stands for
    budget       what was hedged against, for so many people
    linked       whether both tables are of the same people
    then, now    accuracy in the first table and in the second, if labels were given
    guarantee    accuracy after the worst shift of the first table within the budget: what the tree promises
    labels_changed  people whose label is another one in the second table: no guarantee speaks of that
    turned       people whom the shift made wrong, and ...
    turned_price ... the lowest price at which the adversary could have done the same: the guarantee holds while that is
                 within the budget, whatever else changed
    """

    by_column: dict[str, ColumnDrift]
    people: float
    budget: float
    linked: bool
    uncertainty: UncertaintySet = field(repr=False)
    then: float | None = None
    now: float | None = None
    guarantee: float | None = None
    labels_changed: float = 0.0
    turned: float | None = None
    turned_price: float | None = None

    @property
    def price(self) -> float:
        """Of the changes in the columns that the tree asks for; +inf if one of them has no price."""
        return _sum(own for own in self.by_column.values() if own.asked)

    @property
    def price_of_all(self) -> float:
        """Of the changes in all columns."""
        return _sum(self.by_column.values())

    @property
    def plausibility(self) -> float:
        """How plausible the shift was, per person, in the columns that the tree asks for."""
        return math.exp(-self.price / self.people)

    @property
    def status(self) -> str:
        """Whether "within" the budget, "beyond" it, or, of different people, "possible": nothing speaks against it."""
        if not self.uncertainty.affords(self.price):
            return BEYOND
        return WITHIN if self.linked else POSSIBLE

    @property
    def within(self) -> bool:
        """Whether the shift did not cost more than the budget, as far as can be known."""
        return self.status != BEYOND

    @property
    def kept(self) -> bool | None:
        """Whether the accuracy is at least what was guaranteed; None if labels are not known, or not of these people.

        Within the budget it must be, as long as labels stay. Beyond it, it often is: most changes harm nobody.
        """
        if not self.linked or self.now is None or self.guarantee is None:
            return None
        return self.now >= self.guarantee * (1.0 - 1e-12)

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        numbers = {
            "status": self.status,
            "within": self.within,
            "linked": self.linked,
            "people": self.people,
            "budget": self.budget,
            "price": _plain(self.price),
            "price_of_all_columns": _plain(self.price_of_all),
            "plausibility": self.plausibility,
            "hedged_plausibility": math.exp(-self.budget / self.people),
            "accuracy_then": self.then,
            "accuracy_now": self.now,
            "guarantee": self.guarantee,
            "guarantee_kept": self.kept,
            "labels_changed": self.labels_changed,
            "turned": self.turned,
            "turned_price": self.turned_price,
        }
        return numbers | {"columns": [asdict(own) for own in self.by_column.values()]}

    @property
    def verdict(self) -> str:
        """In a line, for monitoring."""
        level, hedged = self.plausibility, math.exp(-self.budget / self.people)
        if math.isinf(self.price):
            return f"BEYOND THE BUDGET: a change that was held to be impossible (hedged {hedged:.3g})"
        least = "" if self.linked else "at least "
        cost = f"{self.price / self.budget:.0%} of the budget" if self.budget else f"{self.price:,.2f} of nothing"
        words = {
            WITHIN: f"WITHIN THE BUDGET: the shift cost {cost}",
            BEYOND: f"BEYOND THE BUDGET: the shift cost {least}{cost}",
            POSSIBLE: f"NOT REFUTED: the shift cost at least {cost}; of different people no more can be known",
        }[self.status]
        return f"{words} (plausibility {level:.3g}, hedged {hedged:.3g})"

    def __str__(self) -> str:
        last = "impossible" if self.linked else "more than by drawing"
        head = ("column", "asked", "changed" if self.linked else "changed at least", "price", last)
        rows = [
            (
                shown(own.name),
                "yes" if own.asked else "no",
                f"{own.changed:,.0f} ({own.changed / self.people:.1%})",
                f"{own.price:,.2f}",
                (_last if self.linked else _apart)(own),
            )
            for own in self.by_column.values()
        ]
        lines = [self.verdict, "", *aligned(head, rows, right=(2, 3, 4))]
        prices = (
            f"asked by the tree: {_told(self.price)} of {self.budget:,.2f}; all columns: {_told(self.price_of_all)}"
        )
        lines.append(prices)
        if self.then is not None and self.guarantee is not None:
            now = "" if self.now is None else f", now {self.now:.1%}"
            kept = "" if self.kept is None else ": kept" if self.kept else ": NOT KEPT"
            lines.append(f"accuracy then {self.then:.1%}{now}, guaranteed within the budget {self.guarantee:.1%}{kept}")
        if self.turned_price is not None:
            lines.append(
                f"made wrong: {self.turned:,.0f} people, whom the adversary could have had for {self.turned_price:,.2f}"
            )
        if self.labels_changed:
            lines.append(f"labels differ for {self.labels_changed:,.0f} people: no guarantee speaks of that")
        return "\n".join(line.rstrip() for line in lines)


def drift(
    model: Any,
    X_then: Any,
    X_now: Any,
    y_then: Any = None,
    y_now: Any = None,
    sample_weight: Any = None,
    *,
    on: str | None = None,
    different_people: bool = False,
    shifts: ShiftDescription | None = None,
    class_weight: Any = None,
    missing_values: Any = None,
    **words: Any,
) -> Drift:
    """What the shift from one table to another really cost, beside the budget that a tree was made for.

    model          a tree, anything that `audit` takes
    X_then, X_now  the table that the guarantee is about, such as the training table, and the one that came later
    y_then, y_now  labels, to compare the accuracy that the shift cost with the guarantee; of linked rows, labels are
                   taken to be the same if `y_now` is not given
    sample_weight  how many people each row of `X_then` stands for
    on             the column that says who is who; otherwise row i of both tables is the same person
    different_people  nobody is in both tables: then the least price counts that explains how answers are shared out,
                   as far as drawing other people does not explain it
    shifts         the shifts that were hedged against, as a `ShiftDescription` or in its `words`; those that the model
                   was fitted for if nothing is said
    """
    model, said, worth = said_for(model, shifts, words, class_weight)
    rows = None
    if on is not None and not different_people:
        names = [names_in(_column(table, on), which) for table, which in ((X_then, "first"), (X_now, "second"))]
        rows = matching_rows(on, *names)
    if on is not None:
        X_then, X_now = (_without(on, model, table) for table in (X_then, X_now))
    tree, then = _read(model, X_then, missing_values)
    now = _read_now(model, tree, X_now, missing_values)
    people = encode_labels(np.zeros(then.n_samples), then.n_samples, weights=sample_weight).row_people
    labels = (
        None
        if y_then is None
        else encode_labels(y_then, then.n_samples, classes=tree.classes, weights=sample_weight, class_weight=worth)
    )
    labels_now = None if y_now is None else encode_labels(y_now, now.n_samples, classes=tree.classes)
    if rows is not None:
        chosen = np.isin(np.arange(then.n_samples), rows[0])
        cells = {name: cell_rows(getattr(said, name), chosen) for name in ("certainty", "costs")}
        said = replace(said, **cells) if said.by_cell else said
        then, now, people = then.rows(rows[0]), now.rows(rows[1]), people[rows[0]]
        labels = None if labels is None else labels.rows(rows[0])
        labels_now = None if labels_now is None else labels_now.rows(rows[1])
    if not different_people:
        refuse_other_counts(then.n_samples, now.n_samples)
    uncertainty = said.uncertainty(then, people=float(people.sum()))
    look = _apart_column if different_people else _linked_column
    asked = asked_by(tree)
    columns = {then.names[j]: look(uncertainty, now, j, people, j in asked) for j in range(len(then.features))}
    found = Drift(columns, float(people.sum()), uncertainty.budget, not different_people, uncertainty)
    return found if labels is None else _with_accuracy(found, tree, now, labels, labels_now)


def _with_accuracy(found: Drift, tree: Tree, now: Table, labels: Labels, labels_now: Labels | None) -> Drift:
    """The same with what the shift did to the accuracy."""
    before = attack(tree, labels, found.uncertainty)
    found = replace(found, then=before.nominal_accuracy, guarantee=before.worst_case_accuracy)
    here = Tree(now.features, tree.classes, tree.root)
    if not found.linked:
        if labels_now is None:
            return found
        later = Labels(labels_now.codes, labels.classes, worth=labels.worth)
        return replace(found, now=later.worth_of(here.predict(now) == later.codes) / later.total)
    codes = labels.codes if labels_now is None else labels_now.codes
    people, same = labels.row_people, codes == labels.codes
    later = Labels(codes, labels.classes, labels.weights, labels.worth)
    right = here.predict(now) == codes
    turned = same & ~right & (tree.predict(before.table) == codes)
    price = float(before.margins[turned] @ people[turned])
    return replace(
        found,
        now=later.worth_of(right) / later.total,
        labels_changed=float(people[~same].sum()),
        turned=float(people[turned].sum()),
        turned_price=price if math.isfinite(price) else None,
    )


def _read(model: Any, X: Any, missing_values: Any) -> tuple[Tree, Table]:
    """The tree, and the first table as it reads it."""
    last, read = without_steps(model, X)
    return read_for_audit(last, read, missing_values=missing_values)


def _read_now(model: Any, tree: Tree, X: Any, missing_values: Any) -> Table:
    """The second table by the features of the tree; answers that are new are one more answer."""
    last, read = without_steps(model, X)
    if isinstance(last, TreeClassifier):
        return last.encoded(read, unseen="extra", missing="category")
    words = {"unseen": "extra", "missing": "category", "missing_values": missing_values}
    return encode(read, features=tree.features, **words)


def _column(X: Any, name: str) -> Column:
    """A column of a caller's table, as it is read."""
    column_named(X, name, "on")  # says which columns there are
    return read_column(name, X[name], "category")


def _without(on: str, model: Any, X: Any) -> Any:
    """The table without the column that says who is who, in the form that it has."""
    if isinstance(model, TreeClassifier):
        return only_known(model, X)
    if isinstance(X, Mapping):
        return {name: column for name, column in X.items() if name != on}
    return nw.from_native(X, eager_only=True).drop(on, strict=False).to_native()


def _unknown(feature: Feature, codes: IntArray) -> NDArray[np.bool_]:
    """Which answers a feature does not know."""
    if feature.ordered:
        return np.asarray((codes == NO_ANSWER) & (not feature.missing))
    return np.asarray(codes > feature.high)


def _linked_column(uncertainty: UncertaintySet, now: Table, j: int, people: FloatArray, asked: bool) -> ColumnDrift:
    table = uncertainty.costs.table
    feature, new = table.features[j], now.values[:, j]
    unknown = _unknown(feature, new)
    known = np.where(unknown, table.values[:, j], new)
    prices = np.where(unknown, np.inf, uncertainty.costs.move_prices(j, np.arange(table.n_samples), known))
    changed = unknown | (new != table.values[:, j])
    possible = np.isfinite(prices)
    price = float(prices[possible] @ people[possible])
    return ColumnDrift(feature.name, asked, float(people[changed].sum()), price, float(people[~possible].sum()))


def _apart_column(uncertainty: UncertaintySet, now: Table, j: int, people: FloatArray, asked: bool) -> ColumnDrift:
    """The least price between two columns, and how much of it is explained by having drawn other people.

    The price of transport obeys the triangle inequality, so what lies between the two populations costs at least what
    lies between the tables, less what lies between each table and its population. Drawing both tables from all people
    together shows how much that is: its mean and as many standard deviations as make an error in any column rare.
    """
    table = uncertainty.costs.table
    feature, old = table.features[j], table.values[:, j]
    total = float(people.sum())
    codes, (then, later) = shares_by_code(old, now.values[:, j], people)
    moved = 0.5 * float(np.abs(then - later).sum()) * total
    transport = _transport(uncertainty.costs, j, people, codes, _unknown(feature, codes))
    price, impossible = transport(then, later * total)
    n_then, n_now = total**2 / float((people**2).sum()), now.n_samples  # weights tell less than as many people
    both = np.where(then > 0, then * n_then + later * n_now, 0.0)  # new answers are no accident of drawing
    both /= both.sum()
    draw = np.random.default_rng(j)
    noise = np.array(
        [
            transport(
                draw.multinomial(round(n_then), both) / round(n_then), draw.multinomial(n_now, both) * total / n_now
            )
            for _ in range(DRAWINGS)
        ]
    )
    away = float(norm.isf(SURE / len(table.features)))
    drawn, drawn_impossible = noise.mean(axis=0) + away * noise.std(axis=0)
    return ColumnDrift(feature.name, asked, moved, price, impossible, float(drawn), float(drawn_impossible))


def _transport(
    costs: MoveCosts, j: int, people: FloatArray, codes: IntArray, unknown: NDArray[np.bool_]
) -> Callable[[FloatArray, FloatArray], tuple[float, float]]:
    """The cheapest way from shares by code to people by code: its price, and how many find no way."""
    feature, old, total = costs.table.features[j], costs.table.values[:, j], float(people.sum())
    reach, plain = costs.reach[j], costs.tables[j] is None and NO_ANSWER not in codes
    step = float(costs.prices[j].min())
    one_price = plain and costs.prices[j].size == 1 and reach.endless and reach.steps is None
    if feature.ordered and math.isfinite(step) and (one_price or (plain and len(codes) > MOST_CODES)):
        # On a line, at one price a step, the cheapest way is the area between the two curves of shares; it is no less
        # where steps cost more, or some ways are closed.
        gaps = np.diff(codes.astype(np.float64))

        def along(then: FloatArray, later: FloatArray) -> tuple[float, float]:
            return step * float(np.abs(np.cumsum(then * total - later))[:-1] @ gaps), 0.0

        return along
    keys = [old[:, None], *(own for own in (costs.prices[j], costs.missing[j]) if own is not None and len(own) > 1)]
    matrix = np.column_stack([np.asarray(own, dtype=np.float64).reshape(len(old), -1) for own in keys])
    _, rows, place = np.unique(matrix, axis=0, return_index=True, return_inverse=True)
    amounts = np.bincount(place.ravel(), weights=people, minlength=len(rows)).astype(np.float64)
    at = np.searchsorted(codes, old[rows])  # of each kind of row, its code
    by_code = np.bincount(at, weights=amounts, minlength=len(codes))
    known = np.where(unknown, codes[0], codes)
    prices = np.array([costs.move_prices(j, np.full(len(codes), row), known) for row in rows])
    prices[:, unknown] = np.inf

    def by_programme(then: FloatArray, later: FloatArray) -> tuple[float, float]:
        # People who were drawn anew are shared out among the kinds of rows of their code as in the table.
        return cheapest_transport(amounts * (then * total / np.maximum(by_code, 1e-300))[at], later, prices)

    return by_programme


def _sum(columns: Iterable[ColumnDrift]) -> float:
    return sum(own.told for own in columns)


def _last(own: ColumnDrift) -> str:
    """Changes without a price; of different people, whether there is more than drawing explains."""
    return f"{own.impossible:,.0f}" if own.impossible else "-"


def _apart(own: ColumnDrift) -> str:
    return "no" if own.told == 0 else "yes, impossible" if math.isinf(own.told) else f"{own.told:,.2f}"


def _plain(price: float) -> Any:
    return price if math.isfinite(price) else "inf"


def _told(price: float) -> str:
    return f"{price:,.2f}" if math.isfinite(price) else "more than any budget"
