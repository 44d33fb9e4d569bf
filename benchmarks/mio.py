"""The paper's method compared with the exact search: same instances, same run, one thread, a time limit for each.

    HARDWOOD_DATA=... python -m benchmarks.mio [solvers] [forms] [ablation] [--seconds 20] [--processes 2]

solvers   search, SCIP and Gurobi; SCIP and Gurobi in the paper's form and in the improved one
forms     each improvement on its own, compared with the paper's form
ablation  the paper's form with and without cuts for single samples, on Gurobi as in the paper (E-Companion
          "Computation Times Improvement"): a plot, and the factor in time to solve as many instances

Proofs of two solvers must agree, and no bound may lie below the value of another solver's tree: this is checked.
Results go to benchmarks/results/mio-*.json, .md and .svg (needs the extra `bench`).
"""

from __future__ import annotations

import argparse
import statistics
from concurrent.futures import ProcessPoolExecutor
from itertools import product, repeat
from typing import Any

from benchmarks.measuring import geometric_mean
from benchmarks.records import RESULTS, provenance_text, publish
from hardwood.datasets import load_dataset
from hardwood.experiments.instances import problem_of
from hardwood.solvers.base import Limits, Solver, Status
from hardwood.solvers.mio import IMPROVED, PAPER, Form
from hardwood.solvers.mio.gurobi import GurobiSolver
from hardwood.solvers.mio.scip import ScipSolver
from hardwood.solvers.search import SearchSolver

TABLES = ("monks-1", "monks-2", "monks-3", "hayes-roth", "house-votes-84", "balance-scale")
SHARES = {"balance-scale": 0.2}  # a sample of 125 rows
LEVELS = {1: [(0.8, 0.9), (0.7, 0.75)], 2: [(0.9, 0.97), (0.8, 0.9), (0.7, 0.75)], 3: [(0.9, 0.97), (0.8, 0.9)]}
BARE = Form(per_sample_cuts=False, total=False, lifted=False, splits_first=False)
FORMS = {
    "paper": PAPER,
    "splits first": Form(total=False, lifted=False),
    "total": Form(lifted=False, splits_first=False),
    "total, lifted": Form(splits_first=False),
    "total, lagrangian": Form(lifted=False, splits_first=False, lagrangian=True),
    "improved": IMPROVED,
}
SOLVERS: dict[str, Solver] = {
    "search": SearchSolver(),
    "gurobi": GurobiSolver(),
    "gurobi, paper": GurobiSolver(PAPER),
    "scip": ScipSolver(),
    "scip, paper": ScipSolver(PAPER),
}
OF_FORMS: dict[str, Solver] = {
    f"{solver.name}, {name}": solver(form) for solver in (GurobiSolver, ScipSolver) for name, form in FORMS.items()
}
OF_ABLATION: dict[str, Solver] = {"with": GurobiSolver(PAPER), "without": GurobiSolver(BARE)}
METHODS = SOLVERS | OF_FORMS | OF_ABLATION
Instance = dict[str, Any]


def instances(depths: list[int], levels: dict[int, list[tuple[float, float]]] = LEVELS) -> list[Instance]:
    """Return instances of the paper's study at some depths."""
    return [
        {"table": table, "depth": depth, "mean_certainty": mean, "plausibility": plausibility}
        for depth in depths
        for table, (mean, plausibility) in product(TABLES, levels[depth])
    ]


def run(instance: Instance, method: str, seconds: float) -> Instance:
    """Solve one instance by one method."""
    name = instance["table"]
    problem = problem_of(
        load_dataset(name),
        instance["mean_certainty"],
        instance["plausibility"],
        instance["depth"],
        share=SHARES.get(name, 0.8),
    )
    result = METHODS[method].solve(problem, limits=Limits(seconds=seconds))
    return instance | {
        "method": method,
        "n_samples": problem.n_samples,
        "correct": result.worst_case_correct,
        "upper_bound": result.upper_bound,
        "branching_nodes": result.branching_nodes,
        "objective": result.objective,
        "objective_bound": result.objective_bound,
        "gap": result.gap,
        "status": str(result.status),
        "seconds": round(result.seconds, 4),
        "work": result.work,
    }


