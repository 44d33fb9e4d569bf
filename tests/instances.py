"""Random tiny instances of every kind, for the oracle (plain lists) and for the package (through its front door)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import hardwood as hw
import oracle
from hardwood.data.features import BELOW_ALL
from hardwood.data.labels import Labels
from hardwood.trees.tree import Branch, Leaf, Tree

KINDS = ("integer", "ordinal", "binary", "categorical", "binned")
WIDE_TRAITS = ("missing", "missing certainty", "table", "table with none", "whole weights", "real weights", "worth")
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
    people: list[float] | None = None
    worth: list[float] | None = None

    @property
    def case(self):
        return self.columns, self.labels, self.plain_tree


def random_instance(
    rng: np.random.Generator, max_samples: int = 4, max_columns: int = 3, max_classes: int = 3, wide: bool = False
) -> Instance:
    """Wide: with missing answers in ordered columns, tables of prices, weights and worth."""
    n_samples = int(rng.integers(1, max_samples + 1))
    n_classes = int(rng.integers(2, max_classes + 1))
    drawn = [_random_column(rng, f"c{j}", n_samples) for j in range(int(rng.integers(1, max_columns + 1)))]
    certainties: dict[str, float] = {}
    if wide:
        drawn = [_widened(rng, f"c{j}", entry, certainties) for j, entry in enumerate(drawn)]
    columns = [column for column, _, _, _ in drawn]
    labels = rng.integers(0, n_classes, n_samples).tolist()
    plain_tree = _random_tree(rng, columns, n_classes, depth=int(rng.integers(0, 4)))
    budget, tie = _random_budget(rng, columns)

    frame = _frame(rng, drawn)
    kinds = {f"c{j}": kinds for j, (_, _, kinds, _) in enumerate(drawn)}
    table = hw.encode(frame, kinds=kinds, missing="category" if wide else "error")
    classes = tuple(f"class {k}" for k in range(n_classes))
    uncertainty = hw.UncertaintySet.priced(
        table,
        costs={f"c{j}": _costs(column, table.features[j]) for j, column in enumerate(columns)},
        budget=budget,
        direction={f"c{j}": column.direction for j, column in enumerate(columns)},
        bounds={
            feature.name: (column.lower, column.upper)
            for feature, column in zip(table.features, columns, strict=True)
            if feature.kind == "integer"
        },
        steps={f"c{j}": column.steps for j, column in enumerate(columns)},
        missing_certainty=certainties or None,
    )
    people, worth, who = _random_people(rng, n_samples, n_classes) if wide else (None, None, set())
    traits = frozenset().union(*(traits for _, _, _, traits in drawn), {"tie"} if tie else set(), who)
    return Instance(
        columns,
        labels,
        plain_tree,
        budget,
        Tree(table.features, classes, _grow(plain_tree)),
        hw.encode_labels(
            [classes[k] for k in labels],
            n_samples,
            classes=classes,
            weights=people,
            class_weight=None if worth is None else dict(zip(classes, worth, strict=True)),
        ),
        uncertainty,
        traits,
        people,
        worth,
    )


def _random_people(rng, n_samples, n_classes):
    """How many people rows stand for, and what classes are worth."""
    how = rng.choice(["nothing", "whole weights", "whole weights", "real weights", "real weights", "worth"])
    people = worth = None
    if how == "whole weights":
        people = rng.integers(0, 4, n_samples).astype(float).tolist()
    elif how == "real weights" or (how == "worth" and rng.random() < 0.5):
        people = rng.choice([0.25, 0.5, 1.5, float(rng.uniform(0.01, 3))], n_samples).tolist()
    if how == "worth" or (how == "real weights" and rng.random() < 0.5):
        worth = rng.choice([0.5, 1.0, 2.0, float(rng.uniform(0.1, 4))], n_classes).tolist()
    if people is not None and sum(people) == 0:
        people[0] = 1.0
    traits = {"worth"} if worth is not None and any(own != 1 for own in worth) else set()
    if people is not None and any(own != 1 for own in people):
        traits |= {"whole weights"} if all(own == int(own) for own in people) else {"real weights"}
    return people, worth, traits


def _widened(rng, name, entry, certainties):
    """Perhaps some answers are missing, perhaps there is a table of prices."""
    column, values, wish, traits = entry
    is_binned = "binned" in traits
    if column.ordered and rng.random() < 0.6:
        gone = rng.random(len(column.codes)) < 0.3
        gone[rng.integers(len(gone))] = True
        column, values, wish = _with_missing(column, values, wish, gone, traits)
        traits = traits | {"missing"}
        if rng.random() < 0.4:
            certainties[name] = float(rng.choice([0.5, 0.75, 0.9, 1.0]))
            price = math.inf if certainties[name] == 1 else math.log(certainties[name] / (1 - certainties[name]))
            column = replace(column, missing=[max(price, 0.0)] * len(gone))
            traits = traits | {"missing certainty"}
    if not is_binned and rng.random() < 0.3:
        column, own = _with_table(rng, column, name in certainties)
        traits = traits | own
    return column, values, wish, traits


def _with_missing(column, values, wish, gone, traits):
    codes = [oracle.NONE if lost else code for code, lost in zip(column.codes, gone, strict=True)]
    n_values = column.n_values
    if "binned" in traits:
        there = np.unique(values[~gone])
        codes = [oracle.NONE if lost else int(np.searchsorted(there, v)) for v, lost in zip(values, gone, strict=True)]
        n_values, wish, values = max(len(there), 1), "binned", np.where(gone, np.nan, values)
    elif isinstance(values, pd.Categorical):
        values = pd.Categorical.from_codes(np.where(gone, -1, values.codes), values.categories, ordered=True)
    elif "binary" in traits:
        values, wish = [None if lost else bool(v) for v, lost in zip(values, gone, strict=True)], "binary"
    else:
        values, wish = np.where(gone, np.nan, values.astype(float)), "integer"
    if "binary" in traits and gone.all():
        n_values = 2
    return replace(column, codes=codes, n_values=n_values, missing=list(column.prices)), values, wish


def _with_table(rng, column, none_is_priced):
    """A price for every change; of whole numbers, those that occur and perhaps some others are listed."""
    listed = list(range(column.n_values)) if column.n_values is not None else []
    if column.n_values is None:
        listed = sorted({code for code in column.codes if code != oracle.NONE} | {int(rng.integers(-1, 5))})
    traits = {"table"}
    if column.missing is not None and (not none_is_priced or rng.random() < 0.5):
        listed.append(oracle.NONE)
        traits |= {"table with none"}
    table = {(old, new): 0.0 if old == new else float(rng.choice(PRICES)) for old in listed for new in listed}
    return replace(column, table=table), traits


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
        n_values, values, wish = len(np.unique(numbers)), numbers, "binned"  # a single number may be whole
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
    testable = [
        j
        for j, column in enumerate(columns)
        if column.missing is not None or column.n_values is None or column.n_values > 1
    ]
    if not testable:
        return ("leaf", int(rng.integers(0, n_classes)))
    j = int(rng.choice(testable))
    column = columns[j]
    given = [code for code in column.codes if code != oracle.NONE] or [0]
    sign = "<=" if column.ordered else "=="
    if column.missing is not None:
        sign = "?" if column.n_values == 1 else str(rng.choice(["<=", "<=?", "?"]))
    if sign == "?":
        code = 0
    elif column.n_values is None:
        code = int(rng.integers(min(given) - 1, max(given) + 2))
    else:
        code = int(rng.integers(0, column.n_values - column.ordered))
    left, right = (_random_tree(rng, columns, n_classes, depth - 1) for _ in range(2))
    return (sign, j, code, left, right)


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
        answers = [None if isinstance(value, float) else value for value in values]
        return pl.Series(answers, dtype=pl.Enum(list(values.categories)))
    if isinstance(values, list):
        return pl.Series(values, dtype=pl.Boolean)
    return pl.Series(values, nan_to_null=True)


def _costs(column, feature):
    if column.table is not None:
        words = {code: _answer(feature, code) for code, _ in column.table}
        return {words[old]: {words[new]: column.table[old, new] for new in words} for old in words}
    same = all(prices == column.prices[0] for prices in column.prices)
    return np.array(column.prices[:1] if same and not isinstance(column.prices[0], list) else column.prices)


def _grow(plain):
    if plain[0] == "leaf":
        return Leaf(plain[1])
    sign, j, code, left, right = plain
    return Branch(j, BELOW_ALL if sign == "?" else code, _grow(left), _grow(right), sign.endswith("?"))


def _answer(feature, code):
    if code == oracle.NONE:
        return None
    return code if feature.kind == "integer" else feature.categories[code]
