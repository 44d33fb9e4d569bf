"""The shift laboratory: how big a shift, how likely, and what accuracy then.

coverage, plausibility_for_coverage      how likely a random shift stays within the budget, and the other way round
accuracy_distribution                    how accurate a tree is when answers shift at random: the exact distribution
estimate_certainty, certainty_from_kappa certainties from two measurements, and from published figures
drift                                    what a shift that came really cost, beside the budget
choose_plausibility                      three answers to "which plausibility?" along one path of trees
"""

from hardwood.shiftlab.accuracy import accuracy_distribution
from hardwood.shiftlab.choosing import PlausibilityChoice, choose_plausibility
from hardwood.shiftlab.coverage import Coverage, coverage, plausibility_for_coverage
from hardwood.shiftlab.drift import Drift, drift
from hardwood.shiftlab.estimation import CertaintyEstimate, estimate_certainty
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
