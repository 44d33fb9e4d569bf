"""Tasks of a study: learn the trees of one instance, evaluate them on shifted test tables, return the row of results.

All random numbers follow from the seed of the study and from names (the rest is in `instances`). A row can therefore be
reproduced, and all instances with the same table and mean certainty share their certainties.
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
from typing import TypeAlias

import numpy as np

from hardwood._util.arrays import FloatArray
from hardwood._util.types import JsonObject
from hardwood._version import __version__
from hardwood.data.datasets import Dataset
from hardwood.data.table import Table
from hardwood.evaluation import simulate_shifts
from hardwood.experiments.grid import Instance, Settings
from hardwood.experiments.instances import TrainTestSplit, certainty_of, clipped_certainty, split_of
from hardwood.problem import Problem
from hardwood.shifts.models import Calibrated, ShiftModel
from hardwood.shifts.uncertainty_set import UncertaintySet
from hardwood.solvers import get_solver
from hardwood.solvers.base import Limits, Result, Solver, StopReason
from hardwood.solvers.ordinary import STRENGTHS, solve_regularised
from hardwood.solvers.search import SearchSolver
from hardwood.solvers.stable import StableSolver, row_radius
from hardwood.trees.tree import Leaf, Tree

Columns: TypeAlias = JsonObject  # values of one row of results: numbers and text, by column name
CertaintyChange: TypeAlias = Callable[[FloatArray, np.random.Generator], FloatArray]

EXPECTED = "expected"
# The true certainty of test tables, given the certainty that the tree was learnt with (paper, section 6.1.2).
FAMILIES: dict[str, CertaintyChange] = {
    EXPECTED: lambda certainty, _: certainty,
    "minus_0.2": lambda certainty, _: certainty - 0.2,
    "minus_0.1": lambda certainty, _: certainty - 0.1,
    "plus_0.1": lambda certainty, _: certainty + 0.1,
    "within_0.05": lambda certainty, rng: certainty + rng.uniform(-0.05, 0.05, certainty.shape),
    "within_0.1": lambda certainty, rng: certainty + rng.uniform(-0.1, 0.1, certainty.shape),
    "within_0.15": lambda certainty, rng: certainty + rng.uniform(-0.15, 0.15, certainty.shape),
    "within_0.2": lambda certainty, rng: certainty + rng.uniform(-0.2, 0.2, certainty.shape),
}
_RESULT_NAMES = ("status", "stop_reason", "seconds", "work", "correct", "upper_bound", "gap", "branching_nodes", "tree")


@dataclass(frozen=True)
class Task:
    """A self-contained task for a worker, which reads no file and needs no study.

    Parameters
    ----------
    dataset : Dataset
    depth : int
    settings : Settings
    instance : Instance or None
        None means: learn the ordinary tree of the table and depth, which several instances share.
    ordinary : mapping or None
        Columns of the ordinary tree, for an instance of a study that compares with it.
    work : mapping or None
        To repeat an earlier run: the work of each method then, tree by tree, which replaces the time limit. It is None
        for a tree that was finished.
    """

    dataset: Dataset
    depth: int
    settings: Settings
    instance: Instance | None = None
    ordinary: JsonObject | None = None
    work: Mapping[str, Sequence[int | None]] | None = None

    @property
    def id(self) -> str:
        """The name of the task in the journal."""
        return f"{self.dataset.name}/ordinary/d{self.depth}" if self.instance is None else self.instance.id

    def limits(self, method: str) -> Iterator[Limits]:
        """Limits of a method, tree by tree."""
        if self.work is None:
            return repeat(Limits(seconds=self.settings.time_limit))
        return iter([Limits(work=work) for work in self.work[method]])

    @property
    def deadline(self) -> float:
        """Seconds after which the task counts as hung."""
        n_trees = len(STRENGTHS) + 1 if self.instance is None else len(self.settings.methods)
        return n_trees * self.settings.time_limit + self.settings.patience

    def to_json(self) -> str:
        """The task as text for another process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Task:
        """Read the output of `to_json`."""
        entry = json.loads(text)
        return cls(
            **entry
            | {
                "dataset": Dataset(**entry["dataset"]),
                "settings": Settings.from_dict(entry["settings"]),
                "instance": entry["instance"] and Instance(**entry["instance"]),
            }
        )


def run_task(task: Task) -> Columns:
    """Run a task and return the columns of its row.

    Parameters
    ----------
    task : Task

    Returns
    -------
    columns : dict
    """
    split = split_of(task.dataset)
    return ordinary_columns(task, split) if task.instance is None else _instance_columns(task, task.instance, split)


def random_for(*names: object) -> np.random.Generator:
    """An independent stream of random numbers for the given names."""
    return np.random.default_rng(_seed_for(*names))


def _seed_for(*names: object) -> int:
    return zlib.crc32("/".join(map(str, names)).encode())


def ordinary_columns(task: Task, split: TrainTestSplit) -> Columns:
    """Learn the regularised ordinary tree of a table and depth.

    Parameters
    ----------
    task : Task
    split : TrainTestSplit

    Returns
    -------
    columns : dict
        Columns about the tree.
    """
    start = time.perf_counter()
    order = random_for(task.settings.seed, task.dataset.name, "held out").permutation(split.table.n_samples)
    found = solve_regularised(split.table, split.labels, task.depth, order, limits=task.limits("ordinary"))
    seconds = time.perf_counter() - start
    return _result_columns("ordinary", found.result) | {
        "ordinary_strength": found.strength,
        "ordinary_works": json.dumps(found.works),
        "ordinary_seconds_with_choice": round(seconds, 4),
    }


