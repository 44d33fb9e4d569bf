"""The other methods of the paper as classifiers, with the same manners as ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from hardwood.features import Kind, Labels, Table
from hardwood.problem import Problem
from hardwood.solvers import solve
from hardwood.solvers.base import Limits, Result
from hardwood.solvers.stable import StableSolver
from hardwood.tree_classifier import TreeClassifier
from hardwood.uncertainty import UncertaintySet

STRENGTHS = (0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


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

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the strength of the regularisation, then learn the tree."""
        table, labels = self.training_data(X, y)
        strengths = [float(strength) for strength in self.strengths]
        if not strengths or not all(0 < strength <= 1 for strength in strengths):
            raise ValueError(f"strengths are {list(self.strengths)}; expected numbers in (0, 1]")
        self.strength_, self.scores_ = strengths[0], {}
        if len(strengths) > 1:
            self.scores_ = self._held_out_scores(table, labels, strengths)
            self.strength_ = max(sorted(strengths), key=lambda strength: self.scores_[strength])
        self.result_ = self._learnt(table, labels, self.strength_)
        self.set_tree(self.result_.tree, table, labels)
        return self

    def _held_out_scores(self, table: Table, labels: Labels, strengths: list[float]) -> dict[float, float]:
        if not 0 < self.held_out < 1:
            raise ValueError(f"held_out is {self.held_out!r}; it must lie between 0 and 1")
        order = check_random_state(self.random_state).permutation(table.n_samples)
        n_held_out = max(1, round(self.held_out * table.n_samples))
        kept, tested = np.sort(order[n_held_out:]), np.sort(order[:n_held_out])
        if not len(kept):
            raise ValueError(
                f"held_out is {self.held_out}; with n_samples={table.n_samples} none would be left to learn from"
            )
        scores = {}
        for strength in strengths:
            tree = self._learnt(*_rows(table, labels, kept), strength).tree
            test_table, test_labels = _rows(table, labels, tested)
            scores[strength] = float((tree.predict(test_table) == test_labels.codes).mean())
        return scores

    def _learnt(self, table: Table, labels: Labels, strength: float) -> Result:
        still = UncertaintySet.boxes(table, radius=0)
        problem = Problem(labels, still, self.max_depth, (1.0 - strength) / strength)
        return solve(problem, limits=Limits(seconds=self.time_limit), n_jobs=self.n_jobs or 1)


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

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the tree."""
        table, labels = self.training_data(X, y)
        self.radius_ = row_radius(table, self.certainty, self.plausibility) if self.radius is None else self.radius
        problem = Problem(labels, self._row_sets(table), self.max_depth, self.branch_penalty)
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


def row_radius(table: Table, certainty: Any, plausibility: float) -> float:
    """How many steps a row may move if it has its own share of the budget: -log(plausibility) / price of a step.

    The price of a step is log(rho / (1 - rho)) if all columns have two answers (as in the paper), otherwise
    -log(1 - rho), with rho the mean certainty. Values move by whole steps, so the radius is rounded down.
    """
    rho = float(np.mean(np.asarray(list(certainty.values()) if hasattr(certainty, "values") else certainty)))
    two_answers = all(feature.kind is Kind.BINARY or feature.n_values == 2 for feature in table.features)
    if not 0 < rho <= 1 or not 0 < plausibility <= 1:
        raise ValueError(f"certainty is {certainty} and plausibility {plausibility}; both must lie in (0, 1]")
    if rho == 1 or plausibility == 1:
        return 0
    price = math.log(rho / (1 - rho)) if two_answers else -math.log(1 - rho)
    return math.inf if price <= 0 else math.floor(-math.log(plausibility) / price * (1 + 2.0**-32))


def _rows(table: Table, labels: Labels, rows: Any) -> tuple[Table, Labels]:
    return Table(table.features, table.values[rows]), Labels(labels.codes[rows], labels.classes)
