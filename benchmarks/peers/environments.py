"""Virtual environments of the other packages, one for each set of compatible versions.

    python -m benchmarks.peers.environments [NAME ...]

They are created in build/peers/NAME; existing ones are kept.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "peers"
# Steps of pip. ROCT requires versions of other packages that cannot be built any more: it is installed without them.
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
    """Return the interpreter of an environment; for "hardwood", the current one."""
    return Path(sys.executable) if name == "hardwood" else FOLDER / name / "bin" / "python"


def build(name: str) -> None:
    """Create an environment, unless it exists."""
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
