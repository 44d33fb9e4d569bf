"""The exact search: branch and bound without a licence. A thin wrapper of `cpp/search`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from hardwood._util import compiled
from hardwood._util.deprecation import renamed_attributes
from hardwood._util.errors import ArgumentError, Verbatim
from hardwood.data.codes import BELOW_ALL
from hardwood.problem import NEAR_ZERO, UNCONSTRAINED, HeapNode, Problem, Split, TreeConstraint, heap_form
from hardwood.solvers.base import (
    DEFAULT_MEMORY,
    Limits,
    Relabelling,
    Result,
    Start,
    StopReason,
    memory_limit_error,
    threads,
)
from hardwood.solvers.run import BaseSolver, RunOptions
from hardwood.trees.compiled_costs import compiled_costs
from hardwood.trees.tree import Branch, Leaf, Node, Tree


@renamed_attributes(relabelled="relabel")
class SearchSolver(BaseSolver):
    """Branch and bound over trees and Lagrange multipliers; see docs/search.md.

    Parameters
    ----------
    **switches : bool
        Switch single speed-ups off, for tests. They change the time, never the optimum.
    """

    name = "search"
    takes_weights = True
    constraints = (TreeConstraint,)

    def __init__(self, **switches: bool) -> None:
        for name in switches:
            if name not in compiled.search_switches():
                raise ValueError(f"the search has no switch {name!r}; expected one of {compiled.search_switches()}")
        self._switches = switches

    def _solve(self, problem: Problem, options: RunOptions) -> Result:
        """Search until the optimum is proved, or until a limit. The bound of the result is valid in any case."""
        if problem.max_depth > compiled.MAX_DEPTH:
            raise ArgumentError(
                "max_depth", problem.max_depth, f"the search takes trees of depth {compiled.MAX_DEPTH} at most"
            )
        began = time.perf_counter()
        run = options.run_of(problem, self.name)
        memory = _memory(options.limits)
        _check_memory(problem, memory)

        def report(_seconds: float, value: float, n_splits: int, upper_bound: float, work: int) -> None:
            units = _Units(problem, NEAR_ZERO)
            run.report(units.objective(value, n_splits), units.objective_bound(value, n_splits, upper_bound), work)

        outcome = self._search(
            compiled_problem(problem),
            options.limits,
            began,
            n_jobs=threads(options.n_jobs),
            upper_bound=math.ceil(problem.max_correct(options.start.objective_bound) / problem.quantum),
            start=_start_nodes(problem, options.start),
            on_progress=report,
        )
        if not outcome.tree:
            raise memory_limit_error(problem, outcome.n_rows, outcome.memory_needed, memory)
        units = _Units(problem, outcome.zero_slack)
        objective = units.objective(outcome.value, outcome.n_splits)
        bound = units.objective_bound(outcome.value, outcome.n_splits, outcome.upper_bound, proved=outcome.proved)
        stop_reason = StopReason(outcome.stop_reason)
        if stop_reason is not StopReason.INTERRUPTED:  # the listener itself may have interrupted the search
            try:
                run.report(objective, bound, outcome.work)
            except KeyboardInterrupt:  # the search is over, but the caller must learn of the interruption
                stop_reason = StopReason.INTERRUPTED
        return run.result(
            problem.tree(outcome.tree),
            objective_bound=bound,
            upper_bound=units.max_correct(outcome.upper_bound),
            any_model_bound=units.max_correct(outcome.any_model_bound),
            stop_reason=stop_reason,
            work=outcome.work,
        )

    def relabel(self, problem: Problem, tree: Tree, *, limits: Limits = Limits()) -> Relabelling:  # noqa: B008 - immutable
        """Return the best labels for the leaves of a tree.

        The splits of the tree stay. The depth, the penalty and the constraints of the problem do not apply.
        """
        if tree.depth > compiled.MAX_DEPTH:
            raise ArgumentError(
                "tree", Verbatim(f"{tree.depth} levels deep"), f"the search takes {compiled.MAX_DEPTH} at most"
            )
        began = time.perf_counter()
        unconstrained = replace(problem, max_depth=tree.depth, branch_penalty=0.0, **UNCONSTRAINED)
        splits = _splits_of(tree)
        index = {split: k for k, split in enumerate(splits)}
        fixed = heap_form(tree.root, tree.depth, lambda node: index[Split.of(node)]) or []
        outcome = self._search(compiled_problem(unconstrained, splits), limits, began, fixed_splits=fixed)
        _check_found(outcome, limits)
        # Where all labels are equal, the search returns a single leaf.
        is_leaf = outcome.tree[1][0] < 0
        if not is_leaf and [node[0] for node in outcome.tree] != [node.split for node in fixed]:
            raise RuntimeError(
                "the search changed the splits of a tree whose splits were fixed; please report this as a bug"
            )
        labels = [outcome.tree[1][1]] * len(fixed) if is_leaf else [node[1] for node in outcome.tree]
        best = Tree(tree.features, tree.classes, _with_labels(tree.root, 1, labels))
        bound = _Units(unconstrained, outcome.zero_slack).max_correct(outcome.upper_bound)
        upper_bound = max(bound, unconstrained.attack(best).worst_case_correct)
        return Relabelling(best, outcome.proved, upper_bound, outcome.stop_reason)

    def alternatives(
        self,
        problem: Problem,
        max_trees: int,
        within: float,
        *,
        limits: Limits = Limits(),  # noqa: B008 - immutable
        start: Start = Start(),  # noqa: B008 - immutable
        n_jobs: int = 1,
    ) -> tuple[list[Tree], bool]:
        """Return the best trees, and whether there are no others; see `SupportsAlternatives`.

        No split of these trees can be removed without loss.
        """
        began = time.perf_counter()
        outcome = self._search(
            compiled_problem(problem),
            limits,
            began,
            n_jobs=threads(n_jobs),
            start=_start_nodes(problem, start),
            pool_size=max_trees,
            pool_gap=math.floor(within / problem.quantum),
        )
        _check_found(outcome, limits)
        return [problem.tree(tree) for tree, _ in outcome.pool], outcome.pool_complete

    def _search(
        self,
        problem: compiled.SearchProblem,
        limits: Limits,
        began: float,
        *,
        n_jobs: int = 1,
        upper_bound: float = math.inf,
        start: Sequence[HeapNode] = (),
        on_progress: Callable[[float, float, int, float, int], None] = lambda *_: None,
        fixed_splits: Sequence[HeapNode] = (),
        pool_size: int = 0,
        pool_gap: float = 0.0,
    ) -> compiled.SearchResult:
        """Run the compiled search. The time since `began` counts: preparing thousands of columns takes long."""
        return compiled.search(
            problem,
            seconds=math.inf if limits.seconds is None else limits.seconds - (time.perf_counter() - began),
            work=-1 if limits.work is None else int(limits.work),
            memory=_memory(limits),
            n_jobs=n_jobs,
            upper_bound=upper_bound,
            start=start,
            switches=self._switches,
            on_progress=on_progress,
            fixed_splits=fixed_splits,
            pool_size=pool_size,
            pool_gap=pool_gap,
        )


def compiled_problem(problem: Problem, splits: Sequence[Split] | None = None) -> compiled.SearchProblem:
    """Return the problem for the compiled search.

    Parameters
    ----------
    problem : Problem
        The problem.
    splits : sequence of Split, optional
        Splits that take the place of the candidate splits of the problem.
    """
    n_classes = len(problem.labels.classes)
    class_weights = problem.labels.class_weights or [1.0] * n_classes
    return compiled.SearchProblem(
        values=problem.table.values,
        costs=compiled_costs(problem.uncertainty),
        labels=problem.labels.codes,
        n_classes=n_classes,
        splits=problem.splits if splits is None else splits,
        budget=problem.uncertainty.affordable_total,
        depth=problem.max_depth,
        penalty=problem.solver_penalty,
        weights=problem.labels.weights,
        class_weights=[weight / problem.quantum for weight in class_weights] if problem.fractional else [],
        fractional=problem.fractional,
        constraints=[own.compiled() for own in problem.constraints],
        sample_sizes=np.ascontiguousarray(problem.leaf_sizes) if problem.constraints else None,
    )


def _memory(limits: Limits) -> float:
    return DEFAULT_MEMORY if limits.memory_bytes is None else limits.memory_bytes


def _start_nodes(problem: Problem, start: Start) -> Sequence[HeapNode]:
    """Return the start tree in heap form; empty if there is none, or one with other splits than the problem's."""
    return () if start.tree is None else problem.heap(start.tree) or ()


