"""Peers side by side: the same table, budget, depth and limit, one thread; a time-out or a crash is an outcome.

    HARDWOOD_DATA=... python benchmarks/peers/run.py [--seconds 60] [--group robust] [--method search]

Every run is a process of its own. Each tree is judged by our adversary and by `judge.py`, which must agree; of peers
that keep their trees to themselves, predictions are counted. Results go to benchmarks/results/peers.json as they come;
what is there is not run again. `page.py` makes the page and the plot.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402
from cases import Case, cases  # noqa: E402
from environments import build, python_of  # noqa: E402
from judge import worst_case, worst_case_in_boxes  # noqa: E402

import hardwood as hw  # noqa: E402
from hardwood.trees.tree import Branch, Leaf, Tree  # noqa: E402
from marks import RESULTS, mark, save  # noqa: E402

PATIENCE = 20.0  # seconds beyond the limit after which a process is ended


@dataclass(frozen=True)
class Method:
    """A peer: its environment and adapter, what the adapter is told, and the groups and cases it is for."""

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
    # CBC as it comes with ODTLearn does not keep to its limit: a few easy cases show it.
    "ODTLearn, CBC": Method(
        "odtlearn", "learn_odtlearn", "cbc", takes=lambda case: case.id.startswith("monks") and "/p0.97/d2" in case.id
    ),
}


def run(case: Case, method: str, seconds: float) -> dict[str, Any]:
    """One method on one case: how it ended, its times, and what its tree keeps."""
    own = METHODS[method]
    command = [str(python_of(own.environment)), str(HERE / "adapters" / f"{own.adapter}.py")]
    quiet = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    began = time.perf_counter()
    row: dict[str, Any] = {"case": case.id, "group": case.group, "depth": case.depth, "method": method}
    row["commit"] = mark()["commit"]
    try:
        with tempfile.TemporaryDirectory() as folder:  # ROCT leaves its model where it runs
            done = _process(command, json.dumps(case.task(own.solver, seconds)), seconds + PATIENCE, quiet, folder)
    except subprocess.TimeoutExpired:
        return row | {"outcome": "hung", "seconds": round(time.perf_counter() - began, 3)}
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return row | {"outcome": "failed", "message": last[:200]}
    found = json.loads(done.stdout.strip().splitlines()[-1])
    times = {name: round(found[name], 4) for name in ("seconds", "cpu_seconds")}
    correct = judged(case, found)
    outcome = "greedy" if own.is_greedy else "proved" if found["proved"] else "stopped"
    return row | times | {"outcome": outcome, "correct": correct, "rows": len(case.labels)}


def _process(
    command: list[str], task: str, seconds: float, environment: dict[str, str], folder: str
) -> subprocess.CompletedProcess[str]:
    words: dict[str, Any] = {"capture_output": True, "text": True, "check": False}
    return subprocess.run(command, input=task, timeout=seconds, env=environment, cwd=folder, **words)


def judged(case: Case, found: dict[str, Any]) -> int:
    """Rows that stay correct, counted in two ways."""
    if "correct" in found:
        return int(found["correct"])
    if "predictions" in found:
        return int(np.sum(np.array(found["predictions"]) == np.array(case.labels)))
    table = hw.encode(np.array(case.values), kinds="integer")
    classes = sorted(set(case.labels))
    tree = Tree(table.features, classes, _grown(found["tree"], classes))
    if case.radius is not None:
        shifts = hw.UncertaintySet.boxes(table, radius=case.radius)
    else:
        costs = [math.inf if price is None else price for price in case.prices]
        shifts = hw.UncertaintySet.priced(table, costs=costs, budget=case.budget)
    labels = hw.encode_labels(np.array(case.labels), table.n_samples, classes=classes)
    ours = hw.attack(tree, labels, shifts).worst_case_correct
    if case.radius is not None:
        plain = worst_case_in_boxes(found["tree"], case.values, case.labels, case.radius)
    else:
        prices = [math.inf if price is None else price for price in case.prices]
        plain = worst_case(found["tree"], case.values, case.labels, prices, case.budget)
    if ours != plain:
        raise AssertionError(f"{case.id}: our adversary says {ours}, plain arithmetic {plain}")
    return int(ours)


def _grown(tree: Any, classes: list[int]) -> Branch | Leaf:
    if tree[0] == "leaf":
        return Leaf(classes.index(tree[1]))
    return Branch(tree[1], tree[2], _grown(tree[3], classes), _grown(tree[4], classes))


def main() -> None:
    """Run what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--group", nargs="*", default=EVERYWHERE)
    parser.add_argument("--method", nargs="*", default=list(METHODS))
    parser.add_argument("--out", type=Path, default=RESULTS / "peers.json")
    parser.add_argument("--only", type=int, help="so many cases of each group")
    args = parser.parse_args()
    for environment in {METHODS[method].environment for method in args.method} - {"hardwood"}:
        build(environment)
    held = (
        json.loads(args.out.read_text()) if args.out.exists() else {"seconds": args.seconds, "results": [], "marks": []}
    )
    if held["seconds"] != args.seconds:
        raise SystemExit(
            f"{args.out} was measured with {held['seconds']:g} s; give another --out for {args.seconds:g} s"
        )
    rows = held["results"]
    known = {(row["case"], row["group"], row["method"]) for row in rows}
    posed = [case for group in args.group for case in [case for case in cases() if case.group == group][: args.only]]
    for method, own in ((name, METHODS[name]) for name in args.method):
        for case in posed:
            if case.group not in own.groups or not own.takes(case) or (case.id, case.group, method) in known:
                continue
            row = run(case, method, args.seconds)
            rows.append(row)
            print(f"{case.group:18} {case.id:26} {method:18} {row}", flush=True)
            save(args.out, {"seconds": args.seconds, "results": rows}, held["marks"])


if __name__ == "__main__":
    main()
