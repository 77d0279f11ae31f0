"""Large files of plain delimited text: names become numbers while the file is read, and no column of text is made.

Text is plain if it has no blank rows, equally many cells in all rows, and no quotes but those around whole cells, which
then have neither quotes nor line ends inside. Anything else is left to
`text_table.py`, which takes longer, and says what is wrong and where.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from epivote.data.lists import Lists
from epivote.data.names import IntArray, smallest_integers
from epivote.engines.local import threads
from epivote.formats.text_table import TextTable
from epivote.kernels.library import has_loops
from epivote.kernels.texts import BEYOND, Bytes, RowSplitter, Texts

LARGE = 1 << 20  # bytes of a file from which this way is taken; a round number
CHUNK = 1 << 18  # bytes read at a time: they and what is found in them stay in the second cache; 2^17 and 2^20 as fast
SPARE_ROOM = 1.1  # times the rows that are expected by the first ones; a round number
POLL_SECONDS = 0.1  # between two looks at whether the user has pressed Ctrl-C; a round number
LINE_FEED = 10  # as a byte


class NumberedTexts(NamedTuple):
    """A column: its different texts in order of first appearance, and which of them each row holds."""

    texts: list[str]
    number: IntArray

    def rows_with(self, text: str) -> int:
        """How many rows hold this text."""
        return int(np.count_nonzero(self.number == self.texts.index(text))) if text in self.texts else 0


class NumberedLists(NamedTuple):
    """A column of cells with several names: the names in order of first appearance, and the numbers of those in a row.

    `n_blank` cells hold nothing at all.
    """

    texts: list[str]
    lists: Lists
    n_blank: int


def is_large(table: TextTable) -> bool:
    """Whether a table is read in this way if its text is plain."""
    return table.source.path.stat().st_size >= LARGE and table.separator.isascii() and has_loops()


def plain_columns(
    table: TextTable, names: Sequence[str], joined_by: str | None = None
) -> tuple[NumberedTexts, NumberedTexts, NumberedTexts | NumberedLists] | None:
    """Three columns of a table; None if its text is not plain. The cells of the last one are cut at `joined_by`."""
    path, rows_begin = table.source.path, table.rows_begin()
    if rows_begin is None:
        return None
    column_of = np.array([names.index(name) if name in names else -1 for name in table.columns])
    stop, first = Event(), None

    def read(begin: int, end: int, room: int) -> _FilePart | None:
        part = _FilePart(table.separator, column_of, joined_by, room, first)
        return _read_part(path, begin, end, part, stop)

    if joined_by:
        first = read(*_first_lines(path, rows_begin), CHUNK)
    ranges = list(_line_ranges(path, rows_begin, threads()))
    if not ranges:
        return None
    rooms = [end - begin for begin, end in ranges]
    rooms[0] = sum(rooms)  # later parts are appended to the first
    with ThreadPoolExecutor() as pool:
        try:
            reading = [pool.submit(read, *part, room) for part, room in zip(ranges, rooms, strict=True)]
            while wait(reading, POLL_SECONDS).not_done:
                pass  # once Polars is loaded, an interrupt is not noticed while waiting for longer
        finally:
            stop.set()  # else an interrupt would wait until the whole file is read
        parts = [part.columns for part in (each.result() for each in reading) if part is not None]
        if len(parts) < len(reading):
            return None
        columns = [list(column) for column in zip(*parts, strict=True)]
        del parts, reading  # so that parts of a column are freed one by one while they are joined
        try:
            voters, instances, ticks = pool.map(_joined, columns)
        except UnicodeDecodeError:
            return None
    return voters, instances, ticks


def _joined(parts: list[Any]) -> Any:
    """A column from its parts, which are of one kind; they are gone then, which frees their memory."""
    column = parts.pop(0)
    while parts:
        column.append(parts.pop(0))
    return column.numbered()


def _line_ranges(path: Path, begin: int, count: int) -> Iterator[tuple[int, int]]:
    """The bytes from `begin` on in parts of about equal size and whole lines."""
    size = path.stat().st_size
    with path.open("rb") as file:
        for left in range(count, 0, -1):
            file.seek(begin + (size - begin) // left)
            file.readline()
            if file.tell() > begin:
                yield begin, file.tell()
            begin = file.tell()


def _first_lines(path: Path, begin: int) -> tuple[int, int]:
    """The bytes of some whole lines from `begin` on: half as many as are read at a time."""
    with path.open("rb") as file:
        file.seek(begin + CHUNK // 2)
        file.readline()
        return begin, min(file.tell(), path.stat().st_size)


def _read_part(path: Path, begin: int, end: int, part: _FilePart, stop: Event) -> _FilePart | None:
    """All rows between two places of a file; None if the text there is not plain, or if it was told to stop."""
    buffer: Bytes = np.empty(CHUNK + 1 + BEYOND, np.uint8)  # 1: a line feed that the last row may lack
    kept = 0
    with path.open("rb", buffering=0) as file:
        file.seek(begin)
        while begin < end and not stop.is_set():
            got = file.readinto(buffer[kept : min(CHUNK, kept + end - begin)].data)
            begin, length = begin + got, kept + got
            if begin == end and buffer[length - 1] != LINE_FEED:
                buffer[length] = LINE_FEED
                length += 1
            done = part.add(buffer, length)
            if not done:
                return None
            kept = length - done
            buffer[:kept] = buffer[done:length]
    return part if begin == end else None


class _FilePart:
    """The columns in some part of a file, as far as it was read.

    Names in joined cells are numbered as in the `first` part, so that most have the same numbers in all parts.
    """

    def __init__(
        self, separator: str, column_of: IntArray, joined_by: str | None, size: int, first: _FilePart | None = None
    ) -> None:
        pieces = SPARE_ROOM * size / CHUNK + 1
        ticks = _ListColumn(pieces, joined_by) if joined_by else _TextColumn(pieces)
        self.splitter = RowSplitter(separator, column_of, CHUNK)
        self.columns = _TextColumn(pieces), _TextColumn(pieces), ticks
        if first is not None:
            self.columns[-1].texts.include(first.columns[-1].texts)

    def add(self, buffer: Bytes, length: int) -> int:
        """Number the cells of all complete rows; gives where the last one ends, 0 if there is none or one not plain."""
        found = self.splitter.split(buffer, length)
        if found is None:
            return 0
        done, begins, ends = found
        for column, *cells in zip(self.columns, begins, ends, strict=True):
            column.add(buffer, *cells)
        return done


class _TextColumn:
    """The cells of a column in some part of a file; `pieces` is how many pieces of its cells are expected."""

    def __init__(self, pieces: float) -> None:
        self.texts = Texts()
        self.numbers = _Numbers(pieces)

    def add(self, buffer: Bytes, begins: IntArray, ends: IntArray) -> None:
        """Some more cells."""
        self.numbers.add(self.texts.number(buffer, begins, ends))

    def append(self, other: _TextColumn) -> None:
        """Add the cells of a later part."""
        _add_numbers(self, other)

    def numbered(self) -> NumberedTexts:
        """All cells so far."""
        return NumberedTexts(self.texts.names(), self.numbers.all())


class _ListColumn:
    """The same where cells hold several names."""

    def __init__(self, pieces: float, joined_by: str) -> None:
        self.joined_by = joined_by
        self.texts = Texts()
        self.numbers, self.lengths = _Numbers(pieces), _Numbers(pieces)
        self.n_blank = 0

    def add(self, buffer: Bytes, begins: IntArray, ends: IntArray) -> None:
        """Some more cells."""
        lengths, numbers = self.texts.number_parts(buffer, begins, ends, self.joined_by)
        self.lengths.add(smallest_integers(lengths, int(lengths.max())))
        self.numbers.add(smallest_integers(numbers, self.texts.count))
        self.n_blank += int(np.count_nonzero(begins == ends))

    def append(self, other: _ListColumn) -> None:
        """Add the cells of a later part."""
        _add_numbers(self, other)
        self.lengths.add(other.lengths.all())
        self.n_blank += other.n_blank

    def numbered(self) -> NumberedLists:
        """All cells so far."""
        return NumberedLists(self.texts.names(), Lists.of_lengths(self.lengths.all(), self.numbers.all()), self.n_blank)


def _add_numbers(column: _TextColumn | _ListColumn, other: _TextColumn | _ListColumn) -> None:
    """Add the numbers of another part, where names may have other numbers than here."""
    numbers, here = other.numbers.all(), column.texts.include(other.texts)
    if np.array_equal(here, np.arange(len(here))):
        column.numbers.add(numbers)
        return
    here = smallest_integers(here, column.texts.count)
    for begin in range(0, len(numbers), CHUNK):  # so that intermediate arrays stay in the cache
        column.numbers.add(here[numbers[begin : begin + CHUNK]])


class _Numbers:
    """Numbers that come in pieces, in one array: large arrays cost less time per byte than many small ones.

    At first there is room for as many pieces like the first as are expected, which takes no memory until it is used.
    """

    def __init__(self, pieces: float) -> None:
        self.pieces, self.count = pieces, 0
        self.array: IntArray = np.empty(0, np.uint8)

    def add(self, numbers: IntArray) -> None:
        """Some more numbers."""
        end = self.count + len(numbers)
        if end > len(self.array) or numbers.itemsize > self.array.itemsize:
            room = max(end, 2 * len(self.array) if self.count else int(len(numbers) * self.pieces))
            longer = np.empty(room, np.promote_types(self.array.dtype, numbers.dtype))
            longer[: self.count] = self.all()
            self.array = longer
        self.array[self.count : end] = numbers
        self.count = end

    def all(self) -> IntArray:
        """All that came so far."""
        return self.array[: self.count]
