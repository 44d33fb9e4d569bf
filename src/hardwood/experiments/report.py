"""Write the summary and the figures of a folder of results."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from hardwood._util.files import write_bytes, write_text
from hardwood.experiments.figures import figures
from hardwood.experiments.runner import instance_rows
from hardwood.experiments.store import Store
from hardwood.experiments.summary import summary
from hardwood.plotting import needs_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_report(folder: str | Path) -> list[Path]:
    """Write summary.md and the figures into a folder of results.

    Parameters
    ----------
    folder : str or Path
        A folder that `run_study` wrote.

    Returns
    -------
    paths : list of Path
        The written files.
    """
    store = Store(folder)
    rows = instance_rows(store)
    if not rows:
        raise ValueError(f"{folder} has no results; expected a folder that `hardwood study run` wrote")
    written = [Path(folder) / "summary.md"]
    write_text(written[0], summary(rows))
    pyplot = needs_matplotlib()
    for name, figure in figures(rows).items():
        path = Path(folder) / f"{name}.svg"
        write_bytes(path, _svg(figure))
        pyplot.close(figure)
        written.append(path)
    return written


def _svg(figure: Figure) -> bytes:
    """A figure as SVG; equal figures give equal files, so that results can be kept under version control."""
    content = io.BytesIO()
    with needs_matplotlib().rc_context({"svg.hashsalt": "hardwood"}):
        figure.savefig(content, format="svg", metadata={"Date": None})
    return content.getvalue()
