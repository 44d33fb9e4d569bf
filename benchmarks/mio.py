"""The paper's method beside the exact search: same instances, same run, one thread, a time limit for each.

    HARDWOOD_DATA=... python benchmarks/mio.py [engines] [forms] [ablation] [--seconds 20] [--processes 2]

engines   search, SCIP and Gurobi, each solver in the paper's form and in the improved one
forms     every improvement on its own against the paper's form
ablation  the paper's form with and without cuts for single samples, on Gurobi as in the paper (E-Companion
          "Computation Times Improvement"): a plot, and how much sooner as many instances are solved

Whatever two engines prove must be the same, and no bound may lie below what another engine reaches: this is checked.
Results go to benchmarks/results/mio-*.json, .md and .svg (needs the extra `bench`).
"""

from __future__ import annotations

import argparse
import statistics
from concurrent.futures import ProcessPoolExecutor
from itertools import product, repeat
from typing import Any

from hardwood.datasets import load_dataset
from hardwood.experiments.instances import problem_of
from hardwood.solvers.base import Limits, Solver, Status
from hardwood.solvers.mio import IMPROVED, PAPER, Form
from hardwood.solvers.mio.gurobi import GurobiSolver
from hardwood.solvers.mio.scip import ScipSolver
from hardwood.solvers.search import SearchSolver
from marks import RESULTS, publish, words
from measuring import geometric_mean

