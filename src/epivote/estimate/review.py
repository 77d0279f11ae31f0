"""Which instances need more votes, and about how many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epivote.data.estimate import Estimate
from epivote.data.names import IntArray
from epivote.data.ordering import smallest
from epivote.data.parameters import Parameters
from epivote.data.truths import Truths
from epivote.errors import InputError
from epivote.estimate.workload import InMemoryWorkload
from epivote.model.choose import TIE_DECIMALS
from epivote.model.set_odds import SetOdds

SURE = 0.95  # confidence from which a set needs no second look; the usual 95 %
DRAWS = 200  # simulated truths per instance: the expected confidence is known to about .03
MOST_BALLOTS = 64  # further ballots looked ahead; where more are needed no number is given


@dataclass(frozen=True, slots=True)
class Doubt:
    """One doubtful instance: its set, the strongest rival, and how many more average ballots would settle it.

    `more_ballots` is None where more than 64 would be needed, or where it was not worked out.
    """

    instance: str
    confidence: float
    answer: tuple[str, ...]
    rival: tuple[str, ...]
    rival_probability: float
    ballots: int
    more_ballots: int | None


def check_threshold(threshold: float) -> None:
    """Refuse what is not a probability above 0."""
    if not isinstance(threshold, (int, float)) or not 0 < threshold <= 1:
        raise InputError(f"threshold={threshold!r} must be a probability above 0")


def review(
    estimate: Estimate, threshold: float, most: int, seed: int | np.random.Generator, limit: int | None = None
) -> list[Doubt]:
    """Instances whose confidence is below `threshold`, most doubtful first; the first `most` with ballots to come.

    The number of further ballots is the smallest for which the confidence expected after them reaches the threshold:
    sets are drawn from the posterior, ballots of a voter with the crowd's mean rates from each set, and the confidence
    is averaged. With a calibration, further ballots count as much as it lets the present ones count.
    """
    assert estimate.confidence is not None
    confidence = estimate.confidence
    doubtful = np.flatnonzero(confidence < threshold)
    alike = np.round(confidence[doubtful], TIE_DECIMALS)  # so that their order does not depend on rounding
    doubtful = doubtful[smallest(alike, limit)]
    more = _further_ballots(estimate, doubtful[:most], threshold, np.random.default_rng(seed))
    found: dict[int, Doubt] = {}
    sets: dict[tuple[str, ...], tuple[str, ...]] = {}  # every set once, since there may be very many doubts
    places = np.sort(doubtful)
    for part in estimate.parts(places):
        work = InMemoryWorkload(part.ballots.in_memory(), estimate.bounds)
        rivals = _rivals(work, work.set_odds(estimate.parameters, estimate.calibration), part.truths)
        here, places = places[: len(part.truths)], places[len(part.truths) :]
        cast = part.ballots.cast_per_instance.tolist()
        for row, (z, name) in enumerate(zip(here.tolist(), part.truths.instances, strict=True)):
            answer, (rival, chance) = tuple(part.truths.listed(name)), rivals[row]
            both = sets.setdefault(answer, answer), sets.setdefault(rival, rival)
            found[z] = Doubt(name, float(confidence[z]), *both, chance, cast[row], more.get(z))
    return [found[z] for z in doubtful.tolist()]


def _further_ballots(
    estimate: Estimate, places: IntArray, threshold: float, rng: np.random.Generator
) -> dict[int, int | None]:
    """About how many further ballots settle each of these instances, the most doubtful first."""
    if len(places) == 0:
        return {}
    average = _average_voter(estimate)
    effect = 1.0 if estimate.calibration is None else estimate.calibration.scale
    work = InMemoryWorkload(estimate.ballots.rows(np.sort(places)), estimate.bounds)
    beliefs, at = work.set_odds(estimate.parameters, estimate.calibration), _places(work)
    rows = np.argsort(np.argsort(places))
    return {
        z: _ballots_to_settle(beliefs[at[row, 0]], int(at[row, 1]), threshold, average, effect, rng)
        for z, row in zip(places.tolist(), rows.tolist(), strict=True)
    }


def _places(work: InMemoryWorkload) -> IntArray:
    """Shard and row of every instance."""
    place = np.empty((work.ballots.n_instances, 2), np.int64)
    for s, shard in enumerate(work.shards):
        place[shard.instances] = np.stack([np.full(len(shard.instances), s), np.arange(len(shard.instances))], axis=1)
    return place


def _rivals(work: InMemoryWorkload, beliefs: list[SetOdds], truths: Truths) -> dict[int, tuple[tuple[str, ...], float]]:
    """For every instance the most probable set that is not its answer; an empty one where there is no other."""
    names = work.ballots.alternatives
    answers = work.tables(truths)
    found: dict[int, tuple[tuple[str, ...], float]] = {}
    for shard, odds, answer in zip(work.shards, beliefs, answers, strict=True):
        sets, probabilities = odds.top(2)
        is_answer = np.all(sets == answer[:, None, :], axis=2)
        best = np.argmin(is_answer, axis=1)
        for row, (place, none) in enumerate(zip(best, is_answer.all(axis=1), strict=True)):
            columns = np.flatnonzero(sets[row, place])
            members = columns if shard.offered is None else shard.offered[row, columns]
            rival = tuple(names[j] for j in members)
            found[int(shard.instances[row])] = ((), 0.0) if none else (rival, float(probabilities[row, place]))
    return found


def _average_voter(estimate: Estimate) -> Parameters:
    times = 1.0 if estimate.ballots.multiplicities is None else estimate.ballots.multiplicities
    hits, winners, alarms, losers = (float((times * part).sum()) for part in estimate.counts)
    hits, alarms = hits / max(winners, 1e-9), alarms / max(losers, 1e-9)
    hit_rate, false_alarm_rate = np.clip([hits, alarms], 1e-3, 1 - 1e-3).tolist()
    return Parameters.alike(1, hit_rate, false_alarm_rate, np.array([0.5]))


def _ballots_to_settle(
    odds: SetOdds, row: int, threshold: float, voter: Parameters, effect: float, rng: np.random.Generator
) -> int | None:
    truth = odds.draw(row, DRAWS, rng)
    rates = np.where(truth, voter.hit_rates[0], voter.false_alarm_rates[0])
    ticks = np.cumsum(rng.random((MOST_BALLOTS, *truth.shape)) < rates, axis=0)

    def expected_confidence(ballots: int) -> float:
        pushes = ticks[ballots - 1] * voter.weights[0] - ballots * voter.thresholds[0]
        after = odds.with_evidence(row, effect * pushes)
        return float(after.probabilities(after.best()).mean())

    if expected_confidence(MOST_BALLOTS) < threshold:
        return None
    low, high = 0, MOST_BALLOTS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if expected_confidence(middle) >= threshold else (middle, high)
    return high
