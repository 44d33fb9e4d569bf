"""Studies on a Dask cluster: no result is lost if workers or the scheduler fail."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from hardwood.experiments import backends
from hardwood.experiments.backends import dask_cluster, in_this_process
from hardwood.experiments.runner import run_study
from hardwood.experiments.store import Store
from tests.studies import tiny_study, without_times

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow  # starts clusters
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

DASK = [sys.executable, "-m", "dask"]


@contextmanager
def dask(folder, scheduler_options=(), worker_options=(), security=None):
    """Start a scheduler and two workers in separate processes; yields the address and the processes."""
    no_output = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler_file = folder / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(scheduler_file)]
    started = [subprocess.Popen([*DASK, "scheduler", *options, *scheduler_options], **no_output)]
    try:
        address = _address(scheduler_file)
        for name in ("0", "1"):
            options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name]
            options += ["--local-directory", str(folder / name), *worker_options]
            started.append(subprocess.Popen([*DASK, "worker", address, *options], **no_output))
        with distributed.Client(address, set_as_default=False, security=security, timeout="60s") as client:
            client.wait_for_workers(2, timeout=120)
        yield address, started
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    with dask(tmp_path) as (address, started):
        yield address, started


@posix
def test_a_cluster_that_loses_a_worker_loses_no_row(cluster, finished, tmp_path):
    """One worker is stopped after the first task, while it holds a task or a result; then it is killed.

    A timer kills it, not the listener: a stopped worker may block all tasks, and then the listener is not called until
    Dask removes the worker, after five minutes.
    """
    address, (_, victim, _) = cluster
    events = []
    timer = threading.Timer(2.0, victim.kill)

    def listen(event):
        events.append(event)
        if event.done == 1:
            victim.send_signal(signal.SIGSTOP)
            timer.start()

    rows = run_study(tiny_study(), tmp_path / "out", dask_cluster(address), on_progress=listen)
    timer.join()
    assert victim.wait() == -signal.SIGKILL
    assert [event.done for event in events] == list(range(1, 13))
    assert without_times(rows) == without_times(finished[1])


@posix
def test_a_scheduler_that_does_not_respond_ends_the_run(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(backends, "SCHEDULER_TIMEOUT", 3.0)
    address, (scheduler, *_) = cluster

    def stop_it(event):
        if event.done == 5:
            scheduler.send_signal(signal.SIGSTOP)

    with pytest.raises(ValueError, match=r"was lost .*; the results so far are kept, run again to continue"):
        run_study(tiny_study(), tmp_path / "out", dask_cluster(address), on_progress=stop_it)
    assert len(Store(tmp_path / "out").rows) >= 5


def test_a_cluster_with_certificates_needs_them(finished, tmp_path):
    pytest.importorskip("cryptography")
    security = distributed.Security.temporary()
    paths = {}
    for name in ("tls_ca_file", "tls_scheduler_cert", "tls_scheduler_key"):
        paths[name] = tmp_path / f"{name}.pem"
        paths[name].write_text(getattr(security, name))
    options = ["--tls-ca-file", paths["tls_ca_file"], "--tls-cert", paths["tls_scheduler_cert"]]
    options = [*map(str, options), "--tls-key", str(paths["tls_scheduler_key"])]
    with dask(tmp_path, ["--protocol", "tls", *options], options, security) as (address, _):
        assert address.startswith("tls://")
        rows = run_study(tiny_study(), tmp_path / "out", dask_cluster(address, security=security))
        other_security = distributed.Security.temporary()
        with pytest.raises(ValueError, match=r"scheduler is tls://.*; no Dask scheduler answers there"):
            run_study(tiny_study(), tmp_path / "other", dask_cluster(address, security=other_security))
    assert without_times(rows) == without_times(finished[1])


def test_a_killed_scheduler_ends_the_run_and_keeps_results(cluster, finished, tmp_path):
    address, (scheduler, *_) = cluster

    def kill_it(event):
        if event.done == 6:
            scheduler.kill()

    with pytest.raises(ValueError, match=r"was lost .*; the results so far are kept, run again to continue"):
        run_study(tiny_study(), tmp_path / "out", dask_cluster(address), on_progress=kill_it)
    assert len(Store(tmp_path / "out").rows) >= 6
    rows = run_study(tiny_study(), tmp_path / "out", in_this_process())
    assert without_times(rows) == without_times(finished[1])


def test_workers_with_another_version_are_refused(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(backends, "__version__", "9.9")
    with pytest.raises(
        ValueError, match=r"the worker tcp://\S+ has hardwood .*, here it is 9.9; install the same there"
    ):
        run_study(tiny_study(), tmp_path / "out", dask_cluster(cluster[0]))


def test_an_address_without_a_scheduler_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"scheduler is tcp://127.0.0.1:9; no Dask scheduler answers there"):
        run_study(tiny_study(), tmp_path, dask_cluster("tcp://127.0.0.1:9"))


def _address(scheduler_file):
    for _ in range(600):
        if scheduler_file.exists() and scheduler_file.read_text().strip():
            return json.loads(scheduler_file.read_text())["address"]
        time.sleep(0.05)
    raise TimeoutError("the scheduler did not start")
