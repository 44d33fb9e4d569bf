"""A table larger than memory: an audit of 10^8 rows of Parquet in one process, and on a Dask cluster of two workers.

    python -m benchmarks.chunks FOLDER [--rows 1e8]

Synthetic surveys (benchmarks/survey.py) are written to FOLDER unless it holds them already. A tree is fitted on the
first 100,000 rows and audited on all rows: worst case, curve over all budgets, and what the adversary changes. The
two curves must be equal. Then 10^7 rows with 20 columns are read and encoded. Results go to results/pieces.json, a
page to results/pieces.md.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import hardwood as hw
from benchmarks.records import RESULTS, provenance_text, publish
from benchmarks.survey import synthetic
from hardwood.estimators.chunked import ChunkedAudit

ROWS_PER_FILE = 2_500_000
Record: TypeAlias = dict[str, Any]
COLUMNS = {"age": "int16", "first": "int8", "second": "int8", "member": "int8"}


def write(folder: Path, n_rows: int) -> list[Path]:
    """Write one survey as Parquet files; files that exist are kept."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{k:04}.parquet" for k in range(-(-n_rows // ROWS_PER_FILE))]
    for k, file in enumerate(files):
        if file.exists():
            continue
        X, y = synthetic(min(ROWS_PER_FILE, n_rows - k * ROWS_PER_FILE), seed=k)
        table = pa.Table.from_pandas(X.astype(COLUMNS).assign(label=y), preserve_index=False)
        parquet.write_table(table, file, row_group_size=500_000)
    return files


def memory() -> int:
    """Return the peak memory of this process so far, in bytes."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def record_of(found: ChunkedAudit, seconds: float) -> dict[str, Any]:
    """Return the numbers of an audit that are recorded."""
    return {
        "n_samples": found.n_samples,
        "worst_case_accuracy": found.worst_case_accuracy,
        "margins": found.curve.margins.tolist(),
        "counts": found.curve.counts.tolist(),
        "changes": found.n_changed,
        "seconds": round(seconds, 1),
    }


def alone(model: hw.RobustTreeClassifier, folder: str, records: Queue[Record]) -> None:
    """Audit in this process."""
    began = time.perf_counter()
    found = hw.audit(model, folder, "label")
    found.changes()
    records.put(record_of(found, time.perf_counter() - began) | {"memory": memory()})


def on_cluster(model: hw.RobustTreeClassifier, folder: str, records: Queue[Record]) -> None:
    """Audit on two Dask workers, each a process with one thread."""
    import dask.dataframe as dd
    from distributed import Client

    # Any free port: otherwise Dask takes port 8787 even without a dashboard, and warns if it is in use.
    with Client(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as client:
        began = time.perf_counter()
        found = hw.audit(model, dd.read_parquet(folder, split_row_groups=1), "label")
        found.changes()
        seconds = time.perf_counter() - began
        workers = list(client.run(memory).values())
    records.put(record_of(found, seconds) | {"memory": memory(), "memory_of_workers": workers})


def encoding(folder: str, records: Queue[Record]) -> None:
    """Read and encode 20 columns in memory."""
    from pyarrow import parquet

    began = time.perf_counter()
    table = parquet.read_table(folder)
    read = time.perf_counter()
    encoded = hw.encode(table)
    records.put(
        {
            "rows": encoded.n_samples,
            "columns": len(encoded.features),
            "read": round(read - began, 2),
            "encode": round(time.perf_counter() - read, 2),
            "memory": memory(),
            "encoded": encoded.values.nbytes,
        }
    )


def in_process(function: Callable[..., None], *arguments: Any) -> Record:
    """Call a function in a process of its own, so that its memory is measured separately."""
    context = multiprocessing.get_context("spawn")
    records: Queue[Record] = context.Queue()
    process = context.Process(target=function, args=(*arguments, records))
    process.start()
    record = records.get()
    process.join()
    return record


def wide(folder: Path, n_rows: int) -> Path:
    """Write a table of twenty columns: those of four surveys side by side."""
    import pyarrow as pa
    from pyarrow import parquet

    file = folder / "wide.parquet"
    folder.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        parts = [synthetic(n_rows, seed=100 + k)[0].astype(COLUMNS) for k in range(4)]
        columns = {f"{name}{k}": part[name] for k, part in enumerate(parts) for name in part}
        parquet.write_table(pa.table({name: pa.array(np.asarray(values)) for name, values in columns.items()}), file)
    return file


def page(results: dict[str, Any]) -> str:
    """Return the page of the results."""
    one, many, read = results["alone"], results["cluster"], results["encoding"]
    workers = ", ".join(f"{size / 1e6:.0f}" for size in many["memory_of_workers"])
    return "\n".join(
        [
            "# Tables larger than memory",
            "",
            f"Measured with {provenance_text(results)}; written by `benchmarks/chunks.py`.",
            "",
            f"Audit of {one['n_samples']:,} rows of Parquet, five columns and the label: worst-case accuracy "
            f"{one['worst_case_accuracy']:.4%}, {one['changes'][0]:,} values changed. Each time includes two passes "
            "over all rows: one for the curve, one for what the adversary changes. One process and the cluster give "
            "the same results.",
            "",
            "| | seconds | MB |",
            "|---|---|---|",
            f"| one process | {one['seconds']:.0f} | {one['memory'] / 1e6:.0f} |",
            f"| Dask, two workers | {many['seconds']:.0f} | {many['memory'] / 1e6:.0f}, workers {workers} |",
            "",
            f"{read['rows']:,} rows with {read['columns']} columns: read in {read['read']:.1f} s, encoded in "
            f"{read['encode']:.1f} s; peak memory {read['memory'] / 1e6:.0f} MB, "
            f"{read['memory'] / read['encoded']:.1f} times the encoded table.",
            "",
        ]
    )


def headline(results: dict[str, Any]) -> str:
    """Return the results in one sentence."""
    one, many = results["alone"], results["cluster"]
    return (
        f"an audit of {one['n_samples']:,} rows: {one['seconds']:.0f} s in one process with {one['memory'] / 1e6:.0f} "
        f"MB, {many['seconds']:.0f} s on two Dask workers"
    )


def main() -> None:
    """Run both audits, compare them, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=float, default=1e8)
    args = parser.parse_args()
    files = write(args.folder / "survey", int(args.rows))
    import pandas as pd

    sample = pd.read_parquet(files[0]).head(100_000)
    model = hw.RobustTreeClassifier(3, certainty=0.9, plausibility=0.95)
    model.fit(sample.drop(columns="label"), sample["label"])
    source = str(args.folder / "survey")
    results = {"alone": in_process(alone, model, source), "cluster": in_process(on_cluster, model, source)}
    for key in ("n_samples", "worst_case_accuracy", "margins", "counts", "changes"):
        if results["alone"][key] != results["cluster"][key]:
            raise RuntimeError(f"one process and a cluster disagree about {key}: {results}")
    results["encoding"] = in_process(encoding, str(wide(args.folder / "wide", int(args.rows) // 10)))
    print(page(publish(RESULTS / "pieces.json", results, page)))


if __name__ == "__main__":
    main()
