"""Store, backends and runner: no result is lost, whatever fails."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from hardwood.data.datasets import load_dataset
from hardwood.experiments import backends
from hardwood.experiments.backends import (
    Outcome,
    TaskResult,
    in_this_process,
    local_processes,
    result_of,
    run_in_subprocess,
)
from hardwood.experiments.report import write_report
from hardwood.experiments.runner import _row, rerun, run_study
from hardwood.experiments.store import JOURNAL, RESULTS, Store, read_results
from hardwood.experiments.tasks import Task
from tests.studies import tiny_study, without_times

pytestmark = pytest.mark.slow  # starts processes
posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")


class StoppedError(Exception):
    """Ends a run from its progress listener."""


def stop_after(n):
    def listener(event):
        if event.done == n:
            raise StoppedError

    return listener


def workers():
    """Ids of the running worker processes that this process started; other children must not be killed."""
    found = set()
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):
            if child.status() != psutil.STATUS_ZOMBIE and backends.WORKER_MODULE in child.cmdline():
                found.add(child.pid)
    return found


def test_every_backend_gives_the_same_rows(finished, tmp_path):
    _, rows = finished
    assert len(rows) == 8
    assert {row["outcome"] for row in rows} == {"finished"}
    assert without_times(run_study(tiny_study(), tmp_path, local_processes(2))) == without_times(rows)


def test_rows_are_read_back_unchanged_from_parquet(finished):
    folder, rows = finished
    assert read_results(folder / RESULTS) == rows


def test_a_run_continues_where_another_stopped(finished, tmp_path):
    with pytest.raises(StoppedError):
        run_study(tiny_study(), tmp_path, in_this_process(), on_progress=stop_after(7))  # 4 ordinary trees, 3 rows
    kept = read_results(tmp_path / RESULTS)
    assert len(kept) == 3
    events = []
    rows = run_study(tiny_study(), tmp_path, in_this_process(), on_progress=events.append)
    assert [(event.done, event.total) for event in events] == [(k, 5) for k in range(1, 6)]
    assert without_times(rows) == without_times(finished[1])
    assert [row for row in rows if row["id"] in {row["id"] for row in kept}] == kept  # unchanged, including times
    again = []
    run_study(tiny_study(), tmp_path, in_this_process(), on_progress=again.append)
    assert again == []


def test_a_run_continues_from_the_parquet_file_alone(finished, tmp_path):
    with pytest.raises(StoppedError):
        run_study(tiny_study(), tmp_path, in_this_process(), on_progress=stop_after(9))
    (tmp_path / JOURNAL).unlink()
    kept = {row["id"] for row in read_results(tmp_path / RESULTS)}
    pairs = {(row["dataset"], row["depth"]) for row in read_results(tmp_path / RESULTS)}
    left = [instance for instance in tiny_study().instances if instance.id not in kept]
    unknown = {(instance.dataset, instance.depth) for instance in left} - pairs
    events = []
    rows = run_study(tiny_study(), tmp_path, in_this_process(), on_progress=events.append)
    assert events[-1].total == len(left) + len(unknown)  # ordinary trees of known pairs are taken from rows
    assert without_times(rows) == without_times(finished[1])


def test_rerunning_an_instance_gives_the_same_row(finished):
    folder, rows = finished
    for row in rows[::3]:
        new, differing = rerun(tiny_study(), folder, row["id"])
        assert differing == {}
        assert without_times([new]) == without_times([row])


def test_an_instance_stopped_by_time_is_reproduced_by_its_work(tmp_path):
    study = tiny_study(datasets=("balance-scale",), plausibilities=(0.75,), depths=(5,), time_limit=0.02)
    (row,) = run_study(study, tmp_path, in_this_process())
    assert (row["robust_stop_reason"], row["ordinary_stop_reason"]) == ("time_limit", "time_limit")
    assert rerun(study, tmp_path, row["id"])[1] == {}


def test_rerunning_reports_a_changed_row(finished, tmp_path):
    _, rows = finished
    store = Store(tmp_path)
    with store.writing():
        store.add({**rows[0], "robust_worst_expected": 0.123})
    differing = rerun(tiny_study(), tmp_path, rows[0]["id"])[1]
    assert list(differing) == ["robust_worst_expected"]
    assert differing["robust_worst_expected"][0] == 0.123
    with pytest.raises(ValueError, match=r"has no row of"):
        rerun(tiny_study(), tmp_path, rows[1]["id"])


def test_rows_of_other_settings_are_refused(finished):
    folder, rows = finished
    before = (folder / RESULTS).read_bytes()
    with pytest.raises(ValueError, match=r"holds rows with n_tables 40, the study has 41; .* give another folder"):
        run_study(tiny_study(n_tables=41), folder, in_this_process())
    assert (folder / RESULTS).read_bytes() == before
    assert (
        run_study(tiny_study(depths=(1,)), folder, in_this_process()) == rows
    )  # a smaller grid with the same settings


@posix
def test_a_killed_process_is_an_outcome():
    task = Task(_slow_dataset(), 5, tiny_study(time_limit=60.0).settings)
    result = _while_running(task, signal.SIGKILL)
    assert (result.outcome, result.message) == ("crashed", "ended by SIGKILL")


@posix
def test_a_hung_process_is_ended_and_an_outcome():
    task = Task(_slow_dataset(), 5, tiny_study(time_limit=0.01, patience=3.0).settings)
    result = _while_running(task, signal.SIGSTOP)
    assert result.outcome == "hung"
    assert "no result after 3.07 seconds" in result.message


def test_an_error_is_an_outcome_with_its_message():
    task = Task(_slow_dataset(), -1, tiny_study().settings)
    result = run_in_subprocess(task)
    assert result.outcome == "failed"
    assert "max_depth is -1; it must be a whole number >= 0" in result.message
    with in_this_process() as backend:
        assert result_of(backend.executor.submit(backend.run, task)).outcome == "failed"


@posix
def test_crashes_are_recorded_and_repeated_only_with_retry(finished, tmp_path):
    study = tiny_study()

    def kill_until_one_crashes(event):
        if event.done >= 4 and not event.troubled:
            for victim in workers():
                os.kill(victim, signal.SIGKILL)

    rows = run_study(study, tmp_path, local_processes(2), on_progress=kill_until_one_crashes)
    crashed = [row for row in rows if row["outcome"] == "crashed"]
    assert 1 <= len(crashed) < 8
    assert len(rows) == 8
    assert "robust_tree" not in crashed[0]
    assert run_study(study, tmp_path, local_processes(2)) == rows
    with pytest.raises(ValueError, match=r"did not finish .crashed: ended by SIGKILL.; run the study again with retry"):
        rerun(study, tmp_path, crashed[0]["id"])
    repeated = run_study(study, tmp_path, local_processes(2), retry=True)
    assert without_times(repeated) == without_times(finished[1])


def test_an_instance_without_its_ordinary_tree_fails_with_the_reason(tmp_path, finished):
    store = Store(tmp_path)
    with store.writing():
        crashed = Task(load_dataset("balance-scale"), 2, tiny_study().settings)
        store.add(_row(crashed, TaskResult(Outcome.CRASHED, {}, "ended by SIGSEGV")))
    rows = run_study(tiny_study(), tmp_path, in_this_process())
    failed = [row for row in rows if row["outcome"] == "failed"]
    assert {(row["dataset"], row["depth"]) for row in failed} == {("balance-scale", 2)}
    assert failed[0]["message"] == "its ordinary tree: ended by SIGSEGV"
    repeated = run_study(tiny_study(), tmp_path, in_this_process(), retry=True)
    assert without_times(repeated) == without_times(finished[1])


def test_an_incomplete_last_line_is_ignored(finished, tmp_path):
    folder, rows = finished
    journal = (folder / JOURNAL).read_bytes()
    (tmp_path / JOURNAL).write_bytes(journal[:-100])
    assert len(Store(tmp_path).rows) == 11  # of 4 ordinary trees and 8 instances
    assert without_times(run_study(tiny_study(), tmp_path, in_this_process())) == without_times(rows)
    assert len(Store(tmp_path).rows) == 12


def test_a_damaged_line_is_named_and_nothing_is_written(finished, tmp_path):
    lines = (finished[0] / JOURNAL).read_bytes().splitlines(keepends=True)
    lines[6] = lines[6].replace(b"optimal", b"0ptimal", 1)
    (tmp_path / JOURNAL).write_bytes(b"".join(lines))
    with pytest.raises(ValueError, match=r"line 7, is damaged .its checksum is wrong.; nothing was changed"):
        run_study(tiny_study(), tmp_path, in_this_process())
    assert (tmp_path / JOURNAL).read_bytes() == b"".join(lines)
    (tmp_path / JOURNAL).write_bytes(b"".join(lines[:6] + lines[7:]))
    assert without_times(run_study(tiny_study(), tmp_path, in_this_process())) == without_times(finished[1])


def test_a_damaged_parquet_file_is_named_and_the_journal_replaces_it(finished, tmp_path):
    (tmp_path / JOURNAL).write_bytes((finished[0] / JOURNAL).read_bytes())
    (tmp_path / RESULTS).write_bytes((finished[0] / RESULTS).read_bytes()[:-50])
    with pytest.raises(ValueError, match=r"results.parquet cannot be read as Parquet .*no row is lost"):
        run_study(tiny_study(), tmp_path, in_this_process())
    (tmp_path / RESULTS).unlink()
    assert run_study(tiny_study(), tmp_path, in_this_process()) == finished[1]


def test_rows_that_another_run_added_are_kept(tmp_path):
    late = Store(tmp_path)
    early = Store(tmp_path)
    with early.writing():
        early.add({"id": "one"})
    with late.writing():
        late.add({"id": "two"})
    assert set(Store(tmp_path).rows) == {"one", "two"}


def test_ordinary_trees_of_another_split_are_not_used(tmp_path):
    with pytest.raises(StoppedError):
        run_study(tiny_study(), tmp_path, in_this_process(), on_progress=stop_after(2))
    with pytest.raises(ValueError, match=r"holds rows with seed 3, the study has 4"):
        run_study(tiny_study(seed=4), tmp_path, in_this_process())


def test_rows_of_another_table_are_refused(finished, tmp_path):
    store = Store(tmp_path)
    with store.writing():
        store.add({**finished[1][0], "table": "0badf00d"})
    with pytest.raises(ValueError, match=r"holds rows with table 0badf00d, the study has"):
        run_study(tiny_study(), tmp_path, in_this_process())


@posix
def test_a_worker_ends_with_its_parent_process(tmp_path):
    task = Task(_slow_dataset(), 5, tiny_study(time_limit=60.0).settings)
    (tmp_path / "task.json").write_text(task.to_json())
    code = """
