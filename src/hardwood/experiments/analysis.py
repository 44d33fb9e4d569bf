"""Numbers from the rows of a study. Accuracies and gaps are shares here; tables and figures show per cent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hardwood.experiments.store import Row
from hardwood.experiments.tasks import EXPECTED, FAMILIES
from hardwood.shift.calibration import FloatArray

UNEXPECTED = tuple(family for family in FAMILIES if family != EXPECTED)
PROVED = "optimal"
ACCURACY_PROVED = (PROVED, "most_robust")


def finished(rows: Sequence[Row], *methods: str) -> list[Row]:
    """The rows that have all of some methods."""
    return [row for row in rows if row["outcome"] == "finished" and all(f"{m}_tree" in row for m in methods)]


def levels(rows: Sequence[Row]) -> list[float]:
    """The plausibilities that occur, ascending."""
    return sorted({row["plausibility"] for row in rows})


def robust_levels(rows: Sequence[Row]) -> list[float]:
    """The plausibilities at which there is something to hedge against."""
    return [level for level in levels(rows) if level < 1]


def at(rows: Sequence[Row], level: float) -> list[Row]:
    """The rows of a plausibility."""
    return [row for row in rows if row["plausibility"] == level]


def gains(
    rows: Sequence[Row],
    measure: str,
    families: Sequence[str] = (EXPECTED,),
    *,
    of: str = "robust",
) -> FloatArray:
    """How much more accurate a method is than the ordinary tree on shifted test tables.

    measure   "worst" or "mean" of the tables of a family
    families  a number for each instance and family
    """
    return np.array(
        [row[f"{of}_{measure}_{family}"] - row[f"ordinary_{measure}_{family}"] for row in rows for family in families]
    )


def prices(rows: Sequence[Row], of: str = "robust") -> FloatArray:
    """What robustness costs where nothing shifts: accuracy of the ordinary tree minus that of the method."""
    return np.array([row["ordinary_nominal"] - row[f"{of}_nominal"] for row in rows])


def sizes(rows: Sequence[Row], of: str = "robust") -> FloatArray:
    """Branching nodes."""
    return np.array([row[f"{of}_branching_nodes"] for row in rows], dtype=float)


def solved_by(level: float) -> str:
    """Whose times and gaps the paper shows at a plausibility: at 1, those of the regularised ordinary tree."""
    return "robust" if level < 1 else "ordinary"


def solver_gaps(rows: Sequence[Row], of: str = "robust") -> FloatArray:
    """The gap as mixed-integer solvers count it, and the paper: what may be missing, relative to what is reached.

    An optimum has none, even if a tree with more tests would be more accurate and is not worth its penalty.
    """
    return np.array([0.0 if row[f"{of}_status"] == PROVED else _gap(row, of) for row in rows])


def _gap(row: Row, of: str) -> float:
    return float((row[f"{of}_upper_bound"] - row[f"{of}_correct"]) / max(row[f"{of}_correct"], 1))


def seconds(row: Row, of: str = "robust") -> float:
    """How long a tree took: processor time where it is known, because a study may share its machine."""
    name = f"{of}_cpu_seconds"
    return float(row[name if name in row else f"{of}_seconds"])


def solved_times(rows: Sequence[Row], of: str = "robust") -> FloatArray:
    """Seconds of the instances that were solved to the end, ascending."""
    return np.sort([seconds(row, of) for row in rows if row[f"{of}_status"] == PROVED])


def n_proved(
    rows: Sequence[Row], statuses: Sequence[str] = ACCURACY_PROVED, *, of: str = "robust", within: float = np.inf
) -> int:
    """How many instances have a tree that no tree beats in the worst case, within some seconds."""
    return sum(row[f"{of}_status"] in statuses and seconds(row, of) <= within for row in rows)


def mean_gains(rows: Sequence[Row], measure: str) -> dict[float, float]:
    """The mean gain under expected shifts for each plausibility below 1."""
    return {level: float(gains(at(rows, level), measure).mean()) for level in robust_levels(rows)}


def speed_up(rows: Sequence[Row], fast: str, slow: str) -> tuple[int, float] | None:
    """How many instances the slow method solves within its limit, and the seconds in which the fast one solves so many.

    None if there is nothing to compare.
    """
    n = len(solved_times(rows, slow))
    times = solved_times(rows, fast)
    return (n, float(times[n - 1])) if 0 < n <= len(times) else None
