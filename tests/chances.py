"""Random shifts by hand: where a value goes, and what that costs, as the docs write it. No code of the package."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

FAR = 80  # steps; what lies beyond has no weight that a double would show here


def ratio(certainty, below, above):
    """The r with certainty * (1 + r + ... + r^below + r + ... + r^above) = 1, by bisection."""
    small, large = 0.0, 1.0
    for _ in range(200):
        r = (small + large) / 2
        total = certainty * (1 + sum(r**k for k in range(1, below + 1)) + sum(r**k for k in range(1, above + 1)))
        small, large = (small, r) if total > 1 else (r, large)
    return r


def moves_on_scale(value, certainty, direction="both", lower=None, upper=None):
    """New value -> (chance, price), for an ordered value."""
    if certainty == 1:
        return {value: (1.0, 0.0)}
    low = value if direction == "up" else (value - FAR if lower is None else lower)
    high = value if direction == "down" else (value + FAR if upper is None else upper)
    if lower is None and upper is None:
        price = -math.log(1 - certainty)
        half = 0.5 if direction == "both" else 1.0
        chance = {
            v: certainty * (1 - certainty) ** abs(v - value) * (1.0 if v == value else half)
            for v in range(low, high + 1)
        }
    else:
        r = ratio(certainty, value - low, high - value)
        price = -math.log(r) if high > low else math.inf
        chance = {v: certainty * r ** abs(v - value) for v in range(low, high + 1)}
    if high == low:
        return {value: (1.0, 0.0)}
    return {v: (own, price * abs(v - value)) for v, own in chance.items()}


def moves_among(value, answers, certainty):
    """The same for a categorical answer."""
    others = [answer for answer in answers if answer != value]
    if not others:
        return {value: (1.0, 0.0)}
    if certainty == 1:
        return {value: (1.0, 0.0)}
    chance = (1 - certainty) / len(others)
    price = math.log(certainty / chance)
    return {value: (certainty, 0.0)} | dict.fromkeys(others, (chance, price))


def moves_by_table(value, table):
    """The same for a measured table."""
    row = table[value]
    return {
        v: (p, 0.0 if v == value else max(0.0, math.log(row[value] / p))) for v, p in row.items() if p > 0 or v == value
    }


def with_none(moves, value, certainty, usual):
    """The same where no answer (None) is one of the values."""
    price = math.log(certainty / (1 - certainty)) if certainty < 1 else math.inf
    if value is None:
        found = {v: (share * (1 - certainty), price) for v, share in usual.items()}
        return found | {None: (certainty, 0.0)}
    found = {v: (chance * certainty, cost) for v, (chance, cost) in moves.items()}
    return found | ({None: (1 - certainty, price)} if certainty < 1 else {})


@dataclass
class Case:
    """A frame of one or more columns, what is said about its shifts, and the moves of every value by hand."""

    name: str
    columns: dict[str, Any]
    words: dict[str, Any]
    moves: dict[str, list[dict[Any, tuple[float, float]]]]
    kinds: dict[str, Any] = field(default_factory=dict)
    missing: str = "error"

    @property
    def frame(self):
        return pd.DataFrame(self.columns)


def cases(n=24, seed=0):
    """Every kind of column, direction and bound, each alone; certainty by cell, missing answers, measured tables."""
    rng = np.random.default_rng(seed)
    whole, rating = rng.integers(0, 6, n), rng.integers(1, 6, n)
    words = [*"xyz", *rng.choice(["x", "y", "z"], n - 3).tolist()]
    truth = rng.random(n) < 0.4
    found = [
        Case("integer", {"a": whole}, {"certainty": 0.8}, {"a": [moves_on_scale(int(v), 0.8) for v in whole]}),
        Case(
            "boolean",
            {"a": truth},
            {"certainty": 0.85},
            {"a": [moves_among(bool(v), [False, True], 0.85) for v in truth]},
        ),
        Case("text", {"a": words}, {"certainty": 0.75}, {"a": [moves_among(v, "xyz", 0.75) for v in words]}),
    ]
    for direction in ("up", "down"):
        moves = {"a": [moves_on_scale(int(v), 0.7, direction) for v in whole]}
        found.append(Case(f"only {direction}", {"a": whole}, {"certainty": 0.7, "direction": {"a": direction}}, moves))
    for lower, upper, direction in (
        (0, None, "both"),
        (None, 5, "both"),
        (-1, 7, "both"),
        (0, 6, "up"),
        (0, 5, "down"),
    ):
        said = {"certainty": 0.75, "bounds": {"a": (lower, upper)}, "direction": {"a": direction}, "clip": True}
        moves = {"a": [moves_on_scale(int(v), 0.75, direction, lower, upper) for v in whole]}
        found.append(Case(f"bounds {lower} {upper} {direction}", {"a": whole}, said, moves))
    moves = {"a": [moves_on_scale(int(v) - 1, 0.65, "both", 0, 4) for v in rating]}
    found.append(Case("ordinal", {"a": rating}, {"certainty": 0.65}, moves, {"a": [1, 2, 3, 4, 5]}))
    floats = rng.choice(np.arange(6) / 7, n)
    bins = np.searchsorted(np.unique(floats), floats)  # as many bins as numbers
    moves = {"a": [moves_on_scale(int(v), 0.7, "both", 0, len(np.unique(floats)) - 1) for v in bins]}
    found.append(Case("binned", {"a": floats}, {"certainty": 0.7}, moves, {"a": "binned"}))
    by_cell = rng.choice([0.6, 0.8, 0.95], (n, 1))
    moves = {"a": [moves_on_scale(int(v), float(p)) for v, p in zip(whole, by_cell[:, 0], strict=True)]}
    found.append(Case("by cell", {"a": whole}, {"certainty": by_cell}, moves))
    by_cell = rng.choice([0.6, 0.8, 1.0], (n, 1))
    moves = {"a": [moves_among(v, "xyz", float(p)) for v, p in zip(words, by_cell[:, 0], strict=True)]}
    found.append(Case("text by cell", {"a": words}, {"certainty": by_cell}, moves))
    table = {
        x: dict(zip("xyz", rng.dirichlet(np.ones(3)) * 0.5 + (np.array(list("xyz")) == x) * 0.5, strict=True))
        for x in "xyz"
    }
    found.append(
        Case("measured", {"a": words}, {"certainty": {"a": table}}, {"a": [moves_by_table(v, table) for v in words]})
    )
    scale = {
        v: {w: float(p) for w, p in zip(range(1, 6), 0.6 * np.eye(5)[v - 1] + 0.08, strict=True)} for v in range(1, 6)
    }
    moves = {"a": [moves_by_table(int(v), scale) for v in rating]}
    found.append(Case("measured scale", {"a": rating}, {"certainty": {"a": scale}}, moves))
    found += _with_missing(rng, whole, words)
    several = {"a": whole, "b": words, "c": truth, "d": rating}
    said = {"certainty": {"a": 0.85, "b": 0.8, "c": 0.9, "d": 0.7}}
    moves = {
        "a": [moves_on_scale(int(v), 0.85) for v in whole],
        "b": [moves_among(v, "xyz", 0.8) for v in words],
        "c": [moves_among(bool(v), [False, True], 0.9) for v in truth],
        "d": [moves_on_scale(int(v) - 1, 0.7, "both", 0, 4) for v in rating],
    }
    return [*found, Case("several", several, said, moves, {"d": [1, 2, 3, 4, 5]})]


def _with_missing(rng, whole, words):
    gone = rng.random(len(whole)) < 0.3
    gone[:3], gone[3] = False, True
    usual = {int(v): float(np.mean(whole[~gone] == v)) for v in np.unique(whole[~gone])}
    column = np.where(gone, np.nan, whole.astype(float))
    values = [None if lost else int(v) for v, lost in zip(whole, gone, strict=True)]
    found = []
    for stays in (0.8, 0.95):
        moves = [with_none({} if v is None else moves_on_scale(v, 0.8), v, stays, usual) for v in values]
        said = {"certainty": 0.8} if stays == 0.8 else {"certainty": 0.8, "missing_certainty": 0.95}
        found.append(Case(f"no answer {stays}", {"a": column}, said, {"a": moves}, {"a": "integer"}, "category"))
    texts = [None if lost else v for v, lost in zip(words, gone, strict=True)]
    moves = [moves_among(v, ["x", "y", "z", None], 0.7) for v in texts]
    found.append(Case("text without", {"a": texts}, {"certainty": 0.7}, {"a": moves}, missing="category"))
    price = math.log(0.9 / 0.1)
    moves = []
    for v in texts:
        if v is None:
            moves.append({None: (0.9, 0.0)} | dict.fromkeys("xyz", (0.1 / 3, price)))
        else:
            stays = {w: (0.9 * chance, cost) for w, (chance, cost) in moves_among(v, "xyz", 0.7).items()}
            moves.append(stays | {None: (0.1, price)})
    said = {"certainty": 0.7, "missing_certainty": 0.9}
    return [*found, Case("text with a certainty for none", {"a": texts}, said, {"a": moves}, missing="category")]
