"""How much the exact search proves: a fixed sample of the paper's grid, one thread, a time limit for each instance.

    HARDWOOD_DATA=... python benchmarks/search.py [--half tuning] [--depth 3] [--seconds 60] [--processes 2]

The grid (search_grid.json) was drawn before the search was tuned: all tables, means and budgets of the paper,
48 instances at each depth. Half of it, marked "held out", was not looked at while the first version was tuned.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any

from hardwood.datasets import load_dataset
from hardwood.experiments.instances import problem_of
from hardwood.solvers.base import Limits, Status
from hardwood.solvers.search import SearchSolver

HERE = Path(__file__).parent


def run(instance: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Solve one instance and note what was proved."""
    dataset = load_dataset(instance["table"])
    posed = problem_of(dataset, instance["mean_certainty"], instance["plausibility"], instance["depth"])
    began = time.perf_counter()
    result = SearchSolver().solve(posed, limits=Limits(seconds=seconds))
    return instance | {
        "n_samples": posed.n_samples,
        "correct": result.worst_case_correct,
        "upper_bound": result.upper_bound,
        "branching_nodes": result.branching_nodes,
        "gap": result.gap,
        "status": str(result.status),
        "seconds": round(time.perf_counter() - began, 4),
        "work": result.work,
    }


def row(title: str, results: list[dict[str, Any]]) -> str:
    """A line of the table: share proved, median time, median gap of the others."""
    proved = sum(result["status"] == Status.OPTIMAL for result in results)
    robust = sum(result["gap"] == 0 for result in results)
    rest = [result["gap"] for result in results if result["gap"] > 0]
    gap = f"{statistics.median(rest):.1%}" if rest else "-"
    seconds = statistics.median(result["seconds"] for result in results)
    return f"| {title:13} | {len(results):9} | {proved:6} | {robust:15} | {seconds:8.3f} | {gap:>22} |"


def summary(results: list[dict[str, Any]]) -> str:
    """A table by depth and half of the grid."""
    titles = ["depth        ", "instances", "proved", "accuracy proved", "median s", "median gap of the rest"]
    lines = ["| " + " | ".join(titles) + " |", "|" + "|".join("-" * (len(title) + 2) for title in titles) + "|"]
    for depth in sorted({result["depth"] for result in results}):
        own = [result for result in results if result["depth"] == depth]
        halves = sorted({result["half"] for result in own})
        lines.append(row(str(depth), own))
        if len(halves) > 1:
            lines += [row(f"{depth}, {half}", [result for result in own if result["half"] == half]) for half in halves]
    return "\n".join(lines)


def main() -> None:
    """Run the instances that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=["tuning", "held out", "all"], default="all")
    parser.add_argument("--depth", type=int, nargs="*", default=[2, 3, 4, 5])
    parser.add_argument("--table", nargs="*")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--processes", type=int, default=1, help="instances at a time, one thread each")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "search.json")
    args = parser.parse_args()
    grid = json.loads((HERE / "search_grid.json").read_text())
    chosen = [
        instance
        for instance in grid
        if args.half in ("all", instance["half"])
        and instance["depth"] in args.depth
        and (not args.table or instance["table"] in args.table)
    ]
    args.out.parent.mkdir(exist_ok=True)
    results = []
    with ProcessPoolExecutor(args.processes) as pool:
        for result in pool.map(run, chosen, repeat(args.seconds)):
            results.append(result)
            print(
                f"{result['table']:16} depth {result['depth']} mean {result['mean_certainty']} "
                f"plausibility {result['plausibility']:4}: {result['correct']}/{result['upper_bound']} of "
                f"{result['n_samples']}, {result['branching_nodes']} tests, {result['status']}, "
                f"{result['seconds']:.2f} s",
                flush=True,
            )
            args.out.write_text(json.dumps({"seconds": args.seconds, "results": results}, indent=1) + "\n")
    print(summary(results))
    args.out.with_suffix(".md").write_text(summary(results) + "\n")


if __name__ == "__main__":
    main()
