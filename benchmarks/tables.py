"""The twelve tables of the paper, as its Table 1 reads them: which columns are whole numbers, which are categories."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np

import hardwood as hw
from hardwood.features import Labels, Table

WHOLE_NUMBERS = {"balance-scale", "hayes-roth", "monks-1-train", "monks-2-train", "monks-3-train", "soybean-small"}
CATEGORIES = {"breast-cancer", "house-votes-84", "kr-vs-kp", "spect", "tic-tac-toe"}
RANKS = {
    "buying": ["low", "med", "high", "vhigh"],
    "maint": ["low", "med", "high", "vhigh"],
    "doors": ["2", "3", "4", "5more"],
    "persons": ["2", "4", "more"],
    "lug_boot": ["small", "med", "big"],
    "safety": ["low", "med", "high"],
}
NAMES = sorted(WHOLE_NUMBERS | CATEGORIES | {"car-evaluation"})


def data_folder() -> Path:
    """The folder with the tables, from HARDWOOD_DATA."""
    folder = os.environ.get("HARDWOOD_DATA")
    if folder is None:
        raise SystemExit("set HARDWOOD_DATA to the folder that holds the benchmark tables as CSV files")
    return Path(folder)


def training_table(name: str, seed: int = 0, share: float = 0.8) -> tuple[Table, Labels]:
    """Rows without missing answers, and a random share of them."""
    with (data_folder() / f"{name}.csv").open() as file:
        head, *rows = csv.reader(file)
    rows = [row for row in rows if "?" not in row]
    kept = np.sort(np.random.default_rng(seed).permutation(len(rows))[: int(share * len(rows))])
    rows = [rows[i] for i in kept]
    columns = {title: [row[j] for row in rows] for j, title in enumerate(head[:-1])}
    if name in WHOLE_NUMBERS:
        columns = {title: [int(value) for value in values] for title, values in columns.items()}
    if name == "car-evaluation":
        columns = {title: [RANKS[title].index(value) for value in values] for title, values in columns.items()}
    return hw.encode(columns), hw.encode_labels([row[-1] for row in rows], len(rows))


def problem(
    name: str, mean_certainty: float, plausibility: float, depth: int, seed: int = 1, share: float = 0.8
) -> hw.Problem:
    """An instance of the paper's study: certainty by feature from a normal distribution, clipped; no bounds."""
    table, labels = training_table(name, share=share)
    rng = np.random.default_rng([seed, round(100 * mean_certainty)])
    certainty = rng.normal(mean_certainty, 0.2, len(table.features))
    uncertainty = hw.UncertaintySet.calibrated(table, certainty=certainty, plausibility=plausibility, clip=True)
    return hw.Problem(labels, uncertainty, depth)
