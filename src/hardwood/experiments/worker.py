"""Run one task in a separate process: `python -m hardwood.experiments.worker PARENT` reads it from standard input.

The columns are written to standard output as one line of JSON. Everything that solvers print goes to standard error.
The process ends when its parent ends, or at twice its deadline.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time

from hardwood.experiments.tasks import Task, run_task

ABANDONED = 3  # exit code


def main() -> None:
    """Run one task."""
    parent = int(sys.argv[1])
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    task = Task.from_json(sys.stdin.read())
    end = time.monotonic() + 2 * task.deadline
    threading.Thread(target=_exit_with_parent, args=(parent, end), daemon=True).start()
    columns = run_task(task)
    with output:
        json.dump(columns, output, allow_nan=False)


def _exit_with_parent(parent: int, end: float) -> None:
    """Exit when the parent process ends, or at the time `end`."""
    while os.getppid() == parent and time.monotonic() < end:
        time.sleep(1.0)
    os._exit(ABANDONED)


if __name__ == "__main__":
    main()
