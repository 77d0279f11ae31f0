"""Ballots like those given, with known sets: drawn from a fit, by voters who err independently or together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.names import BoolArray
from epivote.estimate.base import RatedEstimator
from epivote.estimate.workload import InMemoryWorkload
from epivote.model.residuals import residual_products

BALLOTS_PER_CHUNK = 20_000  # drawn at a time, so that tables of ballots times alternatives stay small


def imitate(
    fitted: RatedEstimator, shared_mistakes: float, rng: np.random.Generator
) -> tuple[Ballots, InMemoryWorkload, list[BoolArray]]:
    """New ballots of the same voters on the same instances, and the sets they are about, shard by shard.

    Sets are drawn from what the fit says about each instance, ballots with the fitted rates. A share `shared_mistakes`
    of the variance of what makes a voter tick is common to all voters of a cell, as in `simulate`.
    """
    from scipy.special import ndtri

    estimate = fitted.estimate_
    ballots, parameters = estimate.ballots.in_memory(), estimate.parameters
    work = InMemoryWorkload(ballots, estimate.bounds)
    truths = [odds.draw_each(rng) for odds in work.set_odds(parameters)]
    member = np.zeros((ballots.n_instances, ballots.n_alternatives), bool)
    offered = np.zeros_like(member)
    for shard, sets in zip(work.shards, truths, strict=True):
        columns = np.arange(ballots.n_alternatives) if shard.offered is None else shard.offered
        member[shard.instances[:, None], columns] = sets
        offered[shard.instances[:, None], columns] = True
    common = rng.normal(size=member.shape)
    hit, false_alarm = ndtri(parameters.hit_rates), ndtri(parameters.false_alarm_rates)
    sizes, approved = [], []
    for begin in range(0, ballots.n_ballots, BALLOTS_PER_CHUNK):
        part = slice(begin, begin + BALLOTS_PER_CHUNK)
        instance, voter = ballots.ballot_instance[part], ballots.ballot_voter[part]
        limit = np.where(member[instance], hit[voter, None], false_alarm[voter, None])
        own = rng.normal(size=limit.shape)
        mixed = np.sqrt(1 - shared_mistakes) * own + np.sqrt(shared_mistakes) * common[instance]
        ticked = (mixed < limit) & offered[instance]
        sizes.append(ticked.sum(axis=1))
        approved.append(np.nonzero(ticked)[1])
    drawn = replace(
        ballots,
        approval_start=np.concatenate([[0], np.cumsum(np.concatenate(sizes))]),
        approved=np.concatenate(approved).astype(ballots.approved.dtype),
    )
    return drawn, InMemoryWorkload(drawn, estimate.bounds), truths


def coincidence(fitted: RatedEstimator) -> tuple[float, float]:
    """The mean product of residuals of two voters in a cell, and its standard error over instances."""
    estimate = fitted.estimate_
    work = InMemoryWorkload(estimate.ballots.in_memory(), estimate.bounds)
    found = [
        residual_products(shard, odds.inclusion, estimate.parameters)
        for shard, odds in zip(work.shards, work.set_odds(estimate.parameters), strict=True)
    ]
    products, weights = (np.concatenate(column) for column in zip(*found, strict=True))
    total = weights.sum()
    mean = float(products.sum() / total) if total else 0.0
    error = float(np.sqrt(((products - mean * weights) ** 2).sum()) / total) if total else 0.0
    return mean, error
