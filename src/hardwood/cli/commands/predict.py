"""`hardwood predict`: predict the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwood._util.files import write_chunks, write_text
from hardwood._util.types import FrameColumns
from hardwood.cli.console import errors, finite, out, print_json, print_text
from hardwood.cli.models import load_classifier
from hardwood.cli.options import AsJson, DataOrFolder, FittedModel
from hardwood.cli.outputs import check_output, csv_text
from hardwood.cli.tables import is_chunked, read_table, select_features
from hardwood.data.chunks import ParquetChunks

if TYPE_CHECKING:
    import pyarrow as pa

    from hardwood.estimators.robust import RobustTreeClassifier


def predict(
    model: FittedModel,
    data: DataOrFolder,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A CSV file; otherwise it is printed.")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the share of each class in the leaf.")] = False,
    margins: Annotated[
        bool, typer.Option("--margins", help="Add the total cost at which the prediction changes.")
    ] = False,
    escape_formulas: Annotated[
        bool,
        typer.Option("--escape-formulas", help="Put ' before text that a spreadsheet would read as a formula."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Predict the rows of a table."""
    with errors(source=model):
        if output is not None:
            check_output("--output", output, data, model)
        classifier = load_classifier(model)
        if is_chunked(data):
            if output is None or as_json:
                raise ValueError(f"{data} is read in chunks; give --output FILE for the predictions, as CSV")
            _predict_chunks(classifier, data, output, proba=proba, margins=margins, escape_formulas=escape_formulas)
            out.print(f"written: {output}")
            return
        features = classifier.tree_.features
        columns = _columns(classifier, select_features(read_table(data, features), features), proba, margins)
        if as_json:
            print_json({name: [finite(value) for value in values] for name, values in columns.items()})
        elif output is None:
            print_text(csv_text(columns, escape_formulas=escape_formulas))
        else:
            write_text(output, csv_text(columns, escape_formulas=escape_formulas))
            out.print(f"written: {output}")


def _columns(classifier: RobustTreeClassifier, table: pa.Table, proba: bool, margins: bool) -> FrameColumns:
    """Return the columns of the result by name."""
    columns: FrameColumns = {"prediction": classifier.predict(table).tolist()}
    if proba:
        shares = classifier.predict_proba(table)
        columns |= {f"share of {label}": shares[:, k].tolist() for k, label in enumerate(classifier.classes_)}
    if margins:
        columns["margin"] = classifier.margins(table).tolist()
    return columns


def _predict_chunks(
    classifier: RobustTreeClassifier, data: Path, output: Path, *, proba: bool, margins: bool, escape_formulas: bool
) -> None:
    """Predict a chunked table, and write the result chunk by chunk."""

    def chunk_columns(chunk: pa.Table, _number: int) -> FrameColumns:
        return _columns(classifier, chunk, proba, margins)

    names = [feature.name for feature in classifier.tree_.features]
    chunks = enumerate(ParquetChunks(data).map(chunk_columns, names))
    texts = (csv_text(columns, escape_formulas=escape_formulas, header=k == 0).encode() for k, columns in chunks)
    write_chunks(output, texts)
