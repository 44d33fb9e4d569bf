"""What the script of a page needs: the trees, the values of their columns, and what changes of them cost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count

import numpy as np

from hardwood.data.codes import MISSING_CODE
from hardwood.data.feature import MISSING_TEXT, Feature, Kind
from hardwood.data.table import Table
from hardwood.report.content import Content
from hardwood.report.markup import Json
from hardwood.shifts.reach import Direction, Reach
from hardwood.trees.tree import Leaf, Node

_MAX_VALUES = 50  # of a table of costs in the page
_MAX_COSTS = 2000  # of one column in the page; a wider column whose costs depend on the value has no margins there


def script_data(content: Content) -> dict[str, Json]:
    """Return what the script needs to trace a record, to show its margin and to move along the path."""
    return {
        "chosen": content.chosen,
        "classes": [str(label) for label in content.tree.classes],
        "features": [_feature_data(content, j) for j in content.used_features],
        "levels": [_node_data(level.attack.tree.root, count()) for level in content.levels],
        "curves": content.curves,
        "largestBudget": content.largest_budget,
        "totalWeight": content.total_weight,
        "calibrated": content.calibrated,
        "missingCode": MISSING_CODE,
        "missingText": MISSING_TEXT,
    }


def _node_data(node: Node, leaf_numbers: Iterator[int]) -> dict[str, Json]:
    """Return a node with everything below it; leaves are numbered from left to right."""
    if isinstance(node, Leaf):
        return {"label": node.label, "leaf": next(leaf_numbers)}
    return {
        "feature": node.feature,
        "code": node.code,
        "missingLeft": node.missing_left,
        "yes": _node_data(node.left, leaf_numbers),
        "no": _node_data(node.right, leaf_numbers),
    }


def _feature_data(content: Content, j: int) -> dict[str, Json]:
    """Return how the values of a feature are read, and what moving them costs."""
    feature = content.table.features[j]
    return {
        "index": j,
        "name": feature.name,
        "kind": str(feature.kind),
        "ordered": feature.ordered,
        "missing": feature.missing,
        "middle": (feature.low + feature.high) // 2,
        "categories": [str(category) for category in feature.categories],
        "edges": list(feature.edges) if feature.kind is Kind.BINNED else [],
        "moves": _move_data(content, j),
    }


def _move_data(content: Content, j: int) -> dict[str, Json] | None:
    """Return the costs of moving a value of a column, for any record.

    With a bound, the cost of an integer depends on the value: there is one for each value, from `first` on. Otherwise
    it is the same for all values. None if costs belong to single rows, or are too many for the page.
    """
    shifts = content.level.shifts.clipped()  # values that no row has may be less certain than allowed
    if shifts.per_cell:
        return None
    costs = content.attack.uncertainty.costs
    if (pairs := costs.pair_costs[j]) is not None:
        table = [[_finite(cost) for cost in row] for row in pairs.numbers.tolist()]
        return {"codes": pairs.codes.tolist(), "table": table} if len(table) <= _MAX_VALUES else None
    reach = costs.reach[j]
    first, last = _value_range(content.table.features[j], reach)
    if last - first >= _MAX_COSTS:
        return None
    probes = np.repeat(content.table.values[:1], last - first + 1, axis=0)
    probes[:, j] = np.arange(first, last + 1)
    probed = shifts.uncertainty(Table(content.table.features, probes), budget=0.0).costs
    unit_costs, missing_costs = probed.unit_costs[j], probed.missing_costs[j]
    return {
        "table": None,
        "missing": None if missing_costs is None else _finite(float(missing_costs[0])),
        "costs": [[_finite(cost) for cost in row] for row in unit_costs.tolist()],
        "first": first if len(unit_costs) > 1 else None,
        "mayRise": reach.direction is not Direction.DOWN,
        "mayFall": reach.direction is not Direction.UP,
        "lower": reach.lower,
        "upper": reach.upper,
        "steps": reach.steps,
    }


def _value_range(feature: Feature, reach: Reach) -> tuple[int, int]:
    """Return the values whose costs the page holds; one value represents all if costs do not depend on it."""
    if not feature.ordered or (reach.lower is None and reach.upper is None):
        return feature.low, feature.low
    beyond = feature.n_values + 10  # on a side without a bound; farther out the page has no margin
    first = feature.low - beyond if reach.lower is None else min(feature.low, reach.lower)
    last = feature.high + beyond if reach.upper is None else max(feature.high, reach.upper)
    return first, last


def _finite(cost: float) -> float | None:
    """Return a cost for JSON, which has no infinity: null is a move that never happens."""
    return cost if math.isfinite(cost) else None
