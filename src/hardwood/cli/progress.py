"""Progress of the solver on standard error: one line that changes, or in a log a line for each change."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn

from hardwood.cli.console import err

if TYPE_CHECKING:
    from hardwood.problem import Problem
    from hardwood.solvers.base import Progress, Result


class ProgressLog:
    """Prints a line when the state of the search has changed, but not more often than at an interval.

    Parameters
    ----------
    time_limit : float
        Time limit of the solver, in seconds.
    first_after, interval : float
        Seconds before the first line, and between two lines.
    title : str, default=""
        Text at the beginning of each line.
    """

    def __init__(self, time_limit: float, *, first_after: float, interval: float, title: str = "") -> None:
        self._time_limit, self._interval, self._title = time_limit, interval, title
        self._next = first_after
        self._printed = ""

    def __call__(self, problem: Problem, event: Progress) -> None:
        """Print the state of the search."""
        from hardwood.solvers.base import progress_text, time_text

        text = progress_text(problem, event)
        if event.seconds >= self._next and text != self._printed:
            self._next, self._printed = event.seconds + self._interval, text
            err.print(f"{self._title}{text}, {time_text(event.seconds, self._time_limit)}")


class PathProgress:
    """Progress of a robustness path: a log for each level of plausibility.

    Parameters
    ----------
    time_limit : float
        Time limit for each level, in seconds.
    """

    def __init__(self, time_limit: float) -> None:
        self._time_limit = time_limit
        self._logs: dict[float, ProgressLog] = {}

    def __call__(self, level: float, problem: Problem, event: Progress) -> None:
        """Print the state of the search at a level."""
        title = f"plausibility {level:g}: "
        new = ProgressLog(self._time_limit, first_after=2.0, interval=2.0, title=title)
        self._logs.setdefault(level, new)(problem, event)


class FitProgress:
    """Progress of a fit; a context manager, because the line on a terminal is removed at the end.

    Parameters
    ----------
    time_limit : float
        Time limit of the solver, in seconds.
    """

    def __init__(self, time_limit: float) -> None:
        self._time_limit = time_limit
        self._log = ProgressLog(time_limit, first_after=0.0, interval=1.0)
        spinner = SpinnerColumn(), TextColumn("{task.description}", markup=False)
        self._bar = Bar(*spinner, console=err, transient=True) if err.is_terminal else None
        self._task = None if self._bar is None else self._bar.add_task("first trees ...")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def start(self) -> None:
        """Show the line on a terminal, before the first event."""
        if self._bar is not None:
            self._bar.start()

    def __call__(self, problem: Problem, event: Progress) -> None:
        """Show the state of the search."""
        from hardwood.solvers.base import progress_text, time_text

        if self._bar is None or self._task is None:
            self._log(problem, event)
            return
        text = f"{progress_text(problem, event)}, {time_text(event.seconds, self._time_limit)}"
        self._bar.update(self._task, description=text)


def print_level(level: float, result: Result) -> None:
    """Print that a level of a robustness path is finished."""
    err.print(f"plausibility {level:g}: {result.status}, {result.seconds:.1f} s")
