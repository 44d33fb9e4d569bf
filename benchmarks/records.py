"""Result files: recorded measurements, and their provenance (commit, date, machine)."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Callable, Iterable
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from hardwood._util.files import write_text

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
Provenance: TypeAlias = dict[str, str]
Document: TypeAlias = dict[str, Any]  # content of a result file

# Names in files that were recorded before names changed. Measurements are not repeated for a name.
_CURRENT_KEYS = {
    "n_tests": "n_splits",
    "tests": "branching_nodes",
    "questions": "n_columns",
    "answers": "n_values",
    "options": "branchings",
}
_CURRENT_SERIES = {"tests": "candidate splits"}
_CURRENT_SWITCHES = {
    "fresh_starts": "restart",
    "head_start": "tie_margin",
    "improvement": "local_search",
    "kinks": "breakpoints",
    "long_sums": "large_subsets",
    "pace": "adaptive_step_size",
    "upward": "upward_closing",
    "whole_domains": "full_domain",
    "wrong_points": "misclassified_points",
}
_CURRENT_METHODS = {
    f"{solver}, {old}": f"{solver}, {new}"
    for solver in ("gurobi", "scip")
    for old, new in (("tests first", "splits first"), ("total, priced", "total, lagrangian"))
}
_CURRENT_VALUES = {"off": _CURRENT_SWITCHES, "method": _CURRENT_METHODS, "name": {"measures": "lagrangian"}}


def load(path: Path) -> Document:
    """Read a result file, with current names in place of those that were current when it was recorded."""
    document: Document = json.loads(path.read_text(), object_hook=_with_current_names)
    return document


def _with_current_names(entry: dict[str, Any]) -> dict[str, Any]:
    return {_current_key(key, value): _current_value(key, value) for key, value in entry.items()}


def _current_key(key: str, value: Any) -> str:
    return (_CURRENT_SERIES if isinstance(value, list) else _CURRENT_KEYS).get(key, key)


def _current_value(key: str, value: Any) -> Any:
    return _CURRENT_VALUES[key].get(value, value) if key in _CURRENT_VALUES and isinstance(value, str) else value


def save(path: Path, content: Document, earlier: Iterable[Provenance] = ()) -> Document:
    """Write a result file.

    Parameters
    ----------
    path : Path
        The JSON file.
    content : dict
        The measurements.
    earlier : iterable of dict, default=()
        Provenance of earlier runs, if this one continues them.

    Returns
    -------
    document : dict
        The measurements with their provenance.
    """
    document = {"marks": [*(entry for entry in earlier if entry != provenance()), provenance()]} | content
    write_text(path, json.dumps(document, indent=1) + "\n")
    return document


def publish(
    path: Path, content: Document, page: Callable[[Document], str], earlier: Iterable[Provenance] = ()
) -> Document:
    """Write a result file, and beside it the page that is made from it alone."""
    document = save(path, content, earlier)
    write_text(path.with_suffix(".md"), page(document))
    return document


@cache
def provenance() -> Provenance:
    """Return the commit when the process began (with a plus if code differs from it), the date, and the machine."""
    commit = _git("rev-parse", "--short", "HEAD") or "unknown"
    changed = _git("status", "--porcelain", "--", ".", ":!benchmarks/results", ":!docs")
    machine = f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return {"commit": commit + ("+" if changed else ""), "date": date.today().isoformat(), "machine": machine}


def provenance_text(document: Document) -> str:
    """Return the provenance of a result file as a phrase."""
    return "; ".join(f"commit {run['commit']}, {run['date']}, {run['machine']}" for run in document["marks"])


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
