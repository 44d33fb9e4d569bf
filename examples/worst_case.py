"""How fragile is a tree? The worst case of a small tree on the balance-scale table, for every size of shift.

A scale has a weight and a distance on each side; which side goes down? Suppose the readings are typed in by hand, and
some are wrong. What can that do to a tree that was made for clean readings?
"""

from __future__ import annotations

import itertools

import numpy as np

import hardwood as hw
from hardwood.tree import Branch, Leaf

COLUMNS = ("left_weight", "left_distance", "right_weight", "right_distance")
CERTAINTY = {"left_weight": 0.9, "left_distance": 0.95, "right_weight": 0.9, "right_distance": 0.95}
PLAUSIBILITIES = (1.0, 0.99, 0.97, 0.95, 0.9, 0.85, 0.75, 0.5)


def balance_scale() -> tuple[np.ndarray, list[str]]:
    """All 625 readings from 1 to 5 and the side that goes down."""
    readings = np.array(list(itertools.product(range(1, 6), repeat=4)))
    torque = readings[:, 0] * readings[:, 1] - readings[:, 2] * readings[:, 3]
    return readings, [("right", "balanced", "left")[sign + 1] for sign in np.sign(torque)]


def main() -> None:
    """Print the tree, its prices, its worst cases, and what the adversary does first."""
    readings, sides = balance_scale()
    table = hw.encode({name: readings[:, j] for j, name in enumerate(COLUMNS)})
    labels = hw.encode_labels(sides, table.n_samples)
    _, left, right = range(3)
    tree = hw.Tree(
        table.features,
        labels.classes,
        Branch(0, 2, Branch(2, 1, Leaf(left), Leaf(right)), Branch(3, 3, Leaf(left), Leaf(right))),
    )
    print(f"{table.n_samples} readings. The tree asks:\n\n{tree}\n")

    print("What a wrong reading costs the adversary, for each step it is off (readings lie between 1 and 5):\n")
    calm = hw.UncertaintySet.calibrated(table, certainty=CERTAINTY, plausibility=0.9, bounds=(1, 5))
    for feature, prices in zip(table.features, calm.costs.prices, strict=True):
        print(f"  {feature.name:15} certainty {CERTAINTY[feature.name]:.2f}   {prices.min():.2f} to {prices.max():.2f}")

    attack = hw.attack(tree, labels, calm)
    majority = hw.solve(hw.Problem(labels, calm, max_depth=0), "leaf").worst_case_correct / table.n_samples
    print("\nCorrect after the worst shift that is at least as plausible as stated (|: always the same answer):\n")
    for plausibility in PLAUSIBILITIES:
        accuracy = attack.curve.accuracy_at_plausibility(plausibility)
        bar = "".join("|" if k == round(50 * majority) else "█" if k < round(50 * accuracy) else " " for k in range(51))
        print(f"  plausibility {plausibility:4.2f}  {accuracy:6.1%}  {bar}")

    print(f"\nAt plausibility 0.90 the adversary changes {len(attack.shift)} of {readings.size} values, first:\n")
    for change in itertools.islice(attack.shift, 5):
        print(f"  row {change.row:3}  {change.column:15} {change.old} -> {change.new}   for {change.price:.2f}")


if __name__ == "__main__":
    main()
