"""Ballots laid out for one vectorised pass: blocks of instances with equally many offered alternatives.

A *cell* is one alternative offered on one instance. In a shard the cells form a table, a row per instance, so that
scores, choices and counts are plain array operations; only menus of equal width share a shard, so no cell is padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from epivote.data.blocks import Columns
from epivote.data.lists import Lists, Masks, lengths_between
from epivote.data.names import IntArray, counts_of, row_ranges, starts_of

# Instances times alternatives: tables of 1 and 4 MB of floats; found by trying.
CELLS_PER_SHARD, MOST_CELLS_PER_SHARD = 1 << 17, 1 << 19
ENOUGH_SHARDS = 32  # several for each of a few cores; more only cost; found by trying with `make bench`


@dataclass(frozen=True)
class Shard:
    """Some instances that offer equally many alternatives under the same bounds, with their ballots.

    Row r is instance `instances[r]` with ballots `ballot_start[r] : ballot_start[r + 1]`; ballot b was cast by
    `ballot_voter[b]`, and its ticks are list b of `ticks`. Column c is alternative `offered[r, c]`, or alternative c
    itself where `offered` is `None`. Voter i stands for `multiplicities[i]` voters, or for herself if that is `None`.
    """

    instances: IntArray
    lower: int
    upper: int
    width: int
    offered: IntArray | None
    ballot_start: IntArray
    ballot_voter: IntArray
    ticks: Lists | Masks
    multiplicities: IntArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the table of cells."""
        return len(self.instances), self.width

    # Spelt out, for array operations over all ballots and all ticks at once

    @cached_property
    def ballot_row(self) -> IntArray:
        """The row of every ballot."""
        return np.repeat(np.arange(len(self.instances)), lengths_between(self.ballot_start))

    @cached_property
    def approval_cell(self) -> IntArray:
        """The cell of every tick, counted row after row."""
        return np.repeat(self.ballot_row * self.width, self.ticks.lengths()) + self.ticks.lists().values

    @cached_property
    def approval_voter(self) -> IntArray:
        """Who made every tick."""
        return np.repeat(self.ballot_voter.astype(np.intp), self.ticks.lengths())

    # Counted as often as ballots were cast

    @cached_property
    def ballot_times(self) -> IntArray | None:
        """How many voters cast every ballot; None where everyone stands for herself."""
        return None if self.multiplicities is None else self.multiplicities[self.ballot_voter]

    def approvals(self) -> IntArray:
        """Number of ticks in every cell."""
        times = None if self.multiplicities is None else self.multiplicities[self.approval_voter]
        return counts_of(self.approval_cell, times, len(self.instances) * self.width).reshape(self.shape)

    def cast(self) -> IntArray:
        """Number of ballots in every row."""
        return counts_of(self.ballot_row, self.ballot_times, len(self.instances))


def make_shards(columns: Columns, lower: IntArray, upper: IntArray, cells: int | None = None) -> tuple[Shard, ...]:
    """All instances in shards of about `cells` cells; how they are cut changes no result.

    By default there are enough shards for many threads, but no more than that: each has sums for all voters, and should
    have as many ballots, or passes could not keep them.
    """
    widths = columns.menu_sizes
    if cells is None:
        enough = min(ENOUGH_SHARDS, max(1, len(columns.ballot_voter) // columns.n_voters))
        cells = min(max(CELLS_PER_SHARD, int(widths.sum()) // enough), MOST_CELLS_PER_SHARD)
    return tuple(
        _make_shard(columns, rows, int(widths[rows[0]]), int(lower[rows[0]]), int(upper[rows[0]]))
        for rows in _blocks((widths, lower, upper), cells)
    )


def _blocks(kinds: tuple[IntArray, ...], cells: int) -> Iterator[IntArray]:
    """Instances cut into blocks of one kind: the same width, which comes first, and the same bounds."""
    widths = kinds[0]
    of_each = [np.arange(len(widths))]
    if any((numbers != numbers[0]).any() for numbers in kinds):
        unique, kind_of = np.unique(np.stack(kinds), axis=1, return_inverse=True)
        of_each = [np.flatnonzero(kind_of == kind) for kind in range(unique.shape[1])]
    for rows in of_each:
        size = max(1, cells // max(1, int(widths[rows[0]])))
        for begin in range(0, len(rows), size):
            yield rows[begin : begin + size]


def _make_shard(columns: Columns, rows: IntArray, width: int, lower: int, upper: int) -> Shard:
    offered = None
    if columns.menu is not None:
        offered = columns.menu.offered[row_ranges(columns.menu.start, rows)].reshape(len(rows), width).astype(np.int64)
    if rows[-1] - rows[0] + 1 == len(rows):  # neighbours: nothing has to be copied
        ballot_start = columns.ballot_start[rows[0] : rows[-1] + 2]
        begin, end = int(ballot_start[0]), int(ballot_start[-1])
        ballot_start = ballot_start - begin
        voters, ticks = columns.ballot_voter[begin:end], columns.ticks.part(begin, end)
    else:
        cast = row_ranges(columns.ballot_start, rows)
        ballot_start = starts_of(np.diff(columns.ballot_start)[rows])
        voters, ticks = columns.ballot_voter[cast], columns.ticks.rows(cast)
    return Shard(rows, lower, upper, width, offered, ballot_start, voters, ticks, columns.multiplicities)
