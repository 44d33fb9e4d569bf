"""How likely it is that a shift stays within the budget, and which plausibility makes it so likely.

A plausibility is no probability: it says how much less likely than "nothing changes" a shift may be, per row. What
users want to know is another number, the coverage: the probability that the shift which really comes, if certainties
are right, costs no more than the budget. A tree only sees the columns that it asks for, so for its guarantee it is
enough that the changes of these stay within the budget.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardwood._support.arguments import numbers_of
from hardwood._support.errors import ArgumentError
from hardwood._support.text import shown
from hardwood.data.features import Table, encode
from hardwood.data.labels import checked_weights
from hardwood.estimators.audit import read_for_audit, said_for, without_steps
from hardwood.shift.calibration import FloatArray, budget_of
from hardwood.shift.chances import price_amounts
from hardwood.shift.description import ShiftDescription
from hardwood.shift.totals import Chance, Draws, Total, distribution_of_sum
from hardwood.shift.uncertainty import allowance
from hardwood.trees.tree import Branch, Tree


@dataclass(frozen=True, eq=False)
class PriceDistribution:
    """What a random shift of some columns costs.

    columns  their names
    people   how many rows, or people, there are; a plausibility counts by them
    cost     the distribution of the total price
    """

    columns: tuple[str, ...]
    people: float
    cost: Total | Draws

    def within(self, budget: float) -> Chance:
        """The probability that the shift costs at most a budget."""
        if not budget >= 0:
            raise ArgumentError("budget", budget, "it must be a number >= 0")
        return self.cost.at_most(allowance(budget))

    def at(self, plausibility: float) -> Chance:
        """The probability that the shift stays within the budget of a plausibility."""
        return self.within(budget_of(plausibility, self.people))

    def plausibility_for(self, coverage: float) -> float:
        """The highest plausibility whose budget covers the shift with this probability; 0 if none does."""
        budget, more = max(self.cost.quantile(coverage), 0.0), 1e-12
        while math.isfinite(budget) and (level := math.exp(-budget / self.people)) > 0:
            if self.at(level).value >= coverage - 1e-9 or more > 1.0:
                return level
            budget, more = budget * (1.0 + more), 4.0 * more  # what doubles round must not cost coverage
        return 0.0


@dataclass(frozen=True, eq=False)
class Coverage:
    """The probability that a random shift stays within the budget.

    budget      what it is compared with
    everything  for changes of all columns together
    asked       for changes of the columns that the tree asks for, if there is a tree: enough for its guarantee
    """

    budget: float
    plausibility: float
    everything: PriceDistribution
    asked: PriceDistribution | None = None

    @property
    def all_columns(self) -> Chance:
        """The probability that the changes of all columns together stay within the budget."""
        return self.everything.within(self.budget)

    @property
    def asked_columns(self) -> Chance | None:
        """The same for the columns that the tree asks for."""
        return None if self.asked is None else self.asked.within(self.budget)

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        found: dict[str, Any] = {"plausibility": self.plausibility, "budget": self.budget}
        for name, own in (("all_columns", self.everything), ("asked_columns", self.asked)):
            if own is not None:
                chance = own.within(self.budget)
                found[name] = {
                    "columns": list(own.columns),
                    "coverage": chance.value,
                    "low": chance.low,
                    "high": chance.high,
                    "draws": chance.draws,
                    "expected_price": own.cost.mean if math.isfinite(own.cost.mean) else "inf",
                    "plausibility_for_95": own.plausibility_for(0.95),
                }
        return found

    @property
    def words(self) -> str:
        """For people who are about to choose a plausibility."""
        own = self.everything
        words = (
            f"If certainties are right, a random shift of all columns costs {own.cost.mean:,.4g} on average; with "
            f"probability {own.within(self.budget)} it stays within the budget of {self.budget:,.4g}."
        )
        level = own.plausibility_for(0.95)
        more = f" To cover 95 in 100 random shifts, plausibility would have to be {level:.3g}." if level else ""
        hint = (
            " That is a lot to ask for: a guarantee only needs the columns that the tree asks for, and most random "
            "changes harm nobody (hardwood.shiftlab.choose_plausibility shows both)."
        )
        return words + more + (hint if self.all_columns.value < 0.5 else "")

    def __str__(self) -> str:
        lines = [f"budget {self.budget:.4g} (plausibility {self.plausibility:.6g})"]
        for words, own in (("all columns", self.everything), ("the columns that the tree asks for", self.asked)):
            if own is not None:
                names = ", ".join(shown(name) for name in own.columns[:6]) + (", ..." if len(own.columns) > 6 else "")
                lines.append(
                    f"{words} ({names}): a random shift costs {own.cost.mean:.4g} on average, and is within the budget "
                    f"with probability {own.within(self.budget)}; plausibility {own.plausibility_for(0.95):.4g} would "
                    f"cover 95 in 100"
                )
        return "\n".join(lines)


def coverage(
    X: Any,
    model: Any = None,
    *,
    sample_weight: Any = None,
    shifts: ShiftDescription | None = None,
    feature_kinds: Any = None,
    max_bins: int = 10,
    missing: str = "error",
    missing_values: Any = None,
    **words: Any,
) -> Coverage:
    """The probability that a shift drawn from the calibrated distribution lies within the budget.

    X              the table that shifts
    model          a tree, anything that `audit` takes: then also for the columns that it asks for alone, and with the
                   shifts that it was fitted for if nothing is said
    sample_weight  how many people each row stands for
    shifts         what may shift, as a `ShiftDescription`, or in its `words`: certainty, plausibility, ...
    feature_kinds  and max_bins, missing, missing_values: how to read the table, if no model knows it

    It is computed by convolution, with bounds on its error; only if very many values differ in how certain they are
    is it simulated, and says so.
    """
    reading = {"kinds": feature_kinds, "max_bins": max_bins, "missing": missing, "missing_values": missing_values}
    tree, table, said = table_and_shifts(X, model, shifts, words, reading)
    people, whole = people_of(sample_weight, table.n_samples)
    budget = said.budget_for(float(people.sum()))
    columns = [range(len(table.features)), *([] if tree is None else [asked_by(tree)])]
    everything, *asked = price_distributions(table, people, said, columns, whole=whole)
    level = math.exp(-budget / float(people.sum()))
    return Coverage(budget, level, everything, asked[0] if asked else None)


def plausibility_for_coverage(target: float, X: Any, model: Any = None, **words: Any) -> float:
    """The highest plausibility whose budget covers a random shift with a probability of `target`.

    With a model, the changes of the columns that it asks for count, which is enough for its guarantee; without one,
    those of all columns. X, model and words are those of `coverage`; a plausibility among them does not matter.
    """
    level = numbers_of("target", target)
    if level.ndim != 0 or not 0 < level < 1:
        raise ArgumentError("target", target, "it must lie between 0 and 1", remedy="such as 0.95")
    found = coverage(X, model, **words)
    own = found.everything if found.asked is None else found.asked
    plausibility = own.plausibility_for(float(level))
    if plausibility == 0.0:
        raise ValueError(
            f"no plausibility covers a random shift with probability {float(level):g}: some changes that the "
            f"certainties allow have no finite price, or the price exceeds every budget"
        )
    return plausibility


def price_distribution(
    table: Table, people: FloatArray, shifts: ShiftDescription, columns: Iterable[int], *, whole: bool = True
) -> PriceDistribution:
    """What a random shift of some columns costs, see `price_amounts`."""
    chosen = list(columns)
    cost = distribution_of_sum(price_amounts(table, people, shifts, chosen, whole=whole))
    return PriceDistribution(tuple(table.names[j] for j in chosen), float(people.sum()), cost)


def price_distributions(
    table: Table,
    people: FloatArray,
    shifts: ShiftDescription,
    choices: Iterable[Iterable[int]],
    *,
    whole: bool = True,
) -> list[PriceDistribution]:
    """The same for several choices of columns; those that are the same are computed once."""
    known: dict[tuple[int, ...], PriceDistribution] = {}
    found = []
    for columns in map(tuple, choices):
        if columns not in known:
            known[columns] = price_distribution(table, people, shifts, columns, whole=whole)
        found.append(known[columns])
    return found


def asked_by(tree: Tree) -> Sequence[int]:
    """The columns that a tree asks for."""
    return sorted({node.feature for node in tree.nodes if isinstance(node, Branch)})


def people_of(sample_weight: Any, n_samples: int) -> tuple[FloatArray, bool]:
    """How many people each row stands for, and whether that is a whole number everywhere."""
    if sample_weight is None:
        return np.ones(n_samples), True
    people = checked_weights(sample_weight, n_samples)
    return people, bool((people == np.floor(people)).all())


def table_and_shifts(
    X: Any, model: Any, shifts: ShiftDescription | None, words: dict[str, Any], reading: dict[str, Any]
) -> tuple[Tree | None, Table, ShiftDescription]:
    """A tree, if there is one, the table as it reads it, and what is said about shifts."""
    if model is None:
        table = X if isinstance(X, Table) else encode(X, **reading)
        return None, table, ShiftDescription.said(shifts, words) or ShiftDescription()
    model, said, _ = said_for(model, shifts, words, None)
    model, X = without_steps(model, X)
    if isinstance(X, Table) and isinstance(model, Tree):
        return model, X, said
    return *read_for_audit(model, X, reading["kinds"], reading["max_bins"], reading["missing_values"]), said
