"""The commands of the shift laboratory: how certain answers are, and whether a shift was within the budget."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from hardwood._support.files import write_text
from hardwood.cli.console import NOT_CONFIRMED, errors, out, print_json
from hardwood.cli.options import Bounds, ColumnOptions, ShiftOptions, bounds_of, with_options
from hardwood.cli.tables import check_output, check_picture, csv_text, read_table, save_picture, without

Then = Annotated[Path, typer.Argument(help="The first table, in a CSV or Parquet file.", show_default=False)]
Now = Annotated[Path, typer.Argument(help="The second one, with the same columns.", show_default=False)]
On = Annotated[
    str | None, typer.Option(help="The column that says who is who; otherwise row by row.", show_default=False)
]
Different = Annotated[
    bool, typer.Option("--different-people", help="The tables are of different people: nobody is in both.")
]


@with_options(without=("missing", "drop_missing"))
def estimate(
    then: Then,
    now: Now,
    on: On = None,
    different_people: Different = False,
    columns: ColumnOptions = ColumnOptions(),  # noqa: B008 - immutable
    bounds: Bounds = None,
    weight: Annotated[
        str | None, typer.Option(help="The column of the first table that says how many people a row stands for.")
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="A column of the first table: estimates for each of its answers, too.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    tables: Annotated[
        Path | None, typer.Option(help="A folder for the tables P(later | now), one CSV file a column, for --measured.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the certainties to a file (svg, png, pdf).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Estimate how certain answers are, from the same questions asked twice."""
    with errors():
        from hardwood.shiftlab import LeastChange, estimate_certainty

        if plot is not None:
            check_picture("--plot", plot, then, now)
        if tables is not None and not tables.is_dir():
            raise ValueError(f"--tables is {tables}; expected a folder that exists")
        first, second = _both(then, now, columns)
        people = None if weight is None else first.column(_known(weight, "--weight", first)).to_numpy()
        who = None if groups is None else first.column(_known(groups, "--groups", first)).to_pylist()
        if different_people and (plot is not None or tables is not None or weight is not None or groups is not None):
            raise ValueError(
                "--different-people tells the least change only: no --plot, --tables, --weight or --groups"
            )
        aside = [] if weight is None else [weight]
        found = estimate_certainty(
            without(first, aside),
            without(second, _there(second, aside)),
            people,
            on=on,
            different_people=different_people,
            groups=None if who is None else [str(answer) for answer in who],
            feature_kinds=columns.kinds,
            bounds=bounds_of(bounds),
            missing_values=columns.missing_values,
            confidence=confidence,
        )
        if as_json:
            print_json(found.to_dict())
        else:
            out.print(str(found))
        if isinstance(found, LeastChange):
            return
        if not as_json:
            out.print(f"\nto use it: {_options_of(found)}")
        if tables is not None:
            _write_tables(found.tables, tables, then, now)
        if plot is not None:
            save_picture(found.plot().figure, plot)


@with_options()
def drift(
    model: Annotated[Path, typer.Argument(help="A model file (or a tree in JSON).", show_default=False)],
    then: Then,
    now: Now,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column that is predicted, for what the shift cost.")
    ] = None,
    on: On = None,
    different_people: Different = False,
    shifts: ShiftOptions = ShiftOptions(),  # noqa: B008 - immutable
    weight: Annotated[
        str | None, typer.Option(help="The column of the first table that says how many people a row stands for.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Tell whether a shift that came was within the budget; exit code 1 if it was not."""
    with errors(words_of=None if shifts.given else model):
        from hardwood.estimators.audit import read_model
        from hardwood.shiftlab import drift as drifted

        tree = read_model(model)
        features = getattr(tree, "tree_", tree).features
        said = shifts.description([feature.name for feature in features]) if shifts.given else None
        tables = [read_table(path, features) for path in (then, now)]
        labels = [None, None] if target is None else [_labels(tables[0], target), _labels(tables[1], target, False)]
        people = None if weight is None else tables[0].column(_known(weight, "--weight", tables[0])).to_numpy()
        wanted = [feature.name for feature in features] + ([] if on is None else [on])
        who = {on: "--on"}
        tables = [
            table.select([_known(name, who.get(name, "the model"), table) for name in wanted]) for table in tables
        ]
        words: dict[str, Any] = {"on": on, "different_people": different_people, "shifts": said}
        found = drifted(tree, tables[0], tables[1], labels[0], labels[1], people, **words)
        if as_json:
            print_json(found.to_dict())
        else:
            out.print(str(found))
    if not found.within:
        raise typer.Exit(NOT_CONFIRMED)


def _both(then: Path, now: Path, columns: ColumnOptions) -> tuple[Any, Any]:
    """Both tables, without the columns to drop."""
    both = [read_table(path) for path in (then, now)]
    for name in [*(columns.drop or []), *(columns.kinds or {})]:
        if not any(name in own.column_names for own in both):
            raise ValueError(f'neither table has the column "{name}" that --drop or --kind names')
    return tuple(without(own, _there(own, columns.drop)) for own in both)


def _options_of(found: Any) -> str:
    """The estimate as options of `hardwood fit` and others."""
    said = [f"--certainty {shlex.quote(f'{name}={value:.4g}')}" for name, value in found.certainty.items()]
    said += [f"--direction {shlex.quote(f'{name}={way}')}" for name, way in found.direction.items()]
    sure = found.missing_certainty.items()
    return " ".join([*said, *(f"--missing-certainty {shlex.quote(f'{name}={value:.4g}')}" for name, value in sure)])


def _known(name: str, who: str, table: Any) -> str:
    """The name of a column that a table must have."""
    if name not in table.column_names:
        raise ValueError(f'{who} asks for the column "{name}"; the table has {table.column_names}')
    return name


def _there(table: Any, names: list[str] | None) -> list[str]:
    """Those of some columns that a table has."""
    return [name for name in names or [] if name in table.column_names]


def _labels(table: Any, target: str, needed: bool = True) -> Any:
    """The labels of a table; None if it has none and need not."""
    if not needed and target not in table.column_names:
        return None
    return table.column(_known(target, "--target", table)).to_numpy()


def _write_tables(tables: dict[str, Any], folder: Path, *inputs: Path) -> None:
    """Tables as files for --measured: all of them, or none if one would replace something that is needed."""
    paths = {name: folder / f"{_file_name(name)}.csv" for name in tables}
    for name, path in paths.items():
        check_output("--tables", path, *inputs)
        twin = next((other for other in paths if other != name and paths[other] == path), None)
        if twin is not None:
            raise ValueError(f'--tables: the columns "{name}" and "{twin}" would both go to {path}; rename one')
    for name, table in tables.items():
        cells: dict[str, list[Any]] = {name: ["" if answer is None else answer for answer in table]}
        cells |= {"" if to is None else str(to): [row[to] for row in table.values()] for to in table}
        write_text(paths[name], csv_text(cells))


def _file_name(column: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in column)
