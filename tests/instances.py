"""Random tiny instances with columns of every kind, for the oracle (plain lists) and for the package (public API)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import hardwood as hw
from hardwood.data.codes import BELOW_ALL
from hardwood.data.labels import Labels
from hardwood.trees.tree import Branch, Leaf, Tree
from tests import oracle

KINDS = ("integer", "ordinal", "binary", "categorical", "binned")
WIDE_TRAITS = (
    "missing",
    "missing certainty",
    "table",
    "table with missing",
    "integer weights",
    "real weights",
    "class weights",
)
TRAITS = ("per sample", "by value", "by category", "free", "immovable", "tie", "one bound", "both bounds", "few steps")
COSTS = (0.0, 0.25, 0.5, 1.0, 2.0, 3.0, float("inf"))


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
    weights: list[float] | None = None
    class_weights: list[float] | None = None

    @property
    def case(self):
        return self.columns, self.labels, self.plain_tree


def random_instance(
    rng: np.random.Generator, max_samples: int = 4, max_columns: int = 3, max_classes: int = 3, wide: bool = False
) -> Instance:
    """Draw an instance; `wide` adds missing values in ordered columns, tables of costs, sample and class weights."""
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
    weights, class_weights, weight_traits = _random_weights(rng, n_samples, n_classes) if wide else (None, None, set())
    traits = frozenset().union(*(traits for _, _, _, traits in drawn), {"tie"} if tie else set(), weight_traits)
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
            weights=weights,
            class_weight=None if class_weights is None else dict(zip(classes, class_weights, strict=True)),
        ),
        uncertainty,
        traits,
        weights,
        class_weights,
    )


def _random_weights(rng, n_samples, n_classes):
    """Sample weights, class weights, and their traits."""
    how = rng.choice(["none", "integer weights", "integer weights", "real weights", "real weights", "class weights"])
    weights = class_weights = None
    if how == "integer weights":
        weights = rng.integers(0, 4, n_samples).astype(float).tolist()
    elif how == "real weights" or (how == "class weights" and rng.random() < 0.5):
        weights = rng.choice([0.25, 0.5, 1.5, float(rng.uniform(0.01, 3))], n_samples).tolist()
    if how == "class weights" or (how == "real weights" and rng.random() < 0.5):
        class_weights = rng.choice([0.5, 1.0, 2.0, float(rng.uniform(0.1, 4))], n_classes).tolist()
    if weights is not None and sum(weights) == 0:
        weights[0] = 1.0
    traits = {"class weights"} if class_weights is not None and any(weight != 1 for weight in class_weights) else set()
    if weights is not None and any(weight != 1 for weight in weights):
        traits |= {"integer weights"} if all(weight == int(weight) for weight in weights) else {"real weights"}
    return weights, class_weights, traits


def _widened(rng, name, entry, certainties):
    """Perhaps some values are missing, perhaps there is a table of costs."""
    column, values, requested, traits = entry
    is_binned = "binned" in traits
    if column.ordered and rng.random() < 0.6:
        mask = rng.random(len(column.codes)) < 0.3
        mask[rng.integers(len(mask))] = True
        column, values, requested = _with_missing(column, values, requested, mask, traits)
        traits = traits | {"missing"}
        if rng.random() < 0.4:
            certainties[name] = float(rng.choice([0.5, 0.75, 0.9, 1.0]))
            cost = math.inf if certainties[name] == 1 else math.log(certainties[name] / (1 - certainties[name]))
            column = replace(column, missing=[max(cost, 0.0)] * len(mask))
            traits = traits | {"missing certainty"}
    if not is_binned and rng.random() < 0.3:
        column, table_traits = _with_table(rng, column, name in certainties)
        traits = traits | table_traits
    return column, values, requested, traits


def _with_missing(column, values, requested, mask, traits):
    codes = [oracle.MISSING if absent else code for code, absent in zip(column.codes, mask, strict=True)]
    n_values = column.n_values
    if "binned" in traits:
        present = np.unique(values[~mask])
        codes = [
            oracle.MISSING if absent else int(np.searchsorted(present, v))
            for v, absent in zip(values, mask, strict=True)
        ]
        n_values, requested, values = max(len(present), 1), "binned", np.where(mask, np.nan, values)
    elif isinstance(values, pd.Categorical):
        values = pd.Categorical.from_codes(np.where(mask, -1, values.codes), values.categories, ordered=True)
    elif "binary" in traits:
        values, requested = [None if absent else bool(v) for v, absent in zip(values, mask, strict=True)], "binary"
    else:
        values, requested = np.where(mask, np.nan, values.astype(float)), "integer"
    if "binary" in traits and mask.all():
        n_values = 2
    return replace(column, codes=codes, n_values=n_values, missing=list(column.costs)), values, requested


def _with_table(rng, column, missing_has_cost):
    """A cost for every change; of integers, those that occur and perhaps one more are listed."""
    listed = list(range(column.n_values)) if column.n_values is not None else []
    if column.n_values is None:
        listed = sorted({code for code in column.codes if code != oracle.MISSING} | {int(rng.integers(-1, 5))})
    traits = {"table"}
    if column.missing is not None and (not missing_has_cost or rng.random() < 0.5):
        listed.append(oracle.MISSING)
        traits |= {"table with missing"}
    table = {(old, new): 0.0 if old == new else float(rng.choice(COSTS)) for old in listed for new in listed}
    return replace(column, table=table), traits


def _random_column(rng, name, n_samples):
    """An oracle column, the caller's values, the kind to request, and the traits of the column."""
    kind = str(rng.choice(KINDS))
    ordered = kind != "categorical"
    n_values = {"integer": None, "binary": 2}.get(kind, int(rng.integers(2, 5)))
    codes = rng.integers(-1, 4, n_samples) if kind == "integer" else rng.integers(0, n_values, n_samples)
    lower = upper = None
    if kind == "integer":
        lower = int(codes.min() - rng.integers(0, 2)) if rng.random() < 0.4 else None
        upper = int(codes.max() + rng.integers(0, 2)) if rng.random() < 0.4 else None
        values, requested = codes, "integer"
    elif kind == "binned":
        # There are few numbers, so each gets a bin, and the code is its rank.
        numbers = codes * 1.25 - 1
        codes = np.searchsorted(np.unique(numbers), numbers)
        n_values, values, requested = (
            len(np.unique(numbers)),
            numbers,
            "binned",
        )  # requested, since a single number may be whole
    elif kind == "binary":
        values, requested = codes.astype(bool), None
    else:
        names = [f"{name}-{letter}" for letter in rng.permutation(list("dcba"))[:n_values]]
        values = pd.Categorical.from_codes(codes, names, ordered=ordered)
        requested = None if rng.random() < 0.5 or kind == "categorical" else names
    direction = str(rng.choice(["both", "up", "down"])) if ordered and rng.random() < 0.5 else "both"
    steps = int(rng.integers(0, 3)) if ordered and rng.random() < 0.2 else None
    costs, cost_traits = _random_costs(rng, codes.tolist(), None if ordered else n_values)
    bounds = ("open", "one bound", "both bounds")[(lower is not None) + (upper is not None)]
    traits = {kind, f"{kind} {direction}", *cost_traits} | ({bounds} if kind == "integer" else set())
    traits |= {"few steps"} if steps is not None else set()
    column = oracle.Column(ordered, codes.tolist(), n_values, direction, lower, upper, costs, steps)
    return column, values, requested, traits


