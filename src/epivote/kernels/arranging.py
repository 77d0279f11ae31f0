"""Ballots put in order, and their sets collected, by compiled loops: what `epivote.data.arranging` does with arrays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from epivote.data.arranging import Arranging, RowOrder
from epivote.data.lists import Lists
from epivote.data.names import IntArray, smallest_integers
from epivote.kernels.library import done, loops, place


class CompiledArranging(Arranging):
    """See `Arranging`; several threads collect sets."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def order(self, instance: IntArray, voter: IntArray, n_instances: int) -> RowOrder:
        """See `Arranging`."""
        starts, rows = np.zeros(n_instances + 2, np.int64), np.empty(len(instance), np.int64)
        columns = np.ascontiguousarray(instance, np.int32), np.ascontiguousarray(voter, np.int32)
        size = len(rows), n_instances
        repeats = loops().order_ballots(*(place(column, 4) for column in columns), *size, place(starts), place(rows))
        done(repeats >= 0)
        return RowOrder(rows, starts[:-1], repeats > 0)

    def collect(
        self, lists: Lists, list_of_row: IntArray | None, rows: IntArray, numbers: IntArray, limit: int
    ) -> Lists:
        """See `Arranging`."""
        numbers, count = np.ascontiguousarray(smallest_integers(numbers, limit)), len(rows)
        size, dtype = numbers.itemsize, numbers.dtype
        values, begins = np.ascontiguousarray(lists.values, dtype), np.ascontiguousarray(lists.start, np.int64)
        list_of = None if list_of_row is None else np.ascontiguousarray(list_of_row, np.int32)
        rows = np.ascontiguousarray(rows, np.int64)
        parts = list(pairwise(count * part // self.threads for part in range(self.threads + 1)))

        def values_in(part: tuple[int, int]) -> int:
            some = rows[slice(*part)]
            return int(loops().count_values(place(begins), place(list_of, 4), place(some), len(some)))

        def collect(part: tuple[int, int], at: int) -> IntArray:
            some = rows[slice(*part)]
            written = loops().collect_sets(
                *(place(begins), place(values, size), place(numbers, size), size, limit, place(list_of, 4)),
                *(place(some), len(some), at, place(start[slice(*part)]), place(found, size)),
            )
            return found[at : at + written]

        with ThreadPoolExecutor(self.threads) as pool:
            ends = np.cumsum([0, *pool.map(values_in, parts)]).tolist()
            start, found = np.empty(count + 1, np.int64), np.empty(ends[-1], dtype)
            sets = list(pool.map(collect, parts, ends))
        start[-1] = ends[-1]
        return Lists(start, found) if sum(map(len, sets)) == ends[-1] else _closed_up(start, parts, sets, ends)


def _closed_up(start: IntArray, parts: list[tuple[int, int]], sets: list[IntArray], ends: list[int]) -> Lists:
    """Sets that were collected in several parts, without what repeated ticks left free behind each part."""
    moved, at = start.copy(), 0
    for (begin, end), written, first in zip(parts, sets, ends, strict=False):
        moved[begin:end] += at - first
        at += len(written)
    moved[-1] = at
    return Lists(moved, np.concatenate(sets))
