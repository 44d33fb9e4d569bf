"""The command `hardwood`: the same calls as from Python, for tables in files (extra `cli`)."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn

from hardwood._support.files import write_chunks, write_text
from hardwood._support.text import shown
from hardwood._version import __version__
from hardwood.cli.console import INTERRUPTED, NOT_CONFIRMED, err, errors, finite, out, print_json, print_text
from hardwood.cli.laboratory import drift, estimate
from hardwood.cli.options import ColumnOptions, ShiftOptions, class_weights, number, with_options
from hardwood.cli.study import study
from hardwood.cli.tables import (
    check_output,
    check_picture,
    comes_in_pieces,
    complete_rows,
    csv_text,
    features_and_target,
    group_column,
    only,
    read_table,
    save_picture,
    without,
)
from hardwood.data.pieces import ParquetPieces
from hardwood.shift.description import PLAUSIBILITIES

app = typer.Typer(
    name="hardwood",
    help="Decision trees that stay right when the data shift, with a proof.",
    epilog="Exit codes: 0 done, 1 a check failed, 2 bad input, 130 interrupted (fit keeps the best tree).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(study, name="study")
app.command(epilog="Example: hardwood estimate first.csv second.csv --on id --bounds rating=1:5")(estimate)
app.command(epilog="Example: hardwood drift model.json survey.csv later.csv --target vote --on id")(drift)

Data = Annotated[
    Path,
    typer.Argument(
        help="A table in a CSV or Parquet file; empty cells and NA are missing. predict, audit and check also take a "
        "folder of Parquet files, and more rows than fit into memory.",
        show_default=False,
    ),
]
Target = Annotated[str, typer.Option("--target", "-t", help="The column to predict.", show_default=False)]
Model = Annotated[Path, typer.Argument(help="A model file (or a tree in JSON).", show_default=False)]
Depth = Annotated[int, typer.Option("--depth", "-d", help="Largest number of questions on the way to a prediction.")]
TimeLimit = Annotated[float, typer.Option(help="Seconds; then the best tree so far is kept.")]
SolverName = Annotated[str, typer.Option("--solver", help="search, scip or gurobi.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 uses all cores.")]
MemoryLimit = Annotated[str | None, typer.Option(help="What the search may use, such as 4GB.", show_default=False)]
Weight = Annotated[
    str | None,
    typer.Option(help="The column that says how many people a row stands for; it is no question.", show_default=False),
]
ClassWeight = Annotated[
    list[str] | None,
    typer.Option(
        help="What a class is worth: balanced, or class=number, repeated; one if not given.", show_default=False
    ),
]
LeastLeaf = Annotated[int, typer.Option(help="How many rows every leaf must hold, as they stand.")]
Codes = Annotated[
    list[str] | None, typer.Option("--na", help="An answer that means that there is none, as given to fit; repeated.")
]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", help="Leave out rows without an answer in some column, as fit did.")
]
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
@with_options()
def fit(
    data: Data,
    target: Target,
    depth: Depth = 3,
    shifts: ShiftOptions = ShiftOptions(),  # noqa: B008 - immutable
    columns: ColumnOptions = ColumnOptions(),  # noqa: B008 - immutable
    weight: Weight = None,
    class_weight: ClassWeight = None,
    penalty: Annotated[float | None, typer.Option(help="What a question must be worth, in rows.")] = None,
    min_samples_leaf: LeastLeaf = 0,
    solver: SolverName = "search",
    time_limit: TimeLimit = 60.0,
    memory_limit: MemoryLimit = None,
    jobs: Jobs = 1,
    model: Annotated[Path, typer.Option("--model", "-m", help="Where to write the model.")] = Path("model.json"),
    as_json: AsJson = False,
) -> None:
    """Learn a robust tree; write it, and its certificate beside it."""
    with errors():
        from hardwood.estimators.robust import RobustTreeClassifier, certificate_path

        check_output("--model", model, data)
        table, y, people = features_and_target(data, target, columns.drop, weight=weight, complete=columns.complete)
        classifier = RobustTreeClassifier(
            depth,
            **shifts.words(table.column_names),
            feature_kinds=columns.kinds,
            branch_penalty="auto" if penalty is None else penalty,
            min_samples_leaf=min_samples_leaf,
            solver=solver,
            time_limit=time_limit,
            memory_limit=memory_limit,
            n_jobs=jobs,
            missing=columns.missing,
            missing_values=columns.missing_values,
            class_weight=class_weights(class_weight),
        )
        problem, described = classifier.pose(table, y, people)
        if not as_json:
            _tell_reading(data, target, classifier, problem, described)
        with _progress(problem, time_limit, quiet=as_json) as listener:
            result = classifier.solve(problem, on_progress=listener)
        classifier.adopt(problem, described, result)
        classifier.target_name_ = target
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
    escape_formulas: Annotated[
        bool,
        typer.Option("--escape-formulas", help="Put ' before answers that a spreadsheet would take for a formula."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Predict the rows of a table."""
    with errors(words_of=model):
        if output is not None:
            check_output("--output", output, data, model)
        classifier = _load_model(model)
        features = classifier.tree_.features

        def columns_of(table: Any, _number: int = 0) -> dict[str, list[Any]]:
            columns: dict[str, list[Any]] = {"prediction": classifier.predict(table).tolist()}
            if proba:
                shares = classifier.predict_proba(table)
                columns |= {f"share of {label}": shares[:, k].tolist() for k, label in enumerate(classifier.classes_)}
            if margins:
                columns["margin"] = classifier.margins(table).tolist()
            return columns

        if comes_in_pieces(data):
            if output is None or as_json:
                raise ValueError(f"{data} is read piece by piece; give --output FILE for the predictions, as CSV")
            parts = ParquetPieces(data).map(columns_of, [feature.name for feature in features])
            texts = (
                csv_text(part, escape_formulas=escape_formulas, header=k == 0).encode() for k, part in enumerate(parts)
            )
            write_chunks(output, texts)
            out.print(f"written: {output}")
            return
        columns = columns_of(only(read_table(data, features), features))
        if as_json:
            print_json({name: [finite(value) for value in values] for name, values in columns.items()})
        elif output is None:
            print_text(csv_text(columns, escape_formulas=escape_formulas))
        else:
            write_text(output, csv_text(columns, escape_formulas=escape_formulas))
            out.print(f"written: {output}")


