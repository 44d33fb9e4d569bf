"""One instance: learn its trees, judge them on shifted test tables, give the row of results. Nothing here is stored.

Everything random follows from the study's seed and the names of what it is for (`instances` has the rest), so a row can
be had again, and trees of the same table and mean certainty see the same certainties.
"""

from __future__ import annotations

import json
import os
import platform
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from itertools import repeat
from typing import Any

import numpy as np

from hardwood._version import __version__
from hardwood.data.datasets import Dataset
from hardwood.data.features import Table
from hardwood.evaluation import simulate_shifts
from hardwood.experiments.grid import Instance, Settings
from hardwood.experiments.instances import Split, certainty_of, legal, split_of
from hardwood.problem import Problem
from hardwood.shift.calibration import FloatArray
from hardwood.shift.description import ShiftDescription
from hardwood.shift.uncertainty import UncertaintySet
from hardwood.solvers import get_solver
from hardwood.solvers.base import Limits, Result, Solver, StopReason
from hardwood.solvers.ordinary import STRENGTHS, solve_regularised
from hardwood.solvers.search import SearchSolver
from hardwood.solvers.stable import StableSolver, row_radius
from hardwood.trees.tree import Leaf, Tree

EXPECTED = "expected"
Shifted = Callable[[FloatArray, np.random.Generator], FloatArray]
# The certainty that test tables are really shifted by, given the one that the tree was learnt with (section 6.1.2).
FAMILIES: dict[str, Shifted] = {
    EXPECTED: lambda certainty, _: certainty,
    "minus_0.2": lambda certainty, _: certainty - 0.2,
    "minus_0.1": lambda certainty, _: certainty - 0.1,
    "plus_0.1": lambda certainty, _: certainty + 0.1,
    "within_0.05": lambda certainty, rng: certainty + rng.uniform(-0.05, 0.05, certainty.shape),
    "within_0.1": lambda certainty, rng: certainty + rng.uniform(-0.1, 0.1, certainty.shape),
    "within_0.15": lambda certainty, rng: certainty + rng.uniform(-0.15, 0.15, certainty.shape),
    "within_0.2": lambda certainty, rng: certainty + rng.uniform(-0.2, 0.2, certainty.shape),
}


