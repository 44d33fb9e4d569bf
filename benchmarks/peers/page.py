"""The page and the plot of `run.py`: what each method proved, how fast beside our search, and who disagrees.

python benchmarks/peers/page.py
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from marks import RESULTS, words  # noqa: E402

OUT = RESULTS / "peers.json"
TITLES = {
    "robust": "Robust trees, 100 rows",
    "robust, all rows": "Robust trees, all rows",
    "ordinary": "Ordinary trees (nothing shifts)",
    "boxes": "Boxes: every value may be off by one",
}
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
STYLES = ("-", "--", "-.", ":")
OURS = "search"
NO_PROOF = ("CART", "GROOT")  # greedy: they claim nothing
Row = dict[str, Any]


def main() -> None:
    """Write peers.md and peers.svg."""
    held = json.loads(OUT.read_text())
    rows = held["results"]
    disagreements = list(disagreeing(rows))
    OUT.with_suffix(".md").write_text("\n".join(page(held, rows, disagreements)) + "\n")
    draw(rows, held["seconds"])


def page(held: Row, rows: list[Row], disagreements: list[str]) -> Iterator[str]:
    """The text, in Markdown."""
    yield "# Peers side by side"
    yield ""
    yield (
        f"Measured with {words(held)}. Written by `benchmarks/peers/run.py` and `page.py`: the same table of whole "
        f"numbers, budget and depth for all, one thread, at most {held['seconds']:g} s, each run in its own process. "
        "Times are of learning alone, without imports. Each tree is judged by our adversary and by plain arithmetic "
        "(`judge.py`)."
    )
    yield ""
    yield "![Instances proved against time](peers.svg)"
    for group, title in TITLES.items():
        own = [row for row in rows if row["group"] == group]
        if own:
            yield from _group(title, own)
    yield ""
    yield f"## Where claims of optimality differ: {len(disagreements)}"
    yield ""
    yield from (f"* {line}" for line in disagreements)


def _group(title: str, rows: list[Row]) -> Iterator[str]:
    methods = list(dict.fromkeys(row["method"] for row in rows))
    ours = {row["case"]: row for row in rows if row["method"] == OURS}
    yield from ("", f"## {title}", "")
    head = ("method", "cases", "proved", "stopped", "failed", "wrong", "rows lost, mean")
    head += ("time / ours, where both proved: mean", "least", "most")
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for method in methods:
        own = [row for row in rows if row["method"] == method]
        ended = {name: sum(row["outcome"] == name for row in own) for name in ("proved", "stopped", "greedy")}
        failed = len(own) - sum(ended.values())
        best = {case: row["correct"] for case, row in ours.items() if row["outcome"] == "proved"}
        losses = [best[row["case"]] - row["correct"] for row in own if row["case"] in best and "correct" in row]
        wrong = sum(
            row["outcome"] == "proved" and best.get(row["case"], row["correct"]) != row["correct"] for row in own
        )
        ratios = [
            max(row["seconds"], 1e-4) / max(ours[row["case"]]["seconds"], 1e-4)
            for row in own
            if row["outcome"] == "proved" and ours.get(row["case"], {}).get("outcome") == "proved" and method != OURS
        ]
        cells = [_number(geometric(ratios)), _number(min(ratios)), _number(max(ratios))] if ratios else ["-"] * 3
        loss = f"{statistics.fmean(losses):.1f}" if losses else "-"
        proved = "-" if method in NO_PROOF else ended["proved"]
        line = [method, len(own), proved, ended["stopped"], failed, "-" if method in NO_PROOF else wrong, loss, *cells]
        yield "| " + " | ".join(map(str, line)) + " |"
    others = {
        row["case"]
        for row in rows
        if row["outcome"] == "proved" and row["method"] not in (OURS, "our Gurobi", "our SCIP")
    }
    alone = [case for case, row in ours.items() if row["outcome"] == "proved" and case not in others]
    yield ""
    yield f"Only our search proves {len(alone)} of {len(ours)}."
    messages = sorted({(row["method"], row["message"]) for row in rows if row["outcome"] == "failed"})
    yield from (f"\n{method} failed: {message}" for method, message in messages[:6])


def disagreeing(rows: list[Row]) -> Iterator[str]:
    """Cases that two methods call proved with different numbers."""
    proved: dict[tuple[str, str], dict[str, int]] = {}
    for row in rows:
        if row["outcome"] == "proved":
            proved.setdefault((row["group"], row["case"]), {})[row["method"]] = row["correct"]
    for (group, case), found in proved.items():
        if len(set(found.values())) > 1:
            yield f"{group}, {case}: " + ", ".join(f"{method} {correct}" for method, correct in found.items())


def geometric(ratios: list[float]) -> float:
    """Their geometric mean."""
    return math.exp(statistics.fmean(map(math.log, ratios)))


def _number(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


def draw(rows: list[Row], seconds: float) -> None:
    """Instances proved against time, a panel for each group."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "hardwood"
    from matplotlib import pyplot as plt

    groups = [group for group in TITLES if any(row["group"] == group for row in rows)]
    figure, axes = plt.subplots(1, len(groups), figsize=(4.2 * len(groups), 3.8), layout="constrained", squeeze=False)
    for axis, group in zip(axes[0], groups, strict=True):
        own = [row for row in rows if row["group"] == group]
        n_cases = len({row["case"] for row in own})
        methods = [name for name in dict.fromkeys(row["method"] for row in own) if name not in NO_PROOF]
        for k, method in enumerate(methods):
            times = sorted(row["seconds"] for row in own if row["method"] == method and row["outcome"] == "proved")
            places = [1e-4, *(max(t, 1e-4) for t in times), seconds]
            counts = [0, *range(1, len(times) + 1), len(times)]
            axis.step(places, counts, where="post", color=COLOURS[k % 7], linestyle=STYLES[k % 4], label=method)
        axis.set(xscale="log", xlabel="seconds", title=TITLES[group], ylim=(0, n_cases * 1.03))
        axis.title.set_fontsize("medium")
        axis.grid(alpha=0.3)
        axis.legend(frameon=False, fontsize="small")
    axes[0][0].set_ylabel("instances proved")
    figure.savefig(OUT.with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
