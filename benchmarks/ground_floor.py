"""How fast and how large: margins, budget curve and calibration on a million rows.

Each case runs in a process of its own, so that its peak memory is its own. Results go to benchmarks/results as JSON.

    python benchmarks/ground_floor.py [--rows 1000000] [--features 20]
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
from hardwood.data.features import Table
from hardwood.shift.calibration import bounded_price
from hardwood.trees.tree import Branch, Leaf, Node, Tree
from marks import RESULTS, publish, words

DEPTH = 5
SECONDS, MEMORY = "margins and curve, seconds", "peak memory above the input, in sizes of the input"


def full_tree(rng: np.random.Generator, table: Table, depth: int) -> Node:
    """A complete tree with random tests and labels."""
    if depth == 0:
        return Leaf(int(rng.integers(0, 2)))
    j = int(rng.integers(0, len(table.features)))
    feature = table.features[j]
    code = int(rng.integers(feature.low, feature.high + (not feature.ordered)))
    return Branch(j, code, full_tree(rng, table, depth - 1), full_tree(rng, table, depth - 1))


def timed(seconds: dict[str, float], name: str, work: Callable[[], object]) -> object:
    """Run the work and note how long it took."""
    began = time.perf_counter()
    result = work()
    seconds[name] = time.perf_counter() - began
    return result


def attack_case(rows: int, features: int, kinds: str, per_sample: bool) -> dict[str, object]:
    """Margins, worst case, curve and worst shift of a 32-leaf tree."""
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
    """Prices of bounded cells, every cell with bounds and certainty of its own."""
    rng = np.random.default_rng(2)
    below, above = rng.integers(0, 50, (2, rows))
    certainty = rng.uniform(0.6, 0.999, rows)
    seconds: dict[str, float] = {}
    timed(seconds, "roots", lambda: bounded_price(certainty, below, above))
    return {"cells": rows, "seconds": seconds}


def peak_bytes() -> int:
    """Largest memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


CASES: dict[str, Callable[[argparse.Namespace], dict[str, object]]] = {
    "integers": lambda args: attack_case(args.rows, args.features, "integer", per_sample=False),
    "integers, certainty by cell": lambda args: attack_case(args.rows, args.features, "integer", per_sample=True),
    "ordinals, certainty by cell": lambda args: attack_case(args.rows, args.features, "ordinal", per_sample=True),
    "categories": lambda args: attack_case(args.rows, args.features, "categorical", per_sample=False),
    "bounded cells": lambda args: calibration_case(args.rows),
}


def page(document: dict[str, Any]) -> str:
    """The results as a table."""
    parts = ("encode", "calibrate", "margins", "curve", "worst shift", "roots")
    lines = [
        "# Prices, margins and worst cases",
        "",
        f"Measured with {words(document)}; written by `benchmarks/ground_floor.py`: {document['rows']:,} rows, "
        f"{document['features']} columns, a tree with {2**DEPTH} leaves, certainties by column unless said otherwise; "
        "seconds by the clock.",
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
    """The first case in a sentence."""
    return (
        f"the worst case of a tree with {2**DEPTH} leaves on {document['rows']:,} rows and {document['features']} "
        f"columns, for every budget: {document['cases']['integers'][SECONDS]:.2f} s"
    )


def main() -> None:
    """Run all cases, or print the JSON of one."""
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
        command = [sys.executable, __file__, "--case", case, f"--rows={args.rows}", f"--features={args.features}"]
        results[case] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        print(f"{case}: {json.dumps(results[case])}")
    content = {"rows": args.rows, "features": args.features, "cases": results}
    print(page(publish(RESULTS / "ground_floor.json", content, page)))


if __name__ == "__main__":
    main()
