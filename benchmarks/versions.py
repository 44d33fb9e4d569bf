"""Two versions of the search on the same instances, in one run: time to proof, and bounds on the way.

    HARDWOOD_DATA=... python benchmarks/versions.py CHECKOUT [--depth 4 5] [--seconds 60] [--half tuning]

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

from marks import ROOT, publish, words
from measuring import geometric_mean

HERE = Path(__file__).parent
MOMENTS = (1.0, 10.0, 60.0)
# Runs in either version: the instances were drawn by a module beside the benchmarks before they moved into the package.
WORKER = """
import json, sys, time
instance, seconds, folder = json.loads(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
sys.path.insert(0, folder)
try:
    from hardwood.datasets import load_dataset
    from hardwood.experiments.instances import problem_of
    dataset = load_dataset(instance["table"])
    posed = problem_of(dataset, instance["mean_certainty"], instance["plausibility"], instance["depth"])
except ImportError:
    from tables import problem
    posed = problem(instance["table"], instance["mean_certainty"], instance["plausibility"], instance["depth"])
from hardwood.solvers.base import Limits
from hardwood.solvers.search import SearchSolver
began = time.process_time()
result = SearchSolver().solve(posed, limits=Limits(seconds=seconds))
spent = time.process_time() - began
history = [[event.seconds, event.objective_bound] for event in result.history]
print(json.dumps({"correct": result.worst_case_correct, "upper_bound": result.upper_bound, "seconds": spent,
    "tests": result.branching_nodes, "status": str(result.status), "history": history, "n_samples": posed.n_samples}))
"""


def solved(python: Path | str, folder: Path, instance: dict[str, Any], seconds: float) -> dict[str, Any]:
    """What a version says about an instance."""
    command = [str(python), "-c", WORKER, json.dumps(instance), str(seconds), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20 * seconds + 300)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def bound_at(result: dict[str, Any], moment: float) -> float:
    """The last bound on the objective that was told before a moment; all samples if none was."""
    told = [bound for seconds, bound in result["history"] if seconds <= moment]
    return min([float(result["n_samples"]), *told]) if told else float(result["n_samples"])


def page(document: dict[str, Any]) -> str:
    """The table and where it comes from."""
    told = f"Measured with {words(document)}; other: {document['other']}; limit {document['seconds']:g} s."
    return f"{told}\n\n{table(document['results'])}"


def table(rows: list[dict[str, Any]]) -> str:
    """Geometric means of the ratios where both have a proof, and how far bounds lie above the best tree."""
    lines = [
        "| depth | instances | proved: other | proved: this | both | time to proof, this / other | "
        "median gap at 1, 10, 60 s: other | this |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for depth in sorted({row["depth"] for row in rows}):
        own = [row for row in rows if row["depth"] == depth]
        both = [row for row in own if all(row[who]["status"] == "optimal" for who in ("other", "this"))]
        ratios = [max(row["this"]["seconds"], 1e-4) / max(row["other"]["seconds"], 1e-4) for row in both]
        mean = geometric_mean(ratios) if ratios else math.nan
        proved = {who: sum(row[who]["status"] == "optimal" for row in own) for who in ("other", "this")}
        gaps = {who: ", ".join(f"{_median_gap(own, who, moment):.1%}" for moment in MOMENTS) for who in proved}
        lines.append(
            f"| {depth} | {len(own)} | {proved['other']} | {proved['this']} | {len(both)} | {mean:.2g} | "
            f"{gaps['other']} | {gaps['this']} |"
        )
    return "\n".join(lines) + "\n"


def _median_gap(rows: list[dict[str, Any]], who: str, moment: float) -> float:
    gaps = []
    for row in rows:
        best = max(row["this"]["correct"], row["other"]["correct"])
        ended = row[who]["status"] == "optimal" and row[who]["seconds"] <= moment
        gaps.append(0.0 if ended else max(0.0, bound_at(row[who], moment) - best) / row["this"]["n_samples"])
    return statistics.median(gaps)


def main() -> None:
    """Run the instances that were asked for."""
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
        proofs = {
            (row[who]["correct"], row[who]["tests"]) for who in ("this", "other") if row[who]["status"] == "optimal"
        }
        if len(proofs) > 1:
            raise RuntimeError(f"two proofs differ: {row}")
        for first, second in (("this", "other"), ("other", "this")):
            if row[first]["upper_bound"] < row[second]["correct"]:
                raise RuntimeError(f"{first} claims {row[first]['upper_bound']}, {second} has more: {row}")
        rows.append(row)
        told = ", ".join(
            f"{who} {row[who]['correct']}/{row[who]['upper_bound']} {row[who]['seconds']:.2f} s"
            for who in ("other", "this")
        )
        print(
            f"{instance['table']} depth {instance['depth']} mean {instance['mean_certainty']} plausibility "
            f"{instance['plausibility']}: {told}",
            flush=True,
        )
        publish(args.out, {"seconds": args.seconds, "other": other, "results": rows}, page)
    print(table(rows))


if __name__ == "__main__":
    main()
