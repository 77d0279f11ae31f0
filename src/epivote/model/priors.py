"""Priors given the sets (Proposition 2, corrected).

With natural parameters theta_j = ln(t_j / (1 - t_j)) the prior part of the log-likelihood is concave:

    sum_j occurrences_j theta_j - sum_groups count ln Z(theta)

with Z the sum of exp(sum_{j in S} theta_j) over the allowed sets S.

Every function here returns priors at which it is not lower than before, except `published_sweep`, which keeps the
formula as printed. Priors stay in [floor, 1 - floor]; where only ratios of odds matter (lower = upper everywhere) the
ratios do.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from epivote.data.names import FloatArray
from epivote.data.parameters import from_log_odds, log_odds
from epivote.errors import InputError
from epivote.model.level import (
    NO_BELIEF,
    Belief,
    SizeWeights,
    best_shift,
    in_box,
    level_is_free,
    log_odds_limit,
    shift_level,
    to_mean_size,
)
from epivote.model.menu_priors import menu_priors
from epivote.model.size_counter import counter_of
from epivote.model.solve import solve_rising
from epivote.model.statistics import Group, Statistics

SOLVED_CHANGE = 1e-12  # of any prior in a sweep; below what a float of order 1 can add up to
MOST_SWEEPS = 10_000  # never reached in the tests; ends a loop that rounding keeps from settling
FAR_APART = 30.0  # log-odds between two groups, from which the quadratic formula would lose digits (e^-30 is 1e-13)


def prior_sweep(statistics: Statistics, priors: FloatArray, floor: float, belief: Belief = NO_BELIEF) -> FloatArray:
    """One sweep of Proposition 2 over all alternatives, then the best common shift of their log-odds.

    Alternative after alternative, t_j becomes the maximiser with all others held:

        t_j = occ_j without_j / (occ_j without_j + (L - occ_j) with_j)

    from a backward table of old and a forward counter of new priors. The common shift is the direction in which such
    sweeps crawl when every set sits at a bound. When lower equals upper everywhere only ratios of odds matter;
    then the priors are scaled so that they add up to the mean size.
    """
    groups, theta = _full_menu_groups(statistics), log_odds(priors)
    if level_is_free(statistics) and belief == NO_BELIEF:
        swept = _sweep(statistics.occurrences, theta, groups, _SpreadLimits(theta, floor), belief)
        return to_mean_size(np.array(swept), statistics)
    swept = _sweep(statistics.occurrences, theta, groups, _BoxLimits(floor), belief)
    return in_box(shift_level(swept, statistics.occurrences, groups, floor, belief), floor)


def prior_step(statistics: Statistics, priors: FloatArray, floor: float, belief: Belief = NO_BELIEF) -> FloatArray:
    """`prior_sweep`, or the optimum at once where menus differ."""
    if any(group.menu for group in statistics.groups):
        return menu_priors(statistics, priors, floor, belief)
    return prior_sweep(statistics, priors, floor, belief)


def solved_priors(statistics: Statistics, priors: FloatArray, floor: float, belief: Belief = NO_BELIEF) -> FloatArray:
    """`prior_sweep` repeated until nothing moves, or the optimum at once where menus differ."""
    if any(group.menu for group in statistics.groups):
        return menu_priors(statistics, priors, floor, belief)
    for _ in range(MOST_SWEEPS):
        following = prior_sweep(statistics, priors, floor, belief)
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
    counter = counter_of(log_odds(priors), group.lower, group.upper, log_odds_limit(floor))
    for j, occurrences in enumerate(statistics.occurrences):
        pull = counter.pull(j)
        if np.isfinite(pull):
            odds_against = (total - occurrences) / occurrences * np.exp(-pull) if occurrences else np.inf
            new[j] = min(max(1 / (1 + odds_against), floor), 1 - floor)
        counter.advance(float(log_odds(new[j])))
    return new


def shared_prior(statistics: Statistics, floor: float) -> float:
    """The one prior that all alternatives share: the expected total size must equal the one seen."""
    total = float(statistics.occurrences.sum())
    offered = sum(group.width * count for group, count in statistics.groups.items())
    if level_is_free(statistics):
        return min(max(total / offered, floor), 1 - floor) if offered else 0.5
    sizes = [(count, SizeWeights.binomial(group)) for group, count in statistics.groups.items()]
    limit = log_odds_limit(floor)
    return in_box(np.array(best_shift(sizes, total, -limit, limit)), floor).item()


# One coordinate after the other


class _BoxLimits:
    """Every prior stays in [floor, 1 - floor]."""

    def __init__(self, floor: float) -> None:
        self.limit = self.reach = log_odds_limit(floor)

    def of(self, _j: int) -> tuple[float, float]:
        return -self.limit, self.limit

    def moved(self, theta: float) -> None:
        """Nothing to remember."""


class _SpreadLimits:
    """Only ratios matter: the largest and the smallest log-odds stay as far apart as the box is wide."""

    def __init__(self, theta: FloatArray, floor: float) -> None:
        backwards = np.append(theta, np.nan)[::-1]
        self.width = 2 * log_odds_limit(floor)
        self.reach = float(np.max(np.abs(theta), initial=0.0)) + self.width
        self.later_max = np.fmax.accumulate(backwards)[::-1][1:]
        self.later_min = np.fmin.accumulate(backwards)[::-1][1:]
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
) -> list[float]:
    """Each theta_j in turn at its maximum given all others; tables in odds, so that no factor (1 - t) is needed.

    A belief is one more group, of instances without bounds.
    """
    believed = any(belief)
    counts = [*groups.values(), sum(belief)] if believed else list(groups.values())
    counters = [counter_of(theta, group.lower, group.upper, limits.reach) for group in groups]
    new: list[float] = theta.tolist()
    right = occurrences.tolist()
    for j in range(len(theta)):
        pulls = [counter.pull(j) for counter in counters]
        if believed:
            pulls.append(0.0)
        new[j] = _coordinate(right[j] + belief.present, counts, pulls, new[j], *limits.of(j))
        limits.moved(new[j])
        for counter in counters:
            counter.advance(new[j])
    return new


def _coordinate(
    occurrences: float, counts: Sequence[float], pulls: Sequence[float], previous: float, low: float, high: float
) -> float:
    """Theta with sum_g count_g P_g(j in set) = occurrences, where P_g = sigmoid(theta + pull_g)."""
    if math.inf in pulls or -math.inf in pulls:  # forced in, or out: nothing to decide there
        occurrences -= sum(count for count, pull in zip(counts, pulls, strict=True) if pull == math.inf)
        undecided = [(count, pull) for count, pull in zip(counts, pulls, strict=True) if math.isfinite(pull)]
        if not undecided:
            return previous
        counts, pulls = zip(*undecided, strict=True)
    total = sum(counts)
    if occurrences <= 0 or occurrences >= total:
        return low if occurrences <= 0 else high
    if len(counts) == 1:
        return min(max(math.log(occurrences / (total - occurrences)) - pulls[0], low), high)
    if len(counts) == 2 and abs(pulls[0] - pulls[1]) < FAR_APART:
        return min(max(_of_two(occurrences, *counts, *pulls), low), high)
    weights, pushes = np.array(counts), np.array(pulls)

    def expected(theta: float) -> tuple[float, float]:
        inside = from_log_odds(theta + pushes)
        return float(weights @ inside), float(weights @ (inside * (1 - inside)))

    return solve_rising(expected, occurrences, max(low, -1e3), min(high, 1e3), previous)


def _of_two(occurrences: float, count: float, other_count: float, pull: float, other_pull: float) -> float:
    """The same for two groups, where the odds solve a quadratic equation with one positive root."""
    ratio = math.exp(other_pull - pull)
    square = ratio * (count + other_count - occurrences)
    linear = count + ratio * other_count - occurrences * (1 + ratio)
    root = math.sqrt(linear * linear + 4 * square * occurrences)
    odds = 2 * occurrences / (linear + root) if linear > 0 else (root - linear) / (2 * square)
    return math.log(odds) - pull


def _full_menu_groups(statistics: Statistics) -> Mapping[Group, float]:
    for group in statistics.groups:
        if group.menu or group.width != len(statistics.occurrences):
            raise InputError("the closed form of Proposition 2 needs one menu for all instances; use priors='shared'")
    return statistics.groups
