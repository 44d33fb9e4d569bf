"""The page and the plot of `run.py`: what each method proved, its time relative to the search, and disagreements.

python -m benchmarks.peers.page
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.measuring import geometric_mean
from benchmarks.records import RESULTS, Document, load, provenance_text

OUT = RESULTS / "peers.json"
TITLES = {
    "robust": "Robust trees, at most 100 rows",
    "robust, all rows": "Robust trees, all rows",
    "ordinary": "Ordinary trees (no shift)",
    "boxes": "Boxes: every value may be off by one",
}
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
STYLES = ("-", "--", "-.", ":")
OURS, THEIRS, PYSTREED, ROCT = "search", "ODTLearn, Gurobi", "pystreed", "ROCT"
GROOT, OUR_GROOT = "GROOT", "our GROOT"
OWN_SOLVERS = (OURS, "our Gurobi", "our SCIP", OUR_GROOT)
SURVEYS = ("anes96", "fair", "nhanes")
MIN_SECONDS = 1e-4  # shorter times cannot be distinguished
Row = dict[str, Any]


@dataclass(frozen=True)
class Standing:
    """A method on a group of cases, compared with the search.

    Attributes
    ----------
    method : str
        The name of the method.
    rows : list of dict
        Its runs.
    best : dict
        Optimal values by case, as proved by the search.
    ratios : list of float
        Times relative to the search, where both have a proof.
    """

    method: str
    rows: list[Row]
    best: dict[str, int]
    ratios: list[float]

    def ended(self, *outcomes: str) -> int:
        """Return the number of runs with one of these outcomes."""
        return sum(row["outcome"] in outcomes for row in self.rows)

    @property
    def is_greedy(self) -> bool:
        """Whether the method claims no optimality."""
        return self.ended("greedy") > 0

    @property
    def losses(self) -> list[int]:
        """By how many rows its trees fall short of the optimum."""
        known = [row for row in self.rows if row["case"] in self.best and "correct" in row]
        return [self.best[row["case"]] - row["correct"] for row in known]

    @property
    def wrong(self) -> int:
        """Number of claims of optimality that contradict a proof of the search."""
        proved = [row for row in self.rows if row["outcome"] == "proved"]
        return sum(self.best.get(row["case"], row["correct"]) != row["correct"] for row in proved)


def standings(rows: list[Row], group: str) -> dict[str, Standing]:
    """Return the standing of all methods of a group, in the order in which they ran."""
    of_group = [row for row in rows if row["group"] == group]
    ours = {row["case"]: row for row in of_group if row["method"] == OURS and row["outcome"] == "proved"}
    best = {case: row["correct"] for case, row in ours.items()}
    by_method = {}
    for method in dict.fromkeys(row["method"] for row in of_group):
        runs = [row for row in of_group if row["method"] == method]
        proved = [row for row in runs if row["outcome"] == "proved" and row["case"] in ours]
        by_method[method] = Standing(method, runs, best, [time_ratio(row, ours[row["case"]]) for row in proved])
    return by_method


def time_ratio(row: Row, other: Row) -> float:
    """Return the time of a run as a multiple of another's."""
    return float(max(row["seconds"], MIN_SECONDS) / max(other["seconds"], MIN_SECONDS))


def alone(rows: list[Row], group: str) -> tuple[int, int] | None:
    """Return the cases that only the search proves, and the cases given to other packages; None if there are none."""
    of_group = [row for row in rows if row["group"] == group]
    others = [row for row in of_group if row["method"] not in OWN_SOLVERS]
    given = {row["case"] for row in others if row["outcome"] != "greedy"}
    proved = {row["case"] for row in others if row["outcome"] == "proved"}
    ours = {row["case"] for row in of_group if row["method"] == OURS and row["outcome"] == "proved"}
    return (len((ours & given) - proved), len(given)) if given else None


def survey_ratios(rows: list[Row]) -> list[float]:
    """Return times of robust proofs on surveys, relative to pystreed's ordinary tree of the same table and depth."""
    ordinary = {row["case"]: row for row in rows if row["method"] == PYSTREED and row["outcome"] == "proved"}
    ours = [
        row for row in rows if (row["group"], row["method"], row["outcome"]) == ("robust, all rows", OURS, "proved")
    ]
    pairs = [(row, f"{row['case'].split('/')[0]}/d{row['depth']}") for row in ours]
    return [
        time_ratio(row, ordinary[case]) for row, case in pairs if case.split("/")[0] in SURVEYS and case in ordinary
    ]