def _check_memory(problem: Problem, memory: float) -> None:
    """Raise if the splits need too much memory, before any is listed: identifiers have billions of thresholds."""
    n_classes = len(problem.labels.classes)
    n_pairs = 0.5 * float(problem.n_splits) ** 2
    needed = compiled.BYTES_PER_PAIR * (1 if n_classes == 2 else n_classes) * n_pairs
    if needed > memory or problem.n_splits > compiled.MAX_CANDIDATE_SPLITS:
        raise memory_limit_error(problem, problem.n_samples, needed, memory)


def _check_found(outcome: compiled.SearchResult, limits: Limits) -> None:
    """Raise if the search had too little memory to begin."""
    if not outcome.tree:
        memory = Verbatim(f"{_memory(limits):g} bytes")
        raise ArgumentError("memory_limit", memory, f"the search needs {outcome.memory_needed:g}")


def _with_labels(node: Node, position: int, labels: Sequence[int]) -> Node:
    """Return a subtree with labels that are given in heap order."""
    if isinstance(node, Leaf):
        return Leaf(int(labels[position]))
    left = _with_labels(node.left, 2 * position, labels)
    return replace(node, left=left, right=_with_labels(node.right, 2 * position + 1, labels))


def _splits_of(tree: Tree) -> list[Split]:
    """Return the splits of a tree in the compiled search's order; where values may be missing, all variants of each."""
    splits = {Split.of(node) for node in tree.nodes if isinstance(node, Branch)}
    for split in list(splits):
        if tree.features[split.feature].missing:
            splits.add(Split(split.feature, BELOW_ALL, True))
            if split.code != BELOW_ALL:
                splits |= {Split(split.feature, split.code, True), Split(split.feature, split.code, False)}
    return sorted(
        splits, key=lambda split: (split.feature, split.code == BELOW_ALL, split.code, not split.missing_left)
    )


class _Units:
    """Converts values of the search, in multiples of the problem's quantum, to values of the problem.

    In fractional problems the search proves values rounded up, and may miss some by `near_zero` quanta.
    """

    def __init__(self, problem: Problem, near_zero: float) -> None:
        self._problem = problem
        self._slack = near_zero + problem.rounding if problem.fractional else 0.0

    def objective(self, value: float, n_splits: int) -> float:
        return self._problem.objective(value * self._problem.quantum, n_splits)

    def objective_bound(self, value: float, n_splits: int, upper_bound: float, *, proved: bool = False) -> float:
        """Return the largest objective, given that no tree keeps more than `upper_bound`.

        The search compares all single leaves first, so that a tree which is better than the incumbent has a split.
        """
        incumbent = self.objective(math.ceil(value) + self._slack, n_splits)
        return incumbent if proved else max(incumbent, self.objective(upper_bound + self._slack, 1))

    def max_correct(self, upper_bound: float) -> float:
        bound = (upper_bound + self._slack) * self._problem.quantum
        if self._problem.labels.integral:
            bound = math.ceil(bound) if self._problem.fractional else int(bound)
        return min(bound, self._problem.total)
