"""The figures of the paper from the rows of a study (extra `report`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hardwood.experiments.analysis import (
    UNEXPECTED,
    at,
    finished,
    gains,
    levels,
    prices,
    robust_levels,
    sizes,
    solved_by,
    solved_times,
    solver_gaps,
)
from hardwood.experiments.store import Row
from hardwood.experiments.tasks import EXPECTED
from hardwood.plotting import BOUND, NOMINAL, ROBUST, needs_matplotlib
from hardwood.shift.calibration import FloatArray

SHOWN_LEVELS = (0.5, 0.85, 0.95, 1.0)  # as in the paper's figure of computation times
LINES = ("-", "--", "-.", ":")
COLOURS = (ROBUST, NOMINAL, "#009e73", "#000000")


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    """All figures that the rows allow, by name."""
    drawn: dict[str, Any] = {}
    compared = finished(rows, "robust", "ordinary")
    if robust_levels(compared):
        drawn["gain"] = gain_figure(compared)
        drawn["price-and-size"] = price_and_size_figure(compared)
    done = finished(rows, "robust")
    if done:
        shown = [level for level in levels(done) if level in SHOWN_LEVELS] or levels(done)[:4]
        lines = {f"plausibility {level:g}": (at(done, level), solved_by(level)) for level in shown}
        drawn["solved"] = solved_figure({name: line for name, line in lines.items() if finished(line[0], line[1])})
    with_stable = finished(rows, "robust", "ordinary", "stable")
    if robust_levels(with_stable):
        drawn["stable"] = stable_figure(with_stable)
        drawn["stable-solved"] = solved_figure(
            {"robust": (with_stable, "robust"), "stable (RCT-B)": (with_stable, "stable")}
        )
    ablated = finished(rows, "paper", "paper_without_sample_cuts")
    if ablated:
        methods = {
            "exact search": "robust",
            "with cuts for single samples": "paper",
            "without": "paper_without_sample_cuts",
        }
        drawn["ablation"] = solved_figure({words: (ablated, method) for words, method in methods.items()})
    return drawn


def gain_figure(rows: Sequence[Row]) -> Any:
    """Gain in worst-case and average accuracy by plausibility, for expected and unexpected shifts."""
    figure, axes = needs_matplotlib().subplots(1, 2, figsize=(10, 4), layout="constrained", sharex=True)
    shown = robust_levels(rows)
    for ax, measure, words in zip(axes, ("worst", "mean"), ("worst-case", "average"), strict=True):
        groups = {
            "expected shifts": [100 * gains(at(rows, level), measure, (EXPECTED,)) for level in shown],
            "unexpected shifts": [100 * gains(at(rows, level), measure, UNEXPECTED) for level in shown],
        }
        _boxes(ax, shown, groups)
        ax.set(ylabel=f"gain in {words} accuracy (percentage points)")
    return figure


def price_and_size_figure(rows: Sequence[Row]) -> Any:
    """What robustness costs where nothing shifts, and how large trees are, by plausibility."""
    figure, axes = needs_matplotlib().subplots(1, 2, figsize=(10, 4), layout="constrained", sharex=True)
    shown = robust_levels(rows)
    _boxes(axes[0], shown, {"robust tree": [100 * prices(at(rows, level)) for level in shown]})
    axes[0].set(ylabel="price of robustness (percentage points)")
    sizes_of = {
        "robust tree": [sizes(at(rows, level)) for level in shown],
        "ordinary tree": [sizes(at(rows, level), "ordinary") for level in shown],
    }
    _boxes(axes[1], shown, sizes_of)
    axes[1].set(ylabel="tests of the tree")
    return figure


def stable_figure(rows: Sequence[Row]) -> Any:
    """Robust trees beside stable ones: gains over the ordinary tree, price, size."""
    figure, axes = needs_matplotlib().subplots(2, 2, figsize=(10, 7), layout="constrained", sharex=True)
    shown = robust_levels(rows)

    def groups(numbers: Any) -> dict[str, list[FloatArray]]:
        return {
            "robust": [numbers(at(rows, level), "robust") for level in shown],
            "stable (RCT-B)": [numbers(at(rows, level), "stable") for level in shown],
        }

    panels = {
        "gain in worst-case accuracy (points)": lambda own, method: 100 * gains(own, "worst", of=method),
        "gain in average accuracy (points)": lambda own, method: 100 * gains(own, "mean", of=method),
        "price of robustness (points)": lambda own, method: 100 * prices(own, method),
        "tests of the tree": sizes,
    }
    for ax, (words, numbers) in zip(axes.flat, panels.items(), strict=True):
        _boxes(ax, shown, groups(numbers))
        ax.set(ylabel=words)
    return figure


def solved_figure(lines: Mapping[str, tuple[Sequence[Row], str]]) -> Any:
    """Instances solved against time, then instances against the gap that is left, as in the paper."""
    figure, axes = needs_matplotlib().subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
    for k, (words, (rows, method)) in enumerate(lines.items()):
        style = {"color": COLOURS[k % 4], "linestyle": LINES[k % 4], "label": words}
        times = solved_times(rows, method)
        limit = max(row["time_limit"] for row in rows)
        steps = np.concatenate([[1e-3], np.maximum(times, 1e-3), [limit]])
        axes[0].step(steps, [*range(len(times) + 1), len(times)], where="post", **style)
        gaps = np.sort(100 * solver_gaps(rows, method))
        widest = np.concatenate([[0.0], gaps, [max(100.0, gaps.max(initial=0.0))]])
        axes[1].step(widest, [0, *range(1, len(gaps) + 1), len(gaps)], where="post", **style)
    axes[0].set(xscale="log", xlabel="seconds", ylabel="instances solved")
    axes[1].set(xlabel="gap at most (per cent)", xlim=(0, 100), ylabel="instances")
    for ax in axes:
        ax.grid(alpha=0.3)
    axes[1].legend(frameon=False, loc="lower right")
    return figure


def _boxes(ax: Any, shown: Sequence[float], groups: Mapping[str, Sequence[FloatArray]]) -> None:
    """Boxes of several groups side by side for each plausibility, with a dot for the mean."""
    width = 0.7 / len(groups)
    for k, (words, numbers) in enumerate(groups.items()):
        places = np.arange(len(shown)) + (k - (len(groups) - 1) / 2) * width
        colour = (ROBUST, NOMINAL)[k % 2]
        ax.boxplot(
            list(numbers),
            positions=places,
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
            label=words,
        )
    ax.axhline(0, color=BOUND, linewidth=0.8, zorder=0)
    ax.set_xticks(range(len(shown)), [f"{level:g}" for level in shown])
    ax.set(xlabel="plausibility (left: more robust)")
    ax.grid(axis="y", alpha=0.3)
    if len(groups) > 1:
        ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(groups))
