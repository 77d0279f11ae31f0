"""Ticks that share a cell: joined by some mark, or a list. What joins them is told from all cells together."""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import polars as pl

from epivote.data.names import counted
from epivote.formats.export import as_name

SEPARATOR = "|"
MARKS = (";", "\n", ",", "\t", "/")
"""What joins ticks where `|` does not; of equally good ones the first."""
COME_BACK = 0.5  # share of the names in joined cells that must come back elsewhere; a round number
MOST_CELLS = 50_000  # different cells that are looked at for that; a round number
SHOWN = 60  # letters of a cell in a sentence; a round number
BRACKETS = ("[", "(", "{")
BRACKETED = r"(?s)^\s*[\[({].*[\])}]\s*$"


class JoinedCells:
    """A `Split` that finds out at its first call, from all different cells of a column, how ticks share a cell.

    Cells in brackets are lists as JSON, Python or numpy write them, if any of them can be read so (`lists` says they
    must be). All others are split at `told`, else at what `joining_mark` finds; then `separator` is that mark.
    """

    def __init__(self, told: str | None, known: Iterable[str] | None = None, *, lists: bool = False) -> None:
        self.separator: str | None = told
        self.lists = lists
        self.notes: tuple[str, ...] = ()
        self._known = None if known is None else set(known)
        self._is_settled = False
        self._strip = told not in (None, SEPARATOR)

    def __call__(self, cells: pl.Series) -> pl.Series:
        """Lists of names."""
        self.settle(cells)
        if self.lists:
            found = [None if cell is None else self._parsed(cell) for cell in cells]
            return pl.Series(cells.name, found, pl.List(pl.String))
        lists = cells.str.split(self.separator or SEPARATOR)
        return lists.list.eval(pl.element().str.strip_chars()) if self._strip else lists

    def is_settled_by(self, cells: pl.Series) -> bool:
        """Whether these cells show that all cells are split at `|` and keep their blanks, whatever others hold.

        One cell is enough: not in brackets, and joined by a `|` without blanks around it unless the user named it.
        """
        if self.lists or self.separator not in (None, SEPARATOR):
            return False
        held = cells.filter(cells.str.contains(SEPARATOR, literal=True) & ~cells.str.contains(BRACKETED))
        return len(held) > 0 and (self.separator == SEPARATOR or not _has_blanks_around(held))

    def settle(self, cells: pl.Series) -> None:
        """Find out how these cells are to be split, unless that was done before."""
        if self._is_settled:
            return
        self._is_settled = True
        is_bracketed = cells.str.contains(BRACKETED)
        bracketed, others = cells.filter(is_bracketed), cells.filter(~is_bracketed)
        if not self.lists and not others.str.contains(SEPARATOR, literal=True).any():
            self.lists = any(parsed_list(cell) is not None for cell in bracketed.head(MOST_CELLS))
        if self.separator is None:
            self._find(others if self.lists else cells.drop_nulls())

    def _find(self, cells: pl.Series) -> None:
        held = cells.filter(cells.str.contains(SEPARATOR, literal=True))
        if len(held):
            self.separator = SEPARATOR
            self._strip = _has_blanks_around(held)
            return
        self.separator = joining_mark(cells, self._known)
        if self.separator is not None:
            self._strip = True
            example = cells.filter(cells.str.contains(self.separator, literal=True))[0]
            self.notes = (
                f"cells such as {example[:SHOWN]!r} were split at {self.separator!r} (override with --separator)",
            )
            return
        for mark in MARKS:
            unsplit = cells.filter(cells.str.contains(mark, literal=True))
            if len(unsplit):
                self.notes = (
                    f"{counted(len(unsplit), 'alternative')} with {mark!r} inside, such as {unsplit[0][:SHOWN]!r}, "
                    f"{'was' if len(unsplit) == 1 else 'were'} not split; --separator {mark!r} splits them",
                )
                return

    def _parsed(self, cell: str) -> list[str] | None:
        """A list, names joined by a mark, or None if brackets hold no list."""
        text = cell.strip()
        if text[:1] in "[({" and text[-1:] in "])}":
            return parsed_list(text)
        names = cell.split(self.separator or SEPARATOR)
        return [name.strip() for name in names] if self._strip else names


def _has_blanks_around(cells: pl.Series) -> bool:
    """Whether every `|` in these cells has a blank on either side."""
    return bool((cells.str.count_matches(r"\|") == cells.str.count_matches(r"\s\|\s")).all())


def joining_mark(cells: pl.Series, known: set[str] | None = None) -> str | None:
    """The mark that joins names in different cells, if any.

    Names that are ticked come back, alone or at another place among others ("cat, dog", "dog"); the parts of a single
    name ("Paris, France") hardly do. With `known` names, all parts must be known.
    """
    held = [mark for mark in MARKS if cells.str.contains(mark, literal=True).any()]
    looked_at = cells.head(MOST_CELLS).to_list() if held else []
    if known is not None:
        looked_at = [cell for cell in looked_at if cell.strip() not in known]
        fits = (mark for mark in held if known.issuperset(part for cell in looked_at for part in parts(cell, mark)))
        return next(fits, None) if looked_at else None
    shares = {mark: _come_back(looked_at, mark) for mark in held}
    best = max(shares, key=lambda mark: shares[mark], default=None)
    return best if best is not None and shares[best] >= COME_BACK else None


def parts(cell: str, mark: str) -> Iterator[str]:
    """The names in a cell."""
    return (part.strip() for part in cell.split(mark) if part.strip())


def _come_back(cells: list[str], mark: str) -> float:
    """Share of the names in joined cells that also appear alone or at another place."""
    places: dict[str, set[tuple[int, int]]] = {}
    joined: set[str] = set()
    for cell in cells:
        names = list(parts(cell, mark))
        for number, name in enumerate(names):
            places.setdefault(name, set()).add((number, len(names)))
        if mark in cell.strip().strip(mark):
            joined.update(names)
    return sum(len(places[name]) > 1 for name in joined) / len(joined) if joined else 0.0


def parsed_list(text: str) -> list[str] | None:
    """`["a", "b"]`, `['a', 'b']`, `['a' 'b']` (an array), `('a',)` or `{'a'}` as names; None if it is no such list."""
    readers: tuple[Callable[[str], Any], ...] = (json.loads, _literal_list)
    for parse in readers:
        try:
            found = parse(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
            continue
        if isinstance(found, (list, tuple, set)):
            names = [as_name(each) for each in found]
            return None if None in names else names  # type: ignore[return-value]
    return None


def _literal_list(text: str) -> Any:
    """What Python understands, but texts without a comma between them are several, as numpy prints them."""
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type != tokenize.NL]
    if any(a.type == b.type == tokenize.STRING for a, b in pairwise(tokens)):
        return [ast.literal_eval(token.string) for token in tokens if token.type == tokenize.STRING]
    return ast.literal_eval(text)
