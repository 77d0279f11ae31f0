"""From where the iterations ended to an estimate, in one piece or block by block."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from epivote.data.estimate import Estimate, Posterior, Status, VoterCounts
from epivote.data.names import IntArray
from epivote.data.parameters import Parameters
from epivote.data.truths import Truths
from epivote.estimate.task import Steps, Task
from epivote.model.statistics import Statistics


def rated_estimate(
    task: Steps,
    sets_from: Parameters,
    parameters: Parameters,
    statistics: Statistics,
    log_likelihoods: tuple[float, ...],
    status: Status,
    *earlier: Parameters,
    settling_iterations: int = 0,
) -> Estimate:
    """An estimate with the most likely sets under `sets_from`, the parameters that led to `parameters`.

    Ties of `earlier` steps count too. Sets, posterior and ties are worked out when first asked for.
    """
    rest = parameters, statistics, log_likelihoods, status, *earlier
    return Estimate(
        task.ballots,
        task.bounds,
        parameters,
        voter_counts(statistics),
        log_likelihoods,
        status,
        frozenset(task.gold),
        partial(_truths, task, sets_from),
        partial(_posterior, task, sets_from, parameters),
        partial(_ties, task, sets_from, *earlier),
        None if isinstance(task, Task) else partial(_parts, task, sets_from, *rest),
        settling_iterations,
    )


def _parts(task: Steps, sets_from: Parameters, *rest: object) -> Iterator[Estimate]:
    for part in task.parts():
        yield rated_estimate(part, sets_from, *rest)  # type: ignore[arg-type]


def _truths(task: Steps, sets_from: Parameters) -> Truths:
    return joined_truths([part.truths(part.truth_step(sets_from)) for part in task.parts()])


def _posterior(task: Steps, sets_from: Parameters, parameters: Parameters) -> Posterior:
    found = [part.posterior(parameters, part.truth_step(sets_from)) for part in task.parts()]
    inclusion, probabilities = zip(*((each.inclusion, each.set_probabilities) for each in found), strict=True)
    return Posterior(np.concatenate(inclusion), np.concatenate(probabilities))


def _ties(task: Steps, *steps: Parameters) -> tuple[str, ...]:
    return tuple(name for part in task.parts() for name in part.ties(*steps))


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
