"""An ordinary and a robust tree for the balance-scale table, both proved optimal, and the effect of a shift on each.

A scale has a weight and a distance on each side, and the tree predicts which side goes down. The readings are typed in
by hand, and some are wrong: weights more often than distances.
"""

from __future__ import annotations

import itertools

import numpy as np

import hardwood as hw
from hardwood.data.labels import Labels
from hardwood.data.table import Table
from hardwood.solvers.base import Result
from hardwood.trees.attack import Attack

COLUMNS = ("left_weight", "left_distance", "right_weight", "right_distance")
CERTAINTY = {"left_weight": 0.7, "left_distance": 0.95, "right_weight": 0.7, "right_distance": 0.95}
PLAUSIBILITY = 0.85
PLAUSIBILITIES = (1.0, 0.99, 0.97, 0.95, 0.9, 0.85, 0.75, 0.5)


def balance_scale() -> tuple[np.ndarray, list[str]]:
    """All 625 readings from 1 to 5 and the side that goes down."""
    readings = np.array(list(itertools.product(range(1, 6), repeat=4)))
    torque = readings[:, 0] * readings[:, 1] - readings[:, 2] * readings[:, 3]
    return readings, [("right", "balanced", "left")[sign + 1] for sign in np.sign(torque)]


def shifts(table: Table, plausibility: float) -> hw.UncertaintySet:
    """All shifts of the readings, which lie between 1 and 5, of at least this plausibility."""
    return hw.UncertaintySet.calibrated(table, certainty=CERTAINTY, plausibility=plausibility, bounds=(1, 5))


def learn(table: Table, labels: Labels, plausibility: float) -> Result:
    """The tree of depth two with the most correct readings after the worst of these shifts."""
    return hw.solve(hw.Problem(labels, shifts(table, plausibility), max_depth=2))


def bar(accuracy: float) -> str:
    """An accuracy as a bar of up to 30 blocks."""
    return ("█" * round(30 * accuracy)).ljust(30)


def main() -> None:
    """Learn both trees, and print them, their worst cases and the first changes of the adversary."""
    readings, sides = balance_scale()
    table = hw.encode({name: readings[:, j] for j, name in enumerate(COLUMNS)})
    labels = hw.encode_labels(sides, table.n_samples)
    attacks: list[Attack] = []
    for title, plausibility in (("ordinary", 1.0), (f"robust at plausibility {PLAUSIBILITY}", PLAUSIBILITY)):
        result = learn(table, labels, plausibility)
        attacks.append(hw.attack(result.tree, labels, shifts(table, PLAUSIBILITY)))
        print(f"The {title} tree ({result.status}, {result.seconds:.2f} s):\n\n{result.tree}\n")

    print("Cost of a wrong reading to the adversary, for each step:\n")
    for feature, costs in zip(table.features, attacks[0].uncertainty.costs.unit_costs, strict=True):
        print(f"  {feature.name:15} certainty {CERTAINTY[feature.name]:.2f}   {costs.min():.2f} to {costs.max():.2f}")

    print("\nCorrect after the worst shift of at least this plausibility:\n")
    print(f"  plausibility  {'ordinary tree':39}  robust tree")
    for plausibility in PLAUSIBILITIES:
        accuracies = [attack.curve.accuracy_at_plausibility(plausibility) for attack in attacks]
        print(f"  {plausibility:12.2f}  " + "  ".join(f"{value:6.1%} {bar(value)}" for value in accuracies).rstrip())

    shift = attacks[0].shift
    print(f"\nThe worst shift of the ordinary tree changes {len(shift)} of {readings.size} values, first of all\n")
    for change in itertools.islice(shift, 5):
        print(f"  row {change.row:3}  {change.column:15} {change.old} -> {change.new}   cost {change.cost:.2f}")


if __name__ == "__main__":
    main()