def page(document: Document) -> str:
    """Return the page of the results."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Document) -> Iterator[str]:
    rows = document["results"]
    yield "# Comparison with other packages"
    yield ""
    yield (
        f"Measured with {provenance_text(document)}. Written by `make bench-peers`: the same table of integers, budget "
        f"and depth for all packages, one thread, at most {document['seconds']:g} s. Each run is a process of its own "
        "and starts with a tiny task that is not measured. Times are wall-clock times from an array of numbers to the "
        'tree; packages that need columns of 0 and 1 receive them. "Proved" is what a package\'s solver calls '
        "optimal. The worst case of each tree is computed by `hardwood.attack` and by plain arithmetic "
        "(`reference.py`), which must agree; for packages that do not expose their trees, correct predictions are "
        'counted. "Hung": no result long after the limit. GOSDT is run with a penalty for leaves far below its '
        "recommendation, so that accuracy alone decides, as for the others; it is designed for larger penalties."
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
    """Yield a table of goals and measurements."""
    yield "| goal | measured |"
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
            "| no slower than pystreed without a shift (geometric mean, depth 3 to 5) | pystreed takes "
            f"{geometric_mean(pystreed.ratios):.2f} times as long on {len(pystreed.ratios)} instances |"
        )
    ratios = survey_ratios(rows)
    if ratios:
        yield (
            "| robust proof within 10 times the time of pystreed's ordinary tree on surveys, depth 2 and 3 | "
            f"{geometric_mean(ratios):.1f} times (geometric mean of {len(ratios)}; {min(ratios):.2g} to "
            f"{max(ratios):.2g}, above 10 in {sum(ratio > 10 for ratio in ratios)}) |"
        )


def _group(title: str, rows: list[Row], group: str) -> Iterator[str]:
    yield from ("", f"## {title}", "")
    head = ("method", "cases", "proved", "stopped", "hung", "failed", "wrong", "rows lost, mean")
    head += ("time / search, where both proved: mean", "min", "max")
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for standing in standings(rows, group).values():
        proved, wrong = ("-", "-") if standing.is_greedy else (standing.ended("proved"), standing.wrong)
        ratios = standing.ratios if standing.method != OURS else []
        times = [_number(of(ratios)) for of in (geometric_mean, min, max)] if ratios else ["-"] * 3
        loss = f"{statistics.fmean(standing.losses):.1f}" if standing.losses else "-"
        ends = [standing.ended(outcome) for outcome in ("stopped", "hung", "failed")]
        cells = [standing.method, len(standing.rows), proved, *ends, wrong, loss, *times]
        yield "| " + " | ".join(map(str, cells)) + " |"
    only_ours = alone(rows, group)
    yield ""
    yield (
        f"The search proves {only_ours[0]} of {only_ours[1]} cases that no other package proves."
        if only_ours
        else "No other package that proves optimality was run on these cases."
    )
    failed = [row for row in rows if row["group"] == group and row["outcome"] == "failed"]
    yield from (
        f"\n{method} failed: {message}" for method, message in sorted({(r["method"], r["message"]) for r in failed})
    )


def disagreeing(rows: list[Row]) -> Iterator[str]:
    """Yield cases in which a tree keeps more rows than a claimed optimum, or two claimed optima differ."""
    cases = dict.fromkeys((row["group"], row["case"]) for row in rows)
    for case in cases:
        runs = [row for row in rows if (row["group"], row["case"]) == case and "correct" in row]
        best = max((row["correct"] for row in runs), default=0)
        if any(row["outcome"] == "proved" and row["correct"] != best for row in runs):
            yield ", ".join(case) + ": " + ", ".join(f"{r['method']} {r['correct']} ({r['outcome']})" for r in runs)


def headline(document: Document) -> str:
    """Return the two main comparisons in one sentence."""
    rows = document["results"]
    gurobi, pystreed = standings(rows, "robust")[THEIRS], standings(rows, "ordinary")[PYSTREED]
    return (
        f"robust trees: ODTLearn with Gurobi takes {geometric_mean(gurobi.ratios):,.0f} times as long where it has a "
        f"proof ({len(gurobi.ratios)} of {len(gurobi.rows)} instances; at least {min(gurobi.ratios):,.0f} times); "
        f"ordinary trees: pystreed takes {geometric_mean(pystreed.ratios):.2f} times as long"
    )


def _number(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


def draw(document: Document) -> None:
    """Draw instances proved against time, a panel for each group."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "hardwood"
    from matplotlib import pyplot as plt

    rows, seconds = document["results"], document["seconds"]
    groups = [group for group in TITLES if any(row["group"] == group for row in rows)]
    figure, axes = plt.subplots(1, len(groups), figsize=(4.2 * len(groups), 4.2), layout="constrained", squeeze=False)
    for axis, group in zip(axes[0], groups, strict=True):
        exact = [standing for standing in standings(rows, group).values() if not standing.is_greedy]
        for k, standing in enumerate(exact):
            times = sorted(max(row["seconds"], MIN_SECONDS) for row in standing.rows if row["outcome"] == "proved")
            style = {"color": COLOURS[k % 7], "linestyle": STYLES[k % 4], "label": standing.method}
            axis.step([MIN_SECONDS, *times, seconds], [0, *range(1, len(times) + 1), len(times)], where="post", **style)
        n_cases = len({row["case"] for row in rows if row["group"] == group})
        axis.set(xscale="log", xlabel="seconds", title=TITLES[group], ylim=(0, n_cases * 1.03))
        axis.title.set_fontsize("medium")
        axis.grid(alpha=0.3)
        axis.legend(frameon=False, fontsize="small", ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    axes[0][0].set_ylabel("instances proved")
    figure.savefig(OUT.with_suffix(".svg"), metadata={"Date": None})


def main() -> None:
    """Write peers.md and peers.svg."""
    document = load(OUT)
    OUT.with_suffix(".md").write_text(page(document))
    draw(document)


if __name__ == "__main__":
    main()
