"""The log of a verbose fit."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from hardwood.problem import Problem
from hardwood.solvers.base import Progress, progress_text, time_text

LOGGER = logging.getLogger("hardwood")


class ProgressLog:
    """Log how the columns were read, then every better tree and bound.

    Parameters
    ----------
    time_limit : float or None
        Limit of the solver in seconds, to log how much of it remains.
    """

    def __init__(self, time_limit: float | None) -> None:
        self._time_limit = time_limit
        self._last_text = ""

    def log_columns(self, _problem: Problem, lines: Sequence[str]) -> None:
        """Log the column summary, one record for each line."""
        # `verbose` asks for visible output, also in programs that do not configure logging.
        LOGGER.setLevel(logging.INFO)
        if not LOGGER.hasHandlers():
            LOGGER.addHandler(logging.StreamHandler())
        for line in lines:
            LOGGER.info("%s", line)

    def log_progress(self, problem: Problem, event: Progress) -> None:
        """Log an event of the solver unless its text repeats the last one."""
        text = progress_text(problem, event)
        if text != self._last_text:
            self._last_text = text
            LOGGER.info("%s, %s", text, time_text(event.seconds, self._time_limit))
