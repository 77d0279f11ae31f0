"""The common level of all priors: the direction in which single-coordinate steps crawl."""

import math
from collections.abc import Mapping
from math import lgamma
from typing import NamedTuple

import numpy as np

from epivote.data.names import BoolArray, FloatArray
from epivote.data.parameters import from_log_odds
from epivote.model.size_counter import backward, end_states, forward, is_plain, plain_forward, start_state
from epivote.model.sizes import MAX_PLAIN_STATES
from epivote.model.solve import solve_rising
from epivote.model.statistics import Group, Statistics


class Belief(NamedTuple):
    """Believed occurrences and absences of every alternative, added to those seen."""

    present: float = 0.0
    absent: float = 0.0


NO_BELIEF = Belief()


def log_odds_limit(floor: float) -> float:
    """Log-odds of 1 - floor."""
    return float(np.log1p(-floor) - np.log(floor))


def in_box(theta: FloatArray, floor: float) -> FloatArray:
    """Priors from log-odds, kept in [floor, 1 - floor]."""
    return np.clip(from_log_odds(theta), floor, 1 - floor)


class SizeWeights:
    """Log-weights of some sizes; a common shift s of all log-odds adds s times the size."""

    def __init__(self, sizes: FloatArray, log_weights: FloatArray) -> None:
        possible = np.isfinite(log_weights)
        self.sizes, self.log_weights = sizes[possible], log_weights[possible]
        self._pairs = list(zip(self.sizes.tolist(), self.log_weights.tolist(), strict=True))

    @classmethod
    def binomial(cls, group: Group) -> "SizeWeights":
        """Those of equally likely alternatives: in how many ways each size can be."""
        sizes = np.arange(group.lower, group.upper + 1)
        ways = [lgamma(group.width + 1) - lgamma(k + 1) - lgamma(group.width - k + 1) for k in sizes]
        return cls(sizes.astype(float), np.array(ways))

    def mean_and_variance(self, shift: float) -> tuple[float, float]:
        """Of the size, after the shift."""
        if len(self.sizes) <= MAX_PLAIN_STATES:
            return self._of_few(shift)
        exponents = self.log_weights + shift * self.sizes
        shares = np.exp(exponents - exponents.max())
        shares /= shares.sum()
        mean = float(shares @ self.sizes)
        return mean, float(shares @ (self.sizes - mean) ** 2)

    def _of_few(self, shift: float) -> tuple[float, float]:
        """The same without arrays, which cost more than they save here."""
        largest = max([weight + shift * size for size, weight in self._pairs])
        total = mean = variance = 0.0
        shares = [(size, math.exp(weight + shift * size - largest)) for size, weight in self._pairs]
        for size, share in shares:
            total += share
            mean += size * share
        mean /= total
        for size, share in shares:
            variance += (size - mean) * (size - mean) * share
        return mean, variance / total


def shift_level(
    theta: FloatArray, occurrences: FloatArray, groups: Mapping[Group, float], floor: float, belief: Belief
) -> FloatArray:
    """The log-odds strictly inside the box moved together to the best level that keeps them inside."""
    limit = log_odds_limit(floor)
    inside = np.abs(theta) < limit
    if not inside.any() or all(group.lower == 0 and group.upper == group.width for group in groups):
        return theta
    low, high = float(-limit - theta[inside].min()), float(limit - theta[inside].max())
    total = float(occurrences[inside].sum()) + belief.present * int(inside.sum())
    sizes = [(count, _size_weights(theta, inside, group)) for group, count in groups.items()]
    shift = best_shift(sizes, total, low, high, believed=sum(belief), theta=theta[inside])
    return np.where(inside, np.clip(theta + shift, -limit, limit), theta)


def _size_weights(theta: FloatArray, inside: BoolArray, group: Group) -> SizeWeights:
    """Weights of the number of members among `inside`, whatever the others do within the bounds."""
    if group.upper < MAX_PLAIN_STATES and inside.all() and is_plain(theta):
        return SizeWeights(*_sums_of_products([math.exp(each) for each in theta.tolist()], group))
    worth = end_states(group.lower, group.upper, group.upper + 1)
    for other in theta[~inside]:
        worth = backward(worth, other)
    counter = start_state(len(worth))
    for one in theta[inside]:
        counter = forward(counter, one)
    return SizeWeights(np.arange(len(worth) - 1, dtype=float), (counter + worth)[:-1])


def _sums_of_products(odds: list[float], group: Group) -> tuple[FloatArray, FloatArray]:
    """Every allowed size, and the logarithm of the sum over all sets of that size of the product of their odds."""
    sums = [1.0] + [0.0] * group.upper
    for each in odds:
        plain_forward(sums, each, absorbing=False)
    allowed = range(group.lower, group.upper + 1)
    weights = [math.log(sums[size]) if sums[size] > 0 else -math.inf for size in allowed]
    return np.array(allowed, float), np.array(weights)


def best_shift(
    sizes: list[tuple[float, SizeWeights]],
    total: float,
    low: float,
    high: float,
    believed: float = 0.0,
    theta: FloatArray | None = None,
) -> float:
    """The shift at which the expected total size, with the believed instances of `theta` without bounds, is `total`."""
    unbounded = theta.tolist() if theta is not None and believed else []

    def expected(shift: float) -> tuple[float, float]:
        moments = [(count, *weights.mean_and_variance(shift)) for count, weights in sizes]
        mean = sum(count * mean for count, mean, _ in moments)
        slope = sum(count * variance for count, _, variance in moments)
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
