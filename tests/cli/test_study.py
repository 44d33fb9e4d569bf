"""The command `hardwood study`."""

import json
import signal
import subprocess
import sys
import time

import pandas as pd
import psutil
import pytest

from tests.commands import hardwood, process


@pytest.mark.slow
def test_smoke_study_runs_from_end_to_end(tmp_path):
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
    assert "## Comparison with the paper" in (tmp_path / "study/smoke/summary.md").read_text()
    for name in ("gain", "price-and-size", "solved"):
        assert (tmp_path / f"study/smoke/{name}.svg").read_text().startswith("<?xml")

    again = hardwood("study", "run", "smoke", folder=tmp_path)
    assert again.returncode == 0
    assert " of 54" not in again.stderr
    name = rows["id"][7]
    repeated = hardwood("study", "rerun", "smoke", name, folder=tmp_path)
    assert (repeated.returncode, repeated.stdout) == (0, f"{name}: the same row, except for times\n")
    row = json.loads(hardwood("study", "rerun", "smoke", name, "--json", folder=tmp_path).stdout)
    assert (row["row"]["id"], row["differing"]) == (name, {})
    reported = hardwood("study", "report", "--out", "study/smoke", folder=tmp_path)
    assert "written: study/smoke/solved.svg" in reported.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "big"), "there is no study big; expected one of"),
        (("run", "smoke", "--processes", "-3"), "--processes is -3; expected a number of processes"),
        (
            ("run", "smoke", "--processes", "2", "--scheduler", "tcp://x:1"),
            "--scheduler and --processes are both given",
        ),
        (("run", "smoke", "--scheduler", "nonsense"), "--scheduler is nonsense; no Dask scheduler answers there"),
        (("run", "paper", "--data", "nowhere"), "the data folder nowhere does not exist"),
        (
            ("rerun", "smoke", "balance-scale/c0.7/p0.5/d2"),
            'has no row of "balance-scale/c0.7/p0.5/d2"; run the study first',
        ),
        (("report", "--out", "."), ". has no results; expected a folder that"),
    ],
)
def test_study_with_bad_arguments_ends_with_a_message(tmp_path, arguments, message):
    done = hardwood("study", *arguments, folder=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_interrupted_study_keeps_finished_instances_and_leaves_no_process(tmp_path):
    command = [sys.executable, "-m", "hardwood", "study", "run", "smoke", "--processes", "2"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journal = tmp_path / "study/smoke/journal.jsonl"
    for _ in range(600):
        if journal.exists() and journal.read_bytes().count(b"\n") >= 3:
            break
        time.sleep(0.1)
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert journal.read_bytes().count(b"\n") >= 3
    assert (tmp_path / "study/smoke/results.parquet").exists()
    assert psutil.wait_procs(children, timeout=120)[1] == []
