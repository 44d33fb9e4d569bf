"""The other methods of the paper as classifiers, with the same manners as ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

from sklearn.utils import check_random_state

from hardwood.data.features import Table
from hardwood.estimators.base import TreeClassifier, kept_if_it_fails
from hardwood.problem import Problem
from hardwood.shift.uncertainty import UncertaintySet
from hardwood.solvers.base import Limits
from hardwood.solvers.copies import single_rows
from hardwood.solvers.ordinary import STRENGTHS, solve_regularised
from hardwood.solvers.stable import StableSolver, row_radius


class OrdinaryTreeClassifier(TreeClassifier):
    """The ordinary optimal tree, regularised (paper, section 6.1.3).

        maximise   R * (samples correct) - (1 - R) * (tests)

    Parameters
    ----------
    max_depth : int, default=3
    strengths : sequence of float, default=(0.6, 0.7, 0.8, 0.9, 0.95, 1)
        Values of R to choose from, each in (0, 1]: the one whose tree is right most often on a held-out part wins, the
        smallest (the most regularised) among equals. With a single one nothing is held out.
    held_out : float, default=0.2
        Share of the training table that is held out to choose R; the tree is then learnt from all of it.
    time_limit, n_jobs, random_state, feature_kinds, max_bins, missing :
        as in `RobustTreeClassifier`; the time limit is for each tree

    Attributes
    ----------
    strength_ : the R that was chosen
    scores_ : held-out accuracy for each R
    tree_, classes_, leaf_counts_, result_ : as in `RobustTreeClassifier`
    """

    def __init__(
        self,
        max_depth: int = 3,
        *,
        strengths: Sequence[float] = STRENGTHS,
        held_out: float = 0.2,
        time_limit: float | None = 60,
        n_jobs: int | None = None,
        random_state: Any = None,
        feature_kinds: Any = None,
        max_bins: int = 10,
        missing: str = "error",
    ) -> None:
        self.max_depth = max_depth
        self.strengths = strengths
        self.held_out = held_out
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.feature_kinds = feature_kinds
        self.max_bins = max_bins
        self.missing = missing

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the strength of the regularisation, then learn the tree.

        sample_weight : how many people each row stands for
        """
        with kept_if_it_fails(self):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        table, labels = self.training_data(X, y, sample_weight)
        order = check_random_state(self.random_state).permutation(table.n_samples)
        found = solve_regularised(
            table,
            labels,
            self.max_depth,
            order,
            strengths=self.strengths,
            held_out=self.held_out,
            limits=Limits(seconds=self.time_limit),
            n_jobs=self.n_jobs or 1,
        )
        self.result_, self.strength_, self.scores_ = found.result, found.strength, found.scores
        self.set_tree(self.result_.tree, table, labels)
        return self


class StableTreeClassifier(TreeClassifier):
    """The most accurate tree whose predictions no small change of a row alters (RCT-B; see `solvers.stable`).

    Parameters
    ----------
    max_depth : int, default=3
    radius : int, default=None
        How many steps a row may move: in total with norm 1, in each column with norm infinity. None derives it from
        certainty and plausibility as the paper does, see `row_radius`.
    norm : {1, "infinity"}, default=1
    certainty, plausibility : float
        only asked if there is no radius; certainty may hold several numbers, of which the mean counts
    branch_penalty : float, default=0
        The paper uses none for this method.
    solver : {"scip", "gurobi"}, default="scip"
        For tables where some row can move; where none can, our search finds the tree.
    time_limit, random_state, feature_kinds, max_bins, missing : as in `RobustTreeClassifier`

    Attributes
    ----------
    radius_ : the radius that was used
    tree_, classes_, leaf_counts_, result_ : as in `RobustTreeClassifier`
    """

    def __init__(
        self,
        max_depth: int = 3,
        *,
        radius: int | None = None,
        norm: int | str = 1,
        certainty: Any = 0.9,
        plausibility: float = 0.9,
        branch_penalty: float = 0.0,
        solver: str = "scip",
        time_limit: float | None = 60,
        random_state: Any = None,
        feature_kinds: Any = None,
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the tree.

        sample_weight : how many people each row stands for, in whole numbers
        """
        with kept_if_it_fails(self):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        table, labels = self.training_data(X, y, sample_weight)
        self.radius_ = row_radius(table, self.certainty, self.plausibility) if self.radius is None else self.radius
        problem = single_rows(Problem(labels, self._row_sets(table), self.max_depth, self.branch_penalty), self.solver)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.result_ = StableSolver(self.solver).solve(problem, limits=Limits(seconds=self.time_limit), seed=seed)
        self.set_tree(self.result_.tree, table, labels)
        return self

    def _row_sets(self, table: Table) -> UncertaintySet:
        if self.norm not in (1, "infinity"):
            raise ValueError(f'norm is {self.norm!r}; expected 1 or "infinity"')
        if self.norm == 1 and math.isfinite(self.radius_):
            return UncertaintySet.priced(table, costs=1.0, budget=float(self.radius_))
        widest = max(feature.n_values for feature in table.features)
        return UncertaintySet.boxes(table, radius=int(min(self.radius_, widest)))
