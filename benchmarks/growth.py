"""How time and memory of the exact search grow with rows, tests, depth and classes: made-up surveys, one thread.

    python benchmarks/growth.py [--seconds 60] [--most-rows 10000000]

Each solve is a process of its own; seconds are processor time, memory is the largest that the search takes beyond the
encoded table. "Merged": ten yes/no questions, so that many rows are equal and count as one. "Distinct": eight
questions with eleven answers, most rows their own. Results go to benchmarks/results/growth.json, page and plot
to growth.md and growth.svg.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import hardwood as hw
from hardwood.solvers.base import Status
from marks import RESULTS, publish, words
from measuring import answer_call, in_process, solved

COLOURS = ("#0072b2", "#d55e00")  # told apart by colour-blind readers, too
OUT = RESULTS / "growth.json"
MERGED, DISTINCT = "rows, merged", "rows, distinct"
# Series: what grows, and the sizes that a problem has.
SERIES: dict[str, tuple[str, list[dict[str, int]]]] = {
    MERGED: ("rows", [{"rows": 10**k, "questions": 10, "depth": 3} for k in range(3, 8)]),
    DISTINCT: ("rows", [{"rows": 10**k, "questions": 8, "answers": 11, "depth": 3} for k in range(3, 8)]),
    "tests": ("questions", [{"rows": 1_000, "questions": q, "depth": 3} for q in (10, 20, 50, 100, 200, 500)]),
    "depth": ("depth", [{"rows": 1_000, "questions": 12, "depth": d} for d in (2, 3, 4, 5, 6)]),
    "classes": (
        "classes",
        [{"rows": 10_000, "questions": 8, "answers": 5, "depth": 3, "classes": c} for c in (2, 3, 4, 6, 8)],
    ),
}


def survey(rows: int, questions: int, depth: int, answers: int = 2, classes: int = 2) -> hw.Problem:
    """Correlated answers, a rule in three of them with a tenth of noise; certainty 0.6 to 0.95, plausibility 0.97."""
    rng = np.random.default_rng(questions)
    mood = rng.normal(size=(rows, 1))
    felt = mood + rng.normal(size=(rows, questions))
    values = np.clip(np.floor(felt * answers / 4 + answers / 2), 0, answers - 1).astype(np.int32)
    high = values >= answers / 2
    y = ((high[:, 0] & high[:, 1]) | high[:, 2]).astype(np.int64)
    if classes > 2:  # bands of three answers together
        band = values[:, :3].sum(axis=1) / (3 * (answers - 1))
        y = np.minimum((band * classes).astype(np.int64), classes - 1)
    y = np.where(rng.random(rows) < 0.1, rng.integers(0, classes, rows), y)
    table = hw.encode(values)
    uncertainty = hw.UncertaintySet.calibrated(table, certainty=rng.uniform(0.6, 0.95, questions), plausibility=0.97)
    return hw.Problem(hw.encode_labels(y, rows), uncertainty, depth)


def grown(size: dict[str, int], seconds: float) -> dict[str, Any]:
    """One solve, in this process."""
    problem = survey(**size)
    both = np.column_stack([problem.table.values, problem.labels.codes])
    return size | {"distinct": len(np.unique(both, axis=0))} | solved(problem, seconds)


def page(document: dict[str, Any]) -> str:
    """The results as tables."""
    lines = [
        "# How the search grows",
        "",
        f"Measured with {words(document)}; limit {document['seconds']:g} s. Written by `benchmarks/growth.py`: "
        "made-up surveys, one thread, processor time to the proof (size included), and the largest memory that the "
        "search takes beyond the encoded table.",
        "",
        "![Time and memory against rows, tests, depth and classes](growth.svg)",
    ]
    for name, records in document["series"].items():
        lines += ["", f"## {name.capitalize()}", ""]
        lines += ["| rows | distinct | tests | depth | classes | s | ended | MB | times the table |"]
        lines += ["|---" * 9 + "|"]
        for r in records:
            ended = "proved" if r["status"] == Status.OPTIMAL else f"gap {r['gap']:.2%}"
            lines.append(
                f"| {r['rows']:,} | {r['distinct']:,} | {r['n_tests']} | {r['depth']} | {r.get('classes', 2)} "
                f"| {r['seconds']:.3g} | {ended} | {r['memory'] / 1e6:.0f} | {r['memory'] / r['encoded']:.1f} |"
            )
    return "\n".join(lines) + "\n"


def headline(document: dict[str, Any]) -> str:
    """The largest tables in a sentence."""
    told = []
    for name in (MERGED, DISTINCT):
        last = document["series"][name][-1]
        ended = "proved" if last["status"] == Status.OPTIMAL else f"within {last['gap']:.2%} of the bound"
        spent = f"{last['seconds']:.1f} s with {last['memory'] / 1e6:,.0f} MB"
        told.append(f"{last['rows']:,} rows, {last['distinct']:,} of them different: {ended} after {spent}")
    return "; ".join(told)


def draw(document: dict[str, Any]) -> None:
    """Time above, memory below; a hollow mark is a search that was stopped before it had a proof."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "hardwood"
    from matplotlib import pyplot as plt

    series = document["series"]
    panels = [("rows (depth 3)", [MERGED, DISTINCT])]
    panels += [("tests (1,000 rows, depth 3)", ["tests"]), ("depth (1,000 rows, 12 tests)", ["depth"])]
    panels += [("classes (10,000 rows, depth 3)", ["classes"])]
    figure, axes = plt.subplots(2, 4, figsize=(12, 6), layout="constrained", sharey="row", sharex="col")
    for column, (title, names) in enumerate(panels):
        for name, colour in zip(names, COLOURS, strict=False):
            where = [record[SERIES[name][0]] for record in series[name]]
            for axis, key, unit in ((axes[0][column], "seconds", 1.0), (axes[1][column], "memory", 1e6)):
                heights = [record[key] / unit for record in series[name]]
                axis.plot(where, heights, color=colour, label=name.removeprefix("rows, "))
                for x, height, record in zip(where, heights, series[name], strict=True):
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
    parser.add_argument("--most-rows", type=int, default=10**7)
    parser.add_argument("--call", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.call:
        answer_call(args.call, [grown])
        return
    series: dict[str, list[dict[str, Any]]] = {}
    for name, (_, sizes) in SERIES.items():
        series[name] = []
        for size in (size for size in sizes if size["rows"] <= args.most_rows):
            series[name].append(in_process(__file__, "grown", size, args.seconds, repeats=3))
            print(name, series[name][-1], flush=True)
        document = publish(OUT, {"seconds": args.seconds, "series": series}, page)
    draw(document)


if __name__ == "__main__":
    main()
