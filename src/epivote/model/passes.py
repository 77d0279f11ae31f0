"""One pass over a shard: score, choose or weigh, count. Here as array operations over all its ballots at once.

`epivote.kernels.passes` has the same as compiled loops, which give the same sets to the last bit, and the same soft
counts up to rounding.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from epivote.data.names import BoolArray, FloatArray
from epivote.data.parameters import Parameters
from epivote.data.shards import Shard
from epivote.model.choose import choose
from epivote.model.groups import GroupCounts, group_pass
from epivote.model.margins import margins
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


class ArrayPass:
    """The pass with arrays: margins, Theorem 1 or exact probabilities, sums."""

    def __init__(self, shard: Shard, gold: GoldRows | None) -> None:
        self.shard, self.gold = shard, gold

    def sets(self, parameters: Parameters) -> BoolArray:
        """See `Pass`."""
        return self._with_gold(choose(margins(self.shard, parameters), self.shard.lower, self.shard.upper))

    def hard(self, parameters: Parameters, counts: PassCounts) -> None:
        """See `Pass`."""
        sets = choose(margins(self.shard, parameters), self.shard.lower, self.shard.upper)
        counts.include(tally(self.shard, self._with_gold(sets), *counts.size))

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
