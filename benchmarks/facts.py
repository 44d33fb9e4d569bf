"""Numbers for README and docs: each function makes one text from the result files, so no number is copied manually.

`pages.py` puts the text into the region `<!-- numbers: NAME -->` of a page.
"""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from benchmarks import chunks, core_operations, growth, mio, survey, threads
from benchmarks.measuring import geometric_mean
from benchmarks.peers.page import GROOT, OUR_GROOT, OURS, PYSTREED, ROCT, THEIRS, standings, survey_ratios
from benchmarks.records import RESULTS, ROOT, Document, load
from hardwood._util.arrays import FloatArray
from hardwood.experiments.analysis import (
    at,
    finished,
    gains,
    levels,
    n_proved,
    prices_of_robustness,
    robust_levels,
    speed_up,
)
from hardwood.experiments.store import Row, read_results
from hardwood.experiments.summary import paper_comparison, proved_within

STUDY = ROOT / "docs" / "study"
WIDTH = 120
LARGE: dict[str, ModuleType] = {"survey": survey, "growth": growth, "ground_floor": core_operations, "pieces": chunks}
MIDDLE = (0.75, 0.9)  # where the paper reports the price of robustness


@cache
def results(name: str) -> Document:
    """Return the content of a result file."""
    return load(RESULTS / f"{name}.json")


@cache
def study(name: str) -> list[Row]:
    """Return the rows of a study."""
    return read_results(STUDY / name / "results.parquet")


def proofs_of_the_study() -> str:
    """Return how many instances of the paper's grid are proved, by depth and time."""
    return "\n".join(proved_within(finished(study("paper"), "robust")))


def gains_of_the_study() -> str:
    """Return what robust trees gain and cost in the study."""
    rows = finished(study("paper"), "robust", "ordinary")
    groups = [at(rows, level) for level in levels(rows) if MIDDLE[0] <= level <= MIDDLE[1]]
    n_tables = max(row["n_tables"] for row in rows)
    prices = _span(_points(prices_of_robustness(group)) for group in groups)
    worst, mean = (_span(_points(gains(group, measure)) for group in groups) for measure in ("worst", "mean"))
    return _wrapped(
        f"In {sum(map(len, groups)):,} of {len(rows):,} instances, the plausibility is {MIDDLE[0]} to {MIDDLE[1]}. "
        f"There, the accuracy of a robust tree is {worst} percentage points higher than that of an ordinary tree on "
        f"the worst of {n_tables:,} shifted test tables, and {mean} points higher on average over these tables. The "
        f"price of robustness, the accuracy lost without a shift, is {prices} points. (Means over the instances of "
        "each plausibility.)"
    )


def outcome_of_the_study() -> str:
    """Return the results of the paper and of this study."""
    return "\n".join(paper_comparison(finished(study("paper"), "robust", "ordinary")))


def stable_trees() -> str:
    """Compare stable trees with robust ones, on the tables where both exist."""
    rows = [row for row in finished(study("paper"), "robust", "ordinary", "stable") if row["plausibility"] < 1]
    affordable = [row for row in rows if row["stable_radius"] >= 1]
    n_leaves = sum(row["stable_branching_nodes"] == 0 for row in affordable)
    robust, stable = (
        _span(_points(gains(group, "worst", of=method)) for group in _by_level(rows)) for method in ("robust", "stable")
    )
    return _wrapped(
        f"Two tables have binary columns only; {len(rows)} of their instances have a positive budget. There, robust "
        f"trees gain {robust} percentage points over the ordinary tree in the worst case, by plausibility; stable "
        f"trees (RCT-B) gain {stable}. The budget of one row pays for a changed value in only {len(affordable)} of "
        f"{len(rows)} instances; there, {n_leaves} of {len(affordable)} stable trees are a single leaf."
    )


def ablation_of_the_study() -> str:
    """Return the effect of cuts for single samples in the study of the paper's own method."""
    rows = finished(study("ablation"), "paper", "paper_without_sample_cuts")
    with_cuts, without, search = (
        n_proved(rows, of=method) for method in ("paper", "paper_without_sample_cuts", "robust")
    )
    limit = max(row["time_limit"] for row in rows)
    text = (
        f"On {len(rows)} of the paper's 384 instances, {limit:g} seconds each, {without} were proved without cuts for "
        f"single samples, and {with_cuts} with them; the exact search proved {search}."
    )
    faster = speed_up(rows, "paper", "paper_without_sample_cuts")
    if faster is not None:
        n, fast = faster
        text += (
            f" With the cuts, the first {n} were proved within {fast:.1f} seconds: a factor of {limit / fast:.0f} at "
            "this limit; the paper reports 225 at two hours."
        )
    return _wrapped(text)


