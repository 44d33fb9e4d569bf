"""The page and the plot of `run.py`: what each method proved, how fast beside our search, and who disagrees.

python benchmarks/peers/page.py
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from marks import RESULTS, words
from measuring import geometric_mean

OUT = RESULTS / "peers.json"
TITLES = {
    "robust": "Robust trees, at most 100 rows",
    "robust, all rows": "Robust trees, all rows",
    "ordinary": "Ordinary trees (nothing shifts)",
    "boxes": "Boxes: every value may be off by one",
}
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
STYLES = ("-", "--", "-.", ":")
OURS, THEIRS, PYSTREED, ROCT = "search", "ODTLearn, Gurobi", "pystreed", "ROCT"
GROOT, OUR_GROOT = "GROOT", "our GROOT"
OWN_ENGINES = (OURS, "our Gurobi", "our SCIP", OUR_GROOT)
SURVEYS = ("anes96", "fair", "nhanes")
LEAST = 1e-4  # seconds; less cannot be told apart
Row = dict[str, Any]


@dataclass(frozen=True)
class Standing:
    """How a method stands in a group of cases, beside our search."""

    method: str
    rows: list[Row]
    best: dict[str, int]  # what our search proved, by case
    ratios: list[float]  # time beside ours, where both have a proof

    def ended(self, *outcomes: str) -> int:
        """How many cases ended so."""
        return sum(row["outcome"] in outcomes for row in self.rows)

    @property
    def is_greedy(self) -> bool:
        """Whether it claims nothing."""
        return self.ended("greedy") > 0

    @property
    def losses(self) -> list[int]:
        """Rows that its trees keep less than the best."""
        own = [row for row in self.rows if row["case"] in self.best and "correct" in row]
        return [self.best[row["case"]] - row["correct"] for row in own]

    @property
    def wrong(self) -> int:
        """Claims of optimality that our search refutes, or that refute it."""
        own = [row for row in self.rows if row["outcome"] == "proved"]
        return sum(self.best.get(row["case"], row["correct"]) != row["correct"] for row in own)


def standings(rows: list[Row], group: str) -> dict[str, Standing]:
    """All methods of a group, in the order in which they ran."""
    own = [row for row in rows if row["group"] == group]
    ours = {row["case"]: row for row in own if row["method"] == OURS and row["outcome"] == "proved"}
    found = {}
    for method in dict.fromkeys(row["method"] for row in own):
        theirs = [row for row in own if row["method"] == method]
        ratios = [
            beside(row, ours[row["case"]]) for row in theirs if row["outcome"] == "proved" and row["case"] in ours
        ]
        found[method] = Standing(method, theirs, {case: row["correct"] for case, row in ours.items()}, ratios)
    return found


def beside(row: Row, other: Row) -> float:
    """One time as a multiple of another."""
    return float(max(row["seconds"], LEAST) / max(other["seconds"], LEAST))


def alone(rows: list[Row], group: str) -> tuple[int, int] | None:
    """How many cases no other package proves, and how many others were given; None if they were given none."""
    own = [row for row in rows if row["group"] == group]
    given = {row["case"] for row in own if row["method"] not in OWN_ENGINES and row["outcome"] != "greedy"}
    proved = {row["case"] for row in own if row["method"] not in OWN_ENGINES and row["outcome"] == "proved"}
    ours = {row["case"] for row in own if row["method"] == OURS and row["outcome"] == "proved"}
    return (len((ours & given) - proved), len(given)) if given else None


def survey_ratios(rows: list[Row]) -> list[float]:
    """Our robust proofs on whole surveys, beside pystreed's ordinary tree of the same table and depth."""
    ordinary = {row["case"]: row for row in rows if row["method"] == PYSTREED and row["outcome"] == "proved"}
    ours = [
        row for row in rows if (row["group"], row["method"], row["outcome"]) == ("robust, all rows", OURS, "proved")
    ]
    pairs = [(row, f"{row['case'].split('/')[0]}/d{row['depth']}") for row in ours]
    return [beside(row, ordinary[case]) for row, case in pairs if case.split("/")[0] in SURVEYS and case in ordinary]


def page(document: dict[str, Any]) -> str:
    """The text, in Markdown."""
    return "\n".join(_parts(document)) + "\n"


def _parts(document: dict[str, Any]) -> Iterator[str]:
    rows = document["results"]
    yield "# Peers side by side"
    yield ""
    yield (
        f"Measured with {words(document)}. Written by `make bench-peers`: the same table of whole numbers, budget "
        f"and depth for all, one thread, at most {document['seconds']:g} s, each run in a process of its own, after "
        "a tiny task that is not counted. Times are by the clock, from an array of numbers to the tree; packages that "
        "want columns of 0 and 1 get them ready-made. Proved is what a package's solver calls optimal. Trees are "
        "judged by our adversary and by plain arithmetic (`judge.py`), which must agree; of packages that keep "
        "their trees to themselves, predictions are counted. Hung: no answer long after the limit. GOSDT is run "
        "with a penalty for leaves that is far below what it recommends, so that accuracy alone decides, as for "
        "the others; it is made for larger ones."
    )
    yield ""
    yield "![Instances proved against time](peers.svg)"
    yield ""
    yield from _aims(rows)
    for group, title in TITLES.items():
        if any(row["group"] == group for row in rows):
            yield from _group(title, rows, group)
    disagreements = list(disagreeing(rows))
    yield ""
    yield f"## Where claims of optimality differ: {len(disagreements)}"
    yield ""
    yield from (f"* {line}" for line in disagreements)


