"""Ctrl-C: exit code 130, no traceback, and results so far are kept."""

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from hardwood import RobustTreeClassifier
from tests.commands import Completed, process
from tests.problems import small_table


def hard_survey(folder):
    values, y, _ = small_table(1, n=400, n_values=4, n_columns=8, n_classes=3)
    pd.DataFrame(values).add_prefix("q").assign(y=y).to_csv(folder / "hard.csv", index=False)


def interrupted(*arguments, folder):
    """Run a command and press Ctrl-C after its first line of progress."""
    command = [sys.executable, "-m", "hardwood", *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr.readline().startswith("plausibility")
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=120)
    return Completed(process.returncode, stdout, stderr)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_ctrl_c_during_fit_keeps_the_best_tree(tmp_path):
    values, y, _ = small_table(1, n=400, n_values=4, n_columns=8, n_classes=3)
    pd.DataFrame(values).add_prefix("q").assign(y=y).to_csv(tmp_path / "hard.csv", index=False)
    command = [sys.executable, "-m", "hardwood", "fit", "hard.csv", "-t", "y", "-d", "6", "--certainty", "0.6"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert any("at most" in line for line in process.stderr)  # the column summary is printed first
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the best tree so far was kept" in stderr
    assert "written: model.json" in stdout
    certificate = RobustTreeClassifier.load(tmp_path / "model.json").certificate_
    assert (certificate.stop_reason, certificate.n_samples) == ("interrupted", 400)
    assert certificate.worst_case_correct <= certificate.upper_bound


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.slow
@pytest.mark.parametrize("loaded", ["hardwood", "rich", "typer", "numpy", "hardwood.cli.app", "pyarrow", "sklearn"])
def test_ctrl_c_while_libraries_are_loaded_ends_without_a_traceback(tmp_path, loaded):
    """Send Ctrl-C after the import of a package; Python prints each import."""
    hard_survey(tmp_path)
    command = [sys.executable, "-X", "importtime", "-m", "hardwood", "fit", "hard.csv", "-t", "y", "-d", "4"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.split("|")[-1].strip() == loaded:
                break
        process.send_signal(signal.SIGINT)
        stderr = process.communicate(timeout=120)[1]
    if loaded == "hardwood":  # the package is imported before its first line can set a handler
        assert process.returncode in (130, -signal.SIGINT, 1)
        return
    assert process.returncode == 130
    assert "Traceback" not in stderr


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_during_a_path_keeps_the_finished_levels(tmp_path, jobs):
    hard_survey(tmp_path)
    options = ["-t", "y", "-d", "6", "--certainty", "0.6", "--levels", "0.8,0.75,0.7,0.65,0.6", "-j", jobs]
    done = interrupted("path", "hard.csv", *options, "--time-limit", "4", folder=tmp_path)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    if jobs == "1":
        assert "interrupted: the path has only the levels that were finished" in done.stderr
        assert 2 <= len(done.stdout.splitlines()) <= 3  # a header, the finished level, and one that was interrupted


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.slow
def test_ctrl_c_during_a_report_writes_no_file(tmp_path):
    hard_survey(tmp_path)
    options = ["-t", "y", "-d", "6", "--certainty", "0.6", "--time-limit", "1"]
    assert process("fit", "hard.csv", *options, folder=tmp_path).returncode == 0
    options = ["-t", "y", "--levels", "0.8,0.75,0.7,0.65,0.6"]
    done = interrupted("report", "model.json", "hard.csv", *options, folder=tmp_path)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "report.html").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_command_in_the_background_of_a_shell_ignores_ctrl_c(folder):
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); import hardwood.__main__ as m; m.main()"
    command = [sys.executable, "-c", code, "--version"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder) as started:
        for _ in range(20):
            time.sleep(0.05)
            if started.poll() is not None:
                break
            started.send_signal(signal.SIGINT)
        stdout, stderr = started.communicate(timeout=120)
    # Python handles the signal itself until the first statement has run.
    assert started.returncode in (0, 1, -signal.SIGINT)
    assert started.returncode != 0 or stdout.startswith("hardwood ")
    assert "interrupted" not in stderr
