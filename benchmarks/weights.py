"""The cost of sample weights and class weights, on the paper's twelve tables, in one run.

    HARDWOOD_DATA=... python -m benchmarks.weights [--depth 3] [--seconds 60] [--out FILE.json]

Each table is solved in four variants. "plain": without weights. "weights": sample weights, drawn once (seed 17) from a
log-normal distribution as design weights are; none is an integer. "nearly": the class weights rise by 0.01 from class
to class, so the problem is nearly the plain one but uses class weights. "balanced": class_weight="balanced", which is
another problem. Certainty and plausibility are two settings of the paper's grid. Seconds are processor time of the
search with one thread, one problem at a time; the best of `--repeats` runs counts.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import geometric_mean
from benchmarks.records import RESULTS, provenance_text, publish
from hardwood.data.labels import with_class_weight
from hardwood.datasets import PAPER_DATASETS, load_dataset
from hardwood.experiments.instances import problem_of
from hardwood.problem import Problem
from hardwood.shifts.uncertainty_set import UncertaintySet
from hardwood.solvers.base import Limits, Status
from hardwood.solvers.search import SearchSolver

SETTINGS = ((0.9, 0.85), (0.8, 0.95))
VARIANTS = ("plain", "weights", "nearly", "balanced")


def problem(name: str, certainty: float, plausibility: float, depth: int, variant: str) -> Problem:
    """Return a problem of the grid in a variant."""
    plain = problem_of(load_dataset(name), certainty, plausibility, depth)
    labels, uncertainty = plain.labels, plain.uncertainty
    if variant == "weights":
        drawn = np.random.default_rng(17).lognormal(sigma=0.5, size=plain.n_samples)
        labels = replace(labels, weights=drawn)
        uncertainty = UncertaintySet(uncertainty.costs, uncertainty.budget * labels.total_weight / plain.n_samples)
    if variant == "nearly":
        labels = replace(labels, class_weights=tuple(1.0 + 0.01 * k for k in range(len(labels.classes))))
    if variant == "balanced":
        labels = with_class_weight(labels, "balanced")
    return Problem(labels, uncertainty, depth)


def run(problem: Problem, seconds: float, repeats: int) -> dict[str, Any]:
    """Solve a problem; return the least processor time of some runs, and the result."""
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
        "branching_nodes": result.branching_nodes,
        "work": result.work,
    }


def page(document: dict[str, Any]) -> str:
    """Return the page of the results."""
    results = document["results"]
    lines = [
        "# The cost of sample weights and class weights",
        "",
        f"Measured with {provenance_text(document)}; written by `benchmarks/weights.py`: depth {document['depth']}, "
        f"limit {document['seconds']:g} s.",
        "",
        f"| table | certainty, plausibility | {' | '.join(f'{variant}, s' for variant in VARIANTS)} | "
        f"{' | '.join(f'{variant}: ratio' for variant in VARIANTS[1:])} |",
        "|---|---|" + "---|" * (2 * len(VARIANTS) - 1),
    ]
    for result in results:
        times = [result[variant]["seconds"] for variant in VARIANTS]
        ends = ["" if result[variant]["proved"] else " (not proved)" for variant in VARIANTS]
        cells = [f"{seconds:.3f}{end}" for seconds, end in zip(times, ends, strict=True)]
        ratios = [f"{seconds / times[0]:.2f}" for seconds in times[1:]]
        lines.append(
            f"| {result['table']} | {result['certainty']}, {result['plausibility']} | {' | '.join(cells + ratios)} |"
        )
    sums = {variant: sum(result[variant]["seconds"] for result in results) for variant in VARIANTS}
    lines += ["", f"Geometric means: {headline(document)}."]
    lines += [f"Sums: {', '.join(f'{variant} {seconds:.2f} s' for variant, seconds in sums.items())}."]
    return "\n".join(lines) + "\n"


def headline(document: dict[str, Any]) -> str:
    """Return the mean time of each variant relative to the plain problem."""
    results = document["results"]
    means = {
        variant: geometric_mean(r[variant]["seconds"] / r["plain"]["seconds"] for r in results)
        for variant in VARIANTS[1:]
    }
    return f"{', '.join(f'{variant} {mean:.2f}' for variant, mean in means.items())} times the plain problem"


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
            result: dict[str, Any] = {"table": name, "certainty": certainty, "plausibility": plausibility}
            for variant in VARIANTS:
                posed = problem(name, certainty, plausibility, args.depth, variant)
                result[variant] = run(posed, args.seconds, args.repeats)
            results.append(result)
            times = (f"{variant} {result[variant]['seconds']:.3f}" for variant in VARIANTS)
            print(name, certainty, plausibility, *times, flush=True)
    content = {"depth": args.depth, "seconds": args.seconds, "results": results}
    print(page(publish(args.out, content, page)))


if __name__ == "__main__":
    main()
