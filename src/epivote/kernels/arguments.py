"""What the loops over a shard are given, in named groups, whose fields are the loops' arguments in this order.

A loop is compiled for each combination of types, and a read-only array has another type than a writeable one; so all
columns of ballots are passed read-only, whatever they were before.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import numpy as np

from epivote.data.lists import Masks
from epivote.data.names import BoolArray, FloatArray, IntArray, smallest_integers
from epivote.data.packed import WIDEST_MASK
from epivote.data.parameters import Parameters
from epivote.data.shards import Shard
from epivote.model.statistics import GoldRows

LANES = 8  # rows side by side in a soft pass: a register of 512 bits; 4 and 16 took longer on the reference crowd M
FOUR = 4  # cells, or states of a size counter, at a time: the next result comes while an addition takes four cycles
MOST_STATES = 1 << 21  # of a size counter over all cells: 128 MB; rows with more are weighed one by one
MOST_FOR_MASKS = 1_000_000
"""Voters that rows of masks may stand for: beyond that margins might not fit the whole numbers that order them."""


def has_masks(shard: Shard) -> bool:
    """Whether ticks are bits of masks; else they are lists of columns."""
    few = shard.multiplicities is None or int(shard.multiplicities.sum()) <= MOST_FOR_MASKS
    return shard.width <= WIDEST_MASK and few


class BallotColumns(NamedTuple):
    """The ballots of a shard: row r has those from `ballot_start[r]` to `ballot_start[r + 1]`.

    Ticks are bits in `masks`, or, where they cannot be, lists of columns; the other is None. `offered` has the
    alternative of every cell, and is None where column c is alternative c.
    """

    ballot_start: IntArray
    ballot_voter: IntArray
    masks: IntArray | None
    tick_start: IntArray | None
    tick_column: IntArray | None
    offered: IntArray | None

    @classmethod
    def of(cls, shard: Shard) -> BallotColumns:
        """Those of this shard."""
        masks = start = columns = None
        if has_masks(shard):
            masks = read_only(_masks(shard))
        else:
            lists = shard.ticks.lists()
            start = read_only(lists.start)
            columns = read_only(lists.values.astype(np.uint16 if shard.width <= 1 << 16 else np.uint32, copy=False))
        offered = None if shard.offered is None else read_only(shard.offered)
        return cls(read_only(shard.ballot_start), read_only(shard.ballot_voter), masks, start, columns, offered)


class Allowed(NamedTuple):
    """Which sets a row may have: the size bounds, and the set itself in rows that are `fixed`.

    `fixed` and `given` are None if no row is.
    """

    lower: int
    upper: int
    fixed: BoolArray | None
    given: BoolArray | None

    @classmethod
    def of(cls, shard: Shard, gold: GoldRows | None) -> Allowed:
        """The bounds of this shard, and its gold sets."""
        if gold is None:
            return cls(shard.lower, shard.upper, None, None)
        fixed, given = np.zeros(shard.shape[0], bool), np.zeros(shard.shape, bool)
        fixed[gold.rows] = True
        given[gold.rows] = gold.sets
        return cls(shard.lower, shard.upper, fixed, given)


class Evidence(NamedTuple):
    """Log-odds of every prior; weight and threshold of every voter; the largest sum of their sizes."""

    prior_log_odds: FloatArray
    pushes: FloatArray
    largest_push: float

    @classmethod
    def of(cls, parameters: Parameters) -> Evidence:
        """What these parameters make of a ballot."""
        return cls(parameters.prior_log_odds, parameters.pushes, parameters.largest_push)


class Blocks(NamedTuple):
    """Rows side by side in blocks: where the ballots of each begin, how many wait as a negative number, and the rows.

    Those with most ballots come first, so that the rows of a block have about equally many. In a place without a row
    that number is 1.
    """

    first: IntArray
    waiting: IntArray
    rows: IntArray

    @classmethod
    def of(cls, shard: Shard, gold: GoldRows | None) -> Blocks:
        """All rows whose sets are not given."""
        cast = np.diff(shard.ballot_start)
        most = int(cast.max(initial=0))
        rows = np.argsort(smallest_integers(most - cast, most), kind="stable")  # short numbers are sorted in one sweep
        if gold is not None:
            rows = rows[~np.isin(rows, gold.rows)]
        empty = -len(rows) % LANES
        columns = (shard.ballot_start[rows], 0), (-cast[rows], 1), (rows, 0)
        return cls(*(np.pad(column, (0, empty), constant_values=fill).reshape(-1, LANES) for column, fill in columns))

    @property
    def most(self) -> int:
        """The largest number of ballots on a row: that of the first one."""
        return -int(self.waiting[0, 0]) if len(self.waiting) else 0


class Room(NamedTuple):
    """Tables that a soft pass works in, each with a column per lane; the number of cells is rounded up to fours.

    Of every block `left` says which rows were not weighed. Of every ballot in turn there are its place, the cells it
    does not tick as bits, and what it says; of every cell the prior and the odds; of every cell and state of a size
    counter what `later` cells add; of every cell how often `fewer` are counted before it; of every cell and group what
    the sets with it are worth, in all and as sums over all blocks. `shares` has the groups of a block, a row for
    sums, and the sizes of the groups.
    """

    left: BoolArray
    ballot: IntArray
    unticked: IntArray
    said: FloatArray
    priors: FloatArray
    odds: FloatArray
    later: FloatArray
    fewer: FloatArray
    within: FloatArray
    seen: FloatArray
    shares: FloatArray

    @classmethod
    def of(cls, shard: Shard, blocks: Blocks, prior_odds: FloatArray) -> Room:
        """For priors with a row per group; the odds of a further group are those of the one before times a ratio."""
        most, groups, width = blocks.most, len(prior_odds), shard.width
        padded = -(-width // FOUR) * FOUR
        cells, states = groups * padded, width * states_per_cell(shard.lower, shard.upper, width)
        ballot, unticked, said, priors, odds, later, *others = tables(
            *(most, most, most + 1), *(cells, padded, states), *(width, cells, cells, 2 * groups + 1)
        )
        later = later.reshape(width, -1, LANES)
        later[:] = 1.0
        if shard.offered is None:
            priors[:width] = prior_odds[0, :, None]
            for k in range(1, groups):
                priors[k * padded : k * padded + width] = (prior_odds[k] / prior_odds[k - 1])[:, None]
        left = np.zeros(blocks.rows.shape, bool)
        return cls(left, ballot.view(np.int64), unticked.view(np.int64), said, priors, odds, later, *others)


def states_per_cell(lower: int, upper: int, width: int) -> int:
    """How many rows of a cell a size counter needs: some fours of states and the last one, where it stops counting.

    Those from 1 on are asked for; the number is rounded up by states below.
    """
    last = lower if upper >= width else upper
    return FOUR * max(1, (last + FOUR - 2) // FOUR) + 1


def tables(*heights: int) -> list[FloatArray]:
    """Tables of zeros with a column per lane, whose rows begin where lines of the cache do."""
    room = np.zeros((sum(heights) + 1) * LANES)
    begin = -(room.__array_interface__["data"][0] // room.itemsize) % LANES
    rows = room[begin : begin + sum(heights) * LANES].reshape(-1, LANES)
    return [rows[end - height : end] for height, end in zip(heights, accumulate(heights), strict=True)]


class Moves(NamedTuple):
    """How far up and down a ballot of every voter can have moved a margin since, and how far a prior can.

    There are no voters if nothing was chosen before.
    """

    moves: FloatArray
    prior_moves: float


class KeptSets(NamedTuple):
    """Sets as bits, and the slack of every row: how far its margins may move before its set could be another."""

    slack: FloatArray
    insides: IntArray


def _masks(shard: Shard) -> IntArray:
    from epivote.kernels.masks import masks_of

    return shard.ticks.numbers if isinstance(shard.ticks, Masks) else masks_of(*shard.ticks)


def read_only(array: IntArray) -> IntArray:
    """A view of the array that nobody can write to."""
    view = array.view()
    view.flags.writeable = False
    return view
