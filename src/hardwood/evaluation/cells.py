"""Cells of a feature that splits distinguish, and the probability that each sample moves to each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arrays import FloatArray, IntArray
from hardwood.data.codes import BELOW_ALL, MISSING_CODE
from hardwood.data.labels import Labels
from hardwood.data.table import Table
from hardwood.shifts.models import ShiftModel
from hardwood.shifts.probabilities import ColumnProbabilities
from hardwood.trees.tree import Branch, Tree


@dataclass(frozen=True)
class Cells:
    """Cells of a feature that some trees distinguish, with probabilities for each sample.

    Parameters
    ----------
    ordered : bool
        Whether the feature is ordered.
    codes : tuple of int
        Thresholds, ascending; for a categorical feature, the categories of splits. All other categories are one cell.
    borders : ndarray of float
        Samples by all cells but the last: probability of moving to that cell or to one before it.
    missing : bool, default=False
        Whether the last cell is for missing values.
    """

    ordered: bool
    codes: tuple[int, ...]
    borders: FloatArray
    missing: bool = False

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.borders.shape[1]) + 1

    def draw(self, uniform: NDArray[np.float32]) -> NDArray[np.uint16]:
        """Turn uniform random numbers in [0, 1) into cells; the last axis is that of the samples."""
        cells = np.zeros(uniform.shape, dtype=np.uint16)
        for border in self.borders.T.astype(np.float32):
            cells += uniform >= border
        return cells

    def left(self, branch: Branch) -> NDArray[np.bool_]:
        """Compute which cells a branching node sends to the left."""
        cells = np.arange(self.n_cells)
        if branch.code == BELOW_ALL:
            goes_left = np.zeros(self.n_cells, dtype=bool)
        else:
            at = self.codes.index(branch.code)
            goes_left = cells <= at if self.ordered else cells == at
        if self.missing:
            goes_left[-1] = branch.missing_left
        return goes_left

    def probability(self, cells: NDArray[np.bool_]) -> FloatArray:
        """Compute the probability that each sample moves to one of some cells."""
        cumulative = np.column_stack([np.zeros(len(self.borders)), self.borders, np.ones(len(self.borders))])
        return np.asarray(np.diff(cumulative, axis=1)[:, cells].sum(axis=1))

    def repeated(self, weights: NDArray[np.int64]) -> Cells:
        """Repeat each sample as often as its weight says."""
        return Cells(self.ordered, self.codes, np.repeat(self.borders, weights, axis=0), self.missing)


def cells_of_trees(trees: Sequence[Tree], table: Table, labels: Labels, shifts: ShiftModel) -> dict[int, Cells]:
    """Compute the cells that the splits of some trees distinguish, for each feature that has a split."""
    codes_by_feature: dict[int, set[int]] = {}
    for tree in trees:
        for node in tree.nodes:
            if isinstance(node, Branch):
                codes_by_feature.setdefault(node.feature, set()).add(node.code)
    columns = shifts.required_probabilities(table, np.asarray(labels.sample_weights))
    return {j: _cells(columns[j], sorted(codes - {BELOW_ALL})) for j, codes in codes_by_feature.items()}


def cells_of_values(table: Table, labels: Labels, shifts: ShiftModel) -> list[tuple[Cells, IntArray]]:
    """Compute, for each feature, a cell for every single value, and the codes of these values."""
    found = []
    for j, column in enumerate(shifts.required_probabilities(table, np.asarray(labels.sample_weights))):
        feature = table.features[j]
        codes = list(range(feature.low, feature.high + 1))
        present = table.values[:, j] != MISSING_CODE
        if feature.ordered and present.any():
            values = table.values[present, j]
            codes = list(range(min(feature.low, int(values.min())), max(feature.high, int(values.max())) + 1))
        cells = _cells(column, codes[:-1] if feature.ordered else codes)
        # The cell of all other categories is empty, because every category has a cell; any code serves for it.
        cell_codes = codes if feature.ordered else [*codes, codes[-1]]
        cell_codes = [*cell_codes, MISSING_CODE] if feature.missing else cell_codes
        found.append((cells, np.array(cell_codes, dtype=np.int32)))
    return found


def _cells(column: ColumnProbabilities, codes: list[int]) -> Cells:
    """Cells between some codes, and one for missing values where the feature has them."""
    borders = np.cumsum(column.within(codes), axis=1)[:, :-1]
    return Cells(column.feature.ordered, tuple(codes), borders, column.feature.missing)
