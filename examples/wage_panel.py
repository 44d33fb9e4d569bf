"""Drift of a tree over eight years of a panel of 545 men.

    pip install "hardwood[examples]"
    python examples/wage_panel.py

The panel (Vella and Verbeek 1998) comes with the package linearmodels. A tree that predicts who earns more than the
median is learnt from 1980, with certainties estimated from 1980 and 1981. Then the drift of each year is computed.
"""

from __future__ import annotations

import pandas as pd

from hardwood import RobustTreeClassifier, shiftlab

COLUMNS = ["hours", "married", "union", "occupation", "educ"]


def years() -> dict[int, pd.DataFrame]:
    """The table of each year: hours in steps of 250 per year, yes or no, and occupations as text."""
    from linearmodels.datasets import wage_panel

    data = wage_panel.load()
    data["hours"] = (data["hours"] / 250).round().astype(int)
    data["occupation"] = "group " + data["occupation"].astype(int).astype(str)
    for name in ("married", "union"):
        data[name] = data[name].map({0: "no", 1: "yes"})
    return {int(year): rows.set_index("nr").sort_index() for year, rows in data.groupby("year")}


def main() -> None:
    """Estimate certainties, learn two trees, and print the drift of each year."""
    tables = years()
    first = tables[1980]
    y = (first["lwage"] > first["lwage"].median()).map({False: "below", True: "above"})
    estimate = shiftlab.estimate_certainty(first[COLUMNS], tables[1981][COLUMNS])
    print(f"From 1980 to 1981, {len(first)} men\n{estimate}\n")
    least = shiftlab.estimate_certainty(first[COLUMNS], tables[1981][COLUMNS], different_people=True)
    print(f"If people were not linked\n{least}\n")

    certainty = {name: min(value, 0.999) for name, value in estimate.certainty.items()}
    level = shiftlab.plausibility_for_coverage(0.95, first[COLUMNS], certainty=certainty)
    print(f"To cover 95 in 100 years like this, plausibility would have to be {level:.3f}\n")
    parameters = {"certainty": certainty, "min_samples_leaf": 20}
    models = {
        level: RobustTreeClassifier(2, plausibility=level, **parameters).fit(first[COLUMNS], y) for level in (1.0, 0.8)
    }
    for level, model in models.items():
        print(f"Above the median wage of 1980, plausibility {level:g}\n{model.tree_}\n")
        for year, table in tables.items():
            found = shiftlab.drift(model, first[COLUMNS], table[COLUMNS], y, certainty=certainty, plausibility=0.8)
            print(f"{year}  accuracy {found.now:.1%}, guaranteed {found.guarantee:.1%}. {found.verdict}")
        print()


if __name__ == "__main__":
    main()
