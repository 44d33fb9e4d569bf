"""Run the remaining instances of a study, store each result at once, and report progress."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from hardwood.data.datasets import Dataset, load_dataset
from hardwood.experiments.backends import Backend, Outcome, TaskResult, result_of, run_in_process
from hardwood.experiments.grid import Instance, Settings, Study
from hardwood.experiments.store import Row, Store, needs_arrow
from hardwood.experiments.tasks import Task, result_names, run_task
from hardwood.solvers import get_solver
from hardwood.solvers.base import StopReason

# Columns that change from run to run: times, the work until a time limit, the day and the machine.
VARYING = ("seconds", "seconds_with_choice", "work", "works", "stop_reason", "date", "machine")
POLL_SECONDS = 5.0  # interval at which the number of workers is read


@dataclass(frozen=True)
class Progress:
    """Progress of a run.

    Parameters
    ----------
    done, total : int
        Number of tasks that ended, and of all tasks of this run.
    troubled : int
        Number of tasks that failed, crashed or hung.
    last : str
        Id of the task that ended last.
    """

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
    """Run the instances of a study for which the folder has no row.

    Parameters
    ----------
    study : Study
    folder : str or Path
        Folder of the results.
    backend : context manager of Backend
        See `backends`.
    data : str, Path or None
        Folder of the tables, see `datasets`.
    retry : bool, default=False
        Whether to repeat tasks that failed, crashed or hung.
    on_progress : callable or None
        Called in this thread after each task. No new task starts until it returns, so it must not wait for one.

    Returns
    -------
    rows : list of dict
        All rows of the folder.
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
                    run.run_all(todo, opened, retry=retry)
            except BaseException:
                with suppress(ValueError):  # the journal has all rows, and the first error matters more
                    store.write_results(instance_rows(store))
                raise
        store.write_results(instance_rows(store))
    return instance_rows(store)


def instance_rows(store: Store) -> list[Row]:
    """Rows of instances in a fixed order, without the rows of the ordinary trees that they share."""
    rows = [row for row in store.rows.values() if "plausibility" in row]
    return sorted(rows, key=lambda row: (row["dataset"], row["depth"], row["mean_certainty"], row["plausibility"]))


def rerun(
    study: Study, folder: str | Path, name: str, data: str | Path | None = None
) -> tuple[Row, dict[str, tuple[object, object]]]:
    """Run one instance again, limited by the work of each search in the stored row.

    Parameters
    ----------
    study : Study
    folder : str or Path
        Folder of the results.
    name : str
        Id of the instance.
    data : str, Path or None
        Folder of the tables.

    Returns
    -------
    row : dict
        The new row.
    differing : dict
        Old and new value of each column that differs; times are not compared.
    """
    instance = study.instance(name)
    dataset = load_dataset(instance.dataset, data)
    store = Store(folder)
    _check_settings(store, study, {dataset.name: dataset})
    if name not in store.rows:
        raise ValueError(f'{folder} has no row of "{name}"; run the study first')
    old = store.rows[name]
    if old["outcome"] != Outcome.FINISHED:
        raise ValueError(
            f'"{name}" did not finish ({old["outcome"]}: {old["message"]}); run the study again with retry'
        )
    work = _recorded_work(old, study.settings.methods)
    ordinary = run_task(Task(dataset, instance.depth, study.settings, work=work)) if "ordinary_tree" in old else None
    task = Task(dataset, instance.depth, study.settings, instance, ordinary, work)
    new = _row(task, run_in_process(task))
    differing = {
        column: (old.get(column), new.get(column))
        for column in sorted(set(old) | set(new))
        if not column.endswith(VARYING) and old.get(column) != new.get(column)
    }
    return new, differing


