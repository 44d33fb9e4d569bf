"""The command `hardwood`: the same calls as from Python, for tables in files (extra `cli`)."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
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
from hardwood.cli_options import kinds, number, shift_words
from hardwood.cli_output import INTERRUPTED, NOT_CONFIRMED, PLAIN, err, errors, finite, out, print_json
from hardwood.cli_study import study
from hardwood.cli_tables import check_output, csv_text, features_and_target, only, read_table, without

app = typer.Typer(
    name="hardwood",
    help="Decision trees that stay right when the data shift, with a proof.",
    epilog="Exit codes: 0 done, 1 a check failed, 2 bad input, 130 interrupted (fit keeps the best tree).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(study, name="study")

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
    with errors():
        from hardwood.classifier import RobustTreeClassifier, certificate_path

        check_output("--model", model, data)
        table, y = features_and_target(data, target, drop)
        classifier = RobustTreeClassifier(
            depth,
            **shift_words(table, certainty, plausibility, cost, budget, direction, bounds, clip),
            feature_kinds=kinds(kind),
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
            print_json(json.loads(certificate.to_json()) | {"gap": certificate.gap, "model": str(model)})
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
    with errors():
        if output is not None:
            check_output("--output", output, data, model)
        classifier = _load_model(model)
        table = only(read_table(data, classifier.tree_.features), classifier.tree_.features)
        columns: dict[str, list[Any]] = {"prediction": classifier.predict(table).tolist()}
        if proba:
            shares = classifier.predict_proba(table)
            columns |= {f"share of {label}": shares[:, k].tolist() for k, label in enumerate(classifier.classes_)}
        if margins:
            columns["margin"] = classifier.margins(table).tolist()
        if as_json:
            print_json({name: [finite(value) for value in values] for name, values in columns.items()})
        elif output is None:
            sys.stdout.write(csv_text(columns))
        else:
            write_text(output, csv_text(columns))
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
    with errors():
        from hardwood.auditing import audit as audited
        from hardwood.auditing import read_model

        tree = read_model(model)
        features = getattr(tree, "tree_", tree).features
        table, y = features_and_target(data, target, None, features)
        table = only(table, features)
        asked = (certainty, plausibility, cost, budget, direction, bounds)
        given = any(option is not None for option in asked)  # otherwise the model's own shifts
        found = audited(tree, table, y, **(shift_words(table, *asked, clip) if given else {}))
        if as_json:
            print_json(
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


@app.command(epilog="Example: hardwood report model.json survey.csv --target vote --levels 1,0.95,0.9,0.75")
def report(
    model: Annotated[Path, typer.Argument(help="A model that fit wrote.", show_default=False)],
    data: Data,
    target: Target,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")] = Path("report.html"),
    title: Annotated[str, typer.Option(help="The headline.")] = "A tree that stays right when the data shift",
    levels: Annotated[
        str | None,
        typer.Option(help="Plausibilities, separated by commas: learn a tree for each, to move along with a slider."),
    ] = None,
    rows: Annotated[bool, typer.Option("--rows", help="Show which single rows the worst shift changes.")] = False,
    time_limit: TimeLimit = 60.0,
) -> None:
    """Write a report about a model that people can open in a browser: one HTML file that needs no network."""
    with errors():
        check_output("--output", output, data, model)
        classifier = _load_model(model)
        table, y = features_and_target(data, target, None, classifier.tree_.features)
        table = only(table, classifier.tree_.features)
        along = None if levels is None else _path_of(classifier, table, y, levels, time_limit)
        classifier.report(output, table, y, along=along, title=title, show_rows=rows)
        out.print(f"written: {output} ({output.stat().st_size / 1024:.0f} kB)")


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
    with errors():
        from hardwood.path import robustness_path
        from hardwood.plotting import needs_matplotlib

        if plot is not None:
            needs_matplotlib()
            check_output("--plot", plot, data)
            if plot.suffix.lower() not in (".svg", ".png", ".pdf"):
                raise ValueError(f"--plot is {plot}; expected a file that ends in .svg, .png or .pdf")
        table, y = features_and_target(data, target, drop)
        words = shift_words(table, certainty, None, None, None, direction, bounds, clip)
        found = robustness_path(
            table,
            y,
            [number("--levels", level) for level in levels.split(",")],
            n_jobs=jobs,
            max_depth=depth,
            feature_kinds=kinds(kind),
            missing=missing,
            solver=solver,
            time_limit=time_limit,
            **{name: value for name, value in words.items() if name not in ("plausibility", "budget", "costs")},
        )
        if plot is not None:
            found.plot().figure.savefig(plot)
        if as_json:
            print_json(found.to_dict())
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
    with errors():
        from hardwood.features import encode
        from hardwood.shifts import ShiftDescription

        frame = without(read_table(data), [*([] if target is None else [target]), *(drop or [])])
        table = encode(frame, kinds=kinds(kind), missing=missing)
        words = shift_words(frame, certainty, plausibility, None, None, direction, bounds, clip)
        shifts = ShiftDescription(**{("clip" if k == "clip_certainty" else k): v for k, v in words.items()})
        uncertainty = shifts.uncertainty(table)
        rows = [
            {"column": feature.name, "kind": str(feature.kind), "lowest": prices.min(), "highest": prices.max()}
            for feature, prices in zip(table.features, uncertainty.costs.prices, strict=True)
        ]
        if as_json:
            plain = [{name: finite(value) for name, value in row.items()} for row in rows]
            print_json({"budget": uncertainty.budget, "n_samples": table.n_samples, "prices": plain})
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
    with errors():
        from hardwood.certificate import Certificate
        from hardwood.certificate import check as checked

        held = Certificate.load(certificate)
        table, y = features_and_target(data, target, None, held.tree.features)
        outcome = checked(held, only(table, held.tree.features), y)
        contradictions = list(outcome.contradictions)
        if model is not None and _load_model(model).tree_ != held.tree:
            contradictions.append(f"the tree in {model} is not the tree of the certificate")
        if as_json:
            numbers = {"worst_case_correct": outcome.worst_case_correct, "nominal_correct": outcome.nominal_correct}
            told = {"shifts": str(held.shifts), "claimed_upper_bound": held.upper_bound}
            print_json({"confirmed": not contradictions, "contradictions": contradictions} | numbers | told)
        elif contradictions:
            out.print("\n".join(["NOT CONFIRMED", *(f"* {entry}" for entry in contradictions)]))
        else:
            out.print(str(outcome))
    if contradictions:
        raise typer.Exit(NOT_CONFIRMED)


def _load_model(path: Path) -> Any:
    from hardwood.classifier import RobustTreeClassifier

    return RobustTreeClassifier.load(path)


def _path_of(classifier: Any, table: Any, y: Any, levels: str, time_limit: float) -> Any:
    """A tree for each level, learnt as the classifier was."""
    from hardwood.certificate import is_about
    from hardwood.features import Kind, encode_labels
    from hardwood.path import robustness_path

    kinds_of = {
        feature.name: list(feature.categories) if feature.kind is Kind.ORDINAL else str(feature.kind)
        for feature in classifier.tree_.features
    }
    parameters = classifier.get_params() | {"feature_kinds": kinds_of, "time_limit": time_limit}
    wanted = [number("--levels", level) for level in levels.split(",")]
    certificate = getattr(classifier, "certificate_", None)
    encoded = classifier.encoded(table)
    if not is_about(certificate, encoded, encode_labels(y, encoded.n_samples, classes=classifier.tree_.classes)):
        raise ValueError("--levels learns other trees from the table, which is not the one the model was learnt from")
    return robustness_path(
        table,
        y,
        wanted,
        **{name: value for name, value in parameters.items() if name not in ("plausibility", "budget", "n_jobs")},
    )


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
