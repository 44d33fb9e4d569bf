"""The ordinary optimal tree as a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from sklearn.utils import check_random_state

from hardwood._util.types import LabelsLike, PerColumn, TableLike, WeightsLike
from hardwood.estimators.base import BaselineTreeClassifier
from hardwood.solvers.base import Limits
from hardwood.solvers.ordinary import STRENGTHS, solve_regularised


class OrdinaryTreeClassifier(BaselineTreeClassifier):
    """The ordinary optimal tree, regularised (paper, section 6.1.3).

        maximise   R * (samples correct) - (1 - R) * (splits)

    Parameters
    ----------
    max_depth : int, default=3
        Largest number of splits on the way to a prediction.
    strengths : sequence of float, default=(0.6, 0.7, 0.8, 0.9, 0.95, 1)
        Values of R to choose from, each in (0, 1]. The value whose tree is most accurate on a held-out part is chosen,
        the smallest (the most regularised) among equals. With a single value nothing is held out.
    held_out : float, default=0.2
        Share of the training table that is held out to choose R; the tree is then learnt from the whole table.
    time_limit : float or None, default=60
        Seconds for each tree.
    n_jobs : int, default=None
        Threads of the solver; -1 uses all cores.
    random_state : int, RandomState or None, default=None
        Seed of the choice of held-out rows.
    feature_kinds : mapping or array, default=None
        Kinds of columns, as in `RobustTreeClassifier`.
    max_bins : int, default=10
        Largest number of bins of a binned column, as in `RobustTreeClassifier`.
    missing : {"error", "category"}, default="error"
        How to read missing values, as in `RobustTreeClassifier`.

    Attributes
    ----------
    strength_ : float
        The chosen R.
    scores_ : dict
        Held-out accuracy for each R.
    tree_, classes_, leaf_counts_, result_
        As in `RobustTreeClassifier`.
    """

    def __init__(
        self,
        max_depth: int = 3,
        *,
        strengths: Sequence[float] = STRENGTHS,
        held_out: float = 0.2,
        time_limit: float | None = 60,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        feature_kinds: PerColumn = None,
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

    def _fit(self, X: TableLike, y: LabelsLike, sample_weight: WeightsLike | None) -> Self:
        """Choose the strength of the regularisation, then learn the tree."""
        table, labels = self._training_data(X, y, sample_weight)
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
        self._store_tree(self.result_.tree, table, labels)
        return self
