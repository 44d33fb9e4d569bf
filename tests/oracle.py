"""Exact values for tiny tables by enumeration of all perturbations and trees. Shares no code with the package.

A table is a list of columns, a tree is nested tuples:

    ("leaf", label)        (sign, column, code, left, right)

The sign of a split is "<=" or "=="; a sample goes left iff value <= code, or value == code. A missing value in an
ordered column is the code MISSING. It goes right at "<=" and left at "<=?"; at "?" only missing values go left.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

INFINITE = None  # cost of a move that no budget affords
MISSING = 10**9  # code of a missing value
TOLERANCE = Fraction(1, 2**32)  # the documented rule: a budget counts as larger by this part of itself


@dataclass(frozen=True)
class Column:
    """Codes of all samples, and the costs of their moves.

    Attributes
    ----------
    ordered : bool
        Whether splits compare with a threshold.
    codes : list of int
        Code of each sample.
    n_values : int or None
        Codes are 0 .. n_values - 1; None for any integer.
    direction : str
        "both", "up" or "down".
    lower, upper : int or None
        Bounds of moves.
    costs : list
        For each sample the cost of one step (ordered) or of any change (categorical), or a list of costs by category,
        of which a change pays two. Infinite costs are float("inf").
    steps : int or None
        Largest number of steps of a move.
    missing : list of float or None
        For each sample the cost of a change to or from a missing value; None if no value can be missing.
    table : dict or None
        Cost of every change by (old, new); then `costs` does not apply.
    """

    ordered: bool
    codes: list[int]
    n_values: int | None = None
    direction: str = "both"
    lower: int | None = None
    upper: int | None = None
    costs: list[float | list[float]] = field(default_factory=list)
    steps: int | None = None
    missing: list[float] | None = None
    table: dict[tuple[int, int], float] | None = None

    def cost(self, sample: int, new: int) -> Fraction | None:
        """Cost of moving a sample to a code."""
        old = self.codes[sample]
        if new == old:
            return Fraction(0)
        if MISSING in (old, new) and (self.table is None or (old, new) not in self.table):
            beyond = (self.lower is not None and new < self.lower) or (self.upper is not None and new > self.upper)
            listed = self.table is None or new == MISSING or (new, new) in self.table
            cost = self.missing[sample]
            out_of_reach = cost == float("inf") or (new != MISSING and beyond) or not listed
            return INFINITE if out_of_reach else Fraction(cost)
        wrong_way = (self.direction == "up" and new < old) or (self.direction == "down" and new > old)
        outside = (self.lower is not None and new < self.lower) or (self.upper is not None and new > self.upper)
        too_far = self.steps is not None and abs(new - old) > self.steps
        if (wrong_way or outside or too_far) and MISSING not in (old, new):
            return INFINITE
        if self.table is not None:
            cost = self.table.get((old, new), float("inf"))
            return INFINITE if cost == float("inf") else Fraction(cost)
        unit = self.costs[sample]
        parts = [unit[old], unit[new]] if isinstance(unit, list) else [unit] * (abs(new - old) if self.ordered else 1)
        if float("inf") in parts:
            return INFINITE
        return sum((Fraction(part) for part in parts), Fraction(0))

    def candidates(self, thresholds: list[int]) -> list[int]:
        """All codes to try; for unbounded integers a few beyond all codes and thresholds."""
        missing = [MISSING] if self.missing is not None or MISSING in self.codes else []
        if self.n_values is not None:
            return [*range(self.n_values), *missing]
        if self.table is not None:
            return sorted({code for code, _ in self.table} - {MISSING}) + missing
        known = [code for code in self.codes + thresholds if code != MISSING]
        return [*range(min(known, default=0) - 2, max(known, default=0) + 4), *missing]


def predict(tree, values) -> int:
    """The class that a tree assigns to one sample."""
    while tree[0] != "leaf":
        sign, column, code, left, right = tree
        tree = left if goes_left(sign, values[column], code) else right
    return tree[1]


def goes_left(sign, value, code):
    """Whether a split sends a value to the left."""
    if value == MISSING:
        return sign.endswith("?")
    return sign != "?" and (value == code if sign == "==" else value <= code)


def outcomes(columns: list[Column], labels: list[int], tree, sample: int) -> set[tuple[Fraction, bool]]:
    """(cost, still correct?) over all perturbations of one sample that have a finite cost."""
    moves = []
    for j, column in enumerate(columns):
        costs = [(new, column.cost(sample, new)) for new in column.candidates(_thresholds(tree, j))]
        moves.append([(new, cost) for new, cost in costs if cost is not INFINITE])
    reached = set()
    for perturbation in itertools.product(*moves):
        total = sum((cost for _, cost in perturbation), Fraction(0))
        reached.add((total, predict(tree, [new for new, _ in perturbation]) == labels[sample]))
    return reached


def margin(columns: list[Column], labels: list[int], tree, sample: int) -> Fraction | None:
    """Smallest cost of a perturbation that makes the tree misclassify a sample."""
    return min((cost for cost, correct in outcomes(columns, labels, tree, sample) if not correct), default=INFINITE)


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
        for cost, still_correct in per_sample[sample]:
            if spent + cost > affordable:
                break  # sorted by cost: all others cost at least as much
            perturb(sample + 1, spent + cost, correct + still_correct)

    perturb(0, Fraction(0), 0)
    return fewest


def _thresholds(tree, column: int) -> list[int]:
    if tree[0] == "leaf":
        return []
    sign, j, code, left, right = tree
    return ([code] if j == column and sign != "?" else []) + _thresholds(left, column) + _thresholds(right, column)


@dataclass(frozen=True)
class BestTree:
    """What the best of all trees reaches.

    Attributes
    ----------
    correct, splits, objective
        Samples correct in the worst case, number of splits, and objective of the best tree.
    max_correct : int
        Most samples correct in the worst case over all trees of any size.
    min_splits : int
        Fewest splits of all trees that reach `max_correct`.
    """

    correct: int
    splits: int
    objective: float
    max_correct: int = 0
    min_splits: int = 0


def best_tree(columns, labels, n_classes, budget, depth, penalty, fractional=False, **options):
    """The best tree up to a depth.

    `fractional`: the last sample may be flipped in part, and this counts. `options` are those of `largest_values`.
    """
    return best_of(largest_values(columns, labels, n_classes, budget, depth, **options), penalty, fractional)


def fractional_value(margins, weights, class_weights, budget) -> float:
    """Worst case if rows may be flipped in part: the largest dual value over all multipliers of the budget.

    This is the dual of a linear programme, so it neither sorts rows nor flips them one after the other.
    """
    affordable = budget * (1 + 2.0**-32)
    margins = np.array([np.inf if margin is None else float(margin) for margin in margins])
    weights, class_weights = np.array(weights, dtype=float), np.array(class_weights, dtype=float)
    finite = np.isfinite(margins)
    values = weights * class_weights
    correct = float(values.sum()) - float(values[finite & (margins == 0)].sum())
    if affordable == 0:
        return correct
    movable = finite & (margins > 0)
    multipliers = np.concatenate([[0.0], class_weights[movable] / margins[movable]])
    losses = weights[movable] * np.maximum(0.0, class_weights[movable] - multipliers[:, None] * margins[movable])
    return float((correct - multipliers * affordable - losses.sum(axis=1)).max())


def integral_value(margins, weights, budget) -> int:
    """Worst case with integer weights, which count as repeated rows."""
    repeated = sorted(m for m, w in zip(margins, weights, strict=True) if m is not None for _ in range(int(w)))
    affordable, spent, flipped = Fraction(budget) * (1 + TOLERANCE), Fraction(0), 0
    for margin in repeated:
        spent += Fraction(margin)
        flipped += spent <= affordable
    return int(sum(weights)) - flipped


def largest_values(
    columns: list[Column],
    labels: list[int],
    n_classes: int,
    budget: float,
    depth: int,
    weights: list[float] | None = None,
    class_weights: list[float] | None = None,
    leaf_sizes: list[float] | None = None,
    min_leaf: float = 0,
) -> dict[int, tuple[int, float]]:
    """For each number of splits, the largest worst case of a tree, with integer and with fractional flips.

    Enumerates every tree up to a depth (all splits, all labels) and every perturbation of every sample. Trees that
    agree on all perturbed samples count once, with the smallest number of their splits.

    Parameters
    ----------
    columns, labels, n_classes, budget, depth
        The problem.
    weights : list of float, optional
        Sample weights; the first value of a pair has a meaning only if they are integers.
    class_weights : list of float, optional
        Weight of each class; with them, only the second value of a pair has a meaning.
    leaf_sizes : list of float, optional
        What each sample counts for in a leaf; needed with `min_leaf`.
    min_leaf : float, default=0
        Smallest sum of `leaf_sizes` of the samples that reach a leaf without a shift.
    """
    weights = [1] * len(labels) if weights is None else weights
    class_weights = [1.0] * len(labels) if class_weights is None else [class_weights[label] for label in labels]
    integer_weights = np.array(weights, dtype=int)
    splits = [split for j, column in enumerate(columns) for split in _all_splits(j, column)]
    points, costs, owner = _all_points(columns, len(labels), splits)
    first = np.searchsorted(owner, np.arange(len(labels)))
    true_labels = np.array(labels)[owner]
    largest: dict[int, tuple[int, float]] = {}
    if not min_leaf:
        trees = _all_trees(points, splits, n_classes, depth)
    else:
        trees = _all_trees_with_min_leaf(columns, points, splits, n_classes, depth, leaf_sizes, min_leaf)
    for key, size in trees.items():
        wrong = np.frombuffer(key, dtype=np.int8) != true_labels
        margins = np.minimum.reduceat(np.where(wrong, costs, np.inf), first)
        totals = np.cumsum(np.sort(np.repeat(margins, integer_weights)))
        kept = len(totals) - int(np.sum(totals <= budget * (1 + 2.0**-32)))
        fractional = fractional_value(margins, weights, class_weights, budget)
        largest_integral, largest_fractional = largest.get(size, (-1, -1.0))
        largest[size] = max(largest_integral, kept), max(largest_fractional, fractional)
    return largest


def best_of(largest: dict[int, tuple[int, float]], penalty: float, fractional: bool) -> BestTree:
    """The best objective, with the fewest splits among equals."""
    objective, minus_splits = max((pair[fractional] - penalty * size, -size) for size, pair in largest.items())
    max_correct, minus_min_splits = max((kept, -size) for size, (kept, _) in largest.items())
    return BestTree(largest[-minus_splits][0], -minus_splits, objective, max_correct, -minus_min_splits)


def best_stable_tree(columns, labels, n_classes, budget, depth, penalty):
    """The best tree that predicts one class on all points that a sample can afford alone."""
    splits = [split for j, column in enumerate(columns) for split in _all_splits(j, column)]
    points, costs, owner = _all_points(columns, len(labels), splits)
    within = costs <= budget * (1 + 2.0**-32)
    points, owner = points[within], owner[within]
    points_of = [np.flatnonzero(owner == i) for i in range(len(labels))]
    best = None
    for key, size in _all_trees(points, splits, n_classes, depth).items():
        predicted = np.frombuffer(key, dtype=np.int8)
        if all((predicted[indices] == predicted[indices[0]]).all() for indices in points_of):
            classes = [predicted[indices[0]] for indices in points_of]
            correct = sum(int(k == label) for k, label in zip(classes, labels, strict=True))
            candidate = BestTree(correct, size, correct - penalty * size)
            if best is None or candidate.objective > best.objective:
                best = candidate
    return best


def _all_trees(points, splits, n_classes, depth):
    """The predictions of every tree up to a depth at the points, each with the fewest splits that give them."""
    sides = [np.array([goes_left(sign, value, code) for value in points[:, j]]) for sign, j, code in splits]
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


def _all_trees_with_min_leaf(columns, points, splits, n_classes, depth, sizes, min_leaf):
    """The same for trees in which every leaf holds enough samples without a shift."""
    sides = [np.array([goes_left(sign, value, code) for value in points[:, j]]) for sign, j, code in splits]
    nominally_left = [
        {i for i in range(len(sizes)) if goes_left(sign, columns[j].codes[i], code)} for sign, j, code in splits
    ]
    known = {}

    def trees(rows, levels):
        if sum(sizes[i] for i in rows) < min_leaf:
            return {}
        if (rows, levels) not in known:
            subtrees = {np.full(len(points), k, dtype=np.int8).tobytes(): 0 for k in range(n_classes)}
            for side, left_rows in zip(sides, nominally_left, strict=True) if levels else ():
                parts = trees(rows & left_rows, levels - 1), trees(rows - left_rows, levels - 1)
                for (left, left_size), (right, right_size) in itertools.product(*(part.items() for part in parts)):
                    chosen = np.where(side, np.frombuffer(left, dtype=np.int8), np.frombuffer(right, dtype=np.int8))
                    key, size = chosen.tobytes(), 1 + left_size + right_size
                    subtrees[key] = min(subtrees.get(key, size), size)
            known[rows, levels] = subtrees
        return known[rows, levels]

    return trees(frozenset(range(len(sizes))), depth)


def _all_splits(j, column):
    """All splits on a column as (sign, column, code)."""
    if column.ordered:
        signs = ["<="] if column.missing is None and MISSING not in column.codes else ["<=", "<=?"]
        observed = [code for code in column.codes if code != MISSING]
        if column.n_values is not None:
            codes = range(column.n_values - 1)
        elif column.table is not None:
            codes = sorted({new for _, new in column.table if new != MISSING})[:-1]
        else:
            codes = range(min(observed, default=0), max(observed, default=0))
        return [(sign, j, code) for code in codes for sign in signs] + ([("?", j, 0)] if len(signs) > 1 else [])
    return [("==", j, code) for code in range(column.n_values)]


def _all_points(columns, n_samples, splits):
    """Every perturbation of every sample that has a finite cost: its values, its cost, and its sample."""
    points, costs, owner = [], [], []
    for i in range(n_samples):
        moves = []
        for j, column in enumerate(columns):
            codes = column.candidates([code for _, k, code in splits if k == j])
            move_costs = [(new, column.cost(i, new)) for new in codes]
            moves.append([(new, cost) for new, cost in move_costs if cost is not INFINITE])
        for perturbation in itertools.product(*moves):
            points.append([new for new, _ in perturbation])
            costs.append(float(sum((cost for _, cost in perturbation), Fraction(0))))
            owner.append(i)
    return np.array(points), np.array(costs), np.array(owner)
