"""Where tasks run: in this process, in processes of this machine, or on a Dask cluster.

All are executors in the sense of `concurrent.futures`. A task always ends with an outcome: a crash, an error or a hang
is one, too, except in this process, where a crash or a hang is that of the whole study.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from hardwood._support.errors import ArgumentError, Said
from hardwood._version import __version__
from hardwood.experiments.tasks import Task, run_task

WORKER = "hardwood.experiments.worker"
PATIENCE = 30.0  # seconds that a scheduler has for an answer


class Outcome(StrEnum):
    """How a task ended."""

    FINISHED = "finished"
    FAILED = "failed"  # with an error
    CRASHED = "crashed"
    HUNG = "hung"


@dataclass(frozen=True)
class Ended:
    """A task that ended, with its columns if it finished, and with a message if not."""

    outcome: Outcome
    columns: dict[str, Any]
    message: str = ""


@dataclass(frozen=True)
class Backend:
    """An executor, how a task is run there, and how many at a time (a cluster may grow and shrink)."""

    executor: Executor
    run: Callable[[Task], Ended]
    slots: Callable[[], int]


def run_here(task: Task) -> Ended:
    """Run a task in this process."""
    try:
        return Ended(Outcome.FINISHED, run_task(task))
    except Exception as error:
        return Ended(Outcome.FAILED, {}, f"{type(error).__name__}: {error}")


def run_apart(task: Task, processes: Processes | None = None) -> Ended:
    """Run a task in a process of its own and wait for it, but not for ever."""
    try:
        return _run_apart(task, processes or Processes())
    except OSError as error:
        return Ended(Outcome.FAILED, {}, f"no process could be started: {error}")


def _run_apart(task: Task, processes: Processes) -> Ended:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", WORKER, str(os.getpid())],  # -P: not from the working folder, which is anybody's
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,  # Ctrl-C is for the runner, which ends its processes itself
    )
    with processes.watching(process):
        try:
            answer, complaint = process.communicate(task.to_json(), timeout=task.deadline)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return Ended(Outcome.HUNG, {}, f"no answer after {task.deadline:g} seconds")
    if process.returncode < 0:
        return Ended(Outcome.CRASHED, {}, f"ended by {_signal(-process.returncode)}")
    if process.returncode > 0:
        last = (complaint.strip().splitlines() or ["no message"])[-1]
        return Ended(Outcome.FAILED, {}, last)
    try:
        return Ended(Outcome.FINISHED, json.loads(answer.strip().splitlines()[-1]))
    except (ValueError, IndexError):
        return Ended(Outcome.FAILED, {}, f"the worker answered {answer[-200:]!r} instead of a row")


@contextmanager
def in_this_process() -> Iterator[Backend]:
    """One task after the other, here: for a debugger. Nothing protects from crashes and hangs."""
    yield Backend(_Here(), run_here, lambda: 1)


@contextmanager
def local_processes(n: int) -> Iterator[Backend]:
    """So many tasks at a time, each in a process of its own."""
    processes = Processes()
    with ThreadPoolExecutor(n) as pool:  # a thread only waits for its process
        try:
            yield Backend(pool, partial(run_apart, processes=processes), lambda: n)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            processes.end()
            raise


@contextmanager
def dask_cluster(address: str, security: Any = None) -> Iterator[Backend]:
    """The workers of a Dask scheduler, one task at a time for each of their threads.

    security  a `distributed.Security` with certificates, for an address like tls://host:8786; None takes what the
              configuration of Dask says

    Whoever can talk to a scheduler or to a worker can run any code there as their user, and they send objects that are
    unpickled here: use a scheduler only if you trust it, and without TLS only in a network where you trust everybody.
    """
    try:
        import distributed
        from distributed.comm import get_address_host_port
    except ModuleNotFoundError as error:
        raise ImportError("a scheduler needs the package dask; run: pip install 'hardwood[dask]'") from error
    try:  # a client that cannot connect is noisy when it goes, so the place is tried first
        socket.create_connection(get_address_host_port(address), timeout=PATIENCE).close()
        client = distributed.Client(address, timeout=f"{PATIENCE}s", set_as_default=False, security=security)
    except (OSError, ValueError, TypeError) as error:  # certificates that do not fit are all of these
        raise ArgumentError(
            "scheduler",
            Said(address),
            f"no Dask scheduler answers there ({error}). Expected an address like tcp://host:8786, or tls://host:8786 "
            f"with certificates; start a scheduler with: dask scheduler",
        ) from None
    try:
        _check_workers(client, address)
        executor = client.get_executor(pure=False)
        slots = partial(_n_threads, client, address)
        try:
            yield Backend(executor, run_apart, slots)
        except CancelledError as error:
            raise _lost(address, error) from error
    finally:
        # With the client, its tasks go, too. A scheduler that does not answer any more must not keep us here.
        with suppress(OSError):
            client.close(timeout=PATIENCE)


def _n_threads(client: Any, address: str) -> int:
    threads = _asked(lambda: client.sync(client.scheduler.ncores, callback_timeout=PATIENCE), address)
    return sum(threads.values())


def _check_workers(client: Any, address: str) -> None:
    """Refuse a cluster on which tasks would fail one by one."""
    workers = _asked(lambda: _versions(client), address)["workers"]
    if not workers:
        raise ValueError(f"the scheduler at {address} has no workers; start some with: dask worker {address}")
    for worker, entry in workers.items():
        version = entry["packages"].get("hardwood")
        if version != __version__:
            raise ValueError(
                f"the worker {worker} has hardwood {version}, here it is {__version__}; install the same there"
            )


def _versions(client: Any) -> Any:
    return client.sync(client._get_versions, packages=["hardwood"], callback_timeout=PATIENCE)


def _asked(question: Callable[[], Any], address: str) -> Any:
    """The answer of a scheduler; one that gives none, or none in time, is lost."""
    try:
        return question()
    except OSError as error:
        raise _lost(address, error) from error


def _lost(address: str, error: BaseException) -> ValueError:
    return ValueError(f"the scheduler at {address} was lost ({error}); what had ended is kept, run again to go on")


def outcome_of(future: Future[Ended]) -> Ended:
    """The outcome of a task; one that took several workers with it crashed."""
    try:
        return future.result()
    except Exception as error:
        if type(error).__name__ != "KilledWorker":  # Dask's, which may not be installed
            raise
        return Ended(Outcome.CRASHED, {}, f"the workers that ran it died: {error}")


class Processes:
    """Processes that run, so that all of them can be ended."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._guard = threading.Lock()
        self._ending = False

    @contextmanager
    def watching(self, process: subprocess.Popen[str]) -> Iterator[None]:
        """Know of a process while it runs."""
        with self._guard:
            self._running.add(process)
            if self._ending:  # it started while the others were being ended
                process.kill()
        try:
            yield
        finally:
            with self._guard:
                self._running.discard(process)

    def end(self) -> None:
        """End all, and whatever is about to start."""
        with self._guard:
            self._ending = True
            for process in self._running:
                process.kill()


class _Here(Executor):
    def submit(self, call: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(call(*arguments, **options))
        return future


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
