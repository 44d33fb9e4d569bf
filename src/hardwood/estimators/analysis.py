"""What a fitted robust classifier computes about its tree: margins, worst case, alternatives and a report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, column_or_1d

from hardwood._util.arguments import check_integer, check_numbers
from hardwood._util.errors import ArgumentError
from hardwood._util.types import LabelsLike, PerCell, TableLike, WeightsLike
from hardwood.certificate import is_about
from hardwood.data.chunks import chunked_table
from hardwood.data.labels import Labels, encode_labels
from hardwood.data.table import Table
from hardwood.data.unseen import warn_of_unseen_values
from hardwood.estimators.alternatives import Alternatives, find_alternatives
from hardwood.estimators.baselines import baselines
from hardwood.estimators.fitting import ProblemFitting
from hardwood.problem import UNCONSTRAINED, Problem, constraint_parameters
from hardwood.shifts.models import ShiftModel, with_costs
from hardwood.trees.attack import Attack, attack

if TYPE_CHECKING:
    from hardwood.estimators.path import RobustnessPath
    from hardwood.shiftlab import PlausibilityChoice


class TreeAnalysis(ProblemFitting):
    """Base of `RobustTreeClassifier`: the methods that analyse a fitted tree under shifts."""

    def margins(self, X: TableLike, *, certainty: PerCell = None, costs: PerCell = None) -> NDArray[np.float64]:
        """Compute the smallest total cost that changes the prediction of each row.

        Parameters
        ----------
        X : table
            Rows with the columns that `fit` was given. A chunked table (see `audit`) is read chunk by chunk.
        certainty, costs : array of shape (n_samples, n_columns), optional
            Certainties or costs of the cells of X; required if `fit` was given them by cell.

        Returns
        -------
        array of shape (n_samples,)
            The margins; +inf where no change alters the prediction. exp(-margin) is the likelihood of the cheapest
            change, relative to no change.
        """
        if (chunks := chunked_table(X)) is not None:
            return self._map_chunks(partial(self.margins, certainty=certainty, costs=costs), chunks)
        table = self._encode(X)
        predicted = Labels(self.tree_.predict(table), self.tree_.classes)
        shifts = self._shifts_for(certainty=certainty, costs=costs)
        return attack(self.tree_, predicted, shifts.uncertainty(table, budget=0.0)).margins

    def worst_case(
        self,
        X: TableLike,
        y: LabelsLike,
        sample_weight: WeightsLike | None = None,
        *,
        plausibility: float | None = None,
        certainty: PerCell = None,
        costs: PerCell = None,
    ) -> Attack:
        """Attack the tree on a table.

        Parameters
        ----------
        X : table
            Rows with the columns that `fit` was given.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), optional
            Weight of each sample; 1 if not given.
        plausibility : float, optional
            Replaces the plausibility, or the budget, of `fit`.
        certainty, costs : float, mapping or array, optional
            Replace the certainties or costs of `fit`.

        Returns
        -------
        Attack
            Accuracy without a shift and in the worst case, margins, the worst shift itself, and the curve over all
            budgets.
        """
        table = self._encode(X)
        labels = self._encode_labels(y, table, sample_weight)
        shifts = self._shifts_for(certainty=certainty, costs=costs)
        shifts = shifts if plausibility is None else shifts.at(plausibility)
        return attack(self.tree_, labels, shifts.uncertainty(table, total_weight=labels.total_weight))

    def alternatives(
        self,
        k: int = 5,
        within: float = 0,
        X: TableLike | None = None,
        y: LabelsLike | None = None,
        sample_weight: WeightsLike | None = None,
        *,
        certainty: PerCell = None,
        costs: PerCell = None,
    ) -> Alternatives:
        """Find other trees of the same depth that are as good in the worst case, or nearly.

        Parameters
        ----------
        k : int, default=5
            Largest number of trees; the best ones are returned. This tree is among them if it is good enough.
        within : float, default=0
            How many samples less than the best tree the others may keep correct.
        X, y, sample_weight, certainty, costs : optional
            The training table; only needed if the model was loaded from a file.

        Returns
        -------
        Alternatives
            Its attribute `complete` tells whether no other such trees exist.

        Notes
        -----
        The limits are the parameters `time_limit` and `memory_limit`.
        """
        check_integer("k", k, at_least=1)
        if not 0 <= float(check_numbers("within", within)) < np.inf:
            raise ArgumentError("within", within, "expected a number of rows >= 0")
        table, labels, shifts = self._given_or_training_data(X, y, sample_weight, certainty=certainty, costs=costs)
        uncertainty = shifts.uncertainty(table, total_weight=labels.total_weight)
        problem = Problem(labels, uncertainty, self.max_depth, **constraint_parameters(self))
        return find_alternatives(
            problem, k, float(within), start=self.tree_, limits=self._limits(), n_jobs=self.n_jobs or 1
        )

    def report(
        self,
        path: str | Path,
        X: TableLike | None = None,
        y: LabelsLike | None = None,
        sample_weight: WeightsLike | None = None,
        *,
        along: RobustnessPath | PlausibilityChoice | None = None,
        title: str | None = None,
        show_rows: bool = False,
        certainty: PerCell = None,
        costs: PerCell = None,
        target: str = "",
        author: str = "",
        source: str = "",
        intended_use: str = "",
        X_test: TableLike | None = None,
        y_test: LabelsLike | None = None,
        sample_weight_test: WeightsLike | None = None,
    ) -> None:
        """Write a report for lay readers: one HTML file that needs no network.

        Parameters
        ----------
        path : str or Path
            Where to write the file.
        X, y : table and array, optional
            The table that the report is about; the training table if they are left out after `fit`.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows of X.
        along : RobustnessPath or PlausibilityChoice, optional
            A path of the same columns and classes, shown with a slider; or the result of
            `shiftlab.choose_plausibility`, to show which level to choose, too.
        title : str, optional
            The headline.
        show_rows : bool, default=False
            Whether the report may show which single rows the worst shift changes.
        certainty, costs : array of shape (n_samples, n_columns), optional
            Certainties or costs of the cells of X, if `fit` was given them by cell.
        target, author, source, intended_use : str, optional
            Texts for the headline and the model card. The target defaults to the name of y in `fit`.
        X_test, y_test, sample_weight_test : optional
            A test table; its results are shown next to those of the training table.

        Notes
        -----
        This is `hardwood.report.write_report` with the usual baselines. The ordinary optimal tree among them is given
        20 seconds.
        """
        from hardwood.report import About, check_place, write_report  # a later layer, loaded only for reports

        if (X_test is None) != (y_test is None):
            raise ValueError("X_test and y_test belong together; give both or neither")
        check_place(path)
        table, labels, shifts = self._given_or_training_data(X, y, sample_weight, certainty=certainty, costs=costs)
        uncertainty = shifts.uncertainty(table, total_weight=labels.total_weight)
        certificate = getattr(self, "certificate_", None)
        constraints = constraint_parameters(self) if is_about(certificate, table, labels) else UNCONSTRAINED
        depth = max(self.max_depth, self.tree_.depth)
        trees = baselines(Problem(labels, uncertainty, depth, **constraints), certificate)
        write_report(
            self,
            path,
            X,
            y,
            sample_weight,
            baselines=trees,
            along=along,
            title=title,
            show_rows=show_rows,
            certainty=certainty,
            costs=costs,
            about=About(target, "", author, source, intended_use),
            X_test=X_test,
            y_test=y_test,
            sample_weight_test=sample_weight_test,
        )

    def _given_or_training_data(
        self,
        X: TableLike | None = None,
        y: LabelsLike | None = None,
        sample_weight: WeightsLike | None = None,
        *,
        certainty: PerCell = None,
        costs: PerCell = None,
    ) -> tuple[Table, Labels, ShiftModel]:
        """Return a table, its labels and its shifts: those given, or those of `fit`."""
        check_is_fitted(self)
        if (X is None) != (y is None):
            raise ValueError("X and y belong together; give both, or neither for the training table")
        if X is None and sample_weight is not None:
            raise ValueError("sample_weight belongs to X and y; give them, too, or neither for the training table")
        problem: Problem | None = getattr(self, "_problem", None)
        if X is None and problem is None:
            raise ValueError("the model was loaded and does not hold its training table; give X and y")
        if X is None and problem is not None:
            return problem.table, problem.labels, with_costs(self.shifts_, certainty=certainty, costs=costs)
        table = self._encode(X)
        warn_of_unseen_values(table, self.tree_.features, stacklevel=3)
        return table, self._encode_labels(y, table, sample_weight), self._shifts_for(certainty=certainty, costs=costs)

    def _encode_labels(self, y: LabelsLike, table: Table, sample_weight: WeightsLike | None = None) -> Labels:
        """Encode the labels of a table, with the class weights of this classifier."""
        return encode_labels(
            column_or_1d(y, warn=True),
            table.n_samples,
            classes=self.tree_.classes,
            weights=sample_weight,
            class_weight=self.class_weight,
        )

    def _shifts_for(self, *, certainty: PerCell = None, costs: PerCell = None) -> ShiftModel:
        """Return the shifts of `fit`, or the given ones; values by cell are valid for one table only."""
        check_is_fitted(self)
        if certainty is not None or costs is not None:
            return with_costs(self.shifts_, certainty=certainty, costs=costs)
        if self.shifts_.per_cell or not self.shifts_.is_complete:
            raise ValueError(
                "the model was fitted with certainty or costs for single cells; give them for this table, too: "
                "certainty=... or costs=..."
            )
        return self.shifts_

    @property
    def _target_name(self) -> str:
        """The name of y in `fit`, or an empty text."""
        return str(getattr(self, "target_name_", ""))