@app.command(epilog="Example: hardwood audit model.json survey.csv --target vote --certainty 0.8")
@with_options()
def audit(
    model: Model,
    data: Data,
    target: Target,
    shifts: ShiftOptions = ShiftOptions(),  # noqa: B008 - immutable
    weight: Weight = None,
    class_weight: ClassWeight = None,
    fail_under: Annotated[
        float | None,
        typer.Option(
            help="End with exit code 1 if less stays correct in the worst case, such as 0.8.", show_default=False
        ),
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="A column: accuracy and worst case for each of its answers.", show_default=False)
    ] = None,
    drop_missing: DropMissing = False,
    as_json: AsJson = False,
) -> None:
    """Show how fragile a tree is: its worst case, and what the adversary changes."""
    with errors(words_of=None if shifts.given else model):
        from hardwood.estimators.audit import audit as audited
        from hardwood.estimators.audit import read_model

        if fail_under is not None and not 0 <= fail_under <= 1:
            raise ValueError(f"--fail-under is {fail_under:g}; expected a share from 0 to 1")
        tree = read_model(model)
        features = getattr(tree, "tree_", tree).features
        # If nothing is said, a model of ours is audited under its own shifts.
        said = shifts.description([feature.name for feature in features]) if shifts.given else None
        worth = class_weights(class_weight)
        complete = codes_for_none(tree) if drop_missing else None
        if complete is not None and groups is not None:
            raise ValueError("--groups and --drop-missing are both given; leave the rows out of the file first")
        table, y, people = _table_or_pieces(data, target, features, weight, complete)
        who = None if groups is None else group_column(data, groups)
        found = audited(tree, table, y, people, shifts=said, class_weight=worth, groups=who)
        if as_json:
            print_json(found.to_dict())
        else:
            out.print(str(found))
    if fail_under is not None and found.worst_case_accuracy < fail_under:
        err.print(f"{found.worst_case_accuracy:.1%} stay correct in the worst case, less than {fail_under:.1%}")
        raise typer.Exit(NOT_CONFIRMED)


