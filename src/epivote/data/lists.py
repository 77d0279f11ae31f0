"""Many short lists of numbers in two columns."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from epivote.data.names import IntArray, row_ranges, smallest_integers, starts_of

MOST_IN_TABLE = 1 << 22  # numbers of 8 bytes, which take 32 MB; a round number
ROWS_PER_CHUNK = 1 << 15  # lists gathered at a time, so that the numbers in between stay in the cache; a round number


def lengths_between(start: IntArray) -> IntArray:
    """How long each list is, from where they begin and where the last one ends; `np.diff` takes longer on few."""
    lengths: IntArray = start[1:] - start[:-1]
    return lengths


class Lists(NamedTuple):
    """`values[start[r] : start[r + 1]]` is list r."""

    start: IntArray
    values: IntArray

    @classmethod
    def of_lengths(cls, lengths: IntArray, values: IntArray) -> Lists:
        """Lists of these lengths, one after the other."""
        return cls(starts_of(lengths), values)

    @classmethod
    def of_pairs(cls, rows: IntArray, values: IntArray, count: int) -> Lists:
        """`count` lists from (row, value) pairs whose rows ascend."""
        return cls.of_lengths(np.bincount(rows, minlength=count), values)

    def rows(self, numbers: IntArray) -> Lists:
        """The lists with these numbers, in that order."""
        if len(numbers) == len(self.start) - 1 and np.array_equal(numbers, np.arange(len(numbers))):
            return self
        found = Lists.of_lengths(self.start[numbers + 1] - self.start[numbers], self.values[:0])
        values = np.empty(found.start[-1], self.values.dtype)
        for begin in range(0, len(numbers), ROWS_PER_CHUNK):  # so that what is in between stays in the cache
            chunk = numbers[begin : begin + ROWS_PER_CHUNK]
            at = slice(found.start[begin], found.start[begin + len(chunk)])
            values[at] = self.values[row_ranges(self.start, chunk)]
        return Lists(found.start, values)

    def part(self, begin: int, end: int) -> Lists:
        """The lists from number `begin` to before number `end`."""
        start = self.start[begin : end + 1]
        return Lists(start - start[0], self.values[start[0] : start[-1]])

    def lengths(self) -> IntArray:
        """How many values every list has."""
        return lengths_between(self.start)

    def lists(self) -> Lists:
        """These lists."""
        return self

    def unique(self, limit: int) -> tuple[Lists, IntArray]:
        """The different lists, and which of them each list is.

        For values below 63 ascending lists are told apart by one number each, else by their bytes. Many lists
        of few values are looked up in a table of all such numbers, which takes less time than sorting them.
        """
        if limit < 63 and 1 << limit <= min(len(self.start), MOST_IN_TABLE):
            masks = self.masks().view(np.int64)
            is_there = np.zeros(1 << limit, bool)
            is_there[masks] = True
            number = (np.cumsum(is_there) - 1)[masks]
            return self.rows(_first_of_each(number, int(number.max()) + 1)), number
        if limit > 63:
            seen: dict[bytes, int] = {}
            kinds = (seen.setdefault(self.values[a:b].tobytes(), len(seen)) for a, b in pairwise(self.start.tolist()))
            number = np.fromiter(kinds, np.int64, len(self.start) - 1)
            first = _first_of_each(number, len(seen))
        else:
            _, first, number = np.unique(self.masks().view(np.int64), return_index=True, return_inverse=True)
        return self.rows(first), number

    def masks(self) -> IntArray:
        """Bit j of a list's number says whether it holds j; for values below 64."""
        masks = np.zeros(len(self.start) - 1, np.uint64)
        for begin in range(0, len(masks), ROWS_PER_CHUNK):
            start = self.start[begin : begin + ROWS_PER_CHUNK + 1]
            bits = np.left_shift(np.uint64(1), self.values[start[0] : start[-1]].astype(np.uint64))
            filled = np.flatnonzero(start[:-1] < start[1:])
            if len(filled):
                masks[begin + filled] = np.bitwise_or.reduceat(bits, start[filled] - start[0])
        return masks

    def sorted_sets(self, limit: int) -> Lists:
        """The same lists, each ascending and without repeats; values lie in 0..limit-1."""
        begins = np.zeros(len(self.values) + 1, bool)
        begins[self.start] = True
        if np.all((self.values[1:] > self.values[:-1]) | begins[1:-1]):
            return self
        if limit <= 64:
            return Masks(self.masks()).lists()
        row = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        cells = np.sort(row * limit + self.values)
        row, values = np.divmod(cells[np.concatenate([[True], cells[1:] != cells[:-1]])], limit)
        return Lists.of_pairs(row, smallest_integers(values, limit), len(self.start) - 1)


def _first_of_each(number: IntArray, count: int) -> IntArray:
    """Where each of the numbers 0..count-1 is found first."""
    first: IntArray = np.empty(count, np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return first


class Masks(NamedTuple):
    """Short lists of ascending numbers below 64, each as one number: bit j of `numbers[r]` says list r holds j."""

    numbers: IntArray

    def part(self, begin: int, end: int) -> Masks:
        """The lists from number `begin` to before number `end`."""
        return Masks(self.numbers[begin:end])

    def rows(self, numbers: IntArray) -> Masks:
        """The lists with these numbers, in that order."""
        return Masks(self.numbers[numbers])

    def lengths(self) -> IntArray:
        """How many values every list has."""
        return np.bitwise_count(self.numbers).astype(np.int64)

    def masks(self) -> IntArray:
        """One number per list."""
        return self.numbers

    def lists(self) -> Lists:
        """The lists spelt out."""
        ticked = np.unpackbits(self.numbers.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
        return Lists.of_lengths(self.lengths(), np.nonzero(ticked)[1].astype(np.uint8))
