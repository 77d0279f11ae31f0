"""Which instances need more votes, and about how many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epivote.data.estimate import Estimate
from epivote.data.names import FloatArray
from epivote.data.parameters import Parameters
from epivote.estimate.task import Task
from epivote.model.best_sets import best_sets
from epivote.model.choose import choose
from epivote.model.posterior import log_partition_and_inclusion, set_probabilities
from epivote.model.sets import draw_sets

DRAWS = 200
MOST_BALLOTS = 64


@dataclass(frozen=True)
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


def review(estimate: Estimate, threshold: float, most: int, seed: int | np.random.Generator) -> list[Doubt]:
    """Instances whose confidence is below `threshold`, most doubtful first; the first `most` with ballots to come.

    The number of further ballots is the smallest for which the confidence expected after them reaches the threshold:
    sets are drawn from the posterior, ballots of a voter with the crowd's mean rates from each set, and the confidence
    is averaged.
    """
    assert estimate.posterior is not None
    rng = np.random.default_rng(seed)
    confidence = estimate.posterior.set_probabilities
    doubtful = [int(z) for z in np.argsort(confidence, kind="stable") if confidence[z] < threshold]
    average = _average_voter(estimate)
    task = Task(estimate.ballots, estimate.bounds)
    place = {int(z): (s, r) for s, shard in enumerate(task.shards) for r, z in enumerate(shard.instances)}
    tables = task.margins(estimate.parameters)
    cast = np.diff(estimate.ballots.ballot_start)
    found = []
    for position, z in enumerate(doubtful):
        name = estimate.ballots.instances[z]
        s, r = place[z]
        margins, lower, upper = tables[s][r], task.shards[s].lower, task.shards[s].upper
        offered = estimate.ballots.offered(name)
        answer = tuple(estimate.truths.listed(name))
        rivals = [
            (tuple(offered[c] for c in members), probability)
            for probability, members in best_sets(margins, lower, upper, 2)
        ]
        rival, chance = next((pair for pair in rivals if pair[0] != answer), ((), 0.0))
        more = _ballots_to_settle(margins, lower, upper, threshold, average, rng) if position < most else None
        found.append(Doubt(name, float(confidence[z]), answer, rival, chance, int(cast[z]), more))
    return found


def _average_voter(estimate: Estimate) -> Parameters:
    counts = estimate.counts
    hits = counts.hits.sum() / max(counts.winners_seen.sum(), 1e-9)
    alarms = counts.false_alarms.sum() / max(counts.losers_seen.sum(), 1e-9)
    p, q = np.clip([[hits], [alarms]], 1e-3, 1 - 1e-3)
    return Parameters(p, q, np.array([0.5]))


def _ballots_to_settle(
    margins: FloatArray, lower: int, upper: int, threshold: float, voter: Parameters, rng: np.random.Generator
) -> int | None:
    truth = draw_sets(margins, lower, upper, DRAWS, rng)
    rates = np.where(truth, voter.hit_rates[0], voter.false_alarm_rates[0])
    ticks = np.cumsum(rng.random((MOST_BALLOTS, *truth.shape)) < rates, axis=0)

    def expected_confidence(ballots: int) -> float:
        new = margins + ticks[ballots - 1] * voter.weights[0] - ballots * voter.thresholds[0]
        log_partition, _ = log_partition_and_inclusion(new, lower, upper)
        return float(set_probabilities(new, choose(new, lower, upper), log_partition).mean())

    if expected_confidence(MOST_BALLOTS) < threshold:
        return None
    low, high = 0, MOST_BALLOTS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if expected_confidence(middle) >= threshold else (middle, high)
    return high
