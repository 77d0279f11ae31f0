"""Tables with a row per ballot or per tick: canonical ballots, ticks, 0/1 columns, crowd-kit's lists.

They may be CSV, TSV, Parquet, JSON or JSONL; only the columns that are needed are read.
"""

from __future__ import annotations

import ast
import io
import json
import time
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import polars as pl

from epivote.data.columns import (
    INSTANCE_COLUMNS,
    LIST_COLUMNS,
    MULTIPLICITY_COLUMN,
    TICK_COLUMNS,
    VOTER_COLUMNS,
    find_column,
)
from epivote.data.frames import BallotTable, Blank, Layout, rows_of
from epivote.data.names import listing
from epivote.data.rows import Rows, Split, split_at
from epivote.errors import BallotError, ColumnError
from epivote.formats.export import Export, as_name
from epivote.formats.file_tables import table_of
from epivote.formats.forms import matches
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile

SEPARATOR = "|"
TableKind = Literal["ballots", "ticks", "indicators", "crowd-kit"]


@dataclass(frozen=True)
class Shape:
    """How a table is to be understood: its layout, which columns hold what, and how cells are split."""

    layout: Layout
    voter: str
    instance: str
    ticks: list[str]
    split: Split
    has_multiplicity: bool = False

    @property
    def columns(self) -> list[str]:
        """All columns that are needed."""
        optional = [MULTIPLICITY_COLUMN] if self.has_multiplicity else []
        return list(dict.fromkeys([self.voter, self.instance, *self.ticks, *optional]))

    def rows(self, table: BallotTable, blank: Blank | None) -> Rows:
        """The rows of such a table."""
        ticks = self.ticks if self.layout == "indicators" else self.ticks[0]
        return rows_of(table, self.layout, self.voter, self.instance, ticks, self.split, blank)

    def alternatives(self, reading: Reading) -> Iterable[str] | None:
        """Those that were stated, by the user or by the columns."""
        return self.ticks if reading.alternatives is None and self.layout == "indicators" else reading.alternatives


def read_lists(source: SourceFile, reading: Reading) -> Export:
    """A row per ballot; ticks joined by `|` (or as `separator` says) or, in JSON and Parquet, a list."""
    found = _read(source, reading, "ballots")
    lists = [name for name in found.ballots.alternatives if name[0] in "[({" and name[-1] in "])}"]
    if lists:
        note = f"alternative {lists[0]!r} looks like a list; --format crowd-kit reads lists within cells"
        return replace(found, notes=(note,))
    return found


def read_crowd_kit(source: SourceFile, reading: Reading) -> Export:
    """A row per ballot; the ticks are a list as JSON or Python writes it, else joined by `|`."""
    return _read(source, reading, "crowd-kit")


def read_ticks(source: SourceFile, reading: Reading) -> Export:
    """A row per tick; a row without alternative makes an empty ballot."""
    found = _read(source, reading, "ticks")
    if (found.ballots.ballot_sizes > 0).all():
        note = (
            "a row is one tick, so a voter who ticked nothing has no row and counts as not having answered; "
            "add rows with a blank alternative for those who did"
        )
        return replace(found, notes=(note,))
    return found


def read_indicators(source: SourceFile, reading: Reading) -> Export:
    """A row per ballot with a 0/1 column per alternative; those `ticks` matches, else all but voter and instance."""
    return _read(source, reading, "indicators")


def shape_of(source: SourceFile, reading: Reading, kind: TableKind) -> Shape:
    """How the table in a file is to be understood."""
    has_multiplicity = MULTIPLICITY_COLUMN in table_of(source).columns
    return replace(_shape_of(source, reading, kind), has_multiplicity=has_multiplicity)


def _shape_of(source: SourceFile, reading: Reading, kind: TableKind) -> Shape:
    columns = table_of(source).columns

    def find(given: str | None, usual: Sequence[str], option: str) -> str:
        remedy = f"; name one with --{option}, or say what the file is with --format"
        return find_column(columns, given, usual, loosely=True, place=f"{source}: ", remedy=remedy)

    voter = find(reading.voter, VOTER_COLUMNS, "voter")
    instance = find(reading.instances, INSTANCE_COLUMNS, "instances")
    if kind == "indicators":
        keys = (voter, instance, MULTIPLICITY_COLUMN)
        marks = [name for name in columns if name not in keys and _is_mark(name, reading)]
        if not marks:
            raise ColumnError(f"{source}: no 0/1 column is left besides {listing(keys[:2])}; check --ticks")
        return Shape("indicators", voter, instance, marks, split_at(SEPARATOR))
    ticks = find(reading.ticks, TICK_COLUMNS if kind == "ticks" else LIST_COLUMNS, "ticks")
    if kind == "ticks":
        return Shape("ticks", voter, instance, [ticks], split_at(SEPARATOR))
    separator = reading.separator or SEPARATOR
    return Shape("lists", voter, instance, [ticks], _literal(separator) if kind == "crowd-kit" else split_at(separator))


def _is_mark(name: str, reading: Reading) -> bool:
    return reading.ticks is None or matches(name, reading.ticks)


def _read(source: SourceFile, reading: Reading, kind: TableKind) -> Export:
    shape = shape_of(source, reading, kind)
    table = table_of(source)
    frame = table.select(shape.columns)
    if len(frame) == 0:
        raise BallotError(f"{source} holds no ballots; check that it is the file you meant")
    begin = time.perf_counter()
    ballots = shape.rows(BallotTable(frame, table.place), reading.blank).ballots(
        alternatives=shape.alternatives(reading),
        menu=reading.menus,
        duplicates=reading.duplicates,
        merge=shape.layout == "ticks",
    )
    inferred = shape.alternatives(reading) is None and reading.menu is None
    return Export(ballots, inferred=inferred, encode_seconds=time.perf_counter() - begin)


def _literal(separator: str) -> Split:
    def split(cells: pl.Series) -> pl.Series:
        lists = [None if cell is None else _parsed(cell, separator) for cell in cells]
        return pl.Series(cells.name, lists, pl.List(pl.String))

    return split


def _parsed(cell: str, separator: str) -> list[str] | None:
    """`["a", "b"]`, `['a', 'b']`, `['a' 'b']` (an array), `('a',)`, `{'a'}` or `a|b`; None if brackets hold no list."""
    text = cell.strip()
    if not (text[:1] in "[({" and text[-1:] in "])}"):
        return cell.split(separator)
    for parse in (json.loads, _literal_list):
        try:
            found = parse(text)
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
