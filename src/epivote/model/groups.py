"""Instances in groups: the same voters, but priors of its own in every group, so that alternatives go together.

Instance z is in group k with probability share_k, and its set S then has the prior probability

    P(S | k) = product of t_kj / (1 - t_kj) over S / Z_k,  Z_k the sum of these products over all allowed sets.

With the pushes of the ballots on top, the sum over all sets and the inclusion probabilities follow for every group as
they do without groups. What is known about groups adds up over any cut of the instances, like everything else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from epivote.data.names import FloatArray, sums
from epivote.data.parameters import Parameters
from epivote.data.shards import Shard
from epivote.model.margins import pushes
from epivote.model.mixed_odds import mixed
from epivote.model.posterior import log_partition_and_inclusion
from epivote.model.statistics import GoldRows, Group, PassCounts, groups_of, tally


class GroupCounts(NamedTuple):
    """What a pass counts where instances fall into groups.

    Beside the counts of voters and alternatives: how often every alternative is expected in the sets of every group,
    how many of the instances with the same bounds each group is expected to have, and the sum over instances of
    ln sum_k share_k P(ballots | k), the ballots measured against those of an empty set.
    """

    counts: PassCounts
    occurrences: FloatArray
    instances: dict[Group, FloatArray]
    log_likelihood: float

    def together(self, other: GroupCounts) -> GroupCounts:
        """Both."""
        instances = dict(self.instances)
        for bounds, number in other.instances.items():
            instances[bounds] = instances[bounds] + number if bounds in instances else number
        return GroupCounts(
            self.counts.include(other.counts),
            self.occurrences + other.occurrences,
            dict(sorted(instances.items())),
            self.log_likelihood + other.log_likelihood,
        )

    @property
    def sizes(self) -> FloatArray:
        """How many instances every group is expected to have."""
        total: FloatArray = np.sum(list(self.instances.values()), axis=0)
        return total


def group_log_weights(shard: Shard, parameters: Parameters, scale: float = 1.0) -> FloatArray:
    """ln(share_k / Z_k) for every group and row: what the log-odds of a set are added to.

    `scale` multiplies the log-odds of the priors first.
    """
    assert parameters.group_shares is not None
    prior = scale * parameters.group_log_odds
    log_shares = np.log(parameters.group_shares)
    if shard.offered is None:
        log_mass, _ = log_partition_and_inclusion(prior, shard.lower, shard.upper)
        return np.repeat((log_shares - log_mass)[:, None], len(shard.instances), axis=1)
    tables = (log_partition_and_inclusion(row[shard.offered], shard.lower, shard.upper)[0] for row in prior)
    return np.stack([log_share - log_mass for log_share, log_mass in zip(log_shares, tables, strict=True)])


def group_margins(shard: Shard, parameters: Parameters) -> FloatArray:
    """The log-odds of every cell in every group: a table for each."""
    prior = parameters.group_log_odds
    prior = prior[:, None, :] if shard.offered is None else prior[:, shard.offered]
    return prior + pushes(shard, parameters)


def group_pass(shard: Shard, gold: GoldRows | None, parameters: Parameters, n_voters: int) -> GroupCounts:
    """Weigh all groups and sets of a shard, and count; a gold set is certain and tells about the group as well."""
    tables = group_margins(shard, parameters)
    flat = tables.reshape(-1, tables.shape[2])
    found = log_partition_and_inclusion(flat, shard.lower, shard.upper)
    log_partition, inside = found[0].reshape(tables.shape[:2]), found[1].reshape(tables.shape)
    if gold is not None:
        inside[:, gold.rows] = gold.sets
        log_partition[:, gold.rows] = np.where(gold.sets, tables[:, gold.rows], 0.0).sum(axis=2)
    chances, log_total = group_chances(group_log_weights(shard, parameters) + log_partition)
    membership = mixed(chances.T, inside)
    (bounds,) = groups_of(shard, by_menu=False)
    n_alternatives = len(parameters.priors)
    occurrences = np.stack([chance @ each for chance, each in zip(chances, inside, strict=True)])
    if shard.offered is not None:
        cells = (chances[:, :, None] * inside).reshape(len(chances), -1)
        occurrences = np.stack([sums(shard.offered.ravel(), each, n_alternatives) for each in cells])
    counts = tally(shard, membership, n_voters, n_alternatives)
    return GroupCounts(counts, occurrences, {bounds: chances.sum(axis=1)}, float(log_total.sum()))


def group_chances(log_joint: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The probability of every group in every row, and the logarithm of the sum over groups."""
    log_total: FloatArray = np.logaddexp.reduce(log_joint)
    return np.exp(log_joint - log_total), log_total
