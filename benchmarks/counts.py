"""A table of any size by its counts: generate rows, count the distinct ones with DuckDB, learn from the counts.

    python benchmarks/counts.py FOLDER [--rows 100000000] [--depth 3]

Writes Parquet files to FOLDER if they are not there (an age in years, two ratings, a region, a yes/no, and an answer
that depends on them by chance), counts them, fits a robust tree on the distinct rows with their counts as weights, and
checks its certificate. A smaller sample is learnt both ways, from all of its rows and from their counts: the trees and
the numbers must be the same. Results go to results/counts.json, a page to results/counts.md.
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
from marks import RESULTS, publish, words

PIECE = 5_000_000
COLUMNS = ["age", "rating", "trust", "region", "asked"]
SETTINGS: dict[str, Any] = {"certainty": 0.9, "plausibility": 0.95, "time_limit": 120}
SAMPLE = 200_000


def made_up(n: int, seed: int) -> pd.DataFrame:
    """Rows with a rule behind them."""
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
    """The table in pieces, unless it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    for k in range(-(-rows // PIECE)):
        path = folder / f"{k:03d}.parquet"
        if not path.exists():
            made_up(min(PIECE, rows - k * PIECE), k).to_parquet(path, index=False)


def counted(source: str) -> pd.DataFrame:
    """Distinct rows and how many people have each."""
    import duckdb

    query = f"SELECT {', '.join(COLUMNS)}, vote, count(*) AS people FROM {source} GROUP BY ALL ORDER BY ALL"
    return duckdb.sql(query).df()


def fitted(counts: pd.DataFrame, depth: int, weights: Any) -> hw.RobustTreeClassifier:
    """A robust tree; the region has no order."""
    model = hw.RobustTreeClassifier(depth, **SETTINGS, feature_kinds={"region": "categorical"})
    return model.fit(counts[COLUMNS], counts["vote"], weights)


def same_both_ways(folder: Path, depth: int) -> dict[str, Any]:
    """A sample with all of its rows, and by its counts."""
    sample = pd.read_parquet(folder / "000.parquet").iloc[:SAMPLE]
    counts = sample.groupby([*COLUMNS, "vote"], sort=True).size().reset_index(name="people")
    seconds = []
    models = []
    for table, weights in ((sample, None), (counts, counts["people"])):
        began = time.perf_counter()
        models.append(fitted(table, depth, weights))
        seconds.append(round(time.perf_counter() - began, 3))
    names = ("worst_case_correct", "nominal_correct", "upper_bound", "branching_nodes", "objective", "budget")
    told = [[getattr(model.certificate_, name) for name in names] for model in models]
    if models[0].tree_ != models[1].tree_ or told[0] != told[1]:
        raise RuntimeError(f"rows and counts disagree: {told}")
    return {
        "rows": len(sample),
        "distinct": len(counts),
        "seconds_by_rows": seconds[0],
        "seconds_by_counts": seconds[1],
    }


def page(result: dict[str, Any]) -> str:
    """The result in words."""
    both = result["both_ways"]
    return "\n".join(
        [
            "# A table of any size by its counts",
            "",
            f"Measured with {words(result)}; written by `benchmarks/counts.py`: depth {result['depth']}, certainty "
            f"{SETTINGS['certainty']}, plausibility {SETTINGS['plausibility']}.",
            "",
            f"{result['rows']:,} rows in Parquet files have {result['distinct']:,} distinct ones. DuckDB counted them "
            f"in {result['seconds_to_count']:.1f} s; the tree was learnt from the counts in "
            f"{result['seconds_to_learn']:.1f} s ({result['status']}: {result['worst_case_correct']:,} people stay "
            f"correct, at most {result['upper_bound']:,} are possible; {result['nominal_correct']:,} without a shift), "
            f"with {result['peak_gb']} GB at the peak. `check` confirmed the certificate.",
            "",
            f"{both['rows']:,} of the rows were learnt both ways, from all rows ({both['seconds_by_rows']} s) and from "
            f"the counts of {both['distinct']:,} distinct ones ({both['seconds_by_counts']} s): the same tree and "
            f"numbers.",
            "",
            "```",
            result["tree"],
            "```",
            "",
        ]
    )


def headline(result: dict[str, Any]) -> str:
    """The same in a sentence."""
    return (
        f"{result['rows']:,} rows have {result['distinct']:,} distinct ones: counted in "
        f"{result['seconds_to_count']:.0f} s, learnt in {result['seconds_to_learn']:.1f} s with {result['peak_gb']} GB"
    )


def main() -> None:
    """Write, count, learn, check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--depth", type=int, default=3)
    args = parser.parse_args()
    write(args.folder, args.rows)
    began = time.perf_counter()
    counts = counted(f"'{args.folder}/*.parquet'")
    counting = time.perf_counter() - began
    began = time.perf_counter()
    model = fitted(counts, args.depth, counts["people"])
    learning = time.perf_counter() - began
    certificate = model.certificate_
    outcome = hw.check(certificate, counts[COLUMNS], counts["vote"], sample_weight=counts["people"])
    if not outcome.confirmed:
        raise RuntimeError(str(outcome))
    result = {
        "rows": int(counts["people"].sum()),
        "distinct": len(counts),
        "seconds_to_count": round(counting, 2),
        "seconds_to_learn": round(learning, 2),
        "status": certificate.status,
        "worst_case_correct": certificate.worst_case_correct,
        "upper_bound": certificate.upper_bound,
        "nominal_correct": certificate.nominal_correct,
        "tests": certificate.branching_nodes,
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        "both_ways": same_both_ways(args.folder, args.depth),
        "tree": str(model.tree_),
        "depth": args.depth,
    }
    print(page(publish(RESULTS / "counts.json", result, page)))


if __name__ == "__main__":
    main()
