"""Tables with a row per ballot or per tick: canonical ballots, ticks, 0/1 columns, crowd-kit's lists.

They may be CSV, TSV, Parquet, JSON or JSONL; only the columns that are needed are read.
"""

from __future__ import annotations

import ast
import io
import json
import time
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from glob import escape
from itertools import islice, pairwise
from typing import Any, Literal, TypeVar

import narwhals as nw
import numpy as np
import polars as pl

from epivote.data.frames import (
    INSTANCE_COLUMNS,
    LIST_COLUMNS,
    TICK_COLUMNS,
    VOTER_COLUMNS,
    BallotTable,
    Blank,
    Layout,
    rows_of,
)
from epivote.data.names import IntArray, Place, listing, suggestion
from epivote.data.rows import Rows, Split, split_at
from epivote.errors import BallotError, ColumnError, FileError
from epivote.formats.export import Export, as_name, read_json, read_json_lines, records
from epivote.formats.forms import matches
from epivote.formats.reading import Reading
from epivote.formats.source import PARQUET, SourceFile
from epivote.formats.text_table import TextTable

SEPARATOR = "|"
TableKind = Literal["ballots", "ticks", "indicators", "crowd-kit"]
JSON_LINES = (".jsonl", ".ndjson")
T = TypeVar("T")


@dataclass(frozen=True)
class Shape:
    """How a table is to be understood: its layout, which columns hold what, and how cells are split."""

    layout: Layout
    voter: str
    instance: str
    ticks: list[str]
    split: Split

    @property
    def columns(self) -> list[str]:
        """All columns that are needed."""
        return list(dict.fromkeys([self.voter, self.instance, *self.ticks]))

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
    columns = columns_of(source)
    voter = _find(source, columns, reading.voter, VOTER_COLUMNS, "voter")
    instance = _find(source, columns, reading.instances, INSTANCE_COLUMNS, "instances")
    if kind == "indicators":
        keys = (voter, instance)
        marks = [name for name in columns if name not in keys and _is_mark(name, reading)]
        if not marks:
            raise ColumnError(f"{source}: no 0/1 column is left besides {listing(keys)}; check --ticks")
        return Shape("indicators", voter, instance, marks, split_at(SEPARATOR))
    ticks = _find(source, columns, reading.ticks, TICK_COLUMNS if kind == "ticks" else LIST_COLUMNS, "ticks")
    if kind == "ticks":
        return Shape("ticks", voter, instance, [ticks], split_at(SEPARATOR))
    separator = reading.separator or SEPARATOR
    return Shape("lists", voter, instance, [ticks], _literal(separator) if kind == "crowd-kit" else split_at(separator))


def _is_mark(name: str, reading: Reading) -> bool:
    return reading.ticks is None or matches(name, reading.ticks)


def _read(source: SourceFile, reading: Reading, kind: TableKind) -> Export:
    shape = shape_of(source, reading, kind)
    table = open_table(source, shape.columns)
    if len(table.frame) == 0:
        raise BallotError(f"{source} holds no ballots; check that it is the file you meant")
    begin = time.perf_counter()
    ballots = shape.rows(table, reading.blank).ballots(
        alternatives=shape.alternatives(reading),
        menu=reading.menus,
        duplicates=reading.duplicates,
        merge=shape.layout == "ticks",
    )
    inferred = shape.alternatives(reading) is None and reading.menu is None
    return Export(ballots, inferred=inferred, encode_seconds=time.perf_counter() - begin)


def columns_of(source: SourceFile) -> list[str]:
    """The names of a table's columns, without reading the rest where that is possible."""
    if source.start(len(PARQUET)) == PARQUET:
        return _parquet(source, lambda scan: scan.collect_schema().names())
    if source.suffix in JSON_LINES:
        return list(dict.fromkeys(name for _, row in read_json_lines(source) for name in row))
    if source.suffix == ".json":
        return list(dict.fromkeys(name for row in records(read_json(source), source) for name in row))
    return TextTable(source).columns


def open_table(source: SourceFile, names: Sequence[str]) -> BallotTable:
    """Some columns of a table, whose rows know their places."""
    if source.start(len(PARQUET)) == PARQUET:
        frame = _parquet(source, lambda scan: scan.select(names).collect())
        return BallotTable(nw.from_native(frame), lambda row: f"{source}, row {row + 1}")
    if source.suffix in JSON_LINES:
        return BallotTable(nw.from_native(_json_lines(source, names)), lambda row: _line(source, row))
    if source.suffix == ".json":
        rows, place = records(read_json(source), source), lambda row: f"{source}, record {row + 1}"
        return BallotTable(nw.from_native(_frame(rows, names, place)), place)
    text = TextTable(source)
    return BallotTable(nw.from_native(text.select(names)), text.place)


