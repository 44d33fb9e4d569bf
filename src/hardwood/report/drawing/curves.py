"""Lines of a report: worst-case accuracy against the budget, and accuracies along the levels of a path."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hardwood.report.content import Content
from hardwood.report.drawing.shapes import coordinate
from hardwood.report.markup import Markup, element
from hardwood.shiftlab import PlausibilityChoice

_TICKS = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.01, 0.001)  # plausibilities
_MIN_TICK_DISTANCE = 42


@dataclass(frozen=True)
class _Axes:
    """The area of a chart: accuracies from `floor` to `ceiling` upwards, and `span` units to the right."""

    left: float
    top: float
    width: float
    height: float
    floor: float
    ceiling: float
    span: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def x(self, position: float) -> float:
        return self.left + self.width * position / self.span

    def y(self, accuracy: float) -> float:
        return self.top + self.height * (1 - (accuracy - self.floor) / (self.ceiling - self.floor))

    def accuracy_grid(self) -> list[Markup]:
        """Return a horizontal line with its label for every ten per cent."""
        shapes = []
        for k in range(round(10 * self.floor), round(10 * self.ceiling) + 1):
            y = self.y(k / 10)
            shapes.append(self.horizontal_line(y))
            shapes.append(element("text", f"{10 * k} %", class_="tick end", x=self.left - 6, y=coordinate(y + 4)))
        return shapes

    def horizontal_line(self, y: float) -> Markup:
        return element("line", class_="grid", x1=self.left, x2=self.right, y1=coordinate(y), y2=coordinate(y))

    def vertical_line(self, x: float, class_: str, above: float = 0, **attributes: object) -> Markup:
        """Return a line from the bottom to the top, or to some pixels above it."""
        ends = {"x1": coordinate(x), "x2": coordinate(x), "y1": self.top - above, "y2": self.bottom}
        return element("line", class_=class_, **ends, **attributes)

    def polyline(self, k: int, positions: Sequence[float], accuracies: Sequence[float], **attributes: object) -> Markup:
        """Return the k-th line of the chart."""
        points = " ".join(
            f"{coordinate(self.x(position))},{coordinate(self.y(accuracy))}"
            for position, accuracy in zip(positions, accuracies, strict=True)
        )
        return element("polyline", class_=f"curve line-{k}", points=points, **attributes)


def curve_svg(content: Content) -> Markup:
    """Draw worst-case accuracy against the budget, for the reported tree and the baselines."""
    curves, largest = content.curves, content.largest_budget
    lowest, highest = min(map(min, curves.values())), max(map(max, curves.values()))
    floor, ceiling = max(0.0, math.floor(10 * lowest - 0.2) / 10), min(1.0, math.ceil(10 * highest + 0.2) / 10)
    axes = _Axes(left=52, top=34, width=640, height=300, floor=floor, ceiling=ceiling, span=largest)
    shapes = [*axes.accuracy_grid(), *_plausibility_ticks(axes, content.total_weight)]
    x = axes.x(content.attack.uncertainty.budget)
    label_x = coordinate(min(max(x, 100), axes.right - 50))
    shapes.append(axes.vertical_line(x, "budget", above=6))
    shapes.append(element("text", "hedged against", class_="tick middle", x=label_x, y=axes.top - 12))
    for k, (name, accuracies) in enumerate(curves.items()):
        budgets = [largest * i / (len(accuracies) - 1) for i in range(len(accuracies))]
        shapes.append(axes.polyline(k, budgets, accuracies, data_name=name))
    shapes.append(axes.vertical_line(axes.left, "guide", id="guide", visibility="hidden"))
    middle, below = axes.left + axes.width / 2, axes.bottom + 40
    shapes.append(element("text", "plausibility of the shift", class_="tick middle", x=middle, y=below))
    return element(
        "svg",
        *shapes,
        class_="curves",
        viewBox=f"0 0 {axes.right + 16} {axes.bottom + 48}",
        role="img",
        aria_label=f"Correct after the worst shift, by plausibility, for {', '.join(curves)}; "
        "the table below has the numbers",
        id="curves",
        data_left=axes.left,
        data_width=axes.width,
    )


def _plausibility_ticks(axes: _Axes, total_weight: float) -> list[Markup]:
    """Label budgets with their plausibilities, as far as the labels do not overlap."""
    shapes: list[Markup] = []
    last = -math.inf
    for plausibility in _TICKS:
        budget = -total_weight * math.log(plausibility)
        x = axes.x(budget)
        if budget <= axes.span and x >= last + _MIN_TICK_DISTANCE:
            last = x
            shapes.append(axes.vertical_line(x, "grid"))
            shapes.append(
                element("text", f"{plausibility:g}", class_="tick middle", x=coordinate(x), y=axes.bottom + 18)
            )
    return shapes


def levels_svg(choice: PlausibilityChoice) -> Markup:
    """Draw accuracies along the levels of a path, equally spaced."""
    levels = choice.levels
    lines = [
        [level.validated for level in levels],
        [level.nominal for level in levels],
        [level.worst_case for level in levels],
    ]
    lowest, highest = min(map(min, lines)), max(map(max, lines))
    floor = math.floor(10 * lowest - 0.2)
    ceiling = max(math.ceil(10 * highest), floor + 1)
    span = max(len(levels) - 1, 1)
    axes = _Axes(left=44, top=14, width=640, height=200, floor=floor / 10, ceiling=ceiling / 10, span=span)
    shapes = axes.accuracy_grid()
    for k, level in enumerate(levels):
        label = f"{level.plausibility:g}"
        shapes.append(element("text", label, class_="tick middle", x=coordinate(axes.x(k)), y=axes.bottom + 18))
    shapes += [axes.polyline(k, range(len(levels)), accuracies) for k, accuracies in enumerate(lines)]
    return element(
        "svg",
        *shapes,
        class_="curves",
        viewBox=f"0 0 {axes.right + 30} {axes.bottom + 30}",
        role="img",
        aria_label="Accuracy along the levels of plausibility; the table below has the numbers",
    )
