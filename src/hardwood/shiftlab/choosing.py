"""Which plausibility? Three answers along one path of trees: by coverage, by validation, by the price of robustness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from hardwood._support.arguments import numbers_of, whole_number
from hardwood._support.errors import ArgumentError, Said
from hardwood._support.notebook import InNotebook
from hardwood.data.columns import rows_of
from hardwood.data.labels import Labels
from hardwood.estimators.path import OnLevel, RobustnessPath, robustness_path
from hardwood.estimators.robust import RobustTreeClassifier
from hardwood.estimators.scoring import expected_accuracy
from hardwood.evaluation import distribution_of
from hardwood.shift.account import aligned
from hardwood.shift.calibration import FloatArray
from hardwood.shift.chances import NO_CHANCES, SAY_CERTAINTY
from hardwood.shift.description import PLAUSIBILITIES
from hardwood.shiftlab.coverage import PriceDistribution, asked_by, price_distributions


@dataclass(frozen=True)
class LevelFacts:
    """What one level of plausibility brings.

    nominal, worst_case  accuracy of its tree in the training table as it stands, and after the worst shift
    lost            accuracy given up where nothing shifts, compared with the best tree for that
    covered         probability that a random shift of all columns is within the budget
    covered_asked   the same for the columns that its tree asks for: enough for the guarantee
    kept            probability that a random shift leaves at least the guaranteed accuracy
    expected        accuracy in the training table on average over random shifts
    validated       the same on rows that no tree has seen, and
    validated_error its standard error, if folds were used
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


