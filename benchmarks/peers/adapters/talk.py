"""What all adapters share: read a task, take the times of learning, answer. Needs nothing but Python."""

import contextlib
import io
import json
import os
import sys
import time

TINY = {"values": [[0, 0], [0, 1], [1, 0], [1, 1]] * 3, "labels": [0, 1, 1, 1] * 3, "depth": 1, "budget": 1.0}


class Clock:
    """Wall and processor time of what runs within it."""

    def __enter__(self):
        self.began = time.perf_counter(), time.process_time()

    def __exit__(self, *_):
        self.seconds = time.perf_counter() - self.began[0]
        self.cpu_seconds = time.process_time() - self.began[1]


def answer(learn):
    """Read the task, let `learn(task, clock)` work, print what it returns and what the clock says.

    The clock is on from an array (or frame) of numbers to the tree. A tiny task comes first, for all alike: whatever a
    package loads or sets up at its first use is not in the time.
    """
    task, clock = json.load(sys.stdin), Clock()
    real = os.dup(1)
    os.dup2(2, 1)  # solvers print, some from compiled code
    with contextlib.redirect_stdout(io.StringIO()):
        with contextlib.suppress(Exception):  # how it ends is of no interest
            learn(task | TINY | {"prices": [1.0, 1.0]}, Clock())
        found = learn(task, clock)
    found["seconds"], found["cpu_seconds"] = clock.seconds, clock.cpu_seconds
    os.write(real, (json.dumps(found) + "\n").encode())
    sys.stderr.flush()
    os._exit(0)  # no last words


def tests_of(values):
    """Columns of 0 and 1, one for each threshold between two values of a column."""
    columns = []
    for column in zip(*values, strict=True):
        columns += [[int(value <= threshold) for value in column] for threshold in sorted(set(column))[:-1]]
    return [list(row) for row in zip(*columns, strict=True)]
