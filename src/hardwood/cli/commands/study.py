"""`hardwood study`: run the paper's experiments, or another grid (extra `experiments`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from hardwood.cli.console import NOT_CONFIRMED, err, errors, out, print_json
from hardwood.cli.options import AsJson

if TYPE_CHECKING:
    from hardwood.experiments.backends import Backend
    from hardwood.experiments.runner import Progress

_LOG_INTERVAL = 10.0  # seconds between two lines where there is no terminal
study = typer.Typer(
    help="Run the paper's experiments, or a grid of your own; finished instances are kept.", no_args_is_help=True
)

Name = Annotated[
    str,
    typer.Argument(help="A study that comes with hardwood (see list), or a TOML file with a grid.", metavar="STUDY"),
]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="The folder of results; study/NAME if not given.", show_default=False)
]
DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data", help="A folder of tables in CSV; HARDWOOD_DATA if not given, and OpenML for missing tables."
    ),
]


@study.command("list")
def list_() -> None:
    """Show the studies that come with hardwood."""
    with errors():
        from hardwood.experiments.grid import built_in, load_study

        for name in built_in():
            grid = load_study(name)
            n_instances, n_tables, limit = len(grid.instances), len(grid.datasets), grid.settings.time_limit
            out.print(f"{name:10} {n_instances:5} instances of {n_tables} tables, up to {limit:g} s a tree")


@study.command(epilog="Example: hardwood study run smoke")
def run(
    name: Name,
    folder: Out = None,
    data: DataFolder = None,
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes",
            "-p",
            help="Instances at a time on this machine, one for each core if not given; 0: in this process.",
            show_default=False,
        ),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="A Dask scheduler to run on instead, tcp://host:port.", show_default=False)
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Repeat instances that failed, crashed or hung.")] = False,
) -> None:
    """Run the remaining instances of a study, then write its tables and figures."""
    with errors():
        from hardwood.experiments.grid import load_study
        from hardwood.experiments.runner import run_study
        from hardwood.plotting import needs_matplotlib

        grid = load_study(name)
        target = _folder(folder, grid.name)
        needs_matplotlib()
        with _progress() as on_progress:
            rows = run_study(
                grid, target, _backend(processes, scheduler), data=data, retry=retry, on_progress=on_progress
            )
        ids = {instance.id for instance in grid.instances}
        rows = [row for row in rows if row["id"] in ids]
        unfinished = [row for row in rows if row["outcome"] != "finished"]
        out.print(f"{len(rows)} of {len(grid.instances)} instances are in {target / 'results.parquet'}")
        for row in unfinished:
            out.print(f"* {row['id']} {row['outcome']}: {row['message']}")
        if len(unfinished) < len(rows):
            _write_report(target)
    if unfinished:
        raise typer.Exit(NOT_CONFIRMED)


@study.command(epilog="Example: hardwood study report --out study/paper")
def report(
    folder: Annotated[Path, typer.Option("--out", "-o", help="The folder of results.", show_default=False)],
) -> None:
    """Write the tables and figures of a folder of results again."""
    with errors():
        _write_report(folder)


@study.command(epilog="Example: hardwood study rerun smoke balance-scale/c0.7/p0.85/d3")
def rerun(
    name: Name,
    instance: Annotated[str, typer.Argument(help="The id of an instance.", metavar="ID")],
    folder: Out = None,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Repeat one instance and compare the result with the recorded row."""
    with errors():
        from hardwood.experiments.grid import load_study
        from hardwood.experiments.runner import rerun as rerun_instance

        grid = load_study(name)
        row, differing = rerun_instance(grid, _folder(folder, grid.name), instance, data)
        if as_json:
            print_json({"row": row, "differing": {name: list(pair) for name, pair in differing.items()}})
        elif differing:
            out.print(f"{instance}: {len(differing)} columns differ")
            for column, (old, new) in differing.items():
                out.print(f"* {column}: {old} then, {new} now")
        else:
            out.print(f"{instance}: the same row, except for times")
    if differing:
        raise typer.Exit(NOT_CONFIRMED)


def _folder(folder: Path | None, name: str) -> Path:
    return Path("study") / name if folder is None else folder


def _backend(processes: int | None, scheduler: str | None) -> AbstractContextManager[Backend]:
    from joblib import cpu_count

    from hardwood.experiments.backends import dask_cluster, in_this_process, local_processes

    if scheduler is not None and processes is not None:
        raise ValueError(
            "--scheduler and --processes are both given; a cluster has its own workers: give only one of them"
        )
    if scheduler is not None:
        return dask_cluster(scheduler)
    if processes == 0:
        return in_this_process()
    if processes is not None and processes < 0:
        raise ValueError(f"--processes is {processes}; expected a number of processes, or 0 for this one")
    return local_processes(processes or cpu_count())


def _write_report(folder: Path) -> None:
    from hardwood.experiments.report import write_report

    for path in write_report(folder):
        out.print(f"written: {path}")


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """Show progress and remaining time on standard error: a bar, or in a log a line every few seconds."""
    if not err.is_terminal:
        yield _log()
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=err, transient=True, speed_estimate_period=600) as bar:
        task = bar.add_task("instances", total=None)

        def draw(event: Progress) -> None:
            description = f"instances{_unfinished(event)}"
            bar.update(task, completed=event.done, total=event.total, description=description)

        yield draw


def _log() -> Callable[[Progress], None]:
    began = printed = time.monotonic()

    def log(event: Progress) -> None:
        nonlocal printed
        now = time.monotonic()
        if now < printed + _LOG_INTERVAL and event.done < event.total:
            return
        printed = now
        minutes = (now - began) / event.done * (event.total - event.done) / 60
        done = f"{event.done} of {event.total}{_unfinished(event)}"
        err.print(f"{done}; about {minutes:.0f} minutes left; last {event.last}")

    return log


def _unfinished(event: Progress) -> str:
    """Return how many instances failed, crashed or hung, or no text."""
    return f", {event.troubled} unfinished" if event.troubled else ""
