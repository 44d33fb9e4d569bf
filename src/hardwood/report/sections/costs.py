"""How certain values are, and what changes of them cost."""

from __future__ import annotations

import math

import numpy as np

from hardwood.data.feature import MISSING_TEXT, Feature, Kind
from hardwood.report.content import Content
from hardwood.report.formatting import counted
from hardwood.report.markup import Markup, element, isolated
from hardwood.report.sections.common import NO_CERTAINTIES
from hardwood.report.tables import table_of
from hardwood.shiftlab.coverage import used_features
from hardwood.shifts.column_summary import WHY_MANY_VALUES, WHY_THEY_DIFFER, summarize_columns
from hardwood.shifts.move_costs import MoveCosts
from hardwood.shifts.reach import Direction, Reach

_HEAD = (
    "question",
    "kind",
    "used by the tree",
    "certainty",
    "cost of a change",
    "how likely, compared with no change",
    "changes expected by chance",
    "changes the budget pays for",
    "where values may move",
)
_UNKNOWN = "not known"


def costs_section(content: Content) -> list[Markup]:
    """Return the certainty of each column, and what a change of its values costs."""
    table = table_of("What a change of an answer costs, in each column", _HEAD, _rows(content))
    if not content.has_probabilities:
        return [element("p", NO_CERTAINTIES), table]
    if not content.calibrated:
        return [element("p", "The shift model states both the costs of changes and how likely changes are."), table]
    text = (
        "Certainty is the probability that an answer is recorded the same way when the tree is used; a column may have "
        "a table instead, with the probability of every change. The cost of a change follows from either: the "
        "logarithm of how unlikely the change is, compared with no change."
    )
    notes = [element("p", note, class_="soft") for note in (WHY_THEY_DIFFER, WHY_MANY_VALUES)]
    return [element("p", text), table, *notes]


def _rows(content: Content) -> list[list[object]]:
    """Return the cells of each column's row."""
    uncertainty, labels = content.attack.uncertainty, content.attack.labels
    used = used_features(content.tree)
    summaries = summarize_columns(content.table, uncertainty, content.level.shifts, labels.sample_weights)
    rows: list[list[object]] = []
    for j, (feature, summary) in enumerate(zip(content.table.features, summaries, strict=True)):
        low, high = uncertainty.costs.cost_range(j)
        expected = summary.expected_changes
        rows.append(
            [
                isolated(feature.name),
                str(feature.kind),
                "yes" if j in used else "no",
                summary.certainty,
                _cost_range(low, high),
                _likelihood_ratio(low) if content.calibrated else _UNKNOWN,
                _UNKNOWN if expected is None else f"{expected:,.0f}",
                _n_affordable(uncertainty.budget, low),
                _reach_text(feature, uncertainty.costs, j),
            ]
        )
    return rows


def _missing_cost(costs: MoveCosts, j: int) -> float | None:
    """Return the lowest cost of a move to or from missing; None if the column has no missing values."""
    missing_costs = costs.missing_costs[j]
    return None if missing_costs is None else float(missing_costs.min())


def _n_affordable(budget: float, cost: float) -> str:
    """Describe how many changes of one cost the budget pays for."""
    if math.isinf(cost):
        return "none"
    return "any number" if cost == 0 else f"{math.floor(budget / cost + 1e-9):,}"


def _cost(cost: float) -> str:
    """Describe a cost."""
    return "never changes" if math.isinf(cost) else f"{cost:.3g}"


def _cost_range(low: float, high: float) -> str:
    """Describe the lowest and the highest cost of a change."""
    if low == high:
        return _cost(low)
    return f"from {_cost(low)}; some changes never" if math.isinf(high) else f"{_cost(low)} to {_cost(high)}"


def _likelihood_ratio(cost: float) -> str:
    """Describe how likely a change of some cost is, compared with no change."""
    share = 100 * math.exp(-cost)
    return "never" if math.isinf(cost) else f"{share:.0f} %" if share >= 9.5 else f"{share:.2g} %"


def _reach_text(feature: Feature, costs: MoveCosts, j: int) -> str:
    """Describe where the values of a column may move."""
    pairs, missing_cost = costs.pair_costs[j], _missing_cost(costs, j)
    if math.isinf(costs.cost_range(j)[0]):
        text = "nowhere"
    elif pairs is not None and (feature.ordered or not np.isfinite(pairs.numbers).all()):
        text = "as its table states"
    else:
        text = _limits_text(feature, costs.reach[j])
    if missing_cost is None:
        return text
    if math.isinf(missing_cost):
        return f"{text}; never to or from {MISSING_TEXT}"
    return f"{text}; to or from {MISSING_TEXT} at a cost of {_cost(missing_cost)}"


def _limits_text(feature: Feature, reach: Reach) -> str:
    """Describe the direction, the bounds and the number of steps of a column."""
    limits = [] if reach.direction is Direction.BOTH else [f"only {reach.direction}"]
    if feature.kind is not Kind.INTEGER:
        limits.append("among its bins" if feature.kind is Kind.BINNED else "among its answers")
    else:
        limits += [] if reach.lower is None else [f"not below {reach.lower}"]
        limits += [] if reach.upper is None else [f"not above {reach.upper}"]
    if reach.steps is not None:
        limits.append(f"at most {counted(reach.steps, 'step')}")
    return ", ".join(limits) or "anywhere"
