"""Speed-up by two threads, on instances of the study that took some seconds with one thread.

    HARDWOOD_DATA=... python -m benchmarks.threads [--seconds 120] [--threads 2] [--max-instances 12]

Selects the instances from docs/study/paper. Seconds are wall-clock time: nothing else may run at the same time. Results
go to results/threads.json, a page to results/threads.md.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from benchmarks.measuring import geometric_mean
from benchmarks.records import RESULTS, ROOT, provenance_text, publish
from hardwood.datasets import load_dataset
from hardwood.experiments.instances import problem_of
from hardwood.experiments.store import read_results
from hardwood.solvers.base import Limits, Result, Status
from hardwood.solvers.search import SearchSolver

STUDY = ROOT / "docs" / "study" / "paper" / "results.parquet"
HARD = (1.0, 20.0)  # seconds with one thread
INSTANCE = ("dataset", "depth", "mean_certainty", "plausibility")


def hard_instances(max_instances: int) -> list[dict[str, Any]]:
    """Return instances that take some seconds, evenly spaced among all of them."""
    rows = [row for row in read_results(STUDY) if row["robust_status"] == Status.OPTIMAL]
    hard = [row for row in rows if HARD[0] <= row["robust_cpu_seconds"] <= HARD[1]]
    hard.sort(key=lambda row: row["id"])
    return [{name: row[name] for name in INSTANCE} for row in hard[:: -(-len(hard) // max_instances)]]


def timed(instance: dict[str, Any], n_jobs: int, seconds: float) -> tuple[Result, float]:
    """Solve an instance; return the result and the wall-clock time."""
    dataset = load_dataset(instance["dataset"])
    problem = problem_of(dataset, instance["mean_certainty"], instance["plausibility"], instance["depth"])
    began = time.perf_counter()
    result = SearchSolver().solve(problem, limits=Limits(seconds=seconds), n_jobs=n_jobs)
    return result, time.perf_counter() - began


def page(document: dict[str, Any]) -> str:
    """Return the page of the results."""
    many = f"{document['threads']} threads"
    lines = [
        "# Threads",
        "",
        f"Measured with {provenance_text(document)}; written by `benchmarks/threads.py`; wall-clock seconds.",
        "",
        f"| instance (depth, certainty, plausibility) | one thread, s | {many}, s | speed-up |",
        "|---|---|---|---|",
    ]
    for r in document["results"]:
        name = "{dataset} ({depth}, {mean_certainty}, {plausibility})".format(**r)
        lines.append(f"| {name} | {r['alone']:.2f} | {r['together']:.2f} | {r['alone'] / r['together']:.2f} |")
    return "\n".join([*lines, "", f"Geometric mean: {headline(document)}.", ""])


def headline(document: dict[str, Any]) -> str:
    """Return the mean speed-up in one sentence."""
    ratios = [r["alone"] / r["together"] for r in document["results"]]
    return f"{document['threads']} threads are {geometric_mean(ratios):.2f} times as fast as one"


def main() -> None:
    """Solve hard instances with one and with several threads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--max-instances", type=int, default=12)
    parser.add_argument("--out", type=Path, default=RESULTS / "threads.json")
    args = parser.parse_args()
    results = []
    for instance in hard_instances(args.max_instances):
        (alone, first), (together, second) = (timed(instance, n_jobs, args.seconds) for n_jobs in (1, args.threads))
        if alone.status is together.status is Status.OPTIMAL and alone.objective != together.objective:
            raise RuntimeError(f"threads disagree about {instance}")
        if (
            alone.status is together.status is Status.OPTIMAL
        ):  # otherwise a time limit ended one, and the ratio means nothing
            results.append(instance | {"alone": round(first, 4), "together": round(second, 4)})
            print(results[-1], flush=True)
    print(page(publish(args.out, {"threads": args.threads, "results": results}, page)))


if __name__ == "__main__":
    main()