@app.command(epilog="Example: hardwood report model.json survey.csv --target vote --levels 1,0.95,0.9,0.75")
def report(
    model: Annotated[Path, typer.Argument(help="A model that fit wrote.", show_default=False)],
    data: Data,
    target: Target,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="The headline.", show_default=False)] = None,
    levels: Annotated[
        str | None,
        typer.Option(help="Plausibilities, separated by commas: learn a tree for each, to move along with a slider."),
    ] = None,
    weight: Weight = None,
    rows: Annotated[bool, typer.Option("--rows", help="Show which single rows the worst shift changes.")] = False,
    drop_missing: DropMissing = False,
    test: Annotated[
        Path | None, typer.Option(help="A table of rows that the tree has not seen, to stand beside the others.")
    ] = None,
    author: Annotated[str, typer.Option(help="Who answers for the model.")] = "",
    source: Annotated[str, typer.Option(help="Where the table comes from.")] = "",
    intended_use: Annotated[str, typer.Option(help="What the model is for, and what it is not for.")] = "",
    time_limit: TimeLimit = 60.0,
) -> None:
    """Write a report about a model that people can open in a browser: one HTML file that needs no network."""
    with errors(words_of=model):
        check_output("--output", output, data, model)
        classifier = _load_model(model)
        complete = codes_for_none(classifier) if drop_missing else None
        table, y, people = features_and_target(data, target, None, classifier.tree_.features, weight, complete)
        table = only(table, classifier.tree_.features)
        along = None if levels is None else _path_of(classifier, table, y, people, levels, time_limit)
        about = {"target": target, "author": author, "source": source, "intended_use": intended_use}
        if test is not None:
            unseen, y_unseen, people_unseen = features_and_target(test, target, None, classifier.tree_.features, weight)
            unseen = only(unseen, classifier.tree_.features)
            about |= {"X_test": unseen, "y_test": y_unseen, "sample_weight_test": people_unseen}
        classifier.report(output, table, y, people, along=along, title=title, show_rows=rows, **about)
        out.print(f"written: {output} ({output.stat().st_size / 1024:.0f} kB)")


@app.command(epilog="Example: hardwood path survey.csv --target vote --levels 1,0.95,0.9,0.75 --plot path.svg")
@with_options(without=("plausibility", "budget"))
def path(
    data: Data,
    target: Target,
    levels: Annotated[str, typer.Option(help="Plausibilities, separated by commas.")] = ",".join(
        f"{level:g}" for level in PLAUSIBILITIES
    ),
    depth: Depth = 3,
    shifts: ShiftOptions = ShiftOptions(),  # noqa: B008 - immutable
    columns: ColumnOptions = ColumnOptions(),  # noqa: B008 - immutable
    weight: Weight = None,
    class_weight: ClassWeight = None,
    min_samples_leaf: LeastLeaf = 0,
    solver: SolverName = "search",
    time_limit: TimeLimit = 60.0,
    memory_limit: MemoryLimit = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Levels at a time.")] = 1,
    test: Annotated[
        Path | None, typer.Option(help="A table of rows that no tree has seen: judge all trees by it, too.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the path to a file (svg, png, pdf).")] = None,
    as_json: AsJson = False,
) -> None:
    """Learn a tree for each level of plausibility."""
    with errors():
        from hardwood.estimators.path import robustness_path

        if plot is not None:
            check_picture("--plot", plot, data)
        table, y, people = features_and_target(data, target, columns.drop, weight=weight, complete=columns.complete)
        unseen, y_unseen, people_unseen = (
            (None, None, None)
            if test is None
            else features_and_target(test, target, columns.drop, weight=weight, complete=columns.complete)
        )
        found = robustness_path(
            table,
            y,
            _levels(levels),
            sample_weight=people,
            class_weight=class_weights(class_weight),
            n_jobs=jobs,
            max_depth=depth,
            min_samples_leaf=min_samples_leaf,
            feature_kinds=columns.kinds,
            missing=columns.missing,
            missing_values=columns.missing_values,
            solver=solver,
            time_limit=time_limit,
            memory_limit=memory_limit,
            on_level=None if as_json else _tell_level,
            X_test=unseen,
            y_test=y_unseen,
            sample_weight_test=people_unseen,
            on_progress=None if as_json else _path_progress(time_limit),
            **shifts.words(table.column_names),
        )
        if as_json:
            print_json(found.to_dict())
        else:
            out.print(str(found))
        if plot is not None:
            save_picture(found.plot().figure, plot)
    if found.interrupted:
        err.print("interrupted: the levels so far are all there is")
        raise typer.Exit(INTERRUPTED)


