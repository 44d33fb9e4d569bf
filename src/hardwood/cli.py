"""The command `hardwood`: the same calls as from Python, for tables in files (extra `cli`)."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable

from hardwood._files import write_text
from hardwood._version import __version__
from hardwood.features import Feature

OK, NOT_CONFIRMED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
app = typer.Typer(
    name="hardwood",
    help="Decision trees that stay right when the data shift, with a proof.",
    epilog="Exit codes: 0 done, 1 a check failed, 2 bad input, 130 interrupted (fit keeps the best tree).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
PLAIN = {"soft_wrap": True, "highlight": False, "markup": False, "emoji": False}
out, err = Console(**PLAIN), Console(stderr=True, **PLAIN)  # type: ignore[arg-type]
# Remedies in messages are written for Python; here they have other names.
IN_OTHER_WORDS = {
    'missing="category"': "--missing category",
    "clip=True, clip_certainty=True in the classifier, uses": "--clip uses",
    "clip=True": "--clip",
    "max_depth": "--depth",
    "n_jobs": "--jobs",
    "seconds is": "--time-limit is",
}
KINDS_IN_PYTHON = re.compile(r"kinds=\{\"(.*?)\": \[(.*?)\]\}")

Data = Annotated[
    Path, typer.Argument(help="A table in a CSV or Parquet file; empty cells and NA are missing.", show_default=False)
]
Target = Annotated[str, typer.Option("--target", "-t", help="The column to predict.", show_default=False)]
Model = Annotated[Path, typer.Argument(help="A model file (or a tree in JSON).", show_default=False)]
Certainty = Annotated[
    list[str] | None,
    typer.Option(
        help="Probability that a value is recorded the same way in use: a number for all columns, or column=number, "
        "repeated; 0.9 if not given.",
        show_default=False,
    ),
]
Plausibility = Annotated[
    float | None,
    typer.Option(help="Hedge against shifts at least so plausible, per row; 0.9 if not given.", show_default=False),
]
Costs = Annotated[
    list[str] | None,
    typer.Option("--cost", help="Price of a step instead of a certainty: a number, or column=number, repeated."),
]
Budget = Annotated[float | None, typer.Option(help="Total price of shifts instead of a plausibility.")]
Directions = Annotated[list[str] | None, typer.Option("--direction", help="column=up or column=down, repeated.")]
Bounds = Annotated[
    list[str] | None, typer.Option("--bounds", help="column=lower:upper, repeated; an end may be empty.")
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        help="column=KIND, repeated: integer, ordinal, binary, categorical, binned; or an order, low<middle<high.",
    ),
]
Drop = Annotated[list[str] | None, typer.Option("--drop", help="A column to leave out, repeated.")]
Missing = Annotated[
    str, typer.Option(help='"error", or "category": a missing answer in a column of text is an answer of its own.')
]
Depth = Annotated[int, typer.Option("--depth", "-d", help="Largest number of questions on the way to a prediction.")]
TimeLimit = Annotated[float, typer.Option(help="Seconds; then the best tree so far is kept.")]
SolverName = Annotated[str, typer.Option("--solver", help="search, scip or gurobi.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 uses all cores.")]
Clip = Annotated[bool, typer.Option("--clip", help="Move senseless certainties to the nearest that makes sense.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)] = False,
) -> None:
    for stream in (sys.stdout, sys.stderr):  # better a question mark than no answer
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if version:
        out.print(f"hardwood {__version__}")
        raise typer.Exit


@app.command(epilog="Example: hardwood fit survey.csv --target vote --certainty 0.9 --certainty age=0.7 --depth 3")
def fit(
    data: Data,
    target: Target,
    depth: Depth = 3,
    certainty: Certainty = None,
    plausibility: Plausibility = None,
    cost: Costs = None,
    budget: Budget = None,
    direction: Directions = None,
    bounds: Bounds = None,
    kind: Kinds = None,
    drop: Drop = None,
    missing: Missing = "error",
    clip: Clip = False,
    penalty: Annotated[float | None, typer.Option(help="What a question must be worth, in rows.")] = None,
    solver: SolverName = "search",
    time_limit: TimeLimit = 60.0,
    jobs: Jobs = 1,
    model: Annotated[Path, typer.Option("--model", "-m", help="Where to write the model.")] = Path("model.json"),
    as_json: AsJson = False,
) -> None:
    """Learn a robust tree; write it, and its certificate beside it."""
    with _errors():
        from hardwood.classifier import RobustTreeClassifier, certificate_path

        _check_output("--model", model, data)
        table, y = _features_and_target(data, target, drop)
        classifier = RobustTreeClassifier(
            depth,
            **_shift_words(table, certainty, plausibility, cost, budget, direction, bounds, clip),
            feature_kinds=_kinds(kind),
            branch_penalty="auto" if penalty is None else penalty,
            solver=solver,
            time_limit=time_limit,
            n_jobs=jobs,
            missing=missing,
        )
        problem, shifts = classifier.pose(table, y)
        with _progress(problem.n_samples, quiet=as_json) as listener:
            result = classifier.solve(problem, on_progress=listener)
        classifier.adopt(problem, shifts, result)
        classifier.save(model)
        certificate = classifier.certificate_
        if as_json:
            _print_json(json.loads(certificate.to_json()) | {"gap": certificate.gap, "model": str(model)})
        else:
            out.print(f"{classifier.tree_}\n\n{certificate}")
            out.print(f"\nwritten: {model}, {certificate_path(model)}")
    if result.stop_reason == "interrupted":
        err.print("interrupted: the best tree so far was kept")
        raise typer.Exit(INTERRUPTED)


@app.command(epilog="Example: hardwood predict model.json new.csv --margins --output predictions.csv")
def predict(
    model: Annotated[Path, typer.Argument(help="A model that fit wrote.", show_default=False)],
    data: Data,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A CSV file; otherwise it is printed.")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the share of each class in the leaf.")] = False,
    margins: Annotated[bool, typer.Option("--margins", help="Add the price at which the prediction changes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Predict the rows of a table."""
    with _errors():
        if output is not None:
            _check_output("--output", output, data, model)
        classifier = _load_model(model)
        table = _only(_read_table(data, classifier.tree_.features), classifier.tree_.features)
        columns: dict[str, list[Any]] = {"prediction": classifier.predict(table).tolist()}
        if proba:
            shares = classifier.predict_proba(table)
            columns |= {f"share of {label}": shares[:, k].tolist() for k, label in enumerate(classifier.classes_)}
        if margins:
            columns["margin"] = classifier.margins(table).tolist()
        if as_json:
            _print_json({name: [_finite(value) for value in values] for name, values in columns.items()})
        elif output is None:
            sys.stdout.write(_csv(columns))
        else:
            write_text(output, _csv(columns))
            out.print(f"written: {output}")


