"""Random moves as the documentation defines them: probability and cost of every new value.

Shares no code with the package.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

MAX_STEPS = 80  # the probability of more steps is below the precision of a double


def ratio(certainty, below, above):
    """The r with certainty * (1 + r + ... + r^below + r + ... + r^above) = 1, by bisection."""
    small, large = 0.0, 1.0
    for _ in range(200):
        r = (small + large) / 2
        total = certainty * (1 + sum(r**k for k in range(1, below + 1)) + sum(r**k for k in range(1, above + 1)))
        small, large = (small, r) if total > 1 else (r, large)
    return r


def moves_on_scale(value, certainty, direction="both", lower=None, upper=None):
    """(probability, cost) by new value, for an ordered value."""
    if certainty == 1:
        return {value: (1.0, 0.0)}
    low = value if direction == "up" else (value - MAX_STEPS if lower is None else lower)
    high = value if direction == "down" else (value + MAX_STEPS if upper is None else upper)
    if lower is None and upper is None:
        cost = -math.log(1 - certainty)
        half = 0.5 if direction == "both" else 1.0
        probability = {
            v: certainty * (1 - certainty) ** abs(v - value) * (1.0 if v == value else half)
            for v in range(low, high + 1)
        }
    else:
        r = ratio(certainty, value - low, high - value)
        cost = -math.log(r) if high > low else math.inf
        probability = {v: certainty * r ** abs(v - value) for v in range(low, high + 1)}
    if high == low:
        return {value: (1.0, 0.0)}
    return {v: (p, cost * abs(v - value)) for v, p in probability.items()}


def moves_among(value, categories, certainty):
    """(probability, cost) by new value, for a category."""
    others = [category for category in categories if category != value]
    if not others:
        return {value: (1.0, 0.0)}
    if certainty == 1:
        return {value: (1.0, 0.0)}
    probability = (1 - certainty) / len(others)
    cost = math.log(certainty / probability)
    return {value: (certainty, 0.0)} | dict.fromkeys(others, (probability, cost))


def moves_by_table(value, table):
    """(probability, cost) by new value, for a measured table P(later | now)."""
    row = table[value]
    return {
        v: (p, 0.0 if v == value else max(0.0, math.log(row[value] / p))) for v, p in row.items() if p > 0 or v == value
    }


def with_missing(moves, value, certainty, distribution):
    """(probability, cost) by new value, where missing (None) is one of the values.

    A missing value that becomes observed is drawn from `distribution`.
    """
    unit_cost = math.log(certainty / (1 - certainty)) if certainty < 1 else math.inf
    if value is None:
        found = {v: (share * (1 - certainty), unit_cost) for v, share in distribution.items()}
        return found | {None: (certainty, 0.0)}
    found = {v: (probability * certainty, cost) for v, (probability, cost) in moves.items()}
    return found | ({None: (1 - certainty, unit_cost)} if certainty < 1 else {})


@dataclass
class Case:
    """A table with its shift parameters, and the moves of each of its values.

    Attributes
    ----------
    columns : dict
        Values by column name.
    parameters : dict
        Parameters of the shifts, such as certainty and bounds.
    moves : dict
        For each column and row, (probability, cost) by new value.
    kinds, missing
        How to read the table, as in `encode`.
    """

    name: str
    columns: dict[str, Any]
    parameters: dict[str, Any]
    moves: dict[str, list[dict[Any, tuple[float, float]]]]
    kinds: dict[str, Any] = field(default_factory=dict)
    missing: str = "error"

    @property
    def frame(self):
        return pd.DataFrame(self.columns)


def cases(n=24, seed=0):
    """One case for every kind, direction and bound, for certainty by cell, missing values and measured tables."""
    rng = np.random.default_rng(seed)
    integers, rating = rng.integers(0, 6, n), rng.integers(1, 6, n)
    letters = [*"xyz", *rng.choice(["x", "y", "z"], n - 3).tolist()]
    booleans = rng.random(n) < 0.4
    found = [
        Case("integer", {"a": integers}, {"certainty": 0.8}, {"a": [moves_on_scale(int(v), 0.8) for v in integers]}),
        Case(
            "boolean",
            {"a": booleans},
            {"certainty": 0.85},
            {"a": [moves_among(bool(v), [False, True], 0.85) for v in booleans]},
        ),
        Case("text", {"a": letters}, {"certainty": 0.75}, {"a": [moves_among(v, "xyz", 0.75) for v in letters]}),
    ]
    for direction in ("up", "down"):
        moves = {"a": [moves_on_scale(int(v), 0.7, direction) for v in integers]}
        found.append(
            Case(f"only {direction}", {"a": integers}, {"certainty": 0.7, "direction": {"a": direction}}, moves)
        )
    for lower, upper, direction in (
        (0, None, "both"),
        (None, 5, "both"),
        (-1, 7, "both"),
        (0, 6, "up"),
        (0, 5, "down"),
    ):
        parameters = {"certainty": 0.75, "bounds": {"a": (lower, upper)}, "direction": {"a": direction}, "clip": True}
        moves = {"a": [moves_on_scale(int(v), 0.75, direction, lower, upper) for v in integers]}
        found.append(Case(f"bounds {lower} {upper} {direction}", {"a": integers}, parameters, moves))
    moves = {"a": [moves_on_scale(int(v) - 1, 0.65, "both", 0, 4) for v in rating]}
    found.append(Case("ordinal", {"a": rating}, {"certainty": 0.65}, moves, {"a": [1, 2, 3, 4, 5]}))
    floats = rng.choice(np.arange(6) / 7, n)
    bins = np.searchsorted(np.unique(floats), floats)  # as many bins as numbers
    moves = {"a": [moves_on_scale(int(v), 0.7, "both", 0, len(np.unique(floats)) - 1) for v in bins]}
    found.append(Case("binned", {"a": floats}, {"certainty": 0.7}, moves, {"a": "binned"}))
    by_cell = rng.choice([0.6, 0.8, 0.95], (n, 1))
    moves = {"a": [moves_on_scale(int(v), float(p)) for v, p in zip(integers, by_cell[:, 0], strict=True)]}
    found.append(Case("by cell", {"a": integers}, {"certainty": by_cell}, moves))
    by_cell = rng.choice([0.6, 0.8, 1.0], (n, 1))
    moves = {"a": [moves_among(v, "xyz", float(p)) for v, p in zip(letters, by_cell[:, 0], strict=True)]}
    found.append(Case("text by cell", {"a": letters}, {"certainty": by_cell}, moves))
    table = {
        x: dict(zip("xyz", rng.dirichlet(np.ones(3)) * 0.5 + (np.array(list("xyz")) == x) * 0.5, strict=True))
        for x in "xyz"
    }
    found.append(
        Case(
            "measured", {"a": letters}, {"certainty": {"a": table}}, {"a": [moves_by_table(v, table) for v in letters]}
        )
    )
    scale = {
        v: {w: float(p) for w, p in zip(range(1, 6), 0.6 * np.eye(5)[v - 1] + 0.08, strict=True)} for v in range(1, 6)
    }
    moves = {"a": [moves_by_table(int(v), scale) for v in rating]}
    found.append(Case("measured scale", {"a": rating}, {"certainty": {"a": scale}}, moves))
    found += _missing_cases(rng, integers, letters)
    several = {"a": integers, "b": letters, "c": booleans, "d": rating}
    parameters = {"certainty": {"a": 0.85, "b": 0.8, "c": 0.9, "d": 0.7}}
    moves = {
        "a": [moves_on_scale(int(v), 0.85) for v in integers],
        "b": [moves_among(v, "xyz", 0.8) for v in letters],
        "c": [moves_among(bool(v), [False, True], 0.9) for v in booleans],
        "d": [moves_on_scale(int(v) - 1, 0.7, "both", 0, 4) for v in rating],
    }
    return [*found, Case("several", several, parameters, moves, {"d": [1, 2, 3, 4, 5]})]


def _missing_cases(rng, integers, letters):
    is_missing = rng.random(len(integers)) < 0.3
    is_missing[:3], is_missing[3] = False, True
    distribution = {int(v): float(np.mean(integers[~is_missing] == v)) for v in np.unique(integers[~is_missing])}
    column = np.where(is_missing, np.nan, integers.astype(float))
    values = [None if missing else int(v) for v, missing in zip(integers, is_missing, strict=True)]
    found = []
    for certainty in (0.8, 0.95):
        moves = [with_missing({} if v is None else moves_on_scale(v, 0.8), v, certainty, distribution) for v in values]
        parameters = {"certainty": 0.8} if certainty == 0.8 else {"certainty": 0.8, "missing_certainty": 0.95}
        found.append(
            Case(f"missing {certainty}", {"a": column}, parameters, {"a": moves}, {"a": "integer"}, "category")
        )
    texts = [None if missing else v for v, missing in zip(letters, is_missing, strict=True)]
    moves = [moves_among(v, ["x", "y", "z", None], 0.7) for v in texts]
    found.append(Case("text with missing", {"a": texts}, {"certainty": 0.7}, {"a": moves}, missing="category"))
    unit_cost = math.log(0.9 / 0.1)
    moves = []
    for v in texts:
        if v is None:
            moves.append({None: (0.9, 0.0)} | dict.fromkeys("xyz", (0.1 / 3, unit_cost)))
        else:
            observed = {w: (0.9 * probability, cost) for w, (probability, cost) in moves_among(v, "xyz", 0.7).items()}
            moves.append(observed | {None: (0.1, unit_cost)})
    parameters = {"certainty": 0.7, "missing_certainty": 0.9}
    return [*found, Case("text with missing_certainty", {"a": texts}, parameters, {"a": moves}, missing="category")]