def measure(grid: list[Instance], methods: list[str], seconds: float, processes: int) -> list[Instance]:
    """Run all methods on all instances, and check them against each other."""
    pairs = list(product(grid, methods))
    results = []
    with ProcessPoolExecutor(processes) as pool:
        for result in pool.map(run, [i for i, _ in pairs], [m for _, m in pairs], repeat(seconds)):
            results.append(result)
            print(
                f"{title(result):42} {result['method']:18} {result['correct']}/{result['upper_bound']} "
                f"{result['status']:11} {result['seconds']:7.2f} s",
                flush=True,
            )
            if len(results) % len(methods) == 0:
                check(results[-len(methods) :])
    return results


def check(of_one_instance: list[Instance]) -> None:
    """Check that solvers do not contradict each other; they share nothing but the problem."""
    best = max(result["objective"] for result in of_one_instance)
    for result in of_one_instance:
        if result["objective_bound"] < best - 1e-9:
            raise AssertionError(f"{result} claims a bound below the objective {best} of another solver")


def title(result: Instance) -> str:
    """Return an instance as text."""
    return (
        f"{result['table']}, depth {result['depth']}, certainty {result['mean_certainty']}, "
        f"plausibility {result['plausibility']}"
    )


def methods_of(results: list[Instance]) -> list[str]:
    """Return the methods that were compared, in their order."""
    return list(dict.fromkeys(result["method"] for result in results))


