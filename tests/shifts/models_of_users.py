"""Shift models as users write them, outside the package."""

import math
from dataclasses import dataclass, replace

import numpy as np

from hardwood import Calibrated, Priced, ShiftModel
from hardwood.shifts.move_costs import given_costs


@dataclass(frozen=True)
class DoubledCosts(Priced):
    """A model of a user, with the fields of another one."""

    def move_costs(self, table):
        return super().move_costs(table).scaled(2.0)


@dataclass(frozen=True)
class ScaledCosts(Calibrated):
    """The probabilities of the certainties, and other costs."""

    def move_costs(self, table):
        return super().move_costs(table).scaled(2.0)


@dataclass(frozen=True)
class Steps(ShiftModel):
    """Nothing but what a shift model must define."""

    cost: float = 1.0
    budget: float = 3.0

    def move_costs(self, table):
        return given_costs(table, self.cost)

    def budget_for(self, total_weight):  # noqa: ARG002 - a budget that does not grow with the table
        return self.budget

    def describe(self):
        return f"steps at cost {self.cost:g}, budget {self.budget:g}"


@dataclass(frozen=True)
class LevelledSteps(Steps):
    """Steps with a budget by plausibility; `scales` makes levels differ in their costs, which is wrong."""

    scales: bool = False

    def at(self, plausibility):
        cost = plausibility if self.scales else self.cost
        return replace(self, cost=cost, budget=-10 * math.log(plausibility))


@dataclass(frozen=True)
class RandomSteps(Steps):
    """Steps that state how likely they are: as likely as at certainty 0.8."""

    def probabilities(self, table, weights=None):
        return Calibrated(0.8).probabilities(table, weights)


class Undecorated(ShiftModel):
    """No dataclass."""

    def move_costs(self, table):
        return given_costs(table, 1.0)

    def budget_for(self, total_weight):  # noqa: ARG002 - a budget that does not grow with the table
        return 3.0

    def describe(self):
        return "undecorated"


def numbers(n=12):
    """One column of integers, and labels that it predicts."""
    values = np.arange(n)
    return values.reshape(-1, 1), values >= n // 2