def _random_costs(rng, codes, n_categories):
    n_samples = len(codes)
    draw = (lambda: float(rng.choice(COSTS))) if rng.random() < 0.6 else (lambda: float(rng.lognormal()))
    per_sample = rng.random() < 0.4
    by_category = n_categories is not None and rng.random() < 0.5
    rows = [
        [draw() for _ in range(n_categories)] if by_category else draw() for _ in range(n_samples if per_sample else 1)
    ]
    traits = {"per sample"} if per_sample else {"shared"}
    if per_sample and rng.random() < 0.5:  # as those of a calibration within bounds
        rows = [rows[codes.index(code)] for code in codes]
        traits = {"by value"}
    flat = np.ravel(rows)
    traits |= {"by category"} if by_category else set()
    traits |= {"free"} if (flat == 0).any() else set()
    traits |= {"immovable"} if np.isinf(flat).any() else set()
    return rows if per_sample else rows * n_samples, traits


def _random_budget(rng, columns):
    """Zero, any number, or exactly the sum of some costs."""
    steps = np.concatenate([np.ravel(column.costs) for column in columns])
    steps = steps[np.isfinite(steps)]
    how = rng.random()
    if how < 0.1 or not steps.size:
        return 0.0, False
    if how < 0.4:
        return float(rng.uniform(0, 6)), False
    total = 0.0
    for cost in rng.choice(steps, int(rng.integers(1, 5))):
        total += float(cost)
    return total, total > 0


def _random_tree(rng, columns, n_classes, depth):
    if depth == 0 or rng.random() < 0.15:
        return ("leaf", int(rng.integers(0, n_classes)))
    splittable = [
        j
        for j, column in enumerate(columns)
        if column.missing is not None or column.n_values is None or column.n_values > 1
    ]
    if not splittable:
        return ("leaf", int(rng.integers(0, n_classes)))
    j = int(rng.choice(splittable))
    column = columns[j]
    given = [code for code in column.codes if code != oracle.MISSING] or [0]
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
        cells = [None if isinstance(value, float) else value for value in values]
        return pl.Series(cells, dtype=pl.Enum(list(values.categories)))
    if isinstance(values, list):
        return pl.Series(values, dtype=pl.Boolean)
    return pl.Series(values, nan_to_null=True)


def _costs(column, feature):
    if column.table is not None:
        values = {code: _value(feature, code) for code, _ in column.table}
        return {values[old]: {values[new]: column.table[old, new] for new in values} for old in values}
    same = all(costs == column.costs[0] for costs in column.costs)
    return np.array(column.costs[:1] if same and not isinstance(column.costs[0], list) else column.costs)


def _grow(plain):
    if plain[0] == "leaf":
        return Leaf(plain[1])
    sign, j, code, left, right = plain
    return Branch(j, BELOW_ALL if sign == "?" else code, _grow(left), _grow(right), sign.endswith("?"))


def _value(feature, code):
    if code == oracle.MISSING:
        return None
    return code if feature.kind == "integer" else feature.categories[code]
