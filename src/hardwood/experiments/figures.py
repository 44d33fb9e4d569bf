"""Figures of the paper from the rows of a study (extra `report`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from hardwood._util.arrays import FloatArray
from hardwood.experiments.analysis import (
    UNEXPECTED,
    at,
    finished,
    gains,
    levels,
    prices_of_robustness,
    robust_levels,
    sizes,
    solved_by,
    solved_times,
    solver_gaps,
)
from hardwood.experiments.store import Row
from hardwood.experiments.tasks import EXPECTED
from hardwood.plotting import BOUND, NOMINAL, ROBUST, needs_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN_LEVELS = (0.5, 0.85, 0.95, 1.0)  # as in the paper's figure of computation times
LINES = ("-", "--", "-.", ":")
COLOURS = (ROBUST, NOMINAL, "#009e73", "#000000")


class _Measure(Protocol):
    """A number for each row of a method."""

    def __call__(self, rows: Sequence[Row], of: str, /) -> FloatArray: ...


def figures(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw all figures for which there are rows.

    Parameters
    ----------
    rows : sequence of dict
        Rows of instances.

    Returns
    -------
    figures : dict of str to matplotlib figure
        The figures by name.
    """
    drawn: dict[str, Figure] = {}
    compared = finished(rows, "robust", "ordinary")
    if robust_levels(compared):
        drawn["gain"] = _gain_figure(compared)
        drawn["price-and-size"] = _price_and_size_figure(compared)
    done = finished(rows, "robust")
    if done:
        shown = [level for level in levels(done) if level in SHOWN_LEVELS] or levels(done)[:4]
        lines = {f"plausibility {level:g}": (at(done, level), solved_by(level)) for level in shown}
        drawn["solved"] = _solved_figure({name: line for name, line in lines.items() if finished(line[0], line[1])})
    with_stable = finished(rows, "robust", "ordinary", "stable")
    if robust_levels(with_stable):
        drawn["stable"] = _stable_figure(with_stable)
        drawn["stable-solved"] = _solved_figure(
            {"robust": (with_stable, "robust"), "stable (RCT-B)": (with_stable, "stable")}
        )
    ablated = finished(rows, "paper", "paper_without_sample_cuts")
    if ablated:
        methods = {
            "exact search": "robust",
            "with cuts for single samples": "paper",
            "without": "paper_without_sample_cuts",
        }
        drawn["ablation"] = _solved_figure({title: (ablated, method) for title, method in methods.items()})
    return drawn


def _gain_figure(rows: Sequence[Row]) -> Figure:
    """Gain in worst-case and average accuracy by plausibility, for expected and unexpected shifts."""
    figure: Figure
    figure, axes = needs_matplotlib().subplots(1, 2, figsize=(10, 4), layout="constrained", sharex=True)
    shown = robust_levels(rows)
    for ax, measure, title in zip(axes, ("worst", "mean"), ("worst-case", "average"), strict=True):
        groups = {
            "expected shifts": [100 * gains(at(rows, level), measure, (EXPECTED,)) for level in shown],
            "unexpected shifts": [100 * gains(at(rows, level), measure, UNEXPECTED) for level in shown],
        }
        _boxes(ax, shown, groups)
        ax.set(ylabel=f"gain in {title} accuracy (percentage points)")
    return figure


def _price_and_size_figure(rows: Sequence[Row]) -> Figure:
    """Price of robustness and number of splits by plausibility."""
    figure: Figure
    figure, axes = needs_matplotlib().subplots(1, 2, figsize=(10, 4), layout="constrained", sharex=True)
    shown = robust_levels(rows)
    _boxes(axes[0], shown, {"robust tree": [100 * prices_of_robustness(at(rows, level)) for level in shown]})
    axes[0].set(ylabel="price of robustness (percentage points)")
    sizes_of = {
        "robust tree": [sizes(at(rows, level)) for level in shown],
        "ordinary tree": [sizes(at(rows, level), "ordinary") for level in shown],
    }
    _boxes(axes[1], shown, sizes_of)
    axes[1].set(ylabel="splits of the tree")
    return figure


