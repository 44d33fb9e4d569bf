"""Where numbers come from: commit, day and machine, for every file of results."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def mark() -> dict[str, str]:
    """The commit (with a plus if files differ from it), the day, and the machine."""
    words = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    machine = f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return {"commit": found.stdout.strip() or "unknown", "date": date.today().isoformat(), "machine": machine}


def words(own: dict[str, str]) -> str:
    """The same as a sentence."""
    return f"Commit {own['commit']}, {own['date']}, {own['machine']}."


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
