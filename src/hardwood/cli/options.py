"""Options that several commands share: each stands here once, and commands take them as one argument.

A function with a parameter of type `ShiftOptions` or `ColumnOptions` becomes a command by `with_options`, which puts
the single options in its place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from hardwood._support.arguments import OTHERS
from hardwood.cli.tables import answer_shares
from hardwood.data.codes import numbers_in
from hardwood.shift.description import ShiftDescription

Bounds = Annotated[list[str] | None, typer.Option(help="column=lower:upper, repeated; an end may be empty.")]


@dataclass(frozen=True)
class ShiftOptions:
    """What may shift, and how much of it to hedge against."""

    certainty: Annotated[
        list[str] | None,
        typer.Option(
            help="Probability that a value is recorded the same way in use: a number for all columns, or "
            "column=number, repeated; 0.9 if not given.",
            show_default=False,
        ),
    ] = None
    plausibility: Annotated[
        float | None,
        typer.Option(help="Hedge against shifts at least so plausible, per row; 0.9 if not given.", show_default=False),
    ] = None
    cost: Annotated[
        list[str] | None,
        typer.Option("--cost", help="Price of a step instead of a certainty: a number, or column=number, repeated."),
    ] = None
    budget: Annotated[float | None, typer.Option(help="Total price of shifts instead of a plausibility.")] = None
    direction: Annotated[list[str] | None, typer.Option(help="column=up or column=down, repeated.")] = None
    bounds: Bounds = None
    radius: Annotated[
        list[str] | None,
        typer.Option(
            help="Instead of certainty and plausibility: every row may move freely by so many steps, all at once: a "
            "number, or column=number, repeated.",
        ),
    ] = None
    missing_certainty: Annotated[
        list[str] | None,
        typer.Option(
            help="How sure it is that whether there is an answer at all stays the same: a number, or column=number, "
            "repeated; the column's certainty if not given.",
        ),
    ] = None
    measured: Annotated[
        list[str] | None,
        typer.Option(
            help="column=FILE, repeated: instead of a certainty, a CSV table of how people of each answer (first "
            "column) answered the second time (header), in shares that add up to one.",
        ),
    ] = None
    clip: Annotated[
        bool, typer.Option("--clip", help="Move senseless certainties to the nearest that makes sense.")
    ] = False

    @property
    def given(self) -> bool:
        """Whether anything is said about shifts."""
        return any(value is not None and value is not False for value in asdict(self).values())  # 0 is a budget

    def words(self, names: list[str]) -> dict[str, Any]:
        """The options as parameters of the estimators, for the columns of a table; what is not said is left out."""
        if self.cost and self.certainty:
            raise ValueError("--cost and --certainty are both given; one of them sets the prices")
        if self.budget is not None and self.plausibility is not None:
            raise ValueError("--budget and --plausibility are both given; one of them sets the budget")
        said = {
            "certainty": _by_column("--certainty", self.certainty, names, CERTAINTY) if self.certainty else None,
            "plausibility": self.plausibility,
            "costs": _by_column("--cost", self.cost, names, None) if self.cost else None,
            "budget": self.budget,
            "direction": dict(_pair("--direction", entry) for entry in self.direction or []) or None,
            "bounds": bounds_of(self.bounds),
            "radius": _whole(_by_column("--radius", self.radius, names, 0)) if self.radius else None,
            "missing_certainty": _some_columns("--missing-certainty", self.missing_certainty, names),
        }
        if self.measured:
            said["certainty"] = self._with_tables(said["certainty"], names)
        return {name: value for name, value in said.items() if value is not None} | {"clip": self.clip}

    def _with_tables(self, certainty: Any, names: list[str]) -> dict[str, Any]:
        """Certainties by column, with tables for those that were measured."""
        if self.cost:
            raise ValueError("--measured and --cost are both given; one of them sets the prices")
        common = CERTAINTY if certainty is None else certainty
        spread = dict(common) if isinstance(common, dict) else {OTHERS: common}
        for entry in self.measured or []:
            name, file = _pair("--measured", entry)
            if name not in names:
                raise ValueError(f'--measured names the column "{name}"; the table has {names}')
            spread[name] = answer_shares(Path(file))
        return spread

    def description(self, names: list[str]) -> ShiftDescription:
        """The same as a description of shifts."""
        return ShiftDescription(**self.words(names))


@dataclass(frozen=True)
class ColumnOptions:
    """How the columns of a table are read."""

    kind: Annotated[
        list[str] | None,
        typer.Option(
            help="column=KIND, repeated: integer, ordinal, binary, categorical, binned; or an order, low<middle<high."
        ),
    ] = None
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out, repeated.")] = None
    missing: Annotated[str, typer.Option(help='"error", or "category": a missing answer is an answer of its own.')] = (
        "error"
    )
    na: Annotated[
        list[str] | None,
        typer.Option("--na", help='An answer that means that there is none, such as "?" or -9, repeated.'),
    ] = None
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Leave out rows without an answer in some column.")
    ] = False

    @property
    def complete(self) -> list[Any] | None:
        """Codes for no answer if rows with one are to be left out; then there are none left."""
        return [*(self.na or [])] if self.drop_missing else None

    @property
    def missing_values(self) -> list[Any] | None:
        """Codes for no answer, as text and, if they are numbers, as such."""
        codes: list[Any] = []
        for code in self.na or []:
            codes += [code] if numbers_in([code]) is None else [code, *(numbers_in([code]) or {}).values()]
        return codes or None

    @property
    def kinds(self) -> dict[str, Any] | None:
        """column=kind, or column=a<b<c for an order."""
        pairs = dict(_pair("--kind", entry) for entry in self.kind or [])
        return {name: _order(value) if "<" in value else value for name, value in pairs.items()} or None


CERTAINTY = ShiftDescription().certainty
GROUPS = (ShiftOptions, ColumnOptions)


def with_options(*, without: Iterable[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn groups of options into the single options, but for those that a command has no use for."""
    left_out = set(without)

    def expand(function: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(function, eval_str=True)
        groups = {name: entry.annotation for name, entry in signature.parameters.items() if entry.annotation in GROUPS}
        parameters: list[inspect.Parameter] = []
        for name, entry in signature.parameters.items():
            parameters += _options_of(groups[name], left_out) if name in groups else [entry]

        def command(**given: Any) -> None:
            for name, group in groups.items():
                own = {field.name: given.pop(field.name) for field in fields(group) if field.name in given}
                given[name] = group(**own)
            function(**given)

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {entry.name: entry.annotation for entry in parameters}
        return command

    return expand


def _options_of(group: type, left_out: set[str]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
        if field.name not in left_out
    ]


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
    return own if set(own) == set(names) else {**own, OTHERS: common}


def _some_columns(option: str, entries: list[str] | None, names: list[str]) -> Any:
    """One number for all columns, or column=number for some, the others left to themselves."""
    if not entries:
        return None
    if all("=" in entry for entry in entries):
        pairs = dict(_pair(option, entry) for entry in entries)
        unknown = [name for name in pairs if name not in names]
        if unknown:
            raise ValueError(f'{option} names the column "{unknown[0]}"; the table has {names}')
        return {name: number(option, text) for name, text in pairs.items()}
    return _by_column(option, entries, names, None)


def class_weights(entries: list[str] | None) -> Any:
    """--class-weight balanced, or class=number, repeated; classes that look like numbers are numbers."""
    if not entries:
        return None
    if entries == ["balanced"]:
        return "balanced"
    pairs = [_pair("--class-weight", entry) for entry in entries]
    return {_answer(name): number("--class-weight", text) for name, text in pairs}


def _answer(text: str) -> Any:
    return int(text) if text.lstrip("-").isdigit() else {"true": True, "false": False}.get(text.lower(), text)


def _whole(value: Any) -> Any:
    """Whole numbers as such; whatever is none is left to whoever checks it."""
    if isinstance(value, dict):
        return {name: _whole(entry) for name, entry in value.items()}
    return int(value) if float(value).is_integer() else value


def _pair(option: str, entry: str) -> tuple[str, str]:
    name, equals, value = entry.rpartition("=")
    if not equals or not name:
        raise ValueError(f'{option} is "{entry}"; expected column=value')
    return name, value


def bounds_of(entries: list[str] | None) -> dict[str, tuple[int | None, int | None]] | None:
    """--bounds column=lower:upper, repeated."""
    return dict(_bounds(entry) for entry in entries or []) or None


def _bounds(entry: str) -> tuple[str, tuple[int | None, int | None]]:
    name, text = _pair("--bounds", entry)
    low, colon, high = text.partition(":")
    if not colon:
        raise ValueError(f'--bounds is "{entry}"; expected column=lower:upper')
    try:
        return name, (int(low) if low else None, int(high) if high else None)
    except ValueError:
        raise ValueError(f'--bounds is "{entry}"; expected whole numbers, column=lower:upper') from None


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
