"""Ballots with known truth, drawn from the model or from crowds that break its assumption of independent voters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
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
LARGEST_LOG_ODDS = 36.0  # beyond it 1 - rate is 0 in floating point


class Beta(NamedTuple):
    """Rates drawn from a Beta distribution, one per voter."""

    a: float
    b: float


GOOD_HITS = Beta(6, 3)
FEW_FALSE_ALARMS = Beta(2, 12)


@dataclass(frozen=True)
class Simulation:
    """Ballots, the sets behind them, the rates they were drawn with, and of every copy the voter it repeats."""

    ballots: Ballots
    gold: Truths
    parameters: Parameters
    copied_from: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Dependence:
    """How voters depend on each other; all 0 is the model, in which they err independently."""

    copies: float = 0.0
    shared_mistakes: float = 0.0
    difficulty: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is not a share, or not a spread."""
        for name in ("copies", "shared_mistakes"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name}={getattr(self, name)} must be a share between 0 and 1")
        if not (isfinite(self.difficulty) and self.difficulty >= 0):
            raise InputError(f"difficulty={self.difficulty} must be 0 or a positive number, such as 0.5")


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
    copies: float = 0.0,
    shared_mistakes: float = 0.0,
    difficulty: float = 0.0,
    seed: int | np.random.Generator = 0,
) -> Simulation:
    """Truths and ballots drawn from the model; everything needed to check an estimate comes back.

    Sets are drawn with the given priors under the size bounds, or taken from `truths`. Every instance is answered by
    exactly `ballots_per_instance` voters at random, or by each voter with probability `coverage`. A share `spammers` of
    the voters tick right and wrong alternatives alike, with a rate uniform between .05 and .6.

    The model assumes that voters err independently. Three options make crowds that do not; with the default of 0 they
    change nothing, and the same seed draws the same ballots as without them.

    Parameters
    ----------
    copies
        Share of the voters who repeat another voter. Copies and the voters they repeat are chosen at random; a voter
        who is repeated is not a copy, and may be repeated several times. On every instance that both answer, the copy
        casts the same ballot; elsewhere the copy answers on its own, with the rates of the voter it repeats. Each
        voter answers the same instances as without copies, so the fewer ballots an instance has, the fewer of them
        are repeated.
    shared_mistakes
        How strongly voters make the same mistakes, between 0 (independently) and 1 (two voters with the same rates
        approve the same alternatives). It is the correlation of a Gaussian copula: a voter approves an alternative if
        sqrt(1 - s) own + sqrt(s) common < Phi^-1(rate), where both numbers are standard normal and `common` is drawn
        once for each alternative of each instance. Hit rates and false-alarm rates stay exactly as given.
    difficulty
        How much instances differ in difficulty: the standard deviation, over instances, of the natural logarithm of a
        factor that multiplies the weight of every voter on the instance (as in GLAD, Whitehill et al. 2009). The
        log-odds of a voter's two rates move towards their mean on hard instances, where both rates become equal in the
        end, and away from it on easy ones. The rates given hold on an instance of median difficulty. With 0.5, one
        instance in six has weights below 0.61 of the usual ones.

    Returns
    -------
    Simulation
        Ballots, sets, rates, and who repeats whom.

    Examples
    --------
    >>> crowd = simulate(instances=50, voters=4, alternatives=5, bounds=(1, 2), copies=0.25)
    >>> (copy, original), = crowd.copied_from.items()
    >>> cast = dict(crowd.ballots.items())
    >>> all(cast[copy, z] == cast[original, z] for z in crowd.ballots.instances)
    True
    """
    dependence = Dependence(copies, shared_mistakes, difficulty)
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
    original = _draw_originals(voters, copies, rng)
    parameters = parameters.changed(per_voter=lambda rates: rates[original])
    approvals = _draw_ticks(members, ballot_instance, ballot_voter, parameters, dependence, rng)
    if copies:
        approvals = approvals.rows(_repeated(ballot_instance, ballot_voter, original))
    ballots = assemble(
        voters=voter_names,
        instances=truths.instances,
        alternatives=names,
        ballot_voter=ballot_voter,
        ballot_instance=ballot_instance,
        approvals=approvals,
    )
    copied = {voter_names[i]: voter_names[original[i]] for i in np.flatnonzero(original != np.arange(voters))}
    return Simulation(ballots, truths, parameters, copied)


