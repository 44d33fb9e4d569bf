"""The exact search: proved optimal robust trees without a solver licence. A thin wrapper of `cpp/search`."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np

from hardwood import _core
from hardwood.adversary import compiled_prices
from hardwood.calibration import Direction
from hardwood.problem import Problem
from hardwood.solvers.base import Limits, OnProgress, Result, Run, Start, StopReason, threads
from hardwood.tree import Branch, Leaf, Node, Tree

Test = tuple[int, int]
DEEPEST = 12  # a tree of this depth has 4,096 leaves; nobody reads it, and deeper ones would not fit
DEFAULT_MEMORY = 8e9  # bytes; a problem that needs more is refused before the search begins


class SearchSolver:
    """Branch and bound over trees and prices; see `cpp/search/search.h`.

    Keyword arguments switch single speed-ups off, for tests: they change the time, never the optimum.
    """

    name = "search"

    def __init__(self, **switches: bool) -> None:
        self._options = _core.SearchOptions()
        for name, value in switches.items():
            if not hasattr(self._options, name):
                raise ValueError(f"the search has no switch {name!r}")
            setattr(self._options, name, value)

    def solve(
        self,
        problem: Problem,
        *,
        limits: Limits = Limits(),  # noqa: B008 - immutable
        start: Start = Start(),  # noqa: B008 - immutable
        on_progress: OnProgress | None = None,
        seed: int = 0,  # noqa: ARG002 - nothing is random
        n_jobs: int = 1,
    ) -> Result:
        """Search until proved, or until a limit; the best tree and a valid bound are returned in any case."""
        if problem.max_depth > DEEPEST:
            raise ValueError(f"max_depth is {problem.max_depth}; the search takes trees of depth {DEEPEST} at most")
        run = Run(problem, self.name, on_progress, start)
        tests = possible_tests(problem)

        def report(_seconds: float, correct: float, branches: int, upper_bound: float, work: int) -> None:
            objective = problem.objective(int(correct), branches)
            run.report(objective, _objective_bound(problem, objective, int(upper_bound)), work)

        found = _core.search(
            problem.table.values,
            compiled_prices(problem.uncertainty),
            problem.labels.codes,
            len(problem.labels.classes),
            tests,
            problem.uncertainty.spendable,
            problem.max_depth,
            problem.penalty,
            math.inf if limits.seconds is None else limits.seconds,
            -1 if limits.work is None else limits.work,
            DEFAULT_MEMORY if limits.memory_bytes is None else limits.memory_bytes,
            threads(n_jobs),
            problem.most_correct(start.objective_bound),
            _heap(start.tree, tests, problem.max_depth),
            self._options,
            report,
        )
        objective = problem.objective(int(found["correct"]), found["tests"])
        upper_bound = int(found["upper_bound"])
        bound = objective if found["proved"] else _objective_bound(problem, objective, upper_bound)
        if found["stop_reason"] != StopReason.INTERRUPTED:  # then the listener may be what said stop
            with suppress(KeyboardInterrupt):  # all work is done
                run.report(objective, bound, int(found["work"]))
        return run.result(
            Tree(problem.table.features, problem.labels.classes, _grown(found["tree"], tests, 1)),
            objective_bound=bound,
            upper_bound=upper_bound,
            stop_reason=StopReason(found["stop_reason"]),
            work=int(found["work"]),
        )


def _objective_bound(problem: Problem, objective: float, upper_bound: int) -> float:
    """Single leaves are all known, so a tree that is better has a test at least."""
    return max(objective, problem.objective(upper_bound, 1))


def possible_tests(problem: Problem) -> list[Test]:
    """Every test that may be of use.

    Left out are tests that put all samples on one side (the subtree of that side alone is at least as good), tests on
    features that every sample changes for nothing (so is either of the two subtrees), the second of two categories,
    and, where nobody can afford a step, all thresholds but one between two values that occur. Where arriving at a
    category has a price of its own, a test on one that nobody has is of use: it takes a cheap way out.
    """
    tests: list[Test] = []
    costs = problem.uncertainty.costs
    for j, feature in enumerate(problem.table.features):
        seen = np.unique(problem.table.values[:, j])
        prices = costs.prices[j]
        free = not prices.any() and costs.reach[j].direction is Direction.BOTH and costs.reach[j].steps is None
        if len(seen) < 2 or free:
            continue
        if not feature.ordered:
            known = np.arange(feature.n_values) if prices.shape[1] > 1 else seen
            codes = known if feature.n_values > 2 else seen[:1]
        elif problem.uncertainty.affords(prices).any():
            codes = np.arange(seen[0], seen[-1])
        else:
            codes = seen[:-1]
        tests.extend((j, int(code)) for code in codes)
    return tests


def _heap(tree: Tree | None, tests: list[Test], depth: int) -> list[tuple[int, int]]:
    """A tree as choices in heap order; empty if there is none, or if it asks for a test that the search left out."""
    if tree is None or tree.depth > depth:
        return []
    choices = [(-1, 0)] * (2 << depth)
    position = {test: k for k, test in enumerate(tests)}

    def put(node: Node, at: int) -> bool:
        if isinstance(node, Leaf):
            choices[at] = (-1, node.label)
            return True
        test = position.get((node.feature, node.code))
        choices[at] = (-1 if test is None else test, 0)
        return test is not None and put(node.left, 2 * at) and put(node.right, 2 * at + 1)

    return choices if put(tree.root, 1) else []


def _grown(choices: list[Any], tests: list[Test], at: int) -> Node:
    test, label = choices[at]
    if test < 0:
        return Leaf(label)
    feature, code = tests[test]
    return Branch(feature, code, _grown(choices, tests, 2 * at), _grown(choices, tests, 2 * at + 1))
