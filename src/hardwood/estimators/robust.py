"""The scikit-learn classifier: validates, walks down the corridor, stores. No algorithm lives here."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d

from hardwood._support.arguments import bytes_of, numbers_of, whole_number
from hardwood._support.errors import ArgumentError
from hardwood._support.files import json_text, reading, write_text
from hardwood._version import __version__
from hardwood.certificate import Certificate, is_about
from hardwood.data.columns import rows_of
from hardwood.data.features import Kind, Table
from hardwood.data.labels import Labels, checked_weights, encode_labels
from hardwood.data.pieces import pieces_of
from hardwood.data.strangers import warn_of_strangers
from hardwood.estimators.alternatives import Alternatives, alternatives_of
from hardwood.estimators.base import TreeClassifier, kept_if_it_fails
from hardwood.estimators.rivals import rivals
from hardwood.problem import Goal, Problem
from hardwood.shift.account import accounts_of, reading_lines
from hardwood.shift.description import FIELDS, ShiftDescription, plain, read_plain
from hardwood.shift.tables import is_table
from hardwood.solvers import solve
from hardwood.solvers.base import (
    Limits,
    OnProgress,
    Progress,
    Result,
    Solver,
    Start,
    Status,
    StopReason,
    progress_words,
    time_words,
)
from hardwood.trees.adversary import Attack, attack
from hardwood.trees.tree import Tree

LOGGER = logging.getLogger("hardwood")
FORMAT = "hardwood.model"
VERSION = 3
OLDEST_VERSION = 1  # that is still read
# Parameters that older versions did not know.
NEWER_PARAMETERS = {"class_weight": None, "min_samples_leaf": 0, "missing_values": None}
SAVED_PARAMETERS = (
    "max_depth",
    "branch_penalty",
    "min_samples_leaf",
    "max_bins",
    "missing",
    "missing_values",
    "objective",
    "class_weight",
)
# What a description of shifts says is a parameter here, but for the rows that its budget is for: `fit` knows them.
SHIFT_PARAMETERS = tuple(name for name in FIELDS if name != "budget_rows")


class RobustTreeClassifier(TreeClassifier):
    """A shallow decision tree that keeps the most training samples correct under the worst plausible shift.

    Parameters
    ----------
    max_depth : int, default=3
        Largest number of questions on the way to a prediction.
    certainty : float, mapping, array, default=0.9
        Probability that a value will be recorded the same way when the tree is used: one number for all, a mapping by
        column name (`...` stands for all columns that it leaves out), or one entry for each column. One for each cell
        goes to `fit`. The entry of a column may also be a table P(answer later | answer now) as it was measured: a
        frame, a mapping of mappings, or a square array.
    plausibility : float, default=0.9
        Hedge against every shift whose likelihood, relative to "nothing changes", is at least this much per sample.
        1 hedges against nothing: an ordinary optimal tree.
    direction : str, mapping or array, default=None
        "up" or "down" for columns that shift one way only.
    bounds : pair, mapping or array, default=None
        (lower, upper) for integer columns whose values cannot leave a range; None for an open end.
    feature_kinds : mapping or array, default=None
        "integer", "ordinal", "binary", "categorical" or "binned", where the dtype does not say it; a list of answers in
        their order makes a column ordinal.
    costs : float, mapping or array, default=None
        Instead of certainties, the price of one step, for a categorical column the price of changing the answer; or a
        square table of prices.
    budget : float, default=None
        Instead of a plausibility, the total price that shifts of the training table may have.
    branch_penalty : "auto" or float, default="auto"
        What a question must be worth, in samples. "auto": the fewest questions among the trees with the best value of
        the objective. 0 asks for no small tree.
    min_samples_leaf : int, default=0
        How many training rows every leaf must hold as they stand, so that no answer rests on an accident; 0 lets a leaf
        be empty. Rows with whole weights count as often as they say. What is proved is about such trees.
    solver : str or object, default="auto"
        "auto" is "search", our exact search; "scip" and "gurobi" need the extras of these names.
    time_limit : float or None, default=60
        Seconds after which the best tree so far is returned, with what is proved about it.
    memory_limit : int, str or None, default=None
        Bytes that the solver may use, or text such as "4GB"; None leaves it to the solver (8 GB for the search). What
        needs more is refused before the work begins.
    n_jobs : int, default=None
        Threads of the solver; -1 uses all cores.
    random_state : int, RandomState or None, default=None
        Seed of solvers that use one. The search does not.
    verbose : int, default=0
        1 logs every better tree and bound (logger "hardwood"; to standard error if no logging is set up).
    max_bins : int, default=10
        Columns of floats are cut into at most so many bins; the unit of their shifts is one bin.
    clip : bool, default=False
        Certainties that make no sense for a column (below one over the number of its answers) count as the lowest that
        does, instead of being refused.
    missing : {"error", "category"}, default="error"
        "category" makes a missing answer an answer of its own. In a column of numbers or of answers in an order it is
        off the scale: questions take it along to one side ("age <= 40 or no answer"), or ask for it alone.
    missing_values : answer, list or mapping, default=None
        Answers that mean that there is none, such as "?", "no answer" or -9: for all columns, or by column name. What
        else a column of text holds is read as numbers if all of it is.
    missing_certainty : float, mapping or array, default=None
        Probability that whether there is an answer at all will be the same; the certainty of the column if not given.
    objective : {"robust", "distributional"}, default="robust"
        What is maximised, less the penalty for each question. "robust": the samples that stay correct after the worst
        shift. "distributional": the distributionally robust value (E-Companion 1 of the paper), for which the adversary
        may lose the last sample in part, to within a hundredth of a sample (docs/distributional.md).
    radius : int, mapping or array, default=None
        Instead of certainty, plausibility, costs and budget: every sample may move freely, and all at once, within a
        box of so many steps around it (a categorical answer freely if at least 1).
    class_weight : None, "balanced" or mapping, default=None
        What it is worth to be right about a sample of each class: one, all classes as much as each other (then what is
        maximised is the balanced accuracy in the worst case), or a number > 0 for each class.

    Attributes
    ----------
    classes_ : array of the class labels
    n_features_in_, feature_names_in_ : the columns seen in `fit`
    tree_ : Tree
        Prints as text; see also `hardwood.interop`.
    certificate_ : Certificate
        What is proved about the tree: worst case, bound, gap, status.
    shifts_ : ShiftDescription
        What `fit` was told about shifts.
    distributional_value_ : float
        Samples correct if the last one may be lost in part; less than one below the worst case.
    result_ : Result
        The solver's report with its history.
    leaf_counts_ : array of shape (leaves, classes)
        Training samples by leaf, from left to right, and class.

    Notes
    -----
    Answers that were not seen in `fit`: in a categorical column they count as different from every answer that the tree
    asks for; integers and floats outside the range seen are compared as they are; in ordinal and binary columns, where
    they have no place in the order, they are refused.
    """

    def __init__(
        self,
        max_depth: int = 3,
        *,
        certainty: Any = 0.9,
        plausibility: float = 0.9,
        direction: Any = None,
        bounds: Any = None,
        feature_kinds: Any = None,
        costs: Any = None,
        budget: float | None = None,
        branch_penalty: float | str = "auto",
        solver: str | Solver = "auto",
        time_limit: float | None = 60,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        max_bins: int = 10,
        clip: bool = False,
        missing: str = "error",
        radius: Any = None,
        objective: str = "robust",
        memory_limit: float | str | None = None,
        class_weight: Any = None,
        missing_certainty: Any = None,
        min_samples_leaf: int = 0,
        missing_values: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.certainty = certainty
        self.plausibility = plausibility
        self.direction = direction
        self.bounds = bounds
        self.feature_kinds = feature_kinds
        self.costs = costs
        self.budget = budget
        self.branch_penalty = branch_penalty
        self.solver = solver
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.max_bins = max_bins
        self.clip = clip
        self.missing = missing
        self.radius = radius
        self.objective = objective
        self.memory_limit = memory_limit
        self.class_weight = class_weight
        self.missing_certainty = missing_certainty
        self.min_samples_leaf = min_samples_leaf
        self.missing_values = missing_values

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, certainty: Any = None, costs: Any = None) -> Self:
        """Learn the tree.

        sample_weight : array of shape (samples,), optional
            How many people each row stands for. Whole numbers are the same as repeated rows. With others, the last row
            of the worst shift may be lost in part.
        certainty, costs : arrays of shape (samples, columns), optional
            One value for each cell, instead of the parameters of the same names. Cross-validation slices them along
            with X if metadata routing is on: `set_fit_request(certainty=True)`.
        """
        with kept_if_it_fails(self):
            problem, shifts = self.pose(X, y, sample_weight, certainty=certainty, costs=costs)
            self.target_name_ = str(getattr(y, "name", None) or "")
            listener = None
            if self.verbose:
                listener = _narrate(problem, self.time_limit)
                for line in self.reading(problem, shifts):
                    LOGGER.info("%s", line)
            result = self.solve(problem, on_progress=listener)
            self.adopt(problem, shifts, result)
        if result.status is Status.FEASIBLE and result.stop_reason is not StopReason.FINISHED:
            warnings.warn(self.certificate_.said_of_stopping.strip(), ConvergenceWarning, stacklevel=2)
        return self

    def reading(self, problem: Problem, shifts: ShiftDescription) -> list[str]:
        """How the training table was read, in lines of text: one for each column, then what else is to be known."""
        people = problem.labels.row_people
        lines = reading_lines(accounts_of(problem.table, problem.uncertainty, shifts, people))
        return [*lines, *getattr(self, "_reading_notes", ())]

    def pose(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        certainty: Any = None,
        costs: Any = None,
    ) -> tuple[Problem, ShiftDescription]:
        """The problem that `fit` solves, and the words that it was posed in."""
        table, labels = self.training_data(X, y, sample_weight, self.class_weight)
        cells = {"certainty": certainty, "costs": costs}
        if sample_weight is not None and (certainty is not None or costs is not None):
            there = checked_weights(sample_weight, np.shape(y)[0]) > 0
            cells = {name: cell_rows(value, there) for name, value in cells.items()}
        shifts = self._described(labels.people).with_prices(**cells).with_named_tables(table)
        if isinstance(self.branch_penalty, str) and self.branch_penalty != "auto":
            raise ArgumentError("branch_penalty", self.branch_penalty, 'expected "auto" or a number >= 0')
        if self.objective not in list(Goal):
            raise ArgumentError("objective", self.objective, 'expected "robust" or "distributional"')
        penalty = None if isinstance(self.branch_penalty, str) else self.branch_penalty
        uncertainty = shifts.uncertainty(table, people=labels.people)
        goal, least_leaf = Goal(self.objective), self.min_samples_leaf
        return Problem(labels, uncertainty, self.max_depth, penalty, goal, least_leaf), shifts

    def solve(self, problem: Problem, *, start: Start | None = None, on_progress: OnProgress | None = None) -> Result:
        """Let the solver of the parameters solve a problem, within their limits."""
        memory = None if self.memory_limit is None else bytes_of("memory_limit", self.memory_limit)
        return solve(
            problem,
            "search" if self.solver == "auto" else self.solver,
            limits=Limits(seconds=self.time_limit, memory_bytes=memory),
            start=start or Start(),
            on_progress=on_progress,
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            n_jobs=1 if self.n_jobs is None else self.n_jobs,
        )

    def adopt(self, problem: Problem, shifts: ShiftDescription, result: Result) -> Self:
        """Become the classifier of a result."""
        self.set_tree(result.tree, problem.table, problem.labels)
        self._problem = problem  # for reports; neither saved nor pickled
        self.shifts_ = shifts
        self.result_ = result
        self.distributional_value_ = problem.judged(result.tree).priced_value
        self.certificate_ = Certificate.of(problem, shifts, result, __version__, self.class_weight)
        return self

    def _described(self, n_samples: float) -> ShiftDescription:
        """What the parameters say about shifts, for a training table with so many rows, or people."""
        said = {name: getattr(self, name) for name in SHIFT_PARAMETERS}
        return ShiftDescription(**said, budget_rows=None if self.budget is None else n_samples)

    def margins(self, X: Any, *, certainty: Any = None, costs: Any = None) -> NDArray[np.float64]:
        """The cheapest price of changes that alter the prediction of each row; +inf where nothing can.

        exp(-margin) is how likely those changes are, relative to no change. If `fit` was given certainties or costs for
        single cells, those of the new rows must be given here. A table in pieces (see `audit`) is read piece by piece.
        """
        if (pieces := pieces_of(X)) is not None:
            return self._piece_by_piece(partial(self.margins, certainty=certainty, costs=costs), pieces)
        table = self.encoded(X)
        predicted = Labels(self.tree_.predict(table), self.tree_.classes)
        shifts = self._shifts_for(certainty=certainty, costs=costs)
        return attack(self.tree_, predicted, shifts.uncertainty(table, budget=0.0)).margins

    def worst_case(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        plausibility: float | None = None,
        certainty: Any = None,
        costs: Any = None,
    ) -> Attack:
        """What the worst shift does to this tree on any table: accuracy, margins, the shift itself, and its curve.

        sample_weight : how many people each row stands for
        plausibility, certainty, costs : replace what `fit` was told about shifts
        """
        table = self.encoded(X)
        labels = self.labelled(y, table, sample_weight)
        shifts = self._shifts_for(certainty=certainty, costs=costs)
        shifts = shifts if plausibility is None else shifts.at(plausibility)
        return attack(self.tree_, labels, shifts.uncertainty(table, people=labels.people))

    def labelled(self, y: Any, table: Table, sample_weight: Any = None) -> Labels:
        """The labels of a table, with what they are worth to this classifier."""
        return encode_labels(
            column_or_1d(y, warn=True),
            table.n_samples,
            classes=self.tree_.classes,
            weights=sample_weight,
            class_weight=self.class_weight,
        )

    def report(
        self,
        path: str | Path,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        along: Any = None,
        title: str | None = None,
        show_rows: bool = False,
        certainty: Any = None,
        costs: Any = None,
        target: str = "",
        author: str = "",
        source: str = "",
        intended_use: str = "",
        X_test: Any = None,
        y_test: Any = None,
        sample_weight_test: Any = None,
    ) -> None:
        """Write a report that people can open in a browser: one HTML file that needs no network.

        X, y : the table that the report is about; after `fit` they may be left out: it is the training table
        sample_weight : how many people each of its rows stands for
        along : a `RobustnessPath` of the same columns and classes, to move along with a slider; or what
            `shiftlab.choose_plausibility` gives, to show which level to choose, too
        title : the headline
        show_rows : whether the report may show which single rows the worst shift changes
        certainty, costs : for each cell of X, if `fit` was given them so
        target, author, source, intended_use : what no number says, for the headline and the model card; the target is
            the name of y if `fit` was given one
        X_test, y_test, sample_weight_test : rows that the tree has not seen, to stand beside the others

        This is `hardwood.report.write_report` with the usual rivals beside this tree; the ordinary optimal tree among
        them gets 20 seconds.
        """
        from hardwood.report import About, check_place, write_report  # upstairs: only if it is asked for

        if (X_test is None) != (y_test is None):
            raise ValueError("X_test and y_test belong together; give both or neither")

        check_place(path)
        table, labels, shifts = self.subject(X, y, sample_weight, certainty=certainty, costs=costs)
        uncertainty = shifts.uncertainty(table, people=labels.people)
        certificate = getattr(self, "certificate_", None)
        least_leaf = self.min_samples_leaf if is_about(certificate, table, labels) else 0
        depth = max(self.max_depth, self.tree_.depth)
        others = rivals(Problem(labels, uncertainty, depth, min_samples_leaf=least_leaf), certificate)
        words = {"along": along, "title": title, "show_rows": show_rows, "certainty": certainty, "costs": costs}
        words |= {"about": About(target, "", author, source, intended_use)}
        words |= {"X_test": X_test, "y_test": y_test, "sample_weight_test": sample_weight_test}
        write_report(self, path, X, y, sample_weight, rivals=others, **words)

    def subject(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, *, certainty: Any = None, costs: Any = None
    ) -> tuple[Table, Labels, ShiftDescription]:
        """The table, the labels and the shifts that a report is about: those given, or the training table."""
        check_is_fitted(self)
        if (X is None) != (y is None):
            raise ValueError("X and y belong together; give both, or neither for the training table")
        if X is None and sample_weight is not None:
            raise ValueError("sample_weight belongs to X and y; give them, too, or neither for the training table")
        problem: Problem | None = getattr(self, "_problem", None)
        if X is None and problem is None:
            raise ValueError("the model was loaded and does not hold its training table; give X and y to report on")
        if X is None and problem is not None:
            return problem.table, problem.labels, self.shifts_.with_prices(certainty=certainty, costs=costs)
        table = self.encoded(X)
        warn_of_strangers(table, self.tree_.features, stacklevel=3)
        return table, self.labelled(y, table, sample_weight), self._shifts_for(certainty=certainty, costs=costs)

    def alternatives(
        self,
        k: int = 5,
        within: float = 0,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        certainty: Any = None,
        costs: Any = None,
    ) -> Alternatives:
        """Other trees of the same depth that are as good in the worst case, or nearly.

        k : how many at most, the best ones; this one is among them if it is that good
        within : how many rows less than the best they may keep
        X, y, sample_weight, certainty, costs : the training table; after `fit` they may be left out

        The time limit is that of the parameters. `Alternatives.complete` says whether there are no others.
        """
        whole_number("k", k, at_least=1)
        if not 0 <= float(numbers_of("within", within)) < np.inf:
            raise ArgumentError("within", within, "expected a number of rows >= 0")
        table, labels, shifts = self.subject(X, y, sample_weight, certainty=certainty, costs=costs)
        uncertainty = shifts.uncertainty(table, people=labels.people)
        problem = Problem(labels, uncertainty, self.max_depth, min_samples_leaf=self.min_samples_leaf)
        memory = None if self.memory_limit is None else bytes_of("memory_limit", self.memory_limit)
        limits = Limits(seconds=self.time_limit, memory_bytes=memory)
        return alternatives_of(problem, k, float(within), start=self.tree_, limits=limits, n_jobs=self.n_jobs or 1)

    @property
    def target_name(self) -> str:
        """What is predicted, if `fit` was told: the name of y."""
        return str(getattr(self, "target_name_", ""))

    def save(self, path: str | Path) -> None:
        """Write the model to a JSON file, and its certificate beside it (model.json, model.certificate.json)."""
        check_is_fitted(self)
        document = {
            "format": FORMAT,
            "version": VERSION,
            "named": hasattr(self, "feature_names_in_"),
            "parameters": {name: plain(getattr(self, name)) for name in SAVED_PARAMETERS},
            "leaf_counts": self.leaf_counts_.tolist(),
            "columns": _record(self.tree_),
            "target": self.target_name,
            "shifts": (
                replace(self.shifts_, certainty=None, costs=None) if self.shifts_.by_cell else self.shifts_
            ).to_dict(),
            "tree": self.tree_.to_dict(),
        }
        model = json_text(document) + "\n"
        certificate = self.certificate_.to_json() + "\n"  # both can be written before either is
        write_text(path, model)
        write_text(certificate_path(path), certificate)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote, and its certificate if it is still there and about this tree."""
        with reading(path) as document:
            model = cls._from_document(document)
        beside = certificate_path(path)
        if beside.exists():
            certificate = Certificate.load(beside)
            if certificate.tree == model.tree_:
                model.certificate_ = certificate
            else:
                warnings.warn(f"{beside} is about another tree than {path}; the model has no certificate", stacklevel=2)
        return model

    @classmethod
    def _from_document(cls, document: Any) -> Self:
        fits = isinstance(document, dict) and document.get("format") == FORMAT
        if not fits or document.get("version") not in range(OLDEST_VERSION, VERSION + 1):
            raise ValueError(
                f'this is not a model; expected an object with "format": "{FORMAT}", version '
                f"{OLDEST_VERSION} to {VERSION}"
            )
        parameters = document.get("parameters")
        if isinstance(parameters, dict) and document["version"] < VERSION:
            parameters = NEWER_PARAMETERS | parameters
        if not isinstance(parameters, dict) or set(parameters) != set(SAVED_PARAMETERS):
            raise ValueError(f"parameters are {parameters!r}; expected {list(SAVED_PARAMETERS)}")
        _check_saved(parameters)
        parameters = {name: read_plain(value) for name, value in parameters.items()}
        tree = Tree.from_dict(document.get("tree"))
        shifts = ShiftDescription.from_dict(document.get("shifts"))
        said = {name: getattr(shifts, name) for name in SHIFT_PARAMETERS}
        model = cls(**said, **parameters)
        model._set_tree(tree, _counts(document, tree))
        if document.get("named"):
            model.feature_names_in_ = np.array([feature.name for feature in tree.features], dtype=object)
        model.shifts_ = shifts
        model.target_name_ = str(document.get("target", ""))
        return model

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_problem", "_reading_notes")}

    def _shifts_for(self, *, certainty: Any = None, costs: Any = None) -> ShiftDescription:
        """What `fit` was told about shifts, or what is given now. Values for single cells belong to one table."""
        check_is_fitted(self)
        if certainty is not None or costs is not None:
            return self.shifts_.with_prices(certainty=certainty, costs=costs)
        unknown = self.shifts_.certainty is None and self.shifts_.costs is None and self.shifts_.radius is None
        if self.shifts_.by_cell or unknown:
            raise ValueError(
                "the model was fitted with certainty or costs for single cells; give them for this table, too: "
                "certainty=... or costs=..."
            )
        return self.shifts_