def reference_crowd(
    instances: int,
    voters: int,
    alternatives: int,
    upper: int,
    seed: int | np.random.Generator = 0,
    *,
    copies: float = 0.0,
    shared_mistakes: float = 0.0,
    difficulty: float = 0.0,
) -> Simulation:
    """The crowd that figures are measured on, so that they compare.

    True sets have uniform size 1..upper, their alternatives drawn without replacement with weights 1/sqrt(rank); hit
    rates are Beta(6, 3), false-alarm rates Beta(2, 12), a fifth of the voters spam; every instance gets five voters.
    `copies`, `shared_mistakes` and `difficulty` are those of `simulate`: crowds whose voters do not err independently.
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
        copies=copies,
        shared_mistakes=shared_mistakes,
        difficulty=difficulty,
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
            raise InputError(f"{rates} is not a distribution; both numbers must be above 0")
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


def _draw_originals(voters: int, copies: float, rng: np.random.Generator) -> IntArray:
    """Of every voter the one whose ballots it casts: its own number, or that of the voter it repeats."""
    original = np.arange(voters)
    if copies:
        order, count = rng.permutation(voters), round(copies * voters)
        if count == voters:
            raise InputError(f"copies={copies} of {voters} voters leaves nobody to repeat; lower it")
        original[order[:count]] = rng.choice(order[count:], count)
    return original


def _repeated(ballot_instance: IntArray, ballot_voter: IntArray, original: IntArray) -> IntArray:
    """The number of the ballot that each ballot repeats: that of the original on the instance if there, else its own.

    Ballots ascend by instance, then by voter.
    """
    key = ballot_instance * len(original) + ballot_voter
    sought = ballot_instance * len(original) + original[ballot_voter]
    place = np.minimum(np.searchsorted(key, sought), len(key) - 1)
    return np.where(key[place] == sought, place, np.arange(len(key)))


def _draw_ticks(
    members: BoolArray,
    ballot_instance: IntArray,
    ballot_voter: IntArray,
    parameters: Parameters,
    dependence: Dependence,
    rng: np.random.Generator,
) -> Lists:
    """What each ballot approves."""
    step = max(1, NUMBERS_PER_CHUNK // members.shape[1])
    rates_of = _Rates(members, parameters, dependence.difficulty, rng)
    is_below = _Draws(members.shape[1], dependence.shared_mistakes, rng)
    ballots, alternatives = [], []
    for begin in range(0, len(ballot_voter), step):
        instance, voter = ballot_instance[begin : begin + step], ballot_voter[begin : begin + step]
        ballot, alternative = np.nonzero(is_below(rates_of(instance, voter), instance))
        ballots.append(ballot + begin)
        alternatives.append(alternative)
    return Lists.of_pairs(np.concatenate(ballots), np.concatenate(alternatives), len(ballot_voter))


class _Rates:
    """The probability of every tick; harder instances draw both rates of a voter towards each other."""

    def __init__(self, members: BoolArray, parameters: Parameters, difficulty: float, rng: np.random.Generator) -> None:
        self.members, self.parameters = members, parameters
        self.ease = np.exp(-difficulty * rng.standard_normal(len(members))) if difficulty else None

    def __call__(self, instance: IntArray, voter: IntArray) -> FloatArray:
        inside, known = self.members[instance], self.parameters
        if self.ease is None:
            return np.where(inside, known.hit_rates[voter, None], known.false_alarm_rates[voter, None])
        half = known.weights / 2
        middle = log_odds(known.hit_rates) - half
        away = half[voter] * self.ease[instance]
        odds = middle[voter, None] + np.where(inside, away[:, None], -away[:, None])
        return 1 / (1 + np.exp(-np.clip(odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)))


class _Draws:
    """Whether random numbers lie below the given rates; on one alternative of an instance they may be correlated.

    Chunks of ballots ascend by instance. What is common to the ballots of an instance comes from a generator of its
    own, so that nothing depends on the size of the chunks.
    """

    def __init__(self, width: int, shared: float, rng: np.random.Generator) -> None:
        self.shared, self.rng = shared, rng
        if shared:
            self.common_rng = np.random.default_rng(int(rng.integers(1 << 63)))
            self.common, self.n_drawn = np.empty((0, width)), 0

    def __call__(self, rates: FloatArray, instance: IntArray) -> BoolArray:
        if not self.shared:
            return self.rng.random(rates.shape) < rates
        from scipy.special import ndtri  # only here, so that drawing from the model does not load scipy

        fresh = self.common_rng.standard_normal((int(instance[-1]) + 1 - self.n_drawn, rates.shape[1]))
        self.common = np.concatenate([self.common[-1:], fresh])  # the last instance may go on from the last chunk
        self.n_drawn += len(fresh)
        latent = np.sqrt(1 - self.shared) * self.rng.standard_normal(rates.shape)
        latent += np.sqrt(self.shared) * self.common[instance - (self.n_drawn - len(self.common))]
        ticked: BoolArray = latent < ndtri(rates)
        return ticked


def _truths(instances: tuple[str, ...], alternatives: tuple[str, ...], members: BoolArray) -> Truths:
    return Truths(
        instances, alternatives, np.concatenate([[0], np.cumsum(members.sum(axis=1))]), np.nonzero(members)[1]
    )


def _names(alternatives: int | Iterable[str]) -> tuple[str, ...]:
    if isinstance(alternatives, int):
        return tuple(f"a{j}" for j in range(1, alternatives + 1))
    return as_names(alternatives, "alternative")
