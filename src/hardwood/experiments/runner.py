"""Runs what is left of a study, stores every outcome as it comes, and says how far it is."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from hardwood.data.datasets import Dataset, load_dataset
from hardwood.experiments.backends import Backend, Ended, Outcome, outcome_of, run_here
from hardwood.experiments.grid import Instance, Settings, Study
from hardwood.experiments.store import Row, Store, needs_arrow
from hardwood.experiments.tasks import Task, result_names, run_task
from hardwood.solvers import get_solver
from hardwood.solvers.base import StopReason

# Seconds change from run to run, and so do the work between two looks at the clock, the day and the machine.
VARYING = ("seconds", "seconds_with_choice", "work", "works", "stop_reason", "date", "machine")


LOOK_EVERY = 5.0  # seconds between two looks at how many workers there are


@dataclass(frozen=True)
class Progress:
    """How far a run is: of so many tasks to do in it, how many ended, and how many of those not well."""

    done: int
    total: int
    troubled: int
    last: str


OnProgress: TypeAlias = Callable[[Progress], None]


def run_study(
    study: Study,
    folder: str | Path,
    backend: AbstractContextManager[Backend],
    *,
    data: str | Path | None = None,
    retry: bool = False,
    on_progress: OnProgress | None = None,
) -> list[Row]:
    """Run the instances of a study that the folder has no outcome of, and give all rows.

    backend      see `backends`
    data         the folder of tables, see `datasets`
    retry        run again what failed, crashed or hung
    on_progress  is called after each task, by this thread: no new task starts until it returns, so it must not wait for
                 one to start
    """
    needs_arrow()
    if set(study.settings.methods) - {"robust", "ordinary"}:
        get_solver("scip")
    datasets = {name: load_dataset(name, data) for name in study.datasets}
    store = Store(folder)
    _check_settings(store, study, datasets)
    with store.writing():
        done = {name for name, row in store.rows.items() if not retry or row["outcome"] == Outcome.FINISHED}
        todo = [instance for instance in study.instances if instance.id not in done]
        run = _Run(study.settings, datasets, store, on_progress)
        if todo:
            try:
                with backend as opened:
                    run.all(todo, opened, retry=retry)
            except BaseException:
                with suppress(ValueError):  # the journal has all rows, and the error at hand matters more
                    store.write_results(instance_rows(store))
                raise
        store.write_results(instance_rows(store))
    return instance_rows(store)


def instance_rows(store: Store) -> list[Row]:
    """The rows of instances in a fixed order, without those of the ordinary trees that they share."""
    rows = [row for row in store.rows.values() if "plausibility" in row]
    return sorted(rows, key=lambda row: (row["dataset"], row["depth"], row["mean_certainty"], row["plausibility"]))


def rerun(study: Study, folder: str | Path, name: str, data: str | Path | None = None) -> tuple[Row, dict[str, Any]]:
    """Run one instance again, with the work that each search did then as its limit; the new row, and what differs from
    the old one. Times are not compared.
    """
    instance = study.instance(name)
    dataset = load_dataset(instance.dataset, data)
    store = Store(folder)
    _check_settings(store, study, {dataset.name: dataset})
    if name not in store.rows:
        raise ValueError(f'{folder} has no row of "{name}" yet')
    old = store.rows[name]
    if old["outcome"] != Outcome.FINISHED:
        raise ValueError(
            f'"{name}" did not finish then ({old["outcome"]}: {old["message"]}); run the study again with retry'
        )
    work = _work_of(old, study.settings.methods)
    ordinary = run_task(Task(dataset, instance.depth, study.settings, work=work)) if "ordinary_tree" in old else None
    task = Task(dataset, instance.depth, study.settings, instance, ordinary, work)
    new = _row(task, run_here(task))
    differing = {
        column: (old.get(column), new.get(column))
        for column in sorted(set(old) | set(new))
        if not column.endswith(VARYING) and old.get(column) != new.get(column)
    }
    return new, differing


@dataclass
class _Run:
    settings: Settings
    datasets: dict[str, Dataset]
    store: Store
    on_progress: OnProgress | None
    total: int = 0
    ended: int = 0
    troubled: int = 0

    def all(self, todo: Sequence[Instance], backend: Backend, *, retry: bool) -> None:
        """First the ordinary trees that instances share, then the instances."""
        shared = self._ordinary_trees(retry)
        pairs = sorted({(instance.dataset, instance.depth) for instance in todo} - set(shared))
        if "ordinary" not in self.settings.methods:
            pairs = []
        self.total = len(pairs) + len(todo)
        tasks = [Task(self.datasets[name], depth, self.settings) for name, depth in pairs]
        for task, ended in outcomes(tasks, backend):
            self._keep(_row(task, ended), ended)
        shared = self._ordinary_trees(retry=False)
        ready: list[Task] = []
        for instance in todo:
            ordinary = shared.get((instance.dataset, instance.depth))
            task = Task(self.datasets[instance.dataset], instance.depth, self.settings, instance, ordinary)
            if "ordinary" in self.settings.methods and "ordinary_tree" not in (ordinary or {}):
                reason = f"its ordinary tree: {(ordinary or {}).get('message', 'missing')}"
                failed = Ended(Outcome.FAILED, {}, reason)
                self._keep(_row(task, failed), failed)
            else:
                ready.append(task)
        for task, ended in outcomes(ready, backend):
            self._keep(_row(task, ended), ended)

    def _ordinary_trees(self, retry: bool) -> dict[tuple[str, int], Row]:
        """Columns of the ordinary trees at hand, by table and depth: from the journal, or from any instance."""
        found: dict[tuple[str, int], Row] = {}
        for row in self.store.rows.values():
            pair = (row["dataset"], row["depth"])
            if retry and "ordinary_tree" not in row:
                continue
            if "ordinary_tree" in row:
                found[pair] = _ordinary(row)
            elif "plausibility" not in row:
                found.setdefault(pair, row)
        return found

    def _keep(self, row: Row, ended: Ended) -> None:
        self.store.add(row)
        self.ended += 1
        self.troubled += ended.outcome is not Outcome.FINISHED
        if self.on_progress is not None:
            self.on_progress(Progress(self.ended, self.total, self.troubled, row["id"]))


def outcomes(tasks: Sequence[Task], backend: Backend) -> Iterator[tuple[Task, Ended]]:
    """Run tasks, as many at a time as there are workers, and give each as it ends."""
    waiting = deque(tasks)
    running: dict[Future[Ended], Task] = {}
    patience = 0.0
    while waiting or running:
        slots = backend.slots()
        while waiting and len(running) < max(1, slots):
            task = waiting.popleft()
            running[backend.executor.submit(backend.run, task)] = task
        ended = wait(running, LOOK_EVERY, FIRST_COMPLETED).done
        for future in ended:
            yield running.pop(future), outcome_of(future)
        patience = patience + LOOK_EVERY if not (slots or ended) else 0.0
        if running and patience > next(iter(running.values())).settings.patience:
            raise ValueError("no worker is left, and none has come back; what had ended is kept, run again to go on")


def _work_of(row: Row, methods: Sequence[str]) -> dict[str, list[int | None]]:
    """What each method did when its row was made, tree by tree; None for what was finished."""
    finished = (None, StopReason.FINISHED)
    work = {name: [None if row.get(f"{name}_stop_reason") in finished else row[f"{name}_work"]] for name in methods}
    if "ordinary_works" in row:
        work["ordinary"] = json.loads(row["ordinary_works"])
    return work


def _ordinary(row: Row) -> Row:
    names = result_names("ordinary")
    return {name: value for name, value in row.items() if name in names}


def _row(task: Task, ended: Ended) -> Row:
    row: Row = {"id": task.id, "dataset": task.dataset.name, "depth": task.depth}
    if task.instance is not None:
        row |= {"mean_certainty": task.instance.mean_certainty, "plausibility": task.instance.plausibility}
    row |= {"outcome": str(ended.outcome), "message": ended.message, "table": task.dataset.checksum}
    return row | _settings_columns(task.settings) | ended.columns


def _settings_columns(settings: Settings) -> Row:
    """What a row depends on besides its instance and its table."""
    return {
        "methods": ",".join(settings.methods),
        "time_limit": settings.time_limit,
        "n_tables": settings.n_tables,
        "seed": settings.seed,
    }


def _check_settings(store: Store, study: Study, datasets: Mapping[str, Dataset]) -> None:
    """Refuse a folder with rows that this study would not make."""
    settings = _settings_columns(study.settings)
    for row in store.rows.values():
        wanted = settings | ({"table": datasets[row["dataset"]].checksum} if row["dataset"] in datasets else {})
        for name, value in wanted.items():
            if row.get(name) != value:
                raise ValueError(
                    f"{store.folder} holds rows with {name} {row.get(name)}, the study has {value}; "
                    f"rows of different settings or tables do not mix: give another folder"
                )
