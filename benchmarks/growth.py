"""How time and memory of the search grow with rows, candidate splits, depth and classes: synthetic surveys, one thread.

    python -m benchmarks.growth [--seconds 60] [--max-rows 10000000]
    python -m benchmarks.growth --draw      # redraw growth.svg from the recorded results

Each solve is a process of its own; seconds are processor time, memory is the peak that the search takes beyond the
encoded table. "Merged": ten binary columns, so that many rows are equal and are merged. "Distinct": eight columns with
eleven values, so that most rows are distinct. Results go to benchmarks/results/growth.json, page and plot to growth.md
and growth.svg.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import hardwood as hw
from benchmarks.measuring import in_process, measure_solve, run_call
from benchmarks.records import RESULTS, load, provenance_text, publish
from hardwood.solvers.base import Status

COLOURS = ("#0072b2", "#d55e00")  # distinguishable with colour blindness
OUT = RESULTS / "growth.json"
MERGED, DISTINCT, SPLITS = "rows, merged", "rows, distinct", "candidate splits"
# Series: the varied size, and the sizes of the problems. The keys are parameters of `survey`.
SERIES: dict[str, tuple[str, list[dict[str, int]]]] = {
    MERGED: ("rows", [{"rows": 10**k, "n_columns": 10, "depth": 3} for k in range(3, 8)]),
    DISTINCT: ("rows", [{"rows": 10**k, "n_columns": 8, "n_values": 11, "depth": 3} for k in range(3, 8)]),
    SPLITS: ("n_columns", [{"rows": 1_000, "n_columns": q, "depth": 3} for q in (10, 20, 50, 100, 200, 500)]),
    "depth": ("depth", [{"rows": 1_000, "n_columns": 12, "depth": d} for d in (2, 3, 4, 5, 6)]),
    "classes": (
        "classes",
        [{"rows": 10_000, "n_columns": 8, "n_values": 5, "depth": 3, "classes": c} for c in (2, 3, 4, 6, 8)],
    ),
}


def survey(rows: int, n_columns: int, depth: int, n_values: int = 2, classes: int = 2) -> hw.Problem:
    """Generate correlated columns, and labels by a rule of three columns with 10 % noise.

    Certainties are 0.6 to 0.95, the plausibility is 0.97.
    """
    rng = np.random.default_rng(n_columns)
    common = rng.normal(size=(rows, 1))
    scores = common + rng.normal(size=(rows, n_columns))
    values = np.clip(np.floor(scores * n_values / 4 + n_values / 2), 0, n_values - 1).astype(np.int32)
    high = values >= n_values / 2
    y = ((high[:, 0] & high[:, 1]) | high[:, 2]).astype(np.int64)
    if classes > 2:  # bands of the sum of three columns
        band = values[:, :3].sum(axis=1) / (3 * (n_values - 1))
        y = np.minimum((band * classes).astype(np.int64), classes - 1)
    y = np.where(rng.random(rows) < 0.1, rng.integers(0, classes, rows), y)
    table = hw.encode(values)
    uncertainty = hw.UncertaintySet.calibrated(table, certainty=rng.uniform(0.6, 0.95, n_columns), plausibility=0.97)
    return hw.Problem(hw.encode_labels(y, rows), uncertainty, depth)


def solve_size(size: dict[str, int], seconds: float) -> dict[str, Any]:
    """Solve a problem of a given size, in this process."""
    problem = survey(**size)
    both = np.column_stack([problem.table.values, problem.labels.codes])
    return size | {"distinct": len(np.unique(both, axis=0))} | measure_solve(problem, seconds)


def page(document: dict[str, Any]) -> str:
    """Return the page of the results."""
    lines = [
        "# Time and memory by problem size",
        "",
        f"Measured with {provenance_text(document)}; limit {document['seconds']:g} s. Written by "
        "`benchmarks/growth.py`: synthetic surveys, one thread, processor time to the proof of optimality and "
        "minimality, and the peak memory that the search takes beyond the encoded table.",
        "",
        "![Time and memory against rows, candidate splits, depth and classes](growth.svg)",
    ]
    for name, records in document["series"].items():
        lines += ["", f"## {name.capitalize()}", ""]
        lines += ["| rows | distinct | splits | depth | classes | s | status | MB | times the table |"]
        lines += ["|---" * 9 + "|"]
        for r in records:
            status = "proved" if r["status"] == Status.OPTIMAL else f"gap {r['gap']:.2%}"
            lines.append(
                f"| {r['rows']:,} | {r['distinct']:,} | {r['n_splits']} | {r['depth']} | {r.get('classes', 2)} "
                f"| {r['seconds']:.3g} | {status} | {r['memory'] / 1e6:.0f} | {r['memory'] / r['encoded']:.1f} |"
            )
    return "\n".join(lines) + "\n"


def headline(document: dict[str, Any]) -> str:
    """Return the largest tables in one sentence."""
    parts = []
    for name in (MERGED, DISTINCT):
        last = document["series"][name][-1]
        status = "proved" if last["status"] == Status.OPTIMAL else f"within {last['gap']:.2%} of the bound"
        spent = f"{last['seconds']:.1f} s with {last['memory'] / 1e6:,.0f} MB"
        parts.append(f"{last['rows']:,} rows, {last['distinct']:,} of them distinct: {status} after {spent}")
    return "; ".join(parts)


def draw(document: dict[str, Any]) -> None:
    """Draw time above and memory below; a hollow marker is a search that was stopped without a proof."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "hardwood"
    from matplotlib import pyplot as plt

    series = document["series"]
    panels = [("rows (depth 3)", [MERGED, DISTINCT])]
    panels += [("splits (1,000 rows, depth 3)", [SPLITS]), ("depth (1,000 rows, 12 splits)", ["depth"])]
    panels += [("classes (10,000 rows, depth 3)", ["classes"])]
    figure, axes = plt.subplots(2, 4, figsize=(12, 6), layout="constrained", sharey="row", sharex="col")
    for column, (title, names) in enumerate(panels):
        for name, colour in zip(names, COLOURS, strict=False):
            sizes = [record[SERIES[name][0]] for record in series[name]]
            for axis, key, unit in ((axes[0][column], "seconds", 1.0), (axes[1][column], "memory", 1e6)):
                heights = [record[key] / unit for record in series[name]]
                axis.plot(sizes, heights, color=colour, label=name.removeprefix("rows, "))
                for x, height, record in zip(sizes, heights, series[name], strict=True):
                    face = colour if record["status"] == Status.OPTIMAL else "white"
                    axis.plot(x, height, "o", color=colour, markerfacecolor=face)
        axes[0][column].axhline(document["seconds"], color="grey", linewidth=0.8, linestyle=":")
        axes[1][column].set(xlabel=title)
        for axis in axes[:, column]:
            axis.set(yscale="log")
            axis.grid(alpha=0.3)
    axes[0][0].set(ylabel="seconds", xscale="log")
    axes[1][0].set(ylabel="MB")
    axes[0][1].set(xscale="log")
    axes[0][0].legend(frameon=False)
    figure.savefig(OUT.with_suffix(".svg"), metadata={"Date": None})


def main() -> None:
    """Measure all series and draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--max-rows", type=int, default=10**7)
    parser.add_argument("--draw", action="store_true", help="redraw the plot from the recorded results")
    parser.add_argument("--call", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.call:
        run_call(args.call, [solve_size])
        return
    if args.draw:
        draw(load(OUT))
        return
    series: dict[str, list[dict[str, Any]]] = {}
    for name, (_, sizes) in SERIES.items():
        series[name] = []
        for size in (size for size in sizes if size["rows"] <= args.max_rows):
            series[name].append(in_process("benchmarks.growth", "solve_size", size, args.seconds, repeats=3))
            print(name, series[name][-1], flush=True)
        document = publish(OUT, {"seconds": args.seconds, "series": series}, page)
    draw(document)


if __name__ == "__main__":
    main()