def _check_saved(parameters: dict[str, Any]) -> None:
    """What a file says about parameters is as good as what `fit` takes."""
    whole_number("max_depth", parameters["max_depth"], at_least=0)
    whole_number("max_bins", parameters["max_bins"], at_least=1)
    whole_number("min_samples_leaf", parameters["min_samples_leaf"], at_least=0)
    if parameters["branch_penalty"] != "auto":
        numbers_of("branch_penalty", parameters["branch_penalty"])
    for name, known in (("objective", list(Goal)), ("missing", ["error", "category"])):
        if parameters[name] not in known:
            raise ArgumentError(name, parameters[name], f"expected one of {[str(word) for word in known]}")


def certificate_path(model_path: str | Path) -> Path:
    """Where the certificate of a model lies."""
    return Path(model_path).with_suffix(".certificate.json")


def cell_rows(value: Any, chosen: NDArray[np.bool_]) -> Any:
    """Of values for single cells, those of some rows; whatever is not given by cell stays as it is."""
    if isinstance(value, Mapping):
        return {name: _cell_rows(entry, chosen) for name, entry in value.items()}
    if isinstance(value, list | tuple) and any(is_table(entry) or np.ndim(entry) == 0 for entry in value):
        return [_cell_rows(entry, chosen) for entry in value]
    return rows_of(value, chosen) if hasattr(value, "columns") or np.ndim(value) > 1 else value


