"""Ballots with known truth, drawn from the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.bounds import BoundsLike, SizeBounds
from epivote.data.build import assemble
from epivote.data.lists import Lists
from epivote.data.names import BoolArray, FloatArray, IntArray, as_names
from epivote.data.parameters import Parameters, RateLike, align_rates, log_odds
from epivote.data.truths import Truths
from epivote.errors import BoundsError, InputError
from epivote.model.probable_sets import draw_sets

NUMBERS_PER_CHUNK = 1 << 22  # 32 MB of random numbers at a time


class Beta(NamedTuple):
    """Rates drawn from a Beta distribution, one per voter."""

    a: float
    b: float


GOOD_HITS = Beta(6, 3)
FEW_FALSE_ALARMS = Beta(2, 12)


@dataclass(frozen=True)
class Simulation:
    """Ballots, the sets behind them, and the rates they were drawn with."""

    ballots: Ballots
    gold: Truths
    parameters: Parameters


def simulate(
    *,
    instances: int,
    voters: int,
    alternatives: int | Iterable[str],
    bounds: BoundsLike,
    hit_rates: RateLike | Beta = GOOD_HITS,
    false_alarm_rates: RateLike | Beta = FEW_FALSE_ALARMS,
    priors: RateLike = 0.5,
    truths: Truths | None = None,
    ballots_per_instance: int | None = None,
    coverage: float = 1.0,
    spammers: float = 0.0,
    seed: int | np.random.Generator = 0,
) -> Simulation:
    """Truths and ballots drawn from the model; everything needed to check an estimate comes back.

    Sets are drawn with the given priors under the size bounds, or taken from `truths`. Every instance is answered by
    exactly `ballots_per_instance` voters at random, or by each voter with probability `coverage`. A share `spammers` of
    the voters tick right and wrong alternatives alike, with a rate uniform between .05 and .6.
    """
    rng = np.random.default_rng(seed)
    if min(instances, voters) < 1:
        raise InputError(f"instances={instances} and voters={voters} must be at least 1")
    names = _names(alternatives)
    voter_names = tuple(f"v{i}" for i in range(1, voters + 1))
    if truths is None:
        tj = align_rates(priors, names, "priors")
        instance_names = tuple(f"i{z}" for z in range(1, instances + 1))
        members = _draw_members(tj, SizeBounds.of(bounds), instance_names, rng)
        truths = _truths(instance_names, names, members)
    elif truths.alternatives != names or len(truths) != instances:
        raise InputError("the given truths must have exactly the stated alternatives and number of instances")
    else:
        tj = align_rates(priors, names, "priors")
        members = np.zeros((instances, len(names)), bool)
        members[np.repeat(np.arange(instances), truths.sizes), truths.members] = True
    parameters = _draw_voters(hit_rates, false_alarm_rates, tj, voter_names, spammers, rng)
    ballot_instance, ballot_voter = _who_answers_what(instances, voters, ballots_per_instance, coverage, rng)
    approval_ballot, approved = _draw_ticks(members, ballot_instance, ballot_voter, parameters, rng)
    ballots = assemble(
        voters=voter_names,
        instances=truths.instances,
        alternatives=names,
        ballot_voter=ballot_voter,
        ballot_instance=ballot_instance,
        approvals=Lists.of_pairs(approval_ballot, approved, len(ballot_voter)),
    )
    return Simulation(ballots, truths, parameters)


def reference_crowd(
    instances: int, voters: int, alternatives: int, upper: int, seed: int | np.random.Generator = 0
) -> Simulation:
    """The crowd that figures are measured on, so that they compare.

    True sets have uniform size 1..upper, their alternatives drawn without replacement with weights 1/sqrt(rank); hit
    rates are Beta(6, 3), false-alarm rates Beta(2, 12), a fifth of the voters spam; every instance gets five voters.
    """
    rng = np.random.default_rng(seed)
    keys = rng.gumbel(size=(instances, alternatives)) - np.log(np.arange(1, alternatives + 1)) / 2
    rank = np.argsort(np.argsort(-keys, axis=1), axis=1)
    members = rank < rng.integers(1, upper + 1, instances)[:, None]
    names = _names(alternatives)
    return simulate(
        instances=instances,
        voters=voters,
        alternatives=names,
        bounds=(1, upper),
        truths=_truths(tuple(f"i{z}" for z in range(1, instances + 1)), names, members),
        ballots_per_instance=5,
        spammers=0.2,
        seed=rng,
    )


def _draw_members(
    priors: FloatArray, bounds: SizeBounds, instances: tuple[str, ...], rng: np.random.Generator
) -> BoolArray:
    """Sets for all instances, each under its own bounds."""
    pairs = [bounds.per_instance.get(name, (bounds.lower, bounds.upper)) for name in instances]
    members = np.zeros((len(instances), len(priors)), bool)
    for pair in dict.fromkeys(pairs):
        rows = np.array([each == pair for each in pairs])
        lower, upper = pair[0], len(priors) if pair[1] is None else min(pair[1], len(priors))
        if lower > len(priors):
            raise BoundsError(f"{len(priors)} alternatives hold no set of at least {lower}; lower the bound")
        members[rows] = draw_sets(log_odds(priors), lower, upper, int(rows.sum()), rng)
    return members


def _draw_voters(
    hit_rates: RateLike | Beta,
    false_alarm_rates: RateLike | Beta,
    priors: FloatArray,
    names: tuple[str, ...],
    spammers: float,
    rng: np.random.Generator,
) -> Parameters:
    for rates in (hit_rates, false_alarm_rates):
        if isinstance(rates, Beta) and not min(rates) > 0:
            raise InputError(f"{rates} is no distribution; both numbers must be above 0")
    if not 0 <= spammers <= 1:
        raise InputError(f"spammers={spammers} must be a share between 0 and 1")
    edge = 1e-4
    p, q = (
        np.clip(rng.beta(*rates, len(names)), edge, 1 - edge)
        if isinstance(rates, Beta)
        else align_rates(rates, names, what)
        for rates, what in ((hit_rates, "hit rates"), (false_alarm_rates, "false-alarm rates"))
    )
    spam = rng.permutation(len(names))[: round(spammers * len(names))]
    p, q = p.copy(), q.copy()
    p[spam] = q[spam] = rng.uniform(0.05, 0.6, len(spam))
    return Parameters(p, q, priors)


def _who_answers_what(
    instances: int, voters: int, ballots_per_instance: int | None, coverage: float, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    if ballots_per_instance is not None:
        if not 1 <= ballots_per_instance <= voters:
            raise InputError(f"ballots_per_instance={ballots_per_instance} must lie between 1 and the {voters} voters")
        counts = np.full(instances, ballots_per_instance)
    else:
        if not 0 < coverage <= 1:
            raise InputError(f"coverage={coverage} must be a share above 0 and at most 1")
        counts = rng.binomial(voters, coverage, instances) if coverage < 1 else np.full(instances, voters)
    most = int(counts.max())
    if most == 0:
        raise InputError(f"coverage={coverage} leaves no ballot at all; raise it, or draw more instances or voters")
    step = max(1, NUMBERS_PER_CHUNK // (voters if most * most > voters else most))
    chosen = [_draw_distinct(voters, counts[begin : begin + step], rng) for begin in range(0, instances, step)]
    return np.repeat(np.arange(instances), counts), np.concatenate(chosen)


def _draw_distinct(voters: int, counts: IntArray, rng: np.random.Generator) -> IntArray:
    """For every row that many distinct voters, ascending: few of many by drawing again, else by shuffling all."""
    most = int(counts.max())
    used = np.arange(most) < counts[:, None]
    if most * most > voters:
        drawn = np.argsort(rng.random((len(counts), voters)), axis=1)[:, :most]
        return np.sort(np.where(used, drawn, voters), axis=1)[used]
    drawn = np.empty((len(counts), most), np.int64)
    again = np.arange(len(counts))
    while len(again):
        fresh = rng.integers(voters, size=(len(again), most))
        drawn[again] = np.sort(np.where(used[again], fresh, voters + np.arange(most)), axis=1)
        again = again[np.any(np.diff(drawn[again], axis=1) == 0, axis=1)]
    return drawn[used]


def _draw_ticks(
    members: BoolArray,
    ballot_instance: IntArray,
    ballot_voter: IntArray,
    parameters: Parameters,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray]:
    step = max(1, NUMBERS_PER_CHUNK // members.shape[1])
    ballots, alternatives = [], []
    for begin in range(0, len(ballot_voter), step):
        voter = ballot_voter[begin : begin + step]
        inside = members[ballot_instance[begin : begin + step]]
        rates = np.where(inside, parameters.hit_rates[voter, None], parameters.false_alarm_rates[voter, None])
        ballot, alternative = np.nonzero(rng.random(rates.shape) < rates)
        ballots.append(ballot + begin)
        alternatives.append(alternative)
    return np.concatenate(ballots), np.concatenate(alternatives)


def _truths(instances: tuple[str, ...], alternatives: tuple[str, ...], members: BoolArray) -> Truths:
    return Truths(
        instances, alternatives, np.concatenate([[0], np.cumsum(members.sum(axis=1))]), np.nonzero(members)[1]
    )


def _names(alternatives: int | Iterable[str]) -> tuple[str, ...]:
    if isinstance(alternatives, int):
        return tuple(f"a{j}" for j in range(1, alternatives + 1))
    return as_names(alternatives, "alternative")
