"""A gate against slower searches, in numbers that noise does not touch: work done and instructions executed.

    python benchmarks/gate.py                   # this version beside the numbers that are recorded
    python benchmarks/gate.py --record          # record the numbers of this version
    python benchmarks/gate.py --base COMMIT     # beside another version, built in build/base (make bench-compare)
    python benchmarks/gate.py --base COMMIT --work-only   # without instructions, which take minutes and need valgrind

With one thread the search does the same work in every run, so one run is enough. All tables are generated; each is
solved to a proof. The search must find the same numbers, and its work must not grow: by no more than `MOST_MEAN` in
the geometric mean, nor by more than `MOST_SINGLE` on one instance; instructions by no more than `MOST_INSTRUCTIONS`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from marks import RESULTS, ROOT, save
from measuring import geometric_mean

RECORD = RESULTS / "gate.json"
MOST_MEAN, MOST_SINGLE, MOST_INSTRUCTIONS = 1.05, 1.5, 1.1
COUNTED = ("survey/d3", "ages/d3")  # instances whose instructions are counted
# Runs in either version, from a file of its own: names that both know are used alone.
WORKER = """
import json, sys
import numpy as np
import hardwood as hw
from hardwood.datasets import load_dataset
from hardwood.experiments.instances import problem_of
from hardwood.solvers.search import SearchSolver

def survey(n_samples, n_questions, depth):
    rng = np.random.default_rng([n_questions, depth])
    values = (rng.normal(size=(n_samples, 1)) + rng.normal(size=(n_samples, n_questions)) > 0).astype(np.int32)
    y = (values[:, 0] & values[:, 1]) | values[:, 2]
    y = np.where(rng.random(n_samples) < 0.1, 1 - y, y)
    table = hw.encode(values)
    certainty = rng.uniform(0.6, 0.95, n_questions)
    shifts = hw.UncertaintySet.calibrated(table, certainty=certainty, plausibility=0.97)
    return hw.Problem(hw.encode_labels(y, n_samples), shifts, depth)

def ages(n_samples, depth):
    rng = np.random.default_rng(depth)
    values = {"age": rng.integers(18, 80, n_samples), "rating": rng.integers(1, 6, n_samples)}
    y = (values["age"] > 45) ^ (rng.random(n_samples) < 0.2)
    table = hw.encode(values)
    shifts = hw.UncertaintySet.calibrated(table, certainty=0.8, plausibility=0.95)
    return hw.Problem(hw.encode_labels(y, n_samples), shifts, depth)

posed = {}
for name in ("balance-scale", "monks-1-sample", "tic-tac-toe"):
    for certainty, level in ((0.7, 0.85), (0.9, 0.95)):
        for depth in (2, 3):
            posed[f"{name}/c{certainty}/p{level}/d{depth}"] = problem_of(load_dataset(name), certainty, level, depth)
for depth in (2, 3, 4):
    posed[f"survey/d{depth}"] = survey(400, 10, depth)
for depth in (2, 3):
    posed[f"ages/d{depth}"] = ages(600, depth)
wanted = [name for name in sys.argv[1:] if name != "nothing"] if sys.argv[1:] else list(posed)
found = {}
for name in wanted:
    result = SearchSolver().solve(posed[name])
    found[name] = {"work": result.work, "correct": result.worst_case_correct, "tests": result.branching_nodes}
print(json.dumps(found))
"""


def measured(python: Path | str = sys.executable, names: list[str] | None = None) -> dict[str, dict[str, int]]:
    """What a version does on each instance, in a process of its own."""
    done = subprocess.run([str(python), "-c", WORKER, *(names or [])], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def instructions(python: Path | str) -> dict[str, int]:
    """Instructions that instances take: those of a process that solves one, less those of one that solves nothing."""
    nothing = _counted(python, "nothing")
    return {name: _counted(python, name) - nothing for name in COUNTED}


def _counted(python: Path | str, name: str) -> int:
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(python), "-c", WORKER, name]
    still = os.environ | {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=still)
    return int(re.findall(r"Collected : (\d+)", done.stderr)[-1])


def compared(base: dict[str, Any], this: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Lines of a table, and what is wrong."""
    names = [name for name in base if name in this]
    ratios = {name: (this[name]["work"] + 1) / (base[name]["work"] + 1) for name in names}
    mean = geometric_mean(ratios.values())
    lines = [f"{'instance':36} {'base':>9} {'this':>9}  ratio"]
    lines += [f"{name:36} {base[name]['work']:9} {this[name]['work']:9}  {ratios[name]:.2f}" for name in names]
    lines.append(f"geometric mean of the ratios {mean:.3f}, largest {max(ratios.values()):.2f}")
    wrong = [
        f"{name}: {base[name]['correct']} correct with {base[name]['tests']} tests before, now {this[name]['correct']} "
        f"with {this[name]['tests']}"
        for name in names
        if any(base[name][key] != this[name][key] for key in ("correct", "tests"))
    ]
    wrong += [f"{name}: it is not there any more" for name in base if name not in this]
    if mean > MOST_MEAN:
        wrong.append(
            f"the work grew by a factor of {mean:.3f} in the geometric mean; at most {MOST_MEAN} is let through"
        )
    wrong += [f"{name}: the work grew by a factor of {r:.2f}" for name, r in ratios.items() if r > MOST_SINGLE]
    return lines, wrong


def compared_instructions(base: dict[str, int], this: dict[str, int]) -> tuple[list[str], list[str]]:
    """The same for instructions."""
    ratios = {name: this[name] / max(base[name], 1) for name in base}
    lines = [
        f"instructions, {name}: {base[name]:,} before, {this[name]:,} now, ratio {r:.3f}" for name, r in ratios.items()
    ]
    wrong = [f"{name}: {r:.3f} times the instructions" for name, r in ratios.items() if r > MOST_INSTRUCTIONS]
    return lines, wrong


def built(commit: str) -> Path:
    """The interpreter of another version, installed into build/base/COMMIT."""
    words = ["git", "rev-parse", "--short", "--verify", f"{commit}^{{commit}}"]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise SystemExit(f"BASE is {commit!r}; expected a commit, a branch or a tag of this checkout")
    folder = ROOT / "build" / "base" / found.stdout.strip()
    python = folder / ".venv" / "bin" / "python"
    if not (folder / "installed").exists():
        print(f"building {found.stdout.strip()} in {folder}", flush=True)
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", str(ROOT), str(folder)], check=True)
        subprocess.run(["git", "checkout", "--quiet", found.stdout.strip()], cwd=folder, check=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder / ".venv")], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", str(folder)], check=True)
        (folder / "installed").touch()
    return python


def main() -> None:
    """Compare, or record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--work-only", action="store_true")
    args = parser.parse_args()
    this = measured()
    if args.record:
        save(RECORD, {"results": this})
        print(f"recorded {len(this)} instances in {RECORD}")
        return
    python = built(args.base) if args.base else None
    base = measured(python) if python else json.loads(RECORD.read_text())["results"]
    lines, wrong = compared(base, this)
    print("\n".join(lines))
    if python and not args.work_only:
        if shutil.which("valgrind"):
            more = compared_instructions(instructions(python), instructions(sys.executable))
            print("\n".join(more[0]))
            wrong += more[1]
        else:
            print("valgrind is not installed: instructions were not counted")
    if wrong:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
