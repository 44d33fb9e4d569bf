"""Arguments and options of the commands, each declared once.

An argument or option that a command takes on its own is an annotated type. Options that belong together are a
dataclass, `ShiftOptions`, `ColumnOptions` or `TreeOptions`: a function with a parameter of such a type becomes a
command by `with_options`, which replaces the parameter by the single options.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, get_type_hints

import typer

from hardwood._util.arguments import OTHERS
from hardwood._util.types import Arguments, TableLike
from hardwood.cli.parsing import (
    ByColumn,
    bounds_by_column,
    by_column,
    by_some_columns,
    class_weights,
    integers,
    kinds_by_column,
    pair,
)
from hardwood.cli.tables import pair_shares
from hardwood.data.columns import Category
from hardwood.data.feature import Feature
from hardwood.data.missing_codes import parse_numbers
from hardwood.shifts.models import PARAMETERS, ShiftModel, shift_model
from hardwood.solvers.registry import solvers_text

_TABLE = "A table in a CSV or Parquet file; empty cells and NA are missing."

Data = Annotated[Path, typer.Argument(help=_TABLE, show_default=False)]
DataOrFolder = Annotated[
    Path,
    typer.Argument(
        help=f"{_TABLE} A folder of Parquet files, or a very large Parquet file, is read in chunks.", show_default=False
    ),
]
FirstTable = Annotated[Path, typer.Argument(help="The first table, in a CSV or Parquet file.", show_default=False)]
SecondTable = Annotated[Path, typer.Argument(help="The second table, with the same columns.", show_default=False)]
FirstWeight = Annotated[
    str | None, typer.Option("--weight", help="The column of sample weights in the first table.", show_default=False)
]
FittedModel = Annotated[Path, typer.Argument(help="A model that fit wrote.", show_default=False)]
ModelOrTree = Annotated[Path, typer.Argument(help="A model file, or a tree in JSON.", show_default=False)]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Bounds = Annotated[list[str] | None, typer.Option(help="column=lower:upper, repeated; an end may be empty.")]
ClassWeight = Annotated[
    list[str] | None,
    typer.Option(help="Class weights: balanced, or class=number, repeated; 1 if not given.", show_default=False),
]
DifferentPeople = Annotated[
    bool, typer.Option("--different-people", help="The two tables are samples of different people.")
]
DropMissing = Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with a missing value, as fit did.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 uses all cores.")]
MissingCodes = Annotated[
    list[str] | None,
    typer.Option("--na", help="A missing code, a value that means missing, as given to fit; repeated."),
]
On = Annotated[
    str | None,
    typer.Option(
        help="The column that identifies the samples of both tables; otherwise row i belongs to row i.",
        show_default=False,
    ),
]
Plot = Annotated[Path | None, typer.Option(help="Draw the result to a file (svg, png, pdf).")]
Target = Annotated[str, typer.Option("--target", "-t", help="The column to predict.", show_default=False)]
OptionalTarget = Annotated[
    str | None, typer.Option("--target", "-t", help="The column to predict; it is not a feature.", show_default=False)
]
TestTable = Annotated[
    Path | None, typer.Option("--test", help="A table of unseen rows, to evaluate the trees on, too.")
]
TimeLimit = Annotated[float, typer.Option(help="Seconds; then the best tree so far is kept.")]
Weight = Annotated[
    str | None, typer.Option(help="The column of sample weights; it is not a feature.", show_default=False)
]


@dataclass(frozen=True)
class ShiftOptions:
    """Options that state the shift model."""

    certainty: Annotated[
        list[str] | None,
        typer.Option(
            help="Probability that a value is recorded the same way in deployment: a number for all columns, or "
            "column=number, repeated; 0.9 if not given.",
            show_default=False,
        ),
    ] = None
    plausibility: Annotated[
        float | None,
        typer.Option(
            help="Hedge against shifts with at least this likelihood ratio per row; 0.9 if not given.",
            show_default=False,
        ),
    ] = None
    cost: Annotated[
        list[str] | None,
        typer.Option("--cost", help="Cost of a step instead of a certainty: a number, or column=number, repeated."),
    ] = None
    budget: Annotated[float | None, typer.Option(help="Total cost of shifts instead of a plausibility.")] = None
    direction: Annotated[list[str] | None, typer.Option(help="column=up or column=down, repeated.")] = None
    bounds: Bounds = None
    radius: Annotated[
        list[str] | None,
        typer.Option(
            help="Instead of certainty and plausibility: every value moves freely by up to this many steps, in all "
            "rows at once: a number, or column=number, repeated.",
        ),
    ] = None
    missing_certainty: Annotated[
        list[str] | None,
        typer.Option(
            help="Probability that a value's missingness status does not change: a number, or column=number, "
            "repeated; the column's certainty if not given.",
        ),
    ] = None
    measured: Annotated[
        list[str] | None,
        typer.Option(
            help="column=FILE, repeated: instead of a certainty, a CSV table of probabilities of the later value "
            "(header) given the value now (first column); each row adds up to one.",
        ),
    ] = None
    clip: Annotated[
        bool, typer.Option("--clip", help="Replace certainties that are too low for a column by the lowest valid one.")
    ] = False

    @property
    def given(self) -> bool:
        """Whether any option about shifts is given."""
        return any(value is not None and value is not False for value in asdict(self).values())  # 0 is a budget

    def parameters(self, names: list[str]) -> Arguments:
        """Return the options as parameters of the estimators; options that are not given are left out.

        Parameters
        ----------
        names : list of str
            The columns of the table.
        """
        if self.cost and self.certainty:
            raise ValueError("--cost and --certainty are both given; give only one of them")
        stated = {"--certainty": self.certainty, "--cost": self.cost, "--plausibility": self.plausibility}
        for option, value in (stated | {"--budget": self.budget, "--measured": self.measured}).items():
            if self.radius and value is not None:
                raise ValueError(f"--radius and {option} are both given; boxes have neither costs nor a budget")
        if self.budget is not None and self.plausibility is not None:
            raise ValueError("--budget and --plausibility are both given; give only one of them")
        certainty = by_column("--certainty", self.certainty, names, CERTAINTY) if self.certainty else None
        given = {
            "certainty": self._with_tables(certainty, names) if self.measured else certainty,
            "plausibility": self.plausibility,
            "costs": by_column("--cost", self.cost, names, None) if self.cost else None,
            "budget": self.budget,
            "direction": dict(pair("--direction", entry) for entry in self.direction or []) or None,
            "bounds": bounds_by_column(self.bounds),
            "radius": integers(by_column("--radius", self.radius, names, 0)) if self.radius else None,
            "missing_certainty": by_some_columns("--missing-certainty", self.missing_certainty, names)
            if self.missing_certainty
            else None,
            "clip": self.clip or None,
        }
        return {name: value for name, value in given.items() if value is not None}

    def _with_tables(self, certainty: ByColumn | None, names: list[str]) -> dict[str, object]:
        """Return certainties by column, with the tables of --measured."""
        if self.cost:
            raise ValueError("--measured and --cost are both given; give only one of them")
        common = CERTAINTY if certainty is None else certainty
        certainties: dict[str, object] = dict(common) if isinstance(common, dict) else {OTHERS: common}
        for entry in self.measured or []:
            name, file = pair("--measured", entry)
            if name not in names:
                raise ValueError(f'--measured names the column "{name}"; the table has {names}')
            certainties[name] = pair_shares(Path(file))
        return certainties

    def description(self, names: list[str]) -> ShiftModel:
        """Return the options as a shift model, for the columns of a table."""
        return shift_model(**self.parameters(names))


@dataclass(frozen=True)
class ColumnOptions:
    """Options that state how the columns of a table are read."""

    kind: Annotated[
        list[str] | None,
        typer.Option(
            help="column=KIND, repeated: integer, ordinal, binary, categorical, binned; or an order, low<middle<high."
        ),
    ] = None
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out, repeated.")] = None
    missing: Annotated[
        str, typer.Option(help='"error" refuses missing values; with "category", missing is a value of its own.')
    ] = "error"
    na: Annotated[
        list[str] | None,
        typer.Option("--na", help='A missing code, a value that means missing, such as "?" or -9; repeated.'),
    ] = None
    drop_missing: Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with a missing value.")] = False

    @property
    def dropped_codes(self) -> list[Category] | None:
        """Missing codes of the rows to leave out; None keeps all rows."""
        return [*(self.na or [])] if self.drop_missing else None

    @property
    def missing_values(self) -> list[Category] | None:
        """Missing codes, as text and, where they are numbers, as numbers, too."""
        return missing_values(self.na)

    @property
    def kinds(self) -> dict[str, str | list[Category]] | None:
        """Kinds by column."""
        return kinds_by_column(self.kind)

    def parameters(self) -> Arguments:
        """Return the options as parameters of the estimators."""
        return {"feature_kinds": self.kinds, "missing": self.missing, "missing_values": self.missing_values}

    def features_of(self, X: TableLike) -> tuple[Feature, ...]:
        """Return the features of a table, by which later tables are read."""
        from hardwood.data.encode import encode

        return encode(X, kinds=self.kinds, missing=self.missing, missing_values=self.missing_values).features


@dataclass(frozen=True)
class TreeOptions:
    """Options that state which trees are admissible, and how the best one is found."""

    depth: Annotated[
        int, typer.Option("--depth", "-d", help="Maximum depth: the number of splits above a prediction.")
    ] = 3
    class_weight: ClassWeight = None
    min_samples_leaf: Annotated[
        int, typer.Option(help="Minimum number of training rows in every leaf, without a shift.")
    ] = 0
    solver: Annotated[str, typer.Option("--solver", help=f"{solvers_text()}.")] = "search"
    time_limit: TimeLimit = 60.0
    memory_limit: Annotated[
        str | None, typer.Option(help="Memory that the search may use, such as 4GB.", show_default=False)
    ] = None

    def parameters(self) -> Arguments:
        """Return the options as parameters of the estimators."""
        return {
            "max_depth": self.depth,
            "class_weight": class_weights(self.class_weight),
            "min_samples_leaf": self.min_samples_leaf,
            "solver": self.solver,
            "time_limit": self.time_limit,
            "memory_limit": self.memory_limit,
        }


CERTAINTY: float = PARAMETERS["certainty"]
_GROUPS = (ShiftOptions, ColumnOptions, TreeOptions)


def missing_values(codes: Sequence[str] | None) -> list[Category] | None:
    """Return missing codes as text and, where they are numbers, as numbers, too; None if there are none."""
    values: list[Category] = []
    for code in codes or []:
        values += [code, *(parse_numbers([code]) or {}).values()]
    return values or None


def with_options(*, without: Iterable[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a function so that its groups of options become single options of the command.

    Parameters
    ----------
    without : iterable of str, default=()
        Options of the groups that the command does not have.
    """
    left_out = set(without)

    def expand(function: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(function, eval_str=True)
        groups = {name: entry.annotation for name, entry in signature.parameters.items() if entry.annotation in _GROUPS}
        parameters: list[inspect.Parameter] = []
        for name, entry in signature.parameters.items():
            parameters += _single_options(groups[name], left_out) if name in groups else [entry]

        def command(**given: object) -> None:
            for name, group in groups.items():
                of_group = {field.name: given.pop(field.name) for field in fields(group) if field.name in given}
                given[name] = group(**of_group)
            function(**given)

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {entry.name: entry.annotation for entry in parameters}
        return command

    return expand


def _single_options(group: type, left_out: set[str]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
        if field.name not in left_out
    ]
