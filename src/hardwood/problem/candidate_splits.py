"""Candidate splits: the splits that an optimal tree may need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hardwood.data.codes import BELOW_ALL, MAX_CODE, MISSING_CODE
from hardwood.data.table import Table
from hardwood.shifts.reach import Direction, observed
from hardwood.shifts.uncertainty_set import UncertaintySet
from hardwood.trees.tree import Branch, Limit

Codes: TypeAlias = NDArray[np.int64]


class Split(NamedTuple):
    """A split, as in `Branch`.

    Attributes
    ----------
    feature : int
        Position of the feature.
    code : int
        Threshold of an ordered feature, or category of a categorical one.
    missing_left : bool
        Whether missing values of an ordered feature go to the left.
    """

    feature: int
    code: int
    missing_left: bool = False

    @classmethod
    def of(cls, node: Branch) -> Split:
        """Return the split of a branching node."""
        return cls(node.feature, node.code, node.missing_left)

    def goes_left(self, table: Table) -> NDArray[np.bool_]:
        """Compute which samples of a table go to the left."""
        column = table.values[:, self.feature]
        if not table.features[self.feature].ordered:
            return np.asarray(column == self.code)
        return np.asarray((column <= self.code) | ((column == MISSING_CODE) & self.missing_left))


@dataclass(frozen=True, eq=False)
class CandidateSplits:
    """The splits that an optimal tree may need, for one table and its shifts.

    Parameters
    ----------
    uncertainty : UncertaintySet
        The table, costs of all moves, and the budget.
    cost_limit : float or None, default=None
        Largest cost of one move that may matter; None: the move must be affordable. It is larger than the budget where
        the adversary may flip a sample in part.

    Notes
    -----
    These splits are left out:

    - Splits that send all samples to one side. The subtree of that side alone is at least as good.
    - Splits on a feature that every sample changes at no cost. Either of the two subtrees is at least as good.
    - The second of two categories.
    - All but one of several thresholds between which no sample can move.

    A split on a category that no sample has is a candidate if arriving at categories has different costs: the category
    may be a cheap way out. The same holds for all codes that a table of pair costs lists. Where values may be missing,
    each threshold has a split with and one without `missing_left`, and the split on missing values comes last.
    """

    uncertainty: UncertaintySet
    cost_limit: float | None = None

    @property
    def table(self) -> Table:
        """The table that splits are made for."""
        return self.uncertainty.costs.table

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """All candidate splits, by feature and code."""
        return tuple(split for j in range(len(self.table.features)) for split in self.splits_of(j))

    def splits_of(self, j: int) -> list[Split]:
        """List the candidate splits of a feature."""
        codes = [int(code) for code in self._codes(j)]
        if not self._splits_on_missing(j):
            return [Split(j, code) for code in codes]
        pairs = [Split(j, code, missing) for code in codes for missing in (True, False)]
        return [*pairs, Split(j, BELOW_ALL, True)]

    @cached_property
    def n_splits(self) -> int:
        """Number of candidate splits. They are counted, not listed: a column of phone numbers may have billions."""
        return sum(self.n_splits_of(j) for j in range(len(self.table.features)))

    def n_splits_of(self, j: int) -> int:
        """Count the candidate splits of a feature without listing them."""
        if not self._is_splittable(j):
            return 0
        if not self.table.features[j].ordered or self.uncertainty.costs.pair_costs[j] is not None:
            n_codes = len(self._codes(j))
        else:
            lows, highs = self._reachable_codes[j]
            n_codes = int((highs - lows + 1).sum())
        return 2 * n_codes + 1 if self._splits_on_missing(j) else n_codes

    def cells(self, j: int) -> tuple[list[Limit], NDArray[np.bool_]]:
        """Partition the domain of a feature into the cells that its candidate splits distinguish.

        Parameters
        ----------
        j : int
            Position of the feature.

        Returns
        -------
        limits : list of Limit
            The cells.
        goes_left : ndarray of bool
            Splits of the feature by cells: whether the split sends the cell to the left.
        """
        splits, feature = self.splits_of(j), self.table.features[j]
        if not feature.ordered:
            codes = [split.code for split in splits]
            rest = frozenset(range(feature.n_values)) - set(codes)
            limits = [Limit(j, allowed=frozenset([code])) for code in codes]
            limits += [Limit(j, allowed=rest)] if rest else []
            return limits, np.eye(len(codes), len(limits), dtype=bool)
        codes = sorted({split.code for split in splits} - {BELOW_ALL})
        limits = [Limit(j, None if low is None else low + 1, high) for low, high in pairwise([None, *codes, None])]
        outcomes = [[limit.high is not None and limit.high <= split.code for limit in limits] for split in splits]
        goes_left = np.array(outcomes, dtype=bool).reshape(len(splits), len(limits))
        if not self._splits_on_missing(j):
            return limits, goes_left
        limits.append(Limit(j, high=BELOW_ALL, missing=True))
        return limits, np.column_stack([goes_left, [split.missing_left for split in splits]])

    def position(self, split: Split) -> int | None:
        """Find a split, or the candidate that represents it, among `splits`.

        Parameters
        ----------
        split : Split

        Returns
        -------
        position : int or None
            None if no optimal tree needs the split.
        """
        if split in self._positions or not self.table.features[split.feature].ordered or split.code == BELOW_ALL:
            return self._positions.get(split)
        candidates = [
            (candidate.code, k)
            for candidate, k in self._positions.items()
            if candidate.feature == split.feature
            and candidate.missing_left == split.missing_left
            and BELOW_ALL < candidate.code <= split.code
        ]
        largest = int(observed(self.table, split.feature).max(initial=-MAX_CODE))
        return max(candidates)[1] if candidates and split.code < largest else None

    @cached_property
    def _positions(self) -> dict[Split, int]:
        return {split: k for k, split in enumerate(self.splits)}

    def _splits_on_missing(self, j: int) -> bool:
        return self.table.features[j].missing and self._is_splittable(j)

    def _is_splittable(self, j: int) -> bool:
        """Whether samples differ in a feature, and moving it is not free for all of them."""
        costs = self.uncertainty.costs
        reach, missing, table = costs.reach[j], costs.missing_costs[j], costs.pair_costs[j]
        unit_costs = costs.unit_costs[j] if table is None else table.numbers
        free = not unit_costs.any() and reach.direction is Direction.BOTH and reach.steps is None
        free = free and (missing is None or not missing.any())
        return not free and bool((self.table.values[:, j] != self.table.values[0, j]).any())

    def _codes(self, j: int) -> Codes:
        """Codes of the candidate splits of a feature."""
        if not self._is_splittable(j):
            return np.empty(0, dtype=np.int64)
        if not self.table.features[j].ordered:
            return self._categories(j)
        if (table := self.uncertainty.costs.pair_costs[j]) is not None:
            return np.asarray(table.codes[table.codes != MISSING_CODE][:-1], dtype=np.int64)
        lows, highs = self._reachable_codes[j]
        runs = [np.arange(low, high + 1) for low, high in zip(lows, highs, strict=True)]
        return np.concatenate(runs) if runs else np.empty(0, dtype=np.int64)

    def _categories(self, j: int) -> Codes:
        seen = np.unique(self.table.values[:, j]).astype(np.int64)
        n_values = self.table.features[j].n_values
        if n_values <= 2:
            return seen[:1]
        costs = self.uncertainty.costs
        return np.arange(n_values) if costs.unit_costs[j].shape[1] > 1 or costs.pair_costs[j] is not None else seen

    @cached_property
    def _reachable_codes(self) -> dict[int, tuple[Codes, Codes]]:
        """Runs of reachable codes by feature, for ordered features without a table of pair costs."""
        features, tables = self.table.features, self.uncertainty.costs.pair_costs
        ordered = [j for j, feature in enumerate(features) if feature.ordered and tables[j] is None]
        return {j: self._reachable_runs(j) for j in ordered if self._is_splittable(j)}

    def _reachable_runs(self, j: int) -> tuple[Codes, Codes]:
        """First and last codes of disjoint runs, ascending: the codes of an ordered feature that some sample can have.

        Codes lie between the smallest and the largest of the table; the largest itself is left out. A threshold at a
        code and one at the next code differ only for a sample that can have the next code. So thresholds at reachable
        codes represent all others, each those up to the next reachable code.
        """
        present = self.table.values[:, j] != MISSING_CODE
        values = self.table.values[present, j]
        if not values.size:
            return values.astype(np.int64), values.astype(np.int64)
        first, last = int(values.min()), int(values.max())
        reach = self.uncertainty.costs.reach[j]
        steps = self._affordable_steps(j, last - first, reach.steps)
        if len(steps) == 1:  # one cost for all samples: equal values reach equally far
            values = np.unique(values).astype(np.int64)
        else:
            values, steps = values.astype(np.int64), steps[present]
        lows = values if reach.direction is Direction.UP else values - steps
        highs = values if reach.direction is Direction.DOWN else values + steps
        lower = first if reach.lower is None else max(first, reach.lower)
        upper = last - 1 if reach.upper is None else min(last - 1, reach.upper)
        return _merged_runs(np.maximum(lows, lower), np.minimum(highs, upper))

    def _affordable_steps(self, j: int, span: int, max_steps: int | None) -> Codes:
        """Steps that each sample can afford alone, at most the span of the column; one number if costs are shared.

        Where samples may be flipped in part, a part of a sample can afford more steps; `cost_limit` says which parts
        matter.
        """
        costs = self.uncertainty.costs.unit_costs[j][:, 0]
        limit = self.uncertainty.affordable_total if self.cost_limit is None else self.cost_limit
        steps = np.full(costs.shape, float(span))
        with np.errstate(over="ignore"):
            np.divide(limit, costs, out=steps, where=costs > 0)
        # The quotient may have been rounded down; a step too many only adds a candidate.
        affordable = self.uncertainty.affords(costs) if self.cost_limit is None else costs <= limit
        whole = np.where(affordable, np.minimum(np.floor(steps) + 1, span), 0).astype(np.int64)
        return whole if max_steps is None else np.minimum(whole, max_steps)


def _merged_runs(lows: Codes, highs: Codes) -> tuple[Codes, Codes]:
    """Merge runs of codes that overlap or touch; runs with low > high are empty."""
    nonempty = lows <= highs
    lows, highs = lows[nonempty], highs[nonempty]
    if not lows.size:
        return lows, highs
    order = np.argsort(lows, kind="stable")
    lows, highs = lows[order], np.maximum.accumulate(highs[order])
    starts = np.flatnonzero(np.append(True, lows[1:] > highs[:-1] + 1))
    return lows[starts], highs[np.append(starts[1:] - 1, len(highs) - 1)]
