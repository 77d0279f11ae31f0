"""The paper's formulas written out with plain sums over sets: slow, short, and independent of the package."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations
from math import exp, log, prod


def size_mass(lower: int, upper: int, priors: Sequence[float]) -> float:
    """beta(l, u, t): the probability that between l and u alternatives are right."""
    numbers = range(len(priors))
    return sum(
        prod(priors[j] if j in chosen else 1 - priors[j] for j in numbers)
        for size in range(max(lower, 0), min(upper, len(priors)) + 1)
        for chosen in combinations(numbers, size)
    )


def masses(j: int, lower: int, upper: int, priors: Sequence[float]) -> tuple[float, float]:
    """Both alphas: the mass of allowed sizes given that j is right (overline) and that it is not (underline)."""
    others = [*priors[:j], *priors[j + 1 :]]
    return size_mass(lower - 1, upper - 1, others), size_mass(lower, upper, others)


def printed_prior(occurrences: int, instances: int, mass_with: float, mass_without: float) -> float:
    """Proposition 2 as printed."""
    return occurrences * mass_with / (occurrences * mass_with + (instances - occurrences) * mass_without)


def best_prior(occurrences: int, instances: int, mass_with: float, mass_without: float) -> float:
    """The maximiser: the two masses the other way round."""
    return printed_prior(occurrences, instances, mass_without, mass_with)


def weight(hit_rate: float, false_alarm_rate: float) -> float:
    """w: what a tick adds to the log-odds of an alternative."""
    return log(hit_rate * (1 - false_alarm_rate) / (false_alarm_rate * (1 - hit_rate)))


def jaccard_distance(one: Collection[object], other: Collection[object]) -> float:
    """Ticks of only one, divided by ticks of either."""
    return len(set(one) ^ set(other)) / len(set(one) | set(other))


def karenina_weights(distances: Sequence[float]) -> list[float]:
    """Algorithm 2: from 1/(n+1) for the voter farthest from all others to n/(n+1) for the closest."""
    n = len(distances)
    low, high = 1 / max(distances), 1 / min(distances)
    return [(n - 1) / (n + 1) * (1 / d - low) / (high - low) + 1 / (n + 1) for d in distances]


def false_alarm_rate_for(initial_weight: float) -> float:
    """The q that gives this weight together with p = 1/2."""
    grown = exp(initial_weight)
    return (1 - (grown - 1) / (grown + 1)) / 2
