"""Choosing a plausibility along one path of trees: by coverage, by validation, or by the price of robustness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from hardwood._util.arguments import check_integer, check_numbers
from hardwood._util.arrays import FloatArray
from hardwood._util.deprecation import renamed_attributes, warn_renamed
from hardwood._util.errors import ArgumentError, Verbatim
from hardwood._util.notebook import NotebookMixin
from hardwood._util.types import Arguments, LabelsLike, TableLike, WeightsLike
from hardwood.data.frames import select_rows
from hardwood.data.labels import Labels
from hardwood.estimators.path import OnLevel, RobustnessPath, robustness_path
from hardwood.estimators.robust import RobustTreeClassifier
from hardwood.estimators.scoring import expected_accuracy
from hardwood.evaluation import distribution_of
from hardwood.shiftlab.coverage import CostDistribution, cost_distributions, used_features
from hardwood.shifts.column_summary import aligned
from hardwood.shifts.models import PLAUSIBILITIES, resolve_shifts
from hardwood.shifts.probabilities import NO_PROBABILITIES, STATE_CERTAINTY

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class LevelFacts:
    """Properties of the tree of one level of plausibility.

    Parameters
    ----------
    plausibility : float
    nominal, worst_case : float
        Accuracy on the training table without a shift, and after the worst shift.
    lost : float
        Nominal accuracy that is given up, compared with the best nominal accuracy along the path.
    covered : float
        Probability that a random shift of all columns stays within the budget.
    covered_asked : float
        The same for the columns that the tree uses, which is sufficient for its guarantee.
    kept : float
        Probability that a random shift leaves at least the guaranteed accuracy.
    expected : float
        Mean accuracy on the training table over random shifts.
    validated : float
        The same on rows that were not used for training.
    validated_error : float or None
        Standard error of `validated`, if folds were used.
    """

    plausibility: float
    nominal: float
    worst_case: float
    lost: float
    covered: float
    covered_asked: float
    kept: float
    expected: float
    validated: float
    validated_error: float | None = None


@renamed_attributes(most_lost="max_loss")
@dataclass(frozen=True, eq=False)
class PlausibilityChoice(NotebookMixin):
    """Levels of plausibility with their properties, and the level that each of three rules chooses. Prints as a table.

    Parameters
    ----------
    levels : tuple of LevelFacts
        From plausibility 1 downwards.
    path : RobustnessPath
        The trees of the levels.
    coverage : float
        Coverage that the first rule demands.
    max_loss : float
        Nominal accuracy that the third rule may give up.
    by_coverage : float or None
        The highest level whose budget covers a random shift of the columns that its tree uses with probability
        `coverage`; None if no level does.
    needed : float
        The plausibility that reaches `coverage` for the columns that the tree of the lowest level uses.
    by_validation : float
        The level whose tree is most accurate under random shifts on rows that it was not trained on. Among levels
        within one standard error of the best, it is the highest.
    by_price : float
        The lowest level whose tree gives up at most `max_loss` of nominal accuracy.
    folds : int or None
        Number of folds of the validation; None if separate rows were given.
    """

    levels: tuple[LevelFacts, ...]
    path: RobustnessPath = field(repr=False)
    coverage: float
    max_loss: float
    by_coverage: float | None
    needed: float
    by_validation: float
    by_price: float
    folds: int | None

    def to_dict(self) -> dict[str, list[float | None]]:
        """Return columns by name with one entry for each level, ready for a data frame."""
        names = LevelFacts.__dataclass_fields__
        return {name: [getattr(level, name) for level in self.levels] for name in names}

    @property
    def choices(self) -> list[str]:
        """The three choices in plain words."""
        covering = (
            f"{self.by_coverage:g}"
            if self.by_coverage is not None
            else f"none of these (it would take {self.needed:.3g}, where little can be guaranteed)"
        )
        method = "rows held out" if self.folds is None else f"{self.folds} folds"
        return [
            f"by coverage ({self.coverage:.0%} of random shifts within the budget): {covering}",
            f"by validation (most accurate under random shifts, {method}): {self.by_validation:g}",
            f"by price (at most {self.max_loss:.1%} given up where nothing shifts): {self.by_price:g}",
        ]

    def plot(self, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
        """Plot coverage, accuracy under random shifts and the price of robustness along the levels.

        Parameters
        ----------
        axes : sequence of three matplotlib axes or None

        Returns
        -------
        axes : sequence of three matplotlib axes
        """
        from hardwood.plotting import plot_choice

        picks = {"coverage": self.by_coverage, "validation": self.by_validation, "price": self.by_price}
        return plot_choice(self.to_dict(), picks, self.coverage, axes=axes)

    def __str__(self) -> str:
        head = (
            "plausibility",
            "without a shift",
            "worst case",
            "given up",
            "covered: all",
            "used",
            "guarantee kept",
            "expected",
            "unseen rows",
        )
        rows = [
            (
                f"{level.plausibility:g}",
                f"{level.nominal:.1%}",
                f"{level.worst_case:.1%}",
                f"{level.lost:.1%}",
                _percentage(level.covered),
                _percentage(level.covered_asked),
                _percentage(level.kept),
                f"{level.expected:.1%}",
                f"{level.validated:.1%}"
                + ("" if level.validated_error is None else f" +- {level.validated_error:.1%}"),
            )
            for level in self.levels
        ]
        return "\n".join([*aligned(head, rows, right=range(9)), "", *self.choices])


def choose_plausibility(
    X: TableLike,
    y: LabelsLike,
    plausibilities: Sequence[float] = PLAUSIBILITIES,
    *,
    sample_weight: WeightsLike | None = None,
    X_test: TableLike | None = None,
    y_test: LabelsLike | None = None,
    cv: int = 5,
    coverage: float = 0.95,
    max_loss: float = 0.01,
    on_level: OnLevel | None = None,
    **parameters: Any,
) -> PlausibilityChoice:
    """Learn a tree for each level and compare coverage, accuracy under random shifts, and price of robustness.

    Parameters
    ----------
    X, y : table and labels
        The training table.
    plausibilities : sequence of float
        The levels.
    sample_weight : array-like or None
        Weight of each row.
    X_test, y_test : table and labels, or None
        Rows for validation. Without them, `cv` folds of the training table are used.
    cv : int, default=5
        Number of folds.
    coverage : float, default=0.95
        Probability with which a random shift should stay within the budget.
    max_loss : float, default=0.01
        Nominal accuracy that may be given up. The old name `most_lost` is deprecated.
    on_level : callable or None
        Called with each level and its result as soon as the level is finished.
    **parameters
        Parameters of `RobustTreeClassifier`. Shifts must be given by certainties, or by a shift model that states
        probabilities, because costs alone do not state how likely a shift is.

    Returns
    -------
    choice : PlausibilityChoice
    """
    if "most_lost" in parameters:
        warn_renamed("most_lost", "max_loss")
        max_loss = parameters.pop("most_lost")
    _check_arguments(coverage, max_loss, X_test, y_test, parameters)
    path = _complete(
        robustness_path(X, y, plausibilities, sample_weight=sample_weight, on_level=on_level, **parameters)
    )
    if X_test is not None:
        scores = np.array([[expected_accuracy(model, X_test, y_test) for model in path.classifiers]])
    else:
        n_folds = check_integer("cv", cv, at_least=2)
        scores = _fold_scores(X, y, path.plausibilities, sample_weight, n_folds, parameters)
    levels, costs = _level_facts(path, scores)
    return PlausibilityChoice(
        levels,
        path,
        float(coverage),
        float(max_loss),
        by_coverage=next((level.plausibility for level in levels if level.covered_asked >= coverage), None),
        needed=costs[-1].plausibility_for(coverage),
        by_validation=_best_validated(levels),
        by_price=min(
            (level.plausibility for level in levels if level.lost <= max_loss), default=levels[0].plausibility
        ),
        folds=None if X_test is not None else len(scores),
    )


def _check_arguments(
    coverage: float, max_loss: float, X_test: TableLike | None, y_test: LabelsLike | None, parameters: Arguments
) -> None:
    """Refuse arguments that would fail only after the trees are learnt."""
    for name, value in (("coverage", coverage), ("max_loss", max_loss)):
        number = check_numbers(name, value)
        if number.ndim != 0 or not 0 <= number < 1:
            raise ArgumentError(name, value, "it must lie in [0, 1)")
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test belong together; give both or neither")
    for name in ("costs", "radius"):
        if parameters.get(name) is not None:
            raise ArgumentError(name, Verbatim("given"), NO_PROBABILITIES, remedy=STATE_CERTAINTY)
    shifts = resolve_shifts(parameters.get("shifts"), {})
    if shifts is not None and not shifts.has_probabilities:
        raise shifts.probabilities_error()


def _level_facts(path: RobustnessPath, scores: FloatArray) -> tuple[tuple[LevelFacts, ...], list[CostDistribution]]:
    """Properties of each level, and the cost of random shifts of the columns that its tree uses."""
    table, labels, shifts = path.classifiers[0]._given_or_training_data()
    weights = np.asarray(labels.sample_weights)
    columns = [range(len(table.features)), *(used_features(model.tree_) for model in path.classifiers)]
    everything, *costs = cost_distributions(
        table, weights, shifts, columns, has_integer_weights=labels.has_integer_weights
    )
    best = max(model.certificate_.nominal_accuracy for model in path.classifiers)
    error = scores.std(axis=0, ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else None
    levels = []
    for k, (level, model) in enumerate(zip(path.plausibilities, path.classifiers, strict=True)):
        kept, expected = _under_random_shifts(model, labels)
        budget = model.shifts_.budget_for(labels.total_weight)
        levels.append(
            LevelFacts(
                level,
                nominal=model.certificate_.nominal_accuracy,
                worst_case=model.certificate_.worst_case_accuracy,
                lost=best - model.certificate_.nominal_accuracy,
                covered=everything.within(budget).value,
                covered_asked=costs[k].within(budget).value,
                kept=kept,
                expected=expected,
                validated=float(scores[:, k].mean()),
                validated_error=None if error is None else float(error[k]),
            )
        )
    return tuple(levels), costs


def _under_random_shifts(model: RobustTreeClassifier, labels: Labels) -> tuple[float, float]:
    """Probability that a random shift leaves the guaranteed accuracy, and the mean accuracy."""
    table, _, shifts = model._given_or_training_data()
    accuracy = distribution_of(model.tree_, table, labels, shifts)
    return accuracy.at_least(model.certificate_.worst_case_accuracy).value, accuracy.mean


def _fold_scores(
    X: TableLike,
    y: LabelsLike,
    levels: Sequence[float],
    sample_weight: WeightsLike | None,
    n_folds: int,
    parameters: Arguments,
) -> FloatArray:
    """Folds by levels: accuracy under random shifts on the rows of a fold, of trees learnt from the other rows."""
    y_values = np.asarray(y)
    rarest = int(np.unique(y_values, return_counts=True)[1].min())
    if rarest < n_folds:
        expected = f"a class has {rarest} rows, so at most {rarest} folds are possible"
        raise ArgumentError("cv", n_folds, expected, remedy="or hold rows out: X_test=..., y_test=...")
    weights = None if sample_weight is None else np.asarray(sample_weight)
    scores = []
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    for train, _ in splitter.split(np.zeros(len(y_values)), y_values):
        in_training = np.zeros(len(y_values), dtype=bool)
        in_training[train] = True
        (train_rows, train_labels, train_weights), (fold_rows, fold_labels, fold_weights) = (
            (select_rows(X, mask), select_rows(y, mask), None if weights is None else weights[mask])
            for mask in (in_training, ~in_training)
        )
        path = _complete(robustness_path(train_rows, train_labels, levels, sample_weight=train_weights, **parameters))
        scores.append([expected_accuracy(model, fold_rows, fold_labels, fold_weights) for model in path.classifiers])
    return np.array(scores)


def _complete(path: RobustnessPath) -> RobustnessPath:
    """Return the path, or pass Ctrl-C on: a choice among some of the levels would be misleading."""
    if path.interrupted:
        raise KeyboardInterrupt
    return path


def _best_validated(levels: Sequence[LevelFacts]) -> float:
    """Highest level that is at most one standard error worse than the best."""
    best = max(levels, key=lambda level: level.validated)
    limit = best.validated - (best.validated_error or 0.0)
    return next(level.plausibility for level in levels if level.validated >= limit)


def _percentage(probability: float) -> str:
    return f"{probability:.1%}" if probability >= 0.0005 or probability == 0 else "<0.1%"
