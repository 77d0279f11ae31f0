"""How a file is to be understood: the options of `read_export`, `pack_files` and the command, declared once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Concatenate, Literal, ParamSpec, TypeVar, get_args, get_type_hints

from epivote.data.ballots import Duplicates, MenuLike
from epivote.data.frames import Blank
from epivote.data.names import listing
from epivote.errors import FileError

Format = Literal[
    "ballots",
    "ticks",
    "indicators",
    "matrix",
    "forms",
    "crowd-kit",
    "crowdflower",
    "label-studio",
    "label-studio-min",
    "prodigy",
    "doccano",
    "argilla",
    "mturk",
    "toloka",
    "preflib",
    "abcvoting",
    "pabulib",
]
P = ParamSpec("P")
First = TypeVar("First")
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What the user says about a file of ballots; the text beside each option is its `--help`.

    By default everything is inferred from the file. Readers use `menus`, which is `menu` after its file was read.
    """

    format: Annotated[Format | None, "Format of the file, if it is not detected correctly."] = None
    question: Annotated[str | None, "Question to read, if the file has several."] = None
    voter: Annotated[str | None, "Column of voters, if not called voter."] = None
    instances: Annotated[
        str | None,
        "Column of instances, or several joined by |; for forms, a pattern for the question columns, such as 'Q*'.",
    ] = None
    rows: Annotated[
        Literal["voters", "instances"] | None,
        "What a row of a 0/1 table stands for, if it names neither voters nor instances.",
    ] = None
    ticks: Annotated[str | None, "Column of ticked alternatives; for 0/1 columns, a pattern such as 'label_*'."] = None
    separator: Annotated[
        str | None, "Separator between alternatives in a cell, if it is not detected; '\\n' is a line break."
    ] = None
    none: Annotated[str | None, "Alternative that means none of these, if there is one."] = None
    approved: Annotated[
        str | None,
        "PrefLib: categories that count as approved, joined by |; for orders, how many places count.",
    ] = None
    gold_row: Annotated[str | None, "Forms: respondent whose row holds the true sets (gold)."] = None
    blank: Annotated[Blank | None, "Whether an empty cell is an empty ballot or a missing one."] = None
    missing: Annotated[str | None, "Text that stands for a missing ballot, such as NA; several joined by |."] = None
    encoding: Annotated[str | None, "Encoding of the text, such as windows-1252, if not UTF-8 or UTF-16."] = None
    alternatives: Annotated[
        Iterable[str] | None,
        "Names of all alternatives, joined by |, if some were never ticked.",
    ] = None
    menu: Annotated[
        MenuLike | str | Path | None, "CSV instance,alternatives with what was offered on each instance, if it differs."
    ] = None
    duplicates: Annotated[Duplicates, "Which ballot to keep if a voter has several on one instance."] = "error"

    def __post_init__(self) -> None:
        """Refuse an unknown format."""
        if self.format is not None and self.format not in get_args(Format):
            raise FileError(f"{self.format!r} is not a format; it is one of {listing(get_args(Format), 20)}")

    @property
    def missing_words(self) -> tuple[str, ...]:
        """What stands for no answer."""
        return () if self.missing is None else tuple(word.strip() for word in self.missing.split("|") if word.strip())

    def is_missing(self, cell: str | None) -> bool:
        """Whether a cell says that there is no answer."""
        return cell is not None and cell.strip() in self.missing_words

    @property
    def menus(self) -> MenuLike | None:
        """What was offered where, if the user said so."""
        assert not isinstance(self.menu, (str, Path)), "the file of menus is read before the ballots"
        return self.menu


def takes_options(
    bundle: Callable[P, object],
) -> Callable[[Callable[Concatenate[First, ...], Result]], Callable[Concatenate[First, P], Result]]:
    """Decorate a function that passes its `**options` to a dataclass: its signature shows the fields as keywords.

    The function itself is returned; only what `help` and type checkers see of it changes.
    """

    def show(function: Callable[Concatenate[First, ...], Result]) -> Callable[Concatenate[First, P], Result]:
        own, kinds = inspect.signature(function), get_type_hints(bundle)
        first = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
        fields = inspect.signature(bundle).parameters.values()
        keywords = [each.replace(annotation=kinds[each.name]) for each in fields]
        shown: Any = function
        shown.__signature__ = own.replace(parameters=[*first, *keywords])
        return shown  # type: ignore[no-any-return]

    return show
