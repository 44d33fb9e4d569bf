"""Pictures with matplotlib (extra `report`). Every function takes `ax` and returns the axes it drew on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hardwood.shift.calibration import FloatArray
from hardwood.trees.adversary import Attack
from hardwood.trees.anatomy import Part, anatomy
from hardwood.trees.tree import Leaf, Tree

# Told apart by colour-blind readers, and by line style in print.
NOMINAL, ROBUST, BOUND = "#d55e00", "#0072b2", "#999999"
COLOURS = (ROBUST, NOMINAL, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", BOUND)
STYLES = ("-", "--", "-.", ":")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo", "--")
DIRECTIONS = ("down", "up", "other answer")
LONGEST = 28  # letters of a name in a picture


def plot_tree(found: Attack, *, ax: Any = None) -> Any:
    """The tree from left to right: tests, and for each leaf its class, its samples by class, and what it may lose.

    found  what `attack`, `RobustTreeClassifier.worst_case` or `audit(...).found` gives: the tree with samples
    """
    parts = anatomy(found)
    n_leaves, depth = len(found.tree.regions), found.tree.depth
    if ax is None:
        size = (3.2 + 2.6 * depth, 1.2 + 0.62 * n_leaves)
        ax = needs_matplotlib().subplots(layout="constrained", figsize=size)[1]
    by_way = {part.way: part for part in parts}
    for part in parts:
        if part.way:
            _draw_edge(ax, by_way[part.way[:-1]], part, found.labels.people)
    largest = max(part.n_samples for part in parts if part.leaf is not None)
    for part in parts:
        if isinstance(part.node, Leaf):
            _draw_leaf(ax, found.tree, part, largest)
        else:
            box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "black"}
            column = found.tree.features[part.node.feature].name
            test = found.tree.condition(part.node).removeprefix(f"{column} ")
            words = f"{shortened(column, LONGEST)}\n{shortened(test, LONGEST)}?\n{part.n_samples:.6g} samples"
            ax.text(len(part.way), part.place, words, ha="center", va="center", bbox=box, fontsize=8, zorder=3)
    handles = [
        needs_matplotlib().Rectangle((0, 0), 1, 1, facecolor=COLOURS[k % 8], hatch=HATCHES[k % 8], edgecolor="white")
        for k in range(len(found.tree.classes))
    ]
    names = [shortened(str(name), LONGEST) for name in found.tree.classes]
    ax.legend(handles, names, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=4, frameon=False, fontsize=8)
    ax.set(xlim=(-0.6, depth + 1.5), ylim=(n_leaves - 0.4, -0.6))
    ax.set_axis_off()
    return ax


def plot_worst_case(found: Mapping[str, Attack], *, ax: Any = None) -> Any:
    """Worst-case accuracy against the budget for several trees on the same table; plausibility is the scale on top."""
    if not found:
        raise ValueError("found is empty; give at least one attack by name")
    sizes = {own.labels.people for own in found.values()}
    if len(sizes) > 1:
        raise ValueError(f"the attacks are on tables of {sorted(sizes)} rows; expected the same table for all")
    n_samples = sizes.pop()
    ax = _axes(ax)
    budget = max(own.uncertainty.budget for own in found.values())
    end = max(budget * 2.0, -n_samples * np.log(0.75))
    places = np.linspace(0.0, end, 500)
    lowest = 100.0
    for k, (name, own) in enumerate(found.items()):
        accuracy = 100 * own.curve.accuracy_at(places)
        lowest = min(lowest, float(accuracy.min()))
        ax.plot(places, accuracy, STYLES[k % 4], color=COLOURS[k % 8], label=_label(name))
    if budget:
        ax.axvline(budget, color=BOUND, linewidth=1)
    ax.set(xlabel="budget of the adversary", ylabel="correct after the worst shift (%)", xlim=(0, end))
    ax.set_ylim(max(0.0, 10 * (lowest // 10) - 5), 100)
    scale = ax.secondary_xaxis(
        "top",
        functions=(
            lambda spent: np.exp(-spent / n_samples),
            lambda level: -n_samples * np.log(np.maximum(level, 1e-12)),
        ),
    )
    scale.set_xticks(
        [level for level in (1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.6, 0.5) if -n_samples * np.log(level) <= end]
    )
    scale.set_xlabel("plausibility")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    return ax


def plot_path(columns: Mapping[str, Sequence[Any]], *, ax: Any = None) -> Any:
    """Accuracy against plausibility along a robustness path: without a shift, in the worst case, and the bound."""
    ax = _axes(ax)
    levels = columns["plausibility"]
    bound = [
        upper / n for upper, n in zip(columns["upper_bound"], columns.get("total", columns["n_samples"]), strict=True)
    ]
    ax.fill_between(levels, columns["worst_case_accuracy"], bound, color=BOUND, alpha=0.3, label="not proved", lw=0)
    ax.plot(levels, columns["nominal_accuracy"], "s--", color=NOMINAL, label="as the data stand")
    ax.plot(levels, columns["worst_case_accuracy"], "o-", color=ROBUST, label="after the worst shift")
    drawn = [*columns["nominal_accuracy"], *columns["worst_case_accuracy"], *bound]
    for name, colour, style, words in (
        ("test_nominal_accuracy", NOMINAL, "s:", "rows it has not seen, as they stand"),
        ("test_worst_case_accuracy", ROBUST, "o:", "rows it has not seen, after the worst shift"),
    ):
        if name in columns:
            ax.plot(levels, columns[name], style, color=colour, label=words, markerfacecolor="white")
            drawn += columns[name]
    ax.set(xlabel="plausibility of the shifts hedged against", ylabel="accuracy of the tree for this level")
    # The axis uses its room: from a little below what is drawn up to 1.
    ax.set_ylim(max(0.0, min(drawn) - 0.05), min(1.0, max(drawn) + 0.05))
    ax.invert_xaxis()
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    return ax


def plot_margins(found: Attack, *, bins: int = 30, ax: Any = None) -> Any:
    """How much it costs to turn each sample that is right as it stands; those the worst shift buys are marked."""
    ax = _axes(ax)
    correct = found.tree.predict(found.uncertainty.costs.table) == found.labels.codes
    finite = correct & np.isfinite(found.margins)
    lost = np.zeros(found.n_samples, dtype=bool)
    lost[found.lost] = True
    edges = np.linspace(0.0, float(found.margins[finite].max(initial=1.0)), bins + 1)
    groups = [found.margins[finite & lost], found.margins[finite & ~lost]]
    labels = [f"lost in the worst shift ({len(groups[0])})", f"kept ({len(groups[1])})"]
    _, _, drawn = ax.hist(groups, bins=edges, stacked=True, color=[NOMINAL, ROBUST], label=labels)
    for patch in drawn[0]:
        patch.set_hatch("///")
    words = f"wrong as they stand: {int((~correct).sum())}; no shift can turn: {int((correct & ~finite).sum())}"
    ax.set(xlabel="price of turning a sample", ylabel="samples", title=words)
    ax.title.set_fontsize("medium")
    ax.legend(frameon=False)
    return ax


def plot_adversary(found: Attack, *, ax: Any = None) -> Any:
    """What the worst shift spends, by column and direction; columns that it leaves alone are not shown."""
    ax = _axes(ax)
    spent = spent_by_direction(found)
    shown = sorted(set(found.shift.columns.tolist()))
    if not shown:
        ax.text(0.5, 0.5, "the adversary changes nothing", ha="center", va="center")
        ax.set_axis_off()
        return ax
    grid = spent[shown]
    image = ax.imshow(grid, cmap="cividis", aspect="auto", vmin=0.0)
    for row, column in np.ndindex(grid.shape):
        if grid[row, column]:
            dark = grid[row, column] < 0.6 * grid.max()
            ax.text(
                column, row, f"{grid[row, column]:.3g}", ha="center", va="center", color="white" if dark else "black"
            )
    names = [shortened(found.tree.features[j].name, LONGEST) for j in shown]
    ax.set_xticks(range(len(DIRECTIONS)), DIRECTIONS)
    ax.set_yticks(range(len(shown)), names)
    ax.figure.colorbar(image, ax=ax, label="budget spent")
    return ax


def plot_shifts(accuracies: Mapping[str, Sequence[float] | FloatArray], *, bins: int = 30, ax: Any = None) -> Any:
    """How often each accuracy occurs among randomly shifted tables, for several trees; the lowest is marked.

    accuracies  by name, for each tree a row of what `evaluation.simulate_shifts` gives
    """
    if not accuracies:
        raise ValueError("accuracies are empty; give at least one tree by name")
    ax = _axes(ax)
    shares = {name: 100 * np.asarray(values, dtype=float) for name, values in accuracies.items()}
    low, high = min(own.min() for own in shares.values()), max(own.max() for own in shares.values())
    edges = np.linspace(low, high if high > low else low + 1.0, bins + 1)
    for k, (name, own) in enumerate(shares.items()):
        counts = 100 * np.histogram(own, bins=edges)[0] / len(own)
        words = f"{_label(name)} (lowest {own.min():.1f}, mean {own.mean():.1f})"
        ax.stairs(counts, edges, color=COLOURS[k % 8], linestyle=STYLES[k % 4], label=words, linewidth=1.6)
        ax.axvline(own.min(), color=COLOURS[k % 8], linestyle=STYLES[k % 4], linewidth=0.8)
    ax.set(xlabel="correct on a shifted table (%)", ylabel="tables (%)")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    return ax


def plot_accuracy(found: Mapping[str, Any], *, guarantee: float | None = None, ax: Any = None) -> Any:
    """How likely each accuracy is when answers shift at random, for several trees; the mean is marked.

    found      by name, what `shiftlab.accuracy_distribution` gives
    guarantee  accuracy after the worst shift within the budget, to stand beside
    """
    if not found:
        raise ValueError("found is empty; give at least one distribution by name")
    ax = _axes(ax)
    for k, (name, own) in enumerate(found.items()):
        edges, chances = own.bars(120)
        style = {"color": COLOURS[k % 8], "linestyle": STYLES[k % 4]}
        words = f"{_label(name)} (mean {100 * own.mean:.1f}, 5 in 100 below {100 * own.quantile(0.05):.1f})"
        ax.stairs(chances / np.diff(edges), 100 * edges, label=words, linewidth=1.6, **style)
        ax.axvline(100 * own.mean, linewidth=0.8, **style)
    if guarantee is not None:
        ax.axvline(100 * guarantee, color=BOUND, linewidth=2, label=f"guaranteed within the budget ({guarantee:.1%})")
    ax.set(xlabel="correct after a random shift (%)", ylabel="chance (% for each point of accuracy)")
    ax.set_ylim(bottom=0)
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    return ax


def plot_choice(
    columns: Mapping[str, Sequence[Any]], picks: Mapping[str, float | None], coverage: float, *, axes: Any = None
) -> Any:
    """Three ways to choose a plausibility, one below the other: coverage, validation and price; returns the axes.

    columns   what `PlausibilityChoice.to_dict` gives
    picks     the level that each of "coverage", "validation" and "price" takes
    coverage  what was asked for
    """
    if axes is None:
        plt = needs_matplotlib()
        axes = plt.subplots(3, 1, sharex=True, layout="constrained", figsize=(6.4, 8.0))[1]
    levels = columns["plausibility"]
    top, middle, low = axes
    top.plot(levels, columns["covered_asked"], "o-", color=ROBUST, label="shift within the budget, columns asked")
    top.plot(levels, columns["covered"], "s--", color=NOMINAL, label="the same, all columns")
    top.plot(levels, columns["kept"], "^:", color=COLOURS[2], label="guaranteed accuracy kept")
    top.axhline(coverage, color=BOUND, linewidth=1)
    top.set(ylabel="probability", ylim=(-0.03, 1.03))
    errors = [own or 0.0 for own in columns["validated_error"]]
    middle.errorbar(levels, columns["validated"], errors, fmt="o-", color=ROBUST, capsize=3, label="unseen rows")
    middle.plot(levels, columns["expected"], "s--", color=NOMINAL, label="training rows")
    middle.set(ylabel="accuracy under random shifts")
    low.plot(levels, columns["nominal"], "s--", color=NOMINAL, label="as the data stand")
    low.plot(levels, columns["worst_case"], "o-", color=ROBUST, label="after the worst shift")
    low.set(ylabel="accuracy, training rows", xlabel="plausibility of the shifts hedged against")
    for ax, name in zip(axes, ("coverage", "validation", "price"), strict=True):
        pick = picks[name]
        words = f"by {name}: none of these" if pick is None else f"by {name}: {pick:g}"
        if pick is not None:
            ax.axvline(pick, color="black", linewidth=0.8, linestyle=":")
        ax.set_title(words, loc="left", fontsize="medium")
        ax.grid(alpha=0.3)
        ax.legend(frameon=False, fontsize="small")
    low.invert_xaxis()
    return axes


def plot_certainty(columns: Sequence[Mapping[str, Any]], *, ax: Any = None) -> Any:
    """Estimated certainties with their intervals, and the shares of answers that stayed the same.

    columns  what `ColumnEstimate.to_dict` gives, for each column
    """
    if ax is None:
        ax = needs_matplotlib().subplots(layout="constrained", figsize=(6.4, 1.2 + 0.4 * len(columns)))[1]
    places = np.arange(len(columns))
    middle = np.array([own["certainty"] for own in columns])
    ends = np.array([[own["certainty"] - own["low"], own["high"] - own["certainty"]] for own in columns]).T
    ax.errorbar(middle, places, xerr=np.maximum(ends, 0.0), fmt="o", color=ROBUST, capsize=4, label="certainty")
    same = [own["unchanged"] for own in columns]
    ax.plot(same, places, "D", color=NOMINAL, markerfacecolor="none", label="share unchanged")
    ax.set_yticks(places, [shortened(own["name"], LONGEST) for own in columns])
    ax.set(xlabel="probability that an answer stays the same", xlim=(min(*same, *(middle - ends[0])) - 0.03, 1.01))
    ax.set_ylim(len(columns) - 0.5, -0.5)
    ax.grid(alpha=0.3, axis="x")
    ax.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    return ax


def plot_answers(name: str, table: Mapping[Any, Mapping[Any, float]], *, ax: Any = None) -> Any:
    """How people of each answer (rows) answered the second time (columns), in per cent of the row."""
    ax = _axes(ax)
    shares = 100 * np.array([list(row.values()) for row in table.values()])
    ax.imshow(shares, cmap="cividis", vmin=0.0, vmax=100.0, aspect="auto")
    words = [shortened(str(answer), 14) for answer in table]
    if len(words) <= 12:
        for row, column in np.ndindex(shares.shape):
            colour = "black" if shares[row, column] > 60 else "white"
            ax.text(column, row, f"{shares[row, column]:.0f}", ha="center", va="center", color=colour, fontsize=8)
    kept = range(0, len(words), max(1, len(words) // 12))
    ax.set_xticks(list(kept), [words[k] for k in kept], rotation=45 if max(map(len, words)) > 4 else 0)
    ax.set_yticks(list(kept), [words[k] for k in kept])
    ax.set(xlabel="later", ylabel="now", title=f"{shortened(name, LONGEST)}: answers later by answers now (%)")
    ax.title.set_fontsize("medium")
    return ax


def spent_by_direction(found: Attack) -> FloatArray:
    """What the worst shift spends: columns of the table by `DIRECTIONS`."""
    spent = np.zeros((len(found.tree.features), len(DIRECTIONS)))
    shift = found.shift
    old = shift.table.values[shift.rows, shift.columns]
    for j, before, after, price in zip(shift.columns, old, shift.codes, shift.prices, strict=True):
        ordered = found.tree.features[j].ordered
        spent[j, int(after > before) if ordered else 2] += price
    return spent


def shortened(text: str, longest: int) -> str:
    """A text that fits, what does not being left out at the end; dollars are no mathematics for matplotlib."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    plain = plain if len(plain) <= longest else plain[: longest - 1] + "…"
    return plain.replace("$", r"\$")


