"""What benchmarks of the search share: a solve with its processor time and memory, in a process of its own."""

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

from hardwood.problem import Problem
from hardwood.solvers.base import Limits
from hardwood.solvers.search import SearchSolver

ENOUGH = 2.0  # seconds; a run that takes longer is not repeated


def solved(problem: Problem, seconds: float) -> dict[str, Any]:
    """One solve with one thread, in this process: processor time, and the largest size less what was there before."""
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the largest size is counted from here
    began = time.process_time()
    result = SearchSolver().solve(problem, limits=Limits(seconds=seconds))
    spent = time.process_time() - began
    return {
        "n_samples": problem.n_samples,
        "n_tests": problem.n_tests,
        "correct": result.worst_case_correct,
        "upper_bound": result.upper_bound,
        "gap": (result.upper_bound - result.worst_case_correct) / problem.n_samples,
        "status": str(result.status),
        "seconds": round(spent, 4),
        "memory": _resident("VmHWM") - before,
        "encoded": problem.table.values.nbytes + problem.labels.codes.nbytes,
    }


def _resident(what: str) -> int:
    """VmRSS, or VmHWM: the largest since it was last reset."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) * 1024


def in_process(script: str, function: str, *arguments: Any, repeats: int = 1) -> dict[str, Any]:
    """Call a function of a script in a process of its own; of several runs, the fastest. See `answer_call`."""
    command = [sys.executable, script, "--call", json.dumps([function, *arguments])]
    found = []
    for _ in range(repeats):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{function}{arguments} failed: {done.stderr.strip()[-500:]}")
        found.append(json.loads(done.stdout.splitlines()[-1]))
        if found[-1]["seconds"] > ENOUGH:
            break
    return min(found, key=lambda entry: entry["seconds"])


def answer_call(call: str, functions: Iterable[Callable[..., dict[str, Any]]]) -> None:
    """The other end of `in_process`: print what the function returns."""
    name, *arguments = json.loads(call)
    print(json.dumps({function.__name__: function for function in functions}[name](*arguments)))


def geometric_mean(ratios: Iterable[float]) -> float:
    """The geometric mean of ratios."""
    return math.exp(statistics.fmean(map(math.log, ratios)))
