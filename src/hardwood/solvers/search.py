"""The exact search: proved optimal robust trees without a solver licence. A thin wrapper of `cpp/search`."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hardwood._support import compiled
from hardwood._support.errors import ArgumentError, Said
from hardwood.data.features import BELOW_ALL
from hardwood.problem import NEAR_ZERO, Problem, Test, heap_of
from hardwood.solvers.base import (
    DEFAULT_MEMORY,
    Limits,
    OnProgress,
    Result,
    Run,
    Start,
    StopReason,
    threads,
    too_many_tests,
)
from hardwood.trees.adversary import compiled_prices
from hardwood.trees.tree import Branch, Leaf, Node, Tree

DEEPEST = 12  # a tree of this depth has 4,096 leaves; nobody reads it, and deeper ones would not fit
# Sums over pairs of tests, for each class, are the least that a search keeps (cpp/search/engine/search.cpp).
BYTES_BY_PAIR = 8.0
MOST_TESTS = 32_767  # an answer to a test is written in 16 bits


class SearchSolver:
    """Branch and bound over trees and prices; see docs/search.md.

    Keyword arguments switch single speed-ups off, for tests: they change the time, never the optimum.
    """

    name = "search"
    takes_weights = True

    def __init__(self, **switches: bool) -> None:
        for name in switches:
            if name not in compiled.search_switches():
                raise ValueError(f"the search has no switch {name!r}")
        self._switches = switches

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
            raise ArgumentError("max_depth", problem.max_depth, f"the search takes trees of depth {DEEPEST} at most")
        began = time.perf_counter()
        run = Run(problem, self.name, on_progress, start)
        memory = DEFAULT_MEMORY if limits.memory_bytes is None else limits.memory_bytes
        _refuse_too_many_tests(problem, memory)

        def report(_seconds: float, value: float, tests: int, upper_bound: float, work: int) -> None:
            scale = _Scale(problem, NEAR_ZERO)
            run.report(scale.objective(value, tests), scale.bound(value, tests, upper_bound), work)

        posed = compiled_problem(problem)  # thousands of columns take their time, which counts
        found = compiled.search(
            posed,
            seconds=math.inf if limits.seconds is None else limits.seconds - (time.perf_counter() - began),
            work=-1 if limits.work is None else int(limits.work),
            memory=memory,
            n_jobs=threads(n_jobs),
            upper_bound=math.ceil(problem.most_correct(start.objective_bound) / problem.quantum),
            start=[] if start.tree is None else problem.heap(start.tree) or [],
            switches=self._switches,
            on_progress=report,
        )
        if not found.tree:
            raise too_many_tests(problem, found.n_points, found.memory_needed, memory)
        scale = _Scale(problem, found.near_zero)
        objective = scale.objective(found.value, found.tests)
        bound = scale.bound(found.value, found.tests, found.upper_bound, proved=found.proved)
        stop_reason = StopReason(found.stop_reason)
        if stop_reason is not StopReason.INTERRUPTED:  # then the listener may be what said stop
            try:
                run.report(objective, bound, found.work)
            except KeyboardInterrupt:  # all work is done, but whoever called wants no more
                stop_reason = StopReason.INTERRUPTED
        return run.result(
            problem.tree(found.tree),
            objective_bound=bound,
            upper_bound=scale.most_correct(found.upper_bound),
            any_model_bound=scale.most_correct(found.any_model_bound),
            stop_reason=stop_reason,
            work=found.work,
        )

    def relabelled(self, problem: Problem, tree: Tree, *, limits: Limits = Limits()) -> Relabelled:  # noqa: B008 - immutable
        """The best labels for the leaves of a tree: its tests stay, whatever the problem says about depth and size."""
        if tree.depth > DEEPEST:
            raise ArgumentError("tree", Said(f"{tree.depth} levels deep"), f"the search takes {DEEPEST} at most")
        began = time.perf_counter()
        plain = replace(problem, max_depth=tree.depth, branch_penalty=0.0, min_samples_leaf=0)
        tests = _tests_of(tree)
        place = {test: k for k, test in enumerate(tests)}
        questions = heap_of(tree.root, tree.depth, lambda node: place[Test.of(node)]) or []
        found = self._run(compiled_problem(plain, tests), limits, began, questions=questions)
        if found.tree[1][0] >= 0 and [own[0] for own in found.tree] != [own[0] for own in questions]:
            raise RuntimeError(
                "the search answered with other questions than it was asked; please report this as a bug"
            )
        labels = found.tree if found.tree[1][0] >= 0 else [(-1, found.tree[1][1])] * len(questions)
        best = Tree(tree.features, tree.classes, _labelled(tree.root, 1, labels))
        own = _Scale(plain, found.near_zero).most_correct(found.upper_bound)
        return Relabelled(best, found.proved, max(own, plain.judged(best).worst_case_correct), found.stop_reason)

    def alternatives(
        self,
        problem: Problem,
        most: int,
        within: float,
        *,
        limits: Limits = Limits(),  # noqa: B008 - immutable
        start: Start = Start(),  # noqa: B008 - immutable
        n_jobs: int = 1,
    ) -> tuple[list[Tree], bool]:
        """The best trees, none of whose tests can be taken out without loss; whether there are no others.

        most    how many at most
        within  how much less than the best of all they may keep, in samples (or what these are worth)
        """
        began = time.perf_counter()
        found = self._run(
            compiled_problem(problem),
            limits,
            began,
            n_jobs=threads(n_jobs),
            start=[] if start.tree is None else problem.heap(start.tree) or [],
            most_trees=most,
            within=math.floor(within / problem.quantum),
        )
        return [problem.tree(tree) for tree, _ in found.others], found.has_all_others

    def _run(self, posed: compiled.SearchProblem, limits: Limits, began: float, **words: Any) -> compiled.SearchResult:
        """One run of the compiled search without a listener; Ctrl-C ends it with what it has."""
        memory = DEFAULT_MEMORY if limits.memory_bytes is None else limits.memory_bytes
        said: dict[str, Any] = {"n_jobs": 1, "start": []} | words
        found = compiled.search(
            posed,
            seconds=math.inf if limits.seconds is None else limits.seconds - (time.perf_counter() - began),
            work=-1 if limits.work is None else int(limits.work),
            memory=memory,
            upper_bound=math.inf,
            switches=self._switches,
            on_progress=lambda *_: None,
            **said,
        )
        if not found.tree:
            raise ArgumentError("memory_limit", Said(f"{memory:g} bytes"), f"the search needs {found.memory_needed:g}")
        return found


@dataclass(frozen=True)
class Relabelled:
    """A tree with the best labels that were found for its tests.

    proved       whether no other labels keep more samples correct
    upper_bound  no labels keep more
    """

    tree: Tree
    proved: bool
    upper_bound: float
    stop_reason: str


def _labelled(node: Node, at: int, choices: Sequence[tuple[int, int]]) -> Node:
    """A subtree with the labels that stand in a heap."""
    if isinstance(node, Leaf):
        return Leaf(int(choices[at][1]))
    return replace(node, left=_labelled(node.left, 2 * at, choices), right=_labelled(node.right, 2 * at + 1, choices))


def _tests_of(tree: Tree) -> list[Test]:
    """The tests of a tree as the compiled search wants them: where answers may be missing, every kind of each."""
    asked = {Test.of(node) for node in tree.nodes if isinstance(node, Branch)}
    for test in list(asked):
        if tree.features[test.feature].missing:
            asked.add(Test(test.feature, BELOW_ALL, True))
            if test.code != BELOW_ALL:
                asked |= {Test(test.feature, test.code, True), Test(test.feature, test.code, False)}
    return sorted(asked, key=lambda test: (test.feature, test.code == BELOW_ALL, test.code, not test.missing_left))


def compiled_problem(problem: Problem, tests: Sequence[Test] | None = None) -> compiled.SearchProblem:
    """The problem as the compiled search takes it, with all of its tests or with others."""
    n_classes = len(problem.labels.classes)
    return compiled.SearchProblem(
        values=problem.table.values,
        prices=compiled_prices(problem.uncertainty),
        labels=problem.labels.codes,
        n_classes=n_classes,
        tests=problem.tests if tests is None else tests,
        budget=problem.uncertainty.spendable,
        depth=problem.max_depth,
        penalty=problem.engine_penalty,
        weights=problem.labels.weights,
        worth=[own / problem.quantum for own in problem.labels.worth or [1.0] * n_classes] if problem.in_part else [],
        in_part=problem.in_part,
        least_leaf=problem.min_samples_leaf,
        leaf_sizes=np.ascontiguousarray(problem.leaf_sizes) if problem.min_samples_leaf else None,
    )


class _Scale:
    """Between the numbers of the search, whose unit is the problem's quantum, and those of the problem.

    Where the last sample may be lost in part, the search proves values rounded up, and misses some by `near_zero`.
    """

    def __init__(self, problem: Problem, near_zero: float) -> None:
        self._problem = problem
        self._slack = near_zero + problem.rounding if problem.in_part else 0.0

    def objective(self, value: float, tests: int) -> float:
        return self._problem.objective(value * self._problem.quantum, tests)

    def bound(self, value: float, tests: int, upper_bound: float, *, proved: bool = False) -> float:
        """The largest objective if no tree keeps more correct: single leaves are known, so a better tree has a test."""
        own = self.objective(math.ceil(value) + self._slack, tests)
        return own if proved else max(own, self.objective(upper_bound + self._slack, 1))

    def most_correct(self, upper_bound: float) -> float:
        most = (upper_bound + self._slack) * self._problem.quantum
        if self._problem.labels.counted:
            most = math.ceil(most) if self._problem.in_part else int(most)
        return min(most, self._problem.total)


def _refuse_too_many_tests(problem: Problem, memory: float) -> None:
    """Count before anything is listed: a column of phone numbers has more thresholds than any memory holds."""
    n_classes = len(problem.labels.classes)
    n_pairs = 0.5 * float(problem.n_tests) ** 2
    needed = BYTES_BY_PAIR * (1 if n_classes == 2 else n_classes) * n_pairs
    if needed > memory or problem.n_tests > MOST_TESTS:
        raise too_many_tests(problem, problem.n_samples, needed, memory)