@dataclass
class _Run:
    """One run of `run_study`: what it needs, and its progress."""

    settings: Settings
    datasets: dict[str, Dataset]
    store: Store
    on_progress: OnProgress | None
    total: int = 0
    ended: int = 0
    troubled: int = 0

    def run_all(self, todo: Sequence[Instance], backend: Backend, *, retry: bool) -> None:
        """Run the ordinary trees that instances share, then the instances."""
        shared = self._ordinary_trees(retry)
        pairs = sorted({(instance.dataset, instance.depth) for instance in todo} - set(shared))
        if "ordinary" not in self.settings.methods:
            pairs = []
        self.total = len(pairs) + len(todo)
        tasks = [Task(self.datasets[name], depth, self.settings) for name, depth in pairs]
        for task, result in results(tasks, backend):
            self._store(task, result)
        shared = self._ordinary_trees(retry=False)
        ready: list[Task] = []
        for instance in todo:
            ordinary = shared.get((instance.dataset, instance.depth))
            task = Task(self.datasets[instance.dataset], instance.depth, self.settings, instance, ordinary)
            if "ordinary" in self.settings.methods and "ordinary_tree" not in (ordinary or {}):
                reason = f"its ordinary tree: {(ordinary or {}).get('message', 'missing')}"
                self._store(task, TaskResult(Outcome.FAILED, {}, reason))
            else:
                ready.append(task)
        for task, result in results(ready, backend):
            self._store(task, result)

    def _ordinary_trees(self, retry: bool) -> dict[tuple[str, int], Row]:
        """Columns of the known ordinary trees by table and depth, from the journal or from the row of an instance."""
        found: dict[tuple[str, int], Row] = {}
        for row in self.store.rows.values():
            pair = (row["dataset"], row["depth"])
            if retry and "ordinary_tree" not in row:
                continue
            if "ordinary_tree" in row:
                found[pair] = _ordinary_columns(row)
            elif "plausibility" not in row:
                found.setdefault(pair, row)
        return found

    def _store(self, task: Task, result: TaskResult) -> None:
        """Store the row of a task and report progress."""
        row = _row(task, result)
        self.store.add(row)
        self.ended += 1
        self.troubled += result.outcome is not Outcome.FINISHED
        if self.on_progress is not None:
            self.on_progress(Progress(self.ended, self.total, self.troubled, row["id"]))


def results(tasks: Sequence[Task], backend: Backend) -> Iterator[tuple[Task, TaskResult]]:
    """Run tasks, one for each slot of the backend at a time, and yield each with its result as it ends."""
    waiting = deque(tasks)
    running: dict[Future[TaskResult], Task] = {}
    idle_seconds = 0.0
    while waiting or running:
        slots = backend.slots()
        while waiting and len(running) < max(1, slots):
            task = waiting.popleft()
            running[backend.executor.submit(backend.run, task)] = task
        ended = wait(running, POLL_SECONDS, FIRST_COMPLETED).done
        for future in ended:
            yield running.pop(future), result_of(future)
        idle_seconds = idle_seconds + POLL_SECONDS if not (slots or ended) else 0.0
        if running and idle_seconds > next(iter(running.values())).settings.patience:
            raise ValueError("no worker is left; the results so far are kept, run again to continue")


def _recorded_work(row: Row, methods: Sequence[str]) -> dict[str, list[int | None]]:
    """Work of each method in a row, tree by tree; None for a search that was finished."""
    finished = (None, StopReason.FINISHED)
    work = {name: [None if row.get(f"{name}_stop_reason") in finished else row[f"{name}_work"]] for name in methods}
    if "ordinary_works" in row:
        work["ordinary"] = json.loads(row["ordinary_works"])
    return work


def _ordinary_columns(row: Row) -> Row:
    """Columns of a row about how its ordinary tree was learnt."""
    names = result_names("ordinary")
    return {name: value for name, value in row.items() if name in names}


def _row(task: Task, result: TaskResult) -> Row:
    """The row of a task that ended."""
    row: Row = {"id": task.id, "dataset": task.dataset.name, "depth": task.depth}
    if task.instance is not None:
        row |= {"mean_certainty": task.instance.mean_certainty, "plausibility": task.instance.plausibility}
    row |= {"outcome": str(result.outcome), "message": result.message, "table": task.dataset.checksum}
    return row | _settings_columns(task.settings) | result.columns


def _settings_columns(settings: Settings) -> Row:
    """Columns of the settings that a row depends on."""
    return {
        "methods": ",".join(settings.methods),
        "time_limit": settings.time_limit,
        "n_tables": settings.n_tables,
        "seed": settings.seed,
    }


def _check_settings(store: Store, study: Study, datasets: Mapping[str, Dataset]) -> None:
    """Refuse a folder whose rows have other settings or tables."""
    settings = _settings_columns(study.settings)
    for row in store.rows.values():
        wanted = settings | ({"table": datasets[row["dataset"]].checksum} if row["dataset"] in datasets else {})
        for name, value in wanted.items():
            if row.get(name) != value:
                raise ValueError(
                    f"{store.folder} holds rows with {name} {row.get(name)}, the study has {value}; "
                    f"rows of different settings or tables do not mix: give another folder"
                )
