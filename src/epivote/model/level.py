"""The common level of all priors: the direction in which single-coordinate steps crawl."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from math import lgamma
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from epivote.data.names import FloatArray
from epivote.data.parameters import from_log_odds, off_the_edges
from epivote.model.size_counter import backward, end_states, forward, is_plain, plain_forward, start_state
from epivote.model.sizes import MAX_PLAIN_STATES
from epivote.model.solve import solve_rising
from epivote.model.statistics import Group, Statistics


class Belief(NamedTuple):
    """Believed occurrences and absences of every alternative, added to those seen."""

    present: float = 0.0
    absent: float = 0.0


NO_BELIEF = Belief()


@lru_cache
def log_odds_limit(floor: float) -> float:
    """Log-odds of 1 - floor."""
    return float(np.log1p(-floor) - np.log(floor))


def in_box(theta: ArrayLike, floor: float) -> FloatArray:
    """Priors from log-odds, kept in [floor, 1 - floor]."""
    return off_the_edges(from_log_odds(np.asarray(theta)), floor)


class SizeWeights:
    """Log-weights of some sizes; a common shift s of all log-odds adds s times the size."""

    def __init__(self, sizes: Sequence[int], log_weights: Sequence[float]) -> None:
        pairs = zip(map(float, sizes), log_weights, strict=True)
        self.terms = [(size, weight) for size, weight in pairs if math.isfinite(weight)]

    @classmethod
    def binomial(cls, group: Group) -> "SizeWeights":
        """Those of equally likely alternatives: in how many ways each size can be."""
        sizes = range(group.lower, group.upper + 1)
        return cls(sizes, [lgamma(group.width + 1) - lgamma(k + 1) - lgamma(group.width - k + 1) for k in sizes])

    def mean_and_variance(self, shift: float) -> tuple[float, float]:
        """Of the size, after the shift."""
        if len(self.terms) > MAX_PLAIN_STATES:
            return self._of_many(shift)
        exponents = [(size, weight + shift * size) for size, weight in self.terms]
        largest = max([exponent for _, exponent in exponents])
        shares = [(size, math.exp(exponent - largest)) for size, exponent in exponents]
        total = mean = variance = 0.0
        for size, share in shares:
            total += share
            mean += size * share
        mean /= total
        for size, share in shares:
            variance += (size - mean) * (size - mean) * share
        return mean, variance / total

    def _of_many(self, shift: float) -> tuple[float, float]:
        """The same with arrays, which cost more than they save on few."""
        sizes, log_weights = self._columns
        exponents = log_weights + shift * sizes
        shares = np.exp(exponents - exponents.max())
        shares /= shares.sum()
        mean = float(shares @ sizes)
        return mean, float(shares @ (sizes - mean) ** 2)

    @cached_property
    def _columns(self) -> FloatArray:
        return np.array(self.terms).T.copy()


def shift_level(
    theta: list[float], occurrences: FloatArray, groups: Mapping[Group, float], floor: float, belief: Belief
) -> list[float]:
    """The log-odds strictly inside the box moved together to the best level that keeps them inside."""
    limit = log_odds_limit(floor)
    moving = [each for each in theta if -limit < each < limit]
    if not moving or all(group.lower == 0 and group.upper == group.width for group in groups):
        return theta
    others = []
    if len(moving) < len(theta):
        others = [each for each in theta if abs(each) >= limit]
        occurrences = occurrences[[abs(each) < limit for each in theta]]
    low, high = -limit - min(moving), limit - max(moving)
    total = float(occurrences.sum()) + belief.present * len(moving)
    sizes = [(count, _size_weights(moving, others, group)) for group, count in groups.items()]
    shift = best_shift(sizes, total, low, high, believed=sum(belief), theta=moving)
    return [min(max(each + shift, -limit), limit) if -limit < each < limit else each for each in theta]


def _size_weights(moving: list[float], others: list[float], group: Group) -> SizeWeights:
    """Weights of the number of members among those `moving`, whatever the others do within the bounds."""
    if group.upper < MAX_PLAIN_STATES and not others and is_plain(moving):
        return _sums_of_products([math.exp(each) for each in moving], group)
    worth = end_states(group.lower, group.upper, group.upper + 1)
    for other in others:
        worth = backward(worth, other)
    counter = start_state(len(worth))
    for one in moving:
        counter = forward(counter, one)
    return SizeWeights(range(len(worth) - 1), (counter + worth)[:-1].tolist())


def _sums_of_products(odds: list[float], group: Group) -> SizeWeights:
    """The logarithm of the sum over all sets of every allowed size of the product of their odds."""
    sums = [1.0] + [0.0] * group.upper
    for each in odds:
        plain_forward(sums, each, absorbing=False)
    allowed = range(group.lower, group.upper + 1)
    return SizeWeights(allowed, [math.log(sums[size]) if sums[size] > 0 else -math.inf for size in allowed])


def best_shift(
    sizes: list[tuple[float, SizeWeights]],
    total: float,
    low: float,
    high: float,
    believed: float = 0.0,
    theta: Sequence[float] = (),
) -> float:
    """The shift at which the expected total size, with the believed instances of `theta` without bounds, is `total`."""
    unbounded = theta if believed else ()

    def expected(shift: float) -> tuple[float, float]:
        mean = slope = 0.0
        for count, weights in sizes:
            size, variance = weights.mean_and_variance(shift)
            mean += count * size
            slope += count * variance
        for each in unbounded:
            inside = 1 / (1 + math.exp(-(each + shift)))
            mean += believed * inside
            slope += believed * inside * (1 - inside)
        return mean, slope

    return solve_rising(expected, total, low, high, 0.0)


def to_mean_size(theta: FloatArray, statistics: Statistics) -> FloatArray:
    """Priors whose odds have the ratios of `theta` and whose expected total equals the one seen."""
    total, offered = float(statistics.occurrences.sum()), statistics.offered
    if not 0 < total < offered.sum():
        return from_log_odds(theta)

    def expected(shift: float) -> tuple[float, float]:
        inside = from_log_odds(theta + shift)
        return float(offered @ inside), float(offered @ (inside * (1 - inside)))

    return from_log_odds(theta + solve_rising(expected, total, -100.0, 100.0, 0.0))


def level_is_free(statistics: Statistics) -> bool:
    """Whether every instance allows one size only, so that only ratios of odds matter."""
    return all(group.lower == group.upper for group in statistics.groups)
