"""Priors given the sets (Proposition 2, corrected).

With natural parameters theta_j = ln(t_j / (1 - t_j)) the prior part of the log-likelihood is concave:

    sum_j occurrences_j theta_j - sum_groups count ln Z(theta)

with Z the sum of exp(sum_{j in S} theta_j) over the allowed sets S.

Every function here returns priors on [floor, 1 - floor] at which it is not lower than before, except `published_sweep`,
which keeps the formula as printed.
"""

from collections.abc import Mapping
from math import lgamma
from typing import NamedTuple

import numpy as np

from epivote.data.names import BoolArray, FloatArray
from epivote.data.parameters import log_odds
from epivote.errors import InputError
from epivote.model.posterior import log_partition_and_inclusion
from epivote.model.sizes import backward, backward_table, end_states, forward, next_state, start_state
from epivote.model.solve import solve_rising
from epivote.model.statistics import Group, Statistics

SOLVED_CHANGE = 1e-12
MOST_SWEEPS = 10_000


class Belief(NamedTuple):
    """Believed occurrences and absences of every alternative, added to those seen."""

    present: float = 0.0
    absent: float = 0.0


NO_BELIEF = Belief()


def prior_sweep(statistics: Statistics, priors: FloatArray, floor: float, belief: Belief = NO_BELIEF) -> FloatArray:
    """One sweep of Proposition 2 over all alternatives, then the best common shift of their log-odds.

    Alternative after alternative, t_j becomes the maximiser with all others held:

        t_j = occ_j without_j / (occ_j without_j + (L - occ_j) with_j)

    from a backward table of old and a forward counter of new priors. The common shift is the direction in which such
    sweeps crawl when every set sits at a bound. When lower equals upper everywhere only ratios of odds matter;
    then the priors are scaled so that they add up to the mean size.
    """
    groups = _full_menu_groups(statistics)
    if _level_is_free(statistics) and belief == NO_BELIEF:
        swept = _sweep(statistics.occurrences, log_odds(priors), groups, _SpreadLimits(priors, floor), belief)
        return _to_mean_size(swept, statistics)
    swept = _sweep(statistics.occurrences, log_odds(priors), groups, _BoxLimits(floor), belief)
    return _probability(_shift_level(swept, statistics.occurrences, groups, floor, belief), floor)


def prior_step(statistics: Statistics, priors: FloatArray, floor: float, belief: Belief = NO_BELIEF) -> FloatArray:
    """`prior_sweep`, or `menu_step` where menus differ."""
    step = menu_step if any(group.menu for group in statistics.groups) else prior_sweep
    return step(statistics, priors, floor, belief)


def solved_priors(statistics: Statistics, priors: FloatArray, floor: float, belief: Belief = NO_BELIEF) -> FloatArray:
    """`prior_step` repeated until nothing moves."""
    for _ in range(MOST_SWEEPS):
        following = prior_step(statistics, priors, floor, belief)
        change = float(np.max(np.abs(following - priors)))
        priors = following
        if change <= SOLVED_CHANGE:
            break
    return priors


def published_sweep(statistics: Statistics, priors: FloatArray, floor: float) -> FloatArray:
    """One sweep of Proposition 2 as printed, with the two masses exchanged; it can lower the likelihood."""
    groups = _full_menu_groups(statistics)
    if len(groups) != 1:
        raise InputError(
            "prior_update='published' is defined for one pair of size bounds and one menu; use prior_update='mle'"
        )
    (group,), (total,) = groups, groups.values()
    new = priors.copy()
    table = backward_table(np.log(priors), np.log1p(-priors), group.lower, group.upper)
    counter = start_state(len(table[-1]))
    for j, occurrences in enumerate(statistics.occurrences):
        with_ = occurrences * np.exp(np.logaddexp.reduce(counter + next_state(table[j + 1])))
        without = (total - occurrences) * np.exp(np.logaddexp.reduce(counter + table[j + 1]))
        if with_ + without > 0:
            new[j] = np.clip(with_ / (with_ + without), floor, 1 - floor)
        counter = forward(counter, np.log(new[j]), np.log1p(-new[j]))
    return new


def shared_prior(statistics: Statistics, floor: float) -> float:
    """The one prior that all alternatives share: the expected total size must equal the one seen."""
    total = float(statistics.occurrences.sum())
    offered = sum(group.width * count for group, count in statistics.groups.items())
    if _level_is_free(statistics):
        return float(np.clip(total / offered, floor, 1 - floor)) if offered else 0.5
    sizes = [(count, _SizeWeights.binomial(group)) for group, count in statistics.groups.items()]
    limit = _limit(floor)
    return _probability(np.array(_best_shift(sizes, total, -limit, limit)), floor).item()


