"""Texts about what a shift model states by column."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hardwood._util.text import printable
from hardwood._util.types import PerColumn
from hardwood.shifts.pair_tables import is_table
from hardwood.shifts.plain_values import is_square_table, plain

PER_CELL = "by cell"


def reach_texts(model: object, *names: str) -> list[str]:
    """Describe where values may move, as far as the model restricts it."""
    values = {name: getattr(model, name) for name in names}
    return [f"{name} {printable(plain(value))}" for name, value in values.items() if value]


def entries_text(entries: PerColumn) -> str:
    """Describe numbers by column; a table of values is only mentioned."""
    if not isinstance(entries, Mapping):
        return printable(plain(entries))
    texts = (
        f"{'...' if name is ... else printable(name)}: {'a table' if is_square_table(own) else printable(plain(own))}"
        for name, own in entries.items()
    )
    return "{" + ", ".join(texts) + "}"


def certainty_text(entry: PerColumn) -> str:
    """Describe the certainty of one column."""
    if is_table(entry):
        return "by pair of values"
    numbers = np.asarray(entry, dtype=np.float64)
    low, high = float(numbers.min()), float(numbers.max())
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g} by cell"
