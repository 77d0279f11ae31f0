"""Tables in Parquet, JSON and JSONL files as Polars columns whose rows know their places.

`text_table.py` has the same for delimited text. `table_of` opens whichever a file holds, once: whoever asks for its
columns before its rows are read asks the same object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from glob import escape
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import polars as pl

from epivote.data.frames import Blank
from epivote.data.names import IntArray, Place
from epivote.errors import FileError
from epivote.formats.export import as_name, read_json, read_json_lines, records
from epivote.formats.source import PARQUET, SourceFile
from epivote.formats.text_table import TextTable

JSON_LINES = (".jsonl", ".ndjson")
T = TypeVar("T")


def table_of(source: SourceFile) -> ParquetTable | TextTable | JsonTable | JsonLinesTable:
    """The table that a file holds: its `columns`, those one wants by `select`, and the `place` of a selected row."""
    if source.start(len(PARQUET)) == PARQUET or source.suffix not in (".json", *JSON_LINES):
        return flat_table_of(source)
    return source.once(JsonTable) if source.suffix == ".json" else source.once(JsonLinesTable)


def flat_table_of(source: SourceFile) -> ParquetTable | TextTable:
    """The same for Parquet and delimited text, which can be read in batches."""
    return source.once(ParquetTable) if source.start(len(PARQUET)) == PARQUET else source.once(TextTable)


class ParquetTable:
    """A table in a Parquet file."""

    nulls: Blank = "missing"

    def __init__(self, source: SourceFile) -> None:
        self.source = source

    @cached_property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return self._scanned(lambda scan: scan.collect_schema().names())

    def select(self, names: Sequence[str]) -> pl.DataFrame:
        """Some columns."""
        return self._scanned(lambda scan: scan.select(names).collect())

    def first(self, names: Sequence[str], count: int) -> pl.DataFrame:
        """The first rows of some columns."""
        return self._scanned(lambda scan: scan.select(names).head(count).collect())

    def batches(self, names: Sequence[str], size: int) -> Iterator[tuple[pl.DataFrame, IntArray]]:
        """Some columns, `size` rows at a time, with the numbers of the rows."""
        begin = 0
        try:
            for frame in self._scan().select(names).collect_batches(chunk_size=size, maintain_order=True):
                yield frame, np.arange(begin, begin + len(frame))
                begin += len(frame)
        except pl.exceptions.PolarsError as error:
            raise self._damaged(error) from None

    def place(self, row: int) -> str:
        """`quiz.parquet, row 7`."""
        return f"{self.source}, row {row + 1}"

    place_of = place

    def _scan(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.source.path, glob=False)

    def _scanned(self, what: Callable[[pl.LazyFrame], T]) -> T:
        try:
            return what(self._scan())
        except pl.exceptions.PolarsError as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> FileError:
        return FileError(f"{self.source} is damaged Parquet ({str(error).splitlines()[0]}); write it again")


class JsonTable:
    """A table in a JSON file: a list of records."""

    nulls: Blank = "missing"

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.records = records(read_json(source), source)

    @cached_property
    def columns(self) -> list[str]:
        """The names that records have, in order of appearance."""
        return list(dict.fromkeys(name for record in self.records for name in record))

    def select(self, names: Sequence[str]) -> pl.DataFrame:
        """Some columns."""
        return _frame(self.records, names, self.place)

    def first(self, names: Sequence[str], count: int) -> pl.DataFrame:
        """The first rows of some columns."""
        return _frame(self.records[:count], names, self.place)

    def place(self, row: int) -> str:
        """`quiz.json, record 7`."""
        return f"{self.source}, record {row + 1}"


class JsonLinesTable:
    """A table in a JSONL file: a record per line. Records are not held, since they take several times the file."""

    nulls: Blank = "missing"

    def __init__(self, source: SourceFile) -> None:
        self.source = source

    @cached_property
    def columns(self) -> list[str]:
        """The names that records have, in order of appearance; every line is checked on the way."""
        names: dict[str, None] = {}
        for _, record in read_json_lines(self.source):
            if not record.keys() <= names.keys():
                names.update(dict.fromkeys(record))
        return list(names)

    def select(self, names: Sequence[str]) -> pl.DataFrame:
        """Some columns, by Polars where all records have the same types; else one by one, so that no value changes."""
        try:
            frame = pl.scan_ndjson(escape(str(self.source.path)), infer_schema_length=None).select(names).collect()
        except pl.exceptions.PolarsError:
            frame = None
        if frame is not None and all(_is_plain(frame[name]) for name in names):
            return frame
        return _frame([record for _, record in read_json_lines(self.source)], names, self.place)

    def first(self, names: Sequence[str], count: int) -> pl.DataFrame:
        """The first rows of some columns."""
        return _frame([record for _, record in islice(read_json_lines(self.source), count)], names, self.place)

    def place(self, row: int) -> str:
        """`quiz.jsonl, line 7`."""
        number, _ = next(islice(read_json_lines(self.source), row, None))
        return f"{self.source}, line {number}"


def _is_plain(column: pl.Series) -> bool:
    """Whether a column holds what the file holds: texts, whole numbers, or lists of these."""
    inner = column.dtype.inner if isinstance(column.dtype, pl.List) else column.dtype
    if inner == pl.String:
        texts = column.explode(empty_as_null=False) if isinstance(column.dtype, pl.List) else column
        odd = texts.str.starts_with("[") | texts.str.starts_with("{") | texts.str.contains("\0", literal=True)
        return not odd.any()
    return isinstance(inner, pl.DataType) and inner.is_integer()


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
        raise FileError(
            f"{place(row)}: {cell!r} in {column!r} is not a list, but other records have lists there; make it a list"
        )
    found = [as_name(each) for each in cell] if isinstance(cell, list) else [as_name(cell)]
    if None in found:
        raise FileError(f"{place(row)}: {cell!r} in {column!r} is neither a name nor a list of names")
    return found if lists else found[0]
