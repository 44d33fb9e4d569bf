"""Certainties and drift of self-reports, compared with measurements: NHANES 2017 to 2018.

    pip install "hardwood[examples]"
    python examples/self_reports.py demo

Adults reported their height and weight, and were then measured; the measurement determines who is obese. A tree that
was learnt from measured values is applied to reported ones. The example estimates how often and in which direction the
two differ, learns a tree that is robust against this shift, and compares its guarantee with the observed accuracy. The
table comes with the package nhanes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from hardwood import RobustTreeClassifier, shiftlab

FIRST_MISSING_CODE = 7000  # larger numbers are codes for a missing value
POUND, INCH = 0.45359237, 2.54


def survey() -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """Measured values, reported values, and who is obese; heights in inches, weights in steps of ten pounds."""
    data = _adults()
    others = {"age": data["AgeInYearsAtScreening"] // 10, "sex": data["Gender"]}  # decades
    measured = {"height": data["StandingHeightCm"] / INCH, "weight": data["WeightKg"] / POUND / 10}
    reported = {
        "height": data["CurrentSelfreportedHeightInches"],
        "weight": data["CurrentSelfreportedWeightPounds"] / 10,
    }
    frames = []
    for columns in (measured, reported):
        frame = pd.DataFrame(columns | others)
        frames.append(frame.assign(**{name: frame[name].round().astype(int) for name in ("height", "weight", "age")}))
    outcome = np.where(data["BodyMassIndexKgm2"] >= 30, "obese", "not obese")
    return frames[0], frames[1], pd.Series(outcome, name="obesity")


def measured_twice() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Other repeated measurements: two blood pressure readings, and diabetes by blood test and by self-report."""
    data = _adults()
    data = data[data["Glycohemoglobin"].notna()]
    reported = data["DoctorToldYouHaveDiabetes"].map({"0": "no", "Borderline": "no", "1": "yes"})
    blood_test = pd.Series(np.where(data["Glycohemoglobin"] >= 6.5, "yes", "no"), data.index)
    third_reading, first_reading = ((data[f"SystolicBloodPres{name}RdgMmHg"] / 10).round() for name in ("3Rd", "1St"))
    first = pd.DataFrame({"blood pressure": third_reading, "diabetes": blood_test})
    second = pd.DataFrame({"blood pressure": first_reading, "diabetes": reported})
    return first, second


def _adults() -> pd.DataFrame:
    """Adults with reported and measured height and weight."""
    from nhanes.load import load_NHANES_data

    data = load_NHANES_data()
    answers = data[["CurrentSelfreportedHeightInches", "CurrentSelfreportedWeightPounds"]]
    reported = answers.lt(FIRST_MISSING_CODE).all(axis=1)
    measured = data["StandingHeightCm"].notna() & data["WeightKg"].notna() & data["BodyMassIndexKgm2"].notna()
    return data[reported & measured & data["AgeInYearsAtScreening"].ge(20)].reset_index(drop=True)


def learn(X: pd.DataFrame, y: pd.Series, certainty: dict[str, object], plausibility: float) -> RobustTreeClassifier:
    """Learn a tree from measured values that is robust against reported ones."""
    model = RobustTreeClassifier(3, certainty=certainty, plausibility=plausibility, min_samples_leaf=20)
    return model.fit(X, y)


def main(folder: Path | None = None) -> None:
    """Estimate certainties, learn trees and compute their drift; figures and a report go to `folder`."""
    measured, reported, y = survey()
    columns = ["height", "weight"]
    estimate = shiftlab.estimate_certainty(measured[columns], reported[columns], groups=measured["sex"])
    print(f"How often do {len(y):,} adults report what is measured?\n{estimate}\n")
    print(f"Other repeated measurements\n{shiftlab.estimate_certainty(*measured_twice())}\n")

    # The shapes do not fit, so the tables are used. Age is almost certain, sex is certain.
    certainty = {**estimate.tables, "age": 0.99, "sex": 1.0}
    model = learn(measured, y, certainty, 0.95)
    print(f"Obese or not, hedged at plausibility 0.95\n{model.tree_}\n")
    print(f"Predicted accuracy on reported values: {shiftlab.accuracy_distribution(model, measured, y)}\n")
    print(f"Observed shift\n{shiftlab.drift(model, measured, reported, y)}\n")

    print("accuracy       measured  predicted  reported  worst shift")
    for level in (1.0, 0.97, 0.95):
        model_at_level = learn(measured, y, certainty, level)
        predicted = shiftlab.accuracy_distribution(model_at_level, measured, y).mean
        found = shiftlab.drift(model_at_level, measured, reported, y)
        print(f"hedged {level:5.2f}  {found.then:9.1%}  {predicted:9.1%}  {found.now:8.1%}  {found.guarantee:11.1%}")
    if folder is not None:
        folder.mkdir(exist_ok=True)
        estimate.plot().figure.savefig(folder / "certainty.png", dpi=110)
        estimate.plot_table("height").figure.savefig(folder / "height.png", dpi=110)
        model.report(folder / "report.html", source="NHANES 2017 to 2018, package nhanes")
        print(f"\nwritten to {folder}: certainty.png, height.png, report.html")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
