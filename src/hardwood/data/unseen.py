"""Unseen values: a few are usual; many suggest that a column has another meaning or another unit than in training."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from hardwood._util.text import printable
from hardwood.data.codes import MISSING_CODE
from hardwood.data.feature import Feature, Kind
from hardwood.data.table import Table

MAX_UNSEEN_SHARE = 0.25  # larger shares of unseen values are reported ...
MIN_ROWS = 20  # ... in tables with at least this many rows


def warn_of_unseen_values(table: Table, known: Sequence[Feature], *, stacklevel: int) -> None:
    """Warn of columns with many unseen values.

    Parameters
    ----------
    table : Table
        Encoded with `unseen="extra"`.
    known : sequence of Feature
        Features of training, in the order of the table's columns.
    stacklevel : int
        As in `warnings.warn`.
    """
    if table.n_samples < MIN_ROWS:
        return
    for share, feature in zip(unseen_shares(table, known), known, strict=True):
        if share > MAX_UNSEEN_SHARE:
            seen = f"{feature.low} to {feature.high}" if feature.kind is Kind.INTEGER else "its known values"
            message = f"{printable(feature.name)}: {share:.0%} of values lie outside what training saw ({seen})"
            warnings.warn(message, stacklevel=stacklevel + 1)


def unseen_shares(table: Table, known: Sequence[Feature]) -> list[float]:
    """Return the share of rows with an unseen value, by column; 0 for binned columns, whose end bins are unbounded."""
    shares = []
    for j, feature in enumerate(known):
        codes = table.values[:, j]
        outside = (codes < feature.low) | (codes > feature.high)
        if feature.missing:
            outside &= codes != MISSING_CODE
        shares.append(0.0 if feature.kind is Kind.BINNED else float(outside.mean()))
    return shares
