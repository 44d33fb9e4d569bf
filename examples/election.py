"""Whom did they vote for in 1996? An ordinary and a robust tree from the American National Election Study.

944 people placed themselves and the candidates on scales from left to right and said how often they watch the news.
If they were asked again, or by someone else, many answers would differ by one step. The study comes with statsmodels
(extra `demo`).

    python examples/election.py [folder for the models]
"""

from __future__ import annotations

import sys
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.datasets import anes96

from hardwood import RobustnessPath, RobustTreeClassifier, audit, check

# Name, column of the study, range of the values, and certainty of a value.
QUESTIONS = [
    ("news_days", "TVnews", (0, 7), 0.6),  # days in the past week with news on TV
    ("own_position", "selfLR", (1, 7), 0.7),  # 1: extremely liberal, 7: extremely conservative
    ("clinton_position", "ClinLR", (1, 7), 0.6),
    ("dole_position", "DoleLR", (1, 7), 0.6),
    ("party", "PID", (0, 6), 0.75),  # 0: strong Democrat, 6: strong Republican
    ("education", "educ", (1, 7), 0.95),
]
PLAUSIBILITY = 0.9
PLAUSIBILITIES = (1.0, 0.99, 0.97, 0.95, 0.9, 0.85, 0.75)


def load_survey() -> tuple[pd.DataFrame, np.ndarray]:
    """The answers as integers, and the votes."""
    study = anes96.load_pandas().data
    table = pd.DataFrame({name: study[column].astype(int) for name, column, _, _ in QUESTIONS})
    return table, np.where(study["vote"] == 1, "Dole", "Clinton")


def classifier(plausibility: float) -> RobustTreeClassifier:
    """A classifier of depth three, robust against shifts of at least this plausibility."""
    return RobustTreeClassifier(
        max_depth=3,
        certainty={name: certainty for name, _, _, certainty in QUESTIONS},
        bounds={name: bounds for name, _, bounds, _ in QUESTIONS},
        plausibility=plausibility,
        time_limit=40,
        verbose=1,
    )


def side_by_side(left: str, right: str) -> str:
    """Two texts in two columns."""
    width = max(len(line) for line in left.splitlines()) + 4
    pairs = zip_longest(left.splitlines(), right.splitlines(), fillvalue="")
    return "\n".join(f"{one:{width}}{other}".rstrip() for one, other in pairs)


def main() -> None:
    """Learn and compare two trees, and save both with their certificates."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo")
    folder.mkdir(parents=True, exist_ok=True)
    table, votes = load_survey()
    print(
        f"{len(table)} voters, {table.shape[1]} questions. Learning two trees with at most three questions on a path:"
    )
    ordinary, robust = (classifier(level).fit(table, votes) for level in (1.0, PLAUSIBILITY))
    print()
    print(side_by_side(f"ordinary\n\n{ordinary.tree_}", f"robust at plausibility {PLAUSIBILITY}\n\n{robust.tree_}"))

    audits = [
        audit(tree, table, votes, **{k: getattr(robust, k) for k in ("certainty", "bounds", "plausibility")})
        for tree in (ordinary, robust)
    ]
    print("\nVotes predicted correctly after the worst shift of at least this plausibility:\n")
    print("  plausibility   ordinary   robust")
    for level in PLAUSIBILITIES:
        accuracies = [found.curve.accuracy_at_plausibility(level) for found in audits]
        print(f"  {level:12.2f}   {accuracies[0]:8.1%}   {accuracies[1]:6.1%}")
    print("\nThe most frequent changes in the worst shift of the ordinary tree:\n")
    for change in audits[0].changes()[:4]:
        print(f"  {change['column']}: {change['from']} -> {change['to']} for {change['rows']} voters")

    print(f"\nThe robust tree: {robust.certificate_}\n")
    print(check(robust.certificate_, table, votes))
    for name, tree in (("ordinary", ordinary), ("robust", robust)):
        tree.save(folder / f"{name}.json")
    both = RobustnessPath((1.0, PLAUSIBILITY), (ordinary, robust))
    robust.report(folder / "report.html", along=both, title="Whom did they vote for in 1996?", target="the vote")
    written = ", ".join(sorted(path.name for path in folder.iterdir()))
    print(f"\nWritten to {folder}/: {written}")
    print(f"Open {folder / 'report.html'} in a browser.")


if __name__ == "__main__":
    main()
