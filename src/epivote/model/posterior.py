"""Exact probabilities of sets and members under size bounds.

P(S | ballots) is proportional to exp(sum of the margins in S) over the allowed sets; forward and backward sweeps over
alternatives and the states of a size counter give all of it in O(m u) per instance.
"""

import numpy as np

from epivote.data.names import BoolArray, FloatArray
from epivote.model.sizes import backward, end_states, forward, next_state, start_state

NUMBERS_PER_CHUNK = 1 << 21


def log_partition_and_inclusion(margins: FloatArray, lower: int, upper: int) -> tuple[FloatArray, FloatArray]:
    """Ln of the sum over all allowed sets, and the probability of every member, for every row of margins."""
    rows, width = margins.shape
    if lower == 0 and upper >= width:
        return np.logaddexp(0.0, margins).sum(axis=1), _sigmoid(margins)
    states = len(end_states(lower, upper, width))
    step = max(1, NUMBERS_PER_CHUNK // (states * (width + 1)))
    parts = [_sweep_both_ways(margins[begin : begin + step], lower, upper) for begin in range(0, rows, step)]
    return np.concatenate([partition for partition, _ in parts]), np.concatenate([inside for _, inside in parts])


def set_probabilities(margins: FloatArray, chosen: BoolArray, log_partition: FloatArray) -> FloatArray:
    """Probability that the chosen set of every row is exactly the right one."""
    log_weight: FloatArray = np.where(chosen, margins, 0.0).sum(axis=1)
    return np.exp(log_weight - log_partition)


def _sweep_both_ways(margins: FloatArray, lower: int, upper: int) -> tuple[FloatArray, FloatArray]:
    rows, width = margins.shape
    zero = np.zeros(rows)
    later = [end_states(lower, upper, width)[:, None] + zero]
    for j in range(width - 1, -1, -1):
        later.append(backward(later[-1], margins[:, j], zero))
    later.reverse()
    log_partition = later[0][0]
    counter = start_state(len(later[0]))[:, None] + zero
    inclusion = np.empty_like(margins)
    for j in range(width):
        inside = np.logaddexp.reduce(counter + next_state(later[j + 1]), axis=0)
        inclusion[:, j] = np.exp(np.minimum(inside + margins[:, j] - log_partition, 0.0))
        counter = forward(counter, margins[:, j], zero)
    return log_partition, inclusion


def _sigmoid(values: FloatArray) -> FloatArray:
    return np.exp(-np.logaddexp(0.0, -values))
