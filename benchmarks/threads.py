"""How much faster two threads are, on instances of the study that took one thread some seconds.

    HARDWOOD_DATA=... python benchmarks/threads.py [--seconds 120] [--threads 2] [--most 12]

Reads docs/study/paper to see which ones these are. Seconds are by the clock: nothing else may run beside it. Results go
to results/threads.json, a page to results/threads.md.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from hardwood.datasets import load_dataset
from hardwood.experiments.instances import problem_of
from hardwood.experiments.store import read_results
from hardwood.solvers.base import Limits, Result, Status
from hardwood.solvers.search import SearchSolver
from marks import RESULTS, ROOT, publish, words
from measuring import geometric_mean

STUDY = ROOT / "docs" / "study" / "paper" / "results.parquet"
HARD = (1.0, 20.0)  # seconds with one thread
INSTANCE = ("dataset", "depth", "mean_certainty", "plausibility")


def hard(most: int) -> list[dict[str, Any]]:
    """Instances that take some seconds, evenly among all of them."""
    rows = [row for row in read_results(STUDY) if row["robust_status"] == Status.OPTIMAL]
    known = [row for row in rows if HARD[0] <= row["robust_cpu_seconds"] <= HARD[1]]
    known.sort(key=lambda row: row["id"])
    return [{name: row[name] for name in INSTANCE} for row in known[:: -(-len(known) // most)]]


def timed(instance: dict[str, Any], n_jobs: int, seconds: float) -> tuple[Result, float]:
    """A solution and its time."""
    dataset = load_dataset(instance["dataset"])
    posed = problem_of(dataset, instance["mean_certainty"], instance["plausibility"], instance["depth"])
    began = time.perf_counter()
    result = SearchSolver().solve(posed, limits=Limits(seconds=seconds), n_jobs=n_jobs)
    return result, time.perf_counter() - began


def page(document: dict[str, Any]) -> str:
    """The results as a table."""
    many = f"{document['threads']} threads"
    lines = [
        "# Threads",
        "",
        f"Measured with {words(document)}; written by `benchmarks/threads.py`, seconds by the clock.",
        "",
        f"| instance (depth, certainty, plausibility) | one thread, s | {many}, s | times as fast |",
        "|---|---|---|---|",
    ]
    for r in document["results"]:
        name = "{dataset} ({depth}, {mean_certainty}, {plausibility})".format(**r)
        lines.append(f"| {name} | {r['alone']:.2f} | {r['together']:.2f} | {r['alone'] / r['together']:.2f} |")
    return "\n".join([*lines, "", f"Geometric mean: {headline(document)}.", ""])


def headline(document: dict[str, Any]) -> str:
    """The mean in words."""
    ratios = [r["alone"] / r["together"] for r in document["results"]]
    return f"{document['threads']} threads are {geometric_mean(ratios):.2f} times as fast as one"


def main() -> None:
    """Run hard instances."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--most", type=int, default=12, help="instances at the most")
    parser.add_argument("--out", type=Path, default=RESULTS / "threads.json")
    args = parser.parse_args()
    results = []
    for instance in hard(args.most):
        (alone, first), (together, second) = (timed(instance, n_jobs, args.seconds) for n_jobs in (1, args.threads))
        if alone.status is together.status is Status.OPTIMAL and alone.objective != together.objective:
            raise RuntimeError(f"threads disagree about {instance}")
        if alone.status is together.status is Status.OPTIMAL:  # otherwise the clock ended one, and times say nothing
            results.append(instance | {"alone": round(first, 4), "together": round(second, 4)})
            print(results[-1], flush=True)
    print(page(publish(args.out, {"threads": args.threads, "results": results}, page)))


if __name__ == "__main__":
    main()
