"""Numbers of a report as text."""

from __future__ import annotations


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, such as "3 questions"."""
    return f"1 {noun}" if n == 1 else f"{n:,} {noun}s"


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def amount(weight: float) -> str:
    """Return a number of rows, or the weight of weighted rows: an integer as such, others with one decimal."""
    return f"{int(weight):,}" if weight == int(weight) else f"{weight:,.1f}"


def row_count(weight: float) -> str:
    """Return an amount with its noun, such as "120 rows"."""
    return "1 row" if weight == 1 else f"{amount(weight)} rows"


def duration(seconds: float) -> str:
    """Return a time in seconds."""
    return f"{seconds:.2g} seconds" if seconds < 10 else f"{seconds:.0f} seconds"
