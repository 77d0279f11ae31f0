"""Which part of the organiser's tables is asked for: what is searched, in which order, and which pages of rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import urlencode

ROWS = 50  # on a page of a table: with all else that the live page asks for, well under 20 KB compressed
SORTS = {"doubt": "most doubtful first", "task": "in the order of the task", "ballots": "fewest ballots first"}
T = TypeVar("T")
Table = Literal["page", "voters"]
"""The table of sets, or that of voters."""


@dataclass(frozen=True)
class Look:
    """What the address of the live page asks for."""

    find: str = ""
    sort: str = "doubt"
    page: int = 1
    voters: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Look:
        """From the query of an address; what makes no sense counts as not given."""
        sort = query.get("sort", "")
        return cls(
            find=query.get("find", "").strip()[:100],
            sort=sort if sort in SORTS else "doubt",
            page=_number(query.get("page", "")),
            voters=_number(query.get("voters", "")),
        )

    @property
    def query(self) -> str:
        """As the query of an address, without what is as usual."""
        told = {name: getattr(self, name) for name in ("find", "sort", "page", "voters")}
        return urlencode({name: value for name, value in told.items() if value != getattr(USUAL, name)})

    def turned(self, which: Table, number: int) -> Look:
        """The same with another page of a table."""
        return replace(self, page=number) if which == "page" else replace(self, voters=number)

    def matches(self, *texts: str) -> bool:
        """Whether one of some texts holds what is searched for."""
        wanted = self.find.casefold()
        return not wanted or any(wanted in text.casefold() for text in texts)


USUAL = Look()


@dataclass(frozen=True)
class PageOf(Generic[T]):
    """Some rows of a table."""

    rows: Sequence[T]
    first: int
    total: int

    @classmethod
    def of(cls, rows: Sequence[T], number: int) -> PageOf[T]:
        """A page of rows by its number; the last one if there are not that many."""
        first = ROWS * (min(number, max(1, -(-len(rows) // ROWS))) - 1)
        return cls(rows[first : first + ROWS], first, len(rows))

    def told(self, look: Look, which: Table) -> dict[str, Any]:
        """Which rows these are, and the addresses of the pages around them, empty where there is none."""
        number = self.first // ROWS + 1
        is_last = self.first + len(self.rows) >= self.total
        last = self.first + len(self.rows)
        return {
            "words": f"{self.first + 1:,} to {last:,} of {self.total:,}" if self.rows else "nothing found",
            "before": "" if number == 1 else f"?{look.turned(which, number - 1).query}",
            "after": "" if is_last else f"?{look.turned(which, number + 1).query}",
        }


def _number(text: str) -> int:
    return int(text) if re.fullmatch("[1-9][0-9]{0,6}", text) else 1