@app.command(epilog="Example: hardwood audit model.json survey.csv --target vote --certainty 0.8")
def audit(
    model: Model,
    data: Data,
    target: Target,
    certainty: Certainty = None,
    plausibility: Plausibility = None,
    cost: Costs = None,
    budget: Budget = None,
    direction: Directions = None,
    bounds: Bounds = None,
    clip: Clip = False,
    as_json: AsJson = False,
) -> None:
    """Show how fragile a tree is: its worst case, and what the adversary changes."""
    with _errors():
        from hardwood.auditing import audit as audited
        from hardwood.auditing import read_model

        tree = read_model(model)
        features = getattr(tree, "tree_", tree).features
        table, y = _features_and_target(data, target, None, features)
        table = _only(table, features)
        asked = (certainty, plausibility, cost, budget, direction, bounds)
        given = any(option is not None for option in asked)  # otherwise the model's own shifts
        found = audited(tree, table, y, **(_shift_words(table, *asked, clip) if given else {}))
        if as_json:
            _print_json(
                {
                    "nominal_accuracy": found.nominal_accuracy,
                    "worst_case_accuracy": found.worst_case_accuracy,
                    "n_samples": found.found.n_samples,
                    "shifts": str(found.shifts),
                    "budget": found.found.uncertainty.budget,
                    "changes": found.changes(),
                }
            )
        else:
            out.print(str(found))


