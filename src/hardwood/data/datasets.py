"""The twelve tables of the paper (its Table 1), and tables that are generated exactly, so that they need no file.

A table is generated where its rule is known, otherwise read from a folder of CSV files (the argument `folder`, or
HARDWOOD_DATA), otherwise fetched from OpenML by scikit-learn, which keeps a copy. Rows with missing answers ("?") are
left out. Every table is checked against what its documentation says: columns, rows, and rows of each class.
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
from typing import Any

import numpy as np

from hardwood.data.features import Table, encode
from hardwood.data.labels import Labels, encode_labels

FOLDER_VARIABLE = "HARDWOOD_DATA"
MISSING = "?"
Column = list[int] | list[str]


@dataclass(frozen=True)
class Dataset:
    """Columns by name, whole numbers or text, and the answer for each row."""

    name: str
    columns: dict[str, Column]
    target: list[str]

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.target)

    @property
    def checksum(self) -> str:
        """Tells tables apart that differ in any name or value, or in the order of their rows."""
        return f"{zlib.crc32(json.dumps([self.columns, self.target]).encode()):08x}"

    def encoded(self) -> tuple[Table, Labels]:
        """The whole table, ready for a problem."""
        return encode(self.columns), encode_labels(self.target, self.n_samples)


@dataclass(frozen=True)
class _Recipe:
    """Where a table comes from and how its columns are read.

    columns   without the answer, as in the paper's Table 1
    classes   how many complete rows have each answer
    integers  whether columns are whole numbers unless said otherwise; if not, they are categories
    ranks     columns of words with an order: a whole number for each word
    openml    number of the table at OpenML, None where no copy with these rows is known
    first     the table at OpenML holds test rows, too: only so many rows at its beginning belong to this one
    """

    columns: int
    classes: dict[str, int]
    integers: bool
    file: str
    openml: int | None = None
    first: int | None = None
    ranks: tuple[tuple[str, tuple[str, ...]], ...] = ()
    generate: Callable[[], tuple[list[str], list[tuple[Any, ...]]]] | None = None

    @property
    def rows(self) -> int:
        """Complete rows."""
        return sum(self.classes.values())


def load_dataset(name: str, folder: str | Path | None = None) -> Dataset:
    """A table by its name; see the module's docstring for where it is looked for."""
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
        head, rows, source = *_read(path), str(path)
    elif recipe.generate is not None:
        head, rows, source = *recipe.generate(), "the rule"
    else:
        head, rows, source = *_fetched(name, recipe, path), f"OpenML's table {recipe.openml}"
    rows = [row for row in rows if MISSING not in row]
    _check(name, recipe, head, rows, source)
    return Dataset(name, _columns(recipe, head, rows, source), [str(row[-1]) for row in rows])


def _read(path: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
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


def _fetched(name: str, recipe: _Recipe, path: Path | None) -> tuple[list[str], list[tuple[Any, ...]]]:
    remedy = (
        f"put {recipe.file}.csv (a head line, the answer in the last column) into a folder and name the folder by "
        f"{FOLDER_VARIABLE}"
    )
    here = f"{path} does not exist" if path is not None else "no data folder is given"
    if recipe.openml is None:
        raise ValueError(f'the dataset "{name}" is not at hand: {here}, and OpenML has no copy of it; {remedy}')
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about each attempt to connect
            found = fetch_openml(data_id=recipe.openml, as_frame=False, parser="liac-arff")
    except (OSError, HTTPException, ValueError) as error:
        raise ValueError(
            f'the dataset "{name}" is not at hand: {here}, and OpenML could not be asked ({error}); {remedy}'
        ) from error
    return _table_of(found, recipe)


def _table_of(found: Any, recipe: _Recipe) -> tuple[list[str], list[tuple[Any, ...]]]:
    """What scikit-learn fetched, as the files have it: words, "?" where an answer is missing."""
    categories = found.categories or {}

    def word(column: str, value: Any) -> str:
        if value is None or value != value:
            return MISSING
        if column in categories and not isinstance(value, str):
            return str(categories[column][int(value)])
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)

    names = list(found.feature_names)
    rows = [
        (*(word(column, value) for column, value in zip(names, row, strict=True)), str(answer))
        for row, answer in zip(found.data.tolist(), list(found.target), strict=True)
    ]
    return [*names, "target"], rows[: recipe.first]


def _check(name: str, recipe: _Recipe, head: list[str], rows: Sequence[tuple[Any, ...]], source: str) -> None:
    counts = dict(sorted(Counter(str(row[-1]) for row in rows).items()))
    n_columns = len(set(head[:-1]))
    if n_columns != recipe.columns or counts != recipe.classes:
        raise ValueError(
            f'{source} is not the dataset "{name}": it has {n_columns} columns of different names and {len(rows)} '
            f"complete rows with the answers {counts}; expected {recipe.columns} columns and {recipe.rows} rows with "
            f"{recipe.classes}. Put the table of the UCI repository there, with the answer in the last column"
        )


def _columns(recipe: _Recipe, head: list[str], rows: Sequence[tuple[Any, ...]], source: str) -> dict[str, Column]:
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


def _balance_scale() -> tuple[list[str], list[tuple[Any, ...]]]:
    """Where a scale tips, for all weights and distances from 1 to 5."""
    rows = []
    for weights in product(range(1, 6), repeat=4):
        left, right = weights[0] * weights[1], weights[2] * weights[3]
        rows.append((*weights, "B" if left == right else "L" if left > right else "R"))
    return ["left_weight", "left_distance", "right_weight", "right_distance", "target"], rows


LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
SQUARES = [f"{row}-{column}-square" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")]


def _tic_tac_toe() -> tuple[list[str], list[tuple[Any, ...]]]:
    """Every board on which a game ends, x having begun; the answer says whether x won."""
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


def _monks_sample() -> tuple[list[str], list[tuple[Any, ...]]]:
    """124 of the 432 points of the first monk's problem, drawn once and for all: true where a1 = a2 or a5 = 1."""
    points = list(product(range(1, 4), range(1, 4), range(1, 3), range(1, 4), range(1, 5), range(1, 3)))
    drawn = np.sort(np.random.RandomState(1).permutation(len(points))[:124])
    rows = [(*points[k], "1" if points[k][0] == points[k][1] or points[k][4] == 1 else "0") for k in drawn]
    return ["a1", "a2", "a3", "a4", "a5", "a6", "target"], rows


# The paper counts five whole numbers and one category in car-evaluation and does not name the category. All six columns
# are words with an order; "persons" (2, 4, more) is the one whose steps are no unit of anything.
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
