"""The `epivote` command with all its sub-commands."""

from importlib.metadata import version
from typing import Annotated

import typer

from epivote.cli.collect import app as collect
from epivote.cli.demo import demo
from epivote.cli.estimating import aggregate, evaluate, explain, gold, plan, report, review
from epivote.cli.files import convert, inspect, simulate
from epivote.cli.packed import pack

app = typer.Typer(
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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Find out which alternatives are right when many people tick all that apply, and whom to trust.

    Example: epivote demo

    Example: epivote aggregate ballots.csv --size 1..2 --out result
    """


for command in (demo, aggregate, inspect, report, explain, review, gold, evaluate, plan, convert, simulate, pack):
    app.command()(command)
app.add_typer(collect, name="collect")
