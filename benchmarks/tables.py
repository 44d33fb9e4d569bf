"""Instances of the paper's study for benchmarks: the tables of `hardwood.datasets`, read from HARDWOOD_DATA."""

from __future__ import annotations

import numpy as np

import hardwood as hw
from hardwood.datasets import PAPER_DATASETS as NAMES
from hardwood.datasets import load_dataset
from hardwood.features import Labels, Table

__all__ = ["NAMES", "problem", "training_table"]


def training_table(name: str, seed: int = 0, share: float = 0.8) -> tuple[Table, Labels]:
    """A random share of the rows."""
    dataset = load_dataset(name)
    n = dataset.n_samples
    kept = np.sort(np.random.default_rng(seed).permutation(n)[: int(share * n)])
    columns = {title: [values[i] for i in kept] for title, values in dataset.columns.items()}
    return hw.encode(columns), hw.encode_labels([dataset.target[i] for i in kept], len(kept))


def problem(
    name: str, mean_certainty: float, plausibility: float, depth: int, seed: int = 1, share: float = 0.8
) -> hw.Problem:
    """An instance of the paper's study: certainty by feature from a normal distribution, clipped; no bounds."""
    table, labels = training_table(name, share=share)
    rng = np.random.default_rng([seed, round(100 * mean_certainty)])
    certainty = rng.normal(mean_certainty, 0.2, len(table.features))
    uncertainty = hw.UncertaintySet.calibrated(table, certainty=certainty, plausibility=plausibility, clip=True)
    return hw.Problem(labels, uncertainty, depth)
