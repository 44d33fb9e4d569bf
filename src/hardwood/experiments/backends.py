"""Backends that run tasks: in this process, in processes of this machine, or on a Dask cluster.

All backends are executors in the sense of `concurrent.futures`. Every task ends with an outcome, also if it crashes,
raises an error or hangs. The exception is the backend in this process, where a crash or a hang affects the whole study.
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
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from hardwood._util.errors import ArgumentError, Verbatim
from hardwood._util.types import JsonObject
from hardwood._version import __version__
from hardwood.experiments.tasks import Columns, Task, run_task

if TYPE_CHECKING:
    from distributed import Client, Security

WORKER_MODULE = "hardwood.experiments.worker"
SCHEDULER_TIMEOUT = 30.0  # seconds

Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")


class Outcome(StrEnum):
    """How a task ended."""

    FINISHED = "finished"
    FAILED = "failed"  # with an error
    CRASHED = "crashed"
    HUNG = "hung"


@dataclass(frozen=True)
class TaskResult:
    """Result of a task.

    Parameters
    ----------
    outcome : Outcome
    columns : dict
        Columns of the row of results; empty unless the task finished.
    message : str
        Reason why the task did not finish.
    """

    outcome: Outcome
    columns: Columns
    message: str = ""


@dataclass(frozen=True)
class Backend:
    """An executor and how to use it.

    Parameters
    ----------
    executor : Executor
    run : callable
        Runs a task on the executor.
    slots : callable
        Returns the number of tasks that run at a time; a cluster may grow and shrink.
    """

    executor: Executor
    run: Callable[[Task], TaskResult]
    slots: Callable[[], int]


def run_in_process(task: Task) -> TaskResult:
    """Run a task in this process.

    Parameters
    ----------
    task : Task

    Returns
    -------
    result : TaskResult
    """
    try:
        return TaskResult(Outcome.FINISHED, run_task(task))
    except Exception as error:
        return TaskResult(Outcome.FAILED, {}, f"{type(error).__name__}: {error}")


def run_in_subprocess(task: Task, processes: Processes | None = None) -> TaskResult:
    """Run a task in a new process and wait for it until its deadline.

    Parameters
    ----------
    task : Task
    processes : Processes or None
        Registry of the running processes.

    Returns
    -------
    result : TaskResult
    """
    try:
        return _run_in_subprocess(task, processes or Processes())
    except OSError as error:
        return TaskResult(Outcome.FAILED, {}, f"no process could be started: {error}")


def _run_in_subprocess(task: Task, processes: Processes) -> TaskResult:
    """Run a task in a new process; an `OSError` means that the process could not be started."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", WORKER_MODULE, str(os.getpid())],  # -P: no imports from the working folder
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,  # Ctrl-C goes to the runner, which ends its processes itself
    )
    with processes.registered(process):
        try:
            output, error_output = process.communicate(task.to_json(), timeout=task.deadline)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return TaskResult(Outcome.HUNG, {}, f"no result after {task.deadline:g} seconds")
    if process.returncode < 0:
        return TaskResult(Outcome.CRASHED, {}, f"ended by {_signal_name(-process.returncode)}")
    if process.returncode > 0:
        last_line = (error_output.strip().splitlines() or ["no message"])[-1]
        return TaskResult(Outcome.FAILED, {}, last_line)
    try:
        return TaskResult(Outcome.FINISHED, json.loads(output.strip().splitlines()[-1]))
    except (ValueError, IndexError):
        return TaskResult(Outcome.FAILED, {}, f"the worker printed {output[-200:]!r} instead of a row")


@contextmanager
def in_this_process() -> Iterator[Backend]:
    """Run one task after the other in this process, for debugging; nothing protects against crashes and hangs."""
    yield Backend(_ImmediateExecutor(), run_in_process, lambda: 1)


@contextmanager
def local_processes(n: int) -> Iterator[Backend]:
    """Run n tasks at a time, each in a new process."""
    processes = Processes()
    with ThreadPoolExecutor(n) as pool:  # each thread only waits for its process
        try:
            yield Backend(pool, partial(run_in_subprocess, processes=processes), lambda: n)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            processes.kill_all()
            raise


