"""What the loops over a shard are given, in named groups, whose fields are the loops' arguments in this order.

A loop is compiled for each combination of types, and a read-only array has another type than a writeable one; so all
columns of ballots are passed read-only, whatever they were before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from epivote.data.lists import Lists, Masks
from epivote.data.names import BoolArray, FloatArray, IntArray
from epivote.data.packed import WIDEST_MASK
from epivote.data.parameters import Parameters
from epivote.data.shards import Shard
from epivote.model.statistics import GoldRows

MOST_FOR_MASKS = 1_000_000
"""Voters that rows of masks may stand for: beyond that margins might not fit the whole numbers that order them."""


def has_masks(shard: Shard) -> bool:
    """Whether ticks are bits of masks; else they are lists of columns."""
    few = shard.multiplicities is None or int(shard.multiplicities.sum()) <= MOST_FOR_MASKS
    return shard.width <= WIDEST_MASK and few


class BallotColumns(NamedTuple):
    """The ballots of a shard: row r has those from `ballot_start[r]` to `ballot_start[r + 1]`.

    Ticks are bits in `masks`, or, where they cannot be, lists of columns. `offered` has the alternative of every
    cell, and no rows where column c is alternative c.
    """

    ballot_start: IntArray
    ballot_voter: IntArray
    masks: IntArray
    tick_start: IntArray
    tick_column: IntArray
    offered: IntArray

    @classmethod
    def of(cls, shard: Shard) -> BallotColumns:
        """Those of this shard; what does not apply is empty."""
        as_masks = has_masks(shard)
        masks = _masks(shard) if as_masks else np.zeros(0, np.uint64)
        lists = Lists(np.zeros(0, np.int64), np.zeros(0, np.int64)) if as_masks else shard.ticks.lists()
        return cls(
            _read_only(shard.ballot_start),
            _read_only(shard.ballot_voter),
            _read_only(masks),
            _read_only(lists.start),
            _read_only(lists.values.astype(np.uint16 if shard.width <= 1 << 16 else np.uint32, copy=False)),
            _read_only(np.zeros((0, 0), np.int64) if shard.offered is None else shard.offered),
        )


class Allowed(NamedTuple):
    """Which sets a row may have: the size bounds, and the set itself in rows that are `fixed`.

    `fixed` and `given` are empty if no row is.
    """

    lower: int
    upper: int
    fixed: BoolArray
    given: BoolArray

    @classmethod
    def of(cls, shard: Shard, gold: GoldRows | None) -> Allowed:
        """The bounds of this shard, and its gold sets."""
        if gold is None:
            return cls(shard.lower, shard.upper, np.zeros(0, bool), np.zeros((0, shard.width), bool))
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

    masks: IntArray = shard.ticks.numbers if isinstance(shard.ticks, Masks) else masks_of(*shard.ticks)
    return masks


def _read_only(array: IntArray) -> IntArray:
    view = array.view()
    view.flags.writeable = False
    return view
