"""Eight years with the same 545 men: what changes from one year to the next, and when does a tree go out of date?

    pip install "hardwood[examples]"
    python examples/wage_panel.py

The panel (Vella and Verbeek 1998) comes with the package linearmodels. A tree that tells who earns more than the median
is learnt from 1980; certainties are estimated from 1980 and 1981. Then each year is held against the budget.
"""

from __future__ import annotations

import pandas as pd

from hardwood import RobustTreeClassifier, shiftlab

ASKED = ["hours", "married", "union", "occupation", "educ"]


def years() -> dict[int, pd.DataFrame]:
    """A table for each year: hours in steps of 250 a year, yes and no as such, occupations as text."""
    from linearmodels.datasets import wage_panel

    data = wage_panel.load()
    data["hours"] = (data["hours"] / 250).round().astype(int)
    data["occupation"] = "group " + data["occupation"].astype(int).astype(str)
    for name in ("married", "union"):
        data[name] = data[name].map({0: "no", 1: "yes"})
    return {int(year): own.set_index("nr").sort_index() for year, own in data.groupby("year")}


def main() -> None:
    """Estimate, learn, and watch the years go by."""
    tables = years()
    first = tables[1980]
    y = (first["lwage"] > first["lwage"].median()).map({False: "below", True: "above"})
    estimate = shiftlab.estimate_certainty(first[ASKED], tables[1981][ASKED])
    print(f"From 1980 to 1981, {len(first)} men\n{estimate}\n")
    apart = shiftlab.estimate_certainty(first[ASKED], tables[1981][ASKED], different_people=True)
    print(f"If nobody knew who is who\n{apart}\n")

    certainty = {name: min(own, 0.999) for name, own in estimate.certainty.items()}
    level = shiftlab.plausibility_for_coverage(0.95, first[ASKED], certainty=certainty)
    print(f"To cover 95 in 100 years like this, plausibility would have to be {level:.3f}\n")
    words = {"certainty": certainty, "min_samples_leaf": 20}
    models = {level: RobustTreeClassifier(2, plausibility=level, **words).fit(first[ASKED], y) for level in (1.0, 0.8)}
    for level, model in models.items():
        print(f"Above the median wage of 1980, plausibility {level:g}\n{model.tree_}\n")
        for year, table in tables.items():
            found = shiftlab.drift(model, first[ASKED], table[ASKED], y, certainty=certainty, plausibility=0.8)
            print(f"{year}  accuracy {found.now:.1%}, promised {found.guarantee:.1%}. {found.verdict}")
        print()


if __name__ == "__main__":
    main()
