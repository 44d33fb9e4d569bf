"""Plots of attacks: worst-case accuracy, margins, and what the adversary spends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from hardwood._util.arrays import FloatArray
from hardwood.plotting.style import (
    BOUND,
    MAX_NAME_LENGTH,
    NOMINAL,
    ROBUST,
    curve_style,
    given_or_new,
    legend_label,
    shortened,
)
from hardwood.trees.attack import Attack

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DIRECTIONS = ("down", "up", "other value")
PLAUSIBILITY_TICKS = (1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.6, 0.5)


def plot_worst_case(found: Mapping[str, Attack], *, ax: Axes | None = None) -> Axes:
    """Plot worst-case accuracy against the budget for several trees on the same table; plausibility is on top.

    Parameters
    ----------
    found : mapping of str to Attack
        Attacks by name.
    ax : matplotlib axes or None, default=None
        Axes to draw on; new ones if None.

    Returns
    -------
    ax : matplotlib axes

    Raises
    ------
    ValueError
        If there is no attack, or if the attacks are on tables of different size.
    """
    if not found:
        raise ValueError("found is empty; give at least one attack by name")
    sizes = {entry.labels.total_weight for entry in found.values()}
    if len(sizes) > 1:
        raise ValueError(f"the attacks are on tables of {sorted(sizes)} rows; expected the same table for all")
    n_samples = sizes.pop()
    ax = given_or_new(ax)
    budget = max(entry.uncertainty.budget for entry in found.values())
    end = max(budget * 2.0, -n_samples * np.log(0.75))
    budgets = np.linspace(0.0, end, 500)
    lowest = 100.0
    for k, (name, entry) in enumerate(found.items()):
        accuracy = 100 * entry.curve.accuracy_at(budgets)
        lowest = min(lowest, float(accuracy.min()))
        ax.plot(budgets, accuracy, label=legend_label(name), **curve_style(k))
    if budget:
        ax.axvline(budget, color=BOUND, linewidth=1)
    ax.set(xlabel="budget of the adversary", ylabel="correct after the worst shift (%)", xlim=(0, end))
    ax.set_ylim(max(0.0, 10 * (lowest // 10) - 5), 100)
    _draw_plausibilities(ax, n_samples, end)
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    return ax


def _draw_plausibilities(ax: Axes, n_samples: float, largest_budget: float) -> None:
    scale = ax.secondary_xaxis(
        "top",
        functions=(
            lambda budget: np.exp(-np.asarray(budget) / n_samples),
            lambda level: -n_samples * np.log(np.maximum(level, 1e-12)),
        ),
    )
    scale.set_xticks([level for level in PLAUSIBILITY_TICKS if -n_samples * np.log(level) <= largest_budget])
    scale.set_xlabel("plausibility")


def plot_margins(found: Attack, *, bins: int = 30, ax: Axes | None = None) -> Axes:
    """Plot the margins of the samples that are correct without a shift; those that the worst shift flips are marked.

    Parameters
    ----------
    found : Attack
    bins : int, default=30
        Number of bars.
    ax : matplotlib axes or None, default=None
        Axes to draw on; new ones if None.

    Returns
    -------
    ax : matplotlib axes
    """
    ax = given_or_new(ax)
    correct = found.tree.predict(found.table) == found.labels.codes
    finite = correct & np.isfinite(found.margins)
    lost = np.zeros(found.n_samples, dtype=bool)
    lost[found.lost] = True
    edges = np.linspace(0.0, float(found.margins[finite].max(initial=1.0)), bins + 1)
    groups = [found.margins[finite & lost], found.margins[finite & ~lost]]
    labels = [f"flipped by the worst shift ({len(groups[0])})", f"kept ({len(groups[1])})"]
    ax.hist(groups, bins=edges.tolist(), stacked=True, color=[NOMINAL, ROBUST], label=labels)
    for patch in ax.containers[-2]:  # the bars of the first of the two groups
        patch.set_hatch("///")
    n_wrong, n_fixed = int((~correct).sum()), int((correct & ~finite).sum())
    title = f"wrong without a shift: {n_wrong}; no shift can flip: {n_fixed}"
    ax.set(xlabel="margin: cost of flipping a sample", ylabel="samples", title=title)
    ax.title.set_fontsize("medium")
    ax.legend(frameon=False)
    return ax


def plot_adversary(found: Attack, *, ax: Axes | None = None) -> Axes:
    """Plot what the worst shift spends, by column and direction; columns without a change are left out.

    Parameters
    ----------
    found : Attack
    ax : matplotlib axes or None, default=None
        Axes to draw on; new ones if None.

    Returns
    -------
    ax : matplotlib axes
    """
    ax = given_or_new(ax)
    changed = sorted(set(found.shift.columns.tolist()))
    if not changed:
        ax.text(0.5, 0.5, "the adversary changes nothing", ha="center", va="center")
        ax.set_axis_off()
        return ax
    spent = spent_by_direction(found)[changed]
    image = ax.imshow(spent, cmap="cividis", aspect="auto", vmin=0.0)
    for row, column in np.ndindex(spent.shape):
        if spent[row, column]:
            colour = "white" if spent[row, column] < 0.6 * spent.max() else "black"
            ax.text(column, row, f"{spent[row, column]:.3g}", ha="center", va="center", color=colour)
    names = [shortened(found.tree.features[j].name, MAX_NAME_LENGTH) for j in changed]
    ax.set_xticks(range(len(DIRECTIONS)), DIRECTIONS)
    ax.set_yticks(range(len(changed)), names)
    ax.figure.colorbar(image, ax=ax, label="budget spent")
    return ax


def spent_by_direction(found: Attack) -> FloatArray:
    """Compute what the worst shift spends.

    Parameters
    ----------
    found : Attack

    Returns
    -------
    spent : ndarray of float
        Columns of the table by `DIRECTIONS`.
    """
    spent = np.zeros((len(found.tree.features), len(DIRECTIONS)))
    shift = found.shift
    old = shift.table.values[shift.rows, shift.columns]
    for j, before, after, cost in zip(shift.columns, old, shift.codes, shift.costs * shift.weights, strict=True):
        ordered = found.tree.features[j].ordered
        spent[j, int(after > before) if ordered else 2] += cost
    return spent
