"""A task in a process of its own: `python -m hardwood.experiments.worker` reads it from standard input.

The columns go to standard output, a last line of JSON; whatever solvers print goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys

from hardwood.experiments.tasks import Task, run_task


def main() -> None:
    """Run one task."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    columns = run_task(Task.from_json(sys.stdin.read()))
    with answer:
        json.dump(columns, answer, allow_nan=False)


if __name__ == "__main__":
    main()
