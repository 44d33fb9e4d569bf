"""The worst case of a tree by plain arithmetic, for whole numbers with one price of a step in each column.

Shares no code with the package: the peers' trees are judged by it and by our adversary, and the two must agree.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

Tree = list[Any]  # ["<=", column, threshold, left, right] or ["leaf", label]


def leaves(tree: Tree, low: dict[int, float] | None = None, high: dict[int, float] | None = None) -> list[Any]:
    """The leaves, each with the lowest and highest value that a column may have there."""
    low, high = low or {}, high or {}
    if tree[0] == "leaf":
        return [(tree[1], low, high)]
    _, column, threshold, left, right = tree
    below = high | {column: min(threshold, high.get(column, math.inf))}
    above = low | {column: max(threshold + 1, low.get(column, -math.inf))}
    return leaves(left, low, below) + leaves(right, above, high)


def price_into(row: list[int], low: dict[int, float], high: dict[int, float], prices: list[float]) -> float:
    """What it costs to move a row into a leaf; +inf if nothing may move so far, or the leaf is empty."""
    total = 0.0
    for column in {*low, *high}:
        first, last = low.get(column, -math.inf), high.get(column, math.inf)
        if first > last:
            return math.inf
        steps = max(first - row[column], row[column] - last, 0)
        total += steps * prices[column] if steps else 0.0
    return total


def worst_case(tree: Tree, values: list[list[int]], labels: list[int], prices: list[float], budget: float) -> int:
    """Rows still correct after the worst shift: the cheapest are bought first."""
    parts = leaves(tree)
    margins = sorted(
        min((price_into(row, low, high, prices) for own, low, high in parts if own != label), default=math.inf)
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
    """Rows that every move by at most so many steps in every column leaves correct: all moves are tried."""
    moves = list(product(range(-radius, radius + 1), repeat=len(values[0])))
    return sum(
        all(answer(tree, [value + step for value, step in zip(row, move, strict=True)]) == label for move in moves)
        for row, label in zip(values, labels, strict=True)
    )


def answer(tree: Tree, row: list[int]) -> int:
    """The label of a row."""
    while tree[0] != "leaf":
        tree = tree[3] if row[tree[1]] <= tree[2] else tree[4]
    return int(tree[1])
