"""Protocol of the adapters: read a task, measure the time of learning, write the result. Needs only Python."""

import contextlib
import io
import json
import os
import sys
import time

TINY = {"values": [[0, 0], [0, 1], [1, 0], [1, 1]] * 3, "labels": [0, 1, 1, 1] * 3, "depth": 1, "budget": 1.0}


class Clock:
    """Measures the wall-clock and processor time of a block."""

    def __enter__(self):
        self.began = time.perf_counter(), time.process_time()

    def __exit__(self, *_):
        self.seconds = time.perf_counter() - self.began[0]
        self.cpu_seconds = time.process_time() - self.began[1]


def serve(learn):
    """Read the task, call `learn(task, clock)`, and print its result with the measured times.

    The clock runs from an array (or frame) of numbers to the tree. A tiny task comes first, for all packages: what a
    package loads or sets up at its first use is not measured.
    """
    task, clock = json.load(sys.stdin), Clock()
    real = os.dup(1)
    os.dup2(2, 1)  # solvers print, some from compiled code
    with contextlib.redirect_stdout(io.StringIO()):
        with contextlib.suppress(Exception):  # its outcome does not matter
            learn(task | TINY | {"costs": [1.0, 1.0]}, Clock())
        result = learn(task, clock)
    result["seconds"], result["cpu_seconds"] = clock.seconds, clock.cpu_seconds
    os.write(real, (json.dumps(result) + "\n").encode())
    sys.stderr.flush()
    os._exit(0)  # some packages print at exit


def threshold_columns(values):
    """Return columns of 0 and 1, one for each threshold between two values of a column."""
    columns = []
    for column in zip(*values, strict=True):
        columns += [[int(value <= threshold) for value in column] for threshold in sorted(set(column))[:-1]]
    return [list(row) for row in zip(*columns, strict=True)]
