"""Shifts of a table: the changed cells, and the cheapest moves that bring rows into a leaf."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arrays import FloatArray, IntArray
from hardwood._util.deprecation import renamed_attributes
from hardwood._util.text import printable, with_noun
from hardwood.data.codes import MISSING_CODE
from hardwood.data.columns import Category
from hardwood.data.table import Table
from hardwood.shifts.move_costs import MoveCosts
from hardwood.shifts.uncertainty_set import UncertaintySet
from hardwood.trees.compiled_costs import HIGHEST, LOWEST
from hardwood.trees.nodes import Limit, Region
from hardwood.trees.tree import Tree


@renamed_attributes(price="cost", people="weight")
@dataclass(frozen=True, slots=True)
class Change:
    """One changed value of a shift.

    Parameters
    ----------
    row : int
        Position of the sample in the table.
    column : str
        Name of the column.
    old, new : str, int, float or bool
        Recorded and shifted value.
    cost : float
        Cost of the change, for all of its weight.
    weight : float, default=1
        How much of the row's sample weight changes.
    """

    row: int
    column: str
    old: Category
    new: Category
    cost: float
    weight: float = 1


ChangeGroup = TypedDict("ChangeGroup", {"column": str, "from": Category, "to": Category, "rows": float, "cost": float})
"""Equal changes of a shift: entries column, from, to, rows (their number, or their total weight) and cost."""


@renamed_attributes(prices="costs", people="weights")
@dataclass(frozen=True, eq=False)
class Shift:
    """A shift of a table: the changed cells, in the order in which the adversary pays for them.

    Iterating over a shift yields a `Change` for each cell.

    Parameters
    ----------
    table : Table
        The table without the shift.
    rows, columns : ndarray of int
        Positions of the changed cells.
    codes : ndarray of int
        New code of each cell.
    costs : ndarray of float
        Cost of each change for one unit of the row's weight.
    weights : ndarray of float
        How much of the row's sample weight changes, for each cell.
    """

    table: Table = field(repr=False)
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    codes: IntArray
    costs: FloatArray
    weights: FloatArray

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Change]:
        cells = zip(self.rows, self.columns, self.codes, self.costs, self.weights, strict=True)
        for row, j, code, cost, weight in cells:
            feature = self.table.features[j]
            old, new = feature.decode(int(self.table.values[row, j])), feature.decode(int(code))
            yield Change(int(row), feature.name, old, new, float(cost * weight), plain_number(weight))

    def to_dict(self) -> dict[str, list[int] | list[str] | list[Category] | list[float]]:
        """List the changes by column, ready for a frame.

        Returns
        -------
        columns : dict of str to list
            Columns row, column, from, to, cost and weight. From and to hold values of all kinds.
        """
        changes = list(self)
        return {
            "row": [change.row for change in changes],
            "column": [change.column for change in changes],
            "from": [change.old for change in changes],
            "to": [change.new for change in changes],
            "cost": [change.cost for change in changes],
            "weight": [change.weight for change in changes],
        }

    def grouped(self) -> list[ChangeGroup]:
        """Group equal changes, the most frequent first.

        Returns
        -------
        groups : list of dict
            Entries column, from, to, rows (their number, or their total weight) and cost (of all of them).
        """
        old = self.table.values[self.rows, self.columns]
        groups, first, group_of = np.unique(
            np.column_stack([self.columns, old, self.codes]), axis=0, return_index=True, return_inverse=True
        )
        counts = np.bincount(group_of.ravel(), weights=self.weights, minlength=len(groups))
        costs = np.bincount(group_of.ravel(), weights=self.costs * self.weights, minlength=len(groups))
        entries: list[ChangeGroup] = []
        for k in np.lexsort((first, -counts)):
            feature = self.table.features[groups[k, 0]]
            entries.append(
                {
                    "column": feature.name,
                    "from": feature.decode(int(groups[k, 1])),
                    "to": feature.decode(int(groups[k, 2])),
                    "rows": plain_number(counts[k]),
                    "cost": float(costs[k]),
                }
            )
        return entries

    def apply(self) -> Table:
        """Apply the shift to the table; a row that changes only in part of its weight changes as a whole."""
        values = self.table.values.copy(order="F")
        values[self.rows, self.columns] = self.codes
        return Table(self.table.features, values)


def plain_number(amount: float) -> float:
    """Convert a number to an int if it is whole, otherwise to a float."""
    return int(amount) if amount == int(amount) else float(amount)


def change_text(entry: ChangeGroup) -> str:
    """Describe a group of equal changes (see `Shift.grouped`) in a line."""
    change = f"{printable(entry['column'])}: {printable(entry['from'])} -> {printable(entry['to'])}"
    rows = with_noun(f"{entry['rows']:,.6g}", "row", "rows")
    return f"  {change} in {rows} for {entry['cost']:.3g}"


def moves_into(tree: Tree, uncertainty: UncertaintySet, rows: NDArray[np.intp], leaves: IntArray) -> Shift:
    """Find the cheapest moves that bring rows into leaves.

    Parameters
    ----------
    tree : Tree
    uncertainty : UncertaintySet
    rows : ndarray of int
        Rows of the table, each at most once.
    leaves : ndarray of int
        Leaf for each of these rows, counted from left to right; its cost must be finite.

    Returns
    -------
    shift : Shift
        The moves, with weight 1.
    """
    weights = np.ones(uncertainty.costs.table.n_samples)
    return cheapest_moves(uncertainty.costs, rows, leaves, tree.regions, weights)


def cheapest_moves(
    costs: MoveCosts,
    rows: NDArray[np.intp],
    region_of: IntArray,
    regions: tuple[Region, ...],
    weights: FloatArray,
) -> Shift:
    """Find the cheapest moves that bring rows into regions.

    Parameters
    ----------
    costs : MoveCosts
    rows : ndarray of int
        Rows of the table, each at most once.
    region_of : ndarray of int
        Position in `regions` for each of these rows.
    regions : tuple of Region
    weights : ndarray of float
        For every row of the table, how much of its sample weight moves.

    Returns
    -------
    shift : Shift
        The moves in the order of `rows`, then by column.
    """
    parts = []
    for r in np.unique(region_of):
        positions = np.flatnonzero(region_of == r)
        for limit in regions[r].limits:
            new = _cheapest_codes(costs, limit, rows[positions])
            changed = new != costs.table.values[rows[positions], limit.feature]
            at = positions[changed]
            unit_costs = costs.move_costs(limit.feature, rows[at], new[changed])
            parts.append((at, np.full(at.size, limit.feature), new[changed], unit_costs))
    if not parts:
        parts = [(np.zeros(0, dtype=np.intp),) * 2 + (np.zeros(0, dtype=np.int32), np.zeros(0))]
    position, columns, codes, unit_costs = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.lexsort((columns, position))
    moved = rows[position[order]]
    cells = columns[order].astype(np.intp), codes[order].astype(np.int32), unit_costs[order]
    return Shift(costs.table, moved, *cells, weights[moved])


def _cheapest_codes(costs: MoveCosts, limit: Limit, rows: NDArray[np.intp]) -> IntArray:
    """Cheapest code within the limit for each row."""
    if limit.allowed is not None:
        return _cheapest_of(costs, limit.feature, sorted(limit.allowed), rows)
    table = costs.pair_costs[limit.feature]
    if table is not None:
        codes = [int(code) for code in table.codes if _is_within(limit, int(code))]
        return _cheapest_of(costs, limit.feature, codes, rows)
    nearest = _nearest_codes(costs, limit, rows)
    if not costs.table.features[limit.feature].missing:
        return nearest
    return _nearest_or_missing(costs, limit, rows, nearest)


def _cheapest_of(costs: MoveCosts, j: int, codes: list[int], rows: NDArray[np.intp]) -> IntArray:
    """Cheapest of the given codes for each row."""
    allowed = np.array(codes, dtype=np.int32)
    unit_costs = np.stack([costs.move_costs(j, rows, np.full(rows.size, code)) for code in allowed])
    cheapest: IntArray = allowed[unit_costs.argmin(axis=0)]
    return cheapest


def _nearest_codes(costs: MoveCosts, limit: Limit, rows: NDArray[np.intp]) -> IntArray:
    """Nearest code within the limit; of a missing value, the nearest to the middle of the domain."""
    j, reach = limit.feature, costs.reach[limit.feature]
    old = costs.table.values[rows, j]
    if (feature := costs.table.features[j]).missing:
        old = np.where(old == MISSING_CODE, (feature.low + feature.high) // 2, old)
    lows = [end for end in (limit.low, reach.lower) if end is not None]
    highs = [end for end in (limit.high, reach.upper) if end is not None]
    nearest: IntArray = np.clip(old, max(lows, default=LOWEST), min(highs, default=HIGHEST)).astype(np.int32)
    return nearest


def _nearest_or_missing(costs: MoveCosts, limit: Limit, rows: NDArray[np.intp], nearest: IntArray) -> IntArray:
    """Nearest code, or the code of a missing value where the limit allows that and it is cheaper."""
    missing = np.full(rows.size, MISSING_CODE, dtype=np.int32)
    if limit.only_missing:
        return missing
    # The bounds of the reach may exclude every code within the limit.
    low, high = (-np.inf if limit.low is None else limit.low), (np.inf if limit.high is None else limit.high)
    is_within = (nearest >= low) & (nearest <= high)
    nearest_costs = np.where(is_within, costs.move_costs(limit.feature, rows, nearest), np.inf)
    is_cheaper = limit.missing & (costs.move_costs(limit.feature, rows, missing) < nearest_costs)
    return np.where(is_cheaper, missing, nearest).astype(np.int32)


def _is_within(limit: Limit, code: int) -> bool:
    if code == MISSING_CODE:
        return limit.missing
    return (limit.low is None or code >= limit.low) and (limit.high is None or code <= limit.high)
