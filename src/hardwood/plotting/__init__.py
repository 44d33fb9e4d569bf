"""Plots with matplotlib (extra `report`). Every function takes `ax` (or `axes`) and returns the axes it drew on."""

from typing import TYPE_CHECKING

from hardwood._util.deprecation import warn_renamed
from hardwood.plotting.attacks import plot_adversary, plot_margins, plot_worst_case, spent_by_direction
from hardwood.plotting.levels import plot_choice, plot_path
from hardwood.plotting.random_shifts import plot_accuracy, plot_certainty, plot_shifts, plot_transitions
from hardwood.plotting.style import BOUND, NOMINAL, ROBUST, needs_matplotlib, shortened
from hardwood.plotting.trees import plot_tree

__all__ = [
    "BOUND",
    "NOMINAL",
    "ROBUST",
    "needs_matplotlib",
    "plot_accuracy",
    "plot_adversary",
    "plot_certainty",
    "plot_choice",
    "plot_margins",
    "plot_path",
    "plot_shifts",
    "plot_transitions",
    "plot_tree",
    "plot_worst_case",
    "shortened",
    "spent_by_direction",
]

if not TYPE_CHECKING:  # type checkers must report names that do not exist

    def __getattr__(name: str) -> object:
        if name == "plot_answers":
            warn_renamed("plotting.plot_answers", "plotting.plot_transitions")
            return plot_transitions
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
