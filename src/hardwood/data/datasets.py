"""The twelve datasets of the paper (its Table 1), and a generated sample of one of them, which needs no file.

A dataset is generated if its rule is known, otherwise read from a folder of CSV files (the argument `folder`, or
HARDWOOD_DATA), otherwise fetched from OpenML by scikit-learn, which keeps a copy. Rows with missing values ("?") are
left out. Every dataset is checked against its documentation: columns, rows, and rows of each class.
"""

from __future__ import annotations

import csv
import json
import os
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from hardwood.data.encode import encode
from hardwood.data.labels import Labels, encode_labels
from hardwood.data.table import Table

if TYPE_CHECKING:
    from sklearn.utils import Bunch

FOLDER_VARIABLE = "HARDWOOD_DATA"
MISSING = "?"  # in files, and in rows that are generated or fetched
Column: TypeAlias = list[int] | list[str]
Row: TypeAlias = tuple[int | str, ...]  # the class comes last
Rows: TypeAlias = tuple[list[str], Sequence[Row]]  # column names, and rows


@dataclass(frozen=True)
class Dataset:
    """A table by columns, and the class of each row.

    Attributes
    ----------
    name : str
        Name of the dataset.
    columns : dict
        Lists of integers or of text, by column name.
    target : list of str
        Class of each row.
    """

    name: str
    columns: dict[str, Column]
    target: list[str]

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.target)

    @property
    def checksum(self) -> str:
        """Checksum of all names and values; it depends on the order of the rows."""
        return f"{zlib.crc32(json.dumps([self.columns, self.target]).encode()):08x}"

    def encoded(self) -> tuple[Table, Labels]:
        """Return the encoded table and its labels."""
        return encode(self.columns), encode_labels(self.target, self.n_samples)


@dataclass(frozen=True)
class _Recipe:
    """Where a dataset comes from and how its columns are read.

    Attributes
    ----------
    columns : int
        Number of columns without the target, as in the paper's Table 1.
    classes : dict
        Number of complete rows of each class.
    integers : bool
        Whether columns that `ranks` does not list are integers; otherwise they are categorical.
    file : str
        Name of the CSV file without its ending.
    openml : int or None
        Number of the dataset at OpenML; None if no copy with these rows is known.
    first : int or None
        Number of rows to keep of the copy at OpenML, which also holds test rows after them.
    ranks : tuple
        Columns of ordered words: name, and the words by rank.
    generate : callable or None
        Generates the rows, if their rule is known.
    """

    columns: int
    classes: dict[str, int]
    integers: bool
    file: str
    openml: int | None = None
    first: int | None = None
    ranks: tuple[tuple[str, tuple[str, ...]], ...] = ()
    generate: Callable[[], Rows] | None = None

    @property
    def rows(self) -> int:
        """Number of complete rows."""
        return sum(self.classes.values())


def load_dataset(name: str, folder: str | Path | None = None) -> Dataset:
    """Load a dataset by its name.

    Parameters
    ----------
    name : str
        One of `RECIPES`.
    folder : str or Path, optional
        Folder with CSV files, such as balance-scale.csv: a head line, the class in the last column. If not given, the
        environment variable HARDWOOD_DATA. Datasets with a known rule are generated in any case; others that the
        folder does not hold are fetched from OpenML.

    Returns
    -------
    dataset : Dataset
        The complete rows.

    Raises
    ------
    ValueError
        If the dataset is unknown, cannot be found, or differs from its documentation.
    """
    if name not in RECIPES:
        raise ValueError(f'there is no dataset "{name}"; expected one of {sorted(RECIPES)}')
    recipe = RECIPES[name]
    folder = folder or os.environ.get(FOLDER_VARIABLE) or None
    if folder is not None and not Path(folder).is_dir():
        raise ValueError(
            f"the data folder {folder} does not exist; expected a folder with files such as balance-scale.csv"
        )
    path = None if folder is None or recipe.generate is not None else Path(folder) / f"{recipe.file}.csv"
    if path is not None and path.is_file():
        head, rows, source = *_read_csv(path), str(path)
    elif recipe.generate is not None:
        head, rows, source = *recipe.generate(), "the rule"
    else:
        head, rows, source = *_fetch(name, recipe, path), f"OpenML's table {recipe.openml}"
    rows = [row for row in rows if MISSING not in row]
    _check_documented(name, recipe, head, rows, source)
    return Dataset(name, _columns(recipe, head, rows, source), [str(row[-1]) for row in rows])


