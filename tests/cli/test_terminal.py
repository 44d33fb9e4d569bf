"""Text from tables and files cannot control the terminal or a spreadsheet."""

import csv
import io
import json
import os

import pytest

from tests.commands import fitted, hardwood, process
from tests.surveys import survey

HOSTILE = "\x1b[2J\x1b[HCONFIRMED\x9b31m\u202egnorw\u2066\x07\rno\nCONFIRMED from the data alone"


CONTROLS = ("\x1b", "\x9b", "\u202e", "\u2066", "\x07", "\r")


@pytest.fixture
def hostile(tmp_path):
    """A survey whose names, values and labels hold control characters."""
    frame, y = survey(60)
    frame = frame[["party", "age"]].rename(columns={"party": f"party{HOSTILE}", "age": f"age{HOSTILE}"})
    frame.iloc[:, 0] = HOSTILE + frame.iloc[:, 0]
    frame.assign(vote=[HOSTILE + label for label in y]).to_csv(tmp_path / "survey.csv", index=False)
    return tmp_path


def test_content_of_a_table_cannot_control_the_terminal(hostile):
    runs = [hardwood("fit", "survey.csv", "-t", "vote", "-d", 2, "--certainty", 0.8, folder=hostile)]
    assert runs[0].returncode == 0
    for more in ([], ["--json"]):
        runs += [
            hardwood("fit", "survey.csv", "-t", "vote", "-d", 2, "--certainty", 0.8, *more, folder=hostile),
            hardwood("audit", "model.json", "survey.csv", "-t", "vote", "--plausibility", 0.7, *more, folder=hostile),
            hardwood("check", "model.certificate.json", "survey.csv", "-t", "vote", *more, folder=hostile),
            hardwood("path", "survey.csv", "-t", "vote", "-d", 1, "--levels", "1,0.9", *more, folder=hostile),
            hardwood("calibrate", "survey.csv", "-t", "vote", *more, folder=hostile),
            hardwood("fit", "survey.csv", "-t", "unknown", *more, folder=hostile),
            hardwood("fit", "survey.csv", "-t", "vote", "--kind", f"party{HOSTILE}=ordinal", *more, folder=hostile),
        ]
    runs.append(hardwood("predict", "model.json", "survey.csv", "--json", folder=hostile))
    for done in runs:
        assert not [letter for letter in CONTROLS if letter in done.stdout + done.stderr]
    for done in runs[:7]:  # only hardwood itself can begin a line like this
        forged = [line for line in done.stdout.splitlines() if line.startswith("CONFIRMED")]
        assert len(forged) == (done is runs[3])  # `check` itself
    assert json.loads(runs[-1].stdout)["prediction"][0].startswith(HOSTILE)


def test_predictions_are_unchanged_in_a_file_and_escaped_on_a_terminal(hostile, monkeypatch):
    hardwood("fit", "survey.csv", "-t", "vote", "-d", 1, folder=hostile)
    piped = hardwood("predict", "model.json", "survey.csv", folder=hostile)
    rows = list(csv.DictReader(io.StringIO(piped.stdout, newline="")))
    assert rows[0]["prediction"].startswith(HOSTILE)
    monkeypatch.setattr("hardwood.cli.console.is_terminal", lambda _stream: True)
    seen = hardwood("predict", "model.json", "survey.csv", folder=hostile)
    assert not [letter for letter in CONTROLS if letter in seen.stdout]


@pytest.mark.parametrize("field", ["solver", "status", "version", "stop_reason", "data_hash"])
def test_certificate_cannot_print_that_it_is_confirmed(folder, field):
    fitted(folder)
    path = folder / "model.certificate.json"
    certificate = json.loads(path.read_text())
    certificate[field] = f"x{HOSTILE}"
    path.write_text(json.dumps(certificate))
    done = hardwood("check", path.name, "survey.csv", "-t", "vote", folder=folder)
    assert not [letter for letter in CONTROLS if letter in done.stdout + done.stderr]
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


@pytest.mark.slow
def test_terminal_without_box_characters_gets_question_marks(folder):
    poor = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = process("fit", "survey.csv", "-t", "vote", "-d", 1, folder=folder, env=poor)
    assert done.returncode == 0
    assert "?? yes" in done.stdout
