"""The commands with valid input: what they print and write."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from hardwood import RobustTreeClassifier
from tests.commands import fitted, hardwood, process
from tests.surveys import survey


@pytest.mark.slow
def test_command_runs_as_a_process(folder):
    assert process("--version", folder=folder).stdout.startswith("hardwood 0.")
    done = process("fit", "survey.csv", "--target", "vote", "--depth", 1, folder=folder)
    assert (done.returncode, "proved optimal" in done.stdout) == (0, True)
    assert process("fit", "none.csv", "-t", "vote", folder=folder).returncode == 2


def test_help_has_examples():
    for command in ("fit", "predict", "audit", "path", "calibrate", "check"):
        text = hardwood(command, "--help", folder=".").stdout
        assert f"Example: hardwood {command}" in text
    assert hardwood("--version", folder=".").stdout.startswith("hardwood 0.")


def test_fit_predict_check_and_audit_in_sequence(folder):
    done = fitted(folder, "--certainty", 0.9, "--certainty", "age=0.7", "--kind", "trust=low<middle<high")
    assert "party = left?" in done.stdout
    assert "proved optimal" in done.stdout
    assert "written: model.json, model.certificate.json" in done.stdout

    predicted = hardwood("predict", "model.json", "survey.csv", "--proba", "--margins", folder=folder)
    rows = list(csv.DictReader(io.StringIO(predicted.stdout)))
    model = RobustTreeClassifier.load(folder / "model.json")
    frame = pd.read_csv(folder / "survey.csv").drop(columns="vote")
    assert [row["prediction"] for row in rows] == model.predict(frame).tolist()
    assert set(rows[0]) == {"prediction", "share of no", "share of yes", "margin"}
    assert float(rows[0]["margin"]) == model.margins(frame)[0]

    checked = hardwood(
        "check", "model.certificate.json", "survey.csv", "-t", "vote", "--model", "model.json", folder=folder
    )
    assert checked.returncode == 0
    assert "CONFIRMED from the data alone" in checked.stdout

    audited = hardwood("audit", "model.json", "survey.csv", "-t", "vote", "--plausibility", 0.95, folder=folder)
    assert audited.returncode == 0
    assert "What the adversary changes" in audited.stdout


def test_json_output_of_every_command(folder):
    certificate = json.loads(fitted(folder, "--json").stdout)
    assert (certificate["status"], certificate["gap"], certificate["model"]) == ("optimal", 0.0, "model.json")
    predicted = json.loads(hardwood("predict", "model.json", "survey.csv", "--margins", "--json", folder=folder).stdout)
    assert len(predicted["prediction"]) == len(predicted["margin"]) == 120
    audited = json.loads(hardwood("audit", "model.json", "survey.csv", "-t", "vote", "--json", folder=folder).stdout)
    assert audited["worst_case_accuracy"] == certificate["worst_case_correct"] / 120
    checked = json.loads(
        hardwood("check", "model.certificate.json", "survey.csv", "-t", "vote", "--json", folder=folder).stdout
    )
    assert (checked["confirmed"], checked["contradictions"]) == (True, [])
    assert checked["worst_case_correct"] == certificate["worst_case_correct"]
    assert checked["shifts"] == "certainty 0.9, plausibility 0.9"
    costs = json.loads(hardwood("calibrate", "survey.csv", "--drop", "vote", "--json", folder=folder).stdout)
    assert [entry["column"] for entry in costs["costs"]] == ["age", "party", "trust", "asked before", "income"]
    path = json.loads(
        hardwood("path", "survey.csv", "-t", "vote", "-d", 1, "--levels", "1,0.9", "--json", folder=folder).stdout
    )
    assert path["plausibility"] == [1.0, 0.9]


def test_path_is_printed_and_drawn(folder):
    done = hardwood(
        "path", "survey.csv", "-t", "vote", "-d", 1, "--levels", "1,0.9,0.5", "--plot", "path.svg", folder=folder
    )
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 4
    assert "<svg" in (folder / "path.svg").read_text()


def test_calibrate_prints_costs_and_budget(folder):
    done = hardwood("calibrate", "survey.csv", "--drop", "vote", "--bounds", "age=0:120", folder=folder)
    assert "budget 12.64 for 120 rows at plausibility 0.9" in done.stdout
    assert "2.303" in done.stdout


def test_calibrate_explains_its_table(folder):
    done = hardwood("calibrate", "survey.csv", "--drop", "vote", folder=folder)
    assert "expected changes" in done.stdout
    assert "A lower plausibility pays for more." in done.stdout
    assert "A column with many values costs more to change" in done.stdout


def test_sample_weights_class_weights_missing_values_and_measured_tables(folder):
    frame, y = survey()
    rng = np.random.default_rng(4)
    weights = rng.lognormal(size=len(y)).round(3)
    weights[3] = 0
    frame = frame.astype({"age": float}).assign(vote=y, weight=weights)
    frame.loc[rng.random(len(y)) < 0.2, "age"] = None
    frame.to_csv(folder / "survey.csv", index=False)
    parties = sorted(frame["party"].unique())
    probabilities = pd.DataFrame(rng.dirichlet(np.ones(len(parties)), len(parties)), index=parties, columns=parties)
    probabilities.to_csv(folder / "party.csv")
    options = ["--weight", "weight", "--missing", "category", "--kind", "trust=low<middle<high", "--certainty", 0.8]
    options += ["--missing-certainty", "age=0.95", "--measured", "party=party.csv", "--plausibility", 0.97, "--clip"]
    done = fitted(folder, *options, "--class-weight", "balanced")
    assert "balanced accuracy stays at" in done.stdout
    assert "sensitivity" in done.stdout
    model = RobustTreeClassifier.load(folder / "model.json")
    assert "weight" not in [feature.name for feature in model.tree_.features]
    python = RobustTreeClassifier(
        2,
        certainty=dict.fromkeys(frame.columns.drop(["vote", "weight"]), 0.8) | {"party": probabilities},
        plausibility=0.97,
        missing="category",
        missing_certainty={"age": 0.95},
        feature_kinds={"trust": ["low", "middle", "high"]},
        class_weight="balanced",
        clip=True,
    ).fit(frame.drop(columns=["vote", "weight"]), y, weights)
    assert model.tree_ == python.tree_
    assert model.certificate_.worst_case_correct == pytest.approx(python.certificate_.worst_case_correct)
    table = ("survey.csv", "--target", "vote", "--weight", "weight")
    assert "CONFIRMED" in hardwood("check", "model.certificate.json", *table, folder=folder).stdout
    audited = json.loads(hardwood("audit", "model.json", *table, "--json", folder=folder).stdout)
    assert audited["worst_case_accuracy"] == pytest.approx(model.certificate_.worst_case_accuracy)
    done = hardwood("report", "model.json", *table, "--levels", "1,0.97", folder=folder)
    assert done.returncode == 0, done.stderr
    done = hardwood(
        "path", *table, "--levels", "1,0.97", *options[2:-3], "--clip", "--class-weight", "yes=3", folder=folder
    )
    assert done.returncode == 0, done.stderr
    done = hardwood("calibrate", "survey.csv", "--target", "vote", "--drop", "weight", *options[2:], folder=folder)
    assert done.returncode == 0, done.stderr
    assert "missing 2.944" in done.stdout  # log(0.95 / 0.05)
    without = hardwood("check", "model.certificate.json", "survey.csv", "--target", "vote", folder=folder)
    assert (without.returncode, "--weight is not given" in without.stderr) == (2, True)


def test_fail_under_sets_the_exit_code_of_an_audit(folder):
    fitted(folder)
    kept = RobustTreeClassifier.load(folder / "model.json").certificate_.worst_case_accuracy
    table = ("audit", "model.json", "survey.csv", "--target", "vote")
    assert hardwood(*table, "--fail-under", kept, folder=folder).returncode == 0
    done = hardwood(*table, "--fail-under", kept + 0.01, "--json", folder=folder)
    assert (done.returncode, json.loads(done.stdout)["worst_case_accuracy"]) == (1, kept)
    assert f"{kept:.1%} stay correct in the worst case, less than" in done.stderr
    assert hardwood(*table, "--fail-under", 80, folder=folder).returncode == 2


def test_costs_and_budget_can_be_given(folder):
    done = fitted(folder, "--cost", 1, "--cost", "party=3", "--budget", 5, "--direction", "age=up", "--json")
    assert json.loads(done.stdout)["budget"] == 5.0


def test_budget_zero_counts_as_given(folder):
    fitted(folder)
    fitted_for, none = (
        hardwood("audit", "model.json", "survey.csv", "-t", "vote", "--json", *options, folder=folder)
        for options in ((), ("--budget", "0"))
    )
    fitted_for, none = (json.loads(done.stdout) for done in (fitted_for, none))
    assert none["worst_case_accuracy"] == none["nominal_accuracy"] > fitted_for["worst_case_accuracy"]


def test_audit_under_a_box(folder):
    fitted(folder)
    done = hardwood("audit", "model.json", "survey.csv", "-t", "vote", "--radius", "age=1", folder=folder)
    assert done.returncode == 0
    assert "radius" in done.stdout


def test_min_samples_leaf_is_an_option(folder):
    done = hardwood("fit", "survey.csv", "-t", "vote", "--min-samples-leaf", 20, folder=folder)
    assert "with at least 20 samples in each leaf" in done.stdout


def test_orders_of_numbers_and_with_spaces_are_parsed(folder):
    frame = pd.read_csv(folder / "survey.csv").assign(step=lambda table: table["age"] % 3)
    frame.to_csv(folder / "survey.csv", index=False)
    fitted(folder, "--kind", "step=0 < 1 < 2", "--kind", "trust=low < middle < high")
    features = {feature.name: feature for feature in RobustTreeClassifier.load(folder / "model.json").tree_.features}
    assert features["step"].categories == (0, 1, 2)
    assert (features["trust"].kind, features["trust"].categories) == ("ordinal", ("low", "middle", "high"))


def test_report_is_written(folder):
    fitted(folder, "--kind", "trust=low<middle<high")
    done = hardwood(
        "report",
        "model.json",
        "survey.csv",
        "-t",
        "vote",
        "--levels",
        "1,0.9,0.7",
        "--title",
        "A <b> survey",
        folder=folder,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("written: report.html (")
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "<title>A &lt;b&gt; survey</title>" in text
    assert text.count('class="level"') == 3
    assert "Row by row" not in text
    again = hardwood("report", "model.json", "survey.csv", "-t", "vote", "--rows", "-o", "rows.html", folder=folder)
    assert again.returncode == 0
    assert "Row by row" in (folder / "rows.html").read_text(encoding="utf-8")


def test_a_plausibility_alone_keeps_the_other_shift_parameters_of_the_model(folder):
    fitted(folder, "--certainty", "0.8")
    options = ("survey.csv", "-t", "vote", "--plausibility", 0.5)
    audited = hardwood("audit", "model.json", *options, folder=folder)
    assert "Shifts: certainty 0.8, plausibility 0.5." in audited.stdout
    in_full = hardwood("audit", "model.json", *options, "--certainty", 0.9, folder=folder)
    assert "Shifts: certainty 0.9, plausibility 0.5." in in_full.stdout
    tables = ("drift", "model.json", "survey.csv", "survey.csv", "-t", "vote", "--json", "--plausibility", 0.5)
    guarantees = [
        json.loads(hardwood(*tables, *more, folder=folder).stdout)["guarantee"] for more in ((), ("--certainty", 0.8))
    ]
    assert guarantees[0] == guarantees[1]
