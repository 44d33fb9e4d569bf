"""How sure are answers, and was the shift within the budget? Self-reports beside measurements: NHANES 2017 to 2018.

    pip install "hardwood[examples]"
    python examples/self_reports.py demo

Adults told their height and weight, and were then measured. Who is obese is known from the measurement. A tree learnt
from measured tables will be used where people only tell: how often, and which way, does that differ? What does a tree
keep that knows it, and what really happened? The table comes with the package nhanes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from hardwood import RobustTreeClassifier, shiftlab

REFUSED = 7000  # from here on, numbers are codes for no answer
POUND, INCH = 0.45359237, 2.54


def survey() -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """What was measured, what was told, and who is obese; whole inches, and steps of ten pounds."""
    data = _adults()
    other = {"age": data["AgeInYearsAtScreening"] // 10, "sex": data["Gender"]}  # decades
    measured = {"height": data["StandingHeightCm"] / INCH, "weight": data["WeightKg"] / POUND / 10}
    told = {
        "height": data["CurrentSelfreportedHeightInches"],
        "weight": data["CurrentSelfreportedWeightPounds"] / 10,
    }
    frames = []
    for own in (measured, told):
        frame = pd.DataFrame(own | other)
        frames.append(frame.assign(**{name: frame[name].round().astype(int) for name in ("height", "weight", "age")}))
    outcome = np.where(data["BodyMassIndexKgm2"] >= 30, "obese", "not obese")
    return frames[0], frames[1], pd.Series(outcome, name="obesity")


def measured_twice() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Other things that NHANES has twice: blood pressure, and diabetes as it was told and as the blood says."""
    data = _adults()
    data = data[data["Glycohemoglobin"].notna()]
    told = data["DoctorToldYouHaveDiabetes"].map({"0": "no", "Borderline": "no", "1": "yes"})
    first = {"blood pressure": data["SystolicBloodPres1StRdgMmHg"] / 10, "diabetes": told}
    blood = np.where(data["Glycohemoglobin"] >= 6.5, "yes", "no")
    second = {"blood pressure": data["SystolicBloodPres3RdRdgMmHg"] / 10, "diabetes": pd.Series(blood, data.index)}
    frames = [pd.DataFrame(own).assign(**{"blood pressure": own["blood pressure"].round()}) for own in (second, first)]
    return frames[0], frames[1]


def _adults() -> pd.DataFrame:
    from nhanes.load import load_NHANES_data

    data = load_NHANES_data()
    told = data["CurrentSelfreportedHeightInches"].lt(REFUSED) & data["CurrentSelfreportedWeightPounds"].lt(REFUSED)
    measured = data["StandingHeightCm"].notna() & data["WeightKg"].notna() & data["BodyMassIndexKgm2"].notna()
    return data[told & measured & data["AgeInYearsAtScreening"].ge(20)].reset_index(drop=True)


def learnt(X: pd.DataFrame, y: pd.Series, certainty: dict[str, object], plausibility: float) -> RobustTreeClassifier:
    """A tree for measured tables that will be told instead."""
    model = RobustTreeClassifier(3, certainty=certainty, plausibility=plausibility, min_samples_leaf=20)
    return model.fit(X, y)


def main(folder: Path | None = None) -> None:
    """Estimate, learn, and look back at what really came; pictures and a report go to a folder if there is one."""
    measured, told, y = survey()
    asked = ["height", "weight"]
    estimate = shiftlab.estimate_certainty(measured[asked], told[asked], groups=measured["sex"])
    print(f"How often do {len(y):,} adults tell what is measured?\n{estimate}\n")
    print(f"Other things, measured twice\n{shiftlab.estimate_certainty(*measured_twice())}\n")

    # Shapes do not fit, so tables are used; whose age and sex are known for sure.
    certainty = {**estimate.tables, "age": 0.99, "sex": 1.0}
    model = learnt(measured, y, certainty, 0.95)
    print(f"Obese or not, hedged at plausibility 0.95\n{model.tree_}\n")
    found = shiftlab.accuracy_distribution(model, measured, y)
    print(f"If tables are told instead: {found}\n")
    print(f"And this is what came\n{shiftlab.drift(model, measured, told, y)}\n")

    print("accuracy       measured  by chance  as told  worst shift")
    for level in (1.0, 0.97, 0.95):
        own = learnt(measured, y, certainty, level)
        came, chance = shiftlab.drift(own, measured, told, y), shiftlab.accuracy_distribution(own, measured, y)
        print(f"hedged {level:5.2f}  {came.then:9.1%}  {chance.mean:9.1%}  {came.now:7.1%}  {came.guarantee:11.1%}")
    if folder is not None:
        folder.mkdir(exist_ok=True)
        estimate.plot().figure.savefig(folder / "certainty.png", dpi=110)
        estimate.plot_table("height").figure.savefig(folder / "height.png", dpi=110)
        model.report(folder / "report.html", source="NHANES 2017 to 2018, package nhanes")
        print(f"\nwritten to {folder}: certainty.png, height.png, report.html")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