TABLES = ("monks-1", "monks-2", "monks-3", "hayes-roth", "house-votes-84", "balance-scale")
SHARES = {"balance-scale": 0.2}  # a sample of 125 rows
LEVELS = {1: [(0.8, 0.9), (0.7, 0.75)], 2: [(0.9, 0.97), (0.8, 0.9), (0.7, 0.75)], 3: [(0.9, 0.97), (0.8, 0.9)]}
BARE = Form(per_sample_cuts=False, total=False, lifted=False, tests_first=False)
FORMS = {
    "paper": PAPER,
    "tests first": Form(total=False, lifted=False),
    "total": Form(lifted=False, tests_first=False),
    "total, lifted": Form(tests_first=False),
    "total, priced": Form(lifted=False, tests_first=False, priced=True),
    "improved": IMPROVED,
}
ENGINES: dict[str, Solver] = {
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
METHODS = ENGINES | OF_FORMS | OF_ABLATION
Instance = dict[str, Any]


def instances(depths: list[int], levels: dict[int, list[tuple[float, float]]] = LEVELS) -> list[Instance]:
    """Instances of the paper's study at some depths."""
    return [
        {"table": table, "depth": depth, "mean_certainty": mean, "plausibility": plausibility}
        for depth in depths
        for table, (mean, plausibility) in product(TABLES, levels[depth])
    ]


def run(instance: Instance, method: str, seconds: float) -> Instance:
    """Solve one instance by one method."""
    name = instance["table"]
    posed = problem_of(
        load_dataset(name),
        instance["mean_certainty"],
        instance["plausibility"],
        instance["depth"],
        share=SHARES.get(name, 0.8),
    )
    result = METHODS[method].solve(posed, limits=Limits(seconds=seconds))
    return instance | {
        "method": method,
        "n_samples": posed.n_samples,
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


def measure(todo: list[Instance], methods: list[str], seconds: float, processes: int) -> list[Instance]:
    """All methods on all instances, checked against each other."""
    pairs = list(product(todo, methods))
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
    """Engines share nothing but the problem, so they must not contradict each other."""
    best = max(result["objective"] for result in of_one_instance)
    for result in of_one_instance:
        if result["objective_bound"] < best - 1e-9:
            raise AssertionError(f"{result} claims a bound below the objective {best} of another engine")


def title(result: Instance) -> str:
    """An instance in words."""
    return (
        f"{result['table']}, depth {result['depth']}, certainty {result['mean_certainty']}, "
        f"plausibility {result['plausibility']}"
    )


def methods_of(results: list[Instance]) -> list[str]:
    """The methods that were compared, in their order."""
    return list(dict.fromkeys(result["method"] for result in results))


def table_of(results: list[Instance]) -> str:
    """Seconds to the proof, or the gap that is left, for each instance and method."""
    methods = methods_of(results)
    lines = ["| instance | samples | " + " | ".join(methods) + " |", "|---" * (len(methods) + 2) + "|"]
    for k in range(0, len(results), len(methods)):
        own = results[k : k + len(methods)]
        cells = [
            f"{result['seconds']:.2f} s" if result["status"] == Status.OPTIMAL else f"gap {result['gap']:.1%}"
            for result in own
        ]
        lines.append(f"| {title(own[0])} | {own[0]['n_samples']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(results: list[Instance]) -> str:
    """For each depth and method: how many proved, median time, mean gap."""
    lines = ["| depth | method | instances | proved | median s | mean gap |", "|---|---|---|---|---|---|"]
    for depth in sorted({result["depth"] for result in results}):
        for method in methods_of(results):
            own = [result for result in results if (result["depth"], result["method"]) == (depth, method)]
            proved = sum(result["status"] == Status.OPTIMAL for result in own)
            seconds = statistics.median(result["seconds"] for result in own)
            gap = statistics.mean(result["gap"] for result in own)
            lines.append(f"| {depth} | {method} | {len(own)} | {proved} | {seconds:.3f} | {gap:.1%} |")
    return "\n".join(lines)


def ratios(results: list[Instance]) -> dict[str, float]:
    """Geometric mean of the time against the paper's form on the same solver; a stopped run counts its whole time."""
    seconds = {(title(result), result["method"]): result["seconds"] for result in results}
    found = {}
    for method in methods_of(results):
        paper = f"{method.split(',')[0]}, paper"
        own = [where for where in seconds if where[1] == method]
        found[method] = geometric_mean(seconds[where] / seconds[where[0], paper] for where in own)
    return found


def ratio_table(results: list[Instance]) -> str:
    """The same as a table."""
    lines = ["| method | proved | time against the paper's form |", "|---|---|---|"]
    for method, ratio in ratios(results).items():
        own = [result["status"] == Status.OPTIMAL for result in results if result["method"] == method]
        lines.append(f"| {method} | {sum(own)} of {len(own)} | {ratio:.2f} |")
    return "\n".join(lines)


def factor(document: dict[str, Any]) -> str:
    """How much sooner the method with the cuts has solved as many instances as the one without has at the limit."""
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
        soon = times["with"][n - 1]
        text += (
            f" With them the first {n} are proved within {soon:.2f} s: a factor of {seconds / soon:.0f} at the limit"
        )
        text += f", {times['without'][-1] / soon:.0f} against the last of the others (paper: 225 at 7,200 s)."
    return text


def draw(document: dict[str, Any]) -> None:
    """Instances solved against time, then instances within a gap at the limit, as the paper draws it."""
    results, seconds = document["results"], document["seconds"]
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "hardwood"
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained", sharey=True)
    looks = {"with": ("#0072b2", "-"), "without": ("#d55e00", "--")}
    for method, (colour, line) in looks.items():
        own = [result for result in results if result["method"] == method]
        times = sorted(result["seconds"] for result in own if result["status"] == Status.OPTIMAL)
        gaps = sorted(100 * result["gap"] for result in own)
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


def page_of_engines(document: dict[str, Any]) -> str:
    """All engines: a summary, then every instance."""
    results = document["results"]
    return _page("The paper's method beside the exact search", document, summary(results), table_of(results))


def page_of_forms(document: dict[str, Any]) -> str:
    """All forms: ratios, then every instance."""
    results = document["results"]
    return _page("Forms of the mixed-integer problem", document, ratio_table(results), table_of(results))


def page_of_ablation(document: dict[str, Any]) -> str:
    """With and without cuts for single samples."""
    return _page("Cuts for single samples", document, factor(document), "![Instances proved](mio-ablation.svg)")


def headline_of_engines(document: dict[str, Any]) -> str:
    """How many instances each engine proves."""
    results = document["results"]
    proved = {
        method: sum(r["status"] == Status.OPTIMAL for r in results if r["method"] == method)
        for method in methods_of(results)
    }
    n = len(results) // len(proved)
    return f"of {n} instances: {', '.join(f'{method} {count}' for method, count in proved.items())}"


def headline_of_forms(document: dict[str, Any]) -> str:
    """What all improvements together are worth."""
    found = ratios(document["results"])
    return "the improved form beside the paper's: " + ", ".join(
        f"{found[f'{solver}, improved']:.2f} times the time on {name}"
        for solver, name in (("gurobi", "Gurobi"), ("scip", "SCIP"))
    )


def _page(title: str, document: dict[str, Any], *parts: str) -> str:
    seconds = f"{document['seconds']:g} s each"
    told = f"Measured with {words(document)}; written by `benchmarks/mio.py`, one thread, at most {seconds}."
    return "\n\n".join([f"# {title}", told, *parts]) + "\n"


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["engines", "forms", "ablation"])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--processes", type=int, default=1, help="instances at a time, one thread each")
    args = parser.parse_args()
    how = (args.seconds, args.processes)
    if "engines" in args.parts:
        results = measure(instances([1, 2, 3]), list(ENGINES), *how)
        publish(RESULTS / "mio-engines.json", {"seconds": args.seconds, "results": results}, page_of_engines)
    if "forms" in args.parts:
        results = measure(instances([2], {2: LEVELS[2][:2]}), list(OF_FORMS), *how)
        publish(RESULTS / "mio-forms.json", {"seconds": args.seconds, "results": results}, page_of_forms)
    if "ablation" in args.parts:
        grid = product([2, 3], TABLES[:3], (0.7, 0.9), (0.75, 0.9, 0.97, 1.0))
        names = ("depth", "table", "mean_certainty", "plausibility")
        todo = [dict(zip(names, entry, strict=True)) for entry in grid]
        results = measure(todo, list(OF_ABLATION), *how)
        draw(publish(RESULTS / "mio-ablation.json", {"seconds": args.seconds, "results": results}, page_of_ablation))


if __name__ == "__main__":
    main()
