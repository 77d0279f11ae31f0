"""How large a random set is when alternative j is in it with probability t_j, and what size bounds do to that."""

import math

import numpy as np

from epivote.data.names import FloatArray
from epivote.model.size_counter import (
    MAX_LOG_PRODUCT,
    backward,
    backward_table,
    end_states,
    forward,
    is_absorbing,
    plain_backward,
    plain_ends,
    start_state,
    weight_with,
    weight_without,
)

MAX_PLAIN_STATES = 40  # of the size counter, up to which lists are quicker than arrays; found by trying


def log_size_distribution(priors: FloatArray) -> FloatArray:
    """Log-probability of every size 0..m (the Poisson-binomial distribution)."""
    counter = start_state(len(priors) + 1)
    for log_in, log_out in zip(np.log(priors), np.log1p(-priors), strict=True):
        counter = forward(counter, log_in, log_out)
    return counter


def size_mass(priors: FloatArray, lower: int, upper: int) -> float:
    """beta(l, u, t): probability that the size lies in lower..upper."""
    return float(np.exp(log_size_mass(priors, lower, upper)))


def log_size_mass(priors: FloatArray, lower: int, upper: int) -> float:
    """Ln beta: log-probability that the size lies in lower..upper."""
    states = lower if is_absorbing(upper, len(priors)) else upper
    smallest = float(np.min(np.minimum(priors, 1 - priors), initial=1.0))
    if states <= MAX_PLAIN_STATES and len(priors) * math.log(smallest) > -MAX_LOG_PRODUCT:
        return _plain_log_size_mass(priors.tolist(), lower, upper)
    worth = end_states(lower, upper, len(priors))
    for log_in, log_out in zip(np.log(priors), np.log1p(-priors), strict=True):
        worth = backward(worth, log_in, log_out)
    return float(worth[0])


def _plain_log_size_mass(priors: list[float], lower: int, upper: int) -> float:
    """The same with plain numbers, for few states and where no product can vanish."""
    absorbing = is_absorbing(upper, len(priors))
    worth = plain_ends(lower, upper, len(priors))
    for prior in priors:
        worth = plain_backward(worth, prior, 1 - prior, absorbing)
    return math.log(worth[0]) if worth[0] > 0 else -math.inf


def log_masses(priors: FloatArray, lower: int, upper: int) -> tuple[FloatArray, FloatArray]:
    """Ln of `mass_with` and `mass_without` for every alternative, in one forward and one backward sweep: O(m u).

    mass_with_j = P(l <= size <= u | j in the set), the paper's alpha-overline; mass_without_j = P(... | j not in it),
    its alpha-underline; t_j mass_with_j + (1 - t_j) mass_without_j = beta for every j.
    """
    log_in, log_out = np.log(priors), np.log1p(-priors)
    table = backward_table(log_in, log_out, lower, upper)
    counter = start_state(len(table[-1]))
    with_, without = np.empty(len(priors)), np.empty(len(priors))
    for j in range(len(priors)):
        with_[j], without[j] = weight_with(counter, table[j + 1]), weight_without(counter, table[j + 1])
        counter = forward(counter, log_in[j], log_out[j])
    return with_, without
