"""Pictures with matplotlib (extra `report`). Every function takes `ax` and returns the axes it drew on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Told apart by colour-blind readers, and by line style in print.
NOMINAL, ROBUST, BOUND = "#d55e00", "#0072b2", "#999999"


def plot_path(columns: Mapping[str, Sequence[Any]], *, ax: Any = None) -> Any:
    """Accuracy against plausibility along a robustness path: without a shift, in the worst case, and the bound."""
    ax = _axes(ax)
    levels = columns["plausibility"]
    bound = [upper / n for upper, n in zip(columns["upper_bound"], columns["n_samples"], strict=True)]
    ax.fill_between(levels, columns["worst_case_accuracy"], bound, color=BOUND, alpha=0.3, label="not proved", lw=0)
    ax.plot(levels, columns["nominal_accuracy"], "s--", color=NOMINAL, label="as the data stand")
    ax.plot(levels, columns["worst_case_accuracy"], "o-", color=ROBUST, label="after the worst shift")
    ax.set(
        xlabel="plausibility of the shifts hedged against", ylabel="accuracy of the tree for this level", ylim=(0, 1)
    )
    ax.invert_xaxis()
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    return ax


def needs_matplotlib() -> Any:
    """matplotlib's pyplot, or an error that says how to get it."""
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError as error:
        raise ImportError("plots need the package matplotlib; run: pip install 'hardwood[report]'") from error
    return plt


def _axes(ax: Any) -> Any:
    return needs_matplotlib().subplots(layout="constrained")[1] if ax is None else ax
