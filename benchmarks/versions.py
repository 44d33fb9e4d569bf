"""Two versions of the search on the same instances, in one run: time to the proof, and bounds over time.

    HARDWOOD_DATA=... python -m benchmarks.versions CHECKOUT [--depth 4 5] [--seconds 60] [--half tuning]

CHECKOUT is a folder with another commit, installed into CHECKOUT/.venv. Each instance is solved by one version, then
by the other, each in a process of its own with one thread; seconds are processor time. Results go to
build/versions.json, and a table to build/versions.md. For work instead of time, see gate.py.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.measuring import geometric_mean
from benchmarks.records import ROOT, provenance_text, publish

HERE = Path(__file__).parent
MOMENTS = (1.0, 10.0, 60.0)
VERSIONS = ("other", "this")
# Runs in either version. In old versions, a module beside the benchmarks draws the instances.
WORKER = """
import json, sys, time
instance, seconds, folder = json.loads(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
sys.path.insert(0, folder)
try:
    from hardwood.datasets import load_dataset
    from hardwood.experiments.instances import problem_of
    dataset = load_dataset(instance["table"])
    problem = problem_of(dataset, instance["mean_certainty"], instance["plausibility"], instance["depth"])
except ImportError:
    import tables
    problem = tables.problem(instance["table"], instance["mean_certainty"], instance["plausibility"], instance["depth"])
from hardwood.solvers.base import Limits
from hardwood.solvers.search import SearchSolver
began = time.process_time()
result = SearchSolver().solve(problem, limits=Limits(seconds=seconds))
spent = time.process_time() - began
history = [[event.seconds, event.objective_bound] for event in result.history]
print(json.dumps({"correct": result.worst_case_correct, "upper_bound": result.upper_bound, "seconds": spent,
    "branching_nodes": result.branching_nodes, "status": str(result.status), "history": history,
    "n_samples": problem.n_samples}))
"""


def solved(python: Path | str, folder: Path, instance: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Solve an instance with a version, in a process of its own."""
    command = [str(python), "-c", WORKER, json.dumps(instance), str(seconds), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20 * seconds + 300)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def bound_at(result: dict[str, Any], moment: float) -> float:
    """Return the bound on the objective at a moment; the number of samples if there was none yet."""
    bounds = [bound for seconds, bound in result["history"] if seconds <= moment]
    return min([float(result["n_samples"]), *bounds])


def page(document: dict[str, Any]) -> str:
    """Return the page of the results."""
    source = f"Measured with {provenance_text(document)}; other: {document['other']}; limit {document['seconds']:g} s."
    return f"{source}\n\n{table(document['results'])}"


def table(rows: list[dict[str, Any]]) -> str:
    """Return geometric means of the ratios where both have a proof, and how far bounds lie above the best tree."""
    lines = [
        "| depth | instances | proved: other | proved: this | both | time to proof, this / other | "
        "median gap at 1, 10, 60 s: other | this |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for depth in sorted({row["depth"] for row in rows}):
        group = [row for row in rows if row["depth"] == depth]
        both = [row for row in group if all(row[version]["status"] == "optimal" for version in VERSIONS)]
        ratios = [max(row["this"]["seconds"], 1e-4) / max(row["other"]["seconds"], 1e-4) for row in both]
        mean = geometric_mean(ratios) if ratios else math.nan
        proved = {version: sum(row[version]["status"] == "optimal" for row in group) for version in VERSIONS}
        gaps = {
            version: ", ".join(f"{_median_gap(group, version, moment):.1%}" for moment in MOMENTS)
            for version in VERSIONS
        }
        lines.append(
            f"| {depth} | {len(group)} | {proved['other']} | {proved['this']} | {len(both)} | {mean:.2g} | "
            f"{gaps['other']} | {gaps['this']} |"
        )
    return "\n".join(lines) + "\n"


def _median_gap(rows: list[dict[str, Any]], version: str, moment: float) -> float:
    gaps = []
    for row in rows:
        best = max(row["this"]["correct"], row["other"]["correct"])
        proved = row[version]["status"] == "optimal" and row[version]["seconds"] <= moment
        gaps.append(0.0 if proved else max(0.0, bound_at(row[version], moment) - best) / row["this"]["n_samples"])
    return statistics.median(gaps)


def check(row: dict[str, Any]) -> None:
    """Check that the two versions do not contradict each other."""
    proofs = {
        (row[version]["correct"], row[version]["branching_nodes"])
        for version in VERSIONS
        if row[version]["status"] == "optimal"
    }
    if len(proofs) > 1:
        raise RuntimeError(f"two proofs differ: {row}")
    for first, second in (VERSIONS, VERSIONS[::-1]):
        if row[first]["upper_bound"] < row[second]["correct"]:
            raise RuntimeError(f"{first} claims {row[first]['upper_bound']}, {second} has more: {row}")


def main() -> None:
    """Run the instances that the options select."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--depth", type=int, nargs="*", default=[2, 3, 4, 5])
    parser.add_argument("--half", choices=["tuning", "held out", "all"], default="all")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "versions.json")
    args = parser.parse_args()
    grid = json.loads((HERE / "search_grid.json").read_text())
    commit = ["git", "-C", str(args.checkout), "rev-parse", "--short", "HEAD"]
    other = subprocess.run(commit, capture_output=True, text=True, check=True).stdout.strip()
    rows: list[dict[str, Any]] = []
    for instance in grid:
        if args.half not in ("all", instance["half"]) or instance["depth"] not in args.depth:
            continue
        row = instance | {
            "other": solved(args.checkout / ".venv/bin/python", args.checkout / "benchmarks", instance, args.seconds),
            "this": solved(sys.executable, HERE, instance, args.seconds),
        }
        check(row)
        rows.append(row)
        results = ", ".join(
            f"{version} {row[version]['correct']}/{row[version]['upper_bound']} {row[version]['seconds']:.2f} s"
            for version in VERSIONS
        )
        print(
            f"{instance['table']} depth {instance['depth']} mean {instance['mean_certainty']} plausibility "
            f"{instance['plausibility']}: {results}",
            flush=True,
        )
        publish(args.out, {"seconds": args.seconds, "other": other, "results": rows}, page)
    print(table(rows))


if __name__ == "__main__":
    main()
