"""Log-odds that an alternative is right, given one instance's ballots (Definitions 1 and 2)."""

from __future__ import annotations

from typing import NamedTuple

from epivote.data.names import FloatArray, sums
from epivote.data.parameters import Parameters
from epivote.data.shards import Shard


class Heard(NamedTuple):
    """What the ballots say, whatever the priors: the weights of those who ticked every cell, every row's threshold."""

    ticks: FloatArray
    thresholds: FloatArray


def hear(shard: Shard, parameters: Parameters) -> Heard:
    """What the ballots of all rows say."""
    return Heard(tick_weights(shard, parameters), thresholds(shard, parameters))


def tick_weights(shard: Shard, parameters: Parameters) -> FloatArray:
    """The weights of those who ticked, added up in every cell."""
    weights = parameters.times(shard.multiplicities).weights
    ticks = sums(shard.approval_cell, weights[shard.approval_voter], len(shard.instances) * shard.width)
    return ticks.reshape(shard.shape)


def thresholds(shard: Shard, parameters: Parameters) -> FloatArray:
    """Threshold tau of every row, summed over the voters who answered that instance."""
    parameters = parameters.times(shard.multiplicities)
    return sums(shard.ballot_row, parameters.thresholds[shard.ballot_voter], len(shard.instances))


def scores(shard: Shard, parameters: Parameters, heard: Heard | None = None) -> FloatArray:
    """Weighted approval scores app_w of all cells: log-odds of the prior plus the weights of those who ticked."""
    prior = parameters.prior_log_odds
    ticks = tick_weights(shard, parameters) if heard is None else heard.ticks
    return ticks + (prior if shard.offered is None else prior[shard.offered])


def pushes(shard: Shard, parameters: Parameters) -> FloatArray:
    """What the ballots add to the log-odds of every cell, whatever its prior."""
    heard = hear(shard, parameters)
    return heard.ticks - heard.thresholds[:, None]


def margins(shard: Shard, parameters: Parameters, heard: Heard | None = None) -> FloatArray:
    """app_w - tau: the log-odds of every cell before the size bounds are taken into account.

    An empty ballot lowers them, a missing one does not: only cast ballots enter the threshold. What was `heard` from
    the ballots is worked out unless it is given.
    """
    heard = heard or hear(shard, parameters)
    return scores(shard, parameters, heard) - heard.thresholds[:, None]