def _aims(rows: list[Row]) -> Iterator[str]:
    """What was aimed at, and what came."""
    yield "| aim | measured |"
    yield "|---|---|"
    gurobi = standings(rows, "robust").get(THEIRS)
    if gurobi and gurobi.ratios:
        yield (
            f"| 100 times faster than ODTLearn with Gurobi wherever it has a proof | {min(gurobi.ratios):,.0f} to "
            f"{max(gurobi.ratios):,.0f} times on {len(gurobi.ratios)} instances |"
        )
    deep = [row for row in rows if row["depth"] >= 3]
    pystreed = standings(deep, "ordinary").get(PYSTREED)
    if pystreed and pystreed.ratios:
        yield (
            "| no slower than pystreed where nothing shifts (geometric mean, depth 3 to 5) | pystreed takes "
            f"{geometric_mean(pystreed.ratios):.2f} times as long on {len(pystreed.ratios)} instances |"
        )
    ratios = survey_ratios(rows)
    if ratios:
        yield (
            "| robust proof within 10 times pystreed's ordinary time on surveys, depth 2 and 3 | "
            f"{geometric_mean(ratios):.1f} times (geometric mean of {len(ratios)}; {min(ratios):.2g} to "
            f"{max(ratios):.2g}, above 10 in {sum(ratio > 10 for ratio in ratios)}) |"
        )


def _group(title: str, rows: list[Row], group: str) -> Iterator[str]:
    yield from ("", f"## {title}", "")
    head = ("method", "cases", "proved", "stopped", "hung", "failed", "wrong", "rows lost, mean")
    head += ("time / ours, where both proved: mean", "least", "most")
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for own in standings(rows, group).values():
        proved, wrong = ("-", "-") if own.is_greedy else (own.ended("proved"), own.wrong)
        ratios = own.ratios if own.method != OURS else []
        cells = [_number(of(ratios)) for of in (geometric_mean, min, max)] if ratios else ["-"] * 3
        loss = f"{statistics.fmean(own.losses):.1f}" if own.losses else "-"
        ends = [own.ended(outcome) for outcome in ("stopped", "hung", "failed")]
        yield "| " + " | ".join(map(str, [own.method, len(own.rows), proved, *ends, wrong, loss, *cells])) + " |"
    counted = alone(rows, group)
    yield ""
    yield (
        f"No other package proves {counted[0]} of {counted[1]}."
        if counted
        else "No other package was run to a proof here."
    )
    failed = [row for row in rows if row["group"] == group and row["outcome"] == "failed"]
    yield from (
        f"\n{method} failed: {message}" for method, message in sorted({(r["method"], r["message"]) for r in failed})
    )


def disagreeing(rows: list[Row]) -> Iterator[str]:
    """Cases where a tree keeps more rows than another method calls the most, or two call different numbers the most."""
    cases = dict.fromkeys((row["group"], row["case"]) for row in rows)
    for case in cases:
        own = [row for row in rows if (row["group"], row["case"]) == case and "correct" in row]
        most = max((row["correct"] for row in own), default=0)
        if any(row["outcome"] == "proved" and row["correct"] != most for row in own):
            yield ", ".join(case) + ": " + ", ".join(f"{r['method']} {r['correct']} ({r['outcome']})" for r in own)


def headline(document: dict[str, Any]) -> str:
    """The two comparisons that people ask for first."""
    rows = document["results"]
    gurobi, pystreed = standings(rows, "robust")[THEIRS], standings(rows, "ordinary")[PYSTREED]
    return (
        f"robust trees: ODTLearn with Gurobi takes {geometric_mean(gurobi.ratios):,.0f} times as long where it has a "
        f"proof ({len(gurobi.ratios)} of {len(gurobi.rows)} instances; at least {min(gurobi.ratios):,.0f} times); "
        f"ordinary trees: pystreed takes {geometric_mean(pystreed.ratios):.2f} times as long"
    )


def _number(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


def draw(document: dict[str, Any]) -> None:
    """Instances proved against time, a panel for each group."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "hardwood"
    from matplotlib import pyplot as plt

    rows, seconds = document["results"], document["seconds"]
    groups = [group for group in TITLES if any(row["group"] == group for row in rows)]
    figure, axes = plt.subplots(1, len(groups), figsize=(4.2 * len(groups), 4.2), layout="constrained", squeeze=False)
    for axis, group in zip(axes[0], groups, strict=True):
        proving = [own for own in standings(rows, group).values() if not own.is_greedy]
        for k, own in enumerate(proving):
            times = sorted(max(row["seconds"], LEAST) for row in own.rows if row["outcome"] == "proved")
            style = {"color": COLOURS[k % 7], "linestyle": STYLES[k % 4], "label": own.method}
            axis.step([LEAST, *times, seconds], [0, *range(1, len(times) + 1), len(times)], where="post", **style)
        n_cases = len({row["case"] for row in rows if row["group"] == group})
        axis.set(xscale="log", xlabel="seconds", title=TITLES[group], ylim=(0, n_cases * 1.03))
        axis.title.set_fontsize("medium")
        axis.grid(alpha=0.3)
        axis.legend(frameon=False, fontsize="small", ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    axes[0][0].set_ylabel("instances proved")
    figure.savefig(OUT.with_suffix(".svg"), metadata={"Date": None})


def main() -> None:
    """Write peers.md and peers.svg."""
    document = json.loads(OUT.read_text())
    OUT.with_suffix(".md").write_text(page(document))
    draw(document)


if __name__ == "__main__":
    main()
