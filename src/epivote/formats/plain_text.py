"""Large files of plain delimited text: names become numbers while the file is read, and no column of text is made.

Text is plain if it has no blank rows, equally many cells in all rows, and no quotes but those around whole cells, which
then have neither quotes nor line ends inside. Anything else is left to
`text_table.py`, which takes longer, and says what is wrong and where.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from threading import Event
from typing import NamedTuple

import numpy as np

from epivote.data.names import IntArray
from epivote.engines.local import threads
from epivote.formats.text_table import TextTable
from epivote.kernels.library import has_loops
from epivote.kernels.texts import BEYOND, Bytes, RowSplitter, Texts

LARGE = 1 << 20  # bytes of a file from which this way is taken; a round number
CHUNK = 1 << 18  # bytes read at a time: they and what is found in them stay in the second cache; 2^17 and 2^20 as fast
POLL_SECONDS = 0.1  # between two looks at whether the user has pressed Ctrl-C; a round number
LINE_FEED = 10  # as a byte


class NumberedTexts(NamedTuple):
    """A column: its different texts in order of first appearance, and which of them each row holds."""

    texts: list[str]
    number: IntArray


def plain_columns(table: TextTable, names: Sequence[str]) -> list[NumberedTexts] | None:
    """These columns of a table; None if the file is small, or its text is not plain."""
    path, begin = table.source.path, table.rows_begin()
    if begin is None or path.stat().st_size < LARGE or not table.separator.isascii() or not has_loops():
        return None
    column_of = np.array([names.index(name) if name in names else -1 for name in table.columns])
    stop = Event()

    def read(part: tuple[int, int]) -> _FilePart | None:
        return _read_part(path, *part, _FilePart(table.separator, column_of), stop)

    with ThreadPoolExecutor() as pool:
        try:
            reading = [pool.submit(read, part) for part in _line_ranges(path, begin, threads())]
            while wait(reading, POLL_SECONDS).not_done:
                pass  # once Polars is loaded, an interrupt is not noticed while waiting for longer
        finally:
            stop.set()  # else an interrupt would wait until the whole file is read
        parts = [part for part in (each.result() for each in reading) if part is not None]
        if len(parts) < len(reading):
            return None
        try:
            return list(pool.map(partial(_joined, parts), range(len(names))))
        except UnicodeDecodeError:
            return None


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
    """The columns in some part of a file, as far as it was read."""

    def __init__(self, separator: str, column_of: IntArray) -> None:
        n_columns = int(column_of.max()) + 1
        self.splitter = RowSplitter(separator, column_of, CHUNK)
        self.texts = [Texts() for _ in range(n_columns)]
        self.numbers: list[list[IntArray]] = [[] for _ in range(n_columns)]

    def add(self, buffer: Bytes, length: int) -> int:
        """Number the cells of all complete rows; gives where the last one ends, 0 if there is none or one not plain."""
        found = self.splitter.split(buffer, length)
        if found is None:
            return 0
        done, begins, ends = found
        for column, texts in enumerate(self.texts):
            self.numbers[column].append(texts.number(buffer, begins[column], ends[column]))
        return done


def _joined(parts: Sequence[_FilePart], column: int) -> NumberedTexts:
    """One column of all parts."""
    first, *others = parts
    texts, numbers = first.texts[column], first.numbers[column]
    for other in others:
        here = texts.include(other.texts[column])
        numbers += [here[number] for number in other.numbers[column]]
    return NumberedTexts(texts.names(), np.concatenate(numbers))
