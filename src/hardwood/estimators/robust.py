"""The scikit-learn classifier: validate, call, store."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from hardwood._util.types import LabelsLike, PerCell, PerColumn, TableLike, WeightsLike
from hardwood.data.labels import ClassWeight
from hardwood.estimators.analysis import TreeAnalysis
from hardwood.estimators.persistence import load_model, save_model
from hardwood.estimators.progress_log import ProgressLog
from hardwood.shifts.models import ShiftModel
from hardwood.solvers.base import Solver, Status, StopReason


class RobustTreeClassifier(TreeAnalysis):
    """A shallow decision tree that keeps the most training samples correct under the worst plausible shift.

    Parameters
    ----------
    max_depth : int, default=3
        Largest number of splits on the way to a prediction.
    certainty : float, mapping or array, default=0.9
        Probability that a value is recorded the same way in deployment: one number for all columns, a mapping by
        column name (`...` stands for all columns that it leaves out), or one entry for each column. Certainties of
        single cells are passed to `fit`. The entry of a column may also be a measured table
        P(later value | current value): a frame, a mapping of mappings, or a square array.
    plausibility : float, default=0.9
        Hedge against every shift whose likelihood ratio to "no change" is at least this much per sample. 1 hedges
        against no shift: the tree is an ordinary optimal tree.
    direction : str, mapping or array, default=None
        "up" or "down" for columns that shift in one direction only.
    bounds : pair, mapping or array, default=None
        (lower, upper) for integer columns whose values cannot leave a range; None for an open end.
    feature_kinds : mapping or array, default=None
        "integer", "ordinal", "binary", "categorical" or "binned", where the dtype does not imply the kind. A list of
        values in their order makes a column ordinal.
    costs : float, mapping or array, default=None
        Replaces certainties: the cost of one step, for a categorical column the cost of changing the value; or a
        square table of costs.
    budget : float, default=None
        Replaces the plausibility: the total cost that a shift of the training table may have.
    branch_penalty : "auto" or float, default="auto"
        Penalty for each split, in samples. "auto" finds the fewest splits among the trees with the best value of the
        objective. 0 does not prefer small trees.
    min_samples_leaf : int, default=0
        Smallest number of training samples in each leaf, counted without a shift, so that no prediction depends on a
        few samples; 0 allows empty leaves. Integer sample weights count as repeated rows. What is proved holds among
        the trees with such leaves.
    solver : str or object, default="auto"
        "auto" is "search", the exact search of hardwood; "scip" and "gurobi" need the extras of these names.
    time_limit : float or None, default=60
        Seconds after which the best tree so far is returned, with what is proved about it.
    memory_limit : int, str or None, default=None
        Bytes that the solver may use, or text such as "4GB"; None leaves it to the solver (8 GB for the search). A
        problem that needs more is refused before the solver starts.
    n_jobs : int, default=None
        Threads of the solver; -1 uses all cores. The search finds the same tree and bound with any number.
    random_state : int, RandomState or None, default=None
        Seed of solvers that use one. The search does not.
    verbose : int, default=0
        1 logs every better tree and bound (logger "hardwood"; to standard error if logging is not configured).
    max_bins : int, default=10
        Largest number of bins of a column of floats, or of whole numbers with a range of more than 100; the unit of its
        shifts is one bin.
    clip : bool, default=False
        Raise certainties that are too small for a column (below one over the number of its values) to the smallest
        valid certainty, instead of refusing them.
    missing : {"error", "category"}, default="error"
        "category" makes missing a value of its own. In a numeric or ordinal column it has no place in the order: a
        split sends it to one side ("age <= 40 or missing"), or splits off the missing values alone.
    missing_values : value, list or mapping, default=None
        Missing codes such as "?", "no answer" or -9: for all columns, or by column name. A column of text whose other
        values are all numbers is read as numbers.
    missing_certainty : float, mapping or array, default=None
        Probability that a value's missingness status does not change; the certainty of the column if not given.
    objective : {"robust", "distributional"}, default="robust"
        What is maximised, less the penalty for each split. "robust": the samples that stay correct after the worst
        shift. "distributional": the distributionally robust value (E-Companion 1 of the paper), for which the adversary
        may flip the last sample in part, to within a hundredth of a sample (docs/distributional.md).
    radius : int, mapping or array, default=None
        Replaces certainty, plausibility, costs and budget: every sample moves freely, and all of them at once, within
        a box with this many steps on each side (a categorical value moves freely if the radius is at least 1).
    class_weight : None, "balanced" or mapping, default=None
        Weight of a correct prediction for each class: 1, weights that make all classes count the same (the worst-case
        balanced accuracy is maximised), or a number > 0 for each class.
    shifts : ShiftModel, default=None
        `Calibrated`, `Priced`, `Boxes` or a model of your own (docs/extending.md). It replaces the parameters that
        describe shifts: certainty, plausibility, direction, bounds, costs, budget, clip, missing_certainty and radius.
        If one of these is given, too, `fit` raises an error; one that equals its default, such as plausibility=0.9,
        counts as not given.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of columns in `fit`.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns in `fit`, if they had names.
    tree_ : Tree
        Prints as text; see also `hardwood.interop`.
    certificate_ : Certificate
        What is proved about the tree: worst case, bound, gap, status.
    shifts_ : ShiftModel
        The shifts that the tree was fitted for.
    distributional_value_ : float
        Samples that stay correct if the last one may be flipped in part; less than one below the worst case.
    result_ : Result
        Result of the solver, with its history.
    leaf_counts_ : array of shape (n_leaves, n_classes)
        Weight of the training samples by leaf, from left to right, and class.

    Notes
    -----
    Unseen values: in a categorical column they differ from every category that the tree names; integers and floats
    outside the training range are compared with the thresholds; in ordinal and binary columns, where they have no
    place in the order, they are refused.
    """

    def __init__(
        self,
        max_depth: int = 3,
        *,
        certainty: PerColumn = 0.9,
        plausibility: float = 0.9,
        direction: PerColumn = None,
        bounds: PerColumn = None,
        feature_kinds: PerColumn = None,
        costs: PerColumn = None,
        budget: float | None = None,
        branch_penalty: float | str = "auto",
        min_samples_leaf: int = 0,
        solver: str | Solver = "auto",
        time_limit: float | None = 60,
        memory_limit: float | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        max_bins: int = 10,
        clip: bool = False,
        missing: str = "error",
        missing_values: PerColumn = None,
        missing_certainty: PerColumn = None,
        objective: str = "robust",
        radius: PerColumn = None,
        class_weight: ClassWeight = None,
        shifts: ShiftModel | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.certainty, self.plausibility = certainty, plausibility
        self.direction, self.bounds = direction, bounds
        self.feature_kinds = feature_kinds
        self.costs, self.budget = costs, budget
        self.branch_penalty = branch_penalty
        self.min_samples_leaf = min_samples_leaf
        self.solver = solver
        self.time_limit, self.memory_limit = time_limit, memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.max_bins = max_bins
        self.clip = clip
        self.missing, self.missing_values = missing, missing_values
        self.missing_certainty = missing_certainty
        self.objective = objective
        self.radius = radius
        self.class_weight = class_weight
        self.shifts = shifts

    def fit(
        self,
        X: TableLike,
        y: LabelsLike,
        sample_weight: WeightsLike | None = None,
        *,
        certainty: PerCell = None,
        costs: PerCell = None,
    ) -> Self:
        """Learn the tree.

        Parameters
        ----------
        X : table
            Training samples: a pandas, polars or arrow frame, a mapping of columns, or an array.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), optional
            Weight of each sample. Integer weights count as repeated rows. With other weights, the worst shift may flip
            the last sample in part.
        certainty, costs : array of shape (n_samples, n_columns), optional
            One value for each cell; replaces the parameter of the same name. Cross-validation slices the array with X
            if metadata routing is enabled: `set_fit_request(certainty=True)`.

        Returns
        -------
        self
        """
        log = ProgressLog(self.time_limit) if self.verbose else None
        self._fit(
            X,
            y,
            sample_weight,
            certainty=certainty,
            costs=costs,
            on_columns=None if log is None else log.log_columns,
            on_progress=None if log is None else log.log_progress,
        )
        if self.result_.status is Status.FEASIBLE and self.result_.stop_reason is not StopReason.FINISHED:
            warnings.warn(self.certificate_.stopping_text.strip(), ConvergenceWarning, stacklevel=2)
        return self

    def save(self, path: str | Path) -> None:
        """Write the model to a JSON file, and its certificate next to it.

        Parameters
        ----------
        path : str or Path
            Where to write the model. The certificate of model.json is written to model.certificate.json.
        """
        check_is_fitted(self)
        save_model(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote, and its certificate if the file exists and is about this tree.

        Parameters
        ----------
        path : str or Path
            The file of the model.

        Returns
        -------
        RobustTreeClassifier
            A fitted classifier, without its training table.
        """
        return load_model(cls, path)