def beside_peers() -> str:
    """Compare other packages with the search, in a sentence each."""
    document = results("peers")
    rows = document["results"]
    gurobi, ours = standings(rows, "robust")[THEIRS], standings(rows, "robust")[OURS]
    ordinary, boxes = standings(rows, "ordinary")[PYSTREED], standings(rows, "boxes")[ROCT]
    on_surveys = survey_ratios(rows)
    return _list_of(
        f"Robust trees, {len(ours.rows)} instances with at most 100 rows and {document['seconds']:g} s: the search "
        f"proves {ours.ended('proved')} optimal, ODTLearn with Gurobi {gurobi.ended('proved')} of {len(gurobi.rows)}. "
        f"Where both have a proof, ODTLearn takes {min(gurobi.ratios):,.0f} to {max(gurobi.ratios):,.0f} times as "
        "long.",
        f"Ordinary trees (no shift), {len(ordinary.rows)} instances: pystreed takes "
        f"{geometric_mean(ordinary.ratios):.2f} times as long (geometric mean).",
        f"Robust trees of complete surveys, depth 2 and 3: the search takes {geometric_mean(on_surveys):.1f} times as "
        f"long as pystreed for the ordinary tree (geometric mean; {min(on_surveys):.2g} to {max(on_surveys):.2g}).",
        f"Trees for boxes: ROCT takes {geometric_mean(boxes.ratios):,.0f} times as long (geometric mean).",
    )


def boxes() -> str:
    """Compare ROCT and GROOT with the solvers of this package."""
    by_method = standings(results("peers")["results"], "boxes")
    agreed = len(by_method[ROCT].ratios) - by_method[ROCT].wrong
    correct = [{row["case"]: row["correct"] for row in by_method[name].rows} for name in (GROOT, OUR_GROOT)]
    shallow = [row["case"] for row in by_method[GROOT].rows if row["depth"] == 1]
    same = sum(correct[0][case] == correct[1][case] for case in shallow)
    slower = f"{geometric_mean(by_method[ROCT].ratios):,.0f} times as long"
    return _wrapped(
        f"It agrees with ROCT (optimal, by Gurobi) on {agreed} of {len(by_method[ROCT].rows)} small instances, where "
        f"ROCT takes {slower}. The greedy tree of this package keeps as many rows correct as the published GROOT in "
        f"{same} of {len(shallow)} instances of depth 1."
    )


def large_tables() -> str:
    """Return the main numbers of the benchmarks on large tables, in a sentence each."""
    return _list_of(*(_sentence(module.headline(results(name))) for name, module in LARGE.items()))


def two_threads() -> str:
    """Return the speed-up by two threads."""
    return _sentence(threads.headline(results("threads")))


def solvers() -> str:
    """Return instances proved, and the median time or the mean gap, by depth and solver."""
    rows = results("mio-engines")["results"]
    methods = mio.methods_of(rows)
    lines: list[tuple[object, ...]] = [("depth", "instances", *methods)]
    for depth in sorted({row["depth"] for row in rows}):
        groups = [[r for r in rows if (r["depth"], r["method"]) == (depth, method)] for method in methods]
        lines.append((depth, len(groups[0]), *map(_proved_and_time, groups)))
    return _table(lines)


def _proved_and_time(rows: list[dict[str, Any]]) -> str:
    proved = sum(row["status"] == "optimal" for row in rows)
    if proved * 2 > len(rows):
        return f"{proved}, {statistics.median(row['seconds'] for row in rows):.2g} s"
    return f"{proved}, gap {statistics.fmean(row['gap'] for row in rows):.0%}"


def forms() -> str:
    """Return the time of each form of the mixed-integer problem relative to the paper's form."""
    means = mio.ratios(results("mio-forms")["results"])
    names = dict.fromkeys(method.split(", ", 1)[1] for method in means)
    lines = [("form", "Gurobi", "SCIP")]
    lines += [(name, f"{means[f'gurobi, {name}']:.2f}", f"{means[f'scip, {name}']:.2f}") for name in names]
    return _table(lines)


def sample_cuts() -> str:
    """Return the effect of cuts for single samples on Gurobi."""
    return _wrapped(mio.factor(results("mio-ablation")))


def _by_level(rows: Sequence[Row]) -> list[list[Row]]:
    return [at(rows, level) for level in robust_levels(rows)]


def _points(shares: FloatArray) -> float:
    """Return the mean of shares, in percentage points."""
    return 100 * float(shares.mean())


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _span(numbers: Iterable[float]) -> str:
    values = list(numbers)
    low, high = (f"{value:.1f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _wrapped(text: str, **indents: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False, **indents)


def _list_of(*sentences: str) -> str:
    return "\n".join(_wrapped(text, initial_indent="* ", subsequent_indent="  ") for text in sentences)


def _table(lines: Sequence[Sequence[object]]) -> str:
    head, *rest = [f"| {' | '.join(map(str, line))} |" for line in lines]
    return "\n".join([head, "|---" * len(lines[0]) + "|", *rest])


FACTS: dict[str, Callable[[], str]] = {
    "proofs of the study": proofs_of_the_study,
    "gains of the study": gains_of_the_study,
    "outcome of the study": outcome_of_the_study,
    "stable trees": stable_trees,
    "ablation of the study": ablation_of_the_study,
    "beside peers": beside_peers,
    "boxes": boxes,
    "large tables": large_tables,
    "two threads": two_threads,
    "solvers": solvers,
    "forms": forms,
    "sample cuts": sample_cuts,
}
