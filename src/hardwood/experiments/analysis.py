"""Numbers from the rows of a study. Accuracies and gaps are fractions; tables and figures show per cent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hardwood._util.arrays import FloatArray
from hardwood.experiments.store import Row
from hardwood.experiments.tasks import EXPECTED, FAMILIES

UNEXPECTED = tuple(family for family in FAMILIES if family != EXPECTED)
PROVED = "optimal"
ACCURACY_PROVED = (PROVED, "most_robust")


def finished(rows: Sequence[Row], *methods: str) -> list[Row]:
    """Rows of finished instances that have trees of all the given methods."""
    return [row for row in rows if row["outcome"] == "finished" and all(f"{m}_tree" in row for m in methods)]


def levels(rows: Sequence[Row]) -> list[float]:
    """Plausibilities of the rows, ascending."""
    return sorted({row["plausibility"] for row in rows})


def robust_levels(rows: Sequence[Row]) -> list[float]:
    """Plausibilities below 1, at which there is a shift to hedge against."""
    return [level for level in levels(rows) if level < 1]


def at(rows: Sequence[Row], level: float) -> list[Row]:
    """Rows of a plausibility."""
    return [row for row in rows if row["plausibility"] == level]


def gains(
    rows: Sequence[Row],
    measure: str,
    families: Sequence[str] = (EXPECTED,),
    *,
    of: str = "robust",
) -> FloatArray:
    """Gain in accuracy of a method over the ordinary tree on shifted test tables.

    Parameters
    ----------
    rows : sequence of dict
    measure : {"worst", "mean"}
        Lowest or mean accuracy over the tables of a family.
    families : sequence of str
        Families of shifts.
    of : str, default="robust"
        The method.

    Returns
    -------
    gains : array
        One number for each instance and family.
    """
    return np.array(
        [row[f"{of}_{measure}_{family}"] - row[f"ordinary_{measure}_{family}"] for row in rows for family in families]
    )


def prices_of_robustness(rows: Sequence[Row], of: str = "robust") -> FloatArray:
    """Price of robustness: nominal accuracy of the ordinary tree minus that of the method."""
    return np.array([row["ordinary_nominal"] - row[f"{of}_nominal"] for row in rows])


def sizes(rows: Sequence[Row], of: str = "robust") -> FloatArray:
    """Number of splits of each tree."""
    return np.array([row[f"{of}_branching_nodes"] for row in rows], dtype=float)


def solved_by(level: float) -> str:
    """Method whose times and gaps the paper shows at a plausibility: at 1, the regularised ordinary tree."""
    return "robust" if level < 1 else "ordinary"


def solver_gaps(rows: Sequence[Row], of: str = "robust") -> FloatArray:
    """Gaps as mixed-integer solvers and the paper define them: (upper bound - value) / value.

    The gap of an optimum is 0, even if a tree with more splits is more accurate but does not outweigh its penalty.
    """
    return np.array([0.0 if row[f"{of}_status"] == PROVED else _gap(row, of) for row in rows])


def _gap(row: Row, of: str) -> float:
    return float((row[f"{of}_upper_bound"] - row[f"{of}_correct"]) / max(row[f"{of}_correct"], 1))


def seconds(row: Row, of: str = "robust") -> float:
    """Seconds for a tree: processor time where it was recorded, because a study may share its machine."""
    name = f"{of}_cpu_seconds"
    return float(row[name if name in row else f"{of}_seconds"])


def solved_times(rows: Sequence[Row], of: str = "robust") -> FloatArray:
    """Seconds of the instances that were solved to proven optimality, ascending."""
    return np.sort([seconds(row, of) for row in rows if row[f"{of}_status"] == PROVED])


def n_proved(
    rows: Sequence[Row], statuses: Sequence[str] = ACCURACY_PROVED, *, of: str = "robust", within: float = np.inf
) -> int:
    """Number of instances whose worst-case accuracy was proved to be optimal within some seconds."""
    return sum(row[f"{of}_status"] in statuses and seconds(row, of) <= within for row in rows)


def mean_gains(rows: Sequence[Row], measure: str) -> dict[float, float]:
    """Mean gain under expected shifts for each plausibility below 1."""
    return {level: float(gains(at(rows, level), measure).mean()) for level in robust_levels(rows)}


def speed_up(rows: Sequence[Row], fast: str, slow: str) -> tuple[int, float] | None:
    """Compare two methods by the time in which they solve the same number of instances.

    Parameters
    ----------
    rows : sequence of dict
    fast, slow : str
        The methods.

    Returns
    -------
    n_solved : int
        Number of instances that the slow method solves within its limit.
    seconds : float
        Seconds in which the fast method solves this number of instances. The function returns None instead of the pair
        if there is nothing to compare.
    """
    n_solved = len(solved_times(rows, slow))
    times = solved_times(rows, fast)
    return (n_solved, float(times[n_solved - 1])) if 0 < n_solved <= len(times) else None
