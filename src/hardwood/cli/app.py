"""The command `hardwood`: the same calls as from Python, for tables in files (extra `cli`)."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from hardwood._version import __version__
from hardwood.cli.commands.audit import audit
from hardwood.cli.commands.calibrate import calibrate
from hardwood.cli.commands.check import check
from hardwood.cli.commands.drift import drift
from hardwood.cli.commands.estimate import estimate
from hardwood.cli.commands.fit import fit
from hardwood.cli.commands.path import path
from hardwood.cli.commands.predict import predict
from hardwood.cli.commands.report import report
from hardwood.cli.commands.study import study
from hardwood.cli.console import out

# Commands in the order of the help, each with an example of its arguments.
_COMMANDS: dict[Callable[..., None], str] = {
    fit: "survey.csv --target vote --certainty 0.9 --certainty age=0.7 --depth 3",
    predict: "model.json new.csv --margins --output predictions.csv",
    audit: "model.json survey.csv --target vote --certainty 0.8",
    report: "model.json survey.csv --target vote --levels 1,0.95,0.9,0.75",
    path: "survey.csv --target vote --levels 1,0.95,0.9,0.75 --plot path.svg",
    calibrate: "survey.csv --certainty 0.9 --bounds rating=1:5 --plausibility 0.95",
    check: "model.certificate.json survey.csv --target vote --model model.json",
    estimate: "first.csv second.csv --on id --bounds rating=1:5",
    drift: "model.json survey.csv later.csv --target vote --on id",
}

app = typer.Typer(
    name="hardwood",
    help="Decision trees that stay right when the data shift, with a proof.",
    epilog="Exit codes: 0 done, 1 a check failed, 2 bad input, 130 interrupted (fit keeps the best tree).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for _command, _arguments in _COMMANDS.items():
    app.command(epilog=f"Example: hardwood {_command.__name__} {_arguments}")(_command)
app.add_typer(study, name="study")


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)] = False,
) -> None:
    for stream in (sys.stdout, sys.stderr):  # print a question mark rather than fail on a character
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if version:
        out.print(f"hardwood {__version__}")
        raise typer.Exit
