"""Histograms of a report: the values at a question, and the accuracy under random shifts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hardwood._util.arrays import FloatArray
from hardwood.data.codes import BELOW_ALL, MISSING_CODE
from hardwood.data.feature import Feature, Kind
from hardwood.evaluation import AccuracyDistribution
from hardwood.report.content import Level
from hardwood.report.drawing.shapes import class_colour, coordinate
from hardwood.report.formatting import percent, row_count
from hardwood.report.markup import Markup, element
from hardwood.trees.node_stats import NodeStats
from hardwood.trees.tree import Branch

_MAX_VALUE_BARS = 24
_MAX_ACCURACY_BARS = 60


@dataclass(frozen=True, eq=False)
class _Bars:
    """Weights by bar and class; each of the first `n_bars` bars holds `bar_width` codes from `low` on."""

    counts: FloatArray
    low: int
    bar_width: int
    n_bars: int


def value_histogram_svg(level: Level, node: NodeStats, branch: Branch) -> Markup:
    """Draw the values of a question's rows by class; values whose outcome is yes are left of the line.

    Parameters
    ----------
    level : Level
        The tree with its samples.
    node, branch : NodeStats, Branch
        The branching node with its samples, and its split.
    """
    feature = level.attack.tree.features[branch.feature]
    bars = _value_bars(level, node, branch.feature)
    step, height = 240 / len(bars.counts), 64
    scale = height / max(float(bars.counts.sum(axis=1).max()), 1.0)
    shapes = []
    for k, weights in enumerate(bars.counts):
        y = float(height)
        for label, weight in enumerate(weights):
            y -= weight * scale
            if weight:
                size = {"width": coordinate(max(step - 2, 1)), "height": coordinate(weight * scale)}
                corner = {"x": coordinate(k * step + 1), "y": coordinate(y)}
                shapes.append(element("rect", class_=class_colour(label), **corner, **size))
    if feature.ordered and branch.code != BELOW_ALL:
        x = coordinate(min(max((branch.code - bars.low + 1) / bars.bar_width, 0), bars.n_bars) * step)
        shapes.append(element("line", class_="budget", x1=x, x2=x, y1=0, y2=height))
    if feature.categories and bars.n_bars > 1:  # the ends of a range of numbers would be values of single rows
        first, last = str(feature.categories[0]), str(feature.categories[-1])
        shapes.append(element("text", first, class_="tick", x=0, y=height + 13))
        shapes.append(element("text", last, class_="tick end", x=coordinate(bars.n_bars * step), y=height + 13))
    return element(
        "svg",
        *shapes,
        class_="bar",
        viewBox=f"0 0 240 {height + 16}",
        width=240,
        height=height + 16,
        role="img",
        aria_label=f"Answers to {feature.name} by class, of {row_count(node.n_samples)}",
    )


def _value_bars(level: Level, node: NodeStats, j: int) -> _Bars:
    """Count the values of the rows that reach a node by bar and class; missing values are the last bar."""
    attack = level.attack
    feature = attack.tree.features[j]
    rows = attack.tree.rows_at(attack.table, node.way)
    codes, labels, weights = attack.table.values[rows, j], attack.labels.codes[rows], attack.labels.sample_weights[rows]
    observed = codes != MISSING_CODE
    low, high = _code_range(feature, codes[observed])
    bar_width = max(1, math.ceil((high - low + 1) / _MAX_VALUE_BARS))
    n_bars = (high - low) // bar_width + 1
    bar_of = np.minimum((np.where(observed, codes, low) - low) // bar_width, n_bars - 1)
    counts = np.zeros((n_bars + 1, len(attack.labels.classes)))
    np.add.at(counts, (np.where(observed, bar_of, n_bars), labels), weights)
    return _Bars(counts if counts[-1].any() else counts[:-1], low, bar_width, n_bars)


def _code_range(feature: Feature, codes: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> tuple[int, int]:
    """Return the codes of a histogram: those of the rows for an integer feature, otherwise the whole domain."""
    if feature.kind is not Kind.INTEGER:
        return feature.low, feature.high
    low, high = int(codes.min(initial=feature.high)), int(codes.max(initial=feature.low))
    return low, max(low, high)


def accuracy_histogram_svg(accuracy: AccuracyDistribution, guarantee: float) -> Markup:
    """Draw how likely each accuracy is under random shifts, with the guaranteed accuracy marked.

    Parameters
    ----------
    accuracy : AccuracyDistribution
        Accuracy under random shifts.
    guarantee : float
        Accuracy after the worst shift.
    """
    left, top, width, height = 44, 24, 640, 200
    edges, bars = accuracy.bars(_MAX_ACCURACY_BARS)
    first = min(math.floor(100 * min(float(edges[0]), guarantee, accuracy.nominal)), 98)  # per cent
    last = max(min(math.ceil(100 * max(float(edges[-1]), guarantee, accuracy.nominal)), 100), first + 2)
    highest = float(bars.max()) or 1.0

    def x(share: float) -> float:
        return left + width * (100 * share - first) / (last - first)

    shapes = [
        element(
            "rect",
            class_=class_colour(0),
            x=coordinate(x(start)),
            y=coordinate(top + height * (1 - bar / highest)),
            width=coordinate(max(x(min(end, 1.0)) - x(start) - 1, 0.6)),
            height=coordinate(height * bar / highest),
        )
        for bar, start, end in zip(bars.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        if bar > 0
    ]
    shapes += [
        element("text", f"{k} %", class_="tick middle", x=coordinate(x(k / 100)), y=top + height + 18)
        for k in range(first, last + 1, max(1, round((last - first) / 8)))
    ]
    marks = [(accuracy.nominal, "no shift", x(accuracy.nominal) > left + width - 90)]
    if guarantee < accuracy.nominal:
        marks.append((guarantee, "worst shift", x(guarantee) > left + 80))
    for share, text, before in marks:
        at = coordinate(x(share))
        shapes.append(element("line", class_="budget", x1=at, x2=at, y1=top - 6, y2=top + height))
        shapes.append(element("text", text, class_="tick end" if before else "tick", x=at, y=top - 12))
    label = (
        f"How likely each accuracy is under random shifts: {percent(accuracy.mean)} on average, "
        f"{percent(accuracy.quantile(0.05))} to {percent(accuracy.quantile(0.95))} in 90 of 100 cases"
    )
    size = f"0 0 {left + width + 30} {top + height + 26}"
    return element("svg", *shapes, class_="curves", viewBox=size, role="img", aria_label=label)
