"""How much faster two threads are, on instances of the grid that take one thread a second or more.

    HARDWOOD_DATA=... python benchmarks/threads.py [--seconds 120] [--threads 2]

Reads results/search.json to see which ones these are. Seconds are by the clock: nothing else may run beside it. Results
go to results/threads.md.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from pathlib import Path
from typing import Any

from hardwood.datasets import load_dataset
from hardwood.experiments.instances import problem_of
from hardwood.solvers.base import Limits, Result, Status
from hardwood.solvers.search import SearchSolver

HERE = Path(__file__).parent
HARD = 1.0  # seconds with one thread


def timed(instance: dict[str, Any], n_jobs: int, seconds: float) -> tuple[Result, float]:
    """A solution and its time."""
    dataset = load_dataset(instance["table"])
    posed = problem_of(dataset, instance["mean_certainty"], instance["plausibility"], instance["depth"])
    began = time.perf_counter()
    result = SearchSolver().solve(posed, limits=Limits(seconds=seconds), n_jobs=n_jobs)
    return result, time.perf_counter() - began


def main() -> None:
    """Run all hard instances."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "threads.md")
    args = parser.parse_args()
    known = json.loads((HERE / "results" / "search.json").read_text())["results"]
    hard = [r for r in known if r["seconds"] >= HARD and r["status"] == Status.OPTIMAL]
    lines = [
        f"| instance (depth, certainty, plausibility) | one thread, s | {args.threads} threads, s | times as fast |",
        "|---|---|---|---|",
    ]
    ratios = []
    for instance in hard:
        (alone, first), (together, second) = (timed(instance, n_jobs, args.seconds) for n_jobs in (1, args.threads))
        if alone.status is together.status is Status.OPTIMAL and alone.objective != together.objective:
            raise RuntimeError(f"threads disagree about {instance}")
        ratios.append(first / second)
        name = "{table} ({depth}, {mean_certainty}, {plausibility})".format(**instance)
        lines.append(f"| {name} | {first:.2f} | {second:.2f} | {ratios[-1]:.2f} |")
        print(lines[-1], flush=True)
    lines.append(f"\nGeometric mean: {math.exp(statistics.fmean(map(math.log, ratios))):.2f} times as fast.")
    args.out.write_text("\n".join(lines) + "\n")
    print(lines[-1])


if __name__ == "__main__":
    main()
