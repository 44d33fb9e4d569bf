"""The results of a study as a text with tables, beside the numbers of the paper where it gives any."""

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
    prices,
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
WIDE = 0.5
MOMENTS = (1.0, 10.0)  # seconds at which proofs are counted, besides the limit


def summary(rows: Sequence[Row]) -> str:
    """The text, in Markdown."""
    return "\n".join(_parts(rows)) + "\n"


def _parts(rows: Sequence[Row]) -> Iterator[str]:
    done = finished(rows, "robust")
    yield "# Results of the study"
    yield ""
    yield from _overview(rows, done)
    compared = finished(rows, "robust", "ordinary")
    if robust_levels(compared):
        yield from _by_plausibility(compared)
        yield from ("## Beside the paper", "", *beside_the_paper(compared), "")
    yield from _proofs(done)
    with_stable = finished(rows, "robust", "ordinary", "stable")
    if robust_levels(with_stable):
        yield from _stable(with_stable)
    ablated = finished(rows, "paper", "paper_without_sample_cuts")
    if ablated:
        yield from _ablation(ablated)


def _overview(rows: Sequence[Row], done: Sequence[Row]) -> Iterator[str]:
    troubled = [row for row in rows if row["outcome"] != "finished"]
    hours = sum(row["seconds"] for row in done) / 3600
    limits = sorted({row["time_limit"] for row in rows})
    yield (
        f"{len(done)} instances of {len({row['dataset'] for row in rows})} tables, "
        f"at most {', '.join(f'{limit:g}' for limit in limits)} seconds for a tree, "
        f"{hours:.1f} hours of work in all; hardwood {', '.join(sorted({row['version'] for row in done}))}."
    )
    yield ""
    for row in troubled:
        yield f"* {row['id']} {row['outcome']}: {row['message']}"
    if troubled:
        yield ""


def _by_plausibility(rows: Sequence[Row]) -> Iterator[str]:
    yield "## Robust against regularised ordinary tree, by plausibility"
    yield ""
    yield "Means over instances, in percentage points; the tests of the tree are a median."
    yield ""
    yield from _head(
        "plausibility",
        "instances",
        "worst case gained",
        "average gained",
        "worst case gained, unexpected shifts",
        "average gained, unexpected shifts",
        "price without a shift",
        "tests",
    )
    for level in levels(rows):
        own = at(rows, level)
        means = [
            gains(own, "worst").mean(),
            gains(own, "mean").mean(),
            gains(own, "worst", UNEXPECTED).mean(),
            gains(own, "mean", UNEXPECTED).mean(),
            prices(own).mean(),
        ]
        yield _line(f"{level:g}", len(own), *(f"{100 * mean:+.2f}" for mean in means), f"{np.median(sizes(own)):g}")
    yield ""


def beside_the_paper(rows: Sequence[Row]) -> Iterator[str]:
    """A table of what the paper reports, and of what came here."""
    yield from _head("", "paper", "here")
    for measure, paper, words in (("worst", "12.48", "in the worst case"), ("mean", "4.85", "on average")):
        mean_gain = mean_gains(rows, measure)
        best = max(mean_gain, key=mean_gain.__getitem__)
        yield _line(
            f"largest gain {words}, expected shifts (here: mean over the instances of a plausibility)",
            f"+{paper}",
            f"{100 * mean_gain[best]:+.2f} at {best:g}",
        )
        single = 100 * gains([row for row in rows if row["plausibility"] < 1], measure).max()
        yield _line(f"the same for a single instance {words}", "", f"{single:+.2f}")
    middle = [row for row in rows if 0.75 <= row["plausibility"] <= 0.9]
    if middle:
        means = [prices(at(middle, level)).mean() for level in levels(middle)]
        yield _line(
            "mean price of robustness between 0.75 and 0.9",
            "0.05 to 0.1",
            f"{min(means):.3f} to {max(means):.3f}",
        )
    for level, size in PAPER_MEDIAN_SIZES.items():
        if own := at(rows, level):
            yield _line(f"median tests at {level:g}", size, f"{np.median(sizes(own)):g}")
    for level, wide in PAPER_WIDE_GAPS.items():
        if own := at(rows, level):
            count = int((solver_gaps(own, solved_by(level)) > WIDE).sum())
            yield _line(f"instances with a gap above 50 % at {level:g}", f"{wide} of 192", f"{count} of {len(own)}")


