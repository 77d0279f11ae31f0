"""Ballots laid out for one vectorised pass: blocks of instances with equally many offered alternatives.

A *cell* is one alternative offered on one instance. In a shard the cells form a table, a row per instance, so that
scores, choices and counts are plain array operations; only menus of equal width share a shard, so no cell is padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from epivote.data.ballots import Ballots, Menu
from epivote.data.bounds import SizeBounds
from epivote.data.names import IntArray, row_ranges

CELLS_PER_SHARD = 1 << 20


@dataclass(frozen=True)
class Shard:
    """Some instances that offer equally many alternatives under the same bounds, with their ballots.

    Row r is instance `instances[r]`; column c is alternative `offered[r, c]`, or alternative c itself where
    `offered` is `None`. Ballot b lies in row `ballot_row[b]`; tick k marks the cell `approval_cell[k]` (counted row
    after row) and was made by `approval_voter[k]`.
    """

    instances: IntArray
    lower: int
    upper: int
    width: int
    offered: IntArray | None
    ballot_row: IntArray
    ballot_voter: IntArray
    approval_cell: IntArray
    approval_voter: IntArray

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the table of cells."""
        return len(self.instances), self.width


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
    ballot = row_ranges(ballots.ballot_start, rows)
    ballot_row = np.repeat(np.arange(len(rows)), np.diff(ballots.ballot_start)[rows])
    ballot_sizes = ballots.ballot_sizes[ballot]
    tick = row_ranges(ballots.approval_start, ballot)
    width = int(ballots.menu_sizes[rows[0]])
    offered = None
    if ballots.menu is not None:
        offered = ballots.menu.offered[row_ranges(ballots.menu.start, rows)].reshape(len(rows), width).astype(np.int64)
    return Shard(
        instances=rows,
        lower=lower,
        upper=upper,
        width=width,
        offered=offered,
        ballot_row=ballot_row,
        ballot_voter=ballots.ballot_voter[ballot],
        approval_cell=np.repeat(ballot_row, ballot_sizes) * width + columns[tick],
        approval_voter=np.repeat(ballots.ballot_voter[ballot], ballot_sizes),
    )


def _menu_columns(ballots: Ballots, menu: Menu) -> IntArray:
    """Position of each ticked alternative in the menu of its instance."""
    cell = np.repeat(np.arange(ballots.n_instances), ballots.menu_sizes) * ballots.n_alternatives + menu.offered
    instance = np.repeat(ballots.ballot_instance, ballots.ballot_sizes)
    return np.searchsorted(cell, instance * ballots.n_alternatives + ballots.approved) - menu.start[instance]
