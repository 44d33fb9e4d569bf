"""The most accurate stable tree as a classifier."""

from __future__ import annotations

import math
from typing import Self

import numpy as np
from sklearn.utils import check_random_state

from hardwood._util.types import LabelsLike, PerColumn, TableLike, WeightsLike
from hardwood.data.table import Table
from hardwood.estimators.base import BaselineTreeClassifier
from hardwood.problem import Problem
from hardwood.shifts.uncertainty_set import UncertaintySet
from hardwood.solvers.base import Limits
from hardwood.solvers.repeated_rows import single_rows
from hardwood.solvers.stable import StableSolver, row_radius


class StableTreeClassifier(BaselineTreeClassifier):
    """The most accurate tree whose predictions no small change of a row alters (RCT-B; see `solvers.stable`).

    Parameters
    ----------
    max_depth : int, default=3
        Largest number of splits on the way to a prediction.
    radius : int, default=None
        Number of steps that a row may move: in total with norm 1, in each column with norm infinity. None derives it
        from certainty and plausibility as the paper does, see `row_radius`.
    norm : {1, "infinity"}, default=1
        How the steps of a row are counted.
    certainty : float, mapping or array, default=0.9
        Used only without a radius. The mean of several certainties is used.
    plausibility : float, default=0.9
        Used only without a radius.
    branch_penalty : float, default=0
        Smallest gain of a split in samples. The paper uses no penalty for this method.
    solver : {"scip", "gurobi"}, default="scip"
        For tables where some row can move; where no row can, the search finds the tree.
    time_limit : float or None, default=60
        Seconds after which the best tree so far is returned.
    random_state : int, RandomState or None, default=None
        Seed of the solver.
    feature_kinds : mapping or array, default=None
        Kinds of columns, as in `RobustTreeClassifier`.
    max_bins : int, default=10
        Largest number of bins of a binned column, as in `RobustTreeClassifier`.
    missing : {"error", "category"}, default="error"
        How to read missing values, as in `RobustTreeClassifier`.

    Attributes
    ----------
    radius_ : float
        The radius that was used.
    tree_, classes_, leaf_counts_, result_
        As in `RobustTreeClassifier`.
    """

    def __init__(
        self,
        max_depth: int = 3,
        *,
        radius: int | None = None,
        norm: int | str = 1,
        certainty: PerColumn = 0.9,
        plausibility: float = 0.9,
        branch_penalty: float = 0.0,
        solver: str = "scip",
        time_limit: float | None = 60,
        random_state: int | np.random.RandomState | None = None,
        feature_kinds: PerColumn = None,
        max_bins: int = 10,
        missing: str = "error",
    ) -> None:
        self.max_depth = max_depth
        self.radius = radius
        self.norm = norm
        self.certainty = certainty
        self.plausibility = plausibility
        self.branch_penalty = branch_penalty
        self.solver = solver
        self.time_limit = time_limit
        self.random_state = random_state
        self.feature_kinds = feature_kinds
        self.max_bins = max_bins
        self.missing = missing

    def _fit(self, X: TableLike, y: LabelsLike, sample_weight: WeightsLike | None) -> Self:
        """Learn the tree. Sample weights must be integers."""
        table, labels = self._training_data(X, y, sample_weight)
        self.radius_ = row_radius(table, self.certainty, self.plausibility) if self.radius is None else self.radius
        uncertainty = self._row_uncertainty(table)
        problem = single_rows(Problem(labels, uncertainty, self.max_depth, self.branch_penalty), self.solver)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.result_ = StableSolver(self.solver).solve(problem, limits=Limits(seconds=self.time_limit), seed=seed)
        self._store_tree(self.result_.tree, table, labels)
        return self

    def _row_uncertainty(self, table: Table) -> UncertaintySet:
        """Return the moves of a single row within the radius."""
        if self.norm not in (1, "infinity"):
            raise ValueError(f'norm is {self.norm!r}; expected 1 or "infinity"')
        if self.norm == 1 and math.isfinite(self.radius_):
            return UncertaintySet.priced(table, costs=1.0, budget=float(self.radius_))
        widest = max(feature.n_values for feature in table.features)
        return UncertaintySet.boxes(table, radius=int(min(self.radius_, widest)))
