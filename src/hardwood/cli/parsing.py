"""Values of options: texts such as `column=number`, parsed with errors that name the option."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from hardwood._util.arguments import OTHERS
from hardwood.data.columns import Category

ByColumn: TypeAlias = float | dict[str, float]  # one number, or numbers by column (`OTHERS`: the other columns)


def number(option: str, text: str) -> float:
    """Parse a number."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f'{option} is "{text}"; expected a number') from None


def numbers(option: str, text: str) -> list[float]:
    """Parse numbers that are separated by commas."""
    return [number(option, entry) for entry in text.split(",")]


def pair(option: str, entry: str) -> tuple[str, str]:
    """Split `column=value`; the last equals sign counts, because column names may hold others."""
    name, equals, value = entry.rpartition("=")
    if not equals or not name:
        raise ValueError(f'{option} is "{entry}"; expected column=value')
    return name, value


def by_column(option: str, entries: Sequence[str], names: Sequence[str], default: float | None) -> ByColumn:
    """Parse a number for all columns and `column=number` for single ones.

    Parameters
    ----------
    option : str
        The option, for error messages.
    entries : sequence of str
        What the option was given.
    names : sequence of str
        The columns of the table.
    default : float or None
        Number for columns without an entry; None requires one for every column.
    """
    single, common = {}, default
    for entry in entries:
        if "=" in entry:
            name, text = pair(option, entry)
            single[name] = number(option, text)
        else:
            common = number(option, entry)
    _check_names(option, single, names)
    if not single and common is not None:
        return common
    if set(single) == set(names):
        return {**single}
    if common is None:
        raise ValueError(f"{option} leaves out some columns; add {option} NUMBER for all others")
    return {**single, OTHERS: common}


def by_some_columns(option: str, entries: Sequence[str], names: Sequence[str]) -> ByColumn:
    """Parse a number for all columns, or `column=number` for some of them; the other columns have none."""
    if not all("=" in entry for entry in entries):
        return by_column(option, entries, names, None)
    pairs = dict(pair(option, entry) for entry in entries)
    _check_names(option, pairs, names)
    return {name: number(option, text) for name, text in pairs.items()}


def integers(value: ByColumn) -> ByColumn:
    """Turn whole numbers into integers; other numbers stay, so that the check of the argument refuses them."""
    if isinstance(value, dict):
        return {name: _integer(entry) for name, entry in value.items()}
    return _integer(value)


def class_weights(entries: Sequence[str] | None) -> str | dict[Category, float] | None:
    """Parse --class-weight: `balanced`, or `class=number` repeated; classes that look like numbers are numbers."""
    if not entries:
        return None
    if [*entries] == ["balanced"]:
        return "balanced"
    pairs = [pair("--class-weight", entry) for entry in entries]
    return {_label(name): number("--class-weight", text) for name, text in pairs}


def bounds_by_column(entries: Sequence[str] | None) -> dict[str, tuple[int | None, int | None]] | None:
    """Parse --bounds: `column=lower:upper` repeated; an end may be empty."""
    return dict(_bounds(entry) for entry in entries or []) or None


def kinds_by_column(entries: Sequence[str] | None) -> dict[str, str | list[Category]] | None:
    """Parse --kind: `column=kind` repeated, or `column=a<b<c` for an order."""
    pairs = dict(pair("--kind", entry) for entry in entries or [])
    return {name: _order(value) if "<" in value else value for name, value in pairs.items()} or None


def _check_names(option: str, entries: dict[str, float] | dict[str, str], names: Sequence[str]) -> None:
    unknown = [name for name in entries if name not in names]
    if unknown:
        raise ValueError(f'{option} names the column "{unknown[0]}"; the table has {list(names)}')


def _integer(value: float) -> float:
    return int(value) if float(value).is_integer() else value


def _label(text: str) -> Category:
    return int(text) if text.lstrip("-").isdigit() else {"true": True, "false": False}.get(text.lower(), text)


def _bounds(entry: str) -> tuple[str, tuple[int | None, int | None]]:
    name, text = pair("--bounds", entry)
    low, colon, high = text.partition(":")
    if not colon:
        raise ValueError(f'--bounds is "{entry}"; expected column=lower:upper')
    try:
        return name, (int(low) if low else None, int(high) if high else None)
    except ValueError:
        raise ValueError(f'--bounds is "{entry}"; expected whole numbers, column=lower:upper') from None


def _order(text: str) -> list[Category]:
    """Split values in their order; they are integers if all of them look like integers."""
    values = [value.strip() for value in text.split("<")]
    if all(value.lstrip("-").isdigit() for value in values):
        return [int(value) for value in values]
    return [*values]