def _label(name: str) -> str:
    """A name for a legend, which leaves out names that begin with an underscore."""
    return f"\N{ZERO WIDTH SPACE}{shortened(name, LONGEST)}" if name.startswith("_") else shortened(name, LONGEST)


def needs_matplotlib() -> Any:
    """matplotlib's pyplot, or an error that says how to get it."""
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError as error:
        raise ImportError("plots need the package matplotlib; run: pip install 'hardwood[report]'") from error
    return plt


def _axes(ax: Any) -> Any:
    return needs_matplotlib().subplots(layout="constrained")[1] if ax is None else ax


def _draw_edge(ax: Any, parent: Part, child: Part, n_samples: float) -> None:
    start, end = len(parent.way), len(child.way)
    width = 0.5 + 6.0 * child.n_samples / n_samples
    ax.plot(
        [start, end], [parent.place, child.place], color="#bbbbbb", linewidth=width, solid_capstyle="round", zorder=1
    )
    middle = (start + 2 * end) / 3, (parent.place + 2 * child.place) / 3
    ax.text(*middle, "yes" if child.way[-1] else "no", fontsize=7, ha="center", va="center", zorder=2)


def _draw_leaf(ax: Any, tree: Tree, part: Part, largest: float) -> None:
    """The class, a bar of the samples by class, and the losses."""
    label = part.node.label  # type: ignore[union-attr]  # it is a leaf
    x = len(part.way)
    box = {"boxstyle": "round,pad=0.3", "facecolor": COLOURS[label % 8], "edgecolor": "none", "alpha": 0.25}
    ax.text(
        x, part.place, shortened(str(tree.classes[label]), 14), ha="center", va="center", bbox=box, fontsize=8, zorder=3
    )
    left, full = tree.depth + 0.55, 0.9
    for k, count in enumerate(part.counts):
        width = full * count / max(largest, 1)
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
    words = f"{part.n_samples:.6g} samples, {part.wrong:.6g} wrong, {part.lost:.6g} turned"
    ax.text(tree.depth + 0.55, part.place + 0.22, words, fontsize=7, va="center")
