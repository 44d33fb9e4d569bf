"""The truth by brute force, for tiny tables: every perturbation is tried. Shares no code with the package.

A table is a list of columns, a tree is nested tuples:

    ("leaf", label)        (test, column, code, left, right)   with test "<=" or "=="; left iff the test holds

No answer in an ordered column is the code NONE, which is not "<=" anything; the test "<=?" also holds for it, and "?"
for nothing else.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

INFINITE = None  # a price that nobody can pay
NONE = 10**9  # no answer
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
    steps: int | None = None  # the most that a value may move
    missing: list[float] | None = None  # price of no answer, by sample; None: nobody is without one
    table: dict[tuple[int, int], float] | None = None  # price of every change; then nothing else counts

    def price(self, sample: int, new: int) -> Fraction | None:
        old = self.codes[sample]
        if new == old:
            return Fraction(0)
        if NONE in (old, new) and (self.table is None or (old, new) not in self.table):
            beyond = (self.lower is not None and new < self.lower) or (self.upper is not None and new > self.upper)
            listed = self.table is None or new == NONE or (new, new) in self.table
            price = self.missing[sample]
            out_of_reach = price == float("inf") or (new != NONE and beyond) or not listed
            return INFINITE if out_of_reach else Fraction(price)
        wrong_way = (self.direction == "up" and new < old) or (self.direction == "down" and new > old)
        outside = (self.lower is not None and new < self.lower) or (self.upper is not None and new > self.upper)
        too_far = self.steps is not None and abs(new - old) > self.steps
        if (wrong_way or outside or too_far) and NONE not in (old, new):
            return INFINITE
        if self.table is not None:
            price = self.table.get((old, new), float("inf"))
            return INFINITE if price == float("inf") else Fraction(price)
        own = self.prices[sample]
        paid = [own[old], own[new]] if isinstance(own, list) else [own] * (abs(new - old) if self.ordered else 1)
        if float("inf") in paid:
            return INFINITE
        return sum((Fraction(p) for p in paid), Fraction(0))

    def candidates(self, thresholds: list[int]) -> list[int]:
        """All codes to try; for whole numbers a few beyond everything that occurs."""
        none = [NONE] if self.missing is not None or NONE in self.codes else []
        if self.n_values is not None:
            return [*range(self.n_values), *none]
        if self.table is not None:
            return sorted({code for code, _ in self.table} - {NONE}) + none
        known = [code for code in self.codes + thresholds if code != NONE]
        return [*range(min(known, default=0) - 2, max(known, default=0) + 4), *none]


def predict(tree, values) -> int:
    while tree[0] != "leaf":
        test, column, code, left, right = tree
        tree = left if holds(test, values[column], code) else right
    return tree[1]


def holds(test, value, code):
    if value == NONE:
        return test.endswith("?")
    return test != "?" and (value == code if test == "==" else value <= code)


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
    test, j, code, left, right = tree
    return ([code] if j == column and test != "?" else []) + _thresholds(left, column) + _thresholds(right, column)


@dataclass(frozen=True)
class BestTree:
    correct: int
    tests: int
    objective: float
    most_correct: int = 0  # over all trees, whatever their size
    fewest_tests: int = 0  # of all trees that keep as many


def best_tree(columns, labels, n_classes, budget, depth, penalty, in_part=False, people=None, worth=None, held=None):
    """The best objective over every tree up to a depth, see `largest_values`.

    in_part  the last sample may be lost in part, and this counts
    """
    return best_of(largest_values(columns, labels, n_classes, budget, depth, people, worth, held), penalty, in_part)


def value_in_part(margins, people, worth, budget) -> float:
    """What is left in the worst case if rows may be lost in part: the largest dual value over all prices of the budget.

    The dual of a linear programme, so nothing here sorts rows or buys them one after the other.
    """
    affordable = budget * (1 + 2.0**-32)
    margins = np.array([np.inf if margin is None else float(margin) for margin in margins])
    people, worth = np.array(people, dtype=float), np.array(worth, dtype=float)
    finite = np.isfinite(margins)
    total, gone = float((people * worth).sum()), float((people * worth)[finite & (margins == 0)].sum())
    if affordable == 0:
        return total - gone
    movable = finite & (margins > 0)
    prices = np.concatenate([[0.0], worth[movable] / margins[movable]])
    losses = people[movable] * np.maximum(0.0, worth[movable] - prices[:, None] * margins[movable])
    return float((total - gone - prices * affordable - losses.sum(axis=1)).max())


def kept_one_by_one(margins, people, budget) -> int:
    """People left in the worst case if each is lost as a whole: rows repeated."""
    single = sorted(m for m, w in zip(margins, people, strict=True) if m is not None for _ in range(int(w)))
    affordable, spent, lost = Fraction(budget) * (1 + TOLERANCE), Fraction(0), 0
    for margin in single:
        spent += Fraction(margin)
        lost += spent <= affordable
    return int(sum(people)) - lost


def largest_values(
    columns: list[Column],
    labels: list[int],
    n_classes: int,
    budget: float,
    depth: int,
    people: list[float] | None = None,
    worth: list[float] | None = None,
    held: tuple[list[float], float] | None = None,
) -> dict[int, tuple[int, float]]:
    """For each number of tests, the most samples that a tree keeps correct, also if the last may be lost in part.

    Over every tree up to a depth: all tests, all labels; every perturbation of every sample. Trees that agree on all
    perturbed samples are one; of those, the number of tests that is smallest counts.

    people  how many each row stands for; they are kept one by one as far as they are whole numbers
    worth   by class; then only what is kept in part means anything
    held    what each sample counts for in a leaf, and what a leaf must hold at least as the samples stand
    """
    people = [1] * len(labels) if people is None else people
    worths = [1.0] * len(labels) if worth is None else [worth[label] for label in labels]
    whole_people = np.array(people, dtype=int)
    tests = [test for j, column in enumerate(columns) for test in _all_tests(j, column)]
    points, prices, owner = _all_points(columns, len(labels), tests)
    first = np.searchsorted(owner, np.arange(len(labels)))
    wanted = np.array(labels)[owner]
    largest: dict[int, tuple[int, float]] = {}
    if held is None:
        trees = _all_trees(points, tests, n_classes, depth)
    else:
        trees = _all_trees_with_leaves(columns, points, tests, n_classes, depth, *held)
    for key, size in trees.items():
        wrong = np.frombuffer(key, dtype=np.int8) != wanted
        margins = np.minimum.reduceat(np.where(wrong, prices, np.inf), first)
        totals = np.cumsum(np.sort(np.repeat(margins, whole_people)))
        kept = len(totals) - int(np.sum(totals <= budget * (1 + 2.0**-32)))
        part = value_in_part(margins, people, worths, budget)
        whole, in_part = largest.get(size, (-1, -1.0))
        largest[size] = max(whole, kept), max(in_part, part)
    return largest


def best_of(largest: dict[int, tuple[int, float]], penalty: float, in_part: bool) -> BestTree:
    """The best objective, with the fewest tests among equals."""
    objective, tests = max((pair[in_part] - penalty * size, -size) for size, pair in largest.items())
    most_correct, fewest = max((kept, -size) for size, (kept, _) in largest.items())
    return BestTree(largest[-tests][0], -tests, objective, most_correct, -fewest)


def best_stable_tree(columns, labels, n_classes, budget, depth, penalty):
    """The best objective over trees that predict one class on everything that a sample can afford alone."""
    tests = [test for j, column in enumerate(columns) for test in _all_tests(j, column)]
    points, prices, owner = _all_points(columns, len(labels), tests)
    within = prices <= budget * (1 + 2.0**-32)
    points, owner = points[within], owner[within]
    own = [np.flatnonzero(owner == i) for i in range(len(labels))]
    best = None
    for key, size in _all_trees(points, tests, n_classes, depth).items():
        predicted = np.frombuffer(key, dtype=np.int8)
        if all((predicted[mine] == predicted[mine[0]]).all() for mine in own):
            correct = sum(int(predicted[mine[0]] == label) for mine, label in zip(own, labels, strict=True))
            candidate = BestTree(correct, size, correct - penalty * size)
            if best is None or candidate.objective > best.objective:
                best = candidate
    return best


def _all_trees(points, tests, n_classes, depth):
    """What every tree up to a depth predicts at the points, and the fewest tests that do it."""
    sides = [np.array([holds(sign, value, code) for value in points[:, j]]) for sign, j, code in tests]
    level = {np.full(len(points), k, dtype=np.int8).tobytes(): 0 for k in range(n_classes)}
    for _ in range(depth):
        deeper = dict(level)
        arrays = [(np.frombuffer(key, dtype=np.int8), size) for key, size in level.items()]
        for side in sides:
            for (left, left_size), (right, right_size) in itertools.product(arrays, repeat=2):
                key = np.where(side, left, right).astype(np.int8).tobytes()
                size = 1 + left_size + right_size
                if deeper.get(key, size + 1) > size:
                    deeper[key] = size
        level = deeper
    return level


def _all_trees_with_leaves(columns, points, tests, n_classes, depth, sizes, least):
    """The same, of trees in each of whose leaves enough samples stand."""
    sides = [np.array([holds(sign, value, code) for value in points[:, j]]) for sign, j, code in tests]
    standing = [{i for i in range(len(sizes)) if holds(sign, columns[j].codes[i], code)} for sign, j, code in tests]
    known = {}

    def trees(rows, levels):
        if sum(sizes[i] for i in rows) < least:
            return {}
        if (rows, levels) not in known:
            found = {np.full(len(points), k, dtype=np.int8).tobytes(): 0 for k in range(n_classes)}
            for side, left_rows in zip(sides, standing, strict=True) if levels else ():
                parts = trees(rows & left_rows, levels - 1), trees(rows - left_rows, levels - 1)
                for (left, left_size), (right, right_size) in itertools.product(*(part.items() for part in parts)):
                    chosen = np.where(side, np.frombuffer(left, dtype=np.int8), np.frombuffer(right, dtype=np.int8))
                    key, size = chosen.tobytes(), 1 + left_size + right_size
                    found[key] = min(found.get(key, size), size)
            known[rows, levels] = found
        return known[rows, levels]

    return trees(frozenset(range(len(sizes))), depth)


def _all_tests(j, column):
    if column.ordered:
        signs = ["<="] if column.missing is None and NONE not in column.codes else ["<=", "<=?"]
        given = [code for code in column.codes if code != NONE]
        if column.n_values is not None:
            codes = range(column.n_values - 1)
        elif column.table is not None:
            codes = sorted({new for _, new in column.table if new != NONE})[:-1]
        else:
            codes = range(min(given, default=0), max(given, default=0))
        return [(sign, j, code) for code in codes for sign in signs] + ([("?", j, 0)] if len(signs) > 1 else [])
    return [("==", j, code) for code in range(column.n_values)]


def _all_points(columns, n_samples, tests):
    """Every perturbation of every sample that has a finite price: its values, its price, and whose it is."""
    points, prices, owner = [], [], []
    for i in range(n_samples):
        moves = []
        for j, column in enumerate(columns):
            codes = column.candidates([code for _, k, code in tests if k == j])
            priced = [(new, column.price(i, new)) for new in codes]
            moves.append([(new, price) for new, price in priced if price is not INFINITE])
        for choice in itertools.product(*moves):
            points.append([new for new, _ in choice])
            prices.append(float(sum((price for _, price in choice), Fraction(0))))
            owner.append(i)
    return np.array(points), np.array(prices), np.array(owner)
