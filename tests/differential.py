"""A long run against the oracle: every penalty and both goals, on as many tables as one likes.

    python tests/differential.py 3000 --seed 7 --processes 2 [--wide]

For each table, the engine must have the oracle's value, number of tests and bound, and say nothing that is not true.
The suite does the same on fewer tables. Prints what was compared; the first disagreement ends it. With --wide, tables
have weights, classes that are worth more than others, missing answers and tables of prices.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product, repeat

import hardwood as hw
import oracle
from hardwood.problem import Goal
from problems import assert_claims_hold, random_problem

PENALTIES = (0.0, 1e-12, 1e-9, 1e-6, None, 0.5, 3.0)


def compare(seed: list[int], solver: str, wide: bool) -> Counter[str]:
    """One table; counts what was compared."""
    instance, problem = random_problem(seed, wide=wide)
    n_classes = len(problem.labels.classes)
    case = (instance.columns, instance.labels, n_classes, instance.budget, problem.max_depth)
    largest = oracle.largest_values(*case, instance.people, instance.worth)
    seen: Counter[str] = Counter(tables=1)
    for penalty, goal in product(PENALTIES, Goal):
        own = replace(problem, branch_penalty=penalty, goal=goal)
        best = oracle.best_of(largest, own.penalty, own.in_part)
        found = hw.solve(own, solver)
        try:
            assert_claims_hold(found, best, own)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, penalty {penalty}, {goal}: {found} against {best}: {error}") from None
        seen[f"{goal}, penalty {'auto' if penalty is None else f'{penalty:g}'}"] += 1
        seen["solved"] += 1
        seen["with a test"] += found.branching_nodes > 0
    return seen


def main() -> None:
    """Compare as many tables as asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--solver", default="search")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--wide", action="store_true")
    arguments = parser.parse_args()
    seen: Counter[str] = Counter()
    with ProcessPoolExecutor(arguments.processes) as pool:
        seeds = [[arguments.seed, k] for k in range(arguments.tables)]
        for counted in pool.map(compare, seeds, repeat(arguments.solver), repeat(arguments.wide), chunksize=20):
            seen += counted
            if seen["tables"] % 500 == 0:
                sys.stderr.write(f"{seen['tables']} tables\n")
    print(f"no disagreement: {dict(sorted(seen.items()))}")


if __name__ == "__main__":
    main()
