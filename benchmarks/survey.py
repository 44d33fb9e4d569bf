"""Survey tables: time to a proof of optimality, compared with the time of another solver for ordinary trees.

    python -m benchmarks.survey [--table anes96 fair ...] [--seconds 30] [--without-pystreed]

Two real surveys of statsmodels, and synthetic ones with 10^4 to 10^6 rows; certainty 0.9 and 0.7, plausibility 0.95 and
0.85. Every solve is a process of its own with one thread, one after the other; seconds are processor time, without
loading and encoding. pystreed (extra `bench`) gets one 0/1 column for each candidate split and finds the ordinary
optimal tree. Results after 0.1 s and after 1 s come from runs with these time limits. Memory is the peak during the
search beyond the memory in use before. Results go to results/survey.json, a table to results/survey.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import geometric_mean, in_process, measure_solve, run_call
from benchmarks.records import RESULTS, provenance_text, publish
from hardwood.problem import Problem

SETTINGS = [(0.9, 0.95), (0.9, 0.85), (0.7, 0.95), (0.7, 0.85)]
DEEP = ("anes96", "fair", "10^4 rows")  # also solved at depth 4
REAL = ("anes96", "fair")
PYSTREED_SECONDS = 150  # time limit


def anes96() -> tuple[Any, Any]:
    """Load 944 voters in 1996, with age and income."""
    import statsmodels.api as sm

    data = sm.datasets.anes96.load_pandas().data
    y = np.where(data["vote"] > 0, "dole", "clinton")
    return data.drop(columns=["vote", "popul", "logpopul"]).astype(int), y


def fair() -> tuple[Any, Any]:
    """Load 6,366 readers of a magazine; one step is half a year where years have halves."""
    import statsmodels.api as sm

    data = sm.datasets.fair.load_pandas().data
    y = np.where(data["affairs"] > 0, "yes", "no")
    X = data.drop(columns="affairs")
    return X.apply(lambda column: (column * (1 if (column % 1 == 0).all() else 2)).round().astype(int)), y


def synthetic(n: int, seed: int = 0) -> tuple[Any, Any]:
    """Generate an age, two ratings, a region, a binary column, and a label that depends on them at random."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    age, first = rng.integers(18, 91, n), rng.integers(1, 11, n)
    second = np.clip(np.round(first * 0.5 + rng.normal(3, 2.5, n)), 1, 10).astype(int)
    region, member = np.array(list("NESWC"))[rng.integers(0, 5, n)], rng.integers(0, 2, n)
    score = 0.03 * (age - 50) + 0.35 * (first - 5.5) - 0.2 * (second - 5.5) * (age > 40) + 0.5 * (region == "N")
    score = score + 0.4 * member * (first > 6)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "y", "n")
    columns = {"age": age, "first": first, "second": second, "region": region, "member": member}
    return pd.DataFrame(columns), y


TABLES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "anes96": anes96,
    "fair": fair,
    "10^4 rows": lambda: synthetic(10_000),
    "10^5 rows": lambda: synthetic(100_000),
    "10^6 rows": lambda: synthetic(1_000_000),
}


def problem(name: str, certainty: float, plausibility: float, depth: int) -> Problem:
    """Return the problem of a table and a setting."""
    import hardwood as hw

    X, y = TABLES[name]()
    table = hw.encode(X)
    shifts = hw.UncertaintySet.calibrated(table, certainty=certainty, plausibility=plausibility)
    return hw.Problem(hw.encode_labels(y, len(y)), shifts, depth)


def search(name: str, certainty: float, plausibility: float, depth: int, seconds: float) -> dict[str, Any]:
    """Solve a problem, in this process."""
    return measure_solve(problem(name, certainty, plausibility, depth), seconds)


def ordinary(name: str, depth: int) -> dict[str, Any]:
    """Find the ordinary optimal tree with pystreed, in this process."""
    from pystreed import STreeDClassifier

    plain = problem(name, 0.9, 1.0, depth)
    left = np.empty((plain.n_samples, plain.n_splits), dtype=np.int32)
    for k, split in enumerate(plain.splits):
        left[:, k] = split.goes_left(plain.table)
    began = time.process_time()
    model = STreeDClassifier("accuracy", max_depth=depth, time_limit=PYSTREED_SECONDS).fit(left, plain.labels.codes)
    spent = time.process_time() - began
    return {"seconds": round(spent, 4), "proved": bool(model.fit_result.is_optimal())}


def measure(name: str, certainty: float, plausibility: float, depth: int, seconds: float) -> dict[str, Any]:
    """Measure the time to a proof, and the results after 0.1 s and after 1 s."""
    setting = (name, certainty, plausibility, depth)
    whole = in_process("benchmarks.survey", "search", *setting, seconds, repeats=3)
    early = {limit: in_process("benchmarks.survey", "search", *setting, limit) for limit in (0.1, 1.0)}
    return {
        "table": name,
        "certainty": certainty,
        "plausibility": plausibility,
        "depth": depth,
        **whole,
        "early": {str(limit): [found["correct"], found["upper_bound"]] for limit, found in early.items()},
    }


