"""Columns by name: what they are usually called, and how one is found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from epivote.data.names import listing, suggestion
from epivote.errors import ColumnError

VOTER_COLUMNS = (
    "voter",
    "worker",
    "annotator",
    "rater",
    "respondent",
    "participant",
    "labeler",
    "coder",
    "user",
    "username",
)
INSTANCE_COLUMNS = (
    "instance",
    "task",
    "item",
    "unit",
    "question",
    "document",
    "doc",
    "image",
    "picture",
    "sentence",
    "text",
    "example",
)
LIST_COLUMNS = (
    "alternatives",
    "labels",
    "label",
    "classes",
    "class",
    "choices",
    "choice",
    "selected",
    "selected answer",
    "answers",
    "answer",
    "tags",
)
TICK_COLUMNS = ("alternative", "label", "class", "choice", "answer", "tag")
TOLD_APART = " | "
"""Joins the cells of several columns that tell instances apart together."""
MULTIPLICITY_COLUMN = "multiplicity"  # how many voters with the same ballots the voter of a row stands for


@lru_cache(maxsize=4096)  # names of columns; a round number
def plain(name: str) -> str:
    """A column's name without capitals, blanks and signs: `Worker ID`, `worker_id` and `_workerId` are the same."""
    return re.sub(r"[\W_]+", "", name.casefold())


def columns_named(columns: Sequence[str], usual: Sequence[str]) -> list[str]:
    """The columns with a usual name, in the order of those names; `worker_id` is a `worker`."""
    found = [name for name in usual if name in columns]
    alike: dict[str, list[str]] = {}
    for column in columns:
        alike.setdefault(plain(column), []).append(column)
    for word in map(plain, usual):
        found += alike.get(word, []) + alike.get(f"{word}id", [])
    return list(dict.fromkeys(found))


def column_named(columns: Sequence[str], given: str | None, usual: Sequence[str]) -> str | None:
    """The column called `given`, capitals and blanks around it aside, else the first with a usual name, else None."""
    if given is None:
        return next(iter(columns_named(columns, usual)), None)
    if given in columns:
        return given
    return next((column for column in columns if column.strip().casefold() == given.strip().casefold()), None)


def find_column(
    columns: Sequence[str], given: str | None, usual: Sequence[str], *, place: str = "", remedy: str = ""
) -> str:
    """The same; if there is none, an error that begins with `place` and ends with `remedy`."""
    found = column_named(columns, given, usual)
    if found is not None:
        return found
    wanted = usual[0] if given is None else given
    others = f" (nor {', '.join(usual[1:3])} or the like)" if given is None and len(usual) > 1 else ""
    raise ColumnError(
        f"{place}there is no column {wanted!r}{others}{suggestion(wanted, columns)}; the columns are "
        f"{listing(columns)}{remedy}"
    )


def find_columns(
    columns: Sequence[str], given: str | None, usual: Sequence[str], *, place: str = "", remedy: str = ""
) -> list[str]:
    """The same, where `given` may name several columns joined by `|`."""
    several = given is not None and "|" in given and column_named(columns, given, ()) is None
    names: Sequence[str | None] = given.split("|") if given is not None and several else [given]
    return [find_column(columns, name, usual, place=place, remedy=remedy) for name in names]
