"""The regularised ordinary optimal tree (paper, section 6.1.3).

    maximise   R * (samples correct) - (1 - R) * (splits)

R is chosen by the accuracy on a held-out part of the training table. The paper prints a sum over samples in front of
the splits, which would charge a split once for every sample. Here it is read as the sum over features that is missing
in the paper's formula.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from hardwood.data.labels import Labels
from hardwood.data.table import Table
from hardwood.problem import Problem
from hardwood.shifts.uncertainty_set import UncertaintySet
from hardwood.solvers.base import Limits, Result, StopReason
from hardwood.solvers.search import SearchSolver

STRENGTHS = (0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True, slots=True)
class Regularised:
    """A regularised tree and how its R was chosen.

    Attributes
    ----------
    result : Result
        The tree for the chosen R.
    strength : float
        The chosen R.
    scores : dict of float to float
        Held-out accuracy for each R; empty if there was no choice.
    works : tuple of int or None
        Work of each search that stopped early, in order; None for those that finished. Given as limits, they repeat the
        run exactly.
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

    Parameters
    ----------
    table, labels : Table, Labels
        The training table.
    max_depth : int
        Largest depth of the tree.
    order : array of int
        The samples in random order; the first of them are held out.
    strengths : sequence of float
        Values of R. Among equal scores the smallest, the most regularised, is chosen; a single value needs no choice.
    held_out : float, default=0.2
        Share of the samples that is held out.
    limits : Limits or iterable of Limits
        For each search; several are used one after the other.
    n_jobs : int, default=1
        Number of threads.

    Raises
    ------
    KeyboardInterrupt
        If a search was interrupted before R was chosen.
    """
    strengths = sorted(float(strength) for strength in strengths)
    if not strengths or not all(0 < strength <= 1 for strength in strengths):
        raise ValueError(f"strengths are {strengths}; expected numbers in (0, 1]")

    limits_of_searches = repeat(limits) if isinstance(limits, Limits) else iter(limits)
    solver = SearchSolver(shallower_half=False)  # so that `works` repeats searches that the clock stopped
    works: list[int | None] = []

    def learn(rows: NDArray[np.int64], strength: float) -> Result:
        part = table.rows(rows)
        no_shifts = UncertaintySet.boxes(part, radius=0)
        problem = Problem(labels.rows(rows), no_shifts, max_depth, (1.0 - strength) / strength)
        result = solver.solve(problem, limits=next(limits_of_searches), n_jobs=n_jobs)
        works.append(None if result.stop_reason is StopReason.FINISHED else result.work)
        return result

    scores: dict[float, float] = {}
    if len(strengths) > 1:
        training, validation = _split_rows(order, held_out)
        validation_table, validation_labels = table.rows(validation), labels.rows(validation)
        for strength in strengths:
            result = learn(training, strength)
            if result.stop_reason is StopReason.INTERRUPTED:
                raise KeyboardInterrupt  # scores of unfinished trees are not comparable
            correct = result.tree.predict(validation_table) == validation_labels.codes
            scores[strength] = float(np.average(correct, weights=validation_labels.sample_weights))
    best = max(strengths, key=lambda strength: scores.get(strength, 0.0))
    result = learn(np.arange(table.n_samples), best)
    return Regularised(result, best, scores, tuple(works))


def _split_rows(order: NDArray[np.int64], held_out: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows to learn from and the rows that are held out."""
    if not 0 < held_out < 1:
        raise ValueError(f"held_out is {held_out!r}; it must lie between 0 and 1")
    n_held_out = max(1, round(held_out * len(order)))
    if n_held_out >= len(order):
        raise ValueError(f"held_out is {held_out}; with n_samples={len(order)} none would be left to learn from")
    return np.sort(order[n_held_out:]), np.sort(order[:n_held_out])
