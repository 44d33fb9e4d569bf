"""Every page that has numbers in it, made from the files of results.

    python benchmarks/pages.py    # write what is stale (make pages); a test says what is

A page beside its results (results/NAME.md), benchmarks/RESULTS.md, the summaries of the studies in docs/study, and the
regions of README and docs between `<!-- numbers: NAME -->` and `<!-- end of numbers -->`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import counts
import ground_floor
import growth
import mio
import pieces
import survey
import switches
import threads
import weights
from facts import FACTS, STUDY
from hardwood._support.files import write_text
from hardwood.experiments.runner import instance_rows
from hardwood.experiments.store import Store
from hardwood.experiments.summary import summary
from marks import RESULTS, ROOT, words
from peers import page as peers

REGION = re.compile(r"(<!-- numbers: (.+?) -->\n)(.*?)(<!-- end of numbers -->)", re.DOTALL)
Document = dict[str, Any]


@dataclass(frozen=True)
class Benchmark:
    """What a file of results is about: its page, its numbers in short, and the command that renews it."""

    title: str
    page: Callable[[Document], str]
    headline: Callable[[Document], str]
    command: str


BENCHMARKS = {
    "peers": Benchmark("Other packages side by side", peers.page, peers.headline, "make bench-peers"),
    "survey": Benchmark("Survey tables", survey.page, survey.headline, "python benchmarks/survey.py"),
    "growth": Benchmark("Rows, tests, depth, classes", growth.page, growth.headline, "python benchmarks/growth.py"),
    "ground_floor": Benchmark(
        "Worst cases of a tree", ground_floor.page, ground_floor.headline, "python benchmarks/ground_floor.py"
    ),
    "pieces": Benchmark(
        "Tables larger than memory", pieces.page, pieces.headline, "python benchmarks/pieces.py FOLDER"
    ),
    "counts": Benchmark("Tables by their counts", counts.page, counts.headline, "python benchmarks/counts.py FOLDER"),
    "weights": Benchmark("Weights and worth", weights.page, weights.headline, "python benchmarks/weights.py"),
    "threads": Benchmark("Threads", threads.page, threads.headline, "python benchmarks/threads.py"),
    "switches": Benchmark(
        "Each speed-up of the search", switches.page, switches.headline, "python benchmarks/switches.py"
    ),
    "mio-engines": Benchmark(
        "The paper's method", mio.page_of_engines, mio.headline_of_engines, "python benchmarks/mio.py engines"
    ),
    "mio-forms": Benchmark(
        "Forms of the mixed-integer problem", mio.page_of_forms, mio.headline_of_forms, "python benchmarks/mio.py forms"
    ),
    "mio-ablation": Benchmark(
        "Cuts for single samples", mio.page_of_ablation, mio.factor, "python benchmarks/mio.py ablation"
    ),
}


def texts() -> Iterator[tuple[Path, str]]:
    """Every page as it should be."""
    documents = {name: json.loads((RESULTS / f"{name}.json").read_text()) for name in BENCHMARKS}
    for name, benchmark in BENCHMARKS.items():
        yield RESULTS / f"{name}.md", benchmark.page(documents[name])
    yield ROOT / "benchmarks" / "RESULTS.md", index(documents)
    for folder in sorted(STUDY.iterdir()):
        yield folder / "summary.md", summary(instance_rows(Store(folder)))
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        yield path, filled(path.read_text(encoding="utf-8"))


def index(documents: dict[str, Document]) -> str:
    """All results on one page."""
    lines = [
        "# Results",
        "",
        "What was measured, in short; each page has the whole of it. Written by `make pages` from the files in "
        "[results](results); the study of the paper is in [docs/study.md](../docs/study.md).",
        "",
        "| | in short | measured with | renewed by |",
        "|---|---|---|---|",
    ]
    for name, own in BENCHMARKS.items():
        where = f"[{own.title}](results/{name}.md)"
        lines.append(f"| {where} | {own.headline(documents[name])} | {words(documents[name])} | `{own.command}` |")
    return "\n".join(lines) + "\n"


def filled(text: str) -> str:
    """A page with its regions made anew."""
    return REGION.sub(lambda found: f"{found[1]}{FACTS[found[2]]()}\n{found[4]}", text)


def stale() -> dict[Path, str]:
    """The pages that are not as they should be, with the text that they should have."""
    return {path: text for path, text in texts() if not path.exists() or path.read_text(encoding="utf-8") != text}


def main() -> None:
    """Write what is stale."""
    for path, text in stale().items():
        write_text(path, text)
        print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
