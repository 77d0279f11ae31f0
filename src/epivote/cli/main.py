"""The `epivote` command with all its sub-commands."""

from importlib.metadata import version
from typing import Annotated

import typer

from epivote.cli.collect import app as collect
from epivote.cli.estimating import aggregate, evaluate, explain, gold, plan, report
from epivote.cli.files import convert, inspect, simulate
from epivote.cli.packed import pack

app = typer.Typer(
    help="From tick-all-that-apply ballots to the most likely sets of right answers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"epivote {version('epivote')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """From tick-all-that-apply ballots to the most likely sets of right answers."""


for command in (aggregate, inspect, report, explain, gold, evaluate, plan, convert, simulate, pack):
    app.command()(command)
app.add_typer(collect, name="collect")
