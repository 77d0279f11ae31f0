"""Rates known: the most likely set of every instance (Theorem 1)."""

from __future__ import annotations

import itertools

from epivote.data.any_ballots import AnyBallots
from epivote.data.bounds import BoundsLike, SizeBounds
from epivote.data.estimate import Estimate
from epivote.data.names import FloatArray
from epivote.data.parameters import Parameters, RateLike, align_rates
from epivote.engines.gold import Gold
from epivote.estimate.base import RatedEstimator
from epivote.estimate.climb import State
from epivote.estimate.history import History, refuse_history
from epivote.estimate.objectives import priors_differ
from epivote.estimate.outcome import rated_estimate
from epivote.estimate.workload import InMemoryWorkload, workload
from epivote.model.choose import count_optimal, optimal_sets
from epivote.model.likelihood import log_likelihood_of


class MaximumLikelihood(RatedEstimator):
    """The most likely sets when all rates are known.

    Each rate is one number for all, a mapping by name, or a row in the order of `ballots.voters` (`.alternatives`).

    Examples
    --------
    >>> from epivote import Ballots
    >>> ballots = Ballots.from_mapping({("ann", "q1"): {"a"}, ("bo", "q1"): {"a", "b"}})
    >>> MaximumLikelihood(hit_rates=0.8, false_alarm_rates=0.3, bounds=1).fit_predict(ballots)
    Truths(q1: {a})
    """

    def __init__(
        self,
        hit_rates: RateLike,
        false_alarm_rates: RateLike,
        priors: RateLike = 0.5,
        bounds: BoundsLike = (0, None),
    ) -> None:
        self.hit_rates = hit_rates
        self.false_alarm_rates = false_alarm_rates
        self.priors = priors
        self.bounds = bounds

    def _run(self, ballots: AnyBallots, gold: Gold | None, history: History | None) -> Estimate:
        parameters = Parameters(
            align_rates(self.hit_rates, ballots.voters, "hit rates"),
            align_rates(self.false_alarm_rates, ballots.voters, "false-alarm rates"),
            align_rates(self.priors, ballots.alternatives, "priors"),
        )
        refuse_history(self, history)
        work = workload(ballots, SizeBounds.of(self.bounds), gold)
        statistics = work.hard_step(parameters, by_menu=priors_differ(parameters))
        value = log_likelihood_of(statistics, parameters)
        return rated_estimate(work, State.known(parameters, statistics, value), sets_from=parameters)

    def count_optimal_sets(self, instance: str) -> int:
        """How many sets of this instance are exactly as likely as the returned one, itself included."""
        return count_optimal(*self._row(instance))

    def optimal_sets(self, instance: str, most: int = 1000) -> list[frozenset[str]]:
        """All most likely sets of one instance, the returned one first; at most `most` of them."""
        offered = self.estimate_.ballots.offered(instance)
        found = itertools.islice(optimal_sets(*self._row(instance)), most)
        return [frozenset(offered[j] for j in members) for members in found]

    def _row(self, instance: str) -> tuple[FloatArray, int, int]:
        ballots = self.estimate_.ballots
        one = InMemoryWorkload(ballots.select(instances=[instance]), self.estimate_.bounds)
        return one.margins(self.estimate_.parameters)[0][0], one.shards[0].lower, one.shards[0].upper