@app.command(epilog="Example: hardwood path survey.csv --target vote --levels 1,0.95,0.9,0.75 --plot path.svg")
def path(
    data: Data,
    target: Target,
    levels: Annotated[
        str, typer.Option(help="Plausibilities, separated by commas.")
    ] = "1,0.99,0.97,0.95,0.9,0.85,0.75,0.5",
    depth: Depth = 3,
    certainty: Certainty = None,
    direction: Directions = None,
    bounds: Bounds = None,
    kind: Kinds = None,
    drop: Drop = None,
    missing: Missing = "error",
    clip: Clip = False,
    solver: SolverName = "search",
    time_limit: TimeLimit = 60.0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Levels at a time.")] = 1,
    plot: Annotated[Path | None, typer.Option(help="Draw the path to a file (svg, png, pdf).")] = None,
    as_json: AsJson = False,
) -> None:
    """Learn a tree for each level of plausibility."""
    with _errors():
        from hardwood.path import robustness_path
        from hardwood.plotting import needs_matplotlib

        if plot is not None:
            needs_matplotlib()
            _check_output("--plot", plot, data)
            if plot.suffix.lower() not in (".svg", ".png", ".pdf"):
                raise ValueError(f"--plot is {plot}; expected a file that ends in .svg, .png or .pdf")
        table, y = _features_and_target(data, target, drop)
        words = _shift_words(table, certainty, None, None, None, direction, bounds, clip)
        found = robustness_path(
            table,
            y,
            [_number("--levels", level) for level in levels.split(",")],
            n_jobs=jobs,
            max_depth=depth,
            feature_kinds=_kinds(kind),
            missing=missing,
            solver=solver,
            time_limit=time_limit,
            **{name: value for name, value in words.items() if name not in ("plausibility", "budget", "costs")},
        )
        if plot is not None:
            found.plot().figure.savefig(plot)
        if as_json:
            _print_json(found.to_dict())
        else:
            out.print(str(found))


@app.command(epilog="Example: hardwood calibrate survey.csv --certainty 0.9 --bounds rating=1:5 --plausibility 0.95")
def calibrate(
    data: Data,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column to predict, which has no price.")
    ] = None,
    certainty: Certainty = None,
    plausibility: Plausibility = None,
    direction: Directions = None,
    bounds: Bounds = None,
    kind: Kinds = None,
    drop: Drop = None,
    missing: Missing = "error",
    clip: Clip = False,
    as_json: AsJson = False,
) -> None:
    """Show what a certainty means: the price of a step in each column, and the budget."""
    with _errors():
        from hardwood.features import encode
        from hardwood.shifts import ShiftDescription

        frame = _without(_read_table(data), [*([] if target is None else [target]), *(drop or [])])
        table = encode(frame, kinds=_kinds(kind), missing=missing)
        words = _shift_words(frame, certainty, plausibility, None, None, direction, bounds, clip)
        shifts = ShiftDescription(**{("clip" if k == "clip_certainty" else k): v for k, v in words.items()})
        uncertainty = shifts.uncertainty(table)
        rows = [
            {"column": feature.name, "kind": str(feature.kind), "lowest": prices.min(), "highest": prices.max()}
            for feature, prices in zip(table.features, uncertainty.costs.prices, strict=True)
        ]
        if as_json:
            plain = [{name: _finite(value) for name, value in row.items()} for row in rows]
            _print_json({"budget": uncertainty.budget, "n_samples": table.n_samples, "prices": plain})
            return
        grid = RichTable("column", "kind", "price of a step", "steps the budget pays for", box=None)
        for row in rows:
            low, high = float(row["lowest"]), float(row["highest"])
            price = f"{low:.3f}" if low == high else f"{low:.3f} to {high:.3f}"
            steps = "any number" if low == 0 else f"{uncertainty.budget / low:.0f}"
            grid.add_row(row["column"], row["kind"], price, steps)
        out.print(
            f"budget {uncertainty.budget:.4g} for {table.n_samples} rows at plausibility {shifts.plausibility:g}\n"
        )
        (out if out.is_terminal else Console(width=200, **PLAIN)).print(grid)  # type: ignore[arg-type]


