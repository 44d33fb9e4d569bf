"""The shift laboratory: certainties from data, probabilities of shifts, and the cost of observed shifts.

coverage, plausibility_for_coverage       probability that a random shift stays within the budget, and its inverse
accuracy_distribution                     exact distribution of a tree's accuracy under random shifts
estimate_certainty, certainty_from_kappa  certainties from two measurements, and from published figures
drift                                     cost of an observed shift, compared with the budget
choose_plausibility                       three rules for choosing a plausibility along one path of trees
"""

from hardwood.shiftlab.accuracy import accuracy_distribution
from hardwood.shiftlab.choosing import PlausibilityChoice, choose_plausibility
from hardwood.shiftlab.coverage import Coverage, coverage, plausibility_for_coverage
from hardwood.shiftlab.drift import drift
from hardwood.shiftlab.drift_result import Drift
from hardwood.shiftlab.estimation import estimate_certainty
from hardwood.shiftlab.estimation_result import CertaintyEstimate
from hardwood.shiftlab.published import RELIABILITIES, Reliability, certainty_from_kappa
from hardwood.shiftlab.waves import LeastChange

__all__ = [
    "RELIABILITIES",
    "CertaintyEstimate",
    "Coverage",
    "Drift",
    "LeastChange",
    "PlausibilityChoice",
    "Reliability",
    "accuracy_distribution",
    "certainty_from_kappa",
    "choose_plausibility",
    "coverage",
    "drift",
    "estimate_certainty",
    "plausibility_for_coverage",
]