def menu_step(statistics: Statistics, priors: FloatArray, floor: float, belief: Belief = NO_BELIEF) -> FloatArray:
    """One step for priors per alternative where menus differ: Newton by coordinate, halved until nothing is lost.

    No closed form exists there, since every menu has its own mass.
    """
    theta = log_odds(priors)
    value, slope, curvature = _menu_objective(statistics, theta, belief)
    moves = (statistics.offered > 0) & (curvature > 0)
    step = np.clip(np.divide(slope, 2 * curvature, out=np.zeros_like(theta), where=moves), -2.0, 2.0)
    for _ in range(40):
        following = np.clip(theta + step, -_limit(floor), _limit(floor))
        if _menu_objective(statistics, following, belief)[0] >= value:
            return _probability(following, floor)
        step = step / 2
    return priors


# One coordinate after the other


class _BoxLimits:
    """Every prior stays in [floor, 1 - floor]."""

    def __init__(self, floor: float) -> None:
        self.limit = _limit(floor)

    def of(self, _j: int) -> tuple[float, float]:
        return -self.limit, self.limit

    def moved(self, theta: float) -> None:
        """Nothing to remember."""


class _SpreadLimits:
    """Only ratios matter: the largest and the smallest log-odds stay as far apart as the box is wide."""

    def __init__(self, priors: FloatArray, floor: float) -> None:
        theta = np.append(log_odds(priors), np.nan)
        self.width = 2 * _limit(floor)
        self.later_max = np.fmax.accumulate(theta[::-1])[::-1][1:]
        self.later_min = np.fmin.accumulate(theta[::-1])[::-1][1:]
        self.max, self.min = np.nan, np.nan

    def of(self, j: int) -> tuple[float, float]:
        highest, lowest = np.fmax(self.max, self.later_max[j]), np.fmin(self.min, self.later_min[j])
        if np.isnan(highest):
            return -np.inf, np.inf
        return float(highest) - self.width, float(lowest) + self.width

    def moved(self, theta: float) -> None:
        self.max, self.min = float(np.fmax(self.max, theta)), float(np.fmin(self.min, theta))


def _sweep(
    occurrences: FloatArray,
    theta: FloatArray,
    groups: Mapping[Group, float],
    limits: _BoxLimits | _SpreadLimits,
    belief: Belief,
) -> FloatArray:
    """Each theta_j in turn at its maximum given all others; tables in odds, so that no factor (1 - t) is needed.

    A belief is one more group, of instances without bounds.
    """
    out = np.zeros_like(theta)
    believed = [sum(belief)] if any(belief) else []
    counts = np.array([*groups.values(), *believed])
    tables = [backward_table(theta, out, group.lower, group.upper) for group in groups]
    counters = [start_state(len(table[-1])) for table in tables]
    new = theta.copy()
    for j in range(len(theta)):
        pulls = np.array([_pull(*pair) for pair in zip(counters, (table[j + 1] for table in tables), strict=True)])
        pulls = np.append(pulls, np.zeros(len(believed)))
        new[j] = _coordinate(occurrences[j] + belief.present, counts, pulls, theta[j], *limits.of(j))
        limits.moved(new[j])
        counters = [forward(counter, new[j], 0.0) for counter in counters]
    return new


def _pull(counter: FloatArray, later: FloatArray) -> float:
    """ln(with_j / without_j), infinite where the bounds force the alternative in or out."""
    with_ = np.logaddexp.reduce(counter + next_state(later))
    without = np.logaddexp.reduce(counter + later)
    if np.isinf(with_):
        return -np.inf
    return np.inf if np.isinf(without) else float(with_ - without)


def _coordinate(
    occurrences: float, counts: FloatArray, pulls: FloatArray, previous: float, low: float, high: float
) -> float:
    """Theta with sum_g count_g P_g(j in set) = occurrences, where P_g = sigmoid(theta + pull_g)."""
    occurrences = occurrences - float(counts[pulls == np.inf].sum())
    undecided = np.isfinite(pulls)
    counts, pulls = counts[undecided], pulls[undecided]
    total = float(counts.sum())
    if total == 0:
        return previous
    if occurrences <= 0 or occurrences >= total:
        return low if occurrences <= 0 else high
    if len(pulls) == 1:
        return min(max(float(np.log(occurrences / (total - occurrences)) - pulls[0]), low), high)

    def expected(theta: float) -> tuple[float, float]:
        inside = _sigmoid(theta + pulls)
        return float(counts @ inside), float(counts @ (inside * (1 - inside)))

    return solve_rising(expected, occurrences, max(low, -1e3), min(high, 1e3), previous)


# The common level


class _SizeWeights:
    """Log-weights of some sizes; a common shift s of all log-odds adds s times the size."""

    def __init__(self, sizes: FloatArray, log_weights: FloatArray) -> None:
        possible = np.isfinite(log_weights)
        self.sizes, self.log_weights = sizes[possible], log_weights[possible]

    @classmethod
    def binomial(cls, group: Group) -> "_SizeWeights":
        sizes = np.arange(group.lower, group.upper + 1)
        ways = [lgamma(group.width + 1) - lgamma(k + 1) - lgamma(group.width - k + 1) for k in sizes]
        return cls(sizes.astype(float), np.array(ways))

    def mean_and_variance(self, shift: float) -> tuple[float, float]:
        exponents = self.log_weights + shift * self.sizes
        shares = np.exp(exponents - exponents.max())
        shares /= shares.sum()
        mean = float(shares @ self.sizes)
        return mean, float(shares @ (self.sizes - mean) ** 2)