@app.command(epilog="Example: hardwood check model.certificate.json survey.csv --target vote --model model.json")
def check(
    certificate: Annotated[Path, typer.Argument(help="A certificate that fit wrote.", show_default=False)],
    data: Data,
    target: Target,
    model: Annotated[Path | None, typer.Option("--model", "-m", help="Also: is it this model's tree?")] = None,
    as_json: AsJson = False,
) -> None:
    """Compute again, from the data alone, what a certificate says about its tree. No solver takes part."""
    with _errors():
        from hardwood.certificate import Certificate
        from hardwood.certificate import check as checked

        held = Certificate.load(certificate)
        table, y = _features_and_target(data, target, None, held.tree.features)
        outcome = checked(held, _only(table, held.tree.features), y)
        contradictions = list(outcome.contradictions)
        if model is not None and _load_model(model).tree_ != held.tree:
            contradictions.append(f"the tree in {model} is not the tree of the certificate")
        if as_json:
            numbers = {"worst_case_correct": outcome.worst_case_correct, "nominal_correct": outcome.nominal_correct}
            told = {"shifts": str(held.shifts), "claimed_upper_bound": held.upper_bound}
            _print_json({"confirmed": not contradictions, "contradictions": contradictions} | numbers | told)
        elif contradictions:
            out.print("\n".join(["NOT CONFIRMED", *(f"* {entry}" for entry in contradictions)]))
        else:
            out.print(str(outcome))
    if contradictions:
        raise typer.Exit(NOT_CONFIRMED)


@contextmanager
def _errors() -> Iterator[None]:
    """Bad input ends with its message, not with a traceback."""
    try:
        yield
    except (ValueError, TypeError, OSError, ImportError) as error:
        message = str(error)
        for python, option in IN_OTHER_WORDS.items():
            message = message.replace(python, option)
        message = KINDS_IN_PYTHON.sub(
            lambda m: f"--kind '{m[1]}={m[2].replace(chr(39), '').replace(', ', '<')}'", message
        )
        err.print(f"hardwood: {message}")
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        err.print("hardwood: interrupted")
        raise typer.Exit(INTERRUPTED) from None


def _check_output(option: str, path: Path, *inputs: Path) -> None:
    """Find out before the work, not after it, that its result cannot be written, or would replace what it came from."""
    if not path.resolve().parent.is_dir():
        raise ValueError(f"{option} is {path}; its folder does not exist: make it first")
    if path.is_dir():
        raise ValueError(f"{option} is {path}, which is a folder; give the name of a file")
    if any(path.resolve() == source.resolve() for source in inputs):
        raise ValueError(f"{option} is {path}, which would overwrite an input; give another name")


def _read_table(path: Path, features: Sequence[Feature] = ()) -> Any:
    """A CSV or Parquet file as an arrow table. Columns that a tree knows are read with the types that it knows."""
    from pyarrow import ArrowException, csv, parquet, types

    if not path.is_file():
        raise ValueError(f"{path} is not a file")
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            table = parquet.read_table(path)
        else:
            table = csv.read_csv(
                path,
                parse_options=csv.ParseOptions(delimiter=_separator(path), newlines_in_values=True),
                convert_options=csv.ConvertOptions(strings_can_be_null=True, column_types=_arrow_types(features)),
            )
    except (ArrowException, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from None
    if len(set(table.column_names)) < len(table.column_names):
        raise ValueError(f"{path} names a column twice: {table.column_names}; rename the columns")
    if any(types.is_binary(field.type) for field in table.schema):
        raise ValueError(f"{path} is not in UTF-8; save it in that encoding")
    return table


def _separator(path: Path) -> str:
    """Comma, semicolon, tab or bar: whichever the first line has most of."""
    with path.open("rb") as file:
        start = file.read(65536)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError(f"{path} is in UTF-16; save it as UTF-8")
    head = start.splitlines()[0] if start.strip() else b""
    return max(",;\t|", key=lambda character: head.count(character.encode()))


def _arrow_types(features: Sequence[Feature]) -> dict[str, Any]:
    """So that what a column means does not depend on the other rows of a file."""
    import pyarrow as pa

    found: dict[str, Any] = {}
    for feature in features:
        kinds = {type(category) for category in feature.categories}
        if kinds and len(kinds) == 1:
            found[feature.name] = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}[
                kinds.pop()
            ]
    return found


