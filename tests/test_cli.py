import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import psutil
import pytest

from commands import Done, fitted, hardwood
from hardwood import RobustTreeClassifier
from problems import small_table
from surveys import survey


def process(*arguments, folder, **options):
    """Run the command as a process, as people do."""
    command = [sys.executable, "-m", "hardwood", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300, **options)


@pytest.mark.slow
def test_the_command_is_there(folder):
    assert process("--version", folder=folder).stdout.startswith("hardwood 0.")
    done = process("fit", "survey.csv", "--target", "vote", "--depth", 1, folder=folder)
    assert (done.returncode, "proved optimal" in done.stdout) == (0, True)
    assert process("fit", "none.csv", "-t", "vote", folder=folder).returncode == 2


def test_fit_predict_check_and_audit_one_after_the_other(folder):
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


def test_a_folder_of_parquet_files_is_read_piece_by_piece(folder):
    fitted(folder)
    frame = pd.read_csv(folder / "survey.csv")
    (folder / "pieces").mkdir()
    for k, part in enumerate((frame[:50], frame[50:])):
        part.to_parquet(folder / "pieces" / f"{k}.parquet", index=False)
    whole, pieces = (
        hardwood("audit", "model.json", data, "-t", "vote", "--json", folder=folder)
        for data in ("survey.csv", "pieces")
    )
    assert (whole.returncode, pieces.returncode) == (0, 0)
    numbers = [json.loads(done.stdout) for done in (whole, pieces)]
    assert numbers[0]["worst_case_accuracy"] == numbers[1]["worst_case_accuracy"]
    checked = hardwood("check", "model.certificate.json", "pieces", "-t", "vote", folder=folder)
    assert "CONFIRMED from the data alone" in checked.stdout
    for options in ([], ["--json", "-o", "x.csv"], ["-o", "pieces/x.csv"]):
        assert hardwood("predict", "model.json", "pieces", *options, folder=folder).returncode == 2
    done = hardwood("predict", "model.json", "pieces", "--margins", "-o", "pieces.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    hardwood("predict", "model.json", "survey.csv", "--margins", "-o", "whole.csv", folder=folder)
    assert (folder / "pieces.csv").read_text() == (folder / "whole.csv").read_text()


def test_machines_get_json(folder):
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
    prices = json.loads(hardwood("calibrate", "survey.csv", "--drop", "vote", "--json", folder=folder).stdout)
    assert [entry["column"] for entry in prices["prices"]] == ["age", "party", "trust", "asked before", "income"]
    path = json.loads(
        hardwood("path", "survey.csv", "-t", "vote", "-d", 1, "--levels", "1,0.9", "--json", folder=folder).stdout
    )
    assert path["plausibility"] == [1.0, 0.9]


def test_the_path_is_printed_and_drawn(folder):
    done = hardwood(
        "path", "survey.csv", "-t", "vote", "-d", 1, "--levels", "1,0.9,0.5", "--plot", "path.svg", folder=folder
    )
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 4
    assert "<svg" in (folder / "path.svg").read_text()


def test_calibrate_tells_prices_and_budget(folder):
    done = hardwood("calibrate", "survey.csv", "--drop", "vote", "--bounds", "age=0:120", folder=folder)
    assert "budget 12.64 for 120 rows at plausibility 0.9" in done.stdout
    assert "2.303" in done.stdout


def test_weights_worth_missing_numbers_and_measured_answers(folder):
    frame, y = survey()
    rng = np.random.default_rng(4)
    weights = rng.lognormal(size=len(y)).round(3)
    weights[3] = 0
    frame = frame.astype({"age": float}).assign(vote=y, people=weights)
    frame.loc[rng.random(len(y)) < 0.2, "age"] = None
    frame.to_csv(folder / "survey.csv", index=False)
    parties = sorted(frame["party"].unique())
    chances = pd.DataFrame(rng.dirichlet(np.ones(len(parties)), len(parties)), index=parties, columns=parties)
    chances.to_csv(folder / "party.csv")
    said = ["--weight", "people", "--missing", "category", "--kind", "trust=low<middle<high", "--certainty", 0.8]
    said += ["--missing-certainty", "age=0.95", "--measured", "party=party.csv", "--plausibility", 0.97, "--clip"]
    done = fitted(folder, *said, "--class-weight", "balanced")
    assert "balanced accuracy stays at" in done.stdout
    assert "sensitivity" in done.stdout
    model = RobustTreeClassifier.load(folder / "model.json")
    assert "people" not in [feature.name for feature in model.tree_.features]
    python = RobustTreeClassifier(
        2,
        certainty=dict.fromkeys(frame.columns.drop(["vote", "people"]), 0.8) | {"party": chances},
        plausibility=0.97,
        missing="category",
        missing_certainty={"age": 0.95},
        feature_kinds={"trust": ["low", "middle", "high"]},
        class_weight="balanced",
        clip=True,
    ).fit(frame.drop(columns=["vote", "people"]), y, weights)
    assert model.tree_ == python.tree_
    assert model.certificate_.worst_case_correct == pytest.approx(python.certificate_.worst_case_correct)
    table = ("survey.csv", "--target", "vote", "--weight", "people")
    assert "CONFIRMED" in hardwood("check", "model.certificate.json", *table, folder=folder).stdout
    audited = json.loads(hardwood("audit", "model.json", *table, "--json", folder=folder).stdout)
    assert audited["worst_case_accuracy"] == pytest.approx(model.certificate_.worst_case_accuracy)
    done = hardwood("report", "model.json", *table, "--levels", "1,0.97", folder=folder)
    assert done.returncode == 0, done.stderr
    done = hardwood(
        "path", *table, "--levels", "1,0.97", *said[2:-3], "--clip", "--class-weight", "yes=3", folder=folder
    )
    assert done.returncode == 0, done.stderr
    done = hardwood("calibrate", "survey.csv", "--target", "vote", "--drop", "people", *said[2:], folder=folder)
    assert done.returncode == 0, done.stderr
    assert "no answer 2.944" in done.stdout  # log(0.95 / 0.05)
    without = hardwood("check", "model.certificate.json", "survey.csv", "--target", "vote", folder=folder)
    assert (without.returncode, "--weight is not given" in without.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--weight", "weigth"], '--weight is "weigth"; survey.csv has the columns'),
        (["--weight", "vote"], '--weight is "vote"'),
        (["--weight", "party"], "--weight is"),
        (["--class-weight", "maybe=2"], "--class-weight is 'maybe'; it is no class"),
        (["--class-weight", "fair"], '--class-weight is "fair"; expected column=value'),
        (["--measured", "party=nowhere.csv"], "nowhere.csv is not a file"),
        (["--measured", "nobody=survey.csv"], '--measured names the column "nobody"'),
        (["--measured", "party=survey.csv"], "expected a column of answers, and one column for each of them"),
        (["--missing-certainty", "age=0.2"], ""),
        (["--missing-certainty", "nobody=0.9"], '--missing-certainty names the column "nobody"'),
    ],
)
def test_what_makes_no_sense_about_people_is_refused(folder, options, message):
    done = hardwood("fit", "survey.csv", "--target", "vote", "--depth", 1, *options, folder=folder)
    if not message:  # nobody is without an answer, so nothing is asked about it
        assert done.returncode == 0
        return
    assert done.returncode == 2
    assert message in done.stderr


