"""What the worst shift changes, in groups, without the recorded values of single rows."""

from __future__ import annotations

from dataclasses import dataclass

from hardwood.data.codes import BELOW_ALL, MISSING_CODE
from hardwood.data.feature import MISSING_TEXT
from hardwood.report.content import Content
from hardwood.trees.node_stats import limit_text
from hardwood.trees.shift import plain_number
from hardwood.trees.tree import Branch, Limit, Tree

ANY_OTHER_VALUE = "any other answer"
OTHER_CHANGES = "other changes"
_MIN_GROUP_ROWS = 5  # smaller groups could identify single rows
_MAX_NAMED_VALUES = 3


@dataclass(frozen=True)
class ChangeGroup:
    """Changes of the worst shift that the tree does not distinguish.

    Parameters
    ----------
    column : str
        Name of the changed column.
    old, new : str
        Recorded and new value, as ranges between thresholds of the tree.
    weight : float
        Total weight of the changed rows: their number if rows are not weighted.
    cost : float
        Cost of all changes of the group.
    """

    column: str
    old: str
    new: str
    weight: float
    cost: float


def change_groups(content: Content) -> list[ChangeGroup]:
    """Group the changes of the worst shift by column, old and new value, most frequent first.

    Values of single rows are not disclosed: a value is given as the range between two thresholds of the tree, and
    groups of few rows are merged into one, which comes last.
    """
    shift, tree = content.attack.shift, content.tree
    groups: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    cells = zip(shift.columns, shift.rows, shift.codes, shift.costs * shift.weights, shift.weights, strict=True)
    for j, row, code, cost, weight in cells:
        old = int(content.table.values[row, j])
        new = _equivalent_values(content, int(j), int(row), old) or _range_text(tree, int(j), int(code))
        key = (tree.features[j].name, _range_text(tree, int(j), old), new)
        groups.setdefault(key, []).append((float(weight), float(cost)))
    entries = [_group(*key, changes) for key, changes in groups.items() if len(changes) >= _MIN_GROUP_ROWS]
    entries.sort(key=lambda entry: -entry.weight)
    merged = [change for changes in groups.values() if len(changes) < _MIN_GROUP_ROWS for change in changes]
    return [*entries, _group(OTHER_CHANGES, "", "", merged)] if merged else entries


def _group(column: str, old: str, new: str, changes: list[tuple[float, float]]) -> ChangeGroup:
    """Return the group of changes, each given by its weight and cost."""
    weight, cost = (sum(numbers) for numbers in zip(*changes, strict=True))
    return ChangeGroup(column, old, new, plain_number(weight), cost)


def _equivalent_values(content: Content, j: int, row: int, old: int) -> str:
    """Describe the new values that serve the adversary equally well at one cost; "" if there is only one."""
    costs, feature = content.attack.uncertainty.costs, content.table.features[j]
    if feature.ordered or costs.pair_costs[j] is not None or costs.unit_costs[j].shape[1] > 1:
        return ""
    region = content.tree.regions[content.attack.region_of[row]]
    limit = next(limit for limit in region.limits if limit.feature == j)
    values = sorted((limit.allowed or frozenset()) - {old})
    if len(values) < 2:
        return ""
    if len(values) == feature.n_values - 1:
        return ANY_OTHER_VALUE
    if len(values) > _MAX_NAMED_VALUES:
        return f"one of {len(values)}"
    return " or ".join(str(feature.categories[k]) for k in values)


def _range_text(tree: Tree, j: int, code: int) -> str:
    """Describe a value by the thresholds of the tree around it, or by its category."""
    feature = tree.features[j]
    if code == MISSING_CODE:
        return MISSING_TEXT
    if not feature.ordered:
        return str(feature.categories[code])
    thresholds = [
        node.code for node in tree.nodes if isinstance(node, Branch) and node.feature == j and node.code != BELOW_ALL
    ]
    low = max((threshold + 1 for threshold in thresholds if threshold < code), default=None)
    high = min((threshold for threshold in thresholds if threshold >= code), default=None)
    return limit_text(feature, Limit(j, low, high))
