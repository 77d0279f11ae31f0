"""How many voters per question: accuracy to expect, by simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epivote.data.bounds import BoundsLike
from epivote.data.estimate import Estimate
from epivote.data.parameters import Parameters
from epivote.errors import InputError
from epivote.estimate.maximum_likelihood import MaximumLikelihood
from epivote.evaluate.intervals import Interval
from epivote.evaluate.metrics import score
from epivote.simulation import simulate

USUAL = (1, 2, 3, 5, 7, 10, 15, 20, 30)  # ballots per instance in the table; round numbers
MOST_BALLOTS = 200  # per instance, beyond which no plan is practical; a round number


@dataclass(frozen=True)
class PlanPoint:
    """What to expect with this many ballots per instance: sets exactly right, and alternatives decided rightly."""

    ballots: int
    exact: Interval
    hamming: Interval


@dataclass(frozen=True)
class Plan:
    """Accuracy against ballots per instance, and the smallest number that reaches the target (None: over 200)."""

    points: tuple[PlanPoint, ...]
    target: float
    needed: int | None


def plan(
    parameters: Parameters,
    bounds: BoundsLike,
    *,
    target: float = 0.95,
    instances: int = 2000,
    seed: int | np.random.Generator = 0,
) -> Plan:
    """Accuracy to expect from 1, 2, 3, ... voters per instance, drawn at random from those with the given rates.

    Sets are drawn with the given priors under the bounds, ballots from the voters' rates, and decided by the rule that
    knows the rates: what a crowd reaches once its voters are known. Intervals are those of the simulation. Where more
    ballots are asked for than there are voters, more voters like them are imagined.
    """
    if not 0 < target < 1:
        raise InputError(f"target={target} must be a share between 0 and 1, such as 0.95")
    number = int(seed.integers(1 << 32)) if isinstance(seed, np.random.Generator) else seed
    known: dict[int, PlanPoint] = {}

    def point(ballots: int) -> PlanPoint:
        if ballots not in known:
            known[ballots] = _simulated(parameters, bounds, ballots, instances, number)
        return known[ballots]

    for ballots in USUAL:
        point(ballots)
    low, high = 0, 1
    while point(high).exact.mean < target and high < MOST_BALLOTS:
        low, high = high, min(2 * high, MOST_BALLOTS)
    if point(high).exact.mean < target:
        return Plan(tuple(known[each] for each in sorted(known)), target, None)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if point(middle).exact.mean >= target else (middle, high)
    return Plan(tuple(known[each] for each in sorted(known)), target, high)


def typical_parameters(estimate: Estimate) -> Parameters:
    """The voters of an estimate with its alternatives; where menus differ, as many as a mean menu, with one prior."""
    known = estimate.parameters
    if estimate.ballots.menu is None:
        return known
    width = max(1, round(float(estimate.ballots.menu_sizes.mean())))
    return known.changed(priors=lambda priors: np.full(width, float(priors.mean())))


def _simulated(parameters: Parameters, bounds: BoundsLike, ballots: int, instances: int, seed: int) -> PlanPoint:
    rng = np.random.default_rng([seed, ballots])
    pool = len(parameters.hit_rates)
    whole, rest = divmod(max(ballots, pool), pool)
    chosen = np.concatenate([np.tile(np.arange(pool), whole), rng.permutation(pool)[:rest]])
    hit_rates, false_alarm_rates = parameters.hit_rates[chosen], parameters.false_alarm_rates[chosen]
    drawn = simulate(
        instances=instances,
        voters=len(chosen),
        alternatives=len(parameters.priors),
        bounds=bounds,
        hit_rates=hit_rates,
        false_alarm_rates=false_alarm_rates,
        priors=parameters.priors,
        ballots_per_instance=ballots,
        seed=rng,
    )
    rule = MaximumLikelihood(hit_rates, false_alarm_rates, parameters.priors, bounds)
    scores = score(rule.fit(drawn.ballots).truth_, drawn.gold, drawn.ballots)
    return PlanPoint(ballots, scores.zero_one, scores.hamming)
