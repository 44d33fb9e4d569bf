"""Numbers for README and docs, as text: each function makes one from the files of results, nothing is copied by hand.

`pages.py` puts them where a page has the line `<!-- numbers: NAME -->`.
"""

from __future__ import annotations

import json
import statistics
import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import ground_floor
import growth
import mio
import pieces
import survey
import threads
from hardwood.experiments.analysis import (
    at,
    finished,
    gains,
    levels,
    n_proved,
    prices,
    robust_levels,
    speed_up,
)
from hardwood.experiments.store import Row, read_results
from hardwood.experiments.summary import beside_the_paper, proved_within
from hardwood.shift.calibration import FloatArray
from marks import RESULTS, ROOT
from measuring import geometric_mean
from peers.page import GROOT, OUR_GROOT, OURS, PYSTREED, ROCT, THEIRS, standings, survey_ratios

STUDY = ROOT / "docs" / "study"
WIDTH = 120
LARGE: dict[str, Any] = {"survey": survey, "growth": growth, "ground_floor": ground_floor, "pieces": pieces}
MIDDLE = (0.75, 0.9)  # where the paper reports the price of robustness


@cache
def results(name: str) -> dict[str, Any]:
    """A file of results."""
    return dict(json.loads((RESULTS / f"{name}.json").read_text()))


@cache
def study(name: str) -> list[Row]:
    """The rows of a study."""
    return read_results(STUDY / name / "results.parquet")


def proofs_of_the_study() -> str:
    """How many instances of the paper's grid are proved, by depth and time."""
    return "\n".join(proved_within(finished(study("paper"), "robust")))


def gains_of_the_study() -> str:
    """What robust trees gain and cost in the study, in a sentence."""
    rows = finished(study("paper"), "robust", "ordinary")
    groups = [at(rows, level) for level in levels(rows) if MIDDLE[0] <= level <= MIDDLE[1]]
    n_tables = max(row["n_tables"] for row in rows)
    worst, mean = (_span(_points(gains(own, measure)) for own in groups) for measure in ("worst", "mean"))
    return _wrapped(
        f"In the {sum(map(len, groups)):,} of its {len(rows):,} instances with plausibility {MIDDLE[0]} to "
        f"{MIDDLE[1]}, a robust tree kept {worst} points more than an ordinary one on the worst of {n_tables:,} "
        f"shifted test tables, and {mean} points more on their average; it paid "
        f"{_span(_points(prices(own)) for own in groups)} points where nothing shifts (means over the instances of "
        "a plausibility)."
    )


def outcome_of_the_study() -> str:
    """What the paper reports, and what came here."""
    return "\n".join(beside_the_paper(finished(study("paper"), "robust", "ordinary")))


def stable_trees() -> str:
    """Stable trees beside robust ones, on the tables where both exist."""
    rows = [row for row in finished(study("paper"), "robust", "ordinary", "stable") if row["plausibility"] < 1]
    moved = [row for row in rows if row["stable_radius"] >= 1]
    silent = sum(row["stable_branching_nodes"] == 0 for row in moved)
    robust, stable = (
        _span(_points(gains(own, "worst", of=method)) for own in _by_level(rows)) for method in ("robust", "stable")
    )
    return _wrapped(
        f"On the {len(rows)} instances with a budget of the two tables whose columns have two answers each, robust "
        f"trees gain {robust} points over the ordinary tree in the worst case, by plausibility, stable ones (RCT-B) "
        f"{stable}. The budget of one row buys a changed answer in {len(moved)} of {len(rows)} instances only; "
        f"there, {silent} of {len(moved)} stable trees ask nothing at all."
    )


def ablation_of_the_study() -> str:
    """Cuts for single samples in the study of the paper's own method."""
    rows = finished(study("ablation"), "paper", "paper_without_sample_cuts")
    with_cuts, without, search = (
        n_proved(rows, of=method) for method in ("paper", "paper_without_sample_cuts", "robust")
    )
    limit = max(row["time_limit"] for row in rows)
    text = (
        f"On {len(rows)} of the paper's 384 instances, {limit:g} seconds each, {without} were proved without cuts for "
        f"single samples, and {with_cuts} with them; the exact search proved {search}."
    )
    found = speed_up(rows, "paper", "paper_without_sample_cuts")
    if found is not None:
        n, fast = found
        text += (
            f" With the cuts, the first {n} were proved within {fast:.1f} seconds: a factor of {limit / fast:.0f} at "
            "this limit, where the paper has 225 at two hours."
        )
    return _wrapped(text)