def _features_and_target(
    path: Path, target: str, drop: list[str] | None, features: Sequence[Feature] = ()
) -> tuple[Any, Any]:
    table = _read_table(path, features)
    if target in (drop or []):
        raise ValueError(f'--drop names the target "{target}"; it is left out of the questions anyway')
    if target not in table.column_names:
        raise ValueError(f'--target is "{target}"; {path} has the columns {table.column_names}')
    y = table.column(target)
    if y.null_count:
        row = y.is_null().to_pylist().index(True)
        raise ValueError(f'the target "{target}" is missing in row {row} (counted from 0); drop such rows')
    return _without(table, [target, *(drop or [])]), y.to_numpy()


def _without(table: Any, names: list[str]) -> Any:
    unknown = [name for name in names if name not in table.column_names]
    if unknown:
        raise ValueError(f'--drop names "{unknown[0]}"; the table has the columns {table.column_names}')
    return table.drop_columns(names) if names else table


def _only(table: Any, features: Sequence[Feature]) -> Any:
    """The columns that a tree knows, in its order; what else the table holds does not matter to it."""
    names = [feature.name for feature in features]
    lacking = [name for name in names if name not in table.column_names]
    if lacking:
        raise ValueError(f"the table lacks the columns {lacking}; it has {table.column_names}")
    return table.select(names)


def _load_model(path: Path) -> Any:
    from hardwood.classifier import RobustTreeClassifier

    return RobustTreeClassifier.load(path)


def _shift_words(
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
            own[name] = _number(option, text)
        else:
            common = _number(option, entry)
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


def _kinds(entries: list[str] | None) -> dict[str, Any] | None:
    pairs = dict(_pair("--kind", entry) for entry in entries or [])
    return {name: _order(value) if "<" in value else value for name, value in pairs.items()} or None


def _order(text: str) -> list[Any]:
    """Answers in their order, as numbers if all are whole numbers."""
    answers = [answer.strip() for answer in text.split("<")]
    whole = all(answer.lstrip("-").isdigit() for answer in answers)
    return [int(answer) for answer in answers] if whole else answers


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f'{option} is "{text}"; expected a number') from None


@contextmanager
def _progress(n_samples: int, *, quiet: bool) -> Iterator[Callable[[Any], None] | None]:
    """What the solver has so far, on standard error: one line that changes, or in a log a line each second at most."""
    if quiet:
        yield None
        return

    def words(event: Any) -> str:
        gap = (event.objective_bound - event.objective) / n_samples
        return f"objective {event.objective:.2f}, at most {event.objective_bound:.2f}, gap {gap:.1%}"

    if not err.is_terminal:
        told = -1.0

        def log(event: Any) -> None:
            nonlocal told
            if event.seconds >= told + 1.0:
                told = event.seconds
                err.print(f"{event.seconds:.1f} s: {words(event)}")

        yield log
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Bar(*columns, console=err, transient=True) as bar:
        task = bar.add_task("first trees ...")
        yield lambda event: bar.update(task, description=words(event))


def _print_json(document: Any) -> None:
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, default=_plain) + "\n")


def _plain(value: Any) -> Any:
    return value.item()


def _finite(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return "inf" if value == float("inf") else value


def _csv(columns: dict[str, list[Any]]) -> str:
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
