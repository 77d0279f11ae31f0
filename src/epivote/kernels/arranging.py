"""Ballots put in order, and their sets collected, by compiled loops: what `epivote.data.arranging` does with arrays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from epivote.data.arranging import Arranged, Arranging, RowOrder
from epivote.data.lists import Lists
from epivote.data.names import IntArray, smallest_integers
from epivote.kernels.library import done, loops, place

MOST_ROWS = 2**31 - 1  # that 32 bits can number


class CompiledArranging(Arranging):
    """See `Arranging`; several threads order rows in place, and collect sets."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def order(self, instance: IntArray, voter: IntArray, n_instances: int) -> RowOrder:
        """See `Arranging`."""
        if len(instance) > MOST_ROWS:
            return super().order(instance, voter, n_instances)
        starts = np.zeros(n_instances + 2, np.int64)
        rows, voters = np.empty(len(instance), np.int32), np.empty(len(instance), np.int32)
        columns = np.ascontiguousarray(instance, np.int32), np.ascontiguousarray(voter, np.int32)
        repeats = loops().order_ballots(
            *(place(column, 4) for column in columns),
            *(len(rows), n_instances, place(starts), place(rows, 4), place(voters, 4)),
        )
        done(repeats >= 0)
        return RowOrder(rows, voters, starts[:-1], repeats > 0)

    def in_place(
        self, instance: IntArray, voter: IntArray, lists: Lists, numbers: IntArray, limit: int
    ) -> Arranged | None:
        """See `Arranging`; done where the rows of an instance come together, each with another voter.

        Instances and voters are numbers of 32 bits.
        """
        (start, values), size, count = lists, lists.values.itemsize, len(instance)
        numbers = np.ascontiguousarray(smallest_integers(numbers, limit))
        if not 0 < count <= MOST_ROWS or numbers.dtype != values.dtype or np.any(instance[1:] < instance[:-1]):
            return None
        firsts = instance[[count * part // self.threads for part in range(self.threads)]]  # instances of parts
        parts = list(pairwise([*np.unique(np.searchsorted(instance, firsts)).tolist(), count]))
        ends = [*start[[begin for begin, _ in parts]].tolist(), int(start[-1])]
        ballot_start = np.full(int(instance[-1]) + 2, count)

        def repeats_in(part: tuple[int, int]) -> int:
            return int(loops().count_repeats(place(instance, 4), place(voter, 4), *part))

        def arrange(part: tuple[int, int], first: int, last: int) -> IntArray:
            written = loops().order_in_place(
                *(place(instance, 4), place(voter, 4), *part, last, place(numbers, size), size, limit),
                *(place(start), place(values, size), place(ballot_start)),
            )
            done(written >= 0)
            return values[first : first + written]

        with ThreadPoolExecutor(self.threads) as pool:
            repeats = list(pool.map(repeats_in, parts))
            done(min(repeats) >= 0)
            if any(repeats):
                return None
            sets = list(pool.map(arrange, parts, ends[:-1], ends[1:]))
        return Arranged(ballot_start, voter, _closed_up(lists, parts, sets, ends))

    def collect(
        self, lists: Lists, list_of_row: IntArray | None, rows: IntArray, numbers: IntArray, limit: int
    ) -> Lists:
        """See `Arranging`."""
        if len(lists.start if list_of_row is None else list_of_row) > MOST_ROWS:
            return super().collect(lists, list_of_row, rows, numbers, limit)
        numbers, count = np.ascontiguousarray(smallest_integers(numbers, limit)), len(rows)
        size, dtype = numbers.itemsize, numbers.dtype
        values, begins = np.ascontiguousarray(lists.values, dtype), np.ascontiguousarray(lists.start, np.int64)
        list_of = None if list_of_row is None else np.ascontiguousarray(list_of_row, np.int32)
        rows = np.ascontiguousarray(rows, np.int32)
        parts = list(pairwise(count * part // self.threads for part in range(self.threads + 1)))

        def values_in(part: tuple[int, int]) -> int:
            some = rows[slice(*part)]
            return int(loops().count_values(place(begins), place(list_of, 4), place(some, 4), len(some)))

        def collect(part: tuple[int, int], at: int) -> IntArray:
            some = rows[slice(*part)]
            written = loops().collect_sets(
                *(place(begins), place(values, size), place(numbers, size), size, limit, place(list_of, 4)),
                *(place(some, 4), len(some), at, place(start[slice(*part)]), place(found, size)),
            )
            return found[at : at + written]

        with ThreadPoolExecutor(self.threads) as pool:
            ends = np.cumsum([0, *pool.map(values_in, parts)]).tolist()
            start, found = np.empty(count + 1, np.int64), np.empty(ends[-1], dtype)
            sets = list(pool.map(collect, parts, ends))
        start[-1] = ends[-1]
        return _closed_up(Lists(start, found), parts, sets, ends)


def _closed_up(lists: Lists, parts: list[tuple[int, int]], sets: list[IntArray], ends: list[int]) -> Lists:
    """Sets that were collected in several parts, without what repeated ticks left free behind each part."""
    if sum(map(len, sets)) == ends[-1]:
        return lists
    moved, at = lists.start.copy(), 0
    for (begin, end), written, first in zip(parts, sets, ends, strict=False):
        moved[begin:end] += at - first
        at += len(written)
    moved[-1] = at
    return Lists(moved, np.concatenate(sets))
