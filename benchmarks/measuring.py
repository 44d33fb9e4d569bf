"""Measurements that benchmarks share: a solve with its processor time and memory, in a process of its own."""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.records import ROOT
from hardwood.problem import Problem
from hardwood.solvers.base import Limits
from hardwood.solvers.search import SearchSolver

_LONG_RUN = 2.0  # seconds; a run that takes longer is not repeated


def measure_solve(problem: Problem, seconds: float) -> dict[str, Any]:
    """Solve a problem with one thread, in this process.

    Returns
    -------
    record : dict
        The result, processor time in seconds, and the peak memory beyond the memory in use before, in bytes.
    """
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak memory
    began = time.process_time()
    result = SearchSolver().solve(problem, limits=Limits(seconds=seconds))
    spent = time.process_time() - began
    return {
        "n_samples": problem.n_samples,
        "n_splits": problem.n_splits,
        "correct": result.worst_case_correct,
        "upper_bound": result.upper_bound,
        "gap": (result.upper_bound - result.worst_case_correct) / problem.n_samples,
        "status": str(result.status),
        "seconds": round(spent, 4),
        "memory": _resident("VmHWM") - before,
        "encoded": problem.table.values.nbytes + problem.labels.codes.nbytes,
    }


def _resident(field: str) -> int:
    """Return VmRSS, the resident memory, or VmHWM, its peak since the last reset."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def in_process(module: str, function: str, *arguments: Any, repeats: int = 1) -> dict[str, Any]:
    """Call a function of a benchmark module in a process of its own; the module passes --call to `run_call`.

    Parameters
    ----------
    module, function : str
        The benchmark, and its function; the function returns a dict with `seconds`.
    *arguments
        Arguments of the function, as JSON can represent them.
    repeats : int, default=1
        Number of runs; the fastest is returned. Long runs are not repeated.
    """
    command = [sys.executable, "-m", module, "--call", json.dumps([function, *arguments])]
    records = []
    for _ in range(repeats):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{function}{arguments} failed: {done.stderr.strip()[-500:]}")
        records.append(json.loads(done.stdout.splitlines()[-1]))
        if records[-1]["seconds"] > _LONG_RUN:
            break
    return min(records, key=lambda record: float(record["seconds"]))


def run_call(call: str, functions: Iterable[Callable[..., dict[str, Any]]]) -> None:
    """Run a call of `in_process` and print the result as JSON."""
    name, *arguments = json.loads(call)
    print(json.dumps({function.__name__: function for function in functions}[name](*arguments)))


def geometric_mean(ratios: Iterable[float]) -> float:
    """Return the geometric mean of ratios."""
    return math.exp(statistics.fmean(map(math.log, ratios)))
