"""A tree as a drawing, and as an indented list for narrow screens."""

from __future__ import annotations

from dataclasses import dataclass

from hardwood.report.content import Level
from hardwood.report.drawing.shapes import class_bar, class_colour, coordinate
from hardwood.report.formatting import amount, row_count
from hardwood.report.markup import Markup, element, isolated, joined
from hardwood.trees.node_stats import NodeStats
from hardwood.trees.tree import Branch, Leaf

_BOX_HEIGHT = 44
_LEAF_WIDTH, _BAR_WIDTH, _COUNTS_WIDTH = 104, 184, 232
_MIN_EDGE_WIDTH, _MAX_EDGE_WIDTH = 1.2, 16.0


@dataclass(frozen=True)
class _Layout:
    """Pixels between two depths and between two leaves; deep trees are drawn narrower."""

    step: int
    row: int
    depth: int

    @classmethod
    def of(cls, depth: int, n_leaves: int) -> _Layout:
        step = 196 if depth <= 3 else 172 if depth == 4 else 150
        return cls(step, 56 if n_leaves <= 16 else 48, depth)

    @property
    def box_width(self) -> int:
        return self.step - 46

    @property
    def bars_x(self) -> int:
        """Where the bars beside the leaves begin."""
        return self.depth * self.step + _LEAF_WIDTH + 20

    def x(self, node: NodeStats) -> int:
        return len(node.way) * self.step + 4

    def y(self, node: NodeStats) -> float:
        return (node.place + 0.5) * self.row


def tree_svg(level: Level, number: int) -> Markup:
    """Draw a tree from left to right; every node and edge carries its path from the root, for tracing.

    Parameters
    ----------
    level : Level
        The tree with its samples.
    number : int
        Index of the level in the page, for the drawing's id.
    """
    nodes, leaves = level.nodes, level.leaves
    layout = _Layout.of(level.attack.tree.depth, len(leaves))
    width, height = layout.bars_x + _COUNTS_WIDTH, max(len(leaves), 2) * layout.row
    by_path = {node.way: node for node in nodes}
    total_weight = level.attack.labels.total_weight
    largest = max(leaf.n_samples for leaf in leaves)
    shapes = [_edge(layout, by_path[node.way[:-1]], node, total_weight) for node in nodes if node.way]
    shapes += [_question(layout, level, node, node.node) for node in nodes if isinstance(node.node, Branch)]
    shapes += [_leaf(layout, level, node, node.node, largest) for node in nodes if isinstance(node.node, Leaf)]
    return element(
        "svg",
        *shapes,
        class_="tree",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="group",
        aria_label=f"The tree. {level.title}",
        id=f"tree-{number}",
    )


def tree_outline(level: Level) -> Markup:
    """Return a tree as an indented list, for narrow screens."""
    tree, by_path = level.attack.tree, {node.way: node for node in level.nodes}

    def entry(path: tuple[bool, ...], outcome: str) -> Markup:
        node = by_path[path]
        if isinstance(node.node, Leaf):
            prediction = element("strong", "\N{RIGHTWARDS ARROW} ", isolated(tree.classes[node.node.label]))
            return element("li", outcome, prediction, element("span", f" ({_counts(node)})", class_="soft"))
        children = element("ul", entry((*path, True), "yes: "), entry((*path, False), "no: "))
        return element("li", outcome, isolated(f"{tree.condition(node.node)}?"), children)

    return element("ul", entry((), ""), class_="outline", aria_label="The tree as a list")


def _counts(leaf: NodeStats, separator: str = ", ") -> str:
    """Describe how many rows reach a leaf, are wrong there, and are flipped by the worst shift."""
    return separator.join([row_count(leaf.n_samples), f"{amount(leaf.wrong)} wrong", f"{amount(leaf.flipped)} flipped"])


def _path_key(node: NodeStats) -> str:
    """Return the outcomes on the path from the root as letters, by which the script traces it."""
    return "t" + "".join("y" if yes else "n" for yes in node.way)