@contextmanager
def dask_cluster(address: str, security: Security | None = None) -> Iterator[Backend]:
    """Run tasks on the workers of a Dask scheduler, one at a time for each of their threads.

    Parameters
    ----------
    address : str
        Address of the scheduler, such as tcp://host:8786.
    security : distributed.Security or None
        Certificates, for an address such as tls://host:8786; None uses the configuration of Dask.

    Notes
    -----
    A client that can connect to a scheduler or to a worker can run any code there, and the objects that they send are
    unpickled here. Use a scheduler only if you trust it, and without TLS only in a network that you trust.
    """
    try:
        import distributed
        from distributed.comm import get_address_host_port
    except ModuleNotFoundError as error:
        raise ImportError("a scheduler needs the package dask; run: pip install 'hardwood[dask]'") from error
    try:  # a client that cannot connect logs many errors, so a plain connection is tried first
        socket.create_connection(get_address_host_port(address), timeout=SCHEDULER_TIMEOUT).close()
        client = distributed.Client(address, timeout=f"{SCHEDULER_TIMEOUT}s", set_as_default=False, security=security)
    except (OSError, ValueError, TypeError) as error:  # wrong certificates raise each of these
        raise ArgumentError(
            "scheduler",
            Verbatim(address),
            f"no Dask scheduler answers there ({error}). Expected an address like tcp://host:8786, or tls://host:8786 "
            f"with certificates; start a scheduler with: dask scheduler",
        ) from None
    try:
        _check_workers(client, address)
        executor = client.get_executor(pure=False)
        slots = partial(_n_threads, client, address)
        try:
            yield Backend(executor, run_in_subprocess, slots)
        except CancelledError as error:
            raise _connection_error(address, error) from error
    finally:
        # Closing the client cancels its tasks. A scheduler that does not respond must not block this process.
        with suppress(OSError):
            client.close(timeout=SCHEDULER_TIMEOUT)


def _n_threads(client: Client, address: str) -> int:
    """Number of threads of all workers."""
    threads = _query(lambda: client.sync(client.scheduler.ncores, callback_timeout=SCHEDULER_TIMEOUT), address)
    return int(sum(threads.values()))


def _check_workers(client: Client, address: str) -> None:
    """Refuse a cluster on which every task would fail."""
    workers = _query(lambda: _versions(client), address)["workers"]
    if not workers:
        raise ValueError(f"the scheduler at {address} has no workers; start some with: dask worker {address}")
    for worker, entry in workers.items():
        version = entry["packages"].get("hardwood")
        if version != __version__:
            raise ValueError(
                f"the worker {worker} has hardwood {version}, here it is {__version__}; install the same there"
            )


def _versions(client: Client) -> JsonObject:
    versions: JsonObject = client.sync(client._get_versions, packages=["hardwood"], callback_timeout=SCHEDULER_TIMEOUT)
    return versions


def _query(request: Callable[[], Value], address: str) -> Value:
    """The response of a scheduler; a scheduler that does not respond in time counts as lost."""
    try:
        return request()
    except OSError as error:
        raise _connection_error(address, error) from error


def _connection_error(address: str, error: BaseException) -> ValueError:
    return ValueError(
        f"the scheduler at {address} was lost ({error}); the results so far are kept, run again to continue"
    )


def result_of(future: Future[TaskResult]) -> TaskResult:
    """Result of a submitted task; a task whose workers died crashed."""
    try:
        return future.result()
    except Exception as error:
        if type(error).__name__ != "KilledWorker":  # Dask may not be installed, so its class cannot be imported
            raise
        return TaskResult(Outcome.CRASHED, {}, f"the workers that ran it died: {error}")


class Processes:
    """Registry of running processes, so that all of them can be ended."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._guard = threading.Lock()
        self._killed = False

    @contextmanager
    def registered(self, process: subprocess.Popen[str]) -> Iterator[None]:
        """Register a process while it runs."""
        with self._guard:
            self._running.add(process)
            if self._killed:  # the process started after `kill_all`
                process.kill()
        try:
            yield
        finally:
            with self._guard:
                self._running.discard(process)

    def kill_all(self) -> None:
        """Kill all processes, also those that are registered later."""
        with self._guard:
            self._killed = True
            for process in self._running:
                process.kill()


class _ImmediateExecutor(Executor):
    """Runs each call when it is submitted."""

    def submit(
        self, call: Callable[Parameters, Value], /, *arguments: Parameters.args, **options: Parameters.kwargs
    ) -> Future[Value]:
        future: Future[Value] = Future()
        future.set_result(call(*arguments, **options))
        return future


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
