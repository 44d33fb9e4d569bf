"""Results of a study as Markdown, compared with the numbers of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hardwood.experiments.analysis import (
    PROVED,
    UNEXPECTED,
    at,
    finished,
    gains,
    levels,
    mean_gains,
    n_proved,
    prices_of_robustness,
    robust_levels,
    seconds,
    sizes,
    solved_by,
    solved_times,
    solver_gaps,
    speed_up,
)
from hardwood.experiments.store import Row

# Section 6.2 of the paper and its E-Companion.
PAPER_MEDIAN_SIZES = {0.5: 0, 0.75: 2, 0.85: 2, 0.9: 3, 0.95: 4, 0.97: 4, 0.99: 4}
PAPER_WIDE_GAPS = {0.5: 72, 0.85: 32, 0.95: 7, 1.0: 0}
WIDE_GAP = 0.5
TIMES = (1.0, 10.0)  # seconds at which proofs are counted, in addition to the limit


def summary(rows: Sequence[Row]) -> str:
    """Write the summary of a study.

    Parameters
    ----------
    rows : sequence of dict
        Rows of instances.

    Returns
    -------
    text : str
        Markdown.
    """
    return "\n".join(_parts(rows)) + "\n"


def _parts(rows: Sequence[Row]) -> Iterator[str]:
    """Lines of the summary."""
    done = finished(rows, "robust")
    yield "# Results of the study"
    yield ""
    yield from _overview(rows, done)
    compared = finished(rows, "robust", "ordinary")
    if robust_levels(compared):
        yield from _by_plausibility(compared)
        yield from ("## Comparison with the paper", "", *paper_comparison(compared), "")
    yield from _proofs(done)
    with_stable = finished(rows, "robust", "ordinary", "stable")
    if robust_levels(with_stable):
        yield from _stable(with_stable)
    ablated = finished(rows, "paper", "paper_without_sample_cuts")
    if ablated:
        yield from _ablation(ablated)


def _overview(rows: Sequence[Row], done: Sequence[Row]) -> Iterator[str]:
    """Number of instances, times, and the instances that did not finish."""
    unfinished = [row for row in rows if row["outcome"] != "finished"]
    hours = sum(row["seconds"] for row in done) / 3600
    limits = sorted({row["time_limit"] for row in rows})
    yield (
        f"{len(done)} instances of {len({row['dataset'] for row in rows})} tables, "
        f"at most {', '.join(f'{limit:g}' for limit in limits)} seconds for a tree, "
        f"{hours:.1f} hours of computation in total; hardwood {', '.join(sorted({row['version'] for row in done}))}."
    )
    yield ""
    for row in unfinished:
        yield f"* {row['id']} {row['outcome']}: {row['message']}"
    if unfinished:
        yield ""


def _by_plausibility(rows: Sequence[Row]) -> Iterator[str]:
    """Gains, price of robustness and size of robust trees, compared with the ordinary tree."""
    yield "## Robust trees compared with regularised ordinary trees, by plausibility"
    yield ""
    yield "Means over instances, in percentage points; the number of splits is a median."
    yield ""
    yield from _head(
        "plausibility",
        "instances",
        "gain in the worst case",
        "gain on average",
        "gain in the worst case, unexpected shifts",
        "gain on average, unexpected shifts",
        "price of robustness",
        "splits",
    )
    for level in levels(rows):
        at_level = at(rows, level)
        means = [
            gains(at_level, "worst").mean(),
            gains(at_level, "mean").mean(),
            gains(at_level, "worst", UNEXPECTED).mean(),
            gains(at_level, "mean", UNEXPECTED).mean(),
            prices_of_robustness(at_level).mean(),
        ]
        median_size = f"{np.median(sizes(at_level)):g}"
        yield _line(f"{level:g}", len(at_level), *(f"{100 * mean:+.2f}" for mean in means), median_size)
    yield ""


def paper_comparison(rows: Sequence[Row]) -> Iterator[str]:
    """Lines of a table that compares the results with those of the paper."""
    yield from _head("", "paper", "here")
    for measure, paper, title in (("worst", "12.48", "in the worst case"), ("mean", "4.85", "on average")):
        mean_gain = mean_gains(rows, measure)
        best = max(mean_gain, key=mean_gain.__getitem__)
        yield _line(
            f"largest gain {title}, expected shifts (here: mean over the instances of a plausibility)",
            f"+{paper}",
            f"{100 * mean_gain[best]:+.2f} at {best:g}",
        )
        single = 100 * gains([row for row in rows if row["plausibility"] < 1], measure).max()
        yield _line(f"the same for a single instance {title}", "", f"{single:+.2f}")
    middle = [row for row in rows if 0.75 <= row["plausibility"] <= 0.9]
    if middle:
        means = [prices_of_robustness(at(middle, level)).mean() for level in levels(middle)]
        yield _line(
            "mean price of robustness between 0.75 and 0.9",
            "0.05 to 0.1",
            f"{min(means):.3f} to {max(means):.3f}",
        )
    for level, size in PAPER_MEDIAN_SIZES.items():
        if at_level := at(rows, level):
            yield _line(f"median number of splits at {level:g}", size, f"{np.median(sizes(at_level)):g}")
    for level, wide in PAPER_WIDE_GAPS.items():
        if at_level := at(rows, level):
            count = int((solver_gaps(at_level, solved_by(level)) > WIDE_GAP).sum())
            counts = f"{wide} of 192", f"{count} of {len(at_level)}"
            yield _line(f"instances with a gap above 50 % at {level:g}", *counts)


def _proofs(rows: Sequence[Row]) -> Iterator[str]:
    """Numbers of proved instances by depth, time and plausibility."""
    depths = sorted({row["depth"] for row in rows})
    yield "## Proofs of optimality"
    yield ""
    yield (
        "Number of instances whose worst-case accuracy is proved to be optimal. Seconds are processor time of one "
        "thread, where it was recorded."
    )
    yield ""
    yield from proved_within(rows)
    yield ""
    yield "The same by plausibility, within the time limit; median seconds in brackets."
    yield ""
    yield from _head("plausibility", *(f"depth {depth}" for depth in depths))
    for level in levels(rows):
        cells = []
        for depth in depths:
            cell_rows = [row for row in at(rows, level) if row["depth"] == depth]
            if cell_rows:
                median = float(np.median([seconds(row) for row in cell_rows]))
                cells.append(f"{n_proved(cell_rows)} of {len(cell_rows)} ({median:.2g})")
            else:
                cells.append("")
        yield _line(f"{level:g}", *cells)
    smallest = n_proved(rows, statuses=(PROVED,))
    yield ""
    yield f"For {smallest} of {len(rows)} instances it is also proved that no equally robust tree has fewer splits."
    yield ""


def proved_within(rows: Sequence[Row]) -> Iterator[str]:
    """Lines of a table of the instances proved by depth, within 1 and 10 seconds and within the time limit."""
    limit = max(row["time_limit"] for row in rows)
    times = [time for time in TIMES if time < limit]
    yield from _head("depth", "instances", *(f"within {time:g} s" for time in times), f"within {limit:g} s")
    for depth in (*sorted({row["depth"] for row in rows}), None):
        at_depth = [row for row in rows if depth in (row["depth"], None)]
        counts = [n_proved(at_depth, within=time) for time in times]
        yield _line("all" if depth is None else depth, len(at_depth), *counts, n_proved(at_depth))


def _stable(rows: Sequence[Row]) -> Iterator[str]:
    """Robust trees compared with stable trees."""
    yield "## Robust trees compared with stable trees (RCT-B), on tables whose columns have two values each"
    yield ""
    yield (
        "Means in percentage points, compared with the regularised ordinary tree; numbers of splits are medians. "
        f"In {sum(row['stable_radius'] >= 1 for row in rows)} of {len(rows)} instances, at least one value of a row "
        "may change; in the others, a stable tree is an ordinary tree that is not regularised."
    )
    yield ""
    columns = ("gain in the worst case", "gain on average", "price of robustness", "splits", "proved")
    yield from _head(
        "plausibility", "instances", *(f"{name}, {method}" for name in columns for method in ("robust", "stable"))
    )
    for level in levels(rows):
        at_level = at(rows, level)
        cells: list[object] = []
        for measure in ("worst", "mean"):
            cells += [f"{100 * gains(at_level, measure, of=method).mean():+.2f}" for method in ("robust", "stable")]
        cells += [f"{100 * prices_of_robustness(at_level, method).mean():+.2f}" for method in ("robust", "stable")]
        cells += [f"{np.median(sizes(at_level, method)):g}" for method in ("robust", "stable")]
        cells += [len(solved_times(at_level, method)) for method in ("robust", "stable")]
        yield _line(f"{level:g}", len(at_level), *cells)
    yield ""


def _ablation(rows: Sequence[Row]) -> Iterator[str]:
    """The paper's method with and without cuts for single samples."""
    yield "## The paper's method with and without cuts for single samples"
    yield ""
    yield from _head("method", "solved", "median seconds", "mean gap")
    for method, title in (
        ("paper", "with the cuts"),
        ("paper_without_sample_cuts", "without"),
        ("robust", "exact search"),
    ):
        median = np.median([seconds(row, method) for row in rows])
        gap = 100 * solver_gaps(rows, method).mean()
        yield _line(title, f"{len(solved_times(rows, method))} of {len(rows)}", f"{median:.3g}", f"{gap:.1f} %")
    yield ""
    compared = speed_up(rows, "paper", "paper_without_sample_cuts")
    if compared is not None:
        n_solved, with_cuts = compared
        limit = max(row["time_limit"] for row in rows)
        yield (
            f"Without the cuts, {n_solved} instances are solved in {limit:g} seconds; with them, as many within "
            f"{with_cuts:.1f} seconds: a factor of {limit / max(with_cuts, 1e-3):.0f}. The paper: 96 of 384 in 7,200 "
            f"seconds, with the cuts as many in 32 seconds, a factor of 225."
        )
        yield ""


def _head(*titles: str) -> Iterator[str]:
    """Lines of the head of a Markdown table."""
    yield _line(*titles)
    yield _line(*("---" for _ in titles))


def _line(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"