@app.command(epilog="Example: hardwood calibrate survey.csv --certainty 0.9 --bounds rating=1:5 --plausibility 0.95")
@with_options()
def calibrate(
    data: Data,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column to predict, which has no price.")
    ] = None,
    shifts: ShiftOptions = ShiftOptions(),  # noqa: B008 - immutable
    columns: ColumnOptions = ColumnOptions(),  # noqa: B008 - immutable
    as_json: AsJson = False,
) -> None:
    """Show what a certainty means: the price of a step in each column, and the budget."""
    with errors():
        from hardwood.data.features import encode
        from hardwood.shift.account import WHY_MANY_ANSWERS, WHY_THEY_DIFFER, accounts_of, calibration_lines
        from hardwood.shiftlab import coverage

        frame = without(read_table(data), [*([] if target is None else [target]), *(columns.drop or [])])
        if columns.complete is not None:
            frame = complete_rows(frame, columns.complete)
        table = encode(frame, kinds=columns.kinds, missing=columns.missing, missing_values=columns.missing_values)
        described = shifts.description(frame.column_names)
        uncertainty = described.uncertainty(table)
        accounts = accounts_of(table, uncertainty, described)
        plain_prices = described.costs is not None or described.radius is not None
        covered = None if plain_prices else coverage(table, shifts=described)
        if as_json:
            plain = [{"column" if k == "name" else k: finite(v) for k, v in asdict(own).items()} for own in accounts]
            told = {"budget": uncertainty.budget, "n_samples": table.n_samples, "prices": plain}
            print_json(told | {"coverage": None if covered is None else covered.to_dict()["all_columns"]})
            return
        level = "" if described.budget is not None else f" at plausibility {described.plausibility:g}"
        out.print(f"budget {uncertainty.budget:.4g} for {table.n_samples:,} rows{level}\n")
        out.print("\n".join(calibration_lines(accounts)))
        if covered is not None:
            out.print(f"\n{covered.words}")
        out.print(f"\n{WHY_THEY_DIFFER}\n\n{WHY_MANY_ANSWERS}")


@app.command(epilog="Example: hardwood check model.certificate.json survey.csv --target vote --model model.json")
def check(
    certificate: Annotated[Path, typer.Argument(help="A certificate that fit wrote.", show_default=False)],
    data: Data,
    target: Target,
    model: Annotated[Path | None, typer.Option("--model", "-m", help="Also: is it this model's tree?")] = None,
    weight: Weight = None,
    na: Codes = None,
    drop_missing: DropMissing = False,
    as_json: AsJson = False,
) -> None:
    """Compute again, from the data alone, what a certificate says about its tree. No solver takes part."""
    with errors():
        from hardwood.certificate import Certificate
        from hardwood.certificate import check as checked

        held = Certificate.load(certificate)
        complete = (na or []) if drop_missing else None
        table, y, people = _table_or_pieces(data, target, held.tree.features, weight, complete)
        outcome = checked(held, table, y, sample_weight=people, missing_values=ColumnOptions(na=na).missing_values)
        contradictions = list(outcome.contradictions)
        if model is not None and _load_model(model).tree_ != held.tree:
            contradictions.append(f"the tree in {model} is not the tree of the certificate")
        if as_json:
            numbers = {"worst_case_correct": outcome.worst_case_correct, "nominal_correct": outcome.nominal_correct}
            told = {"shifts": str(held.shifts), "claimed_upper_bound": held.upper_bound}
            print_json({"confirmed": not contradictions, "contradictions": contradictions} | numbers | told)
        elif contradictions:
            out.print("\n".join(["NOT CONFIRMED", *(f"* {shown(entry)}" for entry in contradictions)]))
        else:
            out.print(str(outcome))
    if contradictions:
        raise typer.Exit(NOT_CONFIRMED)


def _table_or_pieces(
    data: Path, target: str, features: Any, weight: str | None, complete: list[Any] | None = None
) -> tuple[Any, Any, Any]:
    """What a tree reads of a table, target and weights; of a table in pieces, where it is, and the names of these."""
    if comes_in_pieces(data):
        if complete is not None:
            raise ValueError(f"--drop-missing needs a table in memory; {data} is read piece by piece")
        return data, target, weight
    table, y, people = features_and_target(data, target, None, features, weight, complete)
    return only(table, features), y, people


