"""Files of results: what was measured, and where it comes from (commit, day, machine)."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Callable, Iterable
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from hardwood._support.files import write_text

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
Mark = dict[str, str]


@cache
def mark() -> Mark:
    """The commit as the process began (with a plus if code differs from it), the day, and the machine."""
    commit = _git("rev-parse", "--short", "HEAD") or "unknown"
    changed = _git("status", "--porcelain", "--", ".", ":!benchmarks/results", ":!docs")
    machine = f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return {"commit": commit + ("+" if changed else ""), "date": date.today().isoformat(), "machine": machine}


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def save(path: Path, content: dict[str, Any], before: Iterable[Mark] = ()) -> dict[str, Any]:
    """Write results as JSON with their marks: those of runs before, where this one goes on, and its own."""
    marks = [*(own for own in before if own != mark()), mark()]
    document = {"marks": marks} | content
    write_text(path, json.dumps(document, indent=1) + "\n")
    return document


def publish(path: Path, content: dict[str, Any], page: Callable[[dict[str, Any]], str]) -> dict[str, Any]:
    """Save results, and the page that is made of them alone beside them."""
    document = save(path, content)
    write_text(path.with_suffix(".md"), page(document))
    return document


def words(document: dict[str, Any]) -> str:
    """Where the numbers of a file come from, as a sentence."""
    return "; ".join(f"commit {own['commit']}, {own['date']}, {own['machine']}" for own in document["marks"])


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
