"""How large a random set is when alternative j is in it with probability t_j."""

import math

import numpy as np

from epivote.data.names import FloatArray
from epivote.model.size_counter import (
    MAX_LOG_PRODUCT,
    backward,
    end_states,
    is_absorbing,
    plain_backward,
    plain_ends,
)

MAX_PLAIN_STATES = 40  # of the size counter, up to which lists are quicker than arrays; found by trying


def log_size_mass(priors: FloatArray, lower: int, upper: int) -> float:
    """Ln beta(l, u, t): log-probability that the size lies in lower..upper."""
    states = lower if is_absorbing(upper, len(priors)) else upper
    numbers = priors.tolist()
    smallest = min(min(numbers, default=1.0), 1 - max(numbers, default=0.0))
    if states <= MAX_PLAIN_STATES and len(numbers) * math.log(smallest) > -MAX_LOG_PRODUCT:
        return _plain_log_size_mass(numbers, lower, upper)
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
