"""Columns by name: what they are usually called, and how one is found."""

from __future__ import annotations

from collections.abc import Sequence

from epivote.data.names import listing, suggestion
from epivote.errors import ColumnError

VOTER_COLUMNS = ("voter", "worker", "annotator")
INSTANCE_COLUMNS = ("instance", "task", "item")
LIST_COLUMNS = ("alternatives", "labels", "label", "classes", "class")
MULTIPLICITY_COLUMN = "multiplicity"  # how many voters with the same ballots the voter of a row stands for
TICK_COLUMNS = ("alternative", "label", "class")


def column_named(
    columns: Sequence[str], given: str | None, usual: Sequence[str], *, loosely: bool = False
) -> str | None:
    """The column called `given`, else the first of the usual names that is there, else None.

    With `loosely`, names that differ only in case, or in blanks around a column's name, are the same.
    """
    for name in usual if given is None else (given,):
        if name in columns:
            return name
        alike = [column for column in columns if loosely and column.strip().casefold() == name.casefold()]
        if alike:
            return alike[0]
    return None


def find_column(
    columns: Sequence[str],
    given: str | None,
    usual: Sequence[str],
    *,
    loosely: bool = False,
    place: str = "",
    remedy: str = "",
) -> str:
    """The same; if there is none, an error that begins with `place` and ends with `remedy`."""
    found = column_named(columns, given, usual, loosely=loosely)
    if found is not None:
        return found
    wanted = usual[0] if given is None else given
    others = f" (nor {', '.join(usual[1:])})" if given is None and len(usual) > 1 else ""
    raise ColumnError(
        f"{place}there is no column {wanted!r}{others}{suggestion(wanted, columns)}; the columns are "
        f"{listing(columns)}{remedy}"
    )
