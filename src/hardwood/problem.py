"""The task for a solver: a table with labels, the shifts to hedge against, and the trees that are allowed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardwood._support.arguments import numbers_of, whole_number
from hardwood._support.errors import ArgumentError
from hardwood.data.features import BELOW_ALL, LARGEST_CODE, NO_ANSWER, Table
from hardwood.data.labels import Labels
from hardwood.shift.calibration import Direction, answered, on_scale
from hardwood.shift.uncertainty import UncertaintySet
from hardwood.trees.adversary import Attack, attack
from hardwood.trees.tree import Branch, Leaf, Limit, Node, Tree

DEEPEST_TREE = 1000  # nobody reads it, and what walks a tree from node to node would run out of stack
LARGEST_PENALTY = 1e100  # with more, objectives would leave the range of doubles
# Values that may lie between whole numbers are told apart if they differ by the FINEST part of a sample (distributional
# goal), or by the FINE part of what a row is worth on the average (real weights). Copies of rows stand for the former
# in engines that know whole samples only.
FINEST = 100
FINE = 2
MOST_COPIED_ROWS = 2_000_000
NEAR_ZERO = 0.25  # bounds of the search miss a value by so many of the smallest differences (docs/theory.md#weights)


class Goal(StrEnum):
    """What is maximised, less the penalty for each test."""

    ROBUST = "robust"
    """R: samples correct after the worst affordable shift. With weights that are no whole numbers, or classes that are
    worth more than others, what these samples are worth, where the last row may be lost in part."""
    DISTRIBUTIONAL = "distributional"
    """D: the same if the last sample may be lost in part in any case (docs/distributional.md); R is D rounded up."""


class Test(NamedTuple):
    """A feature, a code, and where to go without an answer, as in `Branch`."""

    feature: int
    code: int
    missing_left: bool = False

    @classmethod
    def of(cls, node: Branch) -> Test:
        """The test of a branching node."""
        return cls(node.feature, node.code, node.missing_left)

    def goes_left(self, table: Table) -> NDArray[np.bool_]:
        """Which samples the test sends to the left."""
        column = table.values[:, self.feature]
        if not table.features[self.feature].ordered:
            return np.asarray(column == self.code)
        return np.asarray((column <= self.code) | ((column == NO_ANSWER) & self.missing_left))


class Choice(NamedTuple):
    """What stands at a place of a heap: a test by its position in `Problem.tests` (-1: none), or a label."""

    test: int = -1
    label: int = 0


@dataclass(frozen=True, eq=False)
class Problem:
    """Find the tree of depth at most `max_depth` that keeps the most samples correct under the worst affordable shift.

        maximise   (samples correct in the worst case) - branch_penalty * (branching nodes)

    branch_penalty  None: the fewest branching nodes among the best trees. That is 1 / 2^max_depth as in the paper's
                    experiments, always less than one sample in total (of the smallest difference that counts, see
                    `quantum`)
    goal            what "samples correct" means, see `Goal`
    min_samples_leaf  so many samples stand in every leaf at least (see `leaf_sizes`); 0: a leaf may be empty
    """

    labels: Labels
    uncertainty: UncertaintySet
    max_depth: int
    branch_penalty: float | None = None
    goal: Goal = Goal.ROBUST
    min_samples_leaf: int = 0

    def __post_init__(self) -> None:
        if len(self.labels.codes) != self.table.n_samples:
            raise ValueError(
                f"there are {len(self.labels.codes)} labels but {self.table.n_samples} rows; expected as many"
            )
        object.__setattr__(self, "max_depth", whole_number("max_depth", self.max_depth, at_least=0))
        if self.max_depth > DEEPEST_TREE:
            raise ArgumentError("max_depth", self.max_depth, f"trees have {DEEPEST_TREE} levels at most")
        if self.goal not in list(Goal):
            raise ArgumentError("goal", self.goal, f"expected one of {[str(goal) for goal in Goal]}")
        object.__setattr__(self, "goal", Goal(self.goal))
        least = whole_number("min_samples_leaf", self.min_samples_leaf, at_least=0)
        if least > self.leaf_sizes.sum():
            raise ArgumentError(
                "min_samples_leaf",
                least,
                f"the table has only {self.leaf_sizes.sum():g} rows for all leaves",
            )
        object.__setattr__(self, "min_samples_leaf", least)
        object.__setattr__(self, "branch_penalty", self._checked_penalty())

    def _checked_penalty(self) -> float:
        if self.branch_penalty is None:
            return math.ldexp(self.quantum, -self.max_depth)
        penalty = float(numbers_of("branch_penalty", self.branch_penalty))
        if not 0 <= penalty <= LARGEST_PENALTY:
            raise ArgumentError("branch_penalty", self.branch_penalty, f"it must lie in [0, {LARGEST_PENALTY:g}]")
        # Objectives are doubles, right to within half a unit in the last place of the number of samples, or of what the
        # tests cost. Eight such units tell one test more or less apart, whatever is added up.
        smallest = math.ldexp(self.total, -50)
        if 0 < penalty < smallest:
            raise ArgumentError(
                "branch_penalty",
                penalty,
                f"with {self.total:g} samples it must be 0, or at least {smallest!r} to make a difference in double "
                f"precision",
                remedy="leave it out for the fewest tests among the best trees",
            )
        return penalty

    @property
    def table(self) -> Table:
        """The table that the prices are about."""
        return self.uncertainty.costs.table

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.table.n_samples

    @cached_property
    def total(self) -> float:
        """What all samples are worth together: their number if each is worth one."""
        return self.labels.total

    @property
    def leaf_sizes(self) -> NDArray[np.float64]:
        """How many samples each row counts for in a leaf.

        Whole weights are repeated rows. With others, one row is one observation, however many people it stands for.
        """
        return self.labels.row_people if self.labels.whole else (self.labels.row_people > 0).astype(np.float64)

    def allows(self, tree: Tree) -> bool:
        """Whether a tree is one of those that are asked for: not too deep, and with enough samples in every leaf."""
        if tree.depth > self.max_depth:
            return False
        if self.min_samples_leaf == 0:
            return True
        held = np.bincount(tree.leaf_of(self.table), weights=self.leaf_sizes, minlength=len(tree.regions))
        return bool(held.min() >= self.min_samples_leaf)

    # ---- What is maximised -------------------------------------------------------------------------------------------

    @property
    def penalty(self) -> float:
        """What a branching node costs, in samples."""
        return float(self.branch_penalty)  # type: ignore[arg-type]  # set in __post_init__

    @property
    def most_tests(self) -> int:
        """The tests of a full tree."""
        return (1 << self.max_depth) - 1

    @property
    def engine_penalty(self) -> float:
        """A penalty with the same optimal trees that engines can reckon with.

        If all tests of a full tree together cost less than one sample, trees are ordered by the samples that they keep
        and then by their tests, whatever the penalty: it may as well be 1 / 2^max_depth. A test that costs more than
        all samples is never worth it, however much more. Given in the smallest differences that count.
        """
        penalty = Fraction(self.penalty) / Fraction(self.quantum)
        if 0 < penalty * self.most_tests < 1:
            return math.ldexp(1.0, -self.max_depth)
        return float(min(penalty, Fraction(self.total) / Fraction(self.quantum) + 1))

    @property
    def in_part(self) -> bool:
        """Whether the last sample may be lost in part, so that values lie between whole numbers."""
        return self.goal is Goal.DISTRIBUTIONAL or not self.labels.counted

    @property
    def copies(self) -> int:
        """How often each row is repeated to maximise the distributional value; 1 for the robust goal."""
        if self.goal is Goal.ROBUST:
            return 1
        return max(1, min(FINEST, int(MOST_COPIED_ROWS // self.labels.people)))

    @cached_property
    def quantum(self) -> float:
        """The smallest difference of values that counts: engines maximise values rounded up to multiples of it."""
        if self.labels.counted:
            return 1.0 / self.fineness
        return self.total / (self.labels.people if self.labels.whole else self.n_samples) / self.fineness

    @property
    def fineness(self) -> int:
        """How many of the smallest differences a sample is worth, a row on the average where these are weighted."""
        if self.labels.counted:
            return self.copies
        return FINE if self.goal is Goal.ROBUST else FINEST

    @property
    def resolution(self) -> float:
        """Objectives that differ by less are not told apart: 0 where samples are counted one by one.

        Values that may lie between whole numbers are rounded up to the next multiple of `quantum`, and bounds may miss
        some by `NEAR_ZERO` of it, and by roundings of the search, or of a table with m copies of each row, where
        R_m = ceil(m D) (`lost_to_rounding`).
        """
        if not self.in_part:
            return 0.0
        copied = 2.0 * self.lost_to_rounding if self.labels.counted else 0.0
        return (1.0 + NEAR_ZERO + max(2.0 * self.rounding, copied)) * self.quantum

    @property
    def rounding(self) -> float:
        """By how many quanta a value between whole numbers may be missed (docs/theory.md#numbers).

        Sums of whole numbers of people, and of what they cost, are exact.
        """
        terms = 0.0 if self.labels.counted else 4.0 * self.n_samples
        return math.ldexp((terms + 256.0) * self.total / self.quantum, -53)

    @property
    def lost_to_rounding(self) -> float:
        """By how many copies the value of a tree on the repeated table may miss the repeated value.

        There, prices are rounded down to a unit of at most 2^-47 of the repeated budget C, and the budget to whole
        units. Let p say which part of each of the M copies the adversary wins at rounded prices. With S steps each at
        most, p costs less than C (1 + e) at exact prices, e = M (S + 1) 2^-47; p / (1 + e) is affordable there, and
        wins less by M e at most.
        """
        spans = [
            int(np.ptp(on_scale(feature, self.table.values[:, j]).astype(np.int64)))
            if feature.ordered
            else 2  # leaving and arriving
            for j, feature in enumerate(self.table.features)
        ]
        return float(self.labels.people * self.copies) ** 2 * (sum(spans) + 1) * 2.0**-47

    def objective(self, correct: float, tests: int) -> float:
        """The value that is maximised, rounded once: a tree with a larger one is better in exact arithmetic, too."""
        return float(Fraction(correct) - Fraction(self.penalty) * tests)

    def objective_of(self, found: Attack) -> float:
        """The objective of a tree that was attacked."""
        correct = found.priced_value if self.in_part else found.worst_case_correct
        return self.objective(correct, found.tree.n_branching_nodes)

    def judged(self, tree: Tree) -> Attack:
        """What the adversary does to a tree."""
        return attack(tree, self.labels, self.uncertainty)

    def most_correct(self, objective_bound: float) -> float:
        """What a bound on the objective says about the number of correct samples: a full tree pays the most penalty.

        A bound is a double, so it may be too low by a rounding: that much is added. R is D rounded up.
        """
        rounding = math.ldexp(self.total + min(abs(objective_bound), 2.0 * self.total), -52)
        most = objective_bound + self.penalty * min(self.most_tests, 2**60) + rounding
        if most >= self.total:
            return self.total
        if not self.labels.counted:
            return most
        return math.ceil(most) if self.in_part else math.floor(most)

    # ---- The tests and the heap form of a tree -----------------------------------------------------------------------

    @cached_property
    def tests(self) -> tuple[Test, ...]:
        """Every test that may be of use, by feature and code.

        Left out are tests that put all samples on one side (the subtree of that side alone is at least as good), tests
        on features that every sample changes for nothing (so is either of the two subtrees), the second of two
        categories, and of thresholds between which no sample can get, all but one. Where arriving at a category has a
        price of its own, a test on one that nobody has is of use: it takes a cheap way out; so are all that a table
        of prices lists. Where answers may be missing, each threshold is there with and without "or no answer", and
        "no answer" comes last.
        """
        return tuple(test for j in range(len(self.table.features)) for test in self._tests_of(j))

    def _tests_of(self, j: int) -> list[Test]:
        codes = [int(code) for code in self._codes(j)]
        if not self._asks_for_none(j):
            return [Test(j, code) for code in codes]
        pairs = [Test(j, code, missing) for code in codes for missing in (True, False)]
        return [*pairs, Test(j, BELOW_ALL, True)]

    def _asks_for_none(self, j: int) -> bool:
        return self.table.features[j].missing and self._is_testable(j)

    def cells(self, j: int) -> tuple[list[Limit], NDArray[np.bool_]]:
        """What the tests of a feature tell apart, and which of them are true where: tests by cells."""
        tests, feature = self._tests_of(j), self.table.features[j]
        if not feature.ordered:
            codes = [test.code for test in tests]
            rest = frozenset(range(feature.n_values)) - set(codes)
            limits = [Limit(j, allowed=frozenset([code])) for code in codes]
            limits += [Limit(j, allowed=rest)] if rest else []
            return limits, np.eye(len(codes), len(limits), dtype=bool)
        codes = sorted({test.code for test in tests} - {BELOW_ALL})
        limits = [Limit(j, None if low is None else low + 1, high) for low, high in pairwise([None, *codes, None])]
        said = [[limit.high is not None and limit.high <= test.code for limit in limits] for test in tests]
        truth = np.array(said, dtype=bool).reshape(len(tests), len(limits))
        if not self._asks_for_none(j):
            return limits, truth
        limits.append(Limit(j, high=BELOW_ALL, missing=True))
        return limits, np.column_stack([truth, [test.missing_left for test in tests]])

    @cached_property
    def n_tests(self) -> int:
        """How many tests there are. They are counted, not listed: a column of phone numbers may have billions."""
        return sum(self.n_tests_of(j) for j in range(len(self.table.features)))

    def n_tests_of(self, j: int) -> int:
        """How many tests a feature has."""
        if not self._is_testable(j):
            return 0
        if not self.table.features[j].ordered or self.uncertainty.costs.tables[j] is not None:
            n_codes = len(self._codes(j))
        else:
            lows, highs = self._reachable[j]
            n_codes = int((highs - lows + 1).sum())
        return 2 * n_codes + 1 if self._asks_for_none(j) else n_codes

    def _is_testable(self, j: int) -> bool:
        costs = self.uncertainty.costs
        reach, missing, table = costs.reach[j], costs.missing[j], costs.tables[j]
        prices = costs.prices[j] if table is None else table.numbers
        free = not prices.any() and reach.direction is Direction.BOTH and reach.steps is None
        free = free and (missing is None or not missing.any())
        return not free and bool((self.table.values[:, j] != self.table.values[0, j]).any())

    def _codes(self, j: int) -> NDArray[np.int64]:
        if not self._is_testable(j):
            return np.empty(0, dtype=np.int64)
        if not self.table.features[j].ordered:
            return self._categories(j)
        if (table := self.uncertainty.costs.tables[j]) is not None:
            return np.asarray(table.codes[table.codes != NO_ANSWER][:-1], dtype=np.int64)
        lows, highs = self._reachable[j]
        runs = [np.arange(low, high + 1) for low, high in zip(lows, highs, strict=True)]
        return np.concatenate(runs) if runs else np.empty(0, dtype=np.int64)

    def _categories(self, j: int) -> NDArray[np.int64]:
        seen = np.unique(self.table.values[:, j]).astype(np.int64)
        n_values = self.table.features[j].n_values
        if n_values <= 2:
            return seen[:1]
        costs = self.uncertainty.costs
        return np.arange(n_values) if costs.prices[j].shape[1] > 1 or costs.tables[j] is not None else seen

    @cached_property
    def _reachable(self) -> dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The codes that count in each ordered feature without a table of prices."""
        features, tables = self.table.features, self.uncertainty.costs.tables
        ordered = [j for j, feature in enumerate(features) if feature.ordered and tables[j] is None]
        return {j: self._reachable_in(j) for j in ordered if self._is_testable(j)}

    def _reachable_in(self, j: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Codes of an ordered feature that some sample can have, from the smallest to the largest in the table, the
        largest left out: first and last codes of disjoint runs, ascending.

        A threshold at a code and one at the next differ only for a sample that can have that next code. So thresholds
        at reachable codes stand for all others, each for those up to the next reachable code.
        """
        there = self.table.values[:, j] != NO_ANSWER
        values = self.table.values[there, j]
        if not values.size:
            return values.astype(np.int64), values.astype(np.int64)
        first, last = int(values.min()), int(values.max())
        reach = self.uncertainty.costs.reach[j]
        steps = self._affordable_steps(j, last - first, reach.steps)
        if len(steps) == 1:  # a price for all: equal values reach as far
            values = np.unique(values).astype(np.int64)
        else:
            values, steps = values.astype(np.int64), steps[there]
        lows = values if reach.direction is Direction.UP else values - steps
        highs = values if reach.direction is Direction.DOWN else values + steps
        lower = first if reach.lower is None else max(first, reach.lower)
        upper = last - 1 if reach.upper is None else min(last - 1, reach.upper)
        lows, highs = np.maximum(lows, lower), np.minimum(highs, upper)
        somewhere = lows <= highs
        lows, highs = lows[somewhere], highs[somewhere]
        if not lows.size:  # all numbers are one
            return lows, highs
        order = np.argsort(lows, kind="stable")
        lows, highs = lows[order], np.maximum.accumulate(highs[order])
        starts = np.flatnonzero(np.append(True, lows[1:] > highs[:-1] + 1))
        return lows[starts], highs[np.append(starts[1:] - 1, len(highs) - 1)]

    def _affordable_steps(self, j: int, span: int, limit: int | None) -> NDArray[np.int64]:
        """How many steps each sample can pay for alone, at most the span of the column; one number if all pay alike.

        Where samples may be lost in part, how many steps a part of it can pay for that counts.
        """
        prices = self.uncertainty.costs.prices[j][:, 0]
        most = self.uncertainty.spendable
        if self.in_part:
            most *= 16.0 * max(self.labels.worth or (1.0,)) / self.quantum  # as in cpp/search/model/instance.cpp
        steps = np.full(prices.shape, float(span))
        with np.errstate(over="ignore"):
            np.divide(most, prices, out=steps, where=prices > 0)
        # One step more than the division says cannot hurt: it may have been rounded down.
        affordable = prices <= most if self.in_part else self.uncertainty.affords(prices)
        whole = np.where(affordable, np.minimum(np.floor(steps) + 1, span), 0).astype(np.int64)
        return whole if limit is None else np.minimum(whole, limit)

    @cached_property
    def _position(self) -> dict[Test, int]:
        return {test: k for k, test in enumerate(self.tests)}

    def position(self, feature: int, code: int, missing_left: bool = False) -> int | None:
        """Where a test stands among `tests`, itself or the one that stands for it; None if it is of no use."""
        wanted = Test(feature, code, missing_left)
        if wanted in self._position or not self.table.features[feature].ordered or code == BELOW_ALL:
            return self._position.get(wanted)
        own = [
            (test.code, k)
            for test, k in self._position.items()
            if test.feature == feature and test.missing_left == missing_left and BELOW_ALL < test.code <= code
        ]
        largest = int(answered(self.table, feature).max(initial=-LARGEST_CODE))
        return max(own)[1] if own and code < largest else None

    def heap(self, tree: Tree) -> list[Choice] | None:
        """A tree as choices by place: the root is 1, the children of n are 2n (left) and 2n + 1 (right).

        None if the tree is too deep, or asks for a test that is not among `tests`.
        """
        if tree.depth > self.max_depth:
            return None
        return heap_of(tree.root, self.max_depth, lambda node: self.position(*Test.of(node)))

    def tree(self, choices: Sequence[tuple[int, int]]) -> Tree:
        """The tree that choices by place describe."""

        def grown(at: int) -> Node:
            test, label = choices[at]
            if test < 0:
                return Leaf(int(label))
            feature, code, missing_left = self.tests[test]
            return Branch(feature, code, grown(2 * at), grown(2 * at + 1), missing_left)

        return Tree(self.table.features, self.labels.classes, grown(1))


def heap_of(root: Node, depth: int, position: Callable[[Branch], int | None]) -> list[Choice] | None:
    """A tree as choices by place; `position` numbers its tests. None if one of them has no number."""
    choices = [Choice()] * (2 << depth)

    def put(node: Node, at: int) -> bool:
        if isinstance(node, Leaf):
            choices[at] = Choice(label=node.label)
            return True
        test = position(node)
        if test is None:
            return False
        choices[at] = Choice(test)
        return put(node.left, 2 * at) and put(node.right, 2 * at + 1)

    return choices if put(root, 1) else None