def open_batches(source: SourceFile, names: Sequence[str], size: int) -> Iterator[tuple[pl.DataFrame, IntArray, Place]]:
    """The same, `size` rows at a time: columns, the number of each row in the file, and what its place is called."""
    if source.start(len(PARQUET)) == PARQUET:
        scan = pl.scan_parquet(source.path, glob=False).select(names)
        begin = 0
        try:
            for frame in scan.collect_batches(chunk_size=size, maintain_order=True):
                yield frame, np.arange(begin, begin + len(frame)), lambda row: f"{source}, row {row + 1}"
                begin += len(frame)
        except pl.exceptions.PolarsError as error:
            raise _damaged(source, error) from None
    else:
        text = TextTable(source)
        for frame, records in text.batches(names, size):
            yield frame, records, text.place_of


def _parquet(source: SourceFile, what: Callable[[pl.LazyFrame], T]) -> T:
    try:
        return what(pl.scan_parquet(source.path, glob=False))
    except pl.exceptions.PolarsError as error:
        raise _damaged(source, error) from None


def _damaged(source: SourceFile, error: Exception) -> FileError:
    return FileError(f"{source} is damaged Parquet ({str(error).splitlines()[0]}); write it again")


def _json_lines(source: SourceFile, names: Sequence[str]) -> pl.DataFrame:
    """Read by Polars where all records have the same types; else one by one, so that nothing is taken for another."""
    try:
        frame = pl.scan_ndjson(escape(str(source.path)), infer_schema_length=None).select(names).collect()
    except pl.exceptions.PolarsError:
        frame = None
    if frame is not None and all(_is_plain(frame[name]) for name in names):
        return frame
    return _frame([record for _, record in read_json_lines(source)], names, lambda row: _line(source, row))


def _is_plain(column: pl.Series) -> bool:
    """Whether a column holds what the file holds: texts, whole numbers, or lists of these."""
    inner = column.dtype.inner if isinstance(column.dtype, pl.List) else column.dtype
    if inner == pl.String:
        texts = column.explode(empty_as_null=False) if isinstance(column.dtype, pl.List) else column
        odd = texts.str.starts_with("[") | texts.str.starts_with("{") | texts.str.contains("\0", literal=True)
        return not odd.any()
    return isinstance(inner, pl.DataType) and inner.is_integer()


def _line(source: SourceFile, row: int) -> str:
    number, _ = next(islice(read_json_lines(source), row, None))
    return f"{source}, line {number}"


def _frame(rows: list[dict[str, Any]], names: Sequence[str], place: Place) -> pl.DataFrame:
    """Records as text columns and columns of lists."""
    columns = {}
    for name in names:
        cells = [row.get(name) for row in rows]
        lists = any(isinstance(cell, list) for cell in cells)
        texts = [_checked(cell, name, lists, place, row) for row, cell in enumerate(cells)]
        columns[name] = pl.Series(name, texts, pl.List(pl.String) if lists else pl.String)
    return pl.DataFrame(columns)


def _checked(cell: Any, column: str, lists: bool, place: Place, row: int) -> Any:
    """A cell as a name or a list of names."""
    if cell is None or (isinstance(cell, bool) and not lists):
        return None if cell is None else str(int(cell))
    if lists and not isinstance(cell, list):
        raise FileError(f"{place(row)}: {cell!r} in {column!r} is no list where other records have one; make it a list")
    found = [as_name(each) for each in cell] if isinstance(cell, list) else [as_name(cell)]
    if None in found:
        raise FileError(f"{place(row)}: {cell!r} in {column!r} is neither a name nor a list of names")
    return found if lists else found[0]


def _find(source: SourceFile, columns: Sequence[str], given: str | None, usual: Sequence[str], option: str) -> str:
    """The column the user named, or the first of the usual names that is there."""
    for name in [given] if given is not None else usual:
        alike = [column for column in columns if column == name] or [
            column for column in columns if column.strip().casefold() == name.casefold()
        ]
        if alike:
            return alike[0]
    wanted = given if given is not None else usual[0]
    others = f" (nor {', '.join(usual[1:])})" if given is None and len(usual) > 1 else ""
    raise ColumnError(
        f"{source}: there is no column {wanted!r}{others}{suggestion(wanted, columns)}; the columns are "
        f"{listing(columns)}; name one with --{option}, or say what the file is with --format"
    )


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
