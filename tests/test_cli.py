import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import psutil
import pytest

from hardwood import RobustTreeClassifier
from problems import small_table
from surveys import survey


def hardwood(*arguments, folder):
    """Run the command as a process, as people do."""
    command = [sys.executable, "-m", "hardwood", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def folder(tmp_path):
    frame, y = survey()
    frame.assign(vote=y).to_csv(tmp_path / "survey.csv", index=False)
    return tmp_path


def fitted(folder, *options):
    done = hardwood("fit", "survey.csv", "--target", "vote", "--depth", 2, *options, folder=folder)
    assert done.returncode == 0, done.stderr
    return done


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
        (["fit", "survey.csv", "-t", "vote", "--solver", "cplex"], 'solver is "cplex"'),
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
    model["tree"]["root"]["value"] = "right"
    (folder / "model.json").write_text(json.dumps(model))
    done = hardwood("check", path.name, "survey.csv", "-t", "vote", "--model", "model.json", folder=folder)
    assert "is not the tree of the certificate" in done.stdout


def test_help_has_examples():
    for command in ("fit", "predict", "audit", "path", "calibrate", "check"):
        text = hardwood(command, "--help", folder=".").stdout
        assert f"Example: hardwood {command}" in text
    assert hardwood("--version", folder=".").stdout.startswith("hardwood 0.")


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_ctrl_c_during_fit_keeps_the_best_tree(tmp_path):
    values, y, _ = small_table(1, n=400, n_values=4, n_columns=8, n_classes=3)
    pd.DataFrame(values).add_prefix("q").assign(y=y).to_csv(tmp_path / "hard.csv", index=False)
    command = [sys.executable, "-m", "hardwood", "fit", "hard.csv", "-t", "y", "-d", "4", "--certainty", "0.6"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert "at most" in process.stderr.readline()
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
    assert "q:ok: = left\n:up:?" in done.stdout


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


def test_a_terminal_without_lines_gets_question_marks(folder):
    command = [sys.executable, "-m", "hardwood", "fit", "survey.csv", "-t", "vote", "-d", "1"]
    poor = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=poor)
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


def test_the_smoke_study_runs_from_end_to_end_anywhere(tmp_path):
    listed = hardwood("study", "list", folder=tmp_path)
    assert "paper       1536 instances of 12 tables" in listed.stdout
    done = hardwood("study", "run", "smoke", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "48 of 48 instances are in study/smoke/results.parquet" in done.stdout
    assert "54 of 54; about 0 minutes left" in done.stderr
    rows = pd.read_parquet(tmp_path / "study/smoke/results.parquet")
    assert len(rows) == 48
    assert set(rows["outcome"]) == {"finished"}
    at_depth_2 = rows[rows["depth"] == 2]
    assert set(at_depth_2["robust_status"]) == {"optimal"}
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
    assert psutil.wait_procs(children, timeout=10)[1] == []
