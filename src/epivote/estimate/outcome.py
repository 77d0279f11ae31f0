"""From where the iterations ended to an estimate, in one piece or block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.calibration import Calibration
from epivote.data.estimate import Estimate, Posterior, VoterCounts
from epivote.data.names import FloatArray
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
        belief=reached.belief,
        status=reached.status,
        gold=frozenset(work.gold),
        compute_truths=partial(_truths, work, sets_from),
        compute_posterior=partial(_posterior, work, sets_from, reached.parameters),
        compute_ties=partial(_ties, work, *(ties_at or (sets_from,))),
        compute_part=partial(_part, work, reached, sets_from, ties_at) if work.has_parts else None,
        settling_iterations=reached.settling,
        compute_groups=partial(_groups, work, reached.parameters) if reached.parameters.n_groups else None,
    )


def calibrated_estimate(work: Workload, estimate: Estimate, calibration: Calibration) -> Estimate:
    """The same rates and priors, with sets and posterior from calibrated log-odds and the gold sets of `work`."""
    parameters = estimate.parameters
    return replace(
        estimate,
        gold=frozenset(work.gold),
        calibration=calibration,
        compute_truths=partial(_truths, work, parameters, calibration),
        compute_posterior=partial(_posterior, work, parameters, parameters, calibration),
        compute_uncalibrated=partial(_model_posterior, work, parameters, calibration) if estimate.is_rated else None,
        compute_ties=partial(_ties, work, parameters, calibration=calibration),
        compute_part=partial(_calibrated_part, work, estimate, calibration) if work.has_parts else None,
        compute_groups=partial(_groups, work, parameters, calibration) if parameters.n_groups else None,
        compute_model_confidence=partial(_model_confidence, work, parameters, calibration)
        if estimate.is_rated
        else None,
    )


def _part(
    work: Workload, reached: State, sets_from: Parameters, ties_at: Sequence[Parameters] | None, ballots: Ballots
) -> Estimate:
    return rated_estimate(work.part(ballots), reached, sets_from=sets_from, ties_at=ties_at)


def _calibrated_part(work: Workload, estimate: Estimate, calibration: Calibration, ballots: Ballots) -> Estimate:
    return calibrated_estimate(work.part(ballots), replace(estimate, ballots=ballots), calibration)


def _truths(work: Workload, sets_from: Parameters, calibration: Calibration | None = None) -> Truths:
    return Truths.joined(part.truths(part.best_sets(sets_from, calibration)) for part in work.parts())


def _posterior(
    work: Workload, sets_from: Parameters, parameters: Parameters, calibration: Calibration | None = None
) -> Posterior:
    return _joined_posteriors(
        [part.posterior(parameters, part.best_sets(sets_from, calibration), calibration) for part in work.parts()]
    )


def _model_posterior(work: Workload, parameters: Parameters, calibration: Calibration) -> Posterior:
    """What the model says of the sets that calibrated log-odds chose."""
    return _joined_posteriors(
        [part.posterior(parameters, part.best_sets(parameters, calibration)) for part in work.parts()]
    )


def _model_confidence(work: Workload, parameters: Parameters, calibration: Calibration) -> FloatArray:
    """The set probabilities of that posterior alone, without one number for every alternative of every instance."""
    return np.concatenate(
        [part.set_probabilities(parameters, part.best_sets(parameters, calibration)) for part in work.parts()]
    )


def _groups(work: Workload, parameters: Parameters, calibration: Calibration | None = None) -> FloatArray:
    return np.concatenate([part.group_probabilities(parameters, calibration) for part in work.parts()])


def _joined_posteriors(parts: Sequence[Posterior]) -> Posterior:
    if len(parts) == 1:
        return parts[0]
    inclusion, probabilities = zip(*((each.inclusion, each.set_probabilities) for each in parts), strict=True)
    return Posterior(np.concatenate(inclusion), np.concatenate(probabilities))


def _ties(work: Workload, *steps: Parameters, calibration: Calibration | None = None) -> tuple[str, ...]:
    return tuple(name for part in work.parts() for name in part.ties(*steps, calibration=calibration))


def voter_counts(statistics: Statistics) -> VoterCounts:
    """The part of the statistics that is about voters."""
    return VoterCounts(statistics.hits, statistics.winners_seen, statistics.false_alarms, statistics.losers_seen)
