"""Exact probabilities of sets and members under size bounds.

P(S | ballots) is proportional to exp(sum of the margins in S) over the allowed sets; forward and backward sweeps over
alternatives and the states of a size counter give all of it in O(m u) per instance, as sums of positive terms.
"""

import numpy as np

from epivote.data.names import BoolArray, FloatArray
from epivote.data.parameters import from_log_odds
from epivote.model.size_counter import LOGS, PLAIN, Arithmetic, backward, end_states, forward, start_state, weight_with

NUMBERS_PER_CHUNK = 1 << 18  # 2 MB of floats, so that a chunk stays in the cache
PLAIN_RANGE = 300.0  # log-odds whose products stay far from the limits of floats (e^709)


def log_partition_and_inclusion(margins: FloatArray, lower: int, upper: int) -> tuple[FloatArray, FloatArray]:
    """Logarithm of the sum over all allowed sets, and the probability of every member, for every row of margins.

    Where no sum can leave the range of floating-point numbers (nearly always) the sweeps run on plain numbers, which is
    ten times faster than on logarithms.
    """
    rows, width = margins.shape
    if lower == 0 and upper >= width:
        return np.logaddexp(0.0, margins).sum(axis=1), from_log_odds(margins)
    log_partition, inclusion = np.empty(rows), np.empty_like(margins)
    states = len(end_states(lower, upper, width))
    step = max(1, NUMBERS_PER_CHUNK // (states * (width + 1)))
    for begin in range(0, rows, step):
        part = slice(begin, min(begin + step, rows))
        plain = _fits_plain_numbers(margins[part], lower)
        for chosen, sweep in ((plain, _plain_sweeps), (~plain, _log_sweeps)):
            if chosen.any():
                found = sweep(np.ascontiguousarray(margins[part][chosen].T), lower, upper)
                log_partition[part][chosen], inclusion[part][chosen] = found[0], found[1].T
    return log_partition, inclusion


def set_probabilities(margins: FloatArray, chosen: BoolArray, log_partition: FloatArray) -> FloatArray:
    """Probability that the chosen set of every row is exactly the right one."""
    log_weight: FloatArray = np.where(chosen, margins, 0.0).sum(axis=1)
    return np.exp(np.minimum(log_weight - log_partition, 0.0))


def _fits_plain_numbers(margins: FloatArray, lower: int) -> BoolArray:
    """Whether the sum over all sets, and the lightest set that is needed, stay far from overflow and underflow."""
    everything = np.logaddexp(0.0, margins).sum(axis=1)
    needed = np.partition(margins, -lower, axis=1)[:, -lower:] if lower else margins[:, :0]
    fits: BoolArray = (everything < PLAIN_RANGE) & (np.minimum(needed, 0.0).sum(axis=1) > -PLAIN_RANGE)
    return fits


def _plain_sweeps(margins: FloatArray, lower: int, upper: int) -> tuple[FloatArray, FloatArray]:
    """Both sweeps over margins laid out alternative by alternative."""
    weights = np.exp(margins)
    inside, counter, later = _sweeps(weights, lower, upper, PLAIN)
    partition = (counter * later[-1]).sum(axis=0)
    return np.log(partition), np.minimum(inside * weights / partition, 1.0)


def _log_sweeps(margins: FloatArray, lower: int, upper: int) -> tuple[FloatArray, FloatArray]:
    """The same in logarithms, for margins of hundreds."""
    inside, _, later = _sweeps(margins, lower, upper, LOGS)
    log_partition = backward(later[0], margins[0])[0]
    return log_partition, np.exp(np.minimum(inside + margins - log_partition, 0.0))


def _sweeps(
    weights: FloatArray, lower: int, upper: int, numbers: Arithmetic
) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
    """The sum over all allowed sets with each alternative, its own weight left out; the counter after the last
    alternative; and what the states are worth after each alternative.
    """
    width, rows = weights.shape
    later = [np.repeat(end_states(lower, upper, width, numbers)[:, None], rows, axis=1)]
    for weight in weights[:0:-1]:
        later.append(backward(later[-1], weight, numbers=numbers))
    later.reverse()
    counter = np.repeat(start_state(len(later[0]), numbers)[:, None], rows, axis=1)
    inside = np.empty_like(weights)
    for j, weight in enumerate(weights):
        inside[j] = weight_with(counter, later[j], numbers)
        counter = forward(counter, weight, numbers=numbers)
    return inside, counter, later
