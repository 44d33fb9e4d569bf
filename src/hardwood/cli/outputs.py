"""Files that commands write: checks before the work starts, pictures and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hardwood._util.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PICTURES = (".svg", ".png", ".pdf")
# First characters that make a spreadsheet read a cell as a formula, with their full-width forms.
_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def check_output(option: str, path: Path, *inputs: Path) -> None:
    """Refuse an output path before the work starts, if it cannot be written or would replace an input.

    Parameters
    ----------
    option : str
        The option to name in the error message.
    path : Path
        Where the result will be written.
    *inputs : Path
        Files and folders that the command reads.
    """
    if not path.resolve().parent.is_dir():
        raise ValueError(f"{option} is {path}; its folder does not exist: make it first")
    if path.is_dir():
        raise ValueError(f"{option} is {path}, which is a folder; give the name of a file")
    if any(path.resolve().parent == source.resolve() for source in inputs):
        raise ValueError(f"{option} is {path}, which lies in the folder that is read; give a name elsewhere")
    if any(path.resolve() == source.resolve() for source in inputs):
        raise ValueError(f"{option} is {path}, which would overwrite an input; give another name")


def check_picture(option: str, path: Path, *inputs: Path) -> None:
    """Like `check_output`, for a picture: it needs matplotlib and a known file extension."""
    from hardwood.plotting import needs_matplotlib

    needs_matplotlib()
    check_output(option, path, *inputs)
    if path.suffix.lower() not in _PICTURES:
        raise ValueError(f"{option} is {path}; expected a file that ends in .svg, .png or .pdf")


def save_picture(axes: Axes, path: Path) -> None:
    """Write the figure of matplotlib axes completely or not at all."""
    picture = io.BytesIO()
    figure = cast("Figure", axes.figure)  # never a SubFigure: the plots make figures of their own
    figure.savefig(picture, format=path.suffix[1:].lower())
    write_bytes(path, picture.getvalue())


def csv_text(columns: Mapping[str, Sequence[object]], *, escape_formulas: bool = False, header: bool = True) -> str:
    """Return columns as CSV.

    Parameters
    ----------
    columns : mapping
        Cells by column name.
    escape_formulas : bool, default=False
        Put an apostrophe before text that a spreadsheet would read as a formula.
    header : bool, default=True
        Begin with the column names.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in (*([columns] if header else []), *zip(*columns.values(), strict=True)):
        writer.writerow([_escaped(cell) for cell in row] if escape_formulas else row)
    return text.getvalue()


def _escaped(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
