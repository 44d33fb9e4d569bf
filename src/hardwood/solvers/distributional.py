"""The distributionally robust tree: the adversary may lose the last sample in part (paper, E-Companion 1).

For a tree with margins psi and a budget, its value D is the linear relaxation of choosing whom to flip, and the worst
case is R = ceil(D) (docs/distributional.md). Repeating every row m times with m times the budget multiplies D by m, so

    ceil(m D) / m   is at most 1 / m above D,

and any engine for R maximises D to within 1 / m of a sample on the repeated table. Equal rows cost the search nothing.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from hardwood.adversary import attack
from hardwood.features import Labels, Table
from hardwood.problem import Problem
from hardwood.solvers.base import Limits, OnProgress, Progress, Result, Run, Solver, Start
from hardwood.uncertainty import MoveCosts, UncertaintySet

FINEST = 100  # copies of each row: values are maximised to within 1 / 100 of a sample
MOST_ROWS = 2_000_000


def copies_of(n_samples: int) -> int:
    """How often each row is repeated."""
    return max(1, min(FINEST, MOST_ROWS // n_samples))


def repeated(problem: Problem, copies: int) -> Problem:
    """The problem with every row, the budget and the penalty multiplied."""
    costs = problem.uncertainty.costs
    table = Table(problem.table.features, np.repeat(problem.table.values, copies, axis=0))
    prices = tuple(np.repeat(own, copies, axis=0) if len(own) > 1 else own for own in costs.prices)
    uncertainty = UncertaintySet(MoveCosts(table, costs.reach, prices), problem.uncertainty.budget * copies)
    labels = Labels(np.repeat(problem.labels.codes, copies), problem.labels.classes)
    return Problem(labels, uncertainty, problem.max_depth, problem.penalty * copies)


def solve_distributional(
    problem: Problem,
    solver: str | Solver,
    *,
    limits: Limits,
    start: Start,
    on_progress: OnProgress | None,
    seed: int,
    n_jobs: int,
) -> Result:
    """Maximise the distributionally robust value; the result is about the worst case of its tree.

    The worst case on the repeated table is copies times the value, rounded up, so its bound, divided, holds for the
    value; the worst case is the value rounded up, and its bound follows. `_lost_to_rounding` is added to both bounds.
    """
    from hardwood.solvers import solve  # the engines are chosen there

    copies = copies_of(problem.n_samples)
    slack = _lost_to_rounding(problem, copies)
    run = Run(problem, solver if isinstance(solver, str) else solver.name, None, start)

    def listener(event: Progress) -> None:
        if on_progress is not None:
            bound = (event.objective_bound + slack) / copies
            on_progress(replace(event, objective=event.objective / copies, objective_bound=bound))

    found = solve(
        repeated(problem, copies),
        solver,
        limits=limits,
        start=Start(start.tree),
        on_progress=listener,
        seed=seed,
        n_jobs=n_jobs,
    )
    correct = attack(found.tree, problem.labels, problem.uncertainty).worst_case_correct
    upper_bound = max(correct, min(problem.n_samples, math.ceil((found.upper_bound + slack) / copies)))
    bound = (found.objective_bound + slack) / copies + 1.0  # a worst case is less than one sample above its value
    own = run.result(
        found.tree,
        objective_bound=max(bound, problem.objective(correct, found.branching_nodes)),
        upper_bound=upper_bound,
        stop_reason=found.stop_reason,
        work=found.work,
    )
    return replace(own, seconds=found.seconds, solver=found.solver)


def _lost_to_rounding(problem: Problem, copies: int) -> int:
    """How many copies more than with exact prices the adversary may win on the repeated table.

    There, prices are rounded down to a unit of at most 2^-47 of the repeated budget C. Of M repeated rows, some are
    lost at rounded prices within the allowance; with S steps each at most, their exact total exceeds it by at most
    M S 2^-47 C.
    If it does, it exceeds C, so the dearest of them cost at least C / M each, and leaving out M^2 S 2^-47 of them,
    rounded up, brings the total back within the allowance.
    """
    steps = sum(
        int(np.ptp(problem.table.values[:, j].astype(np.int64))) if feature.ordered else 2  # leaving and arriving
        for j, feature in enumerate(problem.table.features)
    )
    rows = problem.n_samples * copies
    return max(1, math.ceil(rows**2 * steps * 2.0**-47))
