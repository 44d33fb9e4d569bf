"""A health survey with design weights, missing numbers and a rare outcome: NHANES II (1976 to 1980).

    pip install "hardwood[demo]"
    python examples/nhanes2.py

10,337 people, each of whom stands for others (a final weight), with zinc and lead in the blood that were not measured
in everybody; the table comes with the package samplics. Two questions: who has high blood pressure, and who has
diabetes, as one in thirty does?
"""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pandas as pd

from hardwood import RobustTreeClassifier, check

# How sure we are of an answer, by column. The region is known; a measurement may be off by a step of 10 units.
CERTAINTY = {"region": 1.0, "race": 0.95, "zinc": 0.8, "lead": 0.9, "pressure": 0.9, "diabetes": 0.97}
# Whether something was measured at all is surer than what was measured.
MISSING_CERTAINTY = {"zinc": 0.97, "lead": 0.97}


def survey() -> tuple[pd.DataFrame, pd.Series]:
    """The answers, and how many people each row stands for, on the average one."""
    data = pd.read_csv(Path(str(distribution("samplics").locate_file("samplics/datasets/data/nhanes2.csv"))))
    data = data.dropna(subset=["diabetes"])
    frame = pd.DataFrame(
        {
            "region": data["region"].map({1: "northeast", 2: "midwest", 3: "south", 4: "west"}),
            "race": data["race"].map({1: "white", 2: "black", 3: "other"}),
            "zinc": (data["zinc"] / 10).round(),  # in steps of 10 micrograms per decilitre
            "lead": data["highlead"].map({0: "normal", 1: "high"}),
            "pressure": data["highbp"].map({0: "normal", 1: "high"}),
            "diabetes": data["diabetes"].map({0: "no", 1: "yes"}),
        }
    )
    return frame, data["finalwgt"] / data["finalwgt"].mean()


def learnt(frame: pd.DataFrame, target: str, weights: pd.Series, **parameters: object) -> RobustTreeClassifier:
    """A robust tree for one of the columns, from the others; its certificate is checked."""
    X, y = frame.drop(columns=target), frame[target]
    model = RobustTreeClassifier(
        3,
        certainty={name: CERTAINTY[name] for name in X},
        plausibility=0.995,
        missing="category",
        missing_certainty=MISSING_CERTAINTY,
        feature_kinds={name: "binary" for name in ("lead", "pressure", "diabetes") if name in X},
        **parameters,
    )
    model.fit(X, y, sample_weight=weights)
    outcome = check(model.certificate_, X, y, sample_weight=weights)
    if not outcome.confirmed:
        raise RuntimeError(str(outcome))
    return model


def main() -> None:
    """Learn three trees and print them."""
    frame, weights = survey()
    missing = frame.isna().mean()
    print(f"{len(frame)} rows; missing: zinc {missing['zinc']:.0%}, lead {missing['lead']:.0%}")
    print(f"weights from {weights.min():.2f} to {weights.max():.2f}, on the average 1\n")

    print("High blood pressure, with the weights of the survey")
    model = learnt(frame, "pressure", weights)
    print(f"{model.tree_}\n\n{model.certificate_}\n")

    share = np.average(frame["diabetes"] == "yes", weights=weights)
    print(f"Diabetes ({share:.1%} of the people): the most people correct")
    model = learnt(frame, "diabetes", weights)
    print(f"{model.tree_}\n\n{model.certificate_}\n")

    print("Diabetes: both answers worth as much as each other")
    model = learnt(frame, "diabetes", weights, class_weight="balanced")
    print(f"{model.tree_}\n\n{model.certificate_}")


if __name__ == "__main__":
    main()
