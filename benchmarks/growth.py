"""How the time of the exact search grows with rows, tests and depth: made-up survey tables, one thread, as a plot.

    python benchmarks/growth.py [--seconds 60]

Results go to benchmarks/results/growth.json and growth.svg (needs the extra `bench`).
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import hardwood as hw
from hardwood.solvers.base import Limits, Status
from hardwood.solvers.search import SearchSolver

RESULTS = Path(__file__).parent / "results"
COLOURS = ("#0072b2", "#d55e00")  # told apart by colour-blind readers, too


def survey(n_samples: int, n_questions: int, depth: int) -> hw.Problem:
    """Yes/no questions with correlated answers, a rule in three of them, a tenth of noise; certainty 0.6 to 0.95."""
    rng = np.random.default_rng([n_questions, depth])
    mood = rng.normal(size=(n_samples, 1))
    values = (mood + rng.normal(size=(n_samples, n_questions)) > 0).astype(np.int32)
    y = (values[:, 0] & values[:, 1]) | values[:, 2]
    y = np.where(rng.random(n_samples) < 0.1, 1 - y, y)
    table = hw.encode(values)
    uncertainty = hw.UncertaintySet.calibrated(table, certainty=rng.uniform(0.6, 0.95, n_questions), plausibility=0.97)
    return hw.Problem(hw.encode_labels(y, n_samples), uncertainty, depth)


def measure(seconds: float, **size: int) -> dict[str, Any]:
    """Solve one table."""
    problem = survey(**size)
    n_distinct = len(np.unique(np.column_stack([problem.table.values, problem.labels.codes]), axis=0))
    began = time.perf_counter()
    result = SearchSolver().solve(problem, limits=Limits(seconds=seconds))
    record = size | {
        "n_distinct": n_distinct,
        "seconds": round(time.perf_counter() - began, 4),
        "status": str(result.status),
        "gap": result.gap,
    }
    print(record, flush=True)
    return record


def draw(series: dict[str, list[dict[str, Any]]], seconds: float) -> None:
    """Three panels; a hollow mark is a search that was stopped before it had a proof."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "hardwood"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharey=True)
    panels = [
        (axes[0], "n_samples", "rows", ["10 questions", "18 questions"]),
        (axes[1], "n_questions", "tests (1,000 rows, depth 3)", ["tests"]),
        (axes[2], "depth", "depth (1,000 rows, 12 tests)", ["depth"]),
    ]
    for axis, key, title, names in panels:
        for name, colour in zip(names, COLOURS, strict=False):
            records = series[name]
            axis.plot([r[key] for r in records], [r["seconds"] for r in records], color=colour, label=name)
            for record in records:
                proved = record["status"] == Status.OPTIMAL
                face = colour if proved else "white"
                axis.plot(record[key], record["seconds"], "o", color=colour, markerfacecolor=face)
        axis.set(xlabel=title, yscale="log")
        axis.axhline(seconds, color="grey", linewidth=0.8, linestyle=":")
        axis.grid(alpha=0.3)
    axes[0].set(xscale="log", ylabel="seconds")
    axes[0].legend(frameon=False)
    figure.savefig(RESULTS / "growth.svg", metadata={"Date": None})


def main() -> None:
    """Measure all series and draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    rows = (1_000, 10_000, 100_000, 1_000_000)
    series = {
        "10 questions": [measure(seconds, n_samples=n, n_questions=10, depth=3) for n in rows],
        "18 questions": [measure(seconds, n_samples=n, n_questions=18, depth=3) for n in rows],
        "tests": [measure(seconds, n_samples=1_000, n_questions=q, depth=3) for q in (5, 10, 20, 40, 80)],
        "depth": [measure(seconds, n_samples=1_000, n_questions=12, depth=d) for d in (1, 2, 3, 4, 5)],
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "growth.json").write_text(json.dumps({"seconds": seconds, "series": series}, indent=1) + "\n")
    draw(series, seconds)


if __name__ == "__main__":
    main()
