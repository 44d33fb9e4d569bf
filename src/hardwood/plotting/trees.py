"""Plot of a tree with its samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardwood.plotting.style import COLOURS, HATCHES, MAX_NAME_LENGTH, needs_matplotlib, shortened
from hardwood.trees.attack import Attack
from hardwood.trees.node_stats import NodeStats, node_stats
from hardwood.trees.tree import Branch, Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_CLASS_LENGTH = 14  # characters of a class in a leaf
BAR_WIDTH = 0.9  # of the largest leaf


def plot_tree(found: Attack, *, ax: Axes | None = None) -> Axes:
    """Plot an attacked tree from left to right.

    Branching nodes show their split and samples. Leaves show their class, their samples by class, and how many of them
    are misclassified without a shift or flipped by the worst one.

    Parameters
    ----------
    found : Attack
        Result of `attack`, `RobustTreeClassifier.worst_case` or `audit(...).found`.
    ax : matplotlib axes or None, default=None
        Axes to draw on; new ones if None.

    Returns
    -------
    ax : matplotlib axes
    """
    parts = node_stats(found)
    n_leaves, depth = len(found.tree.regions), found.tree.depth
    if ax is None:
        size = (3.2 + 2.6 * depth, 1.2 + 0.62 * n_leaves)
        ax = needs_matplotlib().subplots(layout="constrained", figsize=size)[1]
    by_way = {part.way: part for part in parts}
    for part in parts:
        if part.way:
            _draw_edge(ax, by_way[part.way[:-1]], part, found.labels.total_weight)
    largest = max(part.n_samples for part in parts if part.leaf is not None)
    for part in parts:
        if isinstance(part.node, Branch):
            _draw_branch(ax, found.tree, part.node, part)
        else:
            _draw_leaf(ax, found.tree, part.node.label, part, largest)
    _draw_legend(ax, found.tree)
    ax.set(xlim=(-0.6, depth + 1.5), ylim=(n_leaves - 0.4, -0.6))
    ax.set_axis_off()
    return ax


def _draw_edge(ax: Axes, parent: NodeStats, child: NodeStats, n_samples: float) -> None:
    start, end = len(parent.way), len(child.way)
    width = 0.5 + 6.0 * child.n_samples / n_samples
    ax.plot(
        [start, end], [parent.place, child.place], color="#bbbbbb", linewidth=width, solid_capstyle="round", zorder=1
    )
    middle = (start + 2 * end) / 3, (parent.place + 2 * child.place) / 3
    ax.text(*middle, "yes" if child.way[-1] else "no", fontsize=7, ha="center", va="center", zorder=2)


def _draw_branch(ax: Axes, tree: Tree, branch: Branch, part: NodeStats) -> None:
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "black"}
    column = tree.features[branch.feature].name
    split = tree.condition(branch).removeprefix(f"{column} ")
    lines = (
        shortened(column, MAX_NAME_LENGTH),
        f"{shortened(split, MAX_NAME_LENGTH)}?",
        f"{part.n_samples:.6g} samples",
    )
    ax.text(len(part.way), part.place, "\n".join(lines), ha="center", va="center", bbox=box, fontsize=8, zorder=3)


def _draw_leaf(ax: Axes, tree: Tree, label: int, part: NodeStats, largest: float) -> None:
    """Draw the class, a bar of the samples by class, and the numbers of misclassified samples."""
    box = {"boxstyle": "round,pad=0.3", "facecolor": COLOURS[label % 8], "edgecolor": "none", "alpha": 0.25}
    name = shortened(str(tree.classes[label]), MAX_CLASS_LENGTH)
    ax.text(len(part.way), part.place, name, ha="center", va="center", bbox=box, fontsize=8, zorder=3)
    left = tree.depth + 0.55
    for k, count in enumerate(part.counts):
        width = BAR_WIDTH * count / max(largest, 1)
        ax.barh(
            part.place - 0.12,
            width,
            0.26,
            left=left,
            color=COLOURS[k % 8],
            hatch=HATCHES[k % 8],
            edgecolor="white",
            linewidth=0,
        )
        left += width
    text = f"{part.n_samples:.6g} samples, {part.wrong:.6g} wrong, {part.flipped:.6g} flipped"
    ax.text(tree.depth + 0.55, part.place + 0.22, text, fontsize=7, va="center")


def _draw_legend(ax: Axes, tree: Tree) -> None:
    handles = [
        needs_matplotlib().Rectangle((0, 0), 1, 1, facecolor=COLOURS[k % 8], hatch=HATCHES[k % 8], edgecolor="white")
        for k in range(len(tree.classes))
    ]
    names = [shortened(str(name), MAX_NAME_LENGTH) for name in tree.classes]
    ax.legend(handles, names, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=4, frameon=False, fontsize=8)