def table_of(results: list[dict[str, Any]], baselines: dict[str, Any]) -> str:
    """Return a table with a line for each solve."""
    lines = [
        "| table | splits | certainty, plausibility | depth | correct | s | gap | after 0.1 s | after 1 s "
        "| MB, of the table | ratio |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for r in results:
        baseline = baselines.get(f"{r['table']}, depth {r['depth']}")
        ratio = "-"
        if baseline and baseline["proved"] and r["gap"] == 0:
            ratio = f"{r['seconds'] / baseline['seconds']:.2f}"
        elif baseline and not baseline["proved"] and r["status"] == "optimal":
            ratio = f"< {r['seconds'] / PYSTREED_SECONDS:.3f}"
        shares = [
            f"-{1 - correct / r['correct']:.2%}, +{bound / r['correct'] - 1:.1%}"
            for correct, bound in (r["early"][limit] for limit in ("0.1", "1.0"))
        ]
        gap = "proved" if r["status"] == "optimal" else f"{r['gap']:.2%}"
        lines.append(
            f"| {r['table']} | {r['n_splits']} | {r['certainty']}, {r['plausibility']} | {r['depth']} | {r['correct']} "
            f"| {r['seconds']:.3f} | {gap} | {shares[0]} | {shares[1]} "
            f"| {r['memory'] / 1e6:.0f}, {r['memory'] / r['encoded']:.1f} | {ratio} |"
        )
    return "\n".join(lines)


def page(document: dict[str, Any]) -> str:
    """Return the page of the results."""
    results, baselines = document["results"], document["pystreed"]
    mild, ratios = beside_pystreed(document)
    rest = [r for r in results if r not in mild and r["depth"] < 4]
    proved = sum(r["status"] == "optimal" for r in rest)
    text = [
        "# Survey tables",
        "",
        f"Measured with {provenance_text(document)}; written by `benchmarks/survey.py`, limit "
        f"{document['seconds']:g} s (60 s at depth 4).",
        "",
        "`splits`: candidate splits. `s`: processor time to the proof of optimality and minimality. `ratio`: that time "
        "relative to the time in which pystreed finds the ordinary optimal tree of the same depth. `after`: how many "
        "samples fewer the incumbent keeps at that time, and how many more the upper bound allows, relative to the "
        "best known tree. `MB`: the peak memory of the search, and its ratio to the size of the encoded table.",
        "",
        table_of(results, baselines),
        "",
    ]
    if ratios:
        text.append(
            f"Certainty {SETTINGS[0][0]}, plausibility {SETTINGS[0][1]}, depth 2 and 3: geometric mean of the ratios "
            f"{geometric_mean(ratios):.2f}, largest {max(ratios):.2f}."
        )
    if rest:
        text.append(
            f"The other settings at depth 2 and 3: {proved} of {len(rest)} proved, largest gap "
            f"{max(r['gap'] for r in rest):.2%}."
        )
    times = ", ".join(
        f"{name} {found['seconds']:.3f} s" + ("" if found["proved"] else " (no proof)")
        for name, found in baselines.items()
    )
    return "\n".join([*text, "", f"pystreed: {times}.", ""]) if baselines else "\n".join([*text, ""])


def beside_pystreed(document: dict[str, Any], real: bool | None = None) -> tuple[list[dict[str, Any]], list[float]]:
    """Return depth 2 and 3 in the first setting, and the time of each proof relative to pystreed's ordinary tree.

    Parameters
    ----------
    document : dict
        The results.
    real : bool or None, default=None
        Only the real surveys, or only the synthetic ones; None takes both.
    """
    mild = [r for r in document["results"] if (r["certainty"], r["plausibility"]) == SETTINGS[0] and r["depth"] < 4]
    mild = [r for r in mild if real is None or (r["table"] in REAL) == real]
    baselines = [document["pystreed"].get(f"{r['table']}, depth {r['depth']}", {}) for r in mild]
    both = [
        (r, baseline)
        for r, baseline in zip(mild, baselines, strict=True)
        if r["status"] == "optimal" and baseline.get("proved")
    ]
    return mild, [r["seconds"] / baseline["seconds"] for r, baseline in both]


def headline(document: dict[str, Any]) -> str:
    """Return the main setting in one sentence."""
    mild, _ = beside_pystreed(document)
    (_, real), (_, generated) = (beside_pystreed(document, real) for real in (True, False))
    rest = [r for r in document["results"] if r not in mild and r["depth"] < 4]
    proved = [sum(r["status"] == "optimal" for r in group) for group in (mild, rest)]
    return (
        f"robust trees of depth 2 and 3, certainty {SETTINGS[0][0]}, plausibility {SETTINGS[0][1]}: {proved[0]} of "
        f"{len(mild)} proved, in {geometric_mean(real):.2g} times the time of pystreed's ordinary tree on two real "
        f"surveys, and {geometric_mean(generated):.2g} times on synthetic ones with up to "
        f"{max(r['n_samples'] for r in mild):,} rows, where equal rows are merged; in other settings {proved[1]} of "
        f"{len(rest)} are proved within {document['seconds']:g} s"
    )


def main() -> None:
    """Measure the tables that the options name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--without-pystreed", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULTS / "survey.json")
    parser.add_argument("--call", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.call:
        run_call(args.call, [search, ordinary])
        return
    baselines: dict[str, Any] = {}
    results: list[dict[str, Any]] = []
    for name in args.table:
        for depth in (2, 3) if not args.without_pystreed else ():
            baselines[f"{name}, depth {depth}"] = in_process("benchmarks.survey", "ordinary", name, depth, repeats=3)
            print("pystreed", name, depth, baselines[f"{name}, depth {depth}"], flush=True)
        for depth in (2, 3, 4) if name in DEEP else (2, 3):
            for certainty, plausibility in SETTINGS if depth < 4 else SETTINGS[:1]:
                results.append(measure(name, certainty, plausibility, depth, 60.0 if depth == 4 else args.seconds))
                print(results[-1], flush=True)
        publish(args.out, {"seconds": args.seconds, "pystreed": baselines, "results": results}, page)


if __name__ == "__main__":
    main()
