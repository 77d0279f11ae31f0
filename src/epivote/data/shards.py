"""Ballots laid out for one vectorised pass: blocks of instances with equally many offered alternatives.

A *cell* is one alternative offered on one instance. In a shard the cells form a table, a row per instance, so that
scores, choices and counts are plain array operations; only menus of equal width share a shard, so no cell is padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from epivote.data.ballots import Ballots, Menu
from epivote.data.bounds import SizeBounds
from epivote.data.lists import Lists
from epivote.data.names import IntArray, row_ranges

CELLS_PER_SHARD = 1 << 18


@dataclass(frozen=True)
class Shard:
    """Some instances that offer equally many alternatives under the same bounds, with their ballots.

    Row r is instance `instances[r]` with ballots `ballot_start[r] : ballot_start[r + 1]`; ballot b was cast by
    `ballot_voter[b]` and ticks the columns `tick_column[tick_start[b] : tick_start[b + 1]]`. Column c is alternative
    `offered[r, c]`, or alternative c itself where `offered` is `None`.
    """

    instances: IntArray
    lower: int
    upper: int
    width: int
    offered: IntArray | None
    ballot_start: IntArray
    ballot_voter: IntArray
    tick_start: IntArray
    tick_column: IntArray

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the table of cells."""
        return len(self.instances), self.width

    @property
    def masks(self) -> IntArray:
        """Every ballot as one number of 64 bits, bit c for column c; only for widths up to 64."""
        return Lists(self.tick_start, self.tick_column).masks()

    # Spelt out, for array operations over all ballots and all ticks at once

    @cached_property
    def ballot_row(self) -> IntArray:
        """The row of every ballot."""
        return np.repeat(np.arange(len(self.instances)), np.diff(self.ballot_start))

    @cached_property
    def approval_cell(self) -> IntArray:
        """The cell of every tick, counted row after row."""
        return np.repeat(self.ballot_row, np.diff(self.tick_start)) * self.width + self.tick_column

    @cached_property
    def approval_voter(self) -> IntArray:
        """Who made every tick."""
        return np.repeat(self.ballot_voter, np.diff(self.tick_start))


def make_shards(ballots: Ballots, bounds: SizeBounds, cells: int = CELLS_PER_SHARD) -> tuple[Shard, ...]:
    """All instances in shards of about `cells` cells; how they are cut changes no result."""
    lower, upper = bounds.resolve(ballots)
    columns = ballots.approved if ballots.menu is None else _menu_columns(ballots, ballots.menu)
    return tuple(
        _make_shard(ballots, columns, rows, int(lower[rows[0]]), int(upper[rows[0]]))
        for rows in _blocks(np.stack([ballots.menu_sizes, lower, upper]), cells)
    )


def _blocks(kinds: IntArray, cells: int) -> Iterator[IntArray]:
    """Instances cut into blocks of one kind: the same width and the same bounds."""
    if np.all(kinds == kinds[:, :1]):
        kind_of, n_kinds, widths = np.zeros(kinds.shape[1], np.int64), 1, kinds[0, :1]
    else:
        unique, kind_of = np.unique(kinds, axis=1, return_inverse=True)
        n_kinds, widths = unique.shape[1], unique[0]
    for kind in range(n_kinds):
        rows = np.flatnonzero(kind_of == kind)
        size = max(1, cells // max(1, int(widths[kind])))
        for begin in range(0, len(rows), size):
            yield rows[begin : begin + size]


def _make_shard(ballots: Ballots, columns: IntArray, rows: IntArray, lower: int, upper: int) -> Shard:
    width = int(ballots.menu_sizes[rows[0]])
    offered = None
    if ballots.menu is not None:
        offered = ballots.menu.offered[row_ranges(ballots.menu.start, rows)].reshape(len(rows), width).astype(np.int64)
    if rows[-1] - rows[0] + 1 == len(rows):  # neighbours: nothing has to be copied
        ballot_start = ballots.ballot_start[rows[0] : rows[-1] + 2]
        ballot = slice(ballot_start[0], ballot_start[-1])
        ballot_start = ballot_start - ballot_start[0]
        tick_start = ballots.approval_start[ballot.start : ballot.stop + 1]
        ticks = columns[tick_start[0] : tick_start[-1]]
        tick_start = tick_start - tick_start[0]
        voters = ballots.ballot_voter[ballot]
    else:
        cast = row_ranges(ballots.ballot_start, rows)
        ballot_start, voters = _starts(np.diff(ballots.ballot_start)[rows]), ballots.ballot_voter[cast]
        tick_start, ticks = _starts(ballots.ballot_sizes[cast]), columns[row_ranges(ballots.approval_start, cast)]
    return Shard(
        instances=rows,
        lower=lower,
        upper=upper,
        width=width,
        offered=offered,
        ballot_start=ballot_start,
        ballot_voter=voters,
        tick_start=tick_start,
        tick_column=ticks,
    )


def _starts(lengths: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _menu_columns(ballots: Ballots, menu: Menu) -> IntArray:
    """Position of each ticked alternative in the menu of its instance."""
    cell = np.repeat(np.arange(ballots.n_instances), ballots.menu_sizes) * ballots.n_alternatives + menu.offered
    instance = np.repeat(ballots.ballot_instance, ballots.ballot_sizes)
    return np.searchsorted(cell, instance * ballots.n_alternatives + ballots.approved) - menu.start[instance]
