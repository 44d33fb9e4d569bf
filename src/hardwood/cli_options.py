"""Options of the command line about columns and shifts, as the parameters of the classifier."""

from __future__ import annotations

from typing import Any


def shift_words(
    table: Any,
    certainty: list[str] | None,
    plausibility: float | None,
    cost: list[str] | None,
    budget: float | None,
    direction: list[str] | None,
    bounds: list[str] | None,
    clip: bool,
) -> dict[str, Any]:
    """The options about shifts as the estimator's parameters."""
    if cost and certainty:
        raise ValueError("--cost and --certainty are both given; one of them sets the prices")
    if budget is not None and plausibility is not None:
        raise ValueError("--budget and --plausibility are both given; one of them sets the budget")
    names = list(table.column_names)
    return {
        "certainty": _by_column("--certainty", certainty, names, 0.9),
        "plausibility": 0.9 if plausibility is None else plausibility,
        "costs": _by_column("--cost", cost, names, None) if cost else None,
        "budget": budget,
        "direction": dict(_pair("--direction", entry) for entry in direction or []) or None,
        "bounds": dict(_bounds(entry) for entry in bounds or []) or None,
        "clip_certainty": clip,
    }


def _by_column(option: str, entries: list[str] | None, names: list[str], default: float | None) -> Any:
    """One number for all columns, and column=number for some."""
    own, common = {}, default
    for entry in entries or []:
        if "=" in entry:
            name, text = _pair(option, entry)
            own[name] = number(option, text)
        else:
            common = number(option, entry)
    unknown = [name for name in own if name not in names]
    if unknown:
        raise ValueError(f'{option} names the column "{unknown[0]}"; the table has {names}')
    if not own:
        return common
    if common is None and set(own) != set(names):
        raise ValueError(f"{option} leaves out some columns; add {option} NUMBER for all others")
    return {name: own.get(name, common) for name in names}


def _pair(option: str, entry: str) -> tuple[str, str]:
    name, equals, value = entry.rpartition("=")
    if not equals or not name:
        raise ValueError(f'{option} is "{entry}"; expected column=value')
    return name, value


def _bounds(entry: str) -> tuple[str, tuple[int | None, int | None]]:
    name, text = _pair("--bounds", entry)
    low, colon, high = text.partition(":")
    if not colon:
        raise ValueError(f'--bounds is "{entry}"; expected column=lower:upper')
    try:
        return name, (int(low) if low else None, int(high) if high else None)
    except ValueError:
        raise ValueError(f'--bounds is "{entry}"; expected whole numbers, column=lower:upper') from None


def kinds(entries: list[str] | None) -> dict[str, Any] | None:
    """column=kind, or column=a<b<c for an order."""
    pairs = dict(_pair("--kind", entry) for entry in entries or [])
    return {name: _order(value) if "<" in value else value for name, value in pairs.items()} or None


def _order(text: str) -> list[Any]:
    """Answers in their order, as numbers if all are whole numbers."""
    answers = [answer.strip() for answer in text.split("<")]
    whole = all(answer.lstrip("-").isdigit() for answer in answers)
    return [int(answer) for answer in answers] if whole else answers


def number(option: str, text: str) -> float:
    """A number, or an error that names the option."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f'{option} is "{text}"; expected a number') from None