def codes_for_none(model: Any) -> list[Any]:
    """Answers that a model was told to mean none, in all columns."""
    codes = getattr(model, "missing_values", None)
    return list(codes) if isinstance(codes, list | tuple) else [] if codes is None else [codes]


def _load_model(path: Path) -> Any:
    from hardwood.estimators.robust import RobustTreeClassifier

    return RobustTreeClassifier.load(path)


def _path_of(classifier: Any, table: Any, y: Any, people: Any, levels: str, time_limit: float) -> Any:
    """A tree for each level, learnt as the classifier was."""
    from hardwood.certificate import is_about
    from hardwood.data.features import Kind
    from hardwood.estimators.path import robustness_path

    kinds_of = {
        feature.name: list(feature.categories) if feature.kind is Kind.ORDINAL else str(feature.kind)
        for feature in classifier.tree_.features
    }
    parameters = classifier.get_params() | {"feature_kinds": kinds_of, "time_limit": time_limit}
    certificate = getattr(classifier, "certificate_", None)
    encoded = classifier.encoded(table)
    if not is_about(certificate, encoded, classifier.labelled(y, encoded, people)):
        raise ValueError("--levels learns other trees from the table, which is not the one the model was learnt from")
    found = robustness_path(
        table,
        y,
        _levels(levels),
        sample_weight=people,
        on_level=_tell_level,
        **{name: value for name, value in parameters.items() if name not in ("plausibility", "budget", "n_jobs")},
    )
    if found.interrupted:
        raise KeyboardInterrupt  # a report about some of the levels is not the one that was asked for
    return found


def _tell_level(level: float, result: Any) -> None:
    """How far a path is, on standard error."""
    err.print(f"plausibility {level:g}: {result.status}, {result.seconds:.1f} s")


def _path_progress(time_limit: float) -> Callable[[float, Any, Any], None]:
    """How far the search of a level is, on standard error: a line for each change, every two seconds at most."""
    from hardwood.solvers.base import progress_words, time_words

    told: dict[float, tuple[float, str]] = {}

    def tell(level: float, problem: Any, event: Any) -> None:
        last, said = told.get(level, (0.0, ""))
        words = progress_words(problem, event)
        if event.seconds >= last + 2.0 and words != said:
            told[level] = event.seconds, words
            err.print(f"plausibility {level:g}: {words}, {time_words(event.seconds, time_limit)}")

    return tell


def _levels(text: str) -> list[float]:
    return [number("--levels", level) for level in text.split(",")]


def _tell_reading(data: Path, target: str, classifier: Any, problem: Any, described: Any) -> None:
    """How the table was read, on standard error."""
    classes = problem.labels.classes
    listed = ", ".join(shown(label) for label in classes[:5]) + (", ..." if len(classes) > 5 else "")
    n_rows = f"{problem.n_samples:,} rows and {len(problem.table.features)} columns"
    err.print(f"{data.name}: {n_rows}; the target {shown(target)} has {len(classes)} classes ({listed})\n")
    err.print("\n".join([*classifier.reading(problem, described), ""]))


@contextmanager
def _progress(problem: Any, time_limit: float, *, quiet: bool) -> Iterator[Callable[[Any], None] | None]:
    """What the solver has so far, on standard error: one line that changes, or in a log a line for each change."""
    from hardwood.solvers.base import progress_words, time_words

    if quiet:
        yield None
        return
    if not err.is_terminal:
        told, said = -1.0, ""

        def log(event: Any) -> None:
            nonlocal told, said
            words = progress_words(problem, event)
            if event.seconds >= told + 1.0 and words != said:
                told, said = event.seconds, words
                err.print(f"{words}, {time_words(event.seconds, time_limit)}")

        yield log
        return
    with Bar(SpinnerColumn(), TextColumn("{task.description}", markup=False), console=err, transient=True) as bar:
        task = bar.add_task("first trees ...")
        yield lambda event: bar.update(
            task, description=f"{progress_words(problem, event)}, {time_words(event.seconds, time_limit)}"
        )
