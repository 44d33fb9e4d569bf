"""A table of any size by its counts: generate rows, count distinct rows with DuckDB, fit on the counts.

    python -m benchmarks.counts FOLDER [--rows 100000000] [--depth 3]

Writes Parquet files to FOLDER if they do not exist (an age in years, two ratings, a region, a binary column, and a
label that depends on them at random), counts them, fits a robust tree on the distinct rows with their counts as sample
weights, and checks its certificate. A smaller sample is fitted on all of its rows and on their counts: the trees and
the numbers must be equal. Results go to results/counts.json, a page to results/counts.md.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import hardwood as hw
from benchmarks.records import RESULTS, provenance_text, publish

ROWS_PER_FILE = 5_000_000
COLUMNS = ["age", "rating", "trust", "region", "asked"]
SETTINGS: dict[str, Any] = {"certainty": 0.9, "plausibility": 0.95, "time_limit": 120}
SAMPLE = 200_000


def generate(n: int, seed: int) -> pd.DataFrame:
    """Generate rows whose labels follow a noisy rule."""
    rng = np.random.default_rng([17, seed])
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 91, n).astype(np.int16),
            "rating": rng.integers(1, 11, n).astype(np.int8),
            "trust": rng.integers(1, 6, n).astype(np.int8),
            "region": rng.integers(0, 8, n).astype(np.int8),
            "asked": rng.random(n) < 0.3,
        }
    )
    score = (frame["age"] > 55) + 0.15 * frame["rating"] - 0.2 * frame["trust"] + 0.5 * frame["asked"]
    frame["vote"] = (score + rng.logistic(0, 0.5, n) > 1.0).astype(np.int8)
    return frame


def write(folder: Path, rows: int) -> None:
    """Write the table as Parquet files; files that exist are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    for k in range(-(-rows // ROWS_PER_FILE)):
        path = folder / f"{k:03d}.parquet"
        if not path.exists():
            generate(min(ROWS_PER_FILE, rows - k * ROWS_PER_FILE), k).to_parquet(path, index=False)


def count_rows(source: str) -> pd.DataFrame:
    """Return the distinct rows of a source and their counts."""
    import duckdb

    query = f"SELECT {', '.join(COLUMNS)}, vote, count(*) AS count FROM {source} GROUP BY ALL ORDER BY ALL"
    return duckdb.sql(query).df()


def fitted(counts: pd.DataFrame, depth: int, weights: Any) -> hw.RobustTreeClassifier:
    """Fit a robust tree; the region is categorical."""
    model = hw.RobustTreeClassifier(depth, **SETTINGS, feature_kinds={"region": "categorical"})
    return model.fit(counts[COLUMNS], counts["vote"], weights)


def compare_rows_and_counts(folder: Path, depth: int) -> dict[str, Any]:
    """Fit a sample on all of its rows and on their counts; both must give the same tree and numbers."""
    sample = pd.read_parquet(folder / "000.parquet").iloc[:SAMPLE]
    counts = sample.groupby([*COLUMNS, "vote"], sort=True).size().reset_index(name="count")
    seconds = []
    models = []
    for table, weights in ((sample, None), (counts, counts["count"])):
        began = time.perf_counter()
        models.append(fitted(table, depth, weights))
        seconds.append(round(time.perf_counter() - began, 3))
    names = ("worst_case_correct", "nominal_correct", "upper_bound", "branching_nodes", "objective", "budget")
    claims = [[getattr(model.certificate_, name) for name in names] for model in models]
    if models[0].tree_ != models[1].tree_ or claims[0] != claims[1]:
        raise RuntimeError(f"rows and counts disagree: {claims}")
    return {
        "rows": len(sample),
        "distinct": len(counts),
        "seconds_by_rows": seconds[0],
        "seconds_by_counts": seconds[1],
    }


def page(result: dict[str, Any]) -> str:
    """Return the page of the results."""
    both = result["both_ways"]
    return "\n".join(
        [
            "# A table of any size by its counts",
            "",
            f"Measured with {provenance_text(result)}; written by `benchmarks/counts.py`: depth {result['depth']}, "
            f"certainty {SETTINGS['certainty']}, plausibility {SETTINGS['plausibility']}.",
            "",
            f"{result['rows']:,} rows in Parquet files contain {result['distinct']:,} distinct rows. DuckDB counted "
            f"them in {result['seconds_to_count']:.1f} s. The tree was fitted on the counts in "
            f"{result['seconds_to_learn']:.1f} s ({result['status']}: {result['worst_case_correct']:,} samples stay "
            f"correct in the worst case, upper bound {result['upper_bound']:,}; {result['nominal_correct']:,} are "
            f"correct without a shift). Peak memory was {result['peak_gb']} GB. `check` confirmed the certificate.",
            "",
            f"A sample of {both['rows']:,} rows was fitted on all rows ({both['seconds_by_rows']} s) and on the counts "
            f"of its {both['distinct']:,} distinct rows ({both['seconds_by_counts']} s): the trees and numbers are "
            f"equal.",
            "",
            "```",
            result["tree"],
            "```",
            "",
        ]
    )


def headline(result: dict[str, Any]) -> str:
    """Return the results in one sentence."""
    return (
        f"{result['rows']:,} rows, {result['distinct']:,} of them distinct: counted in "
        f"{result['seconds_to_count']:.0f} s, fitted in {result['seconds_to_learn']:.1f} s with {result['peak_gb']} GB"
    )


def main() -> None:
    """Write the table, count it, fit on the counts, and check the certificate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--depth", type=int, default=3)
    args = parser.parse_args()
    write(args.folder, args.rows)
    began = time.perf_counter()
    counts = count_rows(f"'{args.folder}/*.parquet'")
    counting = time.perf_counter() - began
    began = time.perf_counter()
    model = fitted(counts, args.depth, counts["count"])
    learning = time.perf_counter() - began
    certificate = model.certificate_
    outcome = hw.check(certificate, counts[COLUMNS], counts["vote"], sample_weight=counts["count"])
    if not outcome.confirmed:
        raise RuntimeError(str(outcome))
    result = {
        "rows": int(counts["count"].sum()),
        "distinct": len(counts),
        "seconds_to_count": round(counting, 2),
        "seconds_to_learn": round(learning, 2),
        "status": certificate.status,
        "worst_case_correct": certificate.worst_case_correct,
        "upper_bound": certificate.upper_bound,
        "nominal_correct": certificate.nominal_correct,
        "branching_nodes": certificate.branching_nodes,
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        "both_ways": compare_rows_and_counts(args.folder, args.depth),
        "tree": str(model.tree_),
        "depth": args.depth,
    }
    print(page(publish(RESULTS / "counts.json", result, page)))


if __name__ == "__main__":
    main()