def _cell_rows(entry: Any, chosen: NDArray[np.bool_]) -> Any:
    """The same for one column, for which a table of answers is no list of rows."""
    return entry if is_table(entry) or np.ndim(entry) == 0 else np.asarray(entry)[chosen]


def _record(tree: Tree) -> list[dict[str, Any]]:
    """What training saw, for whoever reads the file; the tree itself knows it, so it is not read back."""
    record = []
    for feature in tree.features:
        seen: dict[str, Any] = {"name": feature.name, "kind": str(feature.kind), "missing": feature.missing}
        if feature.kind is Kind.INTEGER:
            seen |= {"from": feature.low, "to": feature.high}
        elif feature.kind is Kind.BINNED:
            seen |= {"bins": feature.n_values}
        else:
            seen |= {"answers": list(feature.categories)}
        record.append(seen)
    return record


def _counts(document: dict[str, Any], tree: Tree) -> NDArray[Any]:
    shape = (len(tree.regions), len(tree.classes))
    try:
        counts = np.array(document.get("leaf_counts"))
    except ValueError:
        counts = np.zeros(0)
    if counts.shape != shape or counts.dtype.kind not in "if" or not (counts >= 0).all():
        raise ValueError(f"leaf_counts do not fit the tree; expected {shape[0]} rows of {shape[1]} counts")
    return counts


def _narrate(problem: Problem, time_limit: float | None) -> OnProgress:
    """Log every better tree or bound."""
    said = ""

    def tell(event: Progress) -> None:
        nonlocal said
        words = progress_words(problem, event)
        if words != said:
            said = words
            LOGGER.info("%s, %s", words, time_words(event.seconds, time_limit))

    # Who sets verbose wants to see it, also where nobody has set up logging.
    LOGGER.setLevel(logging.INFO)
    if not LOGGER.hasHandlers():
        LOGGER.addHandler(logging.StreamHandler())
    return tell
