"""The effect of each speed-up of the search, and the work of each bound.

    HARDWOOD_DATA=... python -m benchmarks.switches [--half tuning] [--depth 3 4 5] [--seconds 20] [--processes 2]

Every instance is solved with all switches on, then with one switch off at a time; seconds are processor time. A table,
and the work of the bounds on ten of the instances, go to results/switches.md.

The instances (search_grid.json) were drawn before the search was tuned: all tables, means and budgets of the paper, 48
at each depth. Half of them, "held out", were not used while the first version was tuned.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any

from benchmarks.measuring import geometric_mean
from benchmarks.records import RESULTS, provenance_text, publish
from hardwood._util import compiled
from hardwood.datasets import load_dataset
from hardwood.experiments.instances import problem_of
from hardwood.solvers.search import compiled_problem

HERE = Path(__file__).parent
ALL_ON = "all on"
MIN_SECONDS = 1e-3  # ratios of shorter times mean nothing


def run(instance: dict[str, Any], off: str, seconds: float) -> dict[str, Any]:
    """Solve one instance with one switch off."""
    dataset = load_dataset(instance["table"])
    problem = problem_of(dataset, instance["mean_certainty"], instance["plausibility"], instance["depth"])
    compiled_instance = compiled_problem(problem)
    began = time.process_time()
    result = compiled.search(
        compiled_instance,
        seconds=seconds,
        work=-1,
        memory=8e9,
        n_jobs=1,
        upper_bound=problem.n_samples,
        start=[],
        switches={} if off == ALL_ON else {off: False},
        on_progress=lambda *_: None,
    )
    return instance | {
        "off": off,
        "seconds": time.process_time() - began,
        "proved": result.proved,
        "correct": result.value,
        "branching_nodes": result.n_splits,
        "upper_bound": result.upper_bound,
        "nodes": result.nodes,
        "bounds": [
            {
                "name": name,
                "calls": work.calls,
                "steps": work.steps,
                "branchings": work.branchings,
                "closed": work.closed,
            }
            | {"seconds": round(work.seconds, 4)}
            for name, work in result.bounds
        ],
    }


def key(result: dict[str, Any]) -> tuple[Any, ...]:
    """Return what identifies the instance of a result."""
    return tuple(result[name] for name in ("table", "depth", "mean_certainty", "plausibility"))


def check(results: list[dict[str, Any]]) -> None:
    """Check that proofs agree, and that no bound is below the value of another run."""
    best: dict[tuple[Any, ...], float] = {}
    for result in results:
        best[key(result)] = max(best.get(key(result), 0.0), result["correct"])
    proved: dict[tuple[Any, ...], tuple[float, int]] = {}
    for result in results:
        if result["upper_bound"] < best[key(result)]:
            raise RuntimeError(f"a bound is wrong: {result}")
        if result["proved"]:
            value = (result["correct"], result["branching_nodes"])
            if proved.setdefault(key(result), value) != value:
                raise RuntimeError(f"two proofs differ: {result} and {proved[key(result)]}")


def switch_table(results: list[dict[str, Any]]) -> str:
    """Return the instances proved, and the time relative to all switches on, where both runs have a proof."""
    depths = sorted({result["depth"] for result in results})
    base = {key(result): result for result in results if result["off"] == ALL_ON}
    titles = ["off", *(f"depth {depth}: proved" for depth in depths), *(f"depth {depth}: time" for depth in depths)]
    lines = ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
    for off in dict.fromkeys(result["off"] for result in results):
        cells = [off]
        for depth in depths:
            group = [result for result in results if result["off"] == off and result["depth"] == depth]
            cells.append(f"{sum(result['proved'] for result in group)} of {len(group)}")
        for depth in depths:
            ratios = [
                max(result["seconds"], MIN_SECONDS) / max(base[key(result)]["seconds"], MIN_SECONDS)
                for result in results
                if result["off"] == off
                and result["depth"] == depth
                and result["proved"]
                and base[key(result)]["proved"]
            ]
            cells.append(f"{geometric_mean(ratios):.2f}" if ratios else "-")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def bound_table(results: list[dict[str, Any]]) -> str:
    """Return the work of the bounds on ten instances, evenly spaced among those that took longest."""
    slow = sorted((r for r in results if r["off"] == ALL_ON), key=lambda result: -result["seconds"])
    listed = slow[:: max(1, len(slow) // 20)][:10]
    lines = [
        "| instance (depth, certainty, plausibility) | s | nodes | bound | calls | steps | branchings | closed | s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for result in listed:
        name = "{table} ({depth}, {mean_certainty}, {plausibility})".format(**result)
        counts = ("name", "calls", "steps", "branchings", "closed")
        lines += [
            f"| {name} | {result['seconds']:.2f} | {result['nodes']} | "
            f"{' | '.join(str(bound[count]) for count in counts)} | {bound['seconds']:.2f} |"
            for bound in result["bounds"]
        ]
    return "\n".join(lines)


def page(document: dict[str, Any]) -> str:
    """Return the page of the results."""
    return f"""# The effect of each speed-up

Measured with {provenance_text(document)}; written by `benchmarks/switches.py`. One switch is off at a time; instances
of the half "{document["half"]}", at most {document["seconds"]:g} s each, one thread. Times are geometric means relative
to the time with all switches on, where both runs have a proof.

{switch_table(document["results"])}

# The work of the bounds

{bound_table(document["results"])}
"""


def headline(document: dict[str, Any]) -> str:
    """Return the effect of the most important switch."""
    proved = dict.fromkeys((r["off"] for r in document["results"]), 0)
    for result in document["results"]:
        proved[result["off"]] += result["proved"]
    fewest = min(proved, key=proved.__getitem__)
    return f"{proved[ALL_ON]} instances proved with all switches on, {proved[fewest]} without {fewest}"


def main() -> None:
    """Run the instances that the options select."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=["tuning", "held out", "all"], default="tuning")
    parser.add_argument("--depth", type=int, nargs="*", default=[3, 4, 5])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--processes", type=int, default=1, help="instances at a time, one thread each")
    parser.add_argument("--out", type=Path, default=RESULTS / "switches.json")
    args = parser.parse_args()
    grid = json.loads((HERE / "search_grid.json").read_text())
    selected = [i for i in grid if args.half in ("all", i["half"]) and i["depth"] in args.depth]
    results: list[dict[str, Any]] = []
    with ProcessPoolExecutor(args.processes) as pool:
        list(pool.map(run, selected[:8], repeat(ALL_ON), repeat(1.0)))  # the first runs of a process are slow
        for off in (ALL_ON, *compiled.search_switches()):
            results += pool.map(run, selected, repeat(off), repeat(args.seconds))
            print(switch_table(results).splitlines()[-1], flush=True)
    check(results)
    content = {"half": args.half, "seconds": args.seconds, "results": results}
    print(page(publish(args.out, content, page)))


if __name__ == "__main__":
    main()
