"""Plots about random shifts: accuracy, estimated certainties, and observed transitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from hardwood._util.arrays import FloatArray
from hardwood._util.types import JsonObject
from hardwood.data.columns import Category
from hardwood.plotting.style import (
    BOUND,
    MAX_NAME_LENGTH,
    NOMINAL,
    ROBUST,
    curve_style,
    given_or_new,
    legend_label,
    needs_matplotlib,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hardwood.evaluation import AccuracyDistribution

Value = TypeVar("Value", bound=Category | None)

N_BARS = 120  # of a distribution
MAX_VALUE_LENGTH = 14  # characters of a value in a table of transitions
MAX_TICKS = 12  # of such a table; with more values, shares are not written


def plot_shifts(
    accuracies: Mapping[str, Sequence[float] | FloatArray], *, bins: int = 30, ax: Axes | None = None
) -> Axes:
    """Plot how often each accuracy occurs among randomly shifted tables, for several trees; the lowest is marked.

    Parameters
    ----------
    accuracies : mapping of str to array-like of float
        For each tree by name, a row of the result of `evaluation.simulate_shifts`.
    bins : int, default=30
        Number of bars.
    ax : matplotlib axes or None, default=None
        Axes to draw on; new ones if None.

    Returns
    -------
    ax : matplotlib axes

    Raises
    ------
    ValueError
        If there is no tree.
    """
    if not accuracies:
        raise ValueError("accuracies are empty; give at least one tree by name")
    ax = given_or_new(ax)
    percent = {name: 100 * np.asarray(values, dtype=float) for name, values in accuracies.items()}
    low, high = min(values.min() for values in percent.values()), max(values.max() for values in percent.values())
    edges = np.linspace(low, high if high > low else low + 1.0, bins + 1)
    for k, (name, values) in enumerate(percent.items()):
        counts = 100 * np.histogram(values, bins=edges)[0] / len(values)
        label = f"{legend_label(name)} (lowest {values.min():.1f}, mean {values.mean():.1f})"
        ax.stairs(counts, edges, label=label, linewidth=1.6, **curve_style(k))
        ax.axvline(values.min(), linewidth=0.8, **curve_style(k))
    ax.set(xlabel="correct on a shifted table (%)", ylabel="tables (%)")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    return ax


def plot_accuracy(
    found: Mapping[str, AccuracyDistribution], *, guarantee: float | None = None, ax: Axes | None = None
) -> Axes:
    """Plot the distribution of the accuracy under random shifts, for several trees; the mean is marked.

    Parameters
    ----------
    found : mapping of str to AccuracyDistribution
        For each tree by name, the result of `shiftlab.accuracy_distribution`.
    guarantee : float or None, default=None
        Accuracy after the worst shift within the budget, to show beside them.
    ax : matplotlib axes or None, default=None
        Axes to draw on; new ones if None.

    Returns
    -------
    ax : matplotlib axes

    Raises
    ------
    ValueError
        If there is no distribution.
    """
    if not found:
        raise ValueError("found is empty; give at least one distribution by name")
    ax = given_or_new(ax)
    for k, (name, accuracy) in enumerate(found.items()):
        edges, probabilities = accuracy.bars(N_BARS)
        mean, low = 100 * accuracy.mean, 100 * accuracy.quantile(0.05)
        label = f"{legend_label(name)} (mean {mean:.1f}, 5 in 100 below {low:.1f})"
        ax.stairs(probabilities / np.diff(edges), 100 * edges, label=label, linewidth=1.6, **curve_style(k))
        ax.axvline(mean, linewidth=0.8, **curve_style(k))
    if guarantee is not None:
        ax.axvline(100 * guarantee, color=BOUND, linewidth=2, label=f"guaranteed within the budget ({guarantee:.1%})")
    ax.set(xlabel="correct after a random shift (%)", ylabel="probability (% for each point of accuracy)")
    ax.set_ylim(bottom=0)
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    return ax


def plot_certainty(columns: Sequence[JsonObject], *, ax: Axes | None = None) -> Axes:
    """Plot estimated certainties with their intervals, and the shares of values that stayed the same.

    Parameters
    ----------
    columns : sequence of mapping
        For each column, the result of `ColumnEstimate.to_dict`.
    ax : matplotlib axes or None, default=None
        Axes to draw on; new ones if None.

    Returns
    -------
    ax : matplotlib axes
    """
    if ax is None:
        ax = needs_matplotlib().subplots(layout="constrained", figsize=(6.4, 1.2 + 0.4 * len(columns)))[1]
    positions = np.arange(len(columns))
    certainties = np.array([entry["certainty"] for entry in columns])
    errors = np.array([[entry["certainty"] - entry["low"], entry["high"] - entry["certainty"]] for entry in columns]).T
    ax.errorbar(
        certainties, positions, xerr=np.maximum(errors, 0.0), fmt="o", color=ROBUST, capsize=4, label="certainty"
    )
    unchanged = [entry["unchanged"] for entry in columns]
    ax.plot(unchanged, positions, "D", color=NOMINAL, markerfacecolor="none", label="share unchanged")
    ax.set_yticks(positions, [shortened(entry["name"], MAX_NAME_LENGTH) for entry in columns])
    lowest = min(*unchanged, *(certainties - errors[0]))
    ax.set(xlabel="probability that a value stays the same", xlim=(lowest - 0.03, 1.01))
    ax.set_ylim(len(columns) - 0.5, -0.5)
    ax.grid(alpha=0.3, axis="x")
    ax.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    return ax


def plot_transitions(name: str, table: Mapping[Value, Mapping[Value, float]], *, ax: Axes | None = None) -> Axes:
    """Plot how the values of a column changed between two tables, in per cent of each row.

    Parameters
    ----------
    name : str
        Name of the column.
    table : mapping of mapping
        Share of each later value, by the value now.
    ax : matplotlib axes or None, default=None
        Axes to draw on; new ones if None.

    Returns
    -------
    ax : matplotlib axes
    """
    ax = given_or_new(ax)
    shares = 100 * np.array([list(row.values()) for row in table.values()])
    ax.imshow(shares, cmap="cividis", vmin=0.0, vmax=100.0, aspect="auto")
    values = [shortened(str(value), MAX_VALUE_LENGTH) for value in table]
    if len(values) <= MAX_TICKS:
        for row, column in np.ndindex(shares.shape):
            colour = "black" if shares[row, column] > 60 else "white"
            ax.text(column, row, f"{shares[row, column]:.0f}", ha="center", va="center", color=colour, fontsize=8)
    ticks = range(0, len(values), max(1, len(values) // MAX_TICKS))
    ax.set_xticks(list(ticks), [values[k] for k in ticks], rotation=45 if max(map(len, values)) > 4 else 0)
    ax.set_yticks(list(ticks), [values[k] for k in ticks])
    ax.set(xlabel="later", ylabel="now", title=f"{shortened(name, MAX_NAME_LENGTH)}: values later by values now (%)")
    ax.title.set_fontsize("medium")
    return ax
