"""Runs other packages on the same tables: same budget, depth and limit, one thread; a time-out or crash is an outcome.

    HARDWOOD_DATA=... python -m benchmarks.peers.run [--seconds 60] [--group robust] [--method search]

Every run is a process of its own. Each tree is attacked by `hardwood.attack` and by `reference.py`, which must agree;
for packages that do not expose their trees, correct predictions are counted. Results are added to
benchmarks/results/peers.json one by one; recorded runs are not repeated. `page.py` makes the page and the plot.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hardwood as hw
from benchmarks.peers.cases import Case, cases
from benchmarks.peers.environments import build, python_of
from benchmarks.peers.reference import worst_case, worst_case_in_boxes
from benchmarks.records import RESULTS, load, provenance, save
from hardwood.trees.tree import Branch, Leaf, Tree

HERE = Path(__file__).resolve().parent
GRACE = 20.0  # seconds beyond the limit after which a process is ended


@dataclass(frozen=True)
class Method:
    """A method of a package.

    Attributes
    ----------
    environment, adapter : str
        The virtual environment, and the script in `adapters` that runs there.
    solver : str
        The `solver` of the task that the adapter reads.
    groups : tuple of str
        Groups of cases that the method supports.
    takes : callable
        Whether the method is run on a case.
    is_greedy : bool
        Whether the method claims no optimality.
    """

    environment: str
    adapter: str
    solver: str = ""
    groups: tuple[str, ...] = ("robust",)
    takes: Callable[[Case], bool] = lambda _: True
    is_greedy: bool = False


EVERYWHERE = ("robust", "robust, all rows", "ordinary", "boxes")
ORDINARY, BOXES = ("ordinary",), ("boxes",)
METHODS = {
    "search": Method("hardwood", "learn_hardwood", "search", EVERYWHERE),
    "CART": Method("hardwood", "learn_cart", groups=EVERYWHERE[:3], is_greedy=True),
    "pystreed": Method("optimal", "learn_pystreed", groups=ORDINARY),
    "pydl8.5": Method("optimal", "learn_dl85", groups=ORDINARY),
    "pycontree": Method("optimal", "learn_contree", groups=ORDINARY),
    "GOSDT": Method("gosdt", "learn_gosdt", groups=ORDINARY),
    "ROCT": Method("boxes", "learn_boxes", "roct", BOXES),
    "GROOT": Method("boxes", "learn_boxes", "groot", BOXES, is_greedy=True),
    "our GROOT": Method("hardwood", "learn_hardwood", "groot", BOXES, is_greedy=True),
    "ODTLearn, Gurobi": Method("odtlearn", "learn_odtlearn", "gurobi"),
    "our Gurobi": Method("hardwood", "learn_hardwood", "gurobi"),
    "our SCIP": Method("hardwood", "learn_hardwood", "scip", takes=lambda case: case.depth == 2),
    # CBC as installed by ODTLearn ignores its time limit: a few easy cases show it.
    "ODTLearn, CBC": Method(
        "odtlearn", "learn_odtlearn", "cbc", takes=lambda case: case.id.startswith("monks") and "/p0.97/d2" in case.id
    ),
}


def run(case: Case, name: str, seconds: float) -> dict[str, Any]:
    """Run a method on a case; return the outcome, the times, and the rows that its tree keeps correct."""
    method = METHODS[name]
    command = [str(python_of(method.environment)), str(HERE / "adapters" / f"{method.adapter}.py")]
    one_thread = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    began = time.perf_counter()
    row: dict[str, Any] = {"case": case.id, "group": case.group, "depth": case.depth, "method": name}
    row["commit"] = provenance()["commit"]
    try:
        with tempfile.TemporaryDirectory() as folder:  # ROCT writes its model into the current folder
            done = subprocess.run(
                command,
                input=json.dumps(case.task(method.solver, seconds)),
                timeout=seconds + GRACE,
                env=one_thread,
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
    except subprocess.TimeoutExpired:
        return row | {"outcome": "hung", "seconds": round(time.perf_counter() - began, 3)}
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return row | {"outcome": "failed", "message": last[:200]}
    result = json.loads(done.stdout.strip().splitlines()[-1])
    times = {key: round(result[key], 4) for key in ("seconds", "cpu_seconds")}
    outcome = "greedy" if method.is_greedy else "proved" if result["proved"] else "stopped"
    return row | times | {"outcome": outcome, "correct": n_correct(case, result), "rows": len(case.labels)}


def n_correct(case: Case, result: dict[str, Any]) -> int:
    """Return the rows that stay correct; the worst case of a tree is computed in two independent ways."""
    if "correct" in result:
        return int(result["correct"])
    if "predictions" in result:
        return int(np.sum(np.array(result["predictions"]) == np.array(case.labels)))
    table = hw.encode(np.array(case.values), kinds="integer")
    classes = sorted(set(case.labels))
    costs = [math.inf if cost is None else cost for cost in case.costs]
    if case.radius is not None:
        uncertainty = hw.UncertaintySet.boxes(table, radius=case.radius)
        expected = worst_case_in_boxes(result["tree"], case.values, case.labels, case.radius)
    else:
        uncertainty = hw.UncertaintySet.priced(table, costs=costs, budget=case.budget)
        expected = worst_case(result["tree"], case.values, case.labels, costs, case.budget)
    tree = Tree(table.features, classes, _node(result["tree"], classes))
    labels = hw.encode_labels(np.array(case.labels), table.n_samples, classes=classes)
    attacked = hw.attack(tree, labels, uncertainty).worst_case_correct
    if attacked != expected:
        raise AssertionError(f"{case.id}: hardwood.attack gives {attacked}, plain arithmetic {expected}")
    return int(attacked)


def _node(tree: Any, classes: list[int]) -> Branch | Leaf:
    if tree[0] == "leaf":
        return Leaf(classes.index(tree[1]))
    return Branch(tree[1], tree[2], _node(tree[3], classes), _node(tree[4], classes))


def main() -> None:
    """Run the cases that are not recorded yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--group", nargs="*", default=EVERYWHERE)
    parser.add_argument("--method", nargs="*", default=list(METHODS))
    parser.add_argument("--out", type=Path, default=RESULTS / "peers.json")
    parser.add_argument("--only", type=int, help="number of cases of each group")
    args = parser.parse_args()
    for environment in {METHODS[method].environment for method in args.method} - {"hardwood"}:
        build(environment)
    recorded = load(args.out) if args.out.exists() else {"seconds": args.seconds, "results": [], "marks": []}
    if recorded["seconds"] != args.seconds:
        raise SystemExit(
            f"{args.out} was measured with {recorded['seconds']:g} s; give another --out for {args.seconds:g} s"
        )
    rows = recorded["results"]
    done = {(row["case"], row["group"], row["method"]) for row in rows}
    selected = [case for group in args.group for case in [case for case in cases() if case.group == group][: args.only]]
    for name in args.method:
        method = METHODS[name]
        for case in selected:
            if case.group not in method.groups or not method.takes(case) or (case.id, case.group, name) in done:
                continue
            row = run(case, name, args.seconds)
            rows.append(row)
            print(f"{case.group:18} {case.id:26} {name:18} {row}", flush=True)
            save(args.out, {"seconds": args.seconds, "results": rows}, recorded["marks"])


if __name__ == "__main__":
    main()
