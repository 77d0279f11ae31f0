"""Different texts in order of first appearance, kept as bytes: what `text_loops.py` looks texts up in."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from epivote.data.names import IntArray, T

Bytes = npt.NDArray[np.uint8]
FIRST_ROOM = 1 << 12  # names; a round number
FIRST_BYTES = 1 << 16  # of all names; a round number
BEYOND = 7  # bytes that a word may reach beyond the end of a text


class Texts:
    """Names that are known so far. `number` looks texts up and adds those that are new."""

    def __init__(self) -> None:
        self.count = 0
        self._names: Bytes = np.empty(FIRST_BYTES, np.uint8)
        self._start: IntArray = np.zeros(FIRST_ROOM + 1, np.int64)
        self._hashes: IntArray = np.empty(FIRST_ROOM, np.uint64)
        self._make_slots(2 * FIRST_ROOM)

    def number(self, text: Bytes, begins: IntArray, ends: IntArray) -> IntArray:
        """The number of every `text[begin:end]`.

        The texts ascend, do not overlap, and at least `BEYOND` bytes come after the last one.
        """
        from epivote.kernels.text_loops import number_texts

        self._make_room(len(begins), int(ends[-1] - begins[0]) + len(begins) if len(begins) else 0)
        hashes, firsts = np.empty(len(begins), np.uint64), np.empty(len(begins), np.int64)
        numbers = np.empty(len(begins), np.int32)
        columns = self._names, self._start, self._hashes
        slots = self._slots, self._shift, self.count
        self.count = number_texts(text, begins, ends, *slots, *columns, hashes, firsts, numbers)
        return numbers

    def include(self, other: Texts) -> IntArray:
        """Add the names of others; gives their numbers here."""
        start = other._start[: other.count + 1]
        return self.number(other._names, start[:-1], start[1:] - 1)

    def names(self) -> list[str]:
        """All of them; raises UnicodeDecodeError if they are not UTF-8."""
        if not self.count:
            return []
        return self._names[: self._start[self.count] - 1].tobytes().decode().split("\n")

    def _make_room(self, names: int, size: int) -> None:
        """For so many more names of so many bytes in all, the line feeds behind them included."""
        count = self.count + names
        if count > len(self._hashes):
            self._hashes = _longer(self._hashes, self.count, count)
            self._start = _longer(self._start, self.count + 1, count + 1)
        used = int(self._start[self.count])
        if used + size + BEYOND > len(self._names):
            self._names = _longer(self._names, used, used + size + BEYOND)
        if 2 * count > len(self._slots):
            self._make_slots(2 * count)

    def _make_slots(self, least: int) -> None:
        from epivote.kernels.text_loops import fill_slots

        bits = (least - 1).bit_length()
        self._slots = np.zeros(1 << bits, np.uint64)
        self._shift = np.uint64(64 - bits)
        fill_slots(self._hashes[: self.count], self._slots, self._shift)


def _longer(array: npt.NDArray[T], used: int, least: int) -> npt.NDArray[T]:
    """The used part of an array with room for more: at least twice as much, so that it is seldom copied."""
    longer = np.empty(max(least, 2 * len(array)), array.dtype)
    longer[:used] = array[:used]
    return longer
