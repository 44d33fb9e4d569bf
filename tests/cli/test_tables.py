"""Tables that commands read: formats, encodings, missing values, chunks."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.commands import fitted, hardwood
from tests.surveys import survey


@pytest.fixture
def coded(tmp_path):
    rng = np.random.default_rng(4)
    age = rng.integers(18, 80, 90)
    lines = [f"{a},{t},{'right' if a > 45 else 'left'}" for a, t in zip(age, rng.integers(1, 6, 90), strict=True)]
    lines[4] = lines[4].replace(lines[4].split(",")[0], "?", 1)
    (tmp_path / "survey.csv").write_text("age,trust,vote\n" + "\n".join(lines) + "\n")
    return tmp_path


def test_folder_of_parquet_files_is_read_in_chunks(folder):
    fitted(folder)
    frame = pd.read_csv(folder / "survey.csv")
    (folder / "chunks").mkdir()
    for k, part in enumerate((frame[:50], frame[50:])):
        part.to_parquet(folder / "chunks" / f"{k}.parquet", index=False)
    whole, chunks = (
        hardwood("audit", "model.json", data, "-t", "vote", "--json", folder=folder)
        for data in ("survey.csv", "chunks")
    )
    assert (whole.returncode, chunks.returncode) == (0, 0)
    numbers = [json.loads(done.stdout) for done in (whole, chunks)]
    assert numbers[0]["worst_case_accuracy"] == numbers[1]["worst_case_accuracy"]
    checked = hardwood("check", "model.certificate.json", "chunks", "-t", "vote", folder=folder)
    assert "CONFIRMED from the data alone" in checked.stdout
    for options in ([], ["--json", "-o", "x.csv"], ["-o", "chunks/x.csv"]):
        assert hardwood("predict", "model.json", "chunks", *options, folder=folder).returncode == 2
    done = hardwood("predict", "model.json", "chunks", "--margins", "-o", "chunks.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    hardwood("predict", "model.json", "survey.csv", "--margins", "-o", "whole.csv", folder=folder)
    assert (folder / "chunks.csv").read_text() == (folder / "whole.csv").read_text()


def test_parquet_is_read_and_csv_is_written(folder):
    pd.read_csv(folder / "survey.csv").to_parquet(folder / "survey.parquet")
    fitted(folder)
    done = hardwood("predict", "model.json", "survey.parquet", "--output", "out.csv", folder=folder)
    assert done.stdout == "written: out.csv\n"
    assert len((folder / "out.csv").read_text().splitlines()) == 121


def test_missing_values_are_refused_or_become_a_category(folder):
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


def test_fit_prints_the_column_summary_and_accepts_missing_codes(coded):
    first = hardwood("fit", "survey.csv", "-t", "vote", "-d", 1, folder=coded)
    assert "column \"age\" holds numbers and 1 x '?'" in first.stderr
    assert "--na '?'" in first.stderr
    second = hardwood("fit", "survey.csv", "-t", "vote", "-d", 1, "--na", "?", folder=coded)
    assert second.returncode == 2
    assert "--drop-missing leaves such rows out" in second.stderr
    done = hardwood("fit", "survey.csv", "-t", "vote", "-d", 1, "--na", "?", "--drop-missing", folder=coded)
    assert "1 of 90 rows have a missing value and are left out" in done.stderr
    assert "survey.csv: 89 rows and 2 columns; the target vote has 2 classes (left, right)" in done.stderr
    assert "age     integer" in done.stderr
    kept = hardwood("fit", "survey.csv", "-t", "vote", "-d", 1, "--na", "?", "--missing", "category", folder=coded)
    assert kept.returncode == 0
    checked = hardwood("check", "model.certificate.json", "survey.csv", "-t", "vote", "--na", "?", folder=coded)
    assert "CONFIRMED" in checked.stdout
    assert hardwood("predict", "model.json", "survey.csv", folder=coded).returncode == 0


def test_rows_that_fit_left_out_can_be_left_out_by_other_commands(coded):
    table = ("survey.csv", "-t", "vote")
    assert hardwood("fit", *table, "-d", 1, "--na", "?", "--drop-missing", folder=coded).returncode == 0
    checked = hardwood("check", "model.certificate.json", *table, "--na", "?", "--drop-missing", folder=coded)
    assert "CONFIRMED" in checked.stdout
    audited = hardwood("audit", "model.json", *table, "--drop-missing", folder=coded)
    assert "89 samples" in audited.stdout
    done = hardwood("report", "model.json", *table, "--drop-missing", "--test", "survey.csv", folder=coded)
    assert done.returncode == 0, done.stderr


def test_missing_codes_are_read_in_chunks(folder):
    frame = pd.read_csv(folder / "survey.csv")
    frame.loc[::9, "age"] = -9
    frame.to_csv(folder / "survey.csv", index=False)
    fitted(folder, "--na=-9", "--missing", "category")
    (folder / "chunks").mkdir()
    for k, part in enumerate((frame[:50], frame[50:])):
        part.to_parquet(folder / "chunks" / f"{k}.parquet", index=False)
    for table in ("survey.csv", "chunks"):
        checked = hardwood("check", "model.certificate.json", table, "-t", "vote", "--na=-9", folder=folder)
        assert "CONFIRMED from the data alone" in checked.stdout


def test_a_test_table_of_a_path_is_read_as_the_training_table(tmp_path):
    (tmp_path / "train.csv").write_text("q,y\n" + "1,yes\n2,no\ndk,no\n" * 6)
    (tmp_path / "test.csv").write_text("q,y\n" + "1,yes\n2,no\n" * 3)
    done = hardwood("path", "train.csv", "-t", "y", "-d", 1, "--test", "test.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr


def test_type_of_a_column_does_not_depend_on_the_other_rows(tmp_path):
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
def test_other_separators_are_detected(folder, separator):
    frame = pd.read_csv(folder / "survey.csv")
    frame.to_csv(folder / "other.csv", index=False, sep=separator)
    done = hardwood("fit", "other.csv", "-t", "vote", "-d", 1, "--json", folder=folder)
    assert json.loads(done.stdout)["n_samples"] == 120


def test_quoted_newlines_and_unusual_names_are_read(tmp_path):
    frame, y = survey(3000)
    frame["q:ok:"] = frame["party"] + "\n:up:"
    frame[["q:ok:", "age"]].assign(y=y).to_csv(tmp_path / "s.csv", index=False)
    done = hardwood("fit", "s.csv", "-t", "y", "-d", 1, folder=tmp_path)
    assert "q:ok: = left\\n:up:?" in done.stdout  # in one line: a name cannot look like a line of ours


def test_header_in_another_encoding_names_it_and_the_remedy(tmp_path):
    (tmp_path / "latin.csv").write_bytes("Größe,vote\n1,A\n2,B\n".encode("latin-1"))
    done = hardwood("fit", "latin.csv", "-t", "vote", folder=tmp_path)
    assert done.returncode == 2
    assert "its first line, with the names of the columns, cannot be read; it looks like Windows-1252" in done.stderr
    assert "iconv -f WINDOWS-1252 -t UTF-8 latin.csv" in done.stderr


def test_long_header_may_be_cut_within_a_character(folder):
    for pad in range(3):
        names = ["x" * pad + "ö", *("ö" * 200 + str(k) for k in range(250))]
        text = ",".join([*names, "vote"]) + "\n" + "\n".join(",".join([str(k % 3)] * 251 + ["no"]) for k in range(4))
        (folder / "wide.csv").write_text(text, encoding="utf-8")
        assert hardwood("calibrate", "wide.csv", "-t", "vote", folder=folder).returncode == 0


def test_column_name_in_another_encoding_is_refused_on_any_line(folder):
    (folder / "latin.csv").write_bytes('"a\nb",gr\xf6sse,vote\n1,2,no\n2,1,yes\n'.encode("latin-1"))
    done = hardwood("calibrate", "latin.csv", "-t", "vote", folder=folder)
    assert done.returncode == 2
    assert "latin.csv is not in UTF-8" in done.stderr
    assert "iconv" in done.stderr
