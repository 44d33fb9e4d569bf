"""A task in a process of its own: `python -m hardwood.experiments.worker PARENT` reads it from standard input.

The columns go to standard output, a last line of JSON; whatever solvers print goes to standard error. The process ends
when the one that started it does, or when its task should have ended long ago.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time

from hardwood.experiments.tasks import Task, run_task

ALONE = 3  # exit code


def main() -> None:
    """Run one task."""
    parent = int(sys.argv[1])
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    task = Task.from_json(sys.stdin.read())
    threading.Thread(target=_leave_with, args=(parent, time.monotonic() + 2 * task.deadline), daemon=True).start()
    columns = run_task(task)
    with answer:
        json.dump(columns, answer, allow_nan=False)


def _leave_with(parent: int, end: float) -> None:
    while os.getppid() == parent and time.monotonic() < end:
        time.sleep(1.0)
    os._exit(ALONE)


if __name__ == "__main__":
    main()
