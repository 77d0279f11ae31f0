"""CSV, TSV and semicolon files as columns of text whose rows know their lines."""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice, takewhile

import numpy as np
import polars as pl

from epivote.data.columns import find_column
from epivote.data.frames import Blank
from epivote.data.names import IntArray, counted
from epivote.errors import ColumnError, FileError
from epivote.formats.source import PARQUET, SourceFile, not_utf8
from epivote.formats.survey_header import SurveyHeader, survey_header

COLUMN_SEPARATORS = (",", "\t", ";")
LEFT_OUT = ("Approve", "Reject")
csv.field_size_limit(2**31 - 1)
NOTHING, ENDS, ROW = "\0nothing", "\0ends", "\0row"


class TextTable:
    """A table in a text file; what separates its cells is told from the header, which may have several lines.

    `labels` say more about columns, where a survey tool's second line does.
    """

    nulls: Blank = "empty"

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        if source.start(len(PARQUET)) == PARQUET:
            raise FileError(f"{source} is a Parquet file, but the chosen format is text; correct --format")
        self.separator, self._n_before = _separator(source)
        self._survey = self._survey_header()
        self.labels = self._survey.labels
        self.columns = self._header()
        self._rows: IntArray = np.zeros(0, np.int64)  # which records are rows, once they were read

    @property
    def is_survey(self) -> bool:
        """Whether the header has several lines, as those of survey tools have."""
        return self._survey.n_more > 0

    @cached_property
    def frame(self) -> pl.DataFrame:
        """All columns, blank lines left out."""
        return self.select(self.columns)

    def select(self, names: Sequence[str]) -> pl.DataFrame:
        """Some columns, blank lines left out; the others take no memory."""
        nothing, ends = pl.all_horizontal(pl.all().is_null()).alias(NOTHING), pl.nth(-1).is_null().alias(ENDS)
        frame = self._collect(self._scan().select(*map(pl.col, names), nothing, ends))
        if frame[ENDS].any():
            everything = len(names) == len(self.columns)  # then the file need not be parsed again
            self._check_cells(frame.lazy().drop(NOTHING, ENDS) if everything else self._scan(), len(frame))
        self._rows = np.flatnonzero(~frame[NOTHING].to_numpy())
        return frame.filter(~pl.col(NOTHING)).drop(NOTHING, ENDS)

    def first(self, names: Sequence[str], count: int) -> pl.DataFrame:
        """The first rows of some columns."""
        return self._collect(self._scan().select(names).head(count))

    def batches(self, names: Sequence[str], size: int) -> Iterator[tuple[pl.DataFrame, IntArray]]:
        """Some columns, `size` rows at a time and blank lines left out, with the numbers of their records."""
        nothing, ends = pl.all_horizontal(pl.exclude(ROW).is_null()).alias(NOTHING), pl.nth(-1).is_null().alias(ENDS)
        scan = self._scan().with_row_index(ROW).select(*map(pl.col, names), ROW, nothing, ends)
        n_rows, torn = 0, False
        try:
            for frame in scan.collect_batches(chunk_size=size, maintain_order=True):
                n_rows += len(frame)
                torn |= bool(frame[ENDS].any())
                kept = frame.filter(~pl.col(NOTHING))
                yield kept.drop(ROW, NOTHING, ENDS), kept[ROW].to_numpy()
        except pl.exceptions.PolarsError as error:
            raise self._damaged(error) from None
        if torn:
            self._check_cells(self._scan(), n_rows)

    def rows_begin(self) -> int | None:
        """Where the first row begins, in bytes; None if the header has several lines."""
        with self.source.path.open("rb") as file:
            for _ in range(self._n_before):
                file.readline()
            header = file.readline()
            while header and not header.strip():
                header = file.readline()
            is_open = header.count(b'"') % 2 == 1  # the header continues on the next line
            return None if self.is_survey or is_open else file.tell()

    def column(self, usual: Sequence[str]) -> pl.Series:
        """The first of the usual names that is there."""
        name = find_column(self.columns, None, usual, place=f"{self.source}: ")
        return self.frame[name]  # read only now: a wrong header is reported before wrong rows

    @cached_property
    def lines(self) -> list[int]:
        """The line on which every row begins."""
        begins = [line for line, _ in self._records()]
        return [begins[int(row) + 1 + self._survey.n_more] for row in self._rows]

    def place(self, row: int) -> str:
        """`quiz.csv, line 7`."""
        return self.place_of(int(self._rows[row]))

    def place_of(self, record: int) -> str:
        """The same for a record, blank lines counted."""
        ((line, _),) = deque(islice(self._records(), record + 2 + self._survey.n_more), maxlen=1)
        return f"{self.source}, line {line}"

    def _scan(self) -> pl.LazyFrame:
        return pl.scan_csv(
            self.source.path,
            infer_schema=False,
            glob=False,
            separator=self.separator,
            skip_rows=self._n_before,
            skip_rows_after_header=self._survey.n_more,
            new_columns=self._survey.names if self._survey.n_more else None,
        )

    def _survey_header(self) -> SurveyHeader:
        if self.source.path.is_dir():
            raise FileError(f"{self.source} is a folder; name a file in it")
        try:
            return survey_header([cells for _, cells in islice(self._records(), 3)])
        except FileError:  # the rows will be refused, but after the header, and in better words
            return SurveyHeader([])

    def _header(self) -> list[str]:
        try:
            columns = self._scan().collect_schema().names()
        except pl.exceptions.NoDataError:
            raise FileError(f"{self.source} is empty; it needs a header line and ballots") from None
        except pl.exceptions.PolarsError as error:
            raise self._damaged(error) from None
        twice = next((name for name in columns if name.endswith("_duplicated_0")), None)
        if twice is not None:
            raise ColumnError(
                f"{self.source}: column {twice.removesuffix('_duplicated_0')!r} appears twice; rename one"
            )
        return columns

    def _collect(self, frame: pl.LazyFrame) -> pl.DataFrame:
        try:
            return frame.collect(engine="streaming")
        except pl.exceptions.PolarsError as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> FileError:
        self._refuse_torn_rows(None)
        first = str(error).splitlines()[0]
        return FileError(f"{self.source} cannot be read as CSV ({first}); check the quotes around its cells")

    def _check_cells(self, cells: pl.LazyFrame, n_rows: int) -> None:
        """Refuse a row with too few cells, which would otherwise be read as blank ones.

        Separators in the file are those inside cells plus one less than columns per row. Blank lines, which have none,
        and torn rows make them fewer: then the rows are looked at one by one. Only quoted cells have some inside.
        """
        mark, written, is_quoted = self.separator.encode(), 0, False
        with self.source.path.open("rb") as file:
            while chunk := file.read(1 << 24):
                written += chunk.count(mark)
                is_quoted = is_quoted or b'"' in chunk
        within = sum(name.count(self.separator) for name in self.columns)
        if is_quoted:
            inside = pl.all().str.count_matches(self.separator, literal=True).fill_null(0).cast(pl.Int64).sum()
            within += int(self._collect(cells.select(pl.sum_horizontal(inside)))[0, 0])
        if written - within != (len(self.columns) - 1) * (n_rows + 1):
            self._refuse_torn_rows(len(self.columns))

    def _refuse_torn_rows(self, n_columns: int | None) -> None:
        for line, cells in self._records():
            if n_columns is None:
                n_columns = len(cells)
            if cells and not n_columns - self._n_left_out <= len(cells) <= n_columns:
                mark = {",": "comma", "\t": "tab", ";": "semicolon"}.get(self.separator, repr(self.separator))
                raise FileError(
                    f"{self.source}, line {line}: {counted(len(cells), 'cell')} where the header has {n_columns}; "
                    f"quote a cell that contains a {mark}, and write a {mark} for every empty cell"
                )

    @property
    def _n_left_out(self) -> int:
        """How many cells rows may lack at their end: MTurk's downloads leave out those that a review would fill."""
        review = takewhile(lambda name: name in LEFT_OUT, reversed(self._survey.names))
        return sum(1 for _ in review)

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """All records from the header on, with the line each begins on."""
        try:
            with self.source.path.open(encoding="utf-8-sig", newline="") as file:
                for _ in range(self._n_before):
                    file.readline()
                reader = csv.reader(file, strict=True, delimiter=self.separator)
                begins, has_header = 1 + self._n_before, False
                for cells in reader:
                    has_header = has_header or bool(cells)  # blank lines before the header are nothing at all
                    if has_header:
                        yield begins, cells
                    begins = reader.line_num + 1 + self._n_before
        except UnicodeDecodeError:
            raise not_utf8(self.source) from None
        except csv.Error as error:
            raise FileError(f"{self.source}, line {reader.line_num}: {error}; check the quotes there") from None


def _separator(source: SourceFile) -> tuple[str, int]:
    """What separates cells, and how many lines stand before the header.

    Excel's `sep=;` says it; else tab in a `.tsv` file, else what cuts the first lines into equally many cells, most.
    """
    text = source.start(1 << 16).decode("utf-8-sig", errors="replace")
    told = re.match(r"""("?)sep=(.)\1\r?\n""", text, re.IGNORECASE)
    if told:
        return told[2], 1
    if source.suffix == ".tsv":
        return "\t", 0
    return max(COLUMN_SEPARATORS, key=lambda mark: _cells(text, mark)), 0


def _cells(text: str, separator: str) -> tuple[bool, int]:
    """Whether the first lines have equally many cells, more than one, and how many the first has."""
    counts = []
    try:
        for cells in csv.reader(io.StringIO(text), delimiter=separator):
            counts += [len(cells)] if cells else []
            if len(counts) == 20:
                break
    except csv.Error:
        pass
    return bool(counts) and counts[0] > 1 and len(set(counts)) == 1, counts[0] if counts else 0
