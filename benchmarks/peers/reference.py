"""The worst case of a tree by plain arithmetic, for integer columns with one cost per step each.

Shares no code with the package: trees of other packages are evaluated by it and by `hardwood.attack`, and both results
must be equal.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

Tree = list[Any]  # ["<=", column, threshold, left, right] or ["leaf", label]


def leaves(tree: Tree, low: dict[int, float] | None = None, high: dict[int, float] | None = None) -> list[Any]:
    """Return the label of each leaf, with the lowest and highest values of the columns in its region."""
    low, high = low or {}, high or {}
    if tree[0] == "leaf":
        return [(tree[1], low, high)]
    _, column, threshold, left, right = tree
    below = high | {column: min(threshold, high.get(column, math.inf))}
    above = low | {column: max(threshold + 1, low.get(column, -math.inf))}
    return leaves(left, low, below) + leaves(right, above, high)


def cost_into(row: list[int], low: dict[int, float], high: dict[int, float], costs: list[float]) -> float:
    """Return the cost of moving a row into a region; infinite if the region is empty or a column cannot move."""
    total = 0.0
    for column in {*low, *high}:
        first, last = low.get(column, -math.inf), high.get(column, math.inf)
        if first > last:
            return math.inf
        steps = max(first - row[column], row[column] - last, 0)
        total += steps * costs[column] if steps else 0.0
    return total


def worst_case(tree: Tree, values: list[list[int]], labels: list[int], costs: list[float], budget: float) -> int:
    """Return the rows that stay correct after the worst shift; the adversary flips the cheapest rows first."""
    regions = leaves(tree)
    margins = sorted(
        min(
            (cost_into(row, low, high, costs) for prediction, low, high in regions if prediction != label),
            default=math.inf,
        )
        for row, label in zip(values, labels, strict=True)
    )
    spent, lost = 0.0, 0
    for margin in margins:
        spent += margin
        if spent > budget * (1 + 2.0**-32):
            break
        lost += 1
    return len(labels) - lost


def worst_case_in_boxes(tree: Tree, values: list[list[int]], labels: list[int], radius: int) -> int:
    """Return the rows that stay correct under all perturbations within a radius; all of them are tried."""
    moves = list(product(range(-radius, radius + 1), repeat=len(values[0])))
    return sum(
        all(predict(tree, [value + step for value, step in zip(row, move, strict=True)]) == label for move in moves)
        for row, label in zip(values, labels, strict=True)
    )


def predict(tree: Tree, row: list[int]) -> int:
    """Return the prediction for a row."""
    while tree[0] != "leaf":
        tree = tree[3] if row[tree[1]] <= tree[2] else tree[4]
    return int(tree[1])
