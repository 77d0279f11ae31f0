"""One pass over a shard: score, choose or weigh, count. With arrays, or compiled where that pays.

Both ways give the same sets to the last bit, and the same soft counts up to rounding.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from epivote.data.lists import Lists, Masks
from epivote.data.names import BoolArray, FloatArray, IntArray
from epivote.data.parameters import Parameters
from epivote.data.shards import Shard
from epivote.model.choose import choose
from epivote.model.margins import margins
from epivote.model.posterior import log_partition_and_inclusion
from epivote.model.statistics import Sums, tally

WIDEST_MASK = 64  # alternatives whose ticks fit the bits of one 64-bit number
SORTED_BALLOTS = (1 << 16) - 1  # rows with more ballots are sorted as if they had this many: the key has 16 bits


class Known(NamedTuple):
    """Rows of a shard whose sets are given."""

    rows: IntArray
    sets: BoolArray


class Pass(Protocol):
    """What an iteration needs from one shard."""

    shard: Shard

    def sets(self, parameters: Parameters) -> BoolArray:
        """The most likely sets, given ones in their place."""

    def hard(self, parameters: Parameters, counted: Sums) -> None:
        """Count what the most likely sets say about voters and alternatives."""

    def soft(self, parameters: Parameters, counted: Sums) -> float:
        """Count what the probabilities of all sets say; the sum of all log-partitions."""


class ArrayPass:
    """The pass as array operations over all ballots and ticks at once."""

    def __init__(self, shard: Shard, known: Known | None) -> None:
        self.shard, self.known = shard, known

    def sets(self, parameters: Parameters) -> BoolArray:
        """See `Pass`."""
        sets = choose(margins(self.shard, parameters), self.shard.lower, self.shard.upper)
        if self.known is not None:
            sets[self.known.rows] = self.known.sets
        return sets

    def hard(self, parameters: Parameters, counted: Sums) -> None:
        """See `Pass`."""
        counted.include(tally(self.shard, self.sets(parameters), len(counted.voters), len(counted.occurrences)))

    def soft(self, parameters: Parameters, counted: Sums) -> float:
        """See `Pass`."""
        inside, log_partition = weigh(self.shard, parameters, self.known)
        counted.include(tally(self.shard, inside, len(counted.voters), len(counted.occurrences)))
        return log_partition


class Chosen(NamedTuple):
    """What a compiled pass chose at these parameters: how far every row's margins may still move before its set could
    change, the sets as bits, and what was counted.
    """

    parameters: Parameters | None
    room: FloatArray
    insides: IntArray
    counted: Sums

    @classmethod
    def nothing(cls, rows: int, counted: Sums) -> Chosen:
        """No set is chosen yet."""
        return cls(None, np.zeros(rows), np.zeros(rows, np.uint64), counted)

    def moved(self, parameters: Parameters) -> tuple[FloatArray, float]:
        """How far voters and priors have moved since; no voters if nothing was chosen yet."""
        return (np.zeros((0, 2)), 0.0) if self.parameters is None else self.parameters.moves_to(parameters)


class CompiledPass:
    """The same as compiled loops over one row after the other.

    From one hard pass to the next most sets stay, the more so the nearer the end. Rows of up to 64 alternatives are
    chosen anew only where voters and priors have moved far enough since, and counted anew only where the set changed.
    """

    def __init__(self, shard: Shard, known: Known | None) -> None:
        self.shard = shard
        self.short = shard.width <= WIDEST_MASK
        lists = Lists(np.zeros(0, np.int64), np.zeros(0, np.int64)) if self.short else shard.ticks.lists()
        self.fixed, self.given = np.zeros(0, bool), np.zeros((0, shard.width), bool)
        if known is not None:
            self.fixed, self.given = np.zeros(shard.shape[0], bool), np.zeros(shard.shape, bool)
            self.fixed[known.rows] = True
            self.given[known.rows] = known.sets
        columns: tuple[IntArray, ...] = (
            shard.ballot_start,
            shard.ballot_voter,
            _masks(shard) if self.short else np.zeros(0, np.uint64),
            lists.start,
            lists.values.astype(np.uint16 if shard.width <= 1 << 16 else np.uint32, copy=False),
            np.zeros((0, 0), np.int64) if shard.offered is None else shard.offered,
        )
        self.ballots = tuple(map(_read_only, columns))
        self._chosen: Chosen | None = None

    def sets(self, parameters: Parameters) -> BoolArray:
        """See `Pass`."""
        sets, counted = np.empty(self.shard.shape, bool), Sums.none(len(parameters.hit_rates), len(parameters.priors))
        if self.short:
            from epivote.model.kernels import sets_of

            sets_of(self._changed(self._nothing(counted), parameters).insides, sets)
        else:
            self._hard(parameters, sets, counted)
        return sets

    def hard(self, parameters: Parameters, counted: Sums) -> None:
        """See `Pass`."""
        if not self.short:
            self._hard(parameters, np.empty((0, self.shard.width), bool), counted)
        elif len(counted.voters) > len(self.shard.ballot_voter):  # what is kept would be larger than the ballots
            self._changed(self._nothing(counted), parameters)
        else:
            before, self._chosen = self._chosen, None  # taken meanwhile, so that two threads never change it both
            chosen = self._changed(before or self._nothing(counted.like()), parameters)
            counted.include(chosen.counted)
            self._chosen = chosen

    def soft(self, parameters: Parameters, counted: Sums) -> float:
        """See `Pass`."""
        from epivote.model.soft_kernels import soft_pass

        extra = parameters.largest_push, parameters.factors, self._order
        return float(soft_pass(*self._arguments(parameters), *extra, *counted))

    @cached_property
    def _order(self) -> IntArray:
        """Rows, those with most ballots first; beyond some number more make no difference."""
        fewer = SORTED_BALLOTS - np.minimum(np.diff(self.shard.ballot_start), SORTED_BALLOTS)
        return np.argsort(fewer.astype(np.uint16), kind="stable")  # numbers so short are sorted in one sweep

    def _changed(self, before: Chosen, parameters: Parameters) -> Chosen:
        """What is chosen at these parameters, as a change of what was chosen before."""
        from epivote.model.kernels import hard_change

        state = *before.moved(parameters), before.room, before.insides, *before.counted
        hard_change(*self._arguments(parameters), parameters.largest_push, *state)
        return before._replace(parameters=parameters)

    def _nothing(self, counted: Sums) -> Chosen:
        return Chosen.nothing(self.shard.shape[0], counted)

    def _hard(self, parameters: Parameters, sets: BoolArray, counted: Sums) -> None:
        from epivote.model.kernels import hard_pass

        hard_pass(*self._arguments(parameters), sets, *counted)

    def _arguments(self, parameters: Parameters) -> tuple[Any, ...]:
        bounds = self.shard.lower, self.shard.upper
        return (*self.ballots, parameters.prior_log_odds, parameters.pushes, *bounds, self.fixed, self.given)


def _read_only(array: IntArray) -> IntArray:
    """The same numbers: loops are compiled for each type of argument, and what may be written to is another type."""
    view = array.view()
    view.flags.writeable = False
    return view


def _masks(shard: Shard) -> IntArray:
    from epivote.model.kernels import masks_of

    return shard.ticks.numbers if isinstance(shard.ticks, Masks) else masks_of(*shard.ticks)


def weigh(shard: Shard, parameters: Parameters, known: Known | None) -> tuple[FloatArray, float]:
    """Probability of every cell to be right, given sets being certain, and the sum of all log-partitions."""
    table = margins(shard, parameters)
    log_partition, inside = log_partition_and_inclusion(table, shard.lower, shard.upper)
    if known is not None:
        inside[known.rows] = known.sets
        log_partition[known.rows] = np.where(known.sets, table[known.rows], 0.0).sum(axis=1)
    return inside, float(log_partition.sum())
