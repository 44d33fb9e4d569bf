"""Instances of the paper's study, defined once for studies and benchmarks, so that their results can be compared.

Four fifths of the rows of each table are training rows, always the same. The certainty of a column is drawn from a
normal distribution around a mean and clipped to the values that are valid for the column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hardwood._util.arrays import FloatArray
from hardwood.data.datasets import Dataset
from hardwood.data.encode import encode
from hardwood.data.labels import Labels, encode_labels
from hardwood.data.table import Table
from hardwood.problem import Problem
from hardwood.shifts.calibration import checked_certainty
from hardwood.shifts.models import Calibrated
from hardwood.shifts.reach import reaches
from hardwood.trees.tree import Tree

TRAINING_SHARE = 0.8
CERTAINTY_DEVIATION = 0.2  # standard deviation of certainties
CERTAINTY_SEED = 1  # default; a study has its seed in its settings


@dataclass(frozen=True)
class TrainTestSplit:
    """Training and test rows of a table.

    A value that only test rows have is an additional category of the test table, as in deployment.

    Parameters
    ----------
    table, labels : Table and Labels
        The training rows.
    test_table, test_labels : Table and Labels
        The test rows, encoded with the features of the training rows.
    """

    table: Table
    labels: Labels
    test_table: Table
    test_labels: Labels

    def tree_for_test(self, tree: Tree) -> Tree:
        """A tree that was learnt from the training rows, with the features of the test table."""
        return Tree(self.test_table.features, tree.classes, tree.root)


def split_of(dataset: Dataset, share: float = TRAINING_SHARE) -> TrainTestSplit:
    """Split a dataset into training and test rows; the split of a dataset is always the same.

    Parameters
    ----------
    dataset : Dataset
    share : float, default=0.8
        Share of the rows that are training rows.

    Returns
    -------
    split : TrainTestSplit
    """
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
    return TrainTestSplit(table, labels, test_table, encode_labels(target, len(target), classes=labels.classes))


def certainty_of(mean: float, table: Table, seed: int = CERTAINTY_SEED) -> FloatArray:
    """Draw a certainty for each column.

    Parameters
    ----------
    mean : float
        Mean of the normal distribution.
    table : Table
    seed : int, default=1
        Tables with equal numbers of columns get equal certainties, before these are clipped.

    Returns
    -------
    certainty : array of shape (n_features,)
    """
    random = np.random.default_rng([seed, round(100 * mean)])
    return clipped_certainty(table, random.normal(mean, CERTAINTY_DEVIATION, len(table.features)))


def clipped_certainty(table: Table, certainty: FloatArray) -> FloatArray:
    """The nearest valid certainties: at most 1, and such that no other value is more likely."""
    clipped = checked_certainty(table, reaches(table), np.clip(certainty, 0.0, 1.0), clip=True)
    return np.array([float(entry.reshape(-1)[0]) for entry in clipped])


def problem_of(
    dataset: Dataset, mean_certainty: float, plausibility: float, depth: int, share: float = TRAINING_SHARE
) -> Problem:
    """Build the problem of an instance of the paper's study.

    Parameters
    ----------
    dataset : Dataset
    mean_certainty, plausibility : float
    depth : int
    share : float, default=0.8
        Share of the rows that are training rows.

    Returns
    -------
    problem : Problem
    """
    split = split_of(dataset, share)
    shifts = Calibrated(certainty_of(mean_certainty, split.table), plausibility, clip=True)
    return Problem(split.labels, shifts.uncertainty(split.table), depth)
