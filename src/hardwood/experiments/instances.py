"""The problems of the paper's study, drawn in one place for studies and benchmarks: their results are about the same.

Of each table, four fifths of the rows are for learning, always the same. The certainty of a column is drawn from a
normal distribution around a mean and clipped to what makes sense for the column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hardwood.data.datasets import Dataset
from hardwood.data.features import Table, encode
from hardwood.data.labels import Labels, encode_labels
from hardwood.problem import Problem
from hardwood.shift.calibration import FloatArray, checked_certainty, reaches
from hardwood.shift.description import ShiftDescription
from hardwood.trees.tree import Tree

TRAINING_SHARE = 0.8
SPREAD = 0.2  # standard deviation of certainties
SEED = 1  # of the certainties, unless a study says otherwise


@dataclass(frozen=True)
class Split:
    """The training and the test rows of a table, read as training knows them.

    An answer that only test rows have is one more category of the test table, as it would be in use.
    """

    table: Table
    labels: Labels
    test_table: Table
    test_labels: Labels

    def in_use(self, tree: Tree) -> Tree:
        """A tree that was learnt from the training rows, for the test rows."""
        return Tree(self.test_table.features, tree.classes, tree.root)


def split_of(dataset: Dataset, share: float = TRAINING_SHARE) -> Split:
    """The rows for learning, drawn once and for all, and the others; fewer are for learning if `share` is smaller."""
    order = np.random.default_rng(0).permutation(dataset.n_samples)
    n_training = int(share * dataset.n_samples)
    training, test = (np.sort(part).tolist() for part in (order[:n_training], order[n_training:]))

    def rows(chosen: list[int]) -> tuple[dict[str, list[int] | list[str]], list[str]]:
        columns = {name: [values[i] for i in chosen] for name, values in dataset.columns.items()}
        return columns, [dataset.target[i] for i in chosen]  # type: ignore[return-value]  # a column keeps its type

    columns, target = rows(training)
    table, labels = encode(columns), encode_labels(target, len(target))
    columns, target = rows(test)
    test_table = encode(columns, features=table.features, unseen="extra")
    return Split(table, labels, test_table, encode_labels(target, len(target), classes=labels.classes))


def certainty_of(mean: float, table: Table, seed: int = SEED) -> FloatArray:
    """A certainty for each column; tables with as many columns have the same, before they are clipped."""
    draw = np.random.default_rng([seed, round(100 * mean)])
    return legal(table, draw.normal(mean, SPREAD, len(table.features)))


def legal(table: Table, certainty: FloatArray) -> FloatArray:
    """The nearest certainties that the columns can have: at most 1, at least as likely as any other answer."""
    clipped = checked_certainty(table, reaches(table), np.clip(certainty, 0.0, 1.0), clip=True)
    return np.array([float(own.reshape(-1)[0]) for own in clipped])


def problem_of(
    dataset: Dataset, mean_certainty: float, plausibility: float, depth: int, share: float = TRAINING_SHARE
) -> Problem:
    """An instance of the paper's study."""
    split = split_of(dataset, share)
    shifts = ShiftDescription(certainty_of(mean_certainty, split.table), plausibility, clip=True)
    return Problem(split.labels, shifts.uncertainty(split.table), depth)
