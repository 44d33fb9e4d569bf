"""A long comparison of a solver with the oracle: every penalty and both goals, on any number of tables.

    python -m tests.differential 3000 --seed 7 --processes 2 [--wide]

For each table, the solver must have the oracle's value, number of splits and bound, and all texts of the certificate
must be true. The test suite does the same on fewer tables. Prints what was compared; the first disagreement is an
error. With --wide, tables have weights, class weights, missing values and tables of costs.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product, repeat

import hardwood as hw
from hardwood.problem import Goal
from tests import oracle
from tests.problems import assert_claims_hold, random_problem

PENALTIES = (0.0, 1e-12, 1e-9, 1e-6, None, 0.5, 3.0)


def compare(seed: list[int], solver: str, wide: bool) -> Counter[str]:
    """Compare all penalties and goals on one table; return what was compared."""
    instance, problem = random_problem(seed, wide=wide)
    n_classes = len(problem.labels.classes)
    case = (instance.columns, instance.labels, n_classes, instance.budget, problem.max_depth)
    largest = oracle.largest_values(*case, instance.weights, instance.class_weights)
    compared: Counter[str] = Counter(tables=1)
    for penalty, goal in product(PENALTIES, Goal):
        variant = replace(problem, branch_penalty=penalty, goal=goal)
        best = oracle.best_of(largest, variant.penalty, variant.fractional)
        result = hw.solve(variant, solver)
        try:
            assert_claims_hold(result, best, variant)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, penalty {penalty}, {goal}: {result} against {best}: {error}") from None
        compared[f"{goal}, penalty {'auto' if penalty is None else f'{penalty:g}'}"] += 1
        compared["solved"] += 1
        compared["with a split"] += result.branching_nodes > 0
    return compared


def main() -> None:
    """Compare the given number of tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--solver", default="search")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--wide", action="store_true")
    arguments = parser.parse_args()
    compared: Counter[str] = Counter()
    with ProcessPoolExecutor(arguments.processes) as pool:
        seeds = [[arguments.seed, k] for k in range(arguments.tables)]
        for counted in pool.map(compare, seeds, repeat(arguments.solver), repeat(arguments.wide), chunksize=20):
            compared += counted
            if compared["tables"] % 500 == 0:
                sys.stderr.write(f"{compared['tables']} tables\n")
    print(f"no disagreement: {dict(sorted(compared.items()))}")


if __name__ == "__main__":
    main()
