"""Accuracy under random shifts: its exact distribution, and samples of shifted tables.

Each value changes independently, by the distribution that its certainty stands for (`hardwood.shifts.probabilities`);
labels do not change. A tree only depends on the outcomes of its splits. So the domain of a feature is partitioned into
the cells between the thresholds in use, and each value moves to a cell with a known probability. Features change
independently, so a sample is correct with a probability that is a sum of products. The number of correct samples is a
sum of independent variables.

A row with an integer weight counts as repeated rows, which shift independently. A row with another weight shifts as a
whole.
"""

from typing import TYPE_CHECKING

from hardwood._util.deprecation import warn_renamed
from hardwood.evaluation.accuracy import (
    AccuracyDistribution,
    correct_probabilities,
    distribution_of,
    expected_accuracy,
)
from hardwood.evaluation.simulation import shifted_tables, simulate_shifts

__all__ = [
    "AccuracyDistribution",
    "correct_probabilities",
    "distribution_of",
    "expected_accuracy",
    "shifted_tables",
    "simulate_shifts",
]

if not TYPE_CHECKING:  # type checkers must report names that do not exist

    def __getattr__(name: str) -> object:
        if name == "correct_chances":
            warn_renamed("evaluation.correct_chances", "evaluation.correct_probabilities")
            return correct_probabilities
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
