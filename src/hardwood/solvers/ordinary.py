"""The ordinary optimal tree, regularised (paper, section 6.1.3):

    maximise   R * (samples correct) - (1 - R) * (tests)

with R chosen by the accuracy on a held-out part of the training table. The paper prints a sum over samples in front of
the tests, which would charge a test once for every sample; we take it for the sum over features that is missing there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from hardwood.data.features import Table
from hardwood.data.labels import Labels
from hardwood.problem import Problem
from hardwood.shift.uncertainty import UncertaintySet
from hardwood.solvers.base import Limits, Result, StopReason
from hardwood.solvers.search import SearchSolver

STRENGTHS = (0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True, slots=True)
class Regularised:
    """The tree for the R that was chosen (`strength`), and the held-out accuracy for each R (`scores`).

    works  what each search did that stopped early, in the order of the searches; None for those that finished. Given as
           limits, they repeat the run exactly.
    """

    result: Result
    strength: float
    scores: dict[float, float]
    works: tuple[int | None, ...]


def solve_regularised(
    table: Table,
    labels: Labels,
    max_depth: int,
    order: NDArray[np.int64],
    *,
    strengths: Sequence[float] = STRENGTHS,
    held_out: float = 0.2,
    limits: Limits | Iterable[Limits] = Limits(),  # noqa: B008 - immutable
    n_jobs: int = 1,
) -> Regularised:
    """Choose R, then learn the tree from the whole table.

    order      the samples in random order: the first of them are held out
    strengths  values of R; the smallest (the most regularised) wins among equals, and a single one needs no choice
    limits     for each tree; several: for one after the other
    """
    strengths = sorted(float(strength) for strength in strengths)
    if not strengths or not all(0 < strength <= 1 for strength in strengths):
        raise ValueError(f"strengths are {strengths}; expected numbers in (0, 1]")

    limits_of_tree = repeat(limits) if isinstance(limits, Limits) else iter(limits)
    works: list[int | None] = []

    def learnt(rows: NDArray[np.int64], strength: float) -> Result:
        own_table, own_labels = table.rows(rows), labels.rows(rows)
        still = UncertaintySet.boxes(own_table, radius=0)
        problem = Problem(own_labels, still, max_depth, (1.0 - strength) / strength)
        result = SearchSolver().solve(problem, limits=next(limits_of_tree), n_jobs=n_jobs)
        works.append(None if result.stop_reason is StopReason.FINISHED else result.work)
        return result

    scores: dict[float, float] = {}
    if len(strengths) > 1:
        kept, tested = _parts(order, held_out)
        test_table, test_labels = table.rows(tested), labels.rows(tested)
        for strength in strengths:
            result = learnt(kept, strength)
            if result.stop_reason is StopReason.INTERRUPTED:
                raise KeyboardInterrupt  # a choice among trees that are half done is no choice
            right = result.tree.predict(test_table) == test_labels.codes
            scores[strength] = float(np.average(right, weights=test_labels.row_people))
    best = max(strengths, key=lambda strength: scores.get(strength, 0.0))
    result = learnt(np.arange(table.n_samples), best)
    return Regularised(result, best, scores, tuple(works))


def _parts(order: NDArray[np.int64], held_out: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not 0 < held_out < 1:
        raise ValueError(f"held_out is {held_out!r}; it must lie between 0 and 1")
    n_held_out = max(1, round(held_out * len(order)))
    if n_held_out >= len(order):
        raise ValueError(f"held_out is {held_out}; with n_samples={len(order)} none would be left to learn from")
    return np.sort(order[n_held_out:]), np.sort(order[:n_held_out])
