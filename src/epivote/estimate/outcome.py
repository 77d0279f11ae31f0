"""From where the iterations ended to an estimate, in one piece or block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from epivote.data.estimate import Estimate, Posterior, VoterCounts
from epivote.data.names import IntArray
from epivote.data.parameters import Parameters
from epivote.data.truths import Truths
from epivote.estimate.climb import State
from epivote.estimate.workload import Workload
from epivote.model.statistics import Statistics


def rated_estimate(
    work: Workload, reached: State, *, sets_from: Parameters, ties_at: Sequence[Parameters] | None = None
) -> Estimate:
    """An estimate with the most likely sets under `sets_from`, which may be the parameters that led to those reached.

    Ties count where the sets come from, or in the steps `ties_at`. Sets, posterior and ties are worked out when first
    asked for.
    """
    assert reached.statistics is not None
    return Estimate(
        ballots=work.ballots,
        bounds=work.bounds,
        parameters=reached.parameters,
        counts=voter_counts(reached.statistics),
        log_likelihoods=reached.objectives,
        status=reached.status,
        gold=frozenset(work.gold),
        compute_truths=partial(_truths, work, sets_from),
        compute_posterior=partial(_posterior, work, sets_from, reached.parameters),
        compute_ties=partial(_ties, work, *(ties_at or (sets_from,))),
        compute_parts=partial(_parts, work, reached, sets_from, ties_at) if work.has_parts else None,
        settling_iterations=reached.settling,
    )


def _parts(
    work: Workload, reached: State, sets_from: Parameters, ties_at: Sequence[Parameters] | None
) -> Iterator[Estimate]:
    for part in work.parts():
        yield rated_estimate(part, reached, sets_from=sets_from, ties_at=ties_at)


def _truths(work: Workload, sets_from: Parameters) -> Truths:
    return joined_truths([part.truths(part.truth_step(sets_from)) for part in work.parts()])


def _posterior(work: Workload, sets_from: Parameters, parameters: Parameters) -> Posterior:
    found = [part.posterior(parameters, part.truth_step(sets_from)) for part in work.parts()]
    inclusion, probabilities = zip(*((each.inclusion, each.set_probabilities) for each in found), strict=True)
    return Posterior(np.concatenate(inclusion), np.concatenate(probabilities))


def _ties(work: Workload, *steps: Parameters) -> tuple[str, ...]:
    return tuple(name for part in work.parts() for name in part.ties(*steps))


def joined_truths(parts: list[Truths]) -> Truths:
    """The sets of several parts as one."""
    if len(parts) == 1:
        return parts[0]
    sizes: IntArray = np.concatenate([np.diff(part.start) for part in parts])
    return Truths(
        tuple(name for part in parts for name in part.instances),
        parts[0].alternatives,
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([part.members for part in parts]),
    )


def voter_counts(statistics: Statistics) -> VoterCounts:
    """The part of the statistics that is about voters."""
    return VoterCounts(statistics.hits, statistics.winners_seen, statistics.false_alarms, statistics.losers_seen)
