"""What weights and worth cost: the paper's twelve tables, each solved plainly, with weights, and balanced, in one run.

    HARDWOOD_DATA=... python benchmarks/weights.py [--depth 3] [--seconds 60] [--out FILE.json]

Weights are drawn once (seed 17) from a log-normal distribution, as design weights are: real numbers, none of them
whole. "Nearly" makes each class worth a hundredth more than the one before: nearly the same question, reckoned with
worth. "Balanced" is class_weight="balanced", which is another question. Certainty and plausibility are two settings of
the paper's grid. CPU seconds of the search, one thread, one problem at a time, the ways after one another; the best of
`--repeats` runs counts.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hardwood.data.labels import with_worth
from hardwood.datasets import PAPER_DATASETS, load_dataset
from hardwood.experiments.instances import problem_of
from hardwood.problem import Problem
from hardwood.shift.uncertainty import UncertaintySet
from hardwood.solvers.base import Limits, Status
from hardwood.solvers.search import SearchSolver
from marks import RESULTS, publish, words
from measuring import geometric_mean

SETTINGS = ((0.9, 0.85), (0.8, 0.95))
WAYS = ("plain", "weights", "nearly", "balanced")


def posed(name: str, certainty: float, plausibility: float, depth: int, way: str) -> Problem:
    """A problem of the grid, as it is or with weights or worth."""
    plain = problem_of(load_dataset(name), certainty, plausibility, depth)
    labels, uncertainty = plain.labels, plain.uncertainty
    if way == "weights":
        drawn = np.random.default_rng(17).lognormal(sigma=0.5, size=plain.n_samples)
        labels = replace(labels, weights=drawn)
        uncertainty = UncertaintySet(uncertainty.costs, uncertainty.budget * labels.people / plain.n_samples)
    if way == "nearly":
        labels = replace(labels, worth=tuple(1.0 + 0.01 * k for k in range(len(labels.classes))))
    if way == "balanced":
        labels = with_worth(labels, "balanced")
    return Problem(labels, uncertainty, depth)


def run(problem: Problem, seconds: float, repeats: int) -> dict[str, Any]:
    """Solve it; the least CPU time of some runs, and what was proved."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        result = SearchSolver().solve(problem, limits=Limits(seconds=seconds))
        times.append(time.process_time() - began)
        if times[-1] > 5.0:
            break
    return {
        "seconds": round(min(times), 4),
        "proved": result.status is Status.OPTIMAL,
        "worst_case": result.worst_case_correct / problem.total,
        "gap": result.gap,
        "tests": result.branching_nodes,
        "work": result.work,
    }


def page(document: dict[str, Any]) -> str:
    """The results as a table."""
    results = document["results"]
    lines = [
        "# What weights and worth cost",
        "",
        f"Measured with {words(document)}; written by `benchmarks/weights.py`: depth {document['depth']}, limit "
        f"{document['seconds']:g} s.",
        "",
        f"| table | certainty, plausibility | {' | '.join(f'{way}, s' for way in WAYS)} | "
        f"{' | '.join(f'{way}: ratio' for way in WAYS[1:])} |",
        "|---|---|" + "---|" * (2 * len(WAYS) - 1),
    ]
    for result in results:
        own = [result[way]["seconds"] for way in WAYS]
        ends = ["" if result[way]["proved"] else " (not proved)" for way in WAYS]
        cells = [f"{seconds:.3f}{end}" for seconds, end in zip(own, ends, strict=True)]
        shares = [f"{seconds / own[0]:.2f}" for seconds in own[1:]]
        lines.append(
            f"| {result['table']} | {result['certainty']}, {result['plausibility']} | {' | '.join(cells + shares)} |"
        )
    sums = {way: sum(result[way]["seconds"] for result in results) for way in WAYS}
    lines += ["", f"Geometric means: {headline(document)}."]
    lines += [f"All together: {', '.join(f'{way} {seconds:.2f} s' for way, seconds in sums.items())}."]
    return "\n".join(lines) + "\n"


def headline(document: dict[str, Any]) -> str:
    """What each way costs on the average."""
    ratios = {way: [r[way]["seconds"] / r["plain"]["seconds"] for r in document["results"]] for way in WAYS[1:]}
    return f"{', '.join(f'{way} {geometric_mean(own):.2f}' for way, own in ratios.items())} times the plain run"


def main() -> None:
    """Run all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--table", nargs="*", default=list(PAPER_DATASETS))
    parser.add_argument("--out", type=Path, default=RESULTS / "weights.json")
    args = parser.parse_args()
    results = []
    for name in args.table:
        for certainty, plausibility in SETTINGS:
            own: dict[str, Any] = {"table": name, "certainty": certainty, "plausibility": plausibility}
            for way in WAYS:
                own[way] = run(posed(name, certainty, plausibility, args.depth, way), args.seconds, args.repeats)
            results.append(own)
            print(name, certainty, plausibility, *(f"{way} {own[way]['seconds']:.3f}" for way in WAYS), flush=True)
    content = {"depth": args.depth, "seconds": args.seconds, "results": results}
    print(page(publish(args.out, content, page)))


if __name__ == "__main__":
    main()