def _instance_columns(task: Task, instance: Instance, split: TrainTestSplit) -> Columns:
    """Learn and evaluate all trees of an instance."""
    start = time.perf_counter()
    settings = task.settings
    certainty = certainty_of(instance.mean_certainty, split.table, settings.seed)
    shifts = Calibrated(certainty, instance.plausibility, clip=True)
    columns: Columns = dict(task.ordinary or {})
    for method in settings.methods:
        if method == "ordinary" or (method == "stable" and not _has_two_values_everywhere(split.table)):
            continue
        columns |= _learn(method, instance, split, shifts, next(task.limits(method)))
    trees = {
        name.removesuffix("_tree"): tree_of(text, split) for name, text in columns.items() if name.endswith("_tree")
    }
    columns |= _evaluate(trees, instance, split, certainty, settings)
    return columns | {
        "certainty": json.dumps(certainty.tolist()),
        "n_train": split.table.n_samples,
        "n_test": split.test_table.n_samples,
        "seconds": round(time.perf_counter() - start, 4),
        "version": __version__,
        "date": date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }


def _has_two_values_everywhere(table: Table) -> bool:
    """Whether the paper compares with RCT-B: all columns of the table have two values."""
    return all(feature.n_values == 2 and not feature.ordered for feature in table.features)


def _evaluate(
    trees: Mapping[str, Tree], instance: Instance, split: TrainTestSplit, certainty: FloatArray, settings: Settings
) -> Columns:
    """Nominal accuracy on the test table, and the lowest and mean accuracy over each family of shifted test tables."""
    test_trees = {name: split.tree_for_test(tree) for name, tree in trees.items()}
    columns: Columns = {
        f"{name}_nominal": float((tree.predict(split.test_table) == split.test_labels.codes).mean())
        for name, tree in test_trees.items()
    }
    for family, changed in FAMILIES.items():
        names = (settings.seed, instance.id, family)
        true_certainty = clipped_certainty(split.test_table, changed(certainty, random_for(*names, "certainty")))
        accuracies = simulate_shifts(
            list(test_trees.values()),
            split.test_table,
            split.test_labels,
            Calibrated(true_certainty, clip=True),
            n_tables=settings.n_tables,
            seed=_seed_for(*names, "shifts"),
        )
        for name, by_table in zip(test_trees, accuracies, strict=True):
            columns[f"{name}_worst_{family}"] = round(float(by_table.min()), 6)
            columns[f"{name}_mean_{family}"] = round(float(by_table.mean()), 6)
    return columns


def result_names(method: str) -> set[str]:
    """Names of the columns about how a tree was learnt, as opposed to its accuracy on test tables."""
    others = ("cpu_seconds", "strength", "works", "seconds_with_choice", "radius")
    return {f"{method}_{name}" for name in (*_RESULT_NAMES, *others)}


def _result_columns(method: str, result: Result) -> Columns:
    """The result of a solver as columns; `correct` and `upper_bound` count training rows in the worst case.

    An interrupted search is no result, so Ctrl-C is passed on.
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
    return {f"{method}_{name}": value for name, value in zip(_RESULT_NAMES, values, strict=True)}


def tree_of(text: str, split: TrainTestSplit) -> Tree:
    """The tree of a row, which stores only its nodes; features and classes come from the table."""
    without_nodes = Tree(split.table.features, split.labels.classes, Leaf(0)).to_dict()
    return Tree.from_dict(without_nodes | {"root": json.loads(text)})


def _learn(method: str, instance: Instance, split: TrainTestSplit, shifts: ShiftModel, limits: Limits) -> Columns:
    """Learn the tree of a method."""
    if method == "stable":
        return _learn_stable(instance, split, limits)
    problem = Problem(split.labels, shifts.uncertainty(split.table), instance.depth)
    solver = _solver(method)
    start = time.process_time()
    result = solver.solve(problem, limits=limits)
    # Processor time of a search with one thread does not depend on what else the machine does.
    return _result_columns(method, result) | {f"{method}_cpu_seconds": round(time.process_time() - start, 4)}


def _solver(method: str) -> Solver:
    """The solver of a method."""
    if method == "robust":  # what the clock stopped is repeated exactly by its work (`rerun`)
        return SearchSolver(shallower_half=False)
    get_solver("scip")  # raises an error that names the package if it is missing
    from hardwood.solvers.mio import PAPER
    from hardwood.solvers.mio.scip import ScipSolver

    return ScipSolver(replace(PAPER, per_sample_cuts=method == "paper"))


def _learn_stable(instance: Instance, split: TrainTestSplit, limits: Limits) -> Columns:
    """Learn RCT-B, not regularised; its radius is the budget of a row at the mean certainty (paper, E-Companion 5)."""
    radius = row_radius(split.table, instance.mean_certainty, instance.plausibility)
    uncertainty = UncertaintySet.priced(split.table, costs=1.0, budget=radius)
    result = StableSolver().solve(Problem(split.labels, uncertainty, instance.depth, 0.0), limits=limits)
    return _result_columns("stable", result) | {"stable_radius": radius}
