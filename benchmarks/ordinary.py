"""The ordinary optimal tree (plausibility 1): the search beside pystreed, on the same tests, in one run.

    HARDWOOD_DATA=... python benchmarks/ordinary.py [--depth 3 4 5] [--table kr-vs-kp]

pystreed (extra `bench`) finds ordinary optimal trees by dynamic programming and knows nothing of shifts. It gets one
0/1 column for each test that the search may use. Times are the best of three. Results go to results/ordinary.json, a
table to results/ordinary.md.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

import hardwood as hw
from hardwood.datasets import PAPER_DATASETS, load_dataset
from hardwood.experiments.instances import split_of
from hardwood.solvers.search import SearchSolver

HERE = Path(__file__).parent
REPEATS = 3


def columns_of_tests(problem: hw.Problem) -> np.ndarray:
    """What each test says about each sample, as 0/1 columns."""
    said = [test.goes_left(problem.table) for test in problem.tests]
    return np.asarray(said, dtype=np.int32).T


def fastest(solve: Any) -> tuple[float, Any]:
    """The best time of a few, and the last result."""
    times, result = [], None
    for _ in range(REPEATS):
        began = time.perf_counter()
        result = solve()
        times.append(time.perf_counter() - began)
    return min(times), result


def compare(name: str, depth: int) -> dict[str, Any]:
    """Both on one table."""
    from pystreed import STreeDClassifier

    split = split_of(load_dataset(name))
    table, labels = split.table, split.labels
    uncertainty = hw.UncertaintySet.calibrated(table, certainty=0.9, plausibility=1.0)
    problem = hw.Problem(labels, uncertainty, depth, branch_penalty=0.0)
    ours_seconds, ours = fastest(lambda: SearchSolver().solve(problem))
    tests = columns_of_tests(problem)
    theirs_seconds, theirs = fastest(
        lambda: STreeDClassifier("accuracy", max_depth=depth, time_limit=600).fit(tests, labels.codes)
    )
    return {
        "table": name,
        "depth": depth,
        "n_samples": problem.n_samples,
        "n_tests": tests.shape[1],
        "correct": ours.worst_case_correct,
        "status": str(ours.status),
        "pystreed_correct": round(theirs.score(tests, labels.codes) * problem.n_samples),
        "seconds": round(ours_seconds, 4),
        "pystreed_seconds": round(theirs_seconds, 4),
    }


def table(results: list[dict[str, Any]]) -> str:
    """Times side by side, and the geometric mean of their ratios at each depth."""
    lines = [
        "| table | depth | samples | tests | correct | s | pystreed: correct | s | ratio |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['table']} | {r['depth']} | {r['n_samples']} | {r['n_tests']} | {r['correct']} | {r['seconds']:.4f} | "
        f"{r['pystreed_correct']} | {r['pystreed_seconds']:.4f} | {r['seconds'] / r['pystreed_seconds']:.2f} |"
        for r in results
    ]
    lines += [f"\nDepth {depth}: {mean_ratio(results, depth)}\n" for depth in sorted({r["depth"] for r in results})]
    return "\n".join(lines)


def mean_ratio(results: list[dict[str, Any]], depth: int) -> str:
    """The geometric mean of the ratios at a depth, in words."""
    ratios = [r["seconds"] / r["pystreed_seconds"] for r in results if r["depth"] == depth]
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    return f"geometric mean of the ratios {mean:.2f}, largest {max(ratios):.2f}"


def main() -> None:
    """Run the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=int, nargs="*", default=[3, 4, 5])
    parser.add_argument("--table", nargs="*", default=PAPER_DATASETS)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "ordinary.json")
    args = parser.parse_args()
    results = []
    for depth in args.depth:
        for name in args.table:
            result = compare(name, depth)
            results.append(result)
            ratio = result["seconds"] / result["pystreed_seconds"]
            print(
                f"{name:16} depth {depth}: {result['correct']} / {result['pystreed_correct']} of "
                f"{result['n_samples']} correct, {result['seconds']:.4f} s / {result['pystreed_seconds']:.4f} s "
                f"(ratio {ratio:.2f})",
                flush=True,
            )
        print(f"depth {depth}: {mean_ratio(results, depth)}")
    different = [result for result in results if result["correct"] != result["pystreed_correct"]]
    if different:
        raise RuntimeError(f"two exact solvers disagree: {different}")
    args.out.parent.mkdir(exist_ok=True)
    args.out.write_text(json.dumps(results, indent=1) + "\n")
    args.out.with_suffix(".md").write_text(table(results))


if __name__ == "__main__":
    main()
