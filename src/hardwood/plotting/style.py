"""Colours, line styles and texts that all plots share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colour-blind readers can distinguish these colours; line styles distinguish curves in print.
NOMINAL, ROBUST, BOUND = "#d55e00", "#0072b2", "#999999"
COLOURS = (ROBUST, NOMINAL, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", BOUND)
STYLES = ("-", "--", "-.", ":")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo", "--")
MAX_NAME_LENGTH = 28  # characters of a name in a plot

Columns: TypeAlias = Mapping[str, Sequence[Any]]  # columns of a frame by name


class CurveStyle(TypedDict):
    """How a curve is drawn, as arguments of matplotlib."""

    color: str
    linestyle: str


def curve_style(k: int) -> CurveStyle:
    """Colour and line style of the k-th curve of a plot."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": STYLES[k % len(STYLES)]}


def needs_matplotlib() -> ModuleType:
    """Import `matplotlib.pyplot`.

    Raises
    ------
    ImportError
        If matplotlib is not installed; the message says how to install it.
    """
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError as error:
        raise ImportError("plots need the package matplotlib; run: pip install 'hardwood[report]'") from error
    return plt


def given_or_new(ax: Axes | None) -> Axes:
    """Return the given axes, or new ones if None."""
    return needs_matplotlib().subplots(layout="constrained")[1] if ax is None else ax


def shortened(text: str, longest: int) -> str:
    """Shorten a text for a plot.

    Parameters
    ----------
    text : str
    longest : int
        Largest number of characters; the end of a longer text becomes an ellipsis.

    Returns
    -------
    text : str
        In one line, with dollar signs escaped: matplotlib would read them as mathematics.
    """
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    plain = plain if len(plain) <= longest else plain[: longest - 1] + "…"
    return plain.replace("$", r"\$")


def legend_label(name: str) -> str:
    """Shorten a name for a legend, which would leave out names that begin with an underscore."""
    label = shortened(name, MAX_NAME_LENGTH)
    return f"\N{ZERO WIDTH SPACE}{label}" if name.startswith("_") else label
