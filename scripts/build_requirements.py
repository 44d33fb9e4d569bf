"""Prints what the build of the package requires, one requirement a line (for pip)."""

import sys
import tomllib
from pathlib import Path

pyproject = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
sys.stdout.write("\n".join([*pyproject["build-system"]["requires"], "cmake>=3.20", "ninja"]) + "\n")
