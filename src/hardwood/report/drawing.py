"""The pictures of a report, drawn as SVG here and not in the browser, so that they need no script."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hardwood.data.features import BELOW_ALL, NO_ANSWER, Kind
from hardwood.report.content import OWN, Content, Level
from hardwood.report.markup import Markup, element, joined
from hardwood.trees.anatomy import Part
from hardwood.trees.tree import Leaf

BOX_HEIGHT = 44
LEAF, BAR, TOLD = 104, 184, 232
WIDEST = 16.0  # of an edge
PLAUSIBILITIES = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.01, 0.001)


@dataclass(frozen=True)
class _Scale:
    """Pixels between two levels and between two leaves, and the width of a question: deep trees are drawn narrower."""

    step: int
    row: int
    depth: int

    @classmethod
    def of(cls, depth: int, n_leaves: int) -> _Scale:
        return cls({0: 196, 1: 196, 2: 196, 3: 196, 4: 172}.get(depth, 150), 56 if n_leaves <= 16 else 48, depth)

    @property
    def box(self) -> int:
        return self.step - 46

    def x(self, part: Part) -> int:
        return len(part.way) * self.step + 4

    def y(self, part: Part) -> float:
        return (part.place + 0.5) * self.row


def tree_svg(level: Level, number: int) -> Markup:
    """The tree from left to right; every part carries the answers on the way to it, for tracing."""
    found, parts = level.found, level.parts
    depth, n_leaves = found.tree.depth, len(level.leaves)
    scale = _Scale.of(depth, n_leaves)
    width, height = depth * scale.step + LEAF + TOLD + 20, max(n_leaves, 2) * scale.row
    by_way = {part.way: part for part in parts}
    largest = max(part.n_samples for part in level.leaves)
    drawn = [_edge(scale, by_way[part.way[:-1]], part, found.labels.people) for part in parts if part.way]
    drawn += [_question(scale, level, part) for part in parts if part.leaf is None]
    drawn += [_leaf(scale, level, part, largest) for part in level.leaves]
    return element(
        "svg",
        *drawn,
        class_="tree",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="group",
        aria_label=f"The tree. {level.words}",
        id=f"tree-{number}",
    )


def curve_svg(content: Content) -> Markup:
    """Worst-case accuracy against the budget, for this tree and what else one might have used."""
    left, top, width, height = 52, 34, 640, 300
    lowest = min(min(values) for values in content.curves.values())
    highest = max(max(values) for values in content.curves.values())
    floor, ceiling = max(0.0, math.floor(10 * lowest - 0.2) / 10), min(1.0, math.ceil(10 * highest + 0.2) / 10)

    def x(budget: float) -> float:
        return left + width * budget / content.largest_budget

    def y(accuracy: float) -> float:
        return top + height * (1 - (accuracy - floor) / (ceiling - floor))

    pieces: list[Markup] = []
    for k in range(round(10 * floor), round(10 * ceiling) + 1):
        pieces.append(element("line", class_="grid", x1=left, x2=left + width, y1=_n(y(k / 10)), y2=_n(y(k / 10))))
        pieces.append(element("text", f"{10 * k} %", class_="tick end", x=left - 6, y=_n(y(k / 10) + 4)))
    n_samples = content.people
    last = -math.inf
    for plausibility in PLAUSIBILITIES:
        place = -n_samples * math.log(plausibility)
        if place <= content.largest_budget and x(place) >= last + 42:
            last = x(place)
            pieces.append(element("line", class_="grid", x1=_n(x(place)), x2=_n(x(place)), y1=top, y2=top + height))
            pieces.append(
                element("text", f"{plausibility:g}", class_="tick middle", x=_n(x(place)), y=top + height + 18)
            )
    budget = content.level.found.uncertainty.budget
    pieces.append(element("line", class_="budget", x1=_n(x(budget)), x2=_n(x(budget)), y1=top - 6, y2=top + height))
    pieces.append(
        element(
            "text",
            "hedged against",
            class_="tick middle",
            x=_n(min(max(x(budget), 100), left + width - 50)),
            y=top - 12,
        )
    )
    for k, (name, values) in enumerate(content.curves.items()):
        spaced = [content.largest_budget * i / (len(values) - 1) for i in range(len(values))]
        points = " ".join(f"{_n(x(at))},{_n(y(value))}" for at, value in zip(spaced, values, strict=True))
        pieces.append(element("polyline", class_=f"curve line-{k}", points=points, data_name=name))
    pieces.append(
        element("line", class_="guide", x1=left, x2=left, y1=top, y2=top + height, id="guide", visibility="hidden")
    )
    pieces.append(
        element("text", "plausibility of the shift", class_="tick middle", x=left + width / 2, y=top + height + 40)
    )
    return element(
        "svg",
        *pieces,
        class_="curves",
        viewBox=f"0 0 {left + width + 16} {top + height + 48}",
        role="img",
        aria_label=f"Correct after the worst shift, by plausibility, for {', '.join([OWN, *content.rivals])}; "
        "the table below has the numbers",
        id="curves",
        data_left=left,
        data_width=width,
    )


def bar_svg(level: Level, part: Part, width: int = 220) -> Markup:
    """The samples of a leaf by class, as one bar."""
    pieces = _bar(part, 0, 0, width, 14, part.n_samples)
    words = ", ".join(f"{count} {name}" for name, count in zip(level.found.tree.classes, part.counts, strict=True))
    return element(
        "svg", *pieces, class_="bar", viewBox=f"0 0 {width} 14", width=width, height=14, role="img", aria_label=words
    )


HISTOGRAM_BARS = 24  # at most, in the histogram of a question


def histogram_svg(level: Level, part: Part) -> Markup:
    """The answers to a question by class, of the rows that come by; what goes to "yes" stands before the line."""
    found, node = level.found, part.node
    if isinstance(node, Leaf):
        raise TypeError("a leaf asks nothing")
    feature = found.tree.features[node.feature]
    here = found.tree.rows_at(found.table, part.way)
    codes, labels = found.table.values[here, node.feature], found.labels.codes[here]
    people = found.labels.row_people[here]
    there = codes != NO_ANSWER
    low = int(codes[there].min(initial=feature.high)) if feature.kind is Kind.INTEGER else feature.low
    high = int(codes[there].max(initial=feature.low)) if feature.kind is Kind.INTEGER else feature.high
    width = max(1, math.ceil((max(high, low) - low + 1) / HISTOGRAM_BARS))
    n_bars = (max(high, low) - low) // width + 1
    counts = np.zeros((n_bars + 1, len(found.labels.classes)))  # the last bar is for no answer
    place = np.where(there, np.minimum((np.where(there, codes, low) - low) // width, n_bars - 1), n_bars)
    np.add.at(counts, (place, labels), people)
    counts = counts if counts[-1].any() else counts[:-1]
    step, height = 240 / len(counts), 64
    most = max(float(counts.sum(axis=1).max()), 1.0)
    pieces = []
    for k, bar in enumerate(counts):
        y = float(height)
        for c, count in enumerate(bar):
            tall = height * count / most
            y -= tall
            if count:
                box = {"x": _n(k * step + 1), "y": _n(y), "width": _n(max(step - 2, 1)), "height": _n(tall)}
                pieces.append(element("rect", class_=f"class-{c % 8}", **box))
    if feature.ordered and node.code != BELOW_ALL:
        x = min(max((node.code - low + 1) / width, 0), n_bars) * step
        pieces.append(element("line", class_="budget", x1=_n(x), x2=_n(x), y1=0, y2=height))
    if feature.categories and n_bars > 1:  # of numbers, the ends would be those of single rows
        ends = str(feature.categories[0]), str(feature.categories[-1])
        pieces.append(element("text", ends[0], class_="tick", x=0, y=height + 13))
        pieces.append(element("text", ends[1], class_="tick end", x=_n(n_bars * step), y=height + 13))
    words = f"Answers to {feature.name} by class, of {rows(part.n_samples)}"
    return element(
        "svg",
        *pieces,
        class_="bar",
        viewBox=f"0 0 240 {height + 16}",
        width=240,
        height=height + 16,
        role="img",
        aria_label=words,
    )


def outline(level: Level) -> Markup:
    """The tree as an indented list, for narrow screens."""
    tree, by_way = level.found.tree, {part.way: part for part in level.parts}

    def below(way: tuple[bool, ...], before: str) -> Markup:
        part = by_way[way]
        if isinstance(part.node, Leaf):
            told = f" ({rows(part.n_samples)}, {amount(part.wrong)} wrong, {amount(part.lost)} turned)"
            answer = element("strong", "\N{RIGHTWARDS ARROW} ", element("bdi", tree.classes[part.node.label]))
            return element("li", before, answer, element("span", told, class_="soft"))
        question = element("bdi", f"{tree.condition(part.node)}?")
        inside = element("ul", below((*way, True), "yes: "), below((*way, False), "no: "))
        return element("li", before, question, inside)

    return element("ul", below((), ""), class_="outline", aria_label="The tree as a list")


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _way(part: Part) -> str:
    return "t" + "".join("y" if yes else "n" for yes in part.way)


def _edge(scale: _Scale, parent: Part, child: Part, n_samples: float) -> Markup:
    x1, x2 = scale.x(parent) + scale.box, scale.x(child)
    y1, y2 = scale.y(parent), scale.y(child)
    bend = (x1 + x2) / 2
    share = child.n_samples / n_samples
    answer = "yes" if child.way[-1] else "no"
    aside = 15 + WIDEST / 2 * share  # beyond the edge, on the side it does not come from
    return element(
        "g",
        element(
            "path",
            d=f"M{x1} {_n(y1)} C{_n(bend)} {_n(y1)} {_n(bend)} {_n(y2)} {x2} {_n(y2)}",
            stroke_width=_n(1.2 + (WIDEST - 1.2) * share),
        ),
        element("text", answer, class_="answer", x=x2 - 9, y=_n(y2 + aside if y2 > y1 else y2 - aside + 9)),
        class_="edge",
        data_way=_way(child),
    )


def _text(x: float, y: float, width: float, height: float, words: Markup, class_: str) -> Markup:
    """Text that wraps and is cut off by the browser, which knows how wide letters are."""
    inside = element("div", words, xmlns="http://www.w3.org/1999/xhtml", class_=class_)
    return element("foreignObject", inside, x=_n(x), y=_n(y), width=_n(width), height=_n(height))


def _question(scale: _Scale, level: Level, part: Part) -> Markup:
    tree = level.found.tree
    column = tree.features[part.node.feature].name  # type: ignore[union-attr]  # not a leaf
    test = tree.condition(part.node).removeprefix(f"{column} ")  # type: ignore[arg-type]
    test = f"{test.replace('<=', '≤', 1) if test.startswith('<=') else test}?"
    x, y = scale.x(part), scale.y(part) - BOX_HEIGHT / 2
    words = joined(element("bdi", column), element("bdi", test, class_="test"))
    return element(
        "g",
        element("title", f"{column} {test}"),
        element("rect", x=x, y=_n(y), width=scale.box, height=BOX_HEIGHT, rx=8),
        _text(x + 4, y + 2, scale.box - 8, BOX_HEIGHT - 4, words, "words"),
        class_="question",
        tabindex=-1 if part.way else 0,
        role="img",
        aria_label=f"Question: {column} {test} {rows(part.n_samples)} here.",
        data_way=_way(part),
    )


def _leaf(scale: _Scale, level: Level, part: Part, largest: float) -> Markup:
    tree = level.found.tree
    label = part.node.label if isinstance(part.node, Leaf) else 0
    x, y = scale.x(part), scale.y(part) - BOX_HEIGHT / 2
    right = scale.depth * scale.step + LEAF + 20
    told = f"{rows(part.n_samples)}, {amount(part.wrong)} wrong, {amount(part.lost)} turned"
    pieces = [
        element("title", f"{tree.classes[label]}: {told}"),
        element("rect", x=x, y=_n(y + 6), width=LEAF, height=BOX_HEIGHT - 12, rx=16, class_=f"class-{label % 8}"),
        _text(x + 6, y + 8, LEAF - 12, BOX_HEIGHT - 16, element("bdi", tree.classes[label]), "words"),
        *_bar(part, right, y + 8, BAR, 12, largest),
        element(
            "text",
            f"{rows(part.n_samples)} · {amount(part.wrong)} wrong · {amount(part.lost)} turned",
            class_="told",
            x=right,
            y=_n(y + 36),
        ),
    ]
    pieces.append(element("rect", class_="hit", x=x, y=_n(y), width=right + TOLD - x, height=BOX_HEIGHT))
    return element(
        "g",
        *pieces,
        class_="leaf",
        tabindex=-1 if part.way else 0,
        role="img",
        aria_label=f"Answer: {tree.classes[label]}. {told} by the worst shift.",
        data_way=_way(part),
        data_leaf=part.leaf,
    )


def _bar(part: Part, x: float, y: float, width: float, height: float, largest: float) -> list[Markup]:
    pieces = [element("rect", class_="empty", x=_n(x), y=_n(y), width=_n(width), height=_n(height), rx=2)]
    for k, count in enumerate(part.counts):
        if count:
            own = width * int(count) / max(largest, 1)
            pieces.append(
                element(
                    "rect", class_=f"class-{k % 8}", x=_n(x), y=_n(y), width=_n(max(own - 1, 0.6)), height=_n(height)
                )
            )
            x += own
    return pieces


def amount(n: float) -> str:
    """A number of rows, or of the people that they stand for: whole, or to within a tenth."""
    return f"{int(n):,}" if n == int(n) else f"{n:,.1f}"


def rows(n: float) -> str:
    """The same with its noun."""
    return "1 row" if n == 1 else f"{amount(n)} rows"


def legend(level: Level) -> Markup:
    """Which colour is which class."""
    entries = [
        element(
            "li",
            element(
                "svg",
                element("rect", class_=f"class-{k % 8}", width=14, height=14, rx=3),
                width=14,
                height=14,
                aria_hidden="true",
            ),
            " ",
            element("bdi", name),
        )
        for k, name in enumerate(level.found.tree.classes)
    ]
    return element("ul", *entries, class_="legend", aria_label="Colours of the answers")
