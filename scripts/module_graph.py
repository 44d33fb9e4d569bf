"""Draws which room of the package imports which, for one or several commits side by side.

    python scripts/module_graph.py docs/images/modules.svg 5c83d0a HEAD

A room is a module or a package directly below `hardwood`. Rooms stand above everything that they import; a line from
a room goes down to the rooms it imports from. Imports for type checkers alone are left out.
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
# In a process of its own, without the finders of packages that are installed in place: the folder must be found first.
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
COLOURS = {"package": "#0072b2", "module": "#d55e00"}  # told apart by colour-blind readers, too


def rooms_of(commit: str) -> tuple[dict[str, int], Counter[tuple[str, str]]]:
    """How many modules each room has, and how often a module of one room imports one of another, in a commit."""
    archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        command = [sys.executable, "-c", COUNT, str(Path(folder) / "src")]
        said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    modules, imports = json.loads(said)
    sizes: dict[str, int] = {}
    for name in modules:
        sizes[_room(name)] = sizes.get(_room(name), 0) + (name.count(".") > 1)
    edges = Counter((_room(above), _room(below)) for above, below in imports)
    return sizes, Counter({edge: n for edge, n in edges.items() if edge[0] != edge[1]})


def _room(module: str) -> str:
    return module.split(".")[1]


def levels_of(rooms: dict[str, int], edges: Counter[tuple[str, str]]) -> dict[str, int]:
    """The longest way down from each room. Where two rooms import each other, the rarer import turns back."""
    below = {room: {b for a, b in edges if a == room and edges[a, b] > edges[b, a]} for room in rooms}
    levels: dict[str, int] = {}

    def level(room: str) -> int:
        if room not in levels:
            levels[room] = 1 + max((level(other) for other in below[room]), default=-1)
        return levels[room]

    for room in rooms:
        level(room)
    return levels


def draw(axes: Any, title: str, rooms: dict[str, int], edges: Counter[tuple[str, str]]) -> None:
    """One panel."""
    levels = levels_of(rooms, edges)
    places: dict[str, tuple[float, float]] = {}
    for height in set(levels.values()):
        row = sorted(room for room in rooms if levels[room] == height)
        for k, room in enumerate(row):
            # Every other row is moved aside a little, so that lines do not run through labels.
            places[room] = ((k - (len(row) - 1) / 2) * 1.25 + 0.3 * (-1) ** height, height)
    for start, end in edges:
        back = levels[start] <= levels[end]
        (x, y), (u, v) = places[start], places[end]
        axes.plot([x, u], [y, v], color="#cc0000" if back else "#888888", lw=1.2 if back else 0.6, alpha=0.8, zorder=1)
    for room, (x, y) in places.items():
        colour = COLOURS["package" if rooms[room] else "module"]
        words = f"{room}\n{rooms[room]} modules" if rooms[room] else room
        box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": colour, "linewidth": 1.4}
        axes.text(x, y, words, ha="center", va="center", fontsize=7.5, bbox=box, zorder=2)
    widest = max(abs(x) for x, _ in places.values()) + 0.7
    axes.set(xlim=(-widest, widest), ylim=(-0.6, max(levels.values()) + 0.6))
    axes.set_title(f"{title}: {len(rooms)} rooms, {len(edges)} imports between them", fontsize=10)
    axes.set_axis_off()


def _title(commit: str) -> str:
    command = ["git", "log", "-1", "--format=%h, %as", commit]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    """Draw the commits that were asked for."""
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
        draw(axes, _title(commit), *rooms_of(commit))
    figure.savefig(arguments.picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