def _shift_level(
    theta: FloatArray, occurrences: FloatArray, groups: Mapping[Group, float], floor: float, belief: Belief
) -> FloatArray:
    """The log-odds strictly inside the box moved together to the best level that keeps them inside."""
    limit = _limit(floor)
    inside = np.abs(theta) < limit
    if not inside.any() or all(group.lower == 0 and group.upper == group.width for group in groups):
        return theta
    sizes = [(count, _size_weights(theta, inside, group)) for group, count in groups.items()]
    low, high = -limit - theta[inside].min(), limit - theta[inside].max()
    total = float(occurrences[inside].sum()) + belief.present * int(inside.sum())
    shift = _best_shift(sizes, total, float(low), float(high), believed=sum(belief), theta=theta[inside])
    return np.where(inside, np.clip(theta + shift, -limit, limit), theta)


def _size_weights(theta: FloatArray, inside: BoolArray, group: Group) -> _SizeWeights:
    """Weights of the number of members among `inside`, whatever the others do within the bounds."""
    worth = end_states(group.lower, group.upper, group.upper + 1)
    for other in theta[~inside]:
        worth = backward(worth, other, 0.0)
    counter = start_state(len(worth))
    for one in theta[inside]:
        counter = forward(counter, one, 0.0)
    return _SizeWeights(np.arange(len(worth) - 1, dtype=float), (counter + worth)[:-1])


def _best_shift(
    sizes: list[tuple[float, _SizeWeights]],
    total: float,
    low: float,
    high: float,
    believed: float = 0.0,
    theta: FloatArray | None = None,
) -> float:
    """The shift at which the expected total size, with the believed instances of `theta` without bounds, is `total`."""

    def expected(shift: float) -> tuple[float, float]:
        moments = [(count, *weights.mean_and_variance(shift)) for count, weights in sizes]
        mean = sum(count * mean for count, mean, _ in moments)
        slope = sum(count * variance for count, _, variance in moments)
        if theta is not None and believed:
            inside = _sigmoid(theta + shift)
            mean += believed * float(inside.sum())
            slope += believed * float((inside * (1 - inside)).sum())
        return mean, slope

    return solve_rising(expected, total, low, high, 0.0)


def _to_mean_size(theta: FloatArray, statistics: Statistics) -> FloatArray:
    total, offered = float(statistics.occurrences.sum()), statistics.offered
    if not 0 < total < offered.sum():
        return _sigmoid(theta)

    def expected(shift: float) -> tuple[float, float]:
        inside = _sigmoid(theta + shift)
        return float(offered @ inside), float(offered @ (inside * (1 - inside)))

    return _sigmoid(theta + solve_rising(expected, total, -100.0, 100.0, 0.0))


def _level_is_free(statistics: Statistics) -> bool:
    return all(group.lower == group.upper for group in statistics.groups)


# Menus that differ


def _menu_objective(statistics: Statistics, theta: FloatArray, belief: Belief) -> tuple[float, FloatArray, FloatArray]:
    """Prior part of the objective, its slope, and its curvature by coordinate (with the sign turned)."""
    inside = _sigmoid(theta)
    value = float(statistics.occurrences @ theta) + float(np.sum(belief.present * theta))
    value -= sum(belief) * float(np.logaddexp(0.0, theta).sum())
    slope = statistics.occurrences + belief.present - sum(belief) * inside
    curvature = sum(belief) * inside * (1 - inside)
    for shape, members in _by_shape(statistics.groups).items():
        menus = np.array([menu for menu, _ in members], np.int64).reshape(len(members), shape.width)
        counts = np.array([count for _, count in members])
        log_partition, inclusion = log_partition_and_inclusion(theta[menus], shape.lower, shape.upper)
        value -= float(counts @ log_partition)
        np.subtract.at(slope, menus, counts[:, None] * inclusion)
        np.add.at(curvature, menus, counts[:, None] * inclusion * (1 - inclusion))
    return value, slope, curvature


def _by_shape(groups: Mapping[Group, float]) -> dict[Group, list[tuple[tuple[int, ...], float]]]:
    shapes: dict[Group, list[tuple[tuple[int, ...], float]]] = {}
    for group, count in groups.items():
        menu = group.menu or tuple(range(group.width))
        shapes.setdefault(group._replace(menu=()), []).append((menu, count))
    return shapes


def _full_menu_groups(statistics: Statistics) -> Mapping[Group, float]:
    for group in statistics.groups:
        if group.menu or group.width != len(statistics.occurrences):
            raise InputError("the closed form of Proposition 2 needs one menu for all instances; use priors='shared'")
    return statistics.groups


def _limit(floor: float) -> float:
    return float(np.log1p(-floor) - np.log(floor))


def _sigmoid(theta: FloatArray) -> FloatArray:
    return 0.5 * (1 + np.tanh(theta / 2))


def _probability(theta: FloatArray, floor: float) -> FloatArray:
    return np.clip(_sigmoid(theta), floor, 1 - floor)
