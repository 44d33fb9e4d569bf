"""Box-robust trees beside the published packages: GROOT (greedy) and ROCT (optimal, by Gurobi).

    python benchmarks/peers.py --python /path/to/old/python [--seconds 30]

Both packages need NumPy 1, so they run in an interpreter of their own, for example a virtual environment with

    pip install "numpy<2" "scikit-learn<1.4" groot-trees
    pip install --no-deps roct python-sat gurobipy tqdm seaborn six

All robust accuracies are counted by moving every sample to every corner of its box. Results go to
benchmarks/results/peers.json and peers.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from hardwood import RobustTreeClassifier

RESULTS = Path(__file__).parent / "results"
N_VALUES = 9
THERE = """
import json, sys, time, warnings
import numpy as np
warnings.filterwarnings("ignore")
from groot.model import GrootTreeClassifier
from roct import OptimalRobustTree
request = json.load(sys.stdin)
answers = []
for values, y, depth in request["cases"]:
    # ROCT wants numbers from 0 to 1; a hair more than a step keeps its comparisons from being decided by rounding.
    X, y, step = np.array(values) / request["scale"], np.array(y), (1 + 1e-3) / request["scale"]
    points = np.array(request["offsets"]) * step
    found = {}
    for name, tree in (
        ("groot", GrootTreeClassifier(max_depth=depth, attack_model=[step] * X.shape[1], random_state=0)),
        ("roct", OptimalRobustTree(max_depth=depth, attack_model=[step] * X.shape[1], time_limit=request["seconds"])),
    ):
        began = time.perf_counter()
        tree.fit(X, y)
        seconds = time.perf_counter() - began
        right = np.ones(len(y), dtype=bool)
        for point in points:
            right &= tree.predict(X + point) == y
        found[name] = {"correct": int(right.sum()), "seconds": round(seconds, 4)}
    answers.append(found)
print("\\n" + json.dumps(answers))
"""


def case(seed: int, n: int = 40, n_columns: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers with a noisy linear rule."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, N_VALUES, (n, n_columns))
    score = values @ rng.normal(size=n_columns)
    return values, (score + 2 * rng.normal(size=n) > np.median(score)).astype(int)


def ours(values: np.ndarray, y: np.ndarray, depth: int, solver: str, offsets: list[tuple[int, ...]]) -> dict[str, Any]:
    """Our tree, judged by the same corners."""
    began = time.perf_counter()
    model = RobustTreeClassifier(depth, radius=1, solver=solver).fit(values, y)
    seconds = time.perf_counter() - began
    right = np.all([model.predict(values + offset) == y for offset in offsets], axis=0)
    return {"correct": int(right.sum()), "seconds": round(seconds, 4), "status": model.certificate_.status}


def main() -> None:
    """Run all on the same tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True)
    parser.add_argument("--seconds", type=int, default=30)
    args = parser.parse_args()
    offsets = list(itertools.product((-1, 0, 1), repeat=3))
    cases = [(*case(seed), depth) for seed in range(8) for depth in (1, 2)]
    request = {
        "cases": [(values.tolist(), y.tolist(), depth) for values, y, depth in cases],
        "offsets": offsets,
        "scale": N_VALUES - 1,
        "seconds": args.seconds,
    }
    with tempfile.TemporaryDirectory() as folder:  # ROCT leaves its model where it runs
        done = subprocess.run(
            [args.python, "-c", THERE],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            check=True,
            cwd=folder,
        )
    theirs = json.loads(done.stdout.splitlines()[-1])
    rows = []
    lines = ["| table | depth | optimal | ROCT | greedy | GROOT |", "|---|---|---|---|---|---|"]
    for k, ((values, y, depth), found) in enumerate(zip(cases, theirs, strict=True)):
        found |= {
            "optimal": ours(values, y, depth, "auto", offsets),
            "greedy": ours(values, y, depth, "groot", offsets),
        }
        if found["optimal"]["status"] == "optimal" and found["roct"]["correct"] > found["optimal"]["correct"]:
            raise AssertionError(f"ROCT beats a proved optimum: {found}")
        cells = [
            f"{found[name]['correct']}, {found[name]['seconds']:.2f} s"
            for name in ("optimal", "roct", "greedy", "groot")
        ]
        lines.append(f"| {k // 2 + 1} | {depth} | " + " | ".join(cells) + " |")
        rows.append({"table": k // 2 + 1, "depth": depth} | found)
    print("\n".join(lines))
    (RESULTS / "peers.json").write_text(json.dumps({"seconds": args.seconds, "results": rows}, indent=1) + "\n")
    (RESULTS / "peers.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
