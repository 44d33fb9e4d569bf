"""A gate against slower or different searches, by numbers without noise: work, instructions, results.

    python -m benchmarks.gate                   # compare this version with the recorded numbers
    python -m benchmarks.gate --record          # record the numbers of this version
    python -m benchmarks.gate --base COMMIT     # compare with another version, built in build/base (make bench-compare)
    python -m benchmarks.gate --base COMMIT --work-only   # without instructions, which take minutes and need valgrind
    HARDWOOD_DATA=... python -m benchmarks.gate --base COMMIT --grid [--work-limit 1000]

With one thread the search does the same work in every run, so one run is enough. All tables are generated; each is
solved to a proof. The search must find the same values and sizes, and its work must not grow: not by more than
`MAX_MEAN` in the geometric mean, nor by more than `MAX_SINGLE` on one instance; instructions not by more than
`MAX_INSTRUCTIONS`.

`--grid` shows that a refactoring changes nothing: both versions solve the paper's tables at depth 2 to 4 within a limit
on work, and must return the same trees, values, sizes, bounds and work on every instance.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.measuring import geometric_mean
from benchmarks.records import RESULTS, ROOT, load, save

RECORD = RESULTS / "gate.json"
MAX_MEAN, MAX_SINGLE, MAX_INSTRUCTIONS = 1.05, 1.5, 1.1
COUNTED = ("survey/d3", "ages/d3")  # instances whose instructions are counted
MAX_LISTED = 20  # differences on the grid that are printed
# Workers run in either version, in a process of its own: they use only names that both versions have.
WORKER = """
import json, sys
import numpy as np
import hardwood as hw
from hardwood.datasets import load_dataset
from hardwood.experiments.instances import problem_of
from hardwood.solvers.search import SearchSolver

def survey(n_samples, n_columns, depth):
    rng = np.random.default_rng([n_columns, depth])
    values = (rng.normal(size=(n_samples, 1)) + rng.normal(size=(n_samples, n_columns)) > 0).astype(np.int32)
    y = (values[:, 0] & values[:, 1]) | values[:, 2]
    y = np.where(rng.random(n_samples) < 0.1, 1 - y, y)
    table = hw.encode(values)
    certainty = rng.uniform(0.6, 0.95, n_columns)
    uncertainty = hw.UncertaintySet.calibrated(table, certainty=certainty, plausibility=0.97)
    return hw.Problem(hw.encode_labels(y, n_samples), uncertainty, depth)

def ages(n_samples, depth):
    rng = np.random.default_rng(depth)
    values = {"age": rng.integers(18, 80, n_samples), "rating": rng.integers(1, 6, n_samples)}
    y = (values["age"] > 45) ^ (rng.random(n_samples) < 0.2)
    table = hw.encode(values)
    uncertainty = hw.UncertaintySet.calibrated(table, certainty=0.8, plausibility=0.95)
    return hw.Problem(hw.encode_labels(y, n_samples), uncertainty, depth)

problems = {}
for name in ("balance-scale", "monks-1-sample", "tic-tac-toe"):
    for certainty, level in ((0.7, 0.85), (0.9, 0.95)):
        for depth in (2, 3):
            problems[f"{name}/c{certainty}/p{level}/d{depth}"] = problem_of(load_dataset(name), certainty, level, depth)
for depth in (2, 3, 4):
    problems[f"survey/d{depth}"] = survey(400, 10, depth)
for depth in (2, 3):
    problems[f"ages/d{depth}"] = ages(600, depth)
selected = [name for name in sys.argv[1:] if name != "nothing"] if sys.argv[1:] else list(problems)
results = {}
for name in selected:
    result = SearchSolver().solve(problems[name])
    results[name] = {
        "work": result.work, "correct": result.worst_case_correct, "branching_nodes": result.branching_nodes
    }
print(json.dumps(results))
"""

GRID_WORKER = """
import json, sys
from hardwood.datasets import PAPER_DATASETS, load_dataset
from hardwood.experiments.instances import problem_of
from hardwood.solvers.base import Limits
from hardwood.solvers.search import SearchSolver

for depth in (2, 3, 4):
    for name in PAPER_DATASETS:
        dataset = load_dataset(name)
        for certainty in (0.6, 0.7, 0.8, 0.9):
            for level in (0.5, 0.75, 0.85, 0.9, 0.95, 0.97, 0.99, 1.0):
                problem = problem_of(dataset, certainty, level, depth)
                result = SearchSolver().solve(problem, limits=Limits(work=int(sys.argv[1])))
                row = {
                    "tree": [[int(entry) for entry in node] for node in problem.heap(result.tree)],
                    "correct": float(result.worst_case_correct),
                    "branching_nodes": result.branching_nodes,
                    "upper_bound": float(result.upper_bound),
                    "objective_bound": result.objective_bound,
                    "any_model_bound": float(result.any_model_bound),
                    "status": str(result.status),
                    "work": result.work,
                }
                print(json.dumps([f"{name}/c{certainty}/p{level}/d{depth}", row]), flush=True)
