"""How many ballots per instance: accuracy to expect, by simulation, and checked by thinning ballots.

A simulation draws voters who err independently of each other. Real voters share mistakes, so that further ballots help
less than it says. Where there are ballots, leaving some of them out shows how much a smaller number was worth.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.bounds import BoundsLike
from epivote.data.estimate import Estimate
from epivote.data.lists import Lists
from epivote.data.names import IntArray, listing, starts_of
from epivote.data.parameters import Parameters
from epivote.errors import CrowdWarning, InputError
from epivote.estimate.base import Estimator
from epivote.estimate.maximum_likelihood import MaximumLikelihood
from epivote.evaluate.intervals import Interval, mean_interval, share_interval
from epivote.evaluate.metrics import Comparison, compare, score
from epivote.simulation import simulate

USUAL = (1, 2, 3, 5, 7, 10, 15, 20, 30)  # ballots per instance in the table; round numbers
MOST_BALLOTS = 200  # per instance, beyond which no plan is practical; a round number
MOST_TYPICAL = 1000  # voters to draw from where the voters of an estimate stand for more; a round number
ENOUGH_SETS = 100  # sets to compare for one point; fewer instances are thinned several times; a round number

SetMapping = Mapping[str, Iterable[str]]


@dataclass(frozen=True)
class PlanPoint:
    """What to expect with this many ballots per instance: sets exactly right, and alternatives decided rightly."""

    ballots: int
    exact: Interval
    hamming: Interval


@dataclass(frozen=True)
class PlanCheck:
    """What ballots per instance were worth on real ballots, found by leaving some out.

    Attributes
    ----------
    crowd
        Share of the sets, found from that many ballots, that equal those found from all ballots. Only up to half of
        the ballots: with all of them the sets are equal by construction.
    gold
        Share of the sets that equal gold sets; empty without gold.
    available
        Every instance that was compared has at least so many ballots.
    n_instances
        How many instances were thinned and fitted.
    n_compared
        How many of them were compared: those with gold if there is gold, else all.
    n_in_file
        How many instances there are in all.
    """

    crowd: tuple[PlanPoint, ...]
    gold: tuple[PlanPoint, ...]
    available: int
    n_instances: int
    n_compared: int
    n_in_file: int

    @property
    def against(self) -> Literal["gold", "the whole crowd"]:
        """What the sets were compared with."""
        return "gold" if self.gold else "the whole crowd"

    @property
    def points(self) -> tuple[PlanPoint, ...]:
        """The comparison with gold, or else with the sets of the whole crowd."""
        return self.gold or self.crowd

    def needed(self, target: float) -> int | None:
        """The smallest number of ballots per instance that reached the target; None if none did."""
        return next((point.ballots for point in self.points if point.exact.mean >= target), None)


@dataclass(frozen=True)
class Plan:
    """Accuracy against ballots per instance, and the smallest number that reaches the target (None: over 200).

    `points` and `needed` hold for voters who err independently; `check` is what ballots said about that, if any.
    """

    points: tuple[PlanPoint, ...]
    target: float
    needed: int | None
    check: PlanCheck | None = None


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

    All of it holds only for voters who err independently. Voters who make the same mistakes reach less, and more
    ballots help less; `check_plan` tells how much less, where there are ballots.
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


def check_plan(
    fitted: Estimator,
    gold: SetMapping | None = None,
    *,
    choose: Callable[[Ballots], Estimator] | None = None,
    instances: int = 2000,
    seed: int | np.random.Generator = 0,
    progress: Callable[[int], None] | None = None,
) -> PlanCheck:
    """Accuracy of 1, 2, 3, ... ballots per instance, measured by leaving ballots out.

    Of every instance that has enough, so many ballots are drawn at random, and an estimator is fitted anew on them
    alone; its sets are compared with those of the whole crowd, and with gold. This includes whatever mistakes voters
    share, and that reliability has to be learnt from the fewer ballots. The sets of the whole crowd may be wrong, so
    agreement with them is not accuracy: where voters share mistakes it is higher. Gold tells.

    Parameters
    ----------
    fitted
        An estimator after `fit` on all ballots.
    gold
        True sets of some instances, which `fit` was not given.
    choose
        Gives an unfitted estimator for the ballots that were drawn; without it, one with the settings of `fitted`.
    instances
        Of more instances so many are drawn at random, those with gold first. Fewer than 100 are thinned several times.
    seed
        For what is drawn.
    progress
        Called with the number of ballots per instance before it is measured.

    Returns
    -------
    PlanCheck
        One curve against the whole crowd, and one against gold.

    Examples
    --------
    >>> from epivote import EM, simulate
    >>> crowd = simulate(instances=300, voters=12, alternatives=5, bounds=(1, 2), shared_mistakes=0.3)
    >>> found = check_plan(EM((1, 2)).fit(crowd.ballots), crowd.gold)
    >>> for point in found.gold:
    ...     print(point.ballots, f"{point.exact.mean:.2f}")
    1 0.35
    2 0.53
    3 0.54
    5 0.65
    7 0.71
    10 0.75
    """
    if not isinstance(fitted, Estimator):
        raise InputError(f"a check needs a fitted estimator such as EM, not {type(fitted).__name__}")
    rng = np.random.default_rng(seed)
    ballots = fitted.estimate_.ballots
    places = ballots.places(gold or ())
    known = {name: frozenset(right) for name, right in (gold or {}).items() if name in places}
    if gold is not None and not known:
        raise InputError(f"no gold instance has a ballot; gold has {listing(list(gold), 3)}")
    chosen, available = _chosen_instances(ballots, np.array(sorted(places.values()), np.int64), instances, rng)
    few = fitted.estimate_.at(chosen)
    part, whole = few.ballots.in_memory(), few.truths
    right = {name: known[name] for name in part.instances if name in known}
    curves: dict[str, list[PlanPoint]] = {"crowd": [], "gold": []}
    for count in USUAL:
        references: dict[str, Mapping[str, frozenset[str]]] = {"crowd": whole} if count <= available // 2 else {}
        if known and count <= available:
            references["gold"] = right
        if not references:
            break
        if progress is not None:
            progress(count)
        found = _thinned_sets(choose or (lambda _drawn: _unfitted(fitted)), part, count, rng)
        for name, reference in references.items():
            names = right if known else part.instances
            sets = {instance: reference[instance] for instance in names}
            curves[name].append(_measured(count, [compare(each, sets, part) for each in found]))
    n_compared = len(right) if known else part.n_instances
    return PlanCheck(
        tuple(curves["crowd"]), tuple(curves["gold"]), available, part.n_instances, n_compared, ballots.n_instances
    )


def _chosen_instances(
    ballots: AnyBallots, known: IntArray, limit: int, rng: np.random.Generator
) -> tuple[IntArray, int]:
    """Instances to thin, those with gold first, and how many ballots each has at least: three in four have as many."""
    is_known = np.zeros(ballots.n_instances, bool)
    is_known[known] = True
    cast = ballots.cast_per_instance
    asked = is_known if len(known) else cast > 0
    available = int(np.quantile(cast[asked], 0.25, method="inverted_cdf"))
    enough = cast >= available
    order = np.lexsort((rng.random(ballots.n_instances), ~is_known))
    return np.sort(order[enough[order]][:limit]), available


def _unfitted(fitted: Estimator) -> Estimator:
    return type(fitted)(**fitted.get_params())


def _thinned_sets(
    choose: Callable[[Ballots], Estimator], ballots: Ballots, count: int, rng: np.random.Generator
) -> list[SetMapping]:
    """Sets from so many ballots of every instance, drawn anew each time."""
    times = -(-ENOUGH_SETS // ballots.n_instances)
    found: list[SetMapping] = []
    for _ in range(times):
        drawn = thin(ballots, count, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CrowdWarning)
            found.append(choose(drawn).fit(drawn).truth_)
    return found


def thin(ballots: Ballots, count: int, rng: np.random.Generator) -> Ballots:
    """The same instances with at most so many ballots each, drawn at random."""
    if ballots.multiplicities is not None:
        return _thin_alike(ballots, ballots.multiplicities, count, rng)
    order = np.lexsort((rng.random(ballots.n_ballots), ballots.ballot_instance))
    place = np.arange(ballots.n_ballots) - ballots.ballot_start[ballots.ballot_instance]
    kept: IntArray = np.sort(order[place < count])
    ticks = Lists(ballots.approval_start, ballots.approved).rows(kept)
    start = np.concatenate([[0], np.cumsum(np.minimum(ballots.ballots_per_instance, count))])
    return replace(
        ballots,
        ballot_start=start,
        ballot_voter=ballots.ballot_voter[kept],
        approval_start=ticks.start,
        approved=ticks.values,
    )


def _thin_alike(ballots: Ballots, times: IntArray, count: int, rng: np.random.Generator) -> Ballots:
    """The same where voters stand for several: those drawn become voters of their own."""
    first, end = starts_of(times), np.cumsum(times[ballots.ballot_voter])
    begin, cast = starts_of(ballots.cast_per_instance), ballots.cast_per_instance.tolist()
    drawn: IntArray = np.concatenate(
        [
            start + np.sort(rng.choice(k, min(count, k), replace=False))
            for start, k in zip(begin[:-1], cast, strict=True)
        ]
    )
    rows = np.searchsorted(end, drawn, side="right")
    own = first[ballots.ballot_voter[rows]] + drawn - (end[rows] - times[ballots.ballot_voter[rows]])
    people, voter = np.unique(own, return_inverse=True)
    listed = np.searchsorted(first, people, side="right") - 1
    pairs = zip(listed.tolist(), (people - first[listed]).tolist(), strict=True)
    ticks = Lists(ballots.approval_start, ballots.approved).rows(rows)
    return replace(
        ballots,
        voters=tuple(f"{ballots.voters[i]}.{number + 1}" for i, number in pairs),
        ballot_start=starts_of(np.minimum(ballots.cast_per_instance, count)),
        ballot_voter=voter.astype(np.int32),
        approval_start=ticks.start,
        approved=ticks.values,
        multiplicities=None,
    )


def _measured(count: int, repeats: list[Comparison]) -> PlanPoint:
    """Means over instances and repeats; intervals are those of as many sets as there are instances."""
    exact = np.mean([each.zero_one for each in repeats], axis=0)
    decided = np.mean([each.hamming for each in repeats], axis=0)
    wilson = share_interval(round(float(exact.sum())), len(exact))
    mean = float(exact.mean())
    return PlanPoint(
        count,
        Interval(mean, min(wilson.low, mean), max(wilson.high, mean)),
        mean_interval(decided).within(0, 1),
    )


def typical_parameters(estimate: Estimate) -> Parameters:
    """The voters of an estimate with its alternatives; where menus differ, as many as a mean menu, with one prior.

    Of voters who stand for several there are as many, or as large a share of 1,000.
    """
    known, times = estimate.parameters, estimate.ballots.multiplicities
    if times is not None:
        count = min(int(times.sum()), MOST_TYPICAL)
        places = (np.arange(count) + 0.5) * times.sum() / count
        chosen = np.searchsorted(np.cumsum(times), places, side="right")
        known = known.changed(per_voter=lambda rates: rates[chosen])
    if not estimate.ballots.has_menus:
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
