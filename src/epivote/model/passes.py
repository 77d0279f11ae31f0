"""One pass over a shard: score, choose or weigh, count. With arrays, or compiled where that pays.

Both ways give the same sets to the last bit, and the same soft counts up to rounding.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol

import numpy as np

from epivote.data.names import BoolArray, FloatArray, IntArray
from epivote.data.parameters import Parameters, log_odds
from epivote.data.shards import Shard
from epivote.model.choose import choose
from epivote.model.margins import margins
from epivote.model.posterior import log_partition_and_inclusion
from epivote.model.statistics import Statistics, count, frame_of

WIDEST_MASK = 64
WORTH_LOADING = 1_000_000
WORTH_CALLING = 20_000


class Known(NamedTuple):
    """Rows of a shard whose sets are given."""

    rows: IntArray
    sets: BoolArray


class Pass(Protocol):
    """What an iteration needs from one shard."""

    def hard(self, parameters: Parameters) -> tuple[BoolArray, Statistics]:
        """The most likely sets, given ones in their place, and what they say about voters and alternatives."""

    def soft(self, parameters: Parameters) -> tuple[Statistics, float]:
        """What the probabilities of all sets say about voters and alternatives, and the sum of all log-partitions."""


class ArrayPass:
    """The pass as array operations over all ballots and ticks at once."""

    def __init__(self, shard: Shard, known: Known | None, n_voters: int, n_alternatives: int, *, by_menu: bool) -> None:
        self.shard, self.known = shard, known
        self.size, self.by_menu = (n_voters, n_alternatives), by_menu

    def hard(self, parameters: Parameters) -> tuple[BoolArray, Statistics]:
        """See `Pass`."""
        sets = choose(margins(self.shard, parameters), self.shard.lower, self.shard.upper)
        if self.known is not None:
            sets[self.known.rows] = self.known.sets
        return sets, count(self.shard, sets, *self.size, by_menu=self.by_menu)

    def soft(self, parameters: Parameters) -> tuple[Statistics, float]:
        """See `Pass`."""
        inside, log_partition = weigh(self.shard, parameters, self.known)
        return count(self.shard, inside, *self.size, by_menu=self.by_menu), log_partition


class CompiledPass:
    """The same as compiled loops over one row after the other; what never changes is worked out once."""

    def __init__(self, shard: Shard, known: Known | None, n_voters: int, n_alternatives: int, *, by_menu: bool) -> None:
        self.shard = shard
        self.frame = frame_of(shard, n_voters, n_alternatives, by_menu=by_menu)
        self.fixed = np.zeros(len(shard.instances), bool)
        self.sets = np.zeros(shard.shape, bool)
        if known is not None:
            self.fixed[known.rows] = True
            self.sets[known.rows] = known.sets
        self.ballots = (
            shard.ballot_start,
            shard.ballot_voter,
            shard.masks if shard.width <= WIDEST_MASK else np.zeros(0, np.uint64),
            shard.tick_start,
            shard.tick_column,
            np.zeros((0, 0), np.int64) if shard.offered is None else shard.offered,
        )

    def hard(self, parameters: Parameters) -> tuple[BoolArray, Statistics]:
        """See `Pass`."""
        from epivote.model.kernels import hard_pass

        sets, sums = self.sets.copy(), self.frame.sums()
        hard_pass(*self.ballots, *self._bounded(parameters), sets, *sums)
        return sets, self.frame.filled(*sums)

    def soft(self, parameters: Parameters) -> tuple[Statistics, float]:
        """See `Pass`."""
        from epivote.model.kernels import soft_pass

        sums = self.frame.sums()
        log_partition = float(soft_pass(*self.ballots, *self._bounded(parameters), self.sets, *sums))
        return self.frame.filled(*sums), log_partition

    def _bounded(self, parameters: Parameters) -> tuple[Any, ...]:
        rates = log_odds(parameters.priors), parameters.weights, parameters.thresholds
        return (*rates, self.shard.lower, self.shard.upper, self.fixed)


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
