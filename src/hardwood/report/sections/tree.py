"""The tree of each level: drawing, values at its questions, and leaves."""

from __future__ import annotations

from hardwood.certificate import is_about
from hardwood.report.content import Content, Level
from hardwood.report.drawing.histograms import value_histogram_svg
from hardwood.report.drawing.shapes import class_legend, leaf_bar_svg
from hardwood.report.drawing.tree import tree_outline, tree_svg
from hardwood.report.formatting import amount, counted, percent, row_count
from hardwood.report.markup import Markup, comma_separated, element, isolated, joined
from hardwood.report.sections.common import scroll_box
from hardwood.report.tables import Row, table_of
from hardwood.trees.node_stats import NodeStats, rule_of
from hardwood.trees.tree import Branch

_WIDE_DEPTH = 3  # deeper trees are wider than the page


def tree_section(content: Content) -> list[Markup]:
    """Return the tree of each level, its leaves as cards, and a table of all levels."""
    several = len(content.levels) > 1
    parts = [_introduction(), class_legend(content.tree.classes)]
    if several:
        parts.append(_slider(content))
    parts += [_level(level, number, number == content.chosen) for number, level in enumerate(content.levels)]
    if several:
        parts.append(_level_table(content))
    return parts


def _introduction() -> Markup:
    """Explain how to read the drawing."""
    keys = (
        "Point at a node to highlight its path, or use the keyboard: Tab to the first question, then the right arrow "
        "for yes, the down arrow for no, and the left arrow to go back."
    )
    return element(
        "p",
        "Read the tree from left to right. Every question has two branches, yes above and no below; the wider a "
        "branch, the more rows follow it. Flipped rows are right without a shift and wrong after the worst shift. ",
        element("span", keys, class_="keys"),
        class_="wide",
    )


def _slider(content: Content) -> Markup:
    """Return the control that moves along the levels."""
    return element(
        "div",
        element("label", "How much to hedge against", for_="slider"),
        element("input", type="range", id="slider", min=0, max=len(content.levels) - 1, step=1, value=content.chosen),
        element("output", "", id="slider-text", for_="slider"),
        class_="slider js-only",
    )


def _level(level: Level, number: int, is_open: bool) -> Markup:
    """Return everything about the tree of one level."""
    hint = element("p", "The drawing is wider than the page: scroll it sideways.", class_="hint soft")
    return element(
        "details",
        element("summary", _summary(level)),
        hint if level.attack.tree.depth > _WIDE_DEPTH else None,
        scroll_box(tree_svg(level, number), f"The tree. {level.title}"),
        tree_outline(level),
        _questions(level),
        _leaf_cards(level),
        class_="level",
        id=f"level-{number}",
        open=is_open,
    )


def _summary(level: Level) -> str:
    """Describe a level in one line."""
    attack = level.attack
    return (
        f"{level.title}: {percent(attack.worst_case_accuracy)} correct after the worst shift, "
        f"{percent(attack.nominal_accuracy)} without a shift, {counted(attack.tree.n_branching_nodes, 'question')}"
    )


def _questions(level: Level) -> Markup | None:
    """Return a histogram of the values at each question."""
    tree = level.attack.tree
    cards = [
        element(
            "li",
            element("h3", isolated(f"{tree.condition(node.node)}?")),
            value_histogram_svg(level, node, node.node),
            element("p", f"{row_count(node.n_samples)} at this question", class_="soft"),
            class_="card",
        )
        for node in level.nodes
        if isinstance(node.node, Branch)
    ]
    if not cards:
        return None
    title = "The answers at each question, by class; yes is left of the line"
    return element("details", element("summary", title), element("ol", *cards, class_="cards", aria_label=title))


def _leaf_cards(level: Level) -> Markup:
    """Return a card for each leaf."""
    cards = [_leaf_card(level, leaf) for leaf in level.leaves]
    return element("ol", *cards, class_="cards", aria_label="The predictions of the tree")


def _leaf_card(level: Level, leaf: NodeStats) -> Markup:
    """Return a leaf's prediction, its rule, and its samples by class."""
    tree = level.attack.tree
    region = tree.regions[leaf.leaf or 0]
    rule = [element("li", isolated(column), " ", isolated(text)) for column, text in rule_of(tree, region)]
    counts = [
        joined(amount(weight), " ", isolated(label))
        for label, weight in zip(tree.classes, leaf.counts, strict=True)
        if weight
    ]
    flipped = (
        f"Right without a shift: {amount(leaf.n_samples - leaf.wrong)}. The adversary can flip "
        f"{amount(leaf.flippable)} of them, each on its own, and flips {amount(leaf.flipped)} in the worst shift."
    )
    return element(
        "li",
        element("h3", "Prediction: ", isolated(tree.classes[region.label])),
        element("ul", *rule) if rule else element("p", "For all rows."),
        leaf_bar_svg(tree.classes, leaf) if leaf.n_samples else None,
        element("p", row_count(leaf.n_samples), joined(": ", comma_separated(counts)) if counts else "", "."),
        element("p", flipped, class_="soft"),
        class_="card",
        data_card=leaf.leaf,
    )


def _level_table(content: Content) -> Markup:
    """Return a table of all levels."""
    rows = []
    for number, level in enumerate(content.levels):
        attack = level.attack
        cells = [
            level.title,
            percent(attack.nominal_accuracy),
            percent(attack.worst_case_accuracy),
            attack.tree.n_branching_nodes,
            _proof(level, content),
        ]
        rows.append(Row(cells, {"data_row": number, "class_": "current" if number == content.chosen else None}))
    head = ("hedged against", "without a shift", "after the worst shift", "questions", "proved")
    return table_of("One tree for each level", head, rows, numbers=range(1, 4))


def _proof(level: Level, content: Content) -> str:
    """Describe what is proved about the tree of a level."""
    certificate = level.certificate
    if certificate is None:
        return "no certificate"
    where = certificate.constraints_text and f" of the trees{certificate.constraints_text}"
    if not is_about(certificate, content.table, level.attack.labels):
        where += ", on the training table"
    if certificate.gap > 0 and not (certificate.status == "optimal" and not certificate.integral):
        return f"gap {percent(certificate.gap)}{where}"
    return f"{'optimal' if certificate.status == 'optimal' else 'most robust'}{where}"
