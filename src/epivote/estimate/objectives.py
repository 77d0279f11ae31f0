"""The two objectives: the likelihood of given sets and ballots, and that of the ballots alone."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.bounds import BoundsLike, SizeBounds
from epivote.data.parameters import Parameters
from epivote.engines.gold import Gold
from epivote.errors import InputError, RateError
from epivote.estimate.workload import InMemoryWorkload, workload
from epivote.model.likelihood import grouped_log_likelihood_of, log_likelihood_of, marginal_log_likelihood_of


def log_likelihood(ballots: AnyBallots, truths: Gold, parameters: Parameters, bounds: BoundsLike) -> float:
    """Logarithm of the probability of these sets and these ballots under the model; -inf if a set breaks the bounds.

    AMLE raises it at every step.
    """
    _check_fit(parameters, ballots)
    bounds, parts = SizeBounds.of(bounds), []
    for part in ballots.parts():
        work = InMemoryWorkload(part, bounds)
        for instance in part.instances:
            if instance not in truths:
                raise InputError(f"instance {instance!r} has ballots but no set; give a set for every instance")
        chosen = work.tables(truths)
        for shard, sets in zip(work.shards, chosen, strict=True):
            sizes = sets.sum(axis=1)
            if np.any((sizes < shard.lower) | (sizes > shard.upper)):
                return -np.inf
        parts.append(work.statistics(chosen, by_menu=priors_differ(parameters)))
    if parameters.n_groups:
        certain = workload(ballots, bounds, truths)
        return grouped_log_likelihood_of(*certain.group_step(parameters), parameters)
    return log_likelihood_of(reduce(add, parts), parameters)


def marginal_log_likelihood(ballots: AnyBallots, parameters: Parameters, bounds: BoundsLike) -> float:
    """Logarithm of the probability of these ballots under the model, whatever the sets.

    EM without shrinkage raises it at every step.
    """
    _check_fit(parameters, ballots)
    work = workload(ballots, SizeBounds.of(bounds), None)
    if parameters.n_groups:
        return grouped_log_likelihood_of(*work.group_step(parameters), parameters)
    statistics, log_partition = [], 0.0
    for part in work.parts():
        membership, of_part = part.expectation(parameters)
        statistics.append(part.statistics(membership, by_menu=priors_differ(parameters)))
        log_partition += of_part
    return marginal_log_likelihood_of(reduce(add, statistics), log_partition, parameters)


def priors_differ(parameters: Parameters) -> bool:
    """Whether alternatives have priors of their own."""
    return bool(np.any(parameters.priors != parameters.priors[0]))


def _check_fit(parameters: Parameters, ballots: AnyBallots) -> None:
    if len(parameters.hit_rates) != ballots.n_voters or len(parameters.priors) != ballots.n_alternatives:
        raise RateError(
            f"parameters are of {len(parameters.hit_rates)} voters and {len(parameters.priors)} alternatives; "
            f"the ballots have {ballots.n_voters} and {ballots.n_alternatives}"
        )
