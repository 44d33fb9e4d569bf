"""Pages with numbers, generated from the result files.

    python -m benchmarks.pages    # rewrite stale pages (make pages); a test lists them

The pages are: a page beside each result file (results/NAME.md), benchmarks/RESULTS.md, the summaries of the studies in
docs/study, and the regions of README and docs between `<!-- numbers: NAME -->` and `<!-- end of numbers -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import chunks, core_operations, counts, growth, mio, real_tables, survey, switches, threads, weights
from benchmarks.facts import FACTS, STUDY
from benchmarks.peers import page as peers
from benchmarks.records import RESULTS, ROOT, Document, load, provenance_text
from hardwood._util.files import write_text
from hardwood.experiments.runner import instance_rows
from hardwood.experiments.store import Store
from hardwood.experiments.summary import summary

REGION = re.compile(r"(<!-- numbers: (.+?) -->\n)(.*?)(<!-- end of numbers -->)", re.DOTALL)


@dataclass(frozen=True)
class Benchmark:
    """A result file, by its page.

    Attributes
    ----------
    title : str
        What was measured.
    page, headline : callable
        The page, and its main numbers in one sentence, from the content of the file.
    command : str
        The command that repeats the measurement.
    """

    title: str
    page: Callable[[Document], str]
    headline: Callable[[Document], str]
    command: str


BENCHMARKS = {
    "peers": Benchmark("Other packages side by side", peers.page, peers.headline, "make bench-peers"),
    "survey": Benchmark("Survey tables", survey.page, survey.headline, "python -m benchmarks.survey"),
    "real_tables": Benchmark(
        "Real tables as they come", real_tables.page, real_tables.headline, "python -m benchmarks.real_tables"
    ),
    "growth": Benchmark("Rows, splits, depth, classes", growth.page, growth.headline, "python -m benchmarks.growth"),
    "ground_floor": Benchmark(
        "Worst cases of a tree", core_operations.page, core_operations.headline, "python -m benchmarks.core_operations"
    ),
    "pieces": Benchmark(
        "Tables larger than memory", chunks.page, chunks.headline, "python -m benchmarks.chunks FOLDER"
    ),
    "counts": Benchmark("Tables by their counts", counts.page, counts.headline, "python -m benchmarks.counts FOLDER"),
    "weights": Benchmark("Sample and class weights", weights.page, weights.headline, "python -m benchmarks.weights"),
    "threads": Benchmark("Threads", threads.page, threads.headline, "python -m benchmarks.threads"),
    "switches": Benchmark(
        "Each speed-up of the search", switches.page, switches.headline, "python -m benchmarks.switches"
    ),
    "mio-engines": Benchmark(
        "The paper's method", mio.page_of_solvers, mio.headline_of_solvers, "python -m benchmarks.mio solvers"
    ),
    "mio-forms": Benchmark(
        "Forms of the mixed-integer problem", mio.page_of_forms, mio.headline_of_forms, "python -m benchmarks.mio forms"
    ),
    "mio-ablation": Benchmark(
        "Cuts for single samples", mio.page_of_ablation, mio.factor, "python -m benchmarks.mio ablation"
    ),
}


def texts() -> Iterator[tuple[Path, str]]:
    """Yield every page and the text that it should have."""
    documents = {name: load(RESULTS / f"{name}.json") for name in BENCHMARKS}
    for name, benchmark in BENCHMARKS.items():
        yield RESULTS / f"{name}.md", benchmark.page(documents[name])
    yield ROOT / "benchmarks" / "RESULTS.md", index(documents)
    for folder in sorted(STUDY.iterdir()):
        yield folder / "summary.md", summary(instance_rows(Store(folder)))
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        yield path, filled(path.read_text(encoding="utf-8"))


def index(documents: dict[str, Document]) -> str:
    """Return the page that lists all results."""
    lines = [
        "# Results",
        "",
        "The main numbers of each benchmark; each page has the details. Written by `make pages` from the files in "
        "[results](results). The study of the paper is in [docs/study.md](../docs/study.md).",
        "",
        "| benchmark | main numbers | measured with | repeated by |",
        "|---|---|---|---|",
    ]
    for name, benchmark in BENCHMARKS.items():
        document = documents[name]
        cells = (f"[{benchmark.title}](results/{name}.md)", benchmark.headline(document), provenance_text(document))
        lines.append(f"| {' | '.join(cells)} | `{benchmark.command}` |")
    return "\n".join(lines) + "\n"


def filled(text: str) -> str:
    """Return a page with new content in its regions."""
    return REGION.sub(lambda match: f"{match[1]}{FACTS[match[2]]()}\n{match[4]}", text)


def stale() -> dict[Path, str]:
    """Return the stale pages, with the text that they should have."""
    return {path: text for path, text in texts() if not path.exists() or path.read_text(encoding="utf-8") != text}


def main() -> None:
    """Rewrite the stale pages."""
    for path, text in stale().items():
        write_text(path, text)
        print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
