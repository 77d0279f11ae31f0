"""Counts that were not seen but are believed: shrinkage towards the crowd, and what is known of a voter from before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from epivote.data.names import FloatArray, IntArray
from epivote.data.parameters import Parameters
from epivote.model.products import dot
from epivote.model.statistics import Statistics

LEAST_STRENGTH = 0.5  # alternatives' worth of belief in the crowd where rates differ as much as can be; a round number
MOST_STRENGTH = 1000.0  # likewise; voters who seem to differ less than this allows are all but alike; a round number
# The same where it cannot be estimated, because there are fewer than three voters or all have one trial: they differ as
# voters do in the reference crowds, Beta(6, 3) and Beta(2, 12), whose strengths are 9 and 14.
USUAL_STRENGTH = 10.0
LEAST_RATE = 1e-3  # of the whole crowd, and at most 1 less this; a round number
UNSEEN = 0.5  # successes, or failures, that a crowd which never had any in few trials is believed to have (Jeffreys)
ROUNDING = 1e-9  # share of all trials below which what is left of them is rounding, as where everyone has one trial
BELIEVED_PER_GROUP = 1.0  # instances believed in every group, so that none vanishes; a round number


class GroupBelief(NamedTuple):
    """Belief that every group has these priors, worth so many instances."""

    priors: FloatArray
    weight: float

    def log_density(self, parameters: Parameters) -> float:
        """What the belief adds to the objective, the one in every group's size included."""
        assert parameters.group_priors is not None
        assert parameters.group_shares is not None
        present, absent = np.log(parameters.group_priors), np.log1p(-parameters.group_priors)
        alike = float(np.sum(self.priors * present + (1 - self.priors) * absent))
        return self.weight * alike + BELIEVED_PER_GROUP * float(np.log(parameters.group_shares).sum())


@dataclass(frozen=True)
class PseudoCounts:
    """Per voter: ticks and non-ticks believed on right and on wrong alternatives. Per alternative: believed in and out.

    They multiply the likelihood like real counts, so their logarithm is added to the objective.
    """

    hits: FloatArray
    misses: FloatArray
    false_alarms: FloatArray
    rejections: FloatArray
    prior_in: float = 0.0
    prior_out: float = 0.0
    groups: GroupBelief | None = None

    @classmethod
    def none(cls, n_voters: int) -> PseudoCounts:
        """No belief beyond the data."""
        zero = np.zeros(n_voters)
        return cls(zero, zero, zero, zero)

    @cached_property
    def of_voters(self) -> bool:
        """Whether anything is believed of any voter."""
        return any(counts.any() for counts in (self.hits, self.misses, self.false_alarms, self.rejections))

    def __add__(self, other: PseudoCounts) -> PseudoCounts:
        """Both beliefs together."""
        return PseudoCounts(
            self.hits + other.hits,
            self.misses + other.misses,
            self.false_alarms + other.false_alarms,
            self.rejections + other.rejections,
            self.prior_in + other.prior_in,
            self.prior_out + other.prior_out,
        )

    def log_density(self, parameters: Parameters, multiplicities: IntArray | None = None) -> float:
        """What the belief adds to the objective; that about a voter as often as she stands for."""
        if self.groups is not None:
            rest = replace(self, groups=None).log_density(parameters, multiplicities)
            return self.groups.log_density(parameters) + rest
        if not (self.of_voters or self.prior_in or self.prior_out):
            return 0.0
        logs, times = parameters.logs, 1.0 if multiplicities is None else multiplicities
        return float(
            dot(times * self.hits, logs.hit)
            + dot(times * self.misses, logs.miss)
            + dot(times * self.false_alarms, logs.false_alarm)
            + dot(times * self.rejections, logs.rejection)
            + np.sum(self.prior_in * logs.present + self.prior_out * logs.absent)
        )


def shrinkage(statistics: Statistics, *, strength: float | None, with_priors: bool) -> PseudoCounts:
    """Belief that every voter is like the crowd and every alternative like the others.

    Its weight is `strength` ballots' worth of alternatives; where that is None it is estimated from how much the rates
    differ beyond what chance explains (empirical Bayes, by moments).
    """
    n_voters, times = len(statistics.hits), statistics.multiplicities
    hit_rate, hit_strength = _crowd(statistics.hits, statistics.winners_seen, strength, times)
    alarm_rate, alarm_strength = _crowd(statistics.false_alarms, statistics.losers_seen, strength, times)
    prior, prior_strength = 0.5, 0.0
    if with_priors:
        prior, prior_strength = _crowd(statistics.occurrences, statistics.offered, strength)
    return PseudoCounts(
        np.full(n_voters, hit_rate * hit_strength),
        np.full(n_voters, (1 - hit_rate) * hit_strength),
        np.full(n_voters, alarm_rate * alarm_strength),
        np.full(n_voters, (1 - alarm_rate) * alarm_strength),
        prior * prior_strength,
        (1 - prior) * prior_strength,
    )


def _crowd(
    successes: FloatArray, trials: FloatArray, strength: float | None, multiplicities: IntArray | None = None
) -> tuple[float, float]:
    """Mean rate and strength of the Beta distribution that the rates seem to come from.

    The moment equation: sum of trials (rate - mean)^2 is expected to be mean (1 - mean) times
    (groups - 1) + correlation * (trials - sum of trials^2 / trials - (groups - 1)), and strength = 1/correlation - 1.
    """
    times: IntArray = np.ones(len(trials), np.int64) if multiplicities is None else multiplicities
    total = float((times * trials).sum())
    if total == 0:
        return 0.5, 0.0
    least = max(LEAST_RATE, UNSEEN / (total + 2 * UNSEEN))
    mean = min(max(float((times * successes).sum()) / total, least), 1 - least)
    if strength is not None:
        return mean, strength
    seen = trials > 0
    successes, trials, times = successes[seen], trials[seen], times[seen]
    groups = int(times.sum())
    room = total - float((times * trials**2).sum()) / total - (groups - 1)
    if groups < 3 or room <= ROUNDING * total:
        return mean, USUAL_STRENGTH
    spread = float((times * trials * (successes / trials - mean) ** 2).sum()) / (mean * (1 - mean))
    correlation = (spread - (groups - 1)) / room
    if correlation <= 1 / (1 + MOST_STRENGTH):
        return mean, MOST_STRENGTH
    return mean, max(LEAST_STRENGTH, 1 / correlation - 1)
