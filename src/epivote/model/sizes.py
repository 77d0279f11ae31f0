"""How large a random set is when alternative j is in it with probability t_j, and what size bounds do to that.

All in logarithms and sums of positive terms only, so nothing underflows or cancels: with 10,000 alternatives the mass
of `0..50` may be 1e-2900 and is still right.

A set is drawn alternative by alternative while a counter follows its size. The counter needs only the states that the
bounds can tell apart: 0..upper and one dead state above, or, without upper bound, 0..lower, the last meaning "enough".
"""

import math
from itertools import pairwise

import numpy as np

from epivote.data.names import FloatArray
from epivote.model.compiling import loaded

Weight = FloatArray | float
FEW = 40  # states counted in plain Python, up to which that is quicker than arrays; found by trying
SAFE = 600.0
"""Products of numbers whose logarithms add up to less than this, either way, are plain numbers."""


def start_state(n_states: int) -> FloatArray:
    """The counter before any alternative: surely at 0."""
    return np.concatenate([[0.0], np.full(n_states - 1, -np.inf)])


def end_states(lower: int, upper: int, n_alternatives: int) -> FloatArray:
    """Log-probability (0 or -inf) that a set which ends in each state of the counter is allowed."""
    if upper >= n_alternatives:
        return np.where(np.arange(lower + 1) == lower, 0.0, -np.inf)
    sizes = np.arange(upper + 2)
    return np.where((sizes >= lower) & (sizes <= upper), 0.0, -np.inf)


def forward(before: FloatArray, log_in: Weight, log_out: Weight) -> FloatArray:
    """The counter after one more alternative, in with weight `log_in`, out with `log_out`; the last state absorbs."""
    after = before + log_out
    after[1:] = np.logaddexp(after[1:], before[:-1] + log_in)
    after[-1] = np.logaddexp(after[-1], before[-1] + log_in)
    return after


def backward(after: FloatArray, log_in: Weight, log_out: Weight) -> FloatArray:
    """What each state is worth before one more alternative, given what it is worth after it."""
    return np.logaddexp(after + log_out, next_state(after) + log_in)


def next_state(values: FloatArray) -> FloatArray:
    """The value of the state after one more member; the last state stays."""
    return np.concatenate([values[1:], values[-1:]])


def backward_table(log_in: FloatArray, log_out: FloatArray, lower: int, upper: int) -> list[FloatArray]:
    """Worth of every state before alternatives j, j+1, ...: entry j for all of them, the last for none left."""
    table = [end_states(lower, upper, len(log_in))]
    for j in range(len(log_in) - 1, -1, -1):
        table.append(backward(table[-1], log_in[j], log_out[j]))
    return table[::-1]


def log_size_distribution(priors: FloatArray) -> FloatArray:
    """Log-probability of every size 0..m (the Poisson-binomial distribution)."""
    counter = start_state(len(priors) + 1)
    for log_in, log_out in zip(np.log(priors), np.log1p(-priors), strict=True):
        counter = forward(counter, log_in, log_out)
    return counter


def log_size_mass(priors: FloatArray, lower: int, upper: int) -> float:
    """Ln beta: log-probability that the size lies in lower..upper."""
    states = lower if upper >= len(priors) else upper
    smallest = float(np.min(np.minimum(priors, 1 - priors), initial=1.0))
    if states <= FEW and len(priors) * math.log(smallest) > -SAFE:
        if not loaded():
            return _log_mass_of_few(priors.tolist(), lower, upper)
        from epivote.model.prior_kernels import log_mass_of_few

        return float(log_mass_of_few(priors, lower, upper))
    counter = end_states(lower, upper, len(priors))
    for log_in, log_out in zip(np.log(priors), np.log1p(-priors), strict=True):
        counter = backward(counter, log_in, log_out)
    return float(counter[0])


def _log_mass_of_few(priors: list[float], lower: int, upper: int) -> float:
    """The same with plain numbers, for few states and where no product can vanish."""
    absorbing = upper >= len(priors)
    worth = [1.0 if size >= lower else 0.0 for size in range((lower if absorbing else upper) + 1)]
    for prior in priors:
        last = worth[-1] if absorbing else (1 - prior) * worth[-1]
        worth = [(1 - prior) * without + prior * with_ for without, with_ in pairwise(worth)]
        worth.append(last)
    return math.log(worth[0]) if worth[0] > 0 else -math.inf


def size_mass(priors: FloatArray, lower: int, upper: int) -> float:
    """beta(l, u, t): probability that the size lies in lower..upper."""
    return float(np.exp(log_size_mass(priors, lower, upper)))


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
        with_[j] = np.logaddexp.reduce(counter + next_state(table[j + 1]))
        without[j] = np.logaddexp.reduce(counter + table[j + 1])
        counter = forward(counter, log_in[j], log_out[j])
    return with_, without