def _proofs(rows: Sequence[Row]) -> Iterator[str]:
    depths = sorted({row["depth"] for row in rows})
    yield "## Proved"
    yield ""
    yield (
        "Instances whose worst-case accuracy is proved to be the best possible. Seconds are processor time of one "
        "thread, where it was recorded."
    )
    yield ""
    yield from proved_within(rows)
    yield ""
    yield "The same by plausibility, within the limit; median seconds in brackets."
    yield ""
    yield from _head("plausibility", *(f"depth {depth}" for depth in depths))
    for level in levels(rows):
        cells = []
        for depth in depths:
            own = [row for row in at(rows, level) if row["depth"] == depth]
            if own:
                median = float(np.median([seconds(row) for row in own]))
                cells.append(f"{n_proved(own)} of {len(own)} ({median:.2g})")
            else:
                cells.append("")
        yield _line(f"{level:g}", *cells)
    smallest = n_proved(rows, statuses=(PROVED,))
    yield ""
    yield f"For {smallest} of {len(rows)} instances it is proved, too, that no tree as robust has fewer tests."
    yield ""


def proved_within(rows: Sequence[Row]) -> Iterator[str]:
    """A table of instances proved by depth, within one second, ten, and sixty."""
    limit = max(row["time_limit"] for row in rows)
    moments = [moment for moment in MOMENTS if moment < limit]
    yield from _head("depth", "instances", *(f"within {moment:g} s" for moment in moments), f"within {limit:g} s")
    for depth in (*sorted({row["depth"] for row in rows}), None):
        own = [row for row in rows if depth in (row["depth"], None)]
        counts = [n_proved(own, within=moment) for moment in moments]
        yield _line("all" if depth is None else depth, len(own), *counts, n_proved(own))


def _stable(rows: Sequence[Row]) -> Iterator[str]:
    yield "## Robust against stable trees (RCT-B), on tables with two answers in each column"
    yield ""
    yield (
        "Against the regularised ordinary tree, in percentage points, means; tests are medians. "
        f"A row may change in at least one answer in {sum(row['stable_radius'] >= 1 for row in rows)} of {len(rows)} "
        "instances; elsewhere a stable tree is an ordinary tree that is not regularised."
    )
    yield ""
    columns = ("worst case gained", "average gained", "price", "tests", "proved")
    yield from _head(
        "plausibility", "instances", *(f"{name}, {method}" for name in columns for method in ("robust", "stable"))
    )
    for level in levels(rows):
        own = at(rows, level)
        cells: list[object] = []
        for measure in ("worst", "mean"):
            cells += [f"{100 * gains(own, measure, of=method).mean():+.2f}" for method in ("robust", "stable")]
        cells += [f"{100 * prices(own, method).mean():+.2f}" for method in ("robust", "stable")]
        cells += [f"{np.median(sizes(own, method)):g}" for method in ("robust", "stable")]
        cells += [len(solved_times(own, method)) for method in ("robust", "stable")]
        yield _line(f"{level:g}", len(own), *cells)
    yield ""


def _ablation(rows: Sequence[Row]) -> Iterator[str]:
    yield "## The paper's method with and without cuts for single samples"
    yield ""
    yield from _head("method", "solved", "median seconds", "mean gap")
    for name, words in (
        ("paper", "with the cuts"),
        ("paper_without_sample_cuts", "without"),
        ("robust", "exact search"),
    ):
        median = np.median([seconds(row, name) for row in rows])
        gap = 100 * solver_gaps(rows, name).mean()
        yield _line(words, f"{len(solved_times(rows, name))} of {len(rows)}", f"{median:.3g}", f"{gap:.1f} %")
    yield ""
    faster = speed_up(rows, "paper", "paper_without_sample_cuts")
    if faster is not None:
        n, fast = faster
        limit = max(row["time_limit"] for row in rows)
        yield (
            f"Without the cuts, {n} instances are solved in {limit:g} seconds; with them, as many within {fast:.1f} "
            f"seconds: a factor of {limit / max(fast, 1e-3):.0f}. The paper: 96 of 384 in 7,200 seconds, with the cuts "
            f"as many in 32 seconds, a factor of 225."
        )
        yield ""


def _head(*titles: str) -> Iterator[str]:
    yield _line(*titles)
    yield _line(*("---" for _ in titles))


def _line(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"
