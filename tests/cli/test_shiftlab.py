"""The commands estimate and drift, and the coverage that calibrate prints."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.commands import fitted, hardwood


@pytest.fixture
def twice(folder):
    """The survey of the folder with identifiers, and the same people again, a little older, in another order."""
    first = pd.read_csv(folder / "survey.csv")
    first.insert(0, "id", np.arange(len(first)) + 100)
    first.to_csv(folder / "first.csv", index=False)
    second = first.assign(age=first["age"] + (np.arange(len(first)) % 6 == 0)).sample(frac=0.9, random_state=1)
    second.to_csv(folder / "second.csv", index=False)
    return folder


def test_certainty_is_estimated_from_two_files(twice):
    done = hardwood("estimate", "first.csv", "second.csv", "--on", "id", folder=twice)
    assert done.returncode == 0, done.stderr
    assert "all changes go up" in done.stdout
    assert "--direction age=up" in done.stdout
    (twice / "tables").mkdir()
    options = ("--drop", "age", "--tables", "tables", "--plot", "certainty.svg", "--json")
    done = hardwood("estimate", "first.csv", "second.csv", "--on", "id", *options, folder=twice)
    found = json.loads(done.stdout)
    assert found["linked"]
    assert "age" not in [column["name"] for column in found["columns"]]
    assert (twice / "certainty.svg").read_text().startswith("<?xml")
    name = found["columns"][0]["name"]
    measured = hardwood(
        "calibrate", "first.csv", "--measured", f"{name}=tables/{name}.csv", "--drop", "id", folder=twice
    )
    assert measured.returncode == 0, measured.stderr
    apart = hardwood("estimate", "first.csv", "second.csv", "--different-people", "--drop", "id", folder=twice)
    assert "a lower bound of change" in apart.stdout


def test_exit_code_of_drift(twice):
    fitted(twice, "--plausibility", "0.9")
    tables = ("model.json", "first.csv", "second.csv", "--on", "id")
    done = hardwood("drift", *tables, "--target", "vote", folder=twice)
    assert done.returncode in (0, 1)
    assert "accuracy then" in done.stdout
    within = hardwood("drift", *tables, "--plausibility", "0.01", "--json", folder=twice)
    assert within.returncode == 0
    assert json.loads(within.stdout)["status"] == "within"
    beyond = hardwood("drift", *tables, "--certainty", "0.999", "--plausibility", "0.9999", "--json", folder=twice)
    assert json.loads(beyond.stdout)["cost_of_all_columns"] > 0
    changed = pd.read_csv(twice / "second.csv")
    for column in ("party", "trust"):
        if column in changed:
            changed[column] = changed[column].to_numpy()[::-1]
    changed.to_csv(twice / "third.csv", index=False)
    far = hardwood("drift", "model.json", "first.csv", "third.csv", "--on", "id", folder=twice)
    assert far.returncode == 1, far.stderr
    assert far.stdout.startswith("BEYOND THE BUDGET")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("estimate", "first.csv", "second.csv"), "--on is not given; row i of both tables must be the same sample"),
        (("estimate", "first.csv", "second.csv", "--on", "name"), "--on is 'name'; the first table has no such column"),
        (("estimate", "first.csv", "second.csv", "--on", "id", "--weight", "w"), '--weight is "w"; the table has'),
        (("estimate", "first.csv", "nowhere.csv"), "nowhere.csv is not a file"),
        (("estimate", "first.csv", "second.csv", "--on", "id", "--tables", "none"), "expected a folder that exists"),
        (
            ("estimate", "first.csv", "second.csv", "--different-people", "--weight", "age"),
            "estimates only the least change",
        ),
        (("drift", "model.json", "first.csv", "second.csv"), "--on is not given"),
        (("drift", "model.json", "first.csv", "second.csv", "--on", "nope"), '--on is "nope"; the table has'),
        (
            ("estimate", "first.csv", "second.csv", "--on", "id", "--drop", "nope"),
            'neither table has the column "nope"',
        ),
        (
            ("drift", "model.json", "first.csv", "second.csv", "--on", "id", "-t", "other"),
            '--target is "other"; the table has the columns',
        ),
    ],
)
def test_tables_that_do_not_match_are_refused(twice, arguments, message):
    fitted(twice)
    done = hardwood(*arguments, folder=twice)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr


def test_calibrate_prints_the_coverage_of_the_budget(folder):
    done = hardwood("calibrate", "survey.csv", "--target", "vote", "--plausibility", "0.9", folder=folder)
    assert "stays within the budget" in done.stdout
    document = json.loads(hardwood("calibrate", "survey.csv", "--target", "vote", "--json", folder=folder).stdout)
    assert 0 <= document["coverage"]["coverage"] <= 1
    with_costs = hardwood("calibrate", "survey.csv", "--target", "vote", "--cost", "1", "--budget", "3", folder=folder)
    assert "stays within the budget" not in with_costs.stdout


def test_measured_tables_do_not_replace_an_input_or_each_other(tmp_path):
    for name in ("a.csv", "now.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n2,1\n1,1\n")
    done = hardwood("estimate", "a.csv", "now.csv", "--tables", ".", folder=tmp_path)
    assert done.returncode == 2
    assert "would overwrite an input" in done.stderr
    assert (tmp_path / "a.csv").read_text().startswith("a,b\n1,2")
    assert not (tmp_path / "b.csv").exists()
    (tmp_path / "tables").mkdir()
    for name in ("first.csv", "second.csv"):
        (tmp_path / name).write_text("a/b,a_b\n1,2\n2,1\n1,1\n")
    done = hardwood("estimate", "first.csv", "second.csv", "--tables", "tables", folder=tmp_path)
    assert done.returncode == 2
    assert "would both go to" in done.stderr
    assert not list((tmp_path / "tables").iterdir())
