"""A health survey with sample weights, missing values and a rare class: NHANES II (1976 to 1980).

    pip install "hardwood[demo]"
    python examples/nhanes2.py

The table has 10,337 people with final weights; zinc and lead in the blood were not measured for all of them. It comes
with the package samplics. One tree predicts high blood pressure; two others predict diabetes, which one in thirty
people has.
"""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pandas as pd

from hardwood import RobustTreeClassifier, check

# By column. The region is known; a measurement may be off by a step of 10 units.
CERTAINTY = {"region": 1.0, "race": 0.95, "zinc": 0.8, "lead": 0.9, "pressure": 0.9, "diabetes": 0.97}
# Whether a value was measured is more certain than the value itself.
MISSING_CERTAINTY = {"zinc": 0.97, "lead": 0.97}


def survey() -> tuple[pd.DataFrame, pd.Series]:
    """The table, and the weight of each row; the mean weight is 1."""
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


def learn(frame: pd.DataFrame, target: str, weights: pd.Series, **parameters: object) -> RobustTreeClassifier:
    """Learn a robust tree that predicts one column from the others, and check its certificate."""
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
    print(f"weights from {weights.min():.2f} to {weights.max():.2f}, 1 on average\n")

    print("High blood pressure, with the sample weights of the survey")
    model = learn(frame, "pressure", weights)
    print(f"{model.tree_}\n\n{model.certificate_}\n")

    share = np.average(frame["diabetes"] == "yes", weights=weights)
    print(f"Diabetes ({share:.1%} of the people): accuracy is maximised")
    model = learn(frame, "diabetes", weights)
    print(f"{model.tree_}\n\n{model.certificate_}\n")

    print("Diabetes: balanced accuracy is maximised")
    model = learn(frame, "diabetes", weights, class_weight="balanced")
    print(f"{model.tree_}\n\n{model.certificate_}")


if __name__ == "__main__":
    main()