@dataclass(frozen=True, eq=False)
class PlausibilityChoice(InNotebook):
    """Levels of plausibility with what each brings, and which of them three ways of choosing take. Prints as a table.

    levels         from 1 downwards
    path           their trees
    by_coverage    the highest level whose budget covers a random shift of the columns that its tree asks for with
                   probability `coverage`; None if no level does: see `needed`
    needed         the plausibility that would cover it, for the columns that the tree of the lowest level asks for
    by_validation  the level whose tree is most accurate under random shifts on rows that it has not seen (of those that
                   do not differ by more than a standard error, the highest)
    by_price       the lowest level whose tree gives up at most `most_lost` where nothing shifts
    """

    levels: tuple[LevelFacts, ...]
    path: RobustnessPath = field(repr=False)
    coverage: float
    most_lost: float
    by_coverage: float | None
    needed: float
    by_validation: float
    by_price: float
    folds: int | None

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns by name, one entry for each level, ready for a frame."""
        names = LevelFacts.__dataclass_fields__
        return {name: [getattr(level, name) for level in self.levels] for name in names}

    @property
    def choices(self) -> list[str]:
        """The three answers in words."""
        cover = (
            f"{self.by_coverage:g}"
            if self.by_coverage is not None
            else f"none of these (it would take {self.needed:.3g}, where little can be guaranteed)"
        )
        how = "rows held out" if self.folds is None else f"{self.folds} folds"
        return [
            f"by coverage ({self.coverage:.0%} of random shifts within the budget): {cover}",
            f"by validation (most accurate under random shifts, {how}): {self.by_validation:g}",
            f"by price (at most {self.most_lost:.1%} given up where nothing shifts): {self.by_price:g}",
        ]

    def plot(self, axes: Any = None) -> Any:
        """Coverage, accuracy under random shifts, and the price, along the levels; returns the three axes."""
        from hardwood.plotting import plot_choice

        picks = {"coverage": self.by_coverage, "validation": self.by_validation, "price": self.by_price}
        return plot_choice(self.to_dict(), picks, self.coverage, axes=axes)

    def __str__(self) -> str:
        head = (
            "plausibility",
            "as it stands",
            "worst case",
            "given up",
            "covered: all",
            "asked",
            "guarantee kept",
            "expected",
            "unseen rows",
        )
        rows = [
            (
                f"{own.plausibility:g}",
                f"{own.nominal:.1%}",
                f"{own.worst_case:.1%}",
                f"{own.lost:.1%}",
                _share(own.covered),
                _share(own.covered_asked),
                _share(own.kept),
                f"{own.expected:.1%}",
                f"{own.validated:.1%}" + ("" if own.validated_error is None else f" +- {own.validated_error:.1%}"),
            )
            for own in self.levels
        ]
        return "\n".join([*aligned(head, rows, right=range(9)), "", *self.choices])


def choose_plausibility(
    X: Any,
    y: Any,
    plausibilities: Sequence[float] = PLAUSIBILITIES,
    *,
    sample_weight: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    cv: int = 5,
    coverage: float = 0.95,
    most_lost: float = 0.01,
    on_level: OnLevel | None = None,
    **parameters: Any,
) -> PlausibilityChoice:
    """Learn a tree for each level and tell what it covers, how it fares under random shifts, and what it costs.

    X, y            the training table
    plausibilities  the levels
    sample_weight   how many people each row stands for
    X_test, y_test  rows that no tree has seen, for validation; without them, `cv` folds of the training table are used
    coverage        the probability with which a random shift should be within the budget
    most_lost       the accuracy that may be given up where nothing shifts
    on_level        is told each level and its result as soon as it is there
    parameters      of `RobustTreeClassifier`; certainties are needed, for prices alone do not say how likely shifts are
    """
    for name, value, top in (("coverage", coverage, 1.0), ("most_lost", most_lost, 1.0)):
        given = numbers_of(name, value)
        if given.ndim != 0 or not 0 <= given < top:
            raise ArgumentError(name, value, "it must lie in [0, 1)")
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test belong together; give both or neither")
    for name in ("costs", "radius"):
        if parameters.get(name) is not None:
            raise ArgumentError(name, Said("given"), NO_CHANCES, remedy=SAY_CERTAINTY)
    path = _complete(
        robustness_path(X, y, plausibilities, sample_weight=sample_weight, on_level=on_level, **parameters)
    )
    if X_test is not None:
        scores = np.array([[expected_accuracy(own, X_test, y_test) for own in path.classifiers]])
    else:
        scores = _by_folds(X, y, path.plausibilities, sample_weight, whole_number("cv", cv, at_least=2), parameters)
    folds = None if X_test is not None else len(scores)
    levels, prices = _facts(path, scores)
    return PlausibilityChoice(
        levels,
        path,
        float(coverage),
        float(most_lost),
        next((own.plausibility for own in levels if own.covered_asked >= coverage), None),
        prices[-1].plausibility_for(coverage),
        _best_validated(levels),
        min((own.plausibility for own in levels if own.lost <= most_lost), default=levels[0].plausibility),
        folds,
    )


def _facts(path: RobustnessPath, scores: FloatArray) -> tuple[tuple[LevelFacts, ...], list[PriceDistribution]]:
    """What each level brings, and what random shifts of the columns that its tree asks for cost."""
    first = path.classifiers[0]
    table, labels, shifts = first.subject()
    people = np.asarray(labels.row_people)
    columns = [range(len(table.features)), *(asked_by(own.tree_) for own in path.classifiers)]
    everything, *prices = price_distributions(table, people, shifts, columns, whole=labels.whole)
    best = max(own.certificate_.nominal_accuracy for own in path.classifiers)
    error = scores.std(axis=0, ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else None
    levels = [
        LevelFacts(
            level,
            own.certificate_.nominal_accuracy,
            own.certificate_.worst_case_accuracy,
            best - own.certificate_.nominal_accuracy,
            everything.at(level).value,
            prices[k].at(level).value,
            *_under_chance(own, labels),
            float(scores[:, k].mean()),
            None if error is None else float(error[k]),
        )
        for k, (level, own) in enumerate(zip(path.plausibilities, path.classifiers, strict=True))
    ]
    return tuple(levels), prices


def _under_chance(model: RobustTreeClassifier, labels: Labels) -> tuple[float, float]:
    """How likely a random shift keeps what is guaranteed, and the accuracy on average."""
    table, _, shifts = model.subject()
    found = distribution_of(model.tree_, table, labels, shifts)
    return found.at_least(model.certificate_.worst_case_accuracy).value, found.mean


def _by_folds(
    X: Any, y: Any, levels: Sequence[float], sample_weight: Any, cv: int, parameters: dict[str, Any]
) -> FloatArray:
    """Folds by levels: accuracy under random shifts on the rows of a fold, of trees learnt from the others."""
    answers = np.asarray(y)
    rarest = int(np.unique(answers, return_counts=True)[1].min())
    if rarest < cv:
        expected = f"a class has {rarest} rows, so there can be at most so many folds"
        raise ArgumentError("cv", cv, expected, remedy="or hold rows out: X_test=..., y_test=...")
    scores = []
    for train, _ in StratifiedKFold(cv, shuffle=True, random_state=0).split(np.zeros(len(answers)), answers):
        inside = np.zeros(len(answers), dtype=bool)
        inside[train] = True
        parts = [(rows_of(X, own), rows_of(y, own)) for own in (inside, ~inside)]
        weights = [None if sample_weight is None else np.asarray(sample_weight)[own] for own in (inside, ~inside)]
        path = _complete(robustness_path(*parts[0], levels, sample_weight=weights[0], **parameters))
        scores.append([expected_accuracy(own, *parts[1], weights[1]) for own in path.classifiers])
    return np.array(scores)


def _complete(path: RobustnessPath) -> RobustnessPath:
    if path.interrupted:
        raise KeyboardInterrupt  # a choice among some of the levels is not the one that was asked for
    return path


def _best_validated(levels: Sequence[LevelFacts]) -> float:
    """The highest level that is not clearly worse than the best: by more than its standard error."""
    best = max(levels, key=lambda own: own.validated)
    bar = best.validated - (best.validated_error or 0.0)
    return next(own.plausibility for own in levels if own.validated >= bar)


def _share(chance: float) -> str:
    return f"{chance:.1%}" if chance >= 0.0005 or chance == 0 else "<0.1%"
