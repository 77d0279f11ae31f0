"""What the loops over a shard are given.

A loop gets the places where arrays begin, so the arrays are kept as long as those places are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from epivote.data.lists import Masks
from epivote.data.names import BoolArray, FloatArray, IntArray, smallest_integers
from epivote.data.packed import WIDEST_MASK
from epivote.data.shards import Shard
from epivote.kernels.library import WORD, LoopShard, place
from epivote.kernels.masks import masks_of
from epivote.model.statistics import GoldRows

MOST_TO_ORDER = 1_000_000
"""Voters that a shard may stand for: beyond that margins might not fit the whole numbers that order them."""
VOTER_TYPES = (np.uint8, np.uint16, np.uint32)  # that loops are compiled for


def stands_for_few(shard: Shard) -> bool:
    """Whether loops can choose the sets of a shard."""
    return shard.multiplicities is None or int(shard.multiplicities.sum()) <= MOST_TO_ORDER


class Arrays(NamedTuple):
    """The arrays of a shard as loops expect them, under the names of `LoopShard`; those that do not apply are None.

    Ticks are bits in `masks` or lists of columns. `order` has the rows by their number of ballots, most first: those
    that are worked on side by side then have about equally many.
    """

    ballot_start: IntArray
    ballot_voter: IntArray
    masks: IntArray | None
    tick_start: IntArray | None
    tick_column: IntArray | None
    offered: IntArray | None
    fixed: BoolArray | None
    given: BoolArray | None
    order: IntArray | None

    @classmethod
    def of(cls, shard: Shard, gold: GoldRows | None) -> Arrays:
        """Those of this shard, whose gold sets are given."""
        masks: IntArray | None = None
        start: IntArray | None = None
        columns: IntArray | None = None
        if shard.width <= WIDEST_MASK:
            masks = shard.ticks.numbers if isinstance(shard.ticks, Masks) else masks_of(*shard.ticks)
            masks = np.ascontiguousarray(masks, np.uint64)
        else:
            lists = shard.ticks.lists()
            start = np.ascontiguousarray(lists.start, np.int64)
            columns = np.ascontiguousarray(lists.values, np.uint16 if shard.width <= 1 << 16 else np.uint32)
        return cls(
            np.ascontiguousarray(shard.ballot_start, np.int64),
            voter_numbers(shard.ballot_voter),
            *(masks, start, columns),
            None if shard.offered is None else np.ascontiguousarray(shard.offered, np.int64),
            *_given(shard, gold),
            _by_ballots(shard),
        )

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return sum(array.nbytes for array in self if array is not None)

    def shard(self, width: int, lower: int, upper: int) -> LoopShard:
        """What loops know about them; these arrays must be kept as long as it is used."""
        places = (place(array, array.itemsize) if array is not None else None for array in self)
        columns = 0 if self.tick_column is None else self.tick_column.itemsize
        rows = len(self.ballot_start) - 1
        return LoopShard(rows, width, lower, upper, self.ballot_voter.itemsize, columns, *places)


def voter_numbers(voters: npt.NDArray[Any]) -> IntArray:
    """Numbers of voters without a sign, of at most four bytes; a view where they are so already."""
    size = min(voters.itemsize, 4)
    kind = next(kind for kind in VOTER_TYPES if np.dtype(kind).itemsize == size)
    same = np.ascontiguousarray(voters)
    return same.view(kind) if voters.itemsize == size else same.astype(kind)


def _given(shard: Shard, gold: GoldRows | None) -> tuple[BoolArray | None, BoolArray | None]:
    """Which rows have a set that is known before: from gold, or all if only one set is allowed; and these sets."""
    if shard.lower == shard.width > 0:  # exactly certain, whatever rounding does to sums over allowed sets
        return np.ones(shard.shape[0], bool), np.ones(shard.shape, bool)
    if gold is None:
        return None, None
    fixed, given = np.zeros(shard.shape[0], bool), np.zeros(shard.shape, bool)
    fixed[gold.rows] = True
    given[gold.rows] = gold.sets
    return fixed, given


def _by_ballots(shard: Shard) -> IntArray | None:
    """The rows by their number of ballots; None where all have the same."""
    cast = np.diff(shard.ballot_start)
    most = int(cast.max(initial=0))
    if most == cast.min(initial=most):
        return None
    rows = np.argsort(smallest_integers(most - cast, most), kind="stable")  # short numbers are sorted in one sweep
    return rows.astype(np.int32)


class Moves(NamedTuple):
    """How far up and down a ballot of every voter can have moved a margin since, and how far a prior can.

    There are no voters if nothing was chosen before.
    """

    moves: FloatArray | None
    prior_moves: float


class KeptSets(NamedTuple):
    """Sets as bits, and the slack of every row: how far its margins may move before its set could be another."""

    slack: FloatArray
    sets: IntArray

    @classmethod
    def none(cls, rows: int, width: int) -> KeptSets:
        """No set is chosen yet."""
        return cls(np.zeros(rows), np.zeros((rows, _words(width)), np.uint64))

    @staticmethod
    def size_of(rows: int, width: int) -> int:
        """How many bytes they take."""
        return rows * (1 + _words(width)) * WORD


def _words(width: int) -> int:
    """How many 64-bit numbers have a bit for every column; a mask without columns is one, too."""
    return max(1, -(-width // WIDEST_MASK))
