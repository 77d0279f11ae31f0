"""One pass over a shard: score, choose or weigh, count. With arrays, or compiled where that pays.

Both ways give the same sets to the last bit, and the same soft counts up to rounding.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol

import numpy as np

from epivote.data.lists import Lists, Masks
from epivote.data.names import BoolArray, FloatArray, IntArray
from epivote.data.parameters import Parameters, log_odds
from epivote.data.shards import Shard
from epivote.model.choose import choose
from epivote.model.margins import margins
from epivote.model.posterior import log_partition_and_inclusion
from epivote.model.statistics import Sums, tally

WIDEST_MASK = 64
WORTH_LOADING = 1_000_000
WORTH_CALLING = 20_000


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


class CompiledPass:
    """The same as compiled loops over one row after the other."""

    def __init__(self, shard: Shard, known: Known | None) -> None:
        self.shard = shard
        short = shard.width <= WIDEST_MASK
        lists = Lists(np.zeros(0, np.int64), np.zeros(0, np.uint8)) if short else shard.ticks.lists()
        self.fixed, self.given = np.zeros(0, bool), np.zeros((0, shard.width), bool)
        if known is not None:
            self.fixed, self.given = np.zeros(shard.shape[0], bool), np.zeros(shard.shape, bool)
            self.fixed[known.rows] = True
            self.given[known.rows] = known.sets
        self.ballots = (
            shard.ballot_start,
            shard.ballot_voter,
            _masks(shard) if short else np.zeros(0, np.uint64),
            lists.start,
            lists.values,
            np.zeros((0, 0), np.int64) if shard.offered is None else shard.offered,
        )

    def sets(self, parameters: Parameters) -> BoolArray:
        """See `Pass`."""
        sets = np.empty(self.shard.shape, bool)
        self._hard(parameters, sets, Sums.none(len(parameters.hit_rates), len(parameters.priors)))
        return sets

    def hard(self, parameters: Parameters, counted: Sums) -> None:
        """See `Pass`."""
        self._hard(parameters, np.empty((0, self.shard.width), bool), counted)

    def soft(self, parameters: Parameters, counted: Sums) -> float:
        """See `Pass`."""
        from epivote.model.kernels import soft_pass

        return float(soft_pass(*self._arguments(parameters), *counted))

    def _hard(self, parameters: Parameters, sets: BoolArray, counted: Sums) -> None:
        from epivote.model.kernels import hard_pass

        hard_pass(*self._arguments(parameters), sets, *counted)

    def _arguments(self, parameters: Parameters) -> tuple[Any, ...]:
        bounds = self.shard.lower, self.shard.upper
        return (*self.ballots, log_odds(parameters.priors), parameters.pushes, *bounds, self.fixed, self.given)


def _masks(shard: Shard) -> IntArray:
    from epivote.model.kernels import masks_of

    return shard.ticks.numbers if isinstance(shard.ticks, Masks) else masks_of(*shard.ticks)


def worth_compiling(n_approvals: int) -> bool:
    """Whether the compiled loops win: they do once loaded, but loading them takes about as long as a smaller fit."""
    loaded = "epivote.model.kernels" in sys.modules
    return n_approvals >= (WORTH_CALLING if loaded else WORTH_LOADING) and find_spec("numba") is not None


def weigh(shard: Shard, parameters: Parameters, known: Known | None) -> tuple[FloatArray, float]:
    """Probability of every cell to be right, given sets being certain, and the sum of all log-partitions."""
    table = margins(shard, parameters)
    log_partition, inside = log_partition_and_inclusion(table, shard.lower, shard.upper)
    if known is not None:
        inside[known.rows] = known.sets
        log_partition[known.rows] = np.where(known.sets, table[known.rows], 0.0).sum(axis=1)
    return inside, float(log_partition.sum())
