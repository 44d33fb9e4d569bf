"""Shapes that several drawings share."""

from __future__ import annotations

from collections.abc import Sequence

from hardwood.data.columns import Category
from hardwood.report.formatting import amount
from hardwood.report.markup import Markup, element, isolated
from hardwood.trees.node_stats import NodeStats

_N_COLOURS = 8  # of classes, in the style sheet


def coordinate(number: float) -> str:
    """Return a number for an attribute of SVG, with one decimal at most."""
    return f"{number:.1f}".removesuffix(".0")


def class_colour(k: int) -> str:
    """Return the CSS class with the colour of a class label."""
    return f"class-{k % _N_COLOURS}"


def class_bar(node: NodeStats, x: float, y: float, width: float, height: float, largest: float) -> list[Markup]:
    """Return a bar with the samples of a node by class.

    Parameters
    ----------
    node : NodeStats
        The node.
    x, y, width, height : float
        Place and size of the bar.
    largest : float
        Weight that fills the whole width.
    """
    size = {"y": coordinate(y), "height": coordinate(height)}
    shapes = [element("rect", class_="empty", x=coordinate(x), width=coordinate(width), rx=2, **size)]
    for k, weight in enumerate(node.counts):
        if weight:
            length = width * float(weight) / largest
            shown = coordinate(max(length - 1, 0.6))
            shapes.append(element("rect", class_=class_colour(k), x=coordinate(x), width=shown, **size))
            x += length
    return shapes


def leaf_bar_svg(classes: Sequence[Category], node: NodeStats, width: int = 220, height: int = 14) -> Markup:
    """Return a drawing of a leaf's samples by class, as one bar."""
    label = ", ".join(f"{amount(weight)} {name}" for name, weight in zip(classes, node.counts, strict=True))
    return element(
        "svg",
        *class_bar(node, 0, 0, width, height, node.n_samples),
        class_="bar",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=label,
    )


def class_legend(classes: Sequence[Category]) -> Markup:
    """Return a list of the classes with their colours."""
    entries = []
    for k, label in enumerate(classes):
        square = element("rect", class_=class_colour(k), width=14, height=14, rx=3)
        sample = element("svg", square, width=14, height=14, aria_hidden="true")
        entries.append(element("li", sample, " ", isolated(label)))
    return element("ul", *entries, class_="legend", aria_label="Colours of the classes")
