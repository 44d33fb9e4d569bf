"""Time and memory of the core operations on a million rows: margins, budget curve and calibration.

    python -m benchmarks.core_operations [--rows 1000000] [--features 20]

Each case runs in a process of its own, so that its peak memory is measured separately. Results go to
results/ground_floor.json, a page to results/ground_floor.md.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import hardwood as hw
from benchmarks.records import RESULTS, ROOT, provenance_text, publish
from hardwood.data.table import Table
from hardwood.shifts.calibration import bounded_cost
from hardwood.trees.tree import Branch, Leaf, Node, Tree

DEPTH = 5
SECONDS, MEMORY = "margins and curve, seconds", "peak memory above the input, in sizes of the input"


def full_tree(rng: np.random.Generator, table: Table, depth: int) -> Node:
    """Return a complete tree with random splits and labels."""
    if depth == 0:
        return Leaf(int(rng.integers(0, 2)))
    j = int(rng.integers(0, len(table.features)))
    feature = table.features[j]
    code = int(rng.integers(feature.low, feature.high + (not feature.ordered)))
    return Branch(j, code, full_tree(rng, table, depth - 1), full_tree(rng, table, depth - 1))


def timed(seconds: dict[str, float], name: str, work: Callable[[], object]) -> object:
    """Run a function and record its time under a name."""
    began = time.perf_counter()
    result = work()
    seconds[name] = time.perf_counter() - began
    return result


def attack_case(rows: int, features: int, kinds: str, per_sample: bool) -> dict[str, object]:
    """Measure margins, curve and worst shift of a tree with 32 leaves."""
    rng = np.random.default_rng(1)
    values = rng.integers(0, 10, (rows, features))
    seconds: dict[str, float] = {}
    before = peak_bytes()
    table = timed(seconds, "encode", lambda: hw.encode(values, kinds=kinds))
    tree = Tree(table.features, (0, 1), full_tree(rng, table, DEPTH))
    labels = hw.encode_labels(tree.predict(table) ^ (rng.random(rows) < 0.1), rows, classes=(0, 1))
    certainty = rng.uniform(0.6, 0.99, (rows, features) if per_sample else features)
    uncertainty = timed(
        seconds, "calibrate", lambda: hw.UncertaintySet.calibrated(table, certainty=certainty, plausibility=0.9)
    )
    attack = timed(seconds, "margins", lambda: hw.attack(tree, labels, uncertainty))
    timed(seconds, "curve", lambda: attack.curve)
    after = peak_bytes()
    timed(seconds, "worst shift", lambda: attack.shift)
    return {
        "leaves": len(tree.regions),
        "seconds": seconds,
        SECONDS: seconds["margins"] + seconds["curve"],
        MEMORY: (after - before) / values.nbytes,
        "worst-case accuracy": attack.worst_case_accuracy,
        "changed values": len(attack.shift),
    }


def calibration_case(rows: int) -> dict[str, object]:
    """Measure the calibration of bounded cells; every cell has its own bounds and certainty."""
    rng = np.random.default_rng(2)
    below, above = rng.integers(0, 50, (2, rows))
    certainty = rng.uniform(0.6, 0.999, rows)
    seconds: dict[str, float] = {}
    timed(seconds, "roots", lambda: bounded_cost(certainty, below, above))
    return {"cells": rows, "seconds": seconds}


def peak_bytes() -> int:
    """Return the peak memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


CASES: dict[str, Callable[[argparse.Namespace], dict[str, object]]] = {
    "integers": lambda args: attack_case(args.rows, args.features, "integer", per_sample=False),
    "integers, certainty by cell": lambda args: attack_case(args.rows, args.features, "integer", per_sample=True),
    "ordinals, certainty by cell": lambda args: attack_case(args.rows, args.features, "ordinal", per_sample=True),
    "categories": lambda args: attack_case(args.rows, args.features, "categorical", per_sample=False),
    "bounded cells": lambda args: calibration_case(args.rows),
}


def page(document: dict[str, Any]) -> str:
    """Return the page of the results."""
    parts = ("encode", "calibrate", "margins", "curve", "worst shift", "roots")
    lines = [
        "# Costs, margins and worst cases",
        "",
        f"Measured with {provenance_text(document)}; written by `benchmarks/core_operations.py`: {document['rows']:,} "
        f"rows, {document['features']} columns, a tree with {2**DEPTH} leaves, certainties by column unless the case "
        "states otherwise; wall-clock seconds.",
        "",
        f"| case | {' | '.join(f'{part}, s' for part in parts)} | memory, in sizes of the input |",
        "|---" * (len(parts) + 2) + "|",
    ]
    for name, case in document["cases"].items():
        times = [f"{case['seconds'][part]:.2f}" if part in case["seconds"] else "" for part in parts]
        size = case.get(MEMORY)
        lines.append(f"| {name} | {' | '.join(times)} | {'' if size is None else f'{size:.1f}'} |")
    return "\n".join(lines) + "\n"


def headline(document: dict[str, Any]) -> str:
    """Return the first case in one sentence."""
    return (
        f"the worst case of a tree with {2**DEPTH} leaves on {document['rows']:,} rows and {document['features']} "
        f"columns, for every budget: {document['cases']['integers'][SECONDS]:.2f} s"
    )


def main() -> None:
    """Run all cases, or print the result of one as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--case", choices=CASES, help="run one case and print its JSON")
    args = parser.parse_args()
    if args.case:
        print(json.dumps(CASES[args.case](args)))
        return
    results = {}
    for case in CASES:
        options = [f"--rows={args.rows}", f"--features={args.features}"]
        command = [sys.executable, "-m", "benchmarks.core_operations", "--case", case, *options]
        results[case] = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
        print(f"{case}: {json.dumps(results[case])}")
    content = {"rows": args.rows, "features": args.features, "cases": results}
    print(page(publish(RESULTS / "ground_floor.json", content, page)))


if __name__ == "__main__":
    main()