def _read_csv(path: Path) -> Rows:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            head, *rows = (tuple(row) for row in csv.reader(file) if row)
    except (UnicodeDecodeError, csv.Error, ValueError) as error:
        raise ValueError(f"{path} is not a table in CSV: {error}") from None
    odd = [k for k, row in enumerate(rows, start=2) if len(row) != len(head)]
    if odd:
        raise ValueError(
            f"{path}, line {odd[0]}, has {len(rows[odd[0] - 2])} cells; expected {len(head)} as in the first line"
        )
    return list(head), rows


def _fetch(name: str, recipe: _Recipe, path: Path | None) -> Rows:
    remedy = (
        f"put {recipe.file}.csv (a head line, the class in the last column) into a folder and set "
        f"{FOLDER_VARIABLE} to that folder"
    )
    reason = f"{path} does not exist" if path is not None else "no data folder is given"
    if recipe.openml is None:
        raise ValueError(f'the dataset "{name}" was not found: {reason}, and OpenML has no copy of it; {remedy}')
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about each attempt to connect
            found = fetch_openml(data_id=recipe.openml, as_frame=False, parser="liac-arff")
    except (OSError, HTTPException, ValueError) as error:
        raise ValueError(
            f'the dataset "{name}" was not found: {reason}, and fetching it from OpenML failed ({error}); {remedy}'
        ) from error
    return _openml_rows(found, recipe)


def _openml_rows(found: Bunch, recipe: _Recipe) -> Rows:
    """Return what scikit-learn fetched in the form of the files: text, and "?" where a value is missing."""
    categories = found.categories or {}

    def text(column: str, value: str | float | None) -> str:
        if value is None or value != value:
            return MISSING
        if column in categories and not isinstance(value, str):
            return str(categories[column][int(value)])
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)

    names = list(found.feature_names)
    rows = [
        (*(text(column, value) for column, value in zip(names, row, strict=True)), str(label))
        for row, label in zip(found.data.tolist(), list(found.target), strict=True)
    ]
    return [*names, "target"], rows[: recipe.first]


def _check_documented(name: str, recipe: _Recipe, head: list[str], rows: Sequence[Row], source: str) -> None:
    counts = dict(sorted(Counter(str(row[-1]) for row in rows).items()))
    n_columns = len(set(head[:-1]))
    if n_columns != recipe.columns or counts != recipe.classes:
        raise ValueError(
            f'{source} is not the dataset "{name}": it has {n_columns} columns of different names and {len(rows)} '
            f"complete rows with the classes {counts}; expected {recipe.columns} columns and {recipe.rows} rows with "
            f"{recipe.classes}. Use the table of the UCI repository, with the class in the last column"
        )


def _columns(recipe: _Recipe, head: list[str], rows: Sequence[Row], source: str) -> dict[str, Column]:
    ranks = dict(recipe.ranks)
    columns: dict[str, Column] = {}
    for j, title in enumerate(head[:-1]):
        values = [row[j] for row in rows]
        try:
            if title in ranks:
                columns[title] = [ranks[title].index(value) for value in values]
            elif recipe.integers:
                columns[title] = [int(value) for value in values]
            else:
                columns[title] = [str(value) for value in values]
        except ValueError as error:
            raise ValueError(f'{source}: the column "{title}" cannot be read: {error}') from None
    return columns


def _balance_scale() -> Rows:
    """Generate the side to which a scale tips, for all weights and distances from 1 to 5."""
    rows: list[Row] = []
    for weights in product(range(1, 6), repeat=4):
        left, right = weights[0] * weights[1], weights[2] * weights[3]
        rows.append((*weights, "B" if left == right else "L" if left > right else "R"))
    return ["left_weight", "left_distance", "right_weight", "right_distance", "target"], rows


LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
SQUARES = [f"{row}-{column}-square" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")]


def _tic_tac_toe() -> Rows:
    """Generate every board on which a game ends that x began; the class says whether x won."""
    seen: set[str] = set()
    ends: set[str] = set()

    def play(board: str, player: str) -> None:
        if board in seen:
            return
        seen.add(board)
        won = any(board[a] == board[b] == board[c] != "b" for a, b, c in LINES)
        if won or "b" not in board:
            ends.add(board)
            return
        for square, mark in enumerate(board):
            if mark == "b":
                play(board[:square] + player + board[square + 1 :], "o" if player == "x" else "x")

    play("b" * 9, "x")
    x_won = {board: any(board[a] == board[b] == board[c] == "x" for a, b, c in LINES) for board in ends}
    order = sorted(ends, key=lambda board: (not x_won[board], ["xob".index(mark) for mark in board]))
    return [*SQUARES, "target"], [(*board, "positive" if x_won[board] else "negative") for board in order]


def _monks_sample() -> Rows:
    """Generate 124 of the 432 points of the first monk's problem, the same ones always: true iff a1 = a2 or a5 = 1."""
    points = list(product(range(1, 4), range(1, 4), range(1, 3), range(1, 4), range(1, 5), range(1, 3)))
    drawn = np.sort(np.random.RandomState(1).permutation(len(points))[:124])
    rows = [(*points[k], "1" if points[k][0] == points[k][1] or points[k][4] == 1 else "0") for k in drawn]
    return ["a1", "a2", "a3", "a4", "a5", "a6", "target"], rows


# The paper counts five integer columns and one categorical column in car-evaluation and does not name the latter. All
# six columns are ordered words; "persons" (2, 4, more) is the one whose steps differ in size.
CAR_RANKS = (
    ("buying", ("low", "med", "high", "vhigh")),
    ("maint", ("low", "med", "high", "vhigh")),
    ("doors", ("2", "3", "4", "5more")),
    ("lug_boot", ("small", "med", "big")),
    ("safety", ("low", "med", "high")),
)
RECIPES = {
    "balance-scale": _Recipe(
        4, {"B": 49, "L": 288, "R": 288}, integers=True, file="balance-scale", generate=_balance_scale
    ),
    "breast-cancer": _Recipe(
        9,
        {"no-recurrence-events": 196, "recurrence-events": 81},
        integers=False,
        file="breast-cancer",
        openml=13,
    ),
    "car-evaluation": _Recipe(
        6,
        {"acc": 384, "good": 69, "unacc": 1210, "vgood": 65},
        integers=False,
        ranks=CAR_RANKS,
        file="car-evaluation",
        openml=21,
    ),
    "hayes-roth": _Recipe(4, {"1": 51, "2": 51, "3": 30}, integers=True, file="hayes-roth", openml=329, first=132),
    "house-votes-84": _Recipe(
        16, {"democrat": 124, "republican": 108}, integers=False, file="house-votes-84", openml=56
    ),
    "kr-vs-kp": _Recipe(36, {"won": 1669, "nowin": 1527}, integers=False, file="kr-vs-kp", openml=3),
    "monks-1": _Recipe(6, {"0": 62, "1": 62}, integers=True, file="monks-1-train", openml=333, first=124),
    "monks-2": _Recipe(6, {"0": 105, "1": 64}, integers=True, file="monks-2-train", openml=334, first=169),
    "monks-3": _Recipe(6, {"0": 62, "1": 60}, integers=True, file="monks-3-train", openml=335, first=122),
    "soybean-small": _Recipe(35, {"D1": 10, "D2": 10, "D3": 10, "D4": 17}, integers=True, file="soybean-small"),
    "spect": _Recipe(22, {"0": 55, "1": 212}, integers=False, file="spect", openml=336),
    "tic-tac-toe": _Recipe(
        9, {"positive": 626, "negative": 332}, integers=False, file="tic-tac-toe", generate=_tic_tac_toe
    ),
    "monks-1-sample": _Recipe(6, {"0": 67, "1": 57}, integers=True, file="", generate=_monks_sample),
}
PAPER_DATASETS = tuple(name for name in RECIPES if name != "monks-1-sample")
