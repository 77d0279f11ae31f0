"""Rows of ballots in any order put in the order of columns, and the sets of their ticks collected."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from epivote.data.lists import Lists
from epivote.data.names import IntArray, counts_of, smallest_integers, starts_of


class RowOrder(NamedTuple):
    """Rows by instance and then by voter, and their voters; where every instance starts, and where the last one ends.

    Rows with the same instance and voter keep their order; `has_repeats` says whether there are any.
    """

    rows: IntArray
    voter: IntArray
    start: IntArray
    has_repeats: bool


class Arranged(NamedTuple):
    """Ballots by instance and then by voter: where those of every instance start, their voters, and their sets."""

    start: IntArray
    voter: IntArray
    sets: Lists


class Arranging:
    """How it is done with arrays; `epivote.kernels.arranging` does the same by compiled loops."""

    def order(self, instance: IntArray, voter: IntArray, n_instances: int) -> RowOrder:
        """All rows in order."""
        key = instance.astype(np.int64) * (int(voter.max(initial=0)) + 1) + voter
        rows = np.arange(len(key)) if np.all(key[1:] >= key[:-1]) else np.argsort(key, kind="stable")
        key = key[rows]
        start = starts_of(counts_of(instance, None, n_instances))
        return RowOrder(rows, voter[rows], start, bool(np.any(key[1:] == key[:-1])))

    def in_place(
        self, instance: IntArray, voter: IntArray, lists: Lists, numbers: IntArray, limit: int  # noqa: ARG002
    ) -> Arranged | None:  # fmt: skip
        """The ballots of columns that nobody else needs, in the memory of these columns; None if not possible.

        Row r has list r, and value v of a list stands for number `numbers[v]` below `limit`. Instances are numbered in
        the order in which they appear.
        """
        return None  # array operations need memory for intermediate arrays

    def collect(
        self, lists: Lists, list_of_row: IntArray | None, rows: IntArray, numbers: IntArray, limit: int
    ) -> Lists:
        """The sets of these rows, in that order, each ascending: value v of a list stands for number `numbers[v]`.

        Row r has list `list_of_row[r]`, or list r if that is None. Numbers are below `limit`.
        """
        sets = Lists(lists.start, smallest_integers(numbers, limit)[lists.values]).sorted_sets(limit)
        return sets.rows(rows if list_of_row is None else list_of_row[rows])


WITH_ARRAYS = Arranging()