@dataclass(frozen=True)
class Task:
    """What a worker gets, complete: it reads no file and knows no study.

    instance  None: learn the ordinary tree of the table and depth, which many instances share
    ordinary  its columns, for an instance of a study that compares with it
    work      an earlier run is repeated: no limit of time, but each method stops after the work that it did then,
              tree by tree; None for a tree that was finished
    """

    dataset: Dataset
    depth: int
    settings: Settings
    instance: Instance | None = None
    ordinary: Mapping[str, Any] | None = None
    work: Mapping[str, Sequence[int | None]] | None = None

    @property
    def id(self) -> str:
        """The name of the task in the journal."""
        return ordinary_id(self.dataset.name, self.depth) if self.instance is None else self.instance.id

    def limits(self, method: str) -> Iterator[Limits]:
        """When a method stops, tree by tree."""
        if self.work is None:
            return repeat(Limits(seconds=self.settings.time_limit))
        return iter([Limits(work=work) for work in self.work[method]])

    @property
    def deadline(self) -> float:
        """Seconds after which the task hangs, whatever it says."""
        trees = len(STRENGTHS) + 1 if self.instance is None else len(self.settings.methods)
        return trees * self.settings.time_limit + self.settings.patience

    def to_json(self) -> str:
        """The task as text for another process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Task:
        """Read what `to_json` wrote."""
        entry = json.loads(text)
        return cls(
            **entry
            | {
                "dataset": Dataset(**entry["dataset"]),
                "settings": Settings.from_dict(entry["settings"]),
                "instance": entry["instance"] and Instance(**entry["instance"]),
            }
        )


def run_task(task: Task) -> dict[str, Any]:
    """The columns that a task is for."""
    split = split_of(task.dataset)
    return ordinary_columns(task, split) if task.instance is None else instance_row(task, task.instance, split)


def ordinary_id(dataset: str, depth: int) -> str:
    """The name of the ordinary tree of a table and depth."""
    return f"{dataset}/ordinary/d{depth}"


def random_for(*words: object) -> np.random.Generator:
    """A stream of random numbers of its own for whatever the words name."""
    return np.random.default_rng(seed_for(*words))


def seed_for(*words: object) -> int:
    """A seed from words."""
    return zlib.crc32("/".join(map(str, words)).encode())


def ordinary_columns(task: Task, split: Split) -> dict[str, Any]:
    """The regularised ordinary tree."""
    began = time.perf_counter()
    order = random_for(task.settings.seed, task.dataset.name, "held out").permutation(split.table.n_samples)
    found = solve_regularised(split.table, split.labels, task.depth, order, limits=task.limits("ordinary"))
    seconds = time.perf_counter() - began
    return result_columns("ordinary", found.result) | {
        "ordinary_strength": found.strength,
        "ordinary_works": json.dumps(found.works),
        "ordinary_seconds_with_choice": round(seconds, 4),
    }


def instance_row(task: Task, instance: Instance, split: Split) -> dict[str, Any]:
    """All trees of an instance and how they fare."""
    began = time.perf_counter()
    settings = task.settings
    certainty = certainty_of(instance.mean_certainty, split.table, settings.seed)
    shifts = ShiftDescription(certainty, instance.plausibility, clip=True)
    row: dict[str, Any] = dict(task.ordinary or {})
    for method in settings.methods:
        if method == "ordinary" or (method == "stable" and not two_answers(split.table)):
            continue
        row |= _learnt(method, instance, split, shifts, next(task.limits(method)))
    trees = {name.removesuffix("_tree"): tree_of(text, split) for name, text in row.items() if name.endswith("_tree")}
    row |= judged(trees, instance, split, certainty, settings)
    return row | {
        "certainty": json.dumps(certainty.tolist()),
        "n_train": split.table.n_samples,
        "n_test": split.test_table.n_samples,
        "seconds": round(time.perf_counter() - began, 4),
        "version": __version__,
        "date": date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }


def two_answers(table: Table) -> bool:
    """Whether RCT-B is compared: the paper does so on tables whose columns have two answers each."""
    return all(feature.n_values == 2 and not feature.ordered for feature in table.features)


def judged(
    trees: Mapping[str, Tree], instance: Instance, split: Split, certainty: FloatArray, settings: Settings
) -> dict[str, Any]:
    """Accuracy on the test table as it stands, and the lowest and mean accuracy over each family of shifted ones."""
    used = {name: split.in_use(tree) for name, tree in trees.items()}
    columns: dict[str, Any] = {
        f"{name}_nominal": float((tree.predict(split.test_table) == split.test_labels.codes).mean())
        for name, tree in used.items()
    }
    for family, shifted in FAMILIES.items():
        words = (settings.seed, instance.id, family)
        real = legal(split.test_table, shifted(certainty, random_for(*words, "certainty")))
        accuracies = simulate_shifts(
            list(used.values()),
            split.test_table,
            split.test_labels,
            ShiftDescription(real, clip=True),
            n_tables=settings.n_tables,
            seed=seed_for(*words, "shifts"),
        )
        for name, own in zip(used, accuracies, strict=True):
            columns[f"{name}_worst_{family}"] = round(float(own.min()), 6)
            columns[f"{name}_mean_{family}"] = round(float(own.mean()), 6)
    return columns


RESULT = ("status", "stop_reason", "seconds", "work", "correct", "upper_bound", "gap", "branching_nodes", "tree")


def result_names(method: str) -> set[str]:
    """The columns about how a tree was learnt, not about how it fares."""
    return {
        f"{method}_{name}" for name in (*RESULT, "cpu_seconds", "strength", "works", "seconds_with_choice", "radius")
    }


def result_columns(method: str, result: Result) -> dict[str, Any]:
    """What a solver says, as columns of a row; `correct` and `upper_bound` count training rows in the worst case.

    A tree that is half done because somebody pressed Ctrl-C is no result.
    """
    if result.stop_reason is StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    values = (
        str(result.status),
        str(result.stop_reason),
        round(result.seconds, 4),
        result.work,
        result.worst_case_correct,
        result.upper_bound,
        result.gap,
        result.branching_nodes,
        json.dumps(result.tree.to_dict()["root"], separators=(",", ":")),
    )
    return {f"{method}_{name}": value for name, value in zip(RESULT, values, strict=True)}


def tree_of(text: str, split: Split) -> Tree:
    """The tree of a row: only its nodes are kept there, the table knows the rest."""
    bare = Tree(split.table.features, split.labels.classes, Leaf(0)).to_dict()
    return Tree.from_dict(bare | {"root": json.loads(text)})


def _learnt(method: str, instance: Instance, split: Split, shifts: ShiftDescription, limits: Limits) -> dict[str, Any]:
    if method == "stable":
        return _stable(instance, split, limits)
    problem = Problem(split.labels, shifts.uncertainty(split.table), instance.depth)
    solver = _solver(method)
    began = time.process_time()
    result = solver.solve(problem, limits=limits)
    # Processor time tells how long a search of one thread took, whatever else the machine did.
    return result_columns(method, result) | {f"{method}_cpu_seconds": round(time.process_time() - began, 4)}


def _solver(method: str) -> Solver:
    if method == "robust":
        return SearchSolver()
    get_solver("scip")  # says what to install if it is missing
    from hardwood.solvers.mio import PAPER
    from hardwood.solvers.mio.scip import ScipSolver

    return ScipSolver(replace(PAPER, per_sample_cuts=method == "paper"))


def _stable(instance: Instance, split: Split, limits: Limits) -> dict[str, Any]:
    """RCT-B with the budget of a row, at the mean certainty, as its radius; not regularised (paper, E-Companion 5)."""
    radius = row_radius(split.table, instance.mean_certainty, instance.plausibility)
    rows = UncertaintySet.priced(split.table, costs=1.0, budget=radius)
    result = StableSolver().solve(Problem(split.labels, rows, instance.depth, 0.0), limits=limits)
    return result_columns("stable", result) | {"stable_radius": radius}
