"""Rows of delimited text cut into cells, and different texts numbered in order of first appearance, all as bytes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from epivote.data.names import IntArray, T
from epivote.kernels.library import loops, place

Bytes = npt.NDArray[np.uint8]
FIRST_ROOM = 1 << 12  # names; a round number
FIRST_BYTES = 1 << 16  # of all names; a round number
BEYOND = 64  # bytes that loops may read beyond the end of a text: they read blocks of so many


class Texts:
    """Names that are known so far. `number` looks texts up and adds those that are new."""

    def __init__(self) -> None:
        self.count = 0
        self._names: Bytes = np.empty(FIRST_BYTES, np.uint8)
        self._start: IntArray = np.zeros(FIRST_ROOM + 1, np.int64)
        self._make_slots(2 * FIRST_ROOM)

    def number(self, text: Bytes, begins: IntArray, ends: IntArray) -> IntArray:
        """The number of every `text[begin:end]`.

        The texts ascend, do not overlap, and at least `BEYOND` bytes come after the last one.
        """
        count = len(begins)
        self._make_room(count, int(ends[-1] - begins[0]) + count if count else 0)
        hashes, firsts, numbers = np.empty(count, np.uint64), np.empty(count, np.int64), np.empty(count, np.int32)
        self.count = loops().number_texts(
            *(place(text, 1), place(begins), place(ends), count, place(self._slots), self._shift, self.count),
            *(place(self._names, 1), place(self._start), place(hashes), place(firsts), place(numbers, 4)),
        )
        return numbers

    def number_parts(self, text: Bytes, begins: IntArray, ends: IntArray, separator: str) -> tuple[IntArray, IntArray]:
        """How many parts between separators every `text[begin:end]` has, and the numbers of all parts.

        Empty parts are left out. At least `BEYOND` bytes come after the last text.
        """
        most = int((ends - begins).sum() + len(begins) + 1) // 2  # parts: all but the last of a text have an end
        self._make_room(most, 2 * most)
        counts, numbers = np.empty(len(begins), np.int32), np.empty(most, np.int32)
        self.count = loops().number_parts(
            *(place(text, 1), place(begins), place(ends), len(begins), ord(separator)),
            *(place(self._slots), self._shift, self.count, place(self._names, 1), place(self._start)),
            *(place(counts, 4), place(numbers, 4)),
        )
        return counts, numbers[: counts.sum()]

    def include(self, other: Texts) -> IntArray:
        """Add the names of others; gives their numbers here."""
        start = other._start[: other.count + 1]
        return self.number(other._names, start[:-1], start[1:] - 1)

    def names(self) -> list[str]:
        """All of them; raises UnicodeDecodeError if they are not UTF-8."""
        if not self.count:
            return []
        return str(self._names[: self._start[self.count] - 1].data, "utf-8").split("\n")

    def _make_room(self, names: int, size: int) -> None:
        """For so many more names of so many bytes in all, the line feeds behind them included."""
        count = self.count + names
        if count >= len(self._start):
            self._start = _longer(self._start, self.count + 1, count + 1)
        used = int(self._start[self.count])
        if used + size + BEYOND > len(self._names):
            self._names = _longer(self._names, used, used + size + BEYOND)
        if 2 * count > len(self._slots):
            self._make_slots(2 * count)

    def _make_slots(self, least: int) -> None:
        bits = (least - 1).bit_length()
        self._slots, self._shift = np.zeros(1 << bits, np.uint64), 64 - bits
        names = place(self._names, 1), place(self._start)
        loops().fill_slots(*names, self.count, place(self._slots), self._shift)


class RowSplitter:
    """Cuts rows of text into cells: `column_of` says which of the wanted columns each cell belongs to, or -1."""

    def __init__(self, separator: str, column_of: IntArray, most_bytes: int) -> None:
        self._separator, self._column_of = ord(separator), np.ascontiguousarray(column_of, np.int64)
        self._most = most_bytes // len(column_of) + 1  # rows: each cell has an end
        self._places: IntArray = np.empty((2, int(column_of.max()) + 1, self._most), np.int64)
        self._done = np.zeros(1, np.int64)

    def split(self, text: Bytes, length: int) -> tuple[int, IntArray, IntArray] | None:
        """Where complete rows of plain text end, and where their cells begin and end; None if there are none.

        The bytes of the text have `BEYOND` more behind them. What is given is valid until the next call.
        """
        begins, ends = self._places
        rows = loops().split_rows(
            *(place(text, 1), length, self._separator, place(self._column_of), len(self._column_of), self._most),
            *(place(begins), place(ends), place(self._done)),
        )
        return None if rows <= 0 else (int(self._done[0]), begins[:, :rows], ends[:, :rows])


def _longer(array: npt.NDArray[T], used: int, least: int) -> npt.NDArray[T]:
    """The used part of an array with room for more: at least twice as much, so that it is seldom copied."""
    longer = np.empty(max(least, 2 * len(array)), array.dtype)
    longer[:used] = array[:used]
    return longer
