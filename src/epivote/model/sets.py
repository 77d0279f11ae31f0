"""Sets drawn at random under size bounds, exactly."""

import numpy as np

from epivote.data.names import BoolArray, FloatArray
from epivote.model.size_counter import backward_table, next_state


def draw_sets(log_odds: FloatArray, lower: int, upper: int, count: int, rng: np.random.Generator) -> BoolArray:
    """`count` sets with probability proportional to exp(sum of the log-odds of their members), of allowed size.

    Alternative by alternative, each given the size so far.
    """
    m = len(log_odds)
    table = backward_table(log_odds, None, lower, upper)
    members = np.zeros((count, m), bool)
    size = np.zeros(count, np.int64)
    for j in range(m):
        inside, outside = log_odds[j] + next_state(table[j + 1]), table[j + 1]
        possible = np.isfinite(inside) | np.isfinite(outside)
        chance = np.zeros(len(inside))
        chance[possible] = np.exp(inside[possible] - np.logaddexp(inside, outside)[possible])
        members[:, j] = rng.random(count) < chance[np.minimum(size, len(chance) - 1)]
        size += members[:, j]
    return members
