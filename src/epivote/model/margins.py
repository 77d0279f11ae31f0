"""Log-odds that an alternative is right, given one instance's ballots (Definitions 1 and 2)."""

from epivote.data.names import FloatArray, sums
from epivote.data.parameters import Parameters
from epivote.data.shards import Shard


def scores(shard: Shard, parameters: Parameters) -> FloatArray:
    """Weighted approval scores app_w of all cells: log-odds of the prior plus the weights of those who ticked."""
    prior, parameters = parameters.prior_log_odds, parameters.times(shard.multiplicities)
    ticks = sums(shard.approval_cell, parameters.weights[shard.approval_voter], len(shard.instances) * shard.width)
    return ticks.reshape(shard.shape) + (prior if shard.offered is None else prior[shard.offered])


def thresholds(shard: Shard, parameters: Parameters) -> FloatArray:
    """Threshold tau of every row, summed over the voters who answered that instance."""
    parameters = parameters.times(shard.multiplicities)
    return sums(shard.ballot_row, parameters.thresholds[shard.ballot_voter], len(shard.instances))


def pushes(shard: Shard, parameters: Parameters) -> FloatArray:
    """What the ballots add to the log-odds of every cell, whatever its prior."""
    weights = parameters.times(shard.multiplicities).weights
    ticks = sums(shard.approval_cell, weights[shard.approval_voter], len(shard.instances) * shard.width)
    return ticks.reshape(shard.shape) - thresholds(shard, parameters)[:, None]


def margins(shard: Shard, parameters: Parameters) -> FloatArray:
    """app_w - tau: the log-odds of every cell before the size bounds are taken into account.

    An empty ballot lowers them, a missing one does not: only cast ballots enter the threshold.
    """
    return scores(shard, parameters) - thresholds(shard, parameters)[:, None]
