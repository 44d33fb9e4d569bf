"""The truth by brute force, for tiny tables: every perturbation is tried. Shares no code with the package.

A table is a list of columns, a tree is nested tuples:

    ("leaf", label)        (test, column, code, left, right)   with test "<=" or "=="; left iff the test holds
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

INFINITE = None  # a price that nobody can pay
TOLERANCE = Fraction(1, 2**32)  # the documented rule: a budget counts as larger by this part of itself


@dataclass(frozen=True)
class Column:
    """Codes of all samples, and how they may move.

    prices[i] is the price of one step of sample i (ordered), of any change (categorical), or a list of prices by
    category, of which a change pays two; infinite prices are float("inf").
    """

    ordered: bool
    codes: list[int]
    n_values: int | None  # codes are 0 .. n_values - 1; None: any whole number
    direction: str
    lower: int | None
    upper: int | None
    prices: list[float | list[float]]

    def price(self, sample: int, new: int) -> Fraction | None:
        old = self.codes[sample]
        if new == old:
            return Fraction(0)
        wrong_way = (self.direction == "up" and new < old) or (self.direction == "down" and new > old)
        outside = (self.lower is not None and new < self.lower) or (self.upper is not None and new > self.upper)
        if wrong_way or outside:
            return INFINITE
        own = self.prices[sample]
        paid = [own[old], own[new]] if isinstance(own, list) else [own] * (abs(new - old) if self.ordered else 1)
        if float("inf") in paid:
            return INFINITE
        return sum((Fraction(p) for p in paid), Fraction(0))

    def candidates(self, thresholds: list[int]) -> range:
        """All codes to try; for whole numbers a few beyond everything that occurs."""
        if self.n_values is not None:
            return range(self.n_values)
        known = self.codes + thresholds
        return range(min(known) - 2, max(known) + 4)


def predict(tree, values) -> int:
    while tree[0] != "leaf":
        test, column, code, left, right = tree
        holds = values[column] <= code if test == "<=" else values[column] == code
        tree = left if holds else right
    return tree[1]


def outcomes(columns: list[Column], labels: list[int], tree, sample: int) -> set[tuple[Fraction, bool]]:
    """(price, still correct?) over all perturbations of one sample that have a finite price."""
    moves = []
    for j, column in enumerate(columns):
        priced = [(new, column.price(sample, new)) for new in column.candidates(_thresholds(tree, j))]
        moves.append([(new, price) for new, price in priced if price is not INFINITE])
    found = set()
    for choice in itertools.product(*moves):
        total = sum((price for _, price in choice), Fraction(0))
        found.add((total, predict(tree, [new for new, _ in choice]) == labels[sample]))
    return found


def margin(columns: list[Column], labels: list[int], tree, sample: int) -> Fraction | None:
    return min((price for price, correct in outcomes(columns, labels, tree, sample) if not correct), default=INFINITE)


def worst_case(columns: list[Column], labels: list[int], tree, budget: float) -> int:
    """Fewest samples correct over all perturbations of the whole table that the budget affords."""
    affordable = Fraction(budget) * (1 + TOLERANCE)
    per_sample = [sorted(outcomes(columns, labels, tree, i)) for i in range(len(labels))]
    fewest = len(labels)

    def perturb(sample: int, spent: Fraction, correct: int) -> None:
        nonlocal fewest
        if sample == len(labels):
            fewest = min(fewest, correct)
            return
        for price, still_correct in per_sample[sample]:
            if spent + price > affordable:
                break  # sorted by price: all that follow cost at least as much
            perturb(sample + 1, spent + price, correct + still_correct)

    perturb(0, Fraction(0), 0)
    return fewest


def _thresholds(tree, column: int) -> list[int]:
    if tree[0] == "leaf":
        return []
    _, j, code, left, right = tree
    return ([code] if j == column else []) + _thresholds(left, column) + _thresholds(right, column)