def beside_peers() -> str:
    """ODTLearn and pystreed beside the search, in a sentence each."""
    document = results("peers")
    rows = document["results"]
    gurobi, ours = standings(rows, "robust")[THEIRS], standings(rows, "robust")[OURS]
    ordinary, boxes = standings(rows, "ordinary")[PYSTREED], standings(rows, "boxes")[ROCT]
    on_surveys = survey_ratios(rows)
    return _list_of(
        f"Robust trees, {len(ours.rows)} instances with at most 100 rows and {document['seconds']:g} s: the search "
        f"proves {ours.ended('proved')}, ODTLearn with Gurobi {gurobi.ended('proved')} of the {len(gurobi.rows)} "
        f"that it was given; where both have a proof, ODTLearn takes {min(gurobi.ratios):,.0f} to "
        f"{max(gurobi.ratios):,.0f} times as long.",
        f"Ordinary trees (nothing shifts), {len(ordinary.rows)} instances: pystreed takes "
        f"{geometric_mean(ordinary.ratios):.2f} times as long (geometric mean).",
        f"Robust trees of whole surveys, depth 2 and 3: {geometric_mean(on_surveys):.1f} times the time of pystreed's "
        f"ordinary tree (geometric mean; {min(on_surveys):.2g} to {max(on_surveys):.2g}).",
        f"Trees for boxes: ROCT takes {geometric_mean(boxes.ratios):,.0f} times as long.",
    )


def boxes() -> str:
    """ROCT and GROOT beside ours."""
    found = standings(results("peers")["results"], "boxes")
    agreed = len(found[ROCT].ratios) - found[ROCT].wrong
    kept = [{row["case"]: row["correct"] for row in found[name].rows} for name in (GROOT, OUR_GROOT)]
    shallow = [row["case"] for row in found[GROOT].rows if row["depth"] == 1]
    same = sum(kept[0][case] == kept[1][case] for case in shallow)
    slower = f"{geometric_mean(found[ROCT].ratios):,.0f} times as long"
    return _wrapped(
        f"It agrees with ROCT (optimal, by Gurobi) on {agreed} of {len(found[ROCT].rows)} small instances, where ROCT "
        f"takes {slower}; our greedy tree keeps as many rows as the published GROOT in {same} of {len(shallow)} "
        "instances of depth 1."
    )


def large_tables() -> str:
    """Surveys, growth, and worst cases of trees, in a sentence each."""
    told = (module.headline(results(name)) for name, module in LARGE.items())
    return _list_of(*map(_sentence, told))


def two_threads() -> str:
    """What two threads are worth."""
    return _sentence(threads.headline(results("threads")))


def engines() -> str:
    """Instances proved, and the median time or the mean gap, by depth and engine."""
    rows = results("mio-engines")["results"]
    methods = mio.methods_of(rows)
    lines: list[tuple[object, ...]] = [("depth", "instances", *methods)]
    for depth in sorted({row["depth"] for row in rows}):
        own = {method: [r for r in rows if (r["depth"], r["method"]) == (depth, method)] for method in methods}
        lines.append((depth, len(own[methods[0]]), *(_engine(each) for each in own.values())))
    return _table(lines)


def _engine(rows: list[dict[str, Any]]) -> str:
    proved = sum(row["status"] == "optimal" for row in rows)
    if proved * 2 > len(rows):
        return f"{proved}, {statistics.median(row['seconds'] for row in rows):.2g} s"
    return f"{proved}, gap {statistics.fmean(row['gap'] for row in rows):.0%}"


def forms() -> str:
    """Each option of the mixed-integer problem, as a factor on the time of the paper's form."""
    found = mio.ratios(results("mio-forms")["results"])
    names = dict.fromkeys(method.split(", ", 1)[1] for method in found)
    lines = [("form", "Gurobi", "SCIP")]
    lines += [(name, f"{found[f'gurobi, {name}']:.2f}", f"{found[f'scip, {name}']:.2f}") for name in names]
    return _table(lines)


def sample_cuts() -> str:
    """Cuts for single samples on Gurobi."""
    return _wrapped(mio.factor(results("mio-ablation")))


def _by_level(rows: Sequence[Row]) -> list[list[Row]]:
    return [at(rows, level) for level in robust_levels(rows)]


def _points(shares: FloatArray) -> float:
    """The mean of shares, in percentage points."""
    return 100 * float(shares.mean())


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _span(numbers: Iterable[float]) -> str:
    held = list(numbers)
    low, high = (f"{number:.1f}" for number in (min(held), max(held)))
    return low if low == high else f"{low} to {high}"


def _list(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)


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
    "engines": engines,
    "forms": forms,
    "sample cuts": sample_cuts,
}
