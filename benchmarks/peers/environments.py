"""Environments of the peers, one for each set of versions that get along.

    python benchmarks/peers/environments.py [NAME ...]

They go to build/peers/NAME. What is there already is left alone.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "peers"
# What pip installs, step by step. ROCT declares versions of others that cannot be built any more, so it comes alone.
PACKAGES: dict[str, list[list[str]]] = {
    "odtlearn": [["odtlearn[cbc]", "gurobipy"]],
    "optimal": [["pystreed", "pydl8.5", "pycontree", "scikit-learn"]],
    "gosdt": [["gosdt", "scikit-learn<1.6"]],
    "boxes": [
        ["numpy<2", "scikit-learn<1.4", "groot-trees"],
        ["--no-deps", "roct", "python-sat", "gurobipy", "tqdm", "seaborn", "six"],
    ],
}


def python_of(name: str) -> Path:
    """The interpreter of an environment; of "hardwood", the one that runs this."""
    return Path(sys.executable) if name == "hardwood" else FOLDER / name / "bin" / "python"


def build(name: str) -> None:
    """Make an environment, unless it is there."""
    done = FOLDER / name / "installed"
    if done.exists():
        return
    print(f"{name}: building {FOLDER / name}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", FOLDER / name], check=True)
    for packages in PACKAGES[name]:
        subprocess.run([python_of(name), "-m", "pip", "install", "--quiet", *packages], check=True)
    done.touch()


if __name__ == "__main__":
    for wanted in sys.argv[1:] or PACKAGES:
        build(wanted)
