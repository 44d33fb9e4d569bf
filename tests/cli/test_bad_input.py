"""Bad input: exit code 2 and a message, never a traceback."""

import json
import os

import pandas as pd
import pytest

from hardwood import RobustTreeClassifier
from tests.commands import fitted, hardwood
from tests.surveys import survey


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--weight", "weigth"], '--weight is "weigth"; survey.csv has the columns'),
        (["--weight", "vote"], '--weight is "vote"'),
        (["--weight", "party"], "--weight is"),
        (["--class-weight", "maybe=2"], "--class-weight is 'maybe'; it is no class"),
        (["--class-weight", "fair"], '--class-weight is "fair"; expected column=value'),
        (["--measured", "party=nowhere.csv"], "nowhere.csv is not a file"),
        (["--measured", "unknown=survey.csv"], '--measured names the column "unknown"'),
        (
            ["--measured", "party=survey.csv"],
            "expected a first column of values and one further column for each of them",
        ),
        (["--missing-certainty", "age=0.2"], ""),
        (["--missing-certainty", "unknown=0.9"], '--missing-certainty names the column "unknown"'),
    ],
)
def test_invalid_weights_and_measured_tables_are_refused(folder, options, message):
    done = hardwood("fit", "survey.csv", "--target", "vote", "--depth", 1, *options, folder=folder)
    if not message:  # no value is missing, so this certainty is not used
        assert done.returncode == 0
        return
    assert done.returncode == 2
    assert message in done.stderr


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
        (["audit", "edited.json", "survey.csv", "-t", "vote"], "the feature at root is 'unknown'"),
    ],
)
def test_bad_input_ends_with_a_message_and_exit_code_2(folder, arguments, message):
    (folder / "binary.csv").write_bytes(b"a,vote\n\xff\xfe\x00,1\n1,2,3\n")
    (folder / "broken.parquet").write_bytes(b"PAR1 nothing here")
    model = RobustTreeClassifier(1).fit(*survey())
    model.save(folder / "edited.json")
    edited = json.loads((folder / "edited.json").read_text())
    edited["tree"]["root"]["feature"] = "unknown"
    (folder / "edited.json").write_text(json.dumps(edited))
    done = hardwood(*arguments, folder=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


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
def test_bad_files_and_outputs_end_with_a_message(folder, arguments, message):
    (folder / "twice.csv").write_text("a,vote,vote\n1,A,A\n2,B,B\n")
    (folder / "latin.csv").write_bytes("a,vote\nMünchen,1\nBerlin,2\n".encode("latin-1"))
    (folder / "wide.csv").write_text("a,vote\n1,1\n2,2\n", encoding="utf-16")
    before = (folder / "survey.csv").read_text()
    done = hardwood(*arguments, folder=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert (folder / "survey.csv").read_text() == before


def test_table_without_a_column_of_the_model_is_refused(folder):
    fitted(folder)
    pd.read_csv(folder / "survey.csv").drop(columns="party").to_csv(folder / "less.csv", index=False)
    done = hardwood("predict", "model.json", "less.csv", folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the table lacks the columns ['party']" in done.stderr


def test_missing_target_is_refused(folder):
    frame = pd.read_csv(folder / "survey.csv")
    frame.loc[5, "vote"] = None
    frame.to_csv(folder / "survey.csv", index=False)
    done = hardwood("fit", "survey.csv", "-t", "vote", folder=folder)
    assert done.returncode == 2
    assert 'the target "vote" is missing in row 5' in done.stderr


@pytest.mark.filterwarnings("always:.* is about another tree")
def test_edited_certificate_is_not_confirmed(folder):
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


def nested_tree(depth):
    node = {"label": "yes"}
    for _ in range(depth):
        node = {"feature": "age", "comparison": "<=", "value": 1, "left": node, "right": {"label": "no"}}
    return node


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda model: model["tree"].update(root=nested_tree(400)),
            "the tree is nested more than 200 levels deep",
        ),
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
def test_damaged_model_gives_one_error_that_names_the_file(folder, edit, message):
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
def test_text_that_is_no_model_gives_one_error_that_names_the_file(folder, text):
    (folder / "model.json").write_text(text)
    for command in (["predict", "model.json", "survey.csv"], ["audit", "model.json", "survey.csv", "-t", "vote"]):
        done = hardwood(*command, folder=folder)
        assert done.returncode == 2
        assert "model.json" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_memory_limit_error_names_the_option(folder):
    done = hardwood("fit", "survey.csv", "-t", "vote", "--memory-limit", "10KB", folder=folder)
    assert done.returncode == 2
    assert "hardwood: --memory-limit is 10KB; the solver needs" in done.stderr
    assert "--kind " in done.stderr
    assert hardwood("fit", "survey.csv", "-t", "vote", "-d", 1, "--memory-limit", "1GB", folder=folder).returncode == 0
    assert (
        "--memory-limit is 'much'"
        in hardwood("fit", "survey.csv", "-t", "vote", "--memory-limit", "much", folder=folder).stderr
    )


@pytest.mark.parametrize("number", ["10**400", "1e308", "-1", "10**11"])
@pytest.mark.parametrize("field", ["objective", "objective_bound", "budget", "branch_penalty", "max_depth", "seconds"])
def test_invalid_numbers_in_a_certificate_do_not_crash(folder, field, number):
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


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")  # noqa: PTH110
def test_plot_on_a_full_disk_names_the_file_after_printing_the_path(folder):
    (folder / "full.svg").symlink_to("/dev/full")
    arguments = ("path", "survey.csv", "-t", "vote", "--depth", "1", "--levels", "1,0.9", "--plot", "full.svg")
    done = hardwood(*arguments, folder=folder)
    assert done.returncode == 2
    assert "/dev/full" in done.stderr
    assert "0.9" in done.stdout


@pytest.mark.parametrize("option", [("--budget", 3), ("--certainty", 0.8), ("--plausibility", 0.9), ("--cost", 1)])
def test_boxes_have_neither_costs_nor_a_budget(folder, option):
    done = hardwood("fit", "survey.csv", "-t", "vote", "--radius", 1, *option, folder=folder)
    assert done.returncode == 2
    assert f"--radius and {option[0]} are both given" in done.stderr
