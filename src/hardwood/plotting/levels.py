"""Plots of quantities against the plausibility: a robustness path, and the choice of a plausibility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hardwood.plotting.style import BOUND, COLOURS, NOMINAL, ROBUST, Columns, given_or_new, needs_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_path(columns: Columns, *, ax: Axes | None = None) -> Axes:
    """Plot accuracy against plausibility along a robustness path: nominal, in the worst case, and the upper bound.

    Parameters
    ----------
    columns : mapping of str to sequence
        Result of `RobustnessPath.to_dict`.
    ax : matplotlib axes or None, default=None
        Axes to draw on; new ones if None.

    Returns
    -------
    ax : matplotlib axes
    """
    ax = given_or_new(ax)
    levels = columns["plausibility"]
    bound = [
        upper / n for upper, n in zip(columns["upper_bound"], columns.get("total", columns["n_samples"]), strict=True)
    ]
    ax.fill_between(levels, columns["worst_case_accuracy"], bound, color=BOUND, alpha=0.3, label="not proved", lw=0)
    ax.plot(levels, columns["nominal_accuracy"], "s--", color=NOMINAL, label="without a shift")
    ax.plot(levels, columns["worst_case_accuracy"], "o-", color=ROBUST, label="after the worst shift")
    drawn = [*columns["nominal_accuracy"], *columns["worst_case_accuracy"], *bound]
    for name, colour, style, label in (
        ("test_nominal_accuracy", NOMINAL, "s:", "unseen rows, without a shift"),
        ("test_worst_case_accuracy", ROBUST, "o:", "unseen rows, after the worst shift"),
    ):
        if name in columns:
            ax.plot(levels, columns[name], style, color=colour, label=label, markerfacecolor="white")
            drawn += columns[name]
    ax.set(xlabel="plausibility of the shifts hedged against", ylabel="accuracy of the tree for this level")
    # The axis covers what is drawn, not all of [0, 1].
    ax.set_ylim(max(0.0, min(drawn) - 0.05), min(1.0, max(drawn) + 0.05))
    ax.invert_xaxis()
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    return ax


def plot_choice(
    columns: Columns, picks: Mapping[str, float | None], coverage: float, *, axes: Sequence[Axes] | None = None
) -> Sequence[Axes]:
    """Plot three ways to choose a plausibility, one below the other: coverage, validation and price of robustness.

    Parameters
    ----------
    columns : mapping of str to sequence
        Result of `PlausibilityChoice.to_dict`.
    picks : mapping of str to float or None
        Level that each of "coverage", "validation" and "price" chooses.
    coverage : float
        Requested coverage.
    axes : sequence of three matplotlib axes or None, default=None
        Axes to draw on; new ones if None.

    Returns
    -------
    axes : sequence of three matplotlib axes
    """
    if axes is None:
        axes = needs_matplotlib().subplots(3, 1, sharex=True, layout="constrained", figsize=(6.4, 8.0))[1]
    levels = columns["plausibility"]
    top, middle, low = axes
    top.plot(levels, columns["covered_asked"], "o-", color=ROBUST, label="shift within the budget, columns of splits")
    top.plot(levels, columns["covered"], "s--", color=NOMINAL, label="the same, all columns")
    top.plot(levels, columns["kept"], "^:", color=COLOURS[2], label="guaranteed accuracy kept")
    top.axhline(coverage, color=BOUND, linewidth=1)
    top.set(ylabel="probability", ylim=(-0.03, 1.03))
    errors = [error or 0.0 for error in columns["validated_error"]]
    middle.errorbar(levels, columns["validated"], errors, fmt="o-", color=ROBUST, capsize=3, label="unseen rows")
    middle.plot(levels, columns["expected"], "s--", color=NOMINAL, label="training rows")
    middle.set(ylabel="accuracy under random shifts")
    low.plot(levels, columns["nominal"], "s--", color=NOMINAL, label="without a shift")
    low.plot(levels, columns["worst_case"], "o-", color=ROBUST, label="after the worst shift")
    low.set(ylabel="accuracy, training rows", xlabel="plausibility of the shifts hedged against")
    for ax, name in zip(axes, ("coverage", "validation", "price"), strict=True):
        _draw_pick(ax, name, picks[name])
    low.invert_xaxis()
    return axes


def _draw_pick(ax: Axes, name: str, pick: float | None) -> None:
    if pick is not None:
        ax.axvline(pick, color="black", linewidth=0.8, linestyle=":")
    ax.set_title(f"by {name}: none of these" if pick is None else f"by {name}: {pick:g}", loc="left", fontsize="medium")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, fontsize="small")