def _stable_figure(rows: Sequence[Row]) -> Figure:
    """Robust and stable trees: gains over the ordinary tree, price of robustness, number of splits."""
    figure: Figure
    figure, axes = needs_matplotlib().subplots(2, 2, figsize=(10, 7), layout="constrained", sharex=True)
    shown = robust_levels(rows)

    def groups(measure: _Measure) -> dict[str, list[FloatArray]]:
        return {
            "robust": [measure(at(rows, level), "robust") for level in shown],
            "stable (RCT-B)": [measure(at(rows, level), "stable") for level in shown],
        }

    panels: dict[str, _Measure] = {
        "gain in worst-case accuracy (points)": lambda rows, of: 100 * gains(rows, "worst", of=of),
        "gain in average accuracy (points)": lambda rows, of: 100 * gains(rows, "mean", of=of),
        "price of robustness (points)": lambda rows, of: 100 * prices_of_robustness(rows, of),
        "splits of the tree": sizes,
    }
    for ax, (title, measure) in zip(axes.flat, panels.items(), strict=True):
        _boxes(ax, shown, groups(measure))
        ax.set(ylabel=title)
    return figure


def _solved_figure(lines: Mapping[str, tuple[Sequence[Row], str]]) -> Figure:
    """Number of solved instances by time, and number of instances by remaining gap, as in the paper."""
    figure: Figure
    figure, axes = needs_matplotlib().subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
    for k, (label, (rows, method)) in enumerate(lines.items()):
        style = {"color": COLOURS[k % 4], "linestyle": LINES[k % 4], "label": label}
        times = solved_times(rows, method)
        limit = max(row["time_limit"] for row in rows)
        ends = np.concatenate([[1e-3], np.maximum(times, 1e-3), [limit]])
        axes[0].step(ends, [*range(len(times) + 1), len(times)], where="post", **style)
        gaps = np.sort(100 * solver_gaps(rows, method))
        ends = np.concatenate([[0.0], gaps, [max(100.0, gaps.max(initial=0.0))]])
        axes[1].step(ends, [0, *range(1, len(gaps) + 1), len(gaps)], where="post", **style)
    axes[0].set(xscale="log", xlabel="seconds", ylabel="instances solved")
    axes[1].set(xlabel="gap at most (per cent)", xlim=(0, 100), ylabel="instances")
    for ax in axes:
        ax.grid(alpha=0.3)
    axes[1].legend(frameon=False, loc="lower right")
    return figure


def _boxes(ax: Axes, shown: Sequence[float], groups: Mapping[str, Sequence[FloatArray]]) -> None:
    """Draw box plots of several groups side by side for each plausibility; a diamond marks the mean."""
    width = 0.7 / len(groups)
    for k, (label, numbers) in enumerate(groups.items()):
        positions = np.arange(len(shown)) + (k - (len(groups) - 1) / 2) * width
        colour = (ROBUST, NOMINAL)[k % 2]
        ax.boxplot(
            list(numbers),
            positions=positions,
            widths=0.9 * width,
            manage_ticks=False,
            showmeans=True,
            patch_artist=True,
            boxprops={"facecolor": colour, "alpha": 0.45, "edgecolor": colour},
            medianprops={"color": "black"},
            meanprops={"marker": "D", "markersize": 4, "markerfacecolor": "white", "markeredgecolor": "black"},
            flierprops={"marker": ".", "markersize": 2, "markeredgecolor": colour, "alpha": 0.4},
            whiskerprops={"color": colour},
            capprops={"color": colour},
            label=label,
        )
    ax.axhline(0, color=BOUND, linewidth=0.8, zorder=0)
    ax.set_xticks(range(len(shown)), [f"{level:g}" for level in shown])
    ax.set(xlabel="plausibility (left: more robust)")
    ax.grid(axis="y", alpha=0.3)
    if len(groups) > 1:
        ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(groups))