def test_an_audit_is_a_gate_for_pipelines(folder):
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


def test_parquet_is_read_and_csv_is_written(folder):
    pd.read_csv(folder / "survey.csv").to_parquet(folder / "survey.parquet")
    fitted(folder)
    done = hardwood("predict", "model.json", "survey.parquet", "--output", "out.csv", folder=folder)
    assert done.stdout == "written: out.csv\n"
    assert len((folder / "out.csv").read_text().splitlines()) == 121


def test_missing_answers_are_refused_or_made_an_answer(folder):
    frame = pd.read_csv(folder / "survey.csv")
    frame.loc[3, "party"] = None
    frame.to_csv(folder / "survey.csv", index=False)
    refused = hardwood("fit", "survey.csv", "-t", "vote", folder=folder)
    assert refused.returncode == 2
    assert 'column "party", row 3 is missing' in refused.stderr
    assert "--missing category" in refused.stderr
    assert not (folder / "model.json").exists()
    fitted(folder, "--missing", "category")
    assert hardwood("check", "model.certificate.json", "survey.csv", "-t", "vote", folder=folder).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "none.csv", "-t", "vote"], "none.csv is not a file"),
        (["fit", "survey.csv", "-t", "votes"], "--target is \"votes\"; survey.csv has the columns ['age', 'party'"),
        (["fit", "survey.csv", "-t", "vote", "--certainty", "agee=0.5"], '--certainty names the column "agee"'),
        (["fit", "survey.csv", "-t", "vote", "--certainty", "much"], '--certainty is "much"; expected a number'),
        (["fit", "survey.csv", "-t", "vote", "--cost", "age=1"], "--cost leaves out some columns"),
        (["fit", "survey.csv", "-t", "vote", "--cost", "1", "--certainty", "0.9"], "both given"),
        (["fit", "survey.csv", "-t", "vote", "--budget", "1", "--plausibility", "0.9"], "both given"),
        (["fit", "survey.csv", "-t", "vote", "--bounds", "age=0-9"], "expected column=lower:upper"),
        (["fit", "survey.csv", "-t", "vote", "--bounds", "age=a:b"], "expected whole numbers"),
        (["fit", "survey.csv", "-t", "vote", "--direction", "up"], '--direction is "up"; expected column=value'),
        (["fit", "survey.csv", "-t", "vote", "--drop", "agee"], '--drop names "agee"'),
        (["fit", "survey.csv", "-t", "vote", "--certainty", "0.1"], "(--clip uses that limit)"),
        (["fit", "survey.csv", "-t", "vote", "--solver", "cplex"], "--solver is 'cplex'"),
        (["fit", "survey.csv", "-t", "vote", "--model", "no/where.json"], "its folder does not exist"),
        (["fit", "survey.csv", "-t", "vote", "--model", "."], "which is a folder"),
        (["fit", "binary.csv", "-t", "vote"], "cannot be read as a table"),
        (["fit", "broken.parquet", "-t", "vote"], "cannot be read as a table"),
        (["predict", "survey.csv", "survey.csv"], "survey.csv is not a JSON file"),
        (["predict", "none.json", "survey.csv"], "none.json"),
        (["check", "survey.csv", "survey.csv", "-t", "vote"], "is not a JSON file"),
        (["path", "survey.csv", "-t", "vote", "--levels", "1;2"], '--levels is "1;2"; expected a number'),
        (["audit", "edited.json", "survey.csv", "-t", "vote"], "the feature at root is 'nobody'"),
    ],
)
def test_bad_input_ends_with_a_message_and_exit_code_2(folder, arguments, message):
    (folder / "binary.csv").write_bytes(b"a,vote\n\xff\xfe\x00,1\n1,2,3\n")
    (folder / "broken.parquet").write_bytes(b"PAR1 nothing here")
    model = RobustTreeClassifier(1).fit(*survey())
    model.save(folder / "edited.json")
    edited = json.loads((folder / "edited.json").read_text())
    edited["tree"]["root"]["feature"] = "nobody"
    (folder / "edited.json").write_text(json.dumps(edited))
    done = hardwood(*arguments, folder=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_table_without_a_column_of_the_model_is_refused(folder):
    fitted(folder)
    pd.read_csv(folder / "survey.csv").drop(columns="party").to_csv(folder / "less.csv", index=False)
    done = hardwood("predict", "model.json", "less.csv", folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the table lacks the columns ['party']" in done.stderr


def test_a_missing_target_is_refused(folder):
    frame = pd.read_csv(folder / "survey.csv")
    frame.loc[5, "vote"] = None
    frame.to_csv(folder / "survey.csv", index=False)
    done = hardwood("fit", "survey.csv", "-t", "vote", folder=folder)
    assert done.returncode == 2
    assert 'the target "vote" is missing in row 5' in done.stderr


@pytest.mark.filterwarnings("always:.* is about another tree")
def test_a_certificate_edited_by_hand_is_not_confirmed(folder):
    fitted(folder)
    path = folder / "model.certificate.json"
    certificate = json.loads(path.read_text())
    certificate["worst_case_correct"] += 1
    certificate["upper_bound"] += 1
    path.write_text(json.dumps(certificate))
    done = hardwood("check", path.name, "survey.csv", "-t", "vote", folder=folder)
    assert done.returncode == 1
    assert "NOT CONFIRMED" in done.stdout
    model = json.loads((folder / "model.json").read_text())
    model["tree"]["root"] |= {"left": model["tree"]["root"]["right"], "right": model["tree"]["root"]["left"]}
    model["leaf_counts"].reverse()
    (folder / "model.json").write_text(json.dumps(model))
    done = hardwood("check", path.name, "survey.csv", "-t", "vote", "--model", "model.json", folder=folder)
    assert "is not the tree of the certificate" in done.stdout
    assert done.stderr.startswith("hardwood: warning: model.certificate.json is about another tree than model.json")


def test_help_has_examples():
    for command in ("fit", "predict", "audit", "path", "calibrate", "check"):
        text = hardwood(command, "--help", folder=".").stdout
        assert f"Example: hardwood {command}" in text
    assert hardwood("--version", folder=".").stdout.startswith("hardwood 0.")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_ctrl_c_during_fit_keeps_the_best_tree(tmp_path):
    values, y, _ = small_table(1, n=400, n_values=4, n_columns=8, n_classes=3)
    pd.DataFrame(values).add_prefix("q").assign(y=y).to_csv(tmp_path / "hard.csv", index=False)
    command = [sys.executable, "-m", "hardwood", "fit", "hard.csv", "-t", "y", "-d", "6", "--certainty", "0.6"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert any("at most" in line for line in process.stderr)  # how the table was read comes first
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        printed, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the best tree so far was kept" in told
    assert "written: model.json" in printed
    certificate = RobustTreeClassifier.load(tmp_path / "model.json").certificate_
    assert (certificate.stop_reason, certificate.n_samples) == ("interrupted", 400)
    assert certificate.worst_case_correct <= certificate.upper_bound


def test_what_a_column_means_does_not_depend_on_the_other_rows(tmp_path):
    (tmp_path / "train.csv").write_text("q,y\n" + "1,yes\n2,no\ndk,no\n" * 6)
    assert hardwood("fit", "train.csv", "-t", "y", "-d", 1, folder=tmp_path).returncode == 0
    (tmp_path / "all.csv").write_text("q\n1\n2\ndk\n")
    (tmp_path / "some.csv").write_text("q\n1\n2\n")
    assert hardwood("predict", "model.json", "all.csv", folder=tmp_path).stdout.split() == [
        "prediction",
        "yes",
        "no",
        "no",
    ]
    assert hardwood("predict", "model.json", "some.csv", folder=tmp_path).stdout.split() == ["prediction", "yes", "no"]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_other_separators_are_seen(folder, separator):
    frame = pd.read_csv(folder / "survey.csv")
    frame.to_csv(folder / "other.csv", index=False, sep=separator)
    done = hardwood("fit", "other.csv", "-t", "vote", "-d", 1, "--json", folder=folder)
    assert json.loads(done.stdout)["n_samples"] == 120


def test_quoted_newlines_and_odd_names_survive(tmp_path):
    frame, y = survey(3000)
    frame["q:ok:"] = frame["party"] + "\n:up:"
    frame[["q:ok:", "age"]].assign(y=y).to_csv(tmp_path / "s.csv", index=False)
    done = hardwood("fit", "s.csv", "-t", "y", "-d", 1, folder=tmp_path)
    assert "q:ok: = left\\n:up:?" in done.stdout  # in one line: a name cannot look like a line of ours


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "survey.csv", "-t", "vote", "--model", "survey.csv"], "would overwrite an input"),
        (["fit", "survey.csv", "-t", "vote", "--drop", "vote"], '--drop names the target "vote"'),
        (["fit", "twice.csv", "-t", "vote"], "names a column twice"),
        (["fit", "latin.csv", "-t", "vote"], "is not in UTF-8"),
        (["fit", "wide.csv", "-t", "vote"], "is in UTF-16"),
        (["fit", "survey.csv", "-t", "vote", "--kind", "party=ordinal"], "--kind 'party=left<none<right'"),
        (["path", "survey.csv", "-t", "vote", "--plot", "p.xyz"], "ends in .svg, .png or .pdf"),
        (["path", "survey.csv", "-t", "vote", "--plot", "no/p.svg"], "its folder does not exist"),
    ],
)
def test_other_bad_input_ends_with_a_message(folder, arguments, message):
    (folder / "twice.csv").write_text("a,vote,vote\n1,A,A\n2,B,B\n")
    (folder / "latin.csv").write_bytes("a,vote\nMünchen,1\nBerlin,2\n".encode("latin-1"))
    (folder / "wide.csv").write_text("a,vote\n1,1\n2,2\n", encoding="utf-16")
    before = (folder / "survey.csv").read_text()
    done = hardwood(*arguments, folder=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert (folder / "survey.csv").read_text() == before


@pytest.mark.slow
def test_a_terminal_without_lines_gets_question_marks(folder):
    poor = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = process("fit", "survey.csv", "-t", "vote", "-d", 1, folder=folder, env=poor)
    assert done.returncode == 0
    assert "?? yes" in done.stdout


def test_orders_of_numbers_and_spaces_are_read(folder):
    frame = pd.read_csv(folder / "survey.csv").assign(step=lambda table: table["age"] % 3)
    frame.to_csv(folder / "survey.csv", index=False)
    fitted(folder, "--kind", "step=0 < 1 < 2", "--kind", "trust=low < middle < high")
    features = {feature.name: feature for feature in RobustTreeClassifier.load(folder / "model.json").tree_.features}
    assert features["step"].categories == (0, 1, 2)
    assert (features["trust"].kind, features["trust"].categories) == ("ordinal", ("low", "middle", "high"))


def test_a_report_is_written(folder):
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


@pytest.mark.slow
def test_the_smoke_study_runs_from_end_to_end_anywhere(tmp_path):
    listed = process("study", "list", folder=tmp_path)
    assert "paper       1536 instances of 12 tables" in listed.stdout
    done = process("study", "run", "smoke", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "48 of 48 instances are in study/smoke/results.parquet" in done.stdout
    assert "54 of 54; about 0 minutes left" in done.stderr
    rows = pd.read_parquet(tmp_path / "study/smoke/results.parquet")
    assert len(rows) == 48
    assert set(rows["outcome"]) == {"finished"}
    at_depth_2 = rows[rows["depth"] == 2]
    assert (at_depth_2["robust_status"] == "optimal").mean() > 0.9  # five seconds each, on however busy a machine
    robust = at_depth_2[at_depth_2["plausibility"] < 1]
    assert robust["robust_worst_expected"].mean() > robust["ordinary_worst_expected"].mean()
    assert "## Beside the paper" in (tmp_path / "study/smoke/summary.md").read_text()
    for name in ("gain", "price-and-size", "solved"):
        assert (tmp_path / f"study/smoke/{name}.svg").read_text().startswith("<?xml")

    again = hardwood("study", "run", "smoke", folder=tmp_path)
    assert again.returncode == 0
    assert " of 54" not in again.stderr
    name = rows["id"][7]
    repeated = hardwood("study", "rerun", "smoke", name, folder=tmp_path)
    assert (repeated.returncode, repeated.stdout) == (0, f"{name}: the same row again (times aside)\n")
    row = json.loads(hardwood("study", "rerun", "smoke", name, "--json", folder=tmp_path).stdout)
    assert (row["row"]["id"], row["differing"]) == (name, {})
    reported = hardwood("study", "report", "--out", "study/smoke", folder=tmp_path)
    assert "written: study/smoke/solved.svg" in reported.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("run", "big"), "there is no study big; expected one of"),
        (("run", "smoke", "--processes", "-3"), "--processes is -3; expected a number of processes"),
        (
            ("run", "smoke", "--processes", "2", "--scheduler", "tcp://x:1"),
            "--scheduler and --processes are both given",
        ),
        (("run", "smoke", "--scheduler", "nonsense"), "--scheduler is nonsense; no Dask scheduler answers there"),
        (("run", "paper", "--data", "nowhere"), "the data folder nowhere does not exist"),
        (("rerun", "smoke", "balance-scale/c0.7/p0.5/d2"), 'has no row of "balance-scale/c0.7/p0.5/d2" yet'),
        (("report", "--out", "."), ". has no results; expected a folder that"),
    ],
)
def test_a_study_with_bad_arguments_ends_with_a_message(tmp_path, arguments, complaint):
    done = hardwood("study", *arguments, folder=tmp_path)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_an_interrupted_study_keeps_what_is_done_and_leaves_no_process_behind(tmp_path):
    command = [sys.executable, "-m", "hardwood", "study", "run", "smoke", "--processes", "2"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journal = tmp_path / "study/smoke/journal.jsonl"
    for _ in range(600):
        if journal.exists() and journal.read_bytes().count(b"\n") >= 3:
            break
        time.sleep(0.1)
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in complaint
    assert journal.read_bytes().count(b"\n") >= 3
    assert (tmp_path / "study/smoke/results.parquet").exists()
    assert psutil.wait_procs(children, timeout=120)[1] == []


HOSTILE = "\x1b[2J\x1b[HCONFIRMED\x9b31m\u202egnorw\u2066\x07\rno\nCONFIRMED from the data alone"
STEERING = ("\x1b", "\x9b", "\u202e", "\u2066", "\x07", "\r")


@pytest.fixture
def hostile(tmp_path):
    """A survey whose names, answers and labels steer terminals."""
    frame, y = survey(60)
    frame = frame[["party", "age"]].rename(columns={"party": f"party{HOSTILE}", "age": f"age{HOSTILE}"})
    frame.iloc[:, 0] = HOSTILE + frame.iloc[:, 0]
    frame.assign(vote=[HOSTILE + answer for answer in y]).to_csv(tmp_path / "survey.csv", index=False)
    return tmp_path


def test_nothing_that_a_table_holds_steers_the_terminal(hostile):
    said = [hardwood("fit", "survey.csv", "-t", "vote", "-d", 2, "--certainty", 0.8, folder=hostile)]
    assert said[0].returncode == 0
    for more in ([], ["--json"]):
        said += [
            hardwood("fit", "survey.csv", "-t", "vote", "-d", 2, "--certainty", 0.8, *more, folder=hostile),
            hardwood("audit", "model.json", "survey.csv", "-t", "vote", "--plausibility", 0.7, *more, folder=hostile),
            hardwood("check", "model.certificate.json", "survey.csv", "-t", "vote", *more, folder=hostile),
            hardwood("path", "survey.csv", "-t", "vote", "-d", 1, "--levels", "1,0.9", *more, folder=hostile),
            hardwood("calibrate", "survey.csv", "-t", "vote", *more, folder=hostile),
            hardwood("fit", "survey.csv", "-t", "nobody", *more, folder=hostile),
            hardwood("fit", "survey.csv", "-t", "vote", "--kind", f"party{HOSTILE}=ordinal", *more, folder=hostile),
        ]
    said.append(hardwood("predict", "model.json", "survey.csv", "--json", folder=hostile))
    for done in said:
        assert not [letter for letter in STEERING if letter in done.stdout + done.stderr]
    for done in said[:7]:  # a line that begins like one of ours is one of ours
        forged = [line for line in done.stdout.splitlines() if line.startswith("CONFIRMED")]
        assert len(forged) == (done is said[3])  # `check` itself
    assert json.loads(said[-1].stdout)["prediction"][0].startswith(HOSTILE)


def test_predictions_are_data_in_a_file_and_harmless_on_a_terminal(hostile, monkeypatch):
    hardwood("fit", "survey.csv", "-t", "vote", "-d", 1, folder=hostile)
    piped = hardwood("predict", "model.json", "survey.csv", folder=hostile)
    rows = list(csv.DictReader(io.StringIO(piped.stdout, newline="")))
    assert rows[0]["prediction"].startswith(HOSTILE)
    monkeypatch.setattr("hardwood.cli.console.is_terminal", lambda _stream: True)
    seen = hardwood("predict", "model.json", "survey.csv", folder=hostile)
    assert not [letter for letter in STEERING if letter in seen.stdout]


@pytest.mark.parametrize("field", ["solver", "status", "version", "stop_reason", "data_hash"])
def test_a_certificate_cannot_print_that_it_is_confirmed(folder, field):
    fitted(folder)
    path = folder / "model.certificate.json"
    certificate = json.loads(path.read_text())
    certificate[field] = f"x{HOSTILE}"
    path.write_text(json.dumps(certificate))
    done = hardwood("check", path.name, "survey.csv", "-t", "vote", folder=folder)
    assert not [letter for letter in STEERING if letter in done.stdout + done.stderr]
    assert sum(line.startswith("CONFIRMED") for line in done.stdout.splitlines()) == (done.returncode == 0)


def test_cells_that_begin_a_formula_are_escaped_on_request(tmp_path):
    rows = "".join(f"{k % 2},{'=1+1' if k % 2 else '@cmd'}\n" for k in range(12))
    (tmp_path / "s.csv").write_text(f"q,y\n{rows}")
    assert hardwood("fit", "s.csv", "-t", "y", "-d", 1, folder=tmp_path).returncode == 0
    plain = hardwood("predict", "model.json", "s.csv", folder=tmp_path)
    assert plain.stdout.splitlines()[1:3] == ["@cmd", "=1+1"]
    escaped = hardwood("predict", "model.json", "s.csv", "--escape-formulas", "--margins", folder=tmp_path)
    assert [line.split(",")[0] for line in escaped.stdout.splitlines()[1:3]] == ["'@cmd", "'=1+1"]
    hardwood("predict", "model.json", "s.csv", "--escape-formulas", "-o", "out.csv", folder=tmp_path)
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == "'@cmd"


def nested(depth):
    node = {"label": "yes"}
    for _ in range(depth):
        node = {"feature": "age", "test": "<=", "value": 1, "left": node, "right": {"label": "no"}}
    return node


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda model: model["tree"].update(root=nested(400)), "the tree is nested more than 200 levels deep"),
        (lambda model: model["shifts"].update(certainty={"pairs": 3}), '"pairs": 3; expected a list of [name, value]'),
        (lambda model: model["shifts"].update(certainty={"pairs": [[[1], 2]]}), "expected a list of [name, value]"),
        (lambda model: model["shifts"].update(budget=10**400), "model.json: "),
        (lambda model: model["shifts"].update(plausibility="x"), "plausibility is 'x'"),
        (lambda model: model["tree"]["root"].update(value=10**30), "model.json: "),
        (lambda model: model.update(leaf_counts=[[10**30]]), "leaf_counts do not fit the tree"),
        (lambda model: model["shifts"].update(certainty={"age": 3.0}), 'model.json: certainty["age"] is 3.0'),
        (lambda model: model["parameters"].update(missing=None), "model.json: missing is None; expected one of"),
        (lambda model: model["parameters"].update(max_depth="x"), "model.json: max_depth is 'x'"),
    ],
)
def test_a_damaged_model_is_one_error_with_the_name_of_the_file(folder, edit, message):
    frame, y = survey()
    RobustTreeClassifier(1).fit(frame[["age"]], y).save(folder / "model.json")
    model = json.loads((folder / "model.json").read_text())
    edit(model)
    (folder / "model.json").write_text(json.dumps(model))
    done = hardwood("predict", "model.json", "survey.csv", "--margins", folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "model.json" in done.stderr


@pytest.mark.parametrize(
    "text", ["[" * 900 + "]" * 900, "[" * 100_000, '{"a": ' * 900 + "1" + "}" * 900, "1" * 5000, "1e999", "NaN", "\x00"]
)
def test_text_that_is_no_model_is_one_error_with_the_name_of_the_file(folder, text):
    (folder / "model.json").write_text(text)
    for command in (["predict", "model.json", "survey.csv"], ["audit", "model.json", "survey.csv", "-t", "vote"]):
        done = hardwood(*command, folder=folder)
        assert done.returncode == 2
        assert "model.json" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_header_in_another_encoding_names_it_and_the_remedy(tmp_path):
    (tmp_path / "latin.csv").write_bytes("Größe,vote\n1,A\n2,B\n".encode("latin-1"))
    done = hardwood("fit", "latin.csv", "-t", "vote", folder=tmp_path)
    assert done.returncode == 2
    assert "its first line, with the names of the columns, cannot be read; it looks like Windows-1252" in done.stderr
    assert "iconv -f WINDOWS-1252 -t UTF-8 latin.csv" in done.stderr


def test_the_memory_is_limited_by_an_option_that_the_message_names(folder):
    done = hardwood("fit", "survey.csv", "-t", "vote", "--memory-limit", "10KB", folder=folder)
    assert done.returncode == 2
    assert "hardwood: --memory-limit is 10KB; the engine needs" in done.stderr
    assert "--kind " in done.stderr
    assert hardwood("fit", "survey.csv", "-t", "vote", "-d", 1, "--memory-limit", "1GB", folder=folder).returncode == 0
    assert (
        "--memory-limit is 'much'"
        in hardwood("fit", "survey.csv", "-t", "vote", "--memory-limit", "much", folder=folder).stderr
    )


def hard_survey(folder):
    values, y, _ = small_table(1, n=400, n_values=4, n_columns=8, n_classes=3)
    pd.DataFrame(values).add_prefix("q").assign(y=y).to_csv(folder / "hard.csv", index=False)


def interrupted(*arguments, folder, after=0.0, at_first_word=False):
    """Run a command and press Ctrl-C after some seconds, or after the first line that it says about its progress."""
    command = [sys.executable, "-m", "hardwood", *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(after)
        if at_first_word:
            assert process.stderr.readline().startswith("plausibility")
        process.send_signal(signal.SIGINT)
        printed, told = process.communicate(timeout=120)
    return Done(process.returncode, printed, told)


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.slow
@pytest.mark.parametrize("loaded", ["hardwood", "rich", "typer", "numpy", "hardwood.cli.app", "pyarrow", "sklearn"])
def test_ctrl_c_while_libraries_are_loaded_ends_without_a_traceback(tmp_path, loaded):
    """Python tells what it has imported; Ctrl-C comes after a certain package, somewhere in the first seconds."""
    hard_survey(tmp_path)
    command = [sys.executable, "-X", "importtime", "-m", "hardwood", "fit", "hard.csv", "-t", "y", "-d", "4"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.split("|")[-1].strip() == loaded:
                break
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=120)[1]
    if loaded == "hardwood":  # the package itself is loaded before its first line of code can listen
        assert process.returncode in (130, -signal.SIGINT, 1)
        return
    assert process.returncode == 130
    assert "Traceback" not in told


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_during_a_path_ends_it_with_the_levels_that_are_there(tmp_path, jobs):
    hard_survey(tmp_path)
    options = ["-t", "y", "-d", "6", "--certainty", "0.6", "--levels", "0.8,0.75,0.7,0.65,0.6", "-j", jobs]
    done = interrupted("path", "hard.csv", *options, "--time-limit", "4", folder=tmp_path, at_first_word=True)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    if jobs == "1":
        assert "interrupted: the levels so far are all there is" in done.stderr
        assert 2 <= len(done.stdout.splitlines()) <= 3  # a head, the level that was learnt, one that was interrupted


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.slow
def test_ctrl_c_during_a_report_writes_none(tmp_path):
    hard_survey(tmp_path)
    options = ["-t", "y", "-d", "6", "--certainty", "0.6", "--time-limit", "1"]
    assert process("fit", "hard.csv", *options, folder=tmp_path).returncode == 0
    done = interrupted(
        "report", "model.json", "hard.csv", "-t", "y", "--levels", "0.9,0.8", folder=tmp_path, after=10.0
    )
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize("number", ["10**400", "1e308", "-1", "10**11"])
@pytest.mark.parametrize("field", ["objective", "objective_bound", "budget", "branch_penalty", "max_depth", "seconds"])
def test_senseless_numbers_in_a_certificate_are_no_crash(folder, field, number):
    frame, y = survey()
    RobustTreeClassifier(1).fit(frame[["age"]], y).save(folder / "model.json")
    path = folder / "model.certificate.json"
    certificate = json.loads(path.read_text())
    certificate[field] = eval(number)
    path.write_text(json.dumps(certificate))
    done = hardwood("check", path.name, "survey.csv", "-t", "vote", folder=folder)
    harmless = field == "seconds" and number in ("-1", "10**11")  # whatever it took
    assert done.returncode in ((0,) if harmless else (1, 2))
    assert done.returncode != 1 or done.stdout.startswith("NOT CONFIRMED")
    assert "Traceback" not in done.stderr


def test_a_long_head_line_may_be_cut_within_a_letter(folder):
    for pad in range(3):
        names = ["x" * pad + "ö", *("ö" * 200 + str(k) for k in range(250))]
        text = ",".join([*names, "vote"]) + "\n" + "\n".join(",".join([str(k % 3)] * 251 + ["no"]) for k in range(4))
        (folder / "wide.csv").write_text(text, encoding="utf-8")
        assert hardwood("calibrate", "wide.csv", "-t", "vote", folder=folder).returncode == 0


def test_a_column_name_in_another_encoding_is_named_wherever_it_stands(folder):
    (folder / "latin.csv").write_bytes('"a\nb",gr\xf6sse,vote\n1,2,no\n2,1,yes\n'.encode("latin-1"))
    done = hardwood("calibrate", "latin.csv", "-t", "vote", folder=folder)
    assert done.returncode == 2
    assert "latin.csv is not in UTF-8" in done.stderr
    assert "iconv" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")  # noqa: PTH110
def test_a_plot_on_a_full_disk_names_the_file_and_the_path_is_told_first(folder):
    (folder / "full.svg").symlink_to("/dev/full")
    arguments = ("path", "survey.csv", "-t", "vote", "--depth", "1", "--levels", "1,0.9", "--plot", "full.svg")
    done = hardwood(*arguments, folder=folder)
    assert done.returncode == 2
    assert "/dev/full" in done.stderr
    assert "0.9" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_command_in_the_background_of_a_shell_ignores_ctrl_c_from_the_start(folder):
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); import hardwood.__main__ as m; m.main()"
    command = [sys.executable, "-c", code, "--version"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder) as started:
        for _ in range(20):
            time.sleep(0.05)
            if started.poll() is not None:
                break
            started.send_signal(signal.SIGINT)
        printed, complaint = started.communicate(timeout=120)
    # Python itself listens until the first statement has run.
    assert started.returncode in (0, 1, -signal.SIGINT)
    assert started.returncode != 0 or printed.startswith("hardwood ")
    assert "interrupted" not in complaint


def test_a_budget_of_nothing_is_said(folder):
    fitted(folder)
    own, none = (
        hardwood("audit", "model.json", "survey.csv", "-t", "vote", "--json", *said, folder=folder)
        for said in ((), ("--budget", "0"))
    )
    own, none = (json.loads(done.stdout) for done in (own, none))
    assert none["worst_case_accuracy"] == none["nominal_accuracy"] > own["worst_case_accuracy"]


def test_ways_to_say_a_box(folder):
    fitted(folder)
    done = hardwood("audit", "model.json", "survey.csv", "-t", "vote", "--radius", "age=1", folder=folder)
    assert done.returncode == 0
    assert "radius" in done.stdout


@pytest.fixture
def coded(tmp_path):
    rng = np.random.default_rng(4)
    age = rng.integers(18, 80, 90)
    lines = [f"{a},{t},{'right' if a > 45 else 'left'}" for a, t in zip(age, rng.integers(1, 6, 90), strict=True)]
    lines[4] = lines[4].replace(lines[4].split(",")[0], "?", 1)
    (tmp_path / "survey.csv").write_text("age,trust,vote\n" + "\n".join(lines) + "\n")
    return tmp_path


def test_fit_says_how_the_table_was_read_and_takes_codes(coded):
    first = hardwood("fit", "survey.csv", "-t", "vote", "-d", 1, folder=coded)
    assert "column \"age\" holds numbers and 1 x '?'" in first.stderr
    assert "--na '?'" in first.stderr
    second = hardwood("fit", "survey.csv", "-t", "vote", "-d", 1, "--na", "?", folder=coded)
    assert second.returncode == 2
    assert "--drop-missing leaves such rows out" in second.stderr
    done = hardwood("fit", "survey.csv", "-t", "vote", "-d", 1, "--na", "?", "--drop-missing", folder=coded)
    assert "1 of 90 rows have no answer in some column and are left out" in done.stderr
    assert "survey.csv: 89 rows and 2 columns; the target vote has 2 classes (left, right)" in done.stderr
    assert "age     integer" in done.stderr
    kept = hardwood("fit", "survey.csv", "-t", "vote", "-d", 1, "--na", "?", "--missing", "category", folder=coded)
    assert kept.returncode == 0
    checked = hardwood("check", "model.certificate.json", "survey.csv", "-t", "vote", "--na", "?", folder=coded)
    assert "CONFIRMED" in checked.stdout
    assert hardwood("predict", "model.json", "survey.csv", folder=coded).returncode == 0


def test_leaves_of_a_least_size_from_the_command_line(folder):
    done = hardwood("fit", "survey.csv", "-t", "vote", "--min-samples-leaf", 20, folder=folder)
    assert "with at least 20 rows in each leaf" in done.stdout


def test_calibrate_explains_itself(folder):
    done = hardwood("calibrate", "survey.csv", "--drop", "vote", folder=folder)
    assert "expected changes" in done.stdout
    assert "A lower plausibility pays for more." in done.stdout
    assert "A column with many answers is dearer to change" in done.stdout


def test_what_fit_left_out_can_be_left_out_again(coded):
    words = ("survey.csv", "-t", "vote")
    assert hardwood("fit", *words, "-d", 1, "--na", "?", "--drop-missing", folder=coded).returncode == 0
    checked = hardwood("check", "model.certificate.json", *words, "--na", "?", "--drop-missing", folder=coded)
    assert "CONFIRMED" in checked.stdout
    audited = hardwood("audit", "model.json", *words, "--drop-missing", folder=coded)
    assert "89 samples" in audited.stdout
    assert hardwood("report", "model.json", *words, "--drop-missing", folder=coded).returncode == 0