"""


def measured(python: Path | str = sys.executable, names: list[str] | None = None) -> dict[str, dict[str, int]]:
    """Return the results of a version on each instance, from a process of its own."""
    done = subprocess.run([str(python), "-c", WORKER, *(names or [])], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measured_grid(python: Path | str, work_limit: int) -> dict[str, dict[str, Any]]:
    """Return the results of a version on the grid of the paper's tables, from a process of its own."""
    done = subprocess.run(
        [str(python), "-c", GRID_WORKER, str(work_limit)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{python} failed on the grid: {done.stderr.strip()[-500:]}")
    return dict(json.loads(line) for line in done.stdout.splitlines())


def instructions(python: Path | str) -> dict[str, int]:
    """Return the instructions for each instance: those of a process that solves it, less those of an idle process."""
    idle = _counted(python, "nothing")
    return {name: _counted(python, name) - idle for name in COUNTED}


def _counted(python: Path | str, name: str) -> int:
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(python), "-c", WORKER, name]
    reproducible = os.environ | {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=reproducible)
    return int(re.findall(r"Collected : (\d+)", done.stderr)[-1])


def compared(base: Mapping[str, Any], this: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the lines of a table of work, and the failures."""
    names = [name for name in base if name in this]
    ratios = {name: (this[name]["work"] + 1) / (base[name]["work"] + 1) for name in names}
    mean = geometric_mean(ratios.values())
    lines = [f"{'instance':36} {'base':>9} {'this':>9}  ratio"]
    lines += [f"{name:36} {base[name]['work']:9} {this[name]['work']:9}  {ratios[name]:.2f}" for name in names]
    lines.append(f"geometric mean of the ratios {mean:.3f}, largest {max(ratios.values()):.2f}")
    failures = [
        f"{name}: {base[name]['correct']} correct with {base[name]['branching_nodes']} splits before, "
        f"now {this[name]['correct']} with {this[name]['branching_nodes']}"
        for name in names
        if any(base[name][key] != this[name][key] for key in ("correct", "branching_nodes"))
    ]
    failures += [f"{name}: this instance is missing now" for name in base if name not in this]
    if mean > MAX_MEAN:
        failures.append(f"the work grew by a factor of {mean:.3f} in the geometric mean; the limit is {MAX_MEAN}")
    failures += [f"{name}: the work grew by a factor of {r:.2f}" for name, r in ratios.items() if r > MAX_SINGLE]
    return lines, failures


def compared_instructions(base: Mapping[str, int], this: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """Return the lines of a table of instructions, and the failures."""
    ratios = {name: this[name] / max(base[name], 1) for name in base}
    lines = [
        f"instructions, {name}: {base[name]:,} before, {this[name]:,} now, ratio {r:.3f}" for name, r in ratios.items()
    ]
    failures = [f"{name}: {r:.3f} times the instructions" for name, r in ratios.items() if r > MAX_INSTRUCTIONS]
    return lines, failures


def compared_grid(base: Mapping[str, Mapping[str, Any]], this: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the differences between two versions on the grid; every number must be equal."""
    differences = [f"{name}: only one version solved this instance" for name in sorted(base.keys() ^ this.keys())]
    for name in (name for name in base if name in this):
        keys = [key for key in base[name] if base[name][key] != this[name].get(key)]
        if keys:
            pairs = ", ".join(f"{key} {base[name][key]} before, {this[name].get(key)} now" for key in keys)
            differences.append(f"{name}: {pairs}")
    return differences


def built(commit: str) -> Path:
    """Return the interpreter of another version, installed into build/base/COMMIT."""
    command = ["git", "rev-parse", "--short", "--verify", f"{commit}^{{commit}}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"BASE is {commit!r}; expected a commit, a branch or a tag of this checkout")
    name = done.stdout.strip()
    folder = ROOT / "build" / "base" / name
    python = folder / ".venv" / "bin" / "python"
    if not (folder / "installed").exists():
        print(f"building {name} in {folder}", flush=True)
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", str(ROOT), str(folder)], check=True)
        subprocess.run(["git", "checkout", "--quiet", name], cwd=folder, check=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder / ".venv")], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", str(folder)], check=True)
        (folder / "installed").touch()
    return python


def check_grid(python: Path | str, work_limit: int) -> None:
    """Compare this version with another one on the grid; end with the differences, if there are any."""
    base, this = measured_grid(python, work_limit), measured_grid(sys.executable, work_limit)
    differences = compared_grid(base, this)
    if differences:
        listed = differences[:MAX_LISTED] + (["..."] if len(differences) > MAX_LISTED else [])
        raise SystemExit("\n".join([*listed, f"{len(differences)} of {len(base)} instances differ"]))
    print(f"the same trees, values, sizes, bounds and work on all {len(base)} instances")


def main() -> None:
    """Compare with the recorded numbers or with another version, or record the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--work-only", action="store_true")
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--work-limit", type=int, default=1000, help="limit on work for each instance of the grid")
    args = parser.parse_args()
    if args.grid and (not args.base or not os.environ.get("HARDWOOD_DATA")):
        parser.error("--grid compares with another version on the paper's tables; give --base COMMIT and HARDWOOD_DATA")
    python = built(args.base) if args.base else None
    if args.grid and python:
        check_grid(python, args.work_limit)
        return
    this = measured()
    if args.record:
        save(RECORD, {"results": this})
        print(f"recorded {len(this)} instances in {RECORD}")
        return
    lines, failures = compared(measured(python) if python else load(RECORD)["results"], this)
    print("\n".join(lines))
    if python and not args.work_only:
        if shutil.which("valgrind"):
            more_lines, more_failures = compared_instructions(instructions(python), instructions(sys.executable))
            print("\n".join(more_lines))
            failures += more_failures
        else:
            print("valgrind is not installed: instructions were not counted")
    if failures:
        raise SystemExit("\n".join(failures))


if __name__ == "__main__":
    main()