def _edge(layout: _Layout, parent: NodeStats, child: NodeStats, total_weight: float) -> Markup:
    """Draw an edge, as wide as the share of the rows that follow it."""
    x1, x2 = layout.x(parent) + layout.box_width, layout.x(child)
    y1, y2 = layout.y(parent), layout.y(child)
    bend = coordinate((x1 + x2) / 2)
    share = child.n_samples / total_weight
    offset = 15 + _MAX_EDGE_WIDTH / 2 * share  # beyond the edge, on the side that it does not come from
    return element(
        "g",
        element(
            "path",
            d=f"M{x1} {coordinate(y1)} C{bend} {coordinate(y1)} {bend} {coordinate(y2)} {x2} {coordinate(y2)}",
            stroke_width=coordinate(_MIN_EDGE_WIDTH + (_MAX_EDGE_WIDTH - _MIN_EDGE_WIDTH) * share),
        ),
        element(
            "text",
            "yes" if child.way[-1] else "no",
            class_="outcome",
            x=x2 - 9,
            y=coordinate(y2 + offset if y2 > y1 else y2 - offset + 9),
        ),
        class_="edge",
        data_path=_path_key(child),
    )


def _text_box(x: float, y: float, width: float, height: float, content: Markup) -> Markup:
    """Return text that the browser wraps and cuts off, because it knows how wide letters are."""
    box = element("div", content, xmlns="http://www.w3.org/1999/xhtml", class_="text")
    size = {"x": coordinate(x), "y": coordinate(y), "width": coordinate(width), "height": coordinate(height)}
    return element("foreignObject", box, **size)


def _question(layout: _Layout, level: Level, node: NodeStats, branch: Branch) -> Markup:
    """Draw a branching node."""
    tree = level.attack.tree
    column = tree.features[branch.feature].name
    condition = tree.condition(branch).removeprefix(f"{column} ")
    condition = f"{condition.replace('<=', '≤', 1) if condition.startswith('<=') else condition}?"
    x, y = layout.x(node), layout.y(node) - _BOX_HEIGHT / 2
    text = joined(isolated(column), element("bdi", condition, class_="condition"))
    return element(
        "g",
        element("title", f"{column} {condition}"),
        element("rect", x=x, y=coordinate(y), width=layout.box_width, height=_BOX_HEIGHT, rx=8),
        _text_box(x + 4, y + 2, layout.box_width - 8, _BOX_HEIGHT - 4, text),
        class_="question",
        tabindex=-1 if node.way else 0,
        role="img",
        aria_label=f"Question: {column} {condition} {row_count(node.n_samples)} here.",
        data_path=_path_key(node),
    )


def _leaf(layout: _Layout, level: Level, node: NodeStats, leaf: Leaf, largest: float) -> Markup:
    """Draw a leaf with its prediction, its samples by class, and how many of them are wrong or flipped."""
    prediction, colour = level.attack.tree.classes[leaf.label], class_colour(leaf.label)
    x, y, bars_x = layout.x(node), layout.y(node) - _BOX_HEIGHT / 2, layout.bars_x
    return element(
        "g",
        element("title", f"{prediction}: {_counts(node)}"),
        element("rect", x=x, y=coordinate(y + 6), width=_LEAF_WIDTH, height=_BOX_HEIGHT - 12, rx=16, class_=colour),
        _text_box(x + 6, y + 8, _LEAF_WIDTH - 12, _BOX_HEIGHT - 16, isolated(prediction)),
        *class_bar(node, bars_x, y + 8, _BAR_WIDTH, 12, largest),
        element("text", _counts(node, " · "), class_="counts", x=bars_x, y=coordinate(y + 36)),
        element(
            "rect", class_="hit", x=x, y=coordinate(y), width=bars_x + _COUNTS_WIDTH - x, height=_BOX_HEIGHT
        ),  # reacts to the pointer
        class_="leaf",
        tabindex=-1 if node.way else 0,
        role="img",
        aria_label=f"Prediction: {prediction}. {_counts(node)} by the worst shift.",
        data_path=_path_key(node),
        data_leaf=node.leaf,
    )
