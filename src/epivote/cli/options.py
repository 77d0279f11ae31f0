"""Options that several commands share, said once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

from epivote.errors import InputError
from epivote.formats.detect import Format, read_export
from epivote.formats.export import Export

Method = Literal["auto", "em", "amle", "majority", "modal", "approval"]

BallotFile = Annotated[
    Path,
    typer.Argument(help="CSV voter,instance,alternatives, or an export of a known tool; - reads standard input."),
]
Size = Annotated[str, typer.Option(help="How many alternatives are right: 2, 1..2, or 1.. for no upper bound.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Names = Annotated[str | None, typer.Option(help="All alternatives, joined by |, if not all appear in the file.")]
MenuFile = Annotated[
    Path | None, typer.Option("--menu", help="CSV instance,alternatives: what was offered where, if that differs.")
]


@dataclass(frozen=True)
class Reading:
    """How a file of ballots is to be understood."""

    file_format: Annotated[
        Format | None,
        typer.Option("--format", help="What the file is, if it was taken for something else."),
    ] = None
    question: Annotated[str | None, typer.Option(help="The question to read, where a file holds several.")] = None
    voter: Annotated[str | None, typer.Option(help="The column of voters, if not called voter.")] = None
    instances: Annotated[
        str | None,
        typer.Option(
            help="The column of instances; for forms, a pattern for the question columns, such as 'Q*'.",
        ),
    ] = None
    ticks: Annotated[
        str | None,
        typer.Option(help="The column of ticks; for 0/1 columns, a pattern such as 'label_*'."),
    ] = None
    separator: Annotated[
        str | None, typer.Option(help="What separates ticks in a cell: usually |, in forms a semicolon or comma.")
    ] = None
    none: Annotated[str | None, typer.Option(help="The option that means none of these, if there is one.")] = None
    gold_row: Annotated[
        str | None,
        typer.Option(help="Forms: the respondent whose row holds the right answers."),
    ] = None
    blank: Annotated[
        Literal["missing", "empty"] | None,
        typer.Option(help="What a cell without ticks is: no ballot, or one with nothing ticked."),
    ] = None
    alternatives: Annotated[
        str | None,
        typer.Option(help="All alternatives, joined by |, if not all appear in the file."),
    ] = None
    menu: Annotated[
        Path | None,
        typer.Option(help="CSV instance,alternatives: what was offered where, if that differs."),
    ] = None
    duplicates: Annotated[
        Literal["error", "first", "last"],
        typer.Option(help="Which of two ballots of a voter on an instance counts."),
    ] = "error"

    def read(self, path: Path) -> Export:
        """The file, understood so."""
        return read_export(path, **self.options())

    def options(self) -> dict[str, Any]:
        """What `read_export` takes."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["format"] = values.pop("file_format")
        values["alternatives"] = split_names(self.alternatives)
        return values


@dataclass(frozen=True)
class Fitting:
    """How sets are to be found."""

    size: Size
    sizes: Annotated[
        Path | None, typer.Option(help="CSV instance,size for instances whose size differs from --size.")
    ] = None
    method: Annotated[Method, typer.Option(help="How sets are found; auto says which it took and why.")] = "auto"
    gold: Annotated[Path | None, typer.Option(help="CSV instance,alternatives with known right sets.")] = None
    gold_use: Annotated[
        Literal["auto", "learn", "score"],
        typer.Option(
            help="Gold sets teach the rest (learn) or are only compared with (score); auto scores if all are known."
        ),
    ] = "auto"


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Spread every parameter of type `Reading` or `Fitting` into its fields, as options of their own."""
    hints = get_type_hints(command, include_extras=True)
    bundles = {name: hint for name, hint in hints.items() if hint in (Reading, Fitting)}
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in bundles:
            parameters += _parameters(bundles[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    def spread(**values: Any) -> None:
        for name, bundle in bundles.items():
            values[name] = bundle(**{field.name: values.pop(field.name) for field in fields(bundle)})
        command(**values)

    own_last = sorted(parameters, key=lambda parameter: parameter.name in Reading.__dataclass_fields__)
    spread.__signature__ = inspect.Signature(own_last)  # type: ignore[attr-defined]
    spread.__name__, spread.__doc__ = command.__name__, command.__doc__
    spread.__annotations__ = {parameter.name: parameter.annotation for parameter in own_last}
    return spread


def _parameters(bundle: type[Reading] | type[Fitting]) -> list[inspect.Parameter]:
    hints = get_type_hints(bundle, include_extras=True)
    usual = inspect.signature(bundle).parameters
    return [
        usual[name].replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name in (field.name for field in fields(bundle))
    ]


def split_names(alternatives: str | None) -> list[str] | None:
    """The names in `a|b|c`."""
    if alternatives is None:
        return None
    names = alternatives.split("|")
    if "" in names:
        raise InputError(f"--alternatives {alternatives!r} has an empty name; write them as 'a|b|c'")
    return names
