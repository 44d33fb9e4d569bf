"""Random tiny instances of every kind, for the oracle (plain lists) and for the package (through its front door)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import hardwood as hw
import oracle
from hardwood.data.labels import Labels
from hardwood.trees.tree import Branch, Leaf, Tree

KINDS = ("integer", "ordinal", "binary", "categorical", "binned")
TRAITS = ("per sample", "by value", "by category", "free", "immovable", "tie", "one bound", "both bounds", "few steps")
PRICES = (0.0, 0.25, 0.5, 1.0, 2.0, 3.0, float("inf"))


@dataclass(frozen=True)
class Instance:
    columns: list[oracle.Column]
    labels: list[int]
    plain_tree: Any
    budget: float
    tree: Tree
    encoded_labels: Labels
    uncertainty: hw.UncertaintySet
    traits: frozenset[str]

    @property
    def case(self):
        return self.columns, self.labels, self.plain_tree


def random_instance(
    rng: np.random.Generator, max_samples: int = 4, max_columns: int = 3, max_classes: int = 3
) -> Instance:
    n_samples = int(rng.integers(1, max_samples + 1))
    n_classes = int(rng.integers(2, max_classes + 1))
    drawn = [_random_column(rng, f"c{j}", n_samples) for j in range(int(rng.integers(1, max_columns + 1)))]
    columns = [column for column, _, _, _ in drawn]
    labels = rng.integers(0, n_classes, n_samples).tolist()
    plain_tree = _random_tree(rng, columns, n_classes, depth=int(rng.integers(0, 4)))
    budget, tie = _random_budget(rng, columns)

    table = hw.encode(_frame(rng, drawn), kinds={f"c{j}": kinds for j, (_, _, kinds, _) in enumerate(drawn)})
    classes = tuple(f"class {k}" for k in range(n_classes))
    uncertainty = hw.UncertaintySet.priced(
        table,
        costs={f"c{j}": _costs(column) for j, column in enumerate(columns)},
        budget=budget,
        direction={f"c{j}": column.direction for j, column in enumerate(columns)},
        bounds={
            feature.name: (column.lower, column.upper)
            for feature, column in zip(table.features, columns, strict=True)
            if feature.kind == "integer"
        },
        steps={f"c{j}": column.steps for j, column in enumerate(columns)},
    )
    traits = frozenset().union(*(traits for _, _, _, traits in drawn), {"tie"} if tie else set())
    return Instance(
        columns,
        labels,
        plain_tree,
        budget,
        Tree(table.features, classes, _grow(plain_tree)),
        hw.encode_labels([classes[k] for k in labels], n_samples, classes=classes),
        uncertainty,
        traits,
    )


def _random_column(rng, name, n_samples):
    """An oracle column, the values a caller would have, the kind to ask for, and what is special about it."""
    kind = str(rng.choice(KINDS))
    ordered = kind != "categorical"
    n_values = {"integer": None, "binary": 2}.get(kind, int(rng.integers(2, 5)))
    codes = rng.integers(-1, 4, n_samples) if kind == "integer" else rng.integers(0, n_values, n_samples)
    lower = upper = None
    if kind == "integer":
        lower = int(codes.min() - rng.integers(0, 2)) if rng.random() < 0.4 else None
        upper = int(codes.max() + rng.integers(0, 2)) if rng.random() < 0.4 else None
        values, wish = codes, "integer"
    elif kind == "binned":
        # Few numbers get a bin each, so that the code is the rank among the numbers seen.
        numbers = codes * 1.25 - 1
        codes = np.searchsorted(np.unique(numbers), numbers)
        n_values, values, wish = len(np.unique(numbers)), numbers, None
    elif kind == "binary":
        values, wish = codes.astype(bool), None
    else:
        names = [f"{name}-{letter}" for letter in rng.permutation(list("dcba"))[:n_values]]
        values = pd.Categorical.from_codes(codes, names, ordered=ordered)
        wish = None if rng.random() < 0.5 or kind == "categorical" else names
    direction = str(rng.choice(["both", "up", "down"])) if ordered and rng.random() < 0.5 else "both"
    steps = int(rng.integers(0, 3)) if ordered and rng.random() < 0.2 else None
    prices, price_traits = _random_prices(rng, codes.tolist(), None if ordered else n_values)
    bounds = ("open", "one bound", "both bounds")[(lower is not None) + (upper is not None)]
    traits = {kind, f"{kind} {direction}", *price_traits} | ({bounds} if kind == "integer" else set())
    traits |= {"few steps"} if steps is not None else set()
    column = oracle.Column(ordered, codes.tolist(), n_values, direction, lower, upper, prices, steps)
    return column, values, wish, traits


def _random_prices(rng, codes, n_categories):
    n_samples = len(codes)
    draw = (lambda: float(rng.choice(PRICES))) if rng.random() < 0.6 else (lambda: float(rng.lognormal()))
    per_sample = rng.random() < 0.4
    by_category = n_categories is not None and rng.random() < 0.5
    rows = [
        [draw() for _ in range(n_categories)] if by_category else draw() for _ in range(n_samples if per_sample else 1)
    ]
    traits = {"per sample"} if per_sample else {"shared"}
    if per_sample and rng.random() < 0.5:  # as calibration makes them within bounds
        rows = [rows[codes.index(code)] for code in codes]
        traits = {"by value"}
    flat = np.ravel(rows)
    traits |= {"by category"} if by_category else set()
    traits |= {"free"} if (flat == 0).any() else set()
    traits |= {"immovable"} if np.isinf(flat).any() else set()
    return rows if per_sample else rows * n_samples, traits


def _random_budget(rng, columns):
    """Zero, any number, or just the sum of some prices."""
    steps = np.concatenate([np.ravel(column.prices) for column in columns])
    steps = steps[np.isfinite(steps)]
    how = rng.random()
    if how < 0.1 or not steps.size:
        return 0.0, False
    if how < 0.4:
        return float(rng.uniform(0, 6)), False
    total = 0.0
    for price in rng.choice(steps, int(rng.integers(1, 5))):
        total += float(price)
    return total, total > 0


def _random_tree(rng, columns, n_classes, depth):
    if depth == 0 or rng.random() < 0.15:
        return ("leaf", int(rng.integers(0, n_classes)))
    testable = [j for j, column in enumerate(columns) if column.n_values is None or column.n_values > 1]
    if not testable:
        return ("leaf", int(rng.integers(0, n_classes)))
    j = int(rng.choice(testable))
    column = columns[j]
    if column.n_values is None:
        code = int(rng.integers(min(column.codes) - 1, max(column.codes) + 2))
    else:
        code = int(rng.integers(0, column.n_values - column.ordered))
    left, right = (_random_tree(rng, columns, n_classes, depth - 1) for _ in range(2))
    return ("<=" if column.ordered else "==", j, code, left, right)


def _frame(rng, drawn):
    data = {f"c{j}": values for j, (_, values, _, _) in enumerate(drawn)}
    frame = pd.DataFrame(data)
    # polars does not know categories that no row uses unless they are ordered, so such tables stay with pandas.
    categorical = any(not column.ordered for column, _, _, _ in drawn)
    if categorical or rng.random() < 0.5:
        return frame
    return pl.DataFrame({name: _polars_series(values) for name, values in data.items()})


def _polars_series(values):
    if isinstance(values, pd.Categorical):
        return pl.Series(list(values), dtype=pl.Enum(list(values.categories)))
    return pl.Series(values)


def _costs(column):
    same = all(prices == column.prices[0] for prices in column.prices)
    return np.array(column.prices[:1] if same and not isinstance(column.prices[0], list) else column.prices)


def _grow(plain):
    if plain[0] == "leaf":
        return Leaf(plain[1])
    _, j, code, left, right = plain
    return Branch(j, code, _grow(left), _grow(right))
