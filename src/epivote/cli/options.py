"""Options that several commands share, said once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

import typer

from epivote.errors import InputError
from epivote.formats.detect import read_export
from epivote.formats.export import Export
from epivote.formats.reading import Reading

Method = Literal["auto", "em", "amle", "majority", "modal", "approval", "size-approval"]

BallotFile = Annotated[
    Path,
    typer.Argument(
        help="CSV with columns voter,instance,alternatives, or an export of a known tool; - reads standard input."
    ),
]
Size = Annotated[
    str, typer.Option(help="Size bounds: how many alternatives a true set has: 2, 1..2, or 1.. for no upper bound.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
READING = {name: get_args(hint) for name, hint in get_type_hints(Reading, include_extras=True).items()}
"""Type and words of every reading option."""
Names = Annotated[str | None, typer.Option(help=READING["alternatives"][1])]
MenuFile = Annotated[Path | None, typer.Option("--menu", help=READING["menu"][1])]


@dataclass(frozen=True)
class Fitting:
    """How sets are to be found."""

    size: Annotated[
        str | None,
        typer.Option(
            help="Size bounds: how many alternatives a true set has: 2, 1..2, or 1.. for no upper bound. Required; "
            "without it, the error message suggests bounds."
        ),
    ] = None
    sizes: Annotated[
        Path | None,
        typer.Option(help="CSV instance,size with the size bounds of instances for which --size does not hold."),
    ] = None
    method: Annotated[
        Method,
        typer.Option(
            help="Estimation method; auto chooses one and says why. size-approval counts approvals, each divided by "
            "the size of its ballot."
        ),
    ] = "auto"
    gold: Annotated[Path | None, typer.Option(help="CSV instance,alternatives with known true sets.")] = None
    gold_use: Annotated[
        Literal["auto", "learn", "score"],
        typer.Option(
            help="Use gold to calibrate the other sets (learn), or only to score them (score); auto scores if gold has "
            "every instance."
        ),
    ] = "auto"
    quick: Annotated[
        bool, typer.Option("--quick", help="Skip the check of the confidence on two halves of the voters.")
    ] = False


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
    hints = get_type_hints(bundle, include_extras=True) if bundle is Fitting else _reading_options()
    return [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(bundle).parameters.items()
    ]


def _reading_options() -> dict[str, Any]:
    """Reading options as they are typed: names joined by `|`, and a file of menus, where Python takes more."""
    options: dict[str, Any] = {
        name: Annotated[kind, typer.Option(help=words)] for name, (kind, words) in READING.items()
    }
    return {**options, "alternatives": Names, "menu": MenuFile}


def read_file(path: Path, reading: Reading) -> Export:
    """The file, understood so."""
    return read_export(path, **python_options(reading))


def python_options(reading: Reading) -> dict[str, Any]:
    """What `read_export` takes: alternatives, one text on the command line, as a list."""
    assert reading.alternatives is None or isinstance(reading.alternatives, str)
    return {**vars(reading), "alternatives": split_names(reading.alternatives)}


def split_names(alternatives: str | None) -> list[str] | None:
    """The names in `a|b|c`."""
    if alternatives is None:
        return None
    names = alternatives.split("|")
    if "" in names:
        raise InputError(f"--alternatives {alternatives!r} has an empty name; write them as 'a|b|c'")
    return names