import os, subprocess, sys
command = [sys.executable, "-m", "hardwood.experiments.worker", str(os.getpid())]
print(subprocess.Popen(command, stdin=open(sys.argv[1]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)
"""
    worker = psutil.Process(int(_python(code, tmp_path / "task.json").stdout))
    psutil.wait_procs([worker], timeout=120)
    assert not worker.is_running()


def test_workers_do_not_import_from_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "csv.py").write_text("raise RuntimeError('not this one')")
    monkeypatch.chdir(tmp_path)
    assert run_in_subprocess(Task(load_dataset("monks-1-sample"), 1, tiny_study().settings)).outcome == "finished"


def test_output_of_a_worker_does_not_spoil_its_result(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("print('hello')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert run_in_subprocess(Task(load_dataset("monks-1-sample"), 1, tiny_study().settings)).outcome == "finished"


@posix
def test_two_runs_do_not_write_the_same_folder(tmp_path):
    with (
        Store(tmp_path).writing(),
        pytest.raises(ValueError, match=r"another run is writing to"),
        Store(tmp_path).writing(),
    ):
        pass


FULL_DISK = """
import resource, sys
from hardwood.experiments.backends import in_this_process
from hardwood.experiments.runner import run_study
from tests.studies import tiny_study
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing fails as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    run_study(tiny_study(), sys.argv[1], in_this_process())
except ValueError as error:
    print(error)
"""


@posix
def test_a_full_disk_ends_the_run_without_losing_rows(finished, tmp_path):
    done = _python(FULL_DISK, tmp_path)
    assert "journal.jsonl cannot be written: File too large" in done.stdout, done.stderr
    kept = len(Store(tmp_path).rows)
    assert f"the {kept} rows before are kept. Free some space and run again" in done.stdout
    assert 4 <= kept < 12
    assert without_times(run_study(tiny_study(), tmp_path, in_this_process())) == without_times(finished[1])


def test_a_folder_that_cannot_be_created_is_refused_at_the_start(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"results cannot be written to .*; choose another folder"):
        run_study(tiny_study(), tmp_path / "file" / "out", in_this_process(), on_progress=stop_after(1))


READ_ONLY = """
import os, sys
import pyarrow.parquet
from hardwood.experiments.backends import in_this_process
from hardwood.experiments.runner import run_study
from tests.studies import tiny_study
if os.geteuid() == 0:
    os.seteuid(65534)  # root may write everywhere, an unprivileged user may not
try:
    run_study(tiny_study(), sys.argv[1], in_this_process(), on_progress=print)
except ValueError as error:
    print(error)
"""


@posix
def test_a_read_only_folder_is_refused_at_the_start():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        assert _python(READ_ONLY, folder).stdout == (
            f"results cannot be written to {folder}: Permission denied; choose another folder\n"
        )
        Path(folder).chmod(0o755)


def test_a_report_is_reproducible(finished):
    folder, _ = finished
    first = {path: path.read_bytes() for path in write_report(folder)}
    assert {path.name for path in first} == {"summary.md", "gain.svg", "price-and-size.svg", "solved.svg"}
    assert {path: path.read_bytes() for path in write_report(folder)} == first


def test_a_folder_without_results_has_no_report(tmp_path):
    with pytest.raises(ValueError, match=r"has no results; expected a folder that"):
        write_report(tmp_path)


def _python(code, *arguments):
    """Run code in a separate process, whose resources may be limited."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )


def _slow_dataset():
    return load_dataset("tic-tac-toe")


def _while_running(task, number):
    """Run a task in a subprocess and send it a signal."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run_in_subprocess, task)
        for _ in range(1000):
            if running := workers():
                os.kill(running.pop(), number)
                break
            time.sleep(0.01)
        return future.result(120)
