"""Ballots put in order, and their lists collected, by compiled loops: what `epivote.data.build` does with arrays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from epivote.data.arranging import Arranging
from epivote.data.lists import Lists
from epivote.data.names import IntArray
from epivote.kernels.library import WORD, done, loops, place


class CompiledArranging(Arranging):
    """See `Arranging`; several threads collect lists."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def order(self, instance: IntArray, voter: IntArray, n_instances: int) -> tuple[IntArray, bool]:
        """See `Arranging`."""
        starts, order = np.zeros(n_instances + 1, np.int64), np.empty(len(instance), np.int64)
        columns = np.ascontiguousarray(instance, np.int32), np.ascontiguousarray(voter, np.int32)
        size = len(order), n_instances
        repeats = loops().order_ballots(*(place(column, 4) for column in columns), *size, place(starts), place(order))
        done(repeats >= 0)
        return order, repeats > 0

    def gather(self, lists: Lists, list_of_row: IntArray, rows: IntArray) -> Lists:
        """See `Arranging`."""
        size, count = lists.values.itemsize, len(rows)
        room = np.zeros(WORD, np.uint8)  # words may reach beyond the last list
        values = np.concatenate([np.ascontiguousarray(lists.values).view(np.uint8), room])
        begins, list_of = np.ascontiguousarray(lists.start, np.int64), np.ascontiguousarray(list_of_row, np.int32)
        rows = np.ascontiguousarray(rows, np.int64)
        cuts = [count * part // self.threads for part in range(self.threads + 1)]
        parts = [(rows[begin:end], begin) for begin, end in pairwise(cuts)]

        def values_in(part: tuple[IntArray, int]) -> int:
            return int(loops().count_values(place(begins), place(list_of, 4), place(part[0]), len(part[0])))

        def copy(part: tuple[IntArray, int], at: int, total: int) -> None:
            some, begin = part
            loops().copy_lists(
                *(place(begins), place(values, 1), size, place(list_of, 4), place(some), len(some)),
                *(at, total, place(start[begin:]), place(found, 1)),
            )

        with ThreadPoolExecutor(self.threads) as pool:
            totals = list(pool.map(values_in, parts))
            ends = np.cumsum(totals).tolist()
            start, found = np.empty(count + 1, np.int64), np.empty(ends[-1] * size, np.uint8)
            start[-1] = ends[-1]
            list(pool.map(copy, parts, (end - total for end, total in zip(ends, totals, strict=True)), totals))
        return Lists(start, found.view(lists.values.dtype))
