"""Draws the imports between the packages of hardwood, for one or several commits side by side.

    python scripts/module_graph.py docs/images/modules.svg 5c83d0a HEAD

A package is a module or a package directly below `hardwood`. Packages are drawn in layers, above everything that they
import; a line leads from a package down to a package that it imports. Imports for type checkers only are left out.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

PACKAGE = "hardwood"
ROOT = Path(__file__).resolve().parent.parent
# In a process of its own, without the finders of editable installations, so that the folder is found first.
COUNT = """
import json, sys
sys.meta_path[:] = [finder for finder in sys.meta_path if isinstance(finder, type)]
sys.path.insert(0, sys.argv[1])
import grimp
graph = grimp.build_graph("hardwood", cache_dir=None, exclude_type_checking_imports=True)
modules = sorted(name for name in graph.modules if "." in name)
imports = [(a, b) for a in modules for b in sorted(graph.find_modules_directly_imported_by(a)) if "." in b]
print(json.dumps([modules, imports]))
"""
COLOURS = {"package": "#0072b2", "module": "#d55e00"}  # distinguishable with colour blindness


def packages_of(commit: str) -> tuple[dict[str, int], Counter[tuple[str, str]]]:
    """Count the modules of each package, and the imports between packages, in a commit.

    Returns
    -------
    sizes : dict
        Number of modules by package; 0 for a single module.
    imports : Counter
        Number of imports by (importing package, imported package).
    """
    archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        command = [sys.executable, "-c", COUNT, str(Path(folder) / "src")]
        output = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    modules, module_imports = json.loads(output)
    sizes: dict[str, int] = {}
    for name in modules:
        sizes[_package(name)] = sizes.get(_package(name), 0) + (name.count(".") > 1)
    imports = Counter((_package(importing), _package(imported)) for importing, imported in module_imports)
    return sizes, Counter({pair: n for pair, n in imports.items() if pair[0] != pair[1]})


def _package(module: str) -> str:
    return module.split(".")[1]


def layers_of(sizes: dict[str, int], imports: Counter[tuple[str, str]]) -> dict[str, int]:
    """Return the layer of each package: the longest chain of imports below it.

    Where two packages import each other, the rarer import is ignored.
    """
    imported = {package: {b for a, b in imports if a == package and imports[a, b] > imports[b, a]} for package in sizes}
    layers: dict[str, int] = {}

    def layer(package: str) -> int:
        if package not in layers:
            layers[package] = 1 + max((layer(other) for other in imported[package]), default=-1)
        return layers[package]

    for package in sizes:
        layer(package)
    return layers


def draw(axes: Any, title: str, sizes: dict[str, int], imports: Counter[tuple[str, str]]) -> None:
    """Draw the packages of one commit."""
    layers = layers_of(sizes, imports)
    positions: dict[str, tuple[float, float]] = {}
    for height in set(layers.values()):
        row = sorted(package for package in sizes if layers[package] == height)
        for k, package in enumerate(row):
            # Every other row is shifted a little, so that lines do not cross labels.
            positions[package] = ((k - (len(row) - 1) / 2) * 1.25 + 0.3 * (-1) ** height, height)
    for start, end in imports:
        upward = layers[start] <= layers[end]
        (x, y), (u, v) = positions[start], positions[end]
        style = {"color": "#cc0000", "lw": 1.2} if upward else {"color": "#888888", "lw": 0.6}
        axes.plot([x, u], [y, v], alpha=0.8, zorder=1, **style)
    for package, (x, y) in positions.items():
        colour = COLOURS["package" if sizes[package] else "module"]
        label = f"{package}\n{sizes[package]} modules" if sizes[package] else package
        box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": colour, "linewidth": 1.4}
        axes.text(x, y, label, ha="center", va="center", fontsize=7.5, bbox=box, zorder=2)
    width = max(abs(x) for x, _ in positions.values()) + 0.7
    axes.set(xlim=(-width, width), ylim=(-0.6, max(layers.values()) + 0.6))
    axes.set_title(f"{title}: {len(sizes)} packages, {len(imports)} imports between them", fontsize=10)
    axes.set_axis_off()


def _title(commit: str) -> str:
    command = ["git", "log", "-1", "--format=%h, %as", commit]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    """Draw the commits that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=Path)
    parser.add_argument("commits", nargs="+")
    arguments = parser.parse_args()
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = PACKAGE
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(
        1, len(arguments.commits), figsize=(8 * len(arguments.commits), 10), layout="constrained", squeeze=False
    )
    for axes, commit in zip(panels[0], arguments.commits, strict=True):
        draw(axes, _title(commit), *packages_of(commit))
    figure.savefig(arguments.picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
