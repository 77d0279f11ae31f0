"""Simulated crowds of every kind: voters of a mix, answering everything or little."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from epivote import Simulation, simulate

Rates = tuple[NDArray[np.float64], NDArray[np.float64]]
ALTERNATIVES, BOUNDS, PRIOR = 5, (1, 2), 0.3


def mixed(voters: int, rng: np.random.Generator) -> Rates:
    """Everybody fair, some better: hit rates Beta(6, 3), false-alarm rates Beta(2, 12)."""
    return rng.beta(6, 3, voters), rng.beta(2, 12, voters)


def polarised(voters: int, rng: np.random.Generator) -> Rates:
    """A quarter experts, the rest poor."""
    return _with_experts(_poor(voters, rng), voters, rng)


def spammed(voters: int, rng: np.random.Generator) -> Rates:
    """A quarter experts, the rest tick right and wrong alike."""
    _, rates = _poor(voters, rng)
    return _with_experts((rates, rates), voters, rng)


def adversarial(share: float) -> Callable[[int, np.random.Generator], Rates]:
    """A mixed crowd of which this share ticks what is wrong and leaves what is right."""

    def draw(voters: int, rng: np.random.Generator) -> Rates:
        hits, alarms = mixed(voters, rng)
        against = np.arange(voters) < round(share * voters)
        return np.where(against, alarms, hits), np.where(against, hits, alarms)

    return draw


def spamming(share: float) -> Callable[[int, np.random.Generator], Rates]:
    """A mixed crowd of which this share ticks right and wrong alike."""

    def draw(voters: int, rng: np.random.Generator) -> Rates:
        hits, alarms = mixed(voters, rng)
        alike = rng.uniform(0.05, 0.6, voters)
        spam = np.arange(voters) < round(share * voters)
        return np.where(spam, alike, hits), np.where(spam, alike, alarms)

    return draw


MIXES: dict[str, Callable[[int, np.random.Generator], Rates]] = {
    "mixed": mixed,
    "polarised": polarised,
    "spammed": spammed,
    "adversaries": adversarial(0.3),
}


def draw_crowd(
    mix: Callable[[int, np.random.Generator], Rates],
    rng: np.random.Generator,
    *,
    voters: int,
    instances: int,
    coverage: float = 1.0,
    ballots_per_instance: int | None = None,
) -> Simulation:
    """Five alternatives, one or two of them right, voters of the mix."""
    hit_rates, false_alarm_rates = mix(voters, rng)
    return simulate(
        instances=instances,
        voters=voters,
        alternatives=ALTERNATIVES,
        bounds=BOUNDS,
        hit_rates=hit_rates,
        false_alarm_rates=false_alarm_rates,
        priors=PRIOR,
        coverage=coverage,
        ballots_per_instance=ballots_per_instance,
        seed=rng,
    )


def _experts(voters: int) -> int:
    return max(1, round(voters / 4))


def _poor(voters: int, rng: np.random.Generator) -> Rates:
    others = voters - _experts(voters)
    return rng.uniform(0.3, 0.6, others), rng.uniform(0.2, 0.5, others)


def _with_experts(poor: Rates, voters: int, rng: np.random.Generator) -> Rates:
    experts = _experts(voters)
    good = rng.uniform(0.8, 0.95, experts), rng.uniform(0.02, 0.1, experts)
    return np.concatenate([good[0], poor[0]]), np.concatenate([good[1], poor[1]])