def table_of(results: list[Instance]) -> str:
    """Return the seconds to the proof, or the remaining gap, for each instance and method."""
    methods = methods_of(results)
    lines = ["| instance | samples | " + " | ".join(methods) + " |", "|---" * (len(methods) + 2) + "|"]
    for k in range(0, len(results), len(methods)):
        of_instance = results[k : k + len(methods)]
        cells = [
            f"{result['seconds']:.2f} s" if result["status"] == Status.OPTIMAL else f"gap {result['gap']:.1%}"
            for result in of_instance
        ]
        lines.append(f"| {title(of_instance[0])} | {of_instance[0]['n_samples']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(results: list[Instance]) -> str:
    """Return the instances proved, the median time and the mean gap for each depth and method."""
    lines = ["| depth | method | instances | proved | median s | mean gap |", "|---|---|---|---|---|---|"]
    for depth in sorted({result["depth"] for result in results}):
        for method in methods_of(results):
            group = [result for result in results if (result["depth"], result["method"]) == (depth, method)]
            proved = sum(result["status"] == Status.OPTIMAL for result in group)
            seconds = statistics.median(result["seconds"] for result in group)
            gap = statistics.mean(result["gap"] for result in group)
            lines.append(f"| {depth} | {method} | {len(group)} | {proved} | {seconds:.3f} | {gap:.1%} |")
    return "\n".join(lines)


def ratios(results: list[Instance]) -> dict[str, float]:
    """Return the mean time of each method relative to the paper's form on the same solver.

    The mean is geometric; a run that was stopped counts with its whole time.
    """
    seconds = {(title(result), result["method"]): result["seconds"] for result in results}
    means = {}
    for method in methods_of(results):
        paper = f"{method.split(',')[0]}, paper"
        keys = [key for key in seconds if key[1] == method]
        means[method] = geometric_mean(seconds[key] / seconds[key[0], paper] for key in keys)
    return means


def ratio_table(results: list[Instance]) -> str:
    """Return the mean relative times as a table."""
    lines = ["| method | proved | time relative to the paper's form |", "|---|---|---|"]
    for method, ratio in ratios(results).items():
        proved = [result["status"] == Status.OPTIMAL for result in results if result["method"] == method]
        lines.append(f"| {method} | {sum(proved)} of {len(proved)} | {ratio:.2f} |")
    return "\n".join(lines)


def factor(document: dict[str, Any]) -> str:
    """Return the factor in time: with cuts, to prove as many instances as without them at the time limit."""
    results, seconds = document["results"], document["seconds"]
    times = {
        method: sorted(r["seconds"] for r in results if r["method"] == method and r["status"] == Status.OPTIMAL)
        for method in OF_ABLATION
    }
    n = len(times["without"])
    n_all = len(results) // len(OF_ABLATION)
    text = f"Without cuts for single samples {n} of {n_all} instances are proved within {seconds:g} s, "
    text += f"with them {len(times['with'])}."
    if 0 < n <= len(times["with"]):
        fast = times["with"][n - 1]
        text += (
            f" With them the first {n} are proved within {fast:.2f} s: a factor of {seconds / fast:.0f} at the limit"
        )
        text += f", {times['without'][-1] / fast:.0f} relative to the last proof without them (paper: 225 at 7,200 s)."
    return text


def draw(document: dict[str, Any]) -> None:
    """Draw instances solved against time, and instances within a gap at the limit, as the paper does."""
    results, seconds = document["results"], document["seconds"]
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "hardwood"
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained", sharey=True)
    styles = {"with": ("#0072b2", "-"), "without": ("#d55e00", "--")}
    for method, (colour, line) in styles.items():
        group = [result for result in results if result["method"] == method]
        times = sorted(result["seconds"] for result in group if result["status"] == Status.OPTIMAL)
        gaps = sorted(100 * result["gap"] for result in group)
        name = f"{method} cuts for single samples"
        left.step([*times, seconds], [*range(1, len(times) + 1), len(times)], colour, ls=line, where="post", label=name)
        right.step(gaps, range(1, len(gaps) + 1), colour, ls=line, where="post")
    left.set(xlabel="seconds", ylabel="instances", xscale="log", xlim=(None, seconds))
    right.set(xlabel="gap at the limit, % of samples", xlim=(0, None), ylim=(0, None))
    left.xaxis.set_major_formatter("{x:g}")
    left.legend(frameon=False, loc="upper left")
    for axis in (left, right):
        axis.grid(alpha=0.3)
    figure.savefig(RESULTS / "mio-ablation.svg", metadata={"Date": None})


def page_of_solvers(document: dict[str, Any]) -> str:
    """Return the page of all solvers: a summary, then every instance."""
    results = document["results"]
    return _page("The paper's method and the exact search", document, summary(results), table_of(results))


def page_of_forms(document: dict[str, Any]) -> str:
    """Return the page of all forms: ratios, then every instance."""
    results = document["results"]
    return _page("Forms of the mixed-integer problem", document, ratio_table(results), table_of(results))


def page_of_ablation(document: dict[str, Any]) -> str:
    """Return the page of the ablation: with and without cuts for single samples."""
    return _page("Cuts for single samples", document, factor(document), "![Instances proved](mio-ablation.svg)")


def headline_of_solvers(document: dict[str, Any]) -> str:
    """Return how many instances each solver proves."""
    results = document["results"]
    proved = {
        method: sum(r["status"] == Status.OPTIMAL for r in results if r["method"] == method)
        for method in methods_of(results)
    }
    n = len(results) // len(proved)
    return f"proved, of {n} instances: {'; '.join(f'{method} {count}' for method, count in proved.items())}"


def headline_of_forms(document: dict[str, Any]) -> str:
    """Return the effect of all improvements together."""
    means = ratios(document["results"])
    return "the improved form takes " + ", ".join(
        f"{means[f'{solver}, improved']:.2f} times the time of the paper's form on {name}"
        for solver, name in (("gurobi", "Gurobi"), ("scip", "SCIP"))
    )


def _page(title: str, document: dict[str, Any], *parts: str) -> str:
    seconds = f"{document['seconds']:g} s each"
    source = (
        f"Measured with {provenance_text(document)}; written by `benchmarks/mio.py`, one thread, at most {seconds}."
    )
    return "\n\n".join([f"# {title}", source, *parts]) + "\n"


def main() -> None:
    """Run the parts that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["solvers", "forms", "ablation"])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--processes", type=int, default=1, help="instances at a time, one thread each")
    args = parser.parse_args()
    limits = (args.seconds, args.processes)
    if "solvers" in args.parts:
        results = measure(instances([1, 2, 3]), list(SOLVERS), *limits)
        publish(RESULTS / "mio-engines.json", {"seconds": args.seconds, "results": results}, page_of_solvers)
    if "forms" in args.parts:
        results = measure(instances([2], {2: LEVELS[2][:2]}), list(OF_FORMS), *limits)
        publish(RESULTS / "mio-forms.json", {"seconds": args.seconds, "results": results}, page_of_forms)
    if "ablation" in args.parts:
        grid = product([2, 3], TABLES[:3], (0.7, 0.9), (0.75, 0.9, 0.97, 1.0))
        names = ("depth", "table", "mean_certainty", "plausibility")
        selected = [dict(zip(names, entry, strict=True)) for entry in grid]
        results = measure(selected, list(OF_ABLATION), *limits)
        draw(publish(RESULTS / "mio-ablation.json", {"seconds": args.seconds, "results": results}, page_of_ablation))


if __name__ == "__main__":
    main()
