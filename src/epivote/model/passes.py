"""One pass over a shard: score, choose or weigh, count. Here as array operations over all its ballots at once.

`epivote.kernels.passes` has the same as compiled loops, which give the same sets to the last bit, and the same soft
counts up to rounding.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from epivote.data.names import BoolArray, FloatArray
from epivote.data.parameters import Parameters
from epivote.data.shards import Shard
from epivote.model.choose import choose, room
from epivote.model.groups import GroupCounts, group_pass
from epivote.model.margins import Heard, hear, margins
from epivote.model.posterior import log_partition_and_inclusion
from epivote.model.set_odds import SetOdds
from epivote.model.statistics import GoldRows, PassCounts, tally


class Pass(Protocol):
    """What an iteration needs from one shard."""

    shard: Shard

    def sets(self, parameters: Parameters) -> BoolArray:
        """The most likely sets, given ones in their place."""

    def hard(self, parameters: Parameters, counts: PassCounts) -> None:
        """Add what the most likely sets say about voters and alternatives to `counts`."""

    def margins(self, parameters: Parameters) -> FloatArray:
        """The log-odds of every cell before the size bounds are taken into account."""

    def set_odds(self, log_odds: FloatArray) -> SetOdds:
        """What such log-odds, the model's or calibrated ones, say about the sets."""

    def soft(self, parameters: Parameters, counts: PassCounts) -> float:
        """Add what the probabilities of all sets say to `counts`; returns the sum of all log-partitions."""

    def groups(self, parameters: Parameters, n_voters: int) -> GroupCounts:
        """What the probabilities of all sets and groups say."""


class HardPass(NamedTuple):
    """What a hard pass chose and counted at these weights and priors, and how far priors may move from there."""

    weights: FloatArray
    prior_log_odds: FloatArray
    heard: Heard
    sets: BoolArray
    counts: PassCounts
    room: float

    def holds_at(self, parameters: Parameters) -> bool:
        """Whether it would surely choose the same sets again: voters are the same, and priors all but the same."""
        if self.weights is not parameters.weights:
            return False
        return bool(np.abs(parameters.prior_log_odds - self.prior_log_odds).max(initial=0.0) < self.room)


class ArrayPass:
    """The pass with arrays: margins, Theorem 1 or exact probabilities, sums.

    Near the end of a run only priors move from one hard pass to the next, and less and less: what the ballots say is
    worked out anew only where a voter's rates have changed, sets are chosen anew only where priors have moved far
    enough, and counted anew only where one has changed.
    """

    def __init__(self, shard: Shard, gold: GoldRows | None) -> None:
        self.shard, self.gold = shard, gold
        self._last: HardPass | None = None  # replaced, never changed, so that threads may share it

    def sets(self, parameters: Parameters) -> BoolArray:
        """See `Pass`."""
        return self._with_gold(choose(margins(self.shard, parameters), self.shard.lower, self.shard.upper))

    def hard(self, parameters: Parameters, counts: PassCounts) -> None:
        """See `Pass`."""
        last = self._last
        if last is None or not last.holds_at(parameters):
            last = self._chosen(parameters, last, counts.size)
            if len(counts.voters) <= len(self.shard.ballot_voter):  # else what is kept would be larger than the ballots
                self._last = last
        counts.include(last.counts)

    def _chosen(self, parameters: Parameters, last: HardPass | None, size: tuple[int, int]) -> HardPass:
        """A hard pass after the last one, which may have heard or counted the same."""
        weights = parameters.weights
        heard = last.heard if last is not None and last.weights is weights else hear(self.shard, parameters)
        table = margins(self.shard, parameters, heard)
        sets = self._with_gold(choose(table, self.shard.lower, self.shard.upper))
        if last is not None and (last.sets == sets).all():
            counts, free = last.counts, room(table, sets)
        else:  # sets still change, so that it does not pay to find out how far priors may move
            counts, free = tally(self.shard, sets, *size), 0.0
        return HardPass(weights, parameters.prior_log_odds, heard, sets, counts, free)

    def margins(self, parameters: Parameters) -> FloatArray:
        """See `Pass`."""
        return margins(self.shard, parameters)

    def set_odds(self, log_odds: FloatArray) -> SetOdds:
        """See `Pass`."""
        return SetOdds(log_odds, self.shard.lower, self.shard.upper)

    def soft(self, parameters: Parameters, counts: PassCounts) -> float:
        """See `Pass`."""
        inside, log_partition = weigh(self.shard, parameters, self.gold)
        counts.include(tally(self.shard, inside, *counts.size))
        return log_partition

    def groups(self, parameters: Parameters, n_voters: int) -> GroupCounts:
        """See `Pass`."""
        return group_pass(self.shard, self.gold, parameters, n_voters)

    def _with_gold(self, sets: BoolArray) -> BoolArray:
        if self.gold is not None:
            sets[self.gold.rows] = self.gold.sets
        return sets


def weigh(shard: Shard, parameters: Parameters, gold: GoldRows | None) -> tuple[FloatArray, float]:
    """Probability of every cell to be right, given sets being certain, and the sum of all log-partitions."""
    table = margins(shard, parameters)
    log_partition, inside = log_partition_and_inclusion(table, shard.lower, shard.upper)
    if gold is not None:
        inside[gold.rows] = gold.sets
        log_partition[gold.rows] = np.where(gold.sets, table[gold.rows], 0.0).sum(axis=1)
    return inside, float(log_partition.sum())
