"""The mass of the size bounds and one sweep over the priors as compiled loops, where plain numbers suffice.

They do what `sizes.py`, `counters.py`, `priors.py` and `level.py` do, in the same order, so that all agree to the last
bit. Importing this module loads numba.
"""

from __future__ import annotations

import math

import numpy as np

from epivote.model.kernels import compiled
from epivote.model.solve import CLOSE, MOST_STEPS

FAR_APART = 30.0  # log-odds beyond which 1 + e^x is e^x to the last bit that matters (e^-30 is 1e-13)


@compiled
def log_mass_of_few(priors, lower, upper):
    """Logarithm of the probability that the size of a set lies within the bounds."""
    absorbing = upper >= len(priors)
    top = lower if absorbing else upper
    worth = np.empty(top + 1)
    for s in range(top + 1):
        worth[s] = 1.0 if s >= lower else 0.0
    for prior in priors:
        for s in range(top):
            worth[s] = (1.0 - prior) * worth[s] + prior * worth[s + 1]
        if not absorbing:
            worth[top] = (1.0 - prior) * worth[top]
    return math.log(worth[0]) if worth[0] > 0.0 else -np.inf


@compiled
def swept(theta, occurrences, count, lower, upper, limit, present, believed):
    """New log-odds, each in turn at its maximum within the limits given all others, and whether that was possible.

    `believed` instances without bounds, with `present` occurrences of every alternative, are added to those seen.
    """
    width, new = len(theta), theta.copy()
    absorbing = upper >= width
    top = lower if absorbing else upper
    later, counter = np.empty((width + 1, top + 1)), np.zeros(top + 1)
    counter[0] = 1.0
    for s in range(top + 1):
        later[width, s] = 1.0 if s >= lower else 0.0
    for j in range(width - 1, -1, -1):
        odds = math.exp(theta[j])
        for s in range(top):
            later[j, s] = later[j + 1, s] + odds * later[j + 1, s + 1]
        later[j, top] = later[j + 1, top] * (1.0 + odds) if absorbing else later[j + 1, top]
    for j in range(width):
        without, with_it = 0.0, 0.0
        for s in range(top + 1):
            without += counter[s] * later[j + 1, s]
        for s in range(top):
            with_it += counter[s] * later[j + 1, s + 1]
        if absorbing:
            with_it += counter[top] * later[j + 1, top]
        if with_it > 0.0 and without > 0.0:
            pull = math.log(with_it / without)
            if believed > 0.0 and abs(pull) >= FAR_APART:
                return new, False
            right = occurrences[j] + present
            new[j] = min(max(coordinate(right, count, pull, believed, limit), -limit), limit)
        elif believed > 0.0:
            return new, False
        odds = math.exp(new[j])
        last = odds * counter[top] if absorbing else 0.0
        for s in range(top, 0, -1):
            counter[s] = counter[s] + odds * counter[s - 1]
        counter[top] += last
    return new, True


@compiled
def coordinate(right, count, pull, believed, limit):
    """The log-odds at which an alternative is expected to be right as often as it was."""
    total = count + believed
    if right <= 0.0 or right >= total:
        return -limit if right <= 0.0 else limit
    if believed == 0.0:
        return math.log(right / (total - right)) - pull
    ratio = math.exp(-pull)
    square = ratio * (total - right)
    linear = count + ratio * believed - right * (1.0 + ratio)
    root = math.sqrt(linear * linear + 4.0 * square * right)
    odds = 2.0 * right / (linear + root) if linear > 0.0 else (root - linear) / (2.0 * square)
    return math.log(odds) - pull


@compiled
def level_shift(theta, total, count, lower, upper, low, high, believed):
    """The common shift of all log-odds at which the expected total size is the one seen."""
    weights = np.zeros(upper + 1)
    weights[0] = 1.0
    for each in theta:
        odds = math.exp(each)
        for size in range(upper, 0, -1):
            weights[size] = weights[size] + odds * weights[size - 1]
    for size in range(upper + 1):
        weights[size] = math.log(weights[size]) if size >= lower and weights[size] > 0.0 else -np.inf
    if expected(weights, theta, high, count, believed)[0] <= total:
        return high
    if expected(weights, theta, low, count, believed)[0] >= total:
        return low
    shift = min(max(0.0, low), high)
    for _ in range(MOST_STEPS):
        value, slope = expected(weights, theta, shift, count, believed)
        if value == total:
            break
        low, high = (shift, high) if value < total else (low, shift)
        newton = shift + (total - value) / slope if slope > 0.0 else low
        following = newton if low < newton < high else (low + high) / 2.0
        if abs(following - shift) <= CLOSE * (1.0 + abs(shift)):
            break
        shift = following
    return shift


@compiled
def expected(weights, theta, shift, count, believed):
    """The expected total size after a shift, and how fast it rises."""
    largest, whole, mean, variance = -np.inf, 0.0, 0.0, 0.0
    for size in range(len(weights)):
        largest = max(largest, weights[size] + shift * size)
    for size in range(len(weights)):
        share = math.exp(weights[size] + shift * size - largest)
        whole += share
        mean += size * share
    mean /= whole
    for size in range(len(weights)):
        share = math.exp(weights[size] + shift * size - largest)
        variance += (size - mean) * (size - mean) * share
    value, slope = count * mean, count * (variance / whole)
    if believed > 0.0:
        for each in theta:
            inside = 1.0 / (1.0 + math.exp(-(each + shift)))
            value += believed * inside
            slope += believed * inside * (1.0 - inside)
    return value, slope
