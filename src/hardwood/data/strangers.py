"""Answers that training has not seen: a few are nothing unusual, many mean another question, or another unit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from hardwood._support.text import shown
from hardwood.data.features import NO_ANSWER, Feature, Kind, Table

FEW_STRANGERS = 0.25  # share of answers outside what training saw that is nothing unusual ...
FEWEST_ROWS = 20  # ... in a table with so many rows at least


def warn_of_strangers(table: Table, known: Sequence[Feature], *, stacklevel: int) -> None:
    """Warn of columns many of whose answers the features of training do not know."""
    if table.n_samples < FEWEST_ROWS:
        return
    for share, feature in zip(outside_shares(table, known), known, strict=True):
        if share > FEW_STRANGERS:
            seen = f"{feature.low} to {feature.high}" if feature.kind is Kind.INTEGER else "the answers that it knows"
            words = f"{shown(feature.name)}: {share:.0%} of values lie outside what training saw ({seen})"
            warnings.warn(words, stacklevel=stacklevel + 1)


def outside_shares(table: Table, known: Sequence[Feature]) -> list[float]:
    """For each column the share of rows whose answer training has not seen; bins have no end, so nothing is outside."""
    shares = []
    for j, feature in enumerate(known):
        codes = table.values[:, j]
        outside = (codes < feature.low) | (codes > feature.high)
        if feature.missing:
            outside &= codes != NO_ANSWER
        shares.append(0.0 if feature.kind is Kind.BINNED else float(outside.mean()))
    return shares
