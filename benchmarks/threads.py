"""Speed-up by two threads, on instances of the study and real tables that took some seconds with one thread.

    HARDWOOD_DATA=... python -m benchmarks.threads [--seconds 120] [--threads 2] [--max-instances 12]

Selects the instances from docs/study/paper and from results/real_tables.json (depth 3, default settings). Those that
take less than half a second now are left out. Tree, bound and work must be the same with all threads. Seconds are
wall-clock time: nothing else may run at the same time. Results go to results/threads.json, a page to
results/threads.md.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from benchmarks.measuring import geometric_mean
from benchmarks.real_tables import DEFAULTS, key_of, problem_of_table
from benchmarks.records import RESULTS, ROOT, load, provenance_text, publish
from hardwood.datasets import load_dataset
from hardwood.experiments.instances import problem_of
from hardwood.experiments.store import read_results
from hardwood.problem import Problem
from hardwood.solvers.base import Limits, Result, Status
from hardwood.solvers.search import SearchSolver

STUDY = ROOT / "docs" / "study" / "paper" / "results.parquet"
HARD = (1.0, 20.0)  # seconds with one thread when the instances were selected ...
MIN_SECONDS = 0.5  # ... and now
INSTANCE = ("dataset", "depth", "mean_certainty", "plausibility")


def _spaced(rows: list[dict[str, Any]], n: int) -> list[dict[str, Any]]:
    return rows[:: -(-len(rows) // n)]


def hard_instances(max_instances: int) -> list[dict[str, Any]]:
    """Return instances of the study that take some seconds, evenly spaced among all of them."""
    rows = [row for row in read_results(STUDY) if row["robust_status"] == Status.OPTIMAL]
    hard = [row for row in rows if HARD[0] <= row["robust_cpu_seconds"] <= HARD[1]]
    hard.sort(key=lambda row: row["id"])
    return [{name: row[name] for name in INSTANCE} for row in _spaced(hard, max_instances)]


def hard_tables(max_instances: int, depth: int = 3) -> list[dict[str, Any]]:
    """Return real tables that take some seconds, in the same form."""
    results = load(RESULTS / "real_tables.json")["results"]
    names = sorted(key.split(",")[0] for key in results if key == key_of(key.split(",")[0], depth))
    rows = [(name, results[key_of(name, depth)]) for name in names]
    hard = [name for name, row in rows if row["status"] == "optimal" and HARD[0] <= row["seconds"] <= HARD[1]]
    values = (depth, *DEFAULTS[:2])
    return _spaced([dict(zip(INSTANCE, (name, *values), strict=True)) for name in hard], max_instances)


def _problem(instance: dict[str, Any]) -> Problem:
    name, depth, certainty, plausibility = (instance[key] for key in INSTANCE)
    if "/" in name:
        return problem_of_table(name, depth)
    return problem_of(load_dataset(name), certainty, plausibility, depth)


def timed(instance: dict[str, Any], n_jobs: int, seconds: float) -> tuple[Result, float]:
    """Solve an instance; return the result and the wall-clock time."""
    problem = _problem(instance)
    began = time.perf_counter()
    result = SearchSolver().solve(problem, limits=Limits(seconds=seconds), n_jobs=n_jobs)
    return result, time.perf_counter() - began


def _outcome(result: Result) -> tuple[Any, ...]:
    return result.tree, result.objective, result.objective_bound, result.upper_bound, result.work


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
    for instance in hard_instances(args.max_instances) + hard_tables(args.max_instances):
        (alone, first), (together, second) = (timed(instance, n_jobs, args.seconds) for n_jobs in (1, args.threads))
        if not alone.status is together.status is Status.OPTIMAL:
            continue  # a time limit ended one, and the ratio means nothing
        if _outcome(alone) != _outcome(together):
            raise RuntimeError(f"threads disagree about {instance}")
        if first >= MIN_SECONDS:
            results.append(instance | {"alone": round(first, 4), "together": round(second, 4)})
            print(results[-1], flush=True)
    print(page(publish(args.out, {"threads": args.threads, "results": results}, page)))


if __name__ == "__main__":
    main()
