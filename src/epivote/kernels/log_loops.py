"""The soft pass over single rows in logarithms, for evidence of any size and for sets that are given.

It is compiled only where there are such rows: most fits have none.
"""

import math

import numpy as np

from epivote.kernels.decorators import compiled
from epivote.kernels.hard_loops import margins_of
from epivote.kernels.masks import ONE, bits


@compiled
def log_pass(
    rows,
    ballot_start, ballot_voter, masks, tick_start, tick_column, offered,  # BallotColumns
    prior_log_odds, pushes,  # a row of priors per group
    lower, upper, fixed, given,  # Allowed
    log_weights, sizes, seen, voters,
):  # fmt: skip
    """Weigh the groups and cells of these rows, those of `fixed` rows by their sets, and count.

    Gives the sum of the logarithms of what all groups make of a row.
    """
    groups, total = len(log_weights), 0.0
    width = prior_log_odds.shape[1] if offered is None else offered.shape[1]
    prior, margins, inside = np.empty(width), np.empty(width), np.empty(width)
    within, chances = np.empty((groups, width)), np.empty(groups)
    for row in rows:
        for k in range(groups):
            for c in range(width):
                prior[c] = prior_log_odds[k, c if offered is None else offered[row, c]]
            margins_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, pushes, margins)
            chances[k] = log_weights[k]
            if fixed is not None and fixed[row]:
                for c in range(width):
                    within[k, c] = given[row, c]
                    chances[k] += margins[c] * given[row, c]
            else:
                chances[k] += weigh_margins(margins, lower, upper, within[k])
        total += share_out(chances)
        inside[:] = 0.0
        for k in range(groups):
            sizes[k] += chances[k]
            for c in range(width):
                inside[c] += chances[k] * within[k, c]
                seen[k, c if offered is None else offered[row, c]] += chances[k] * within[k, c]
        size = inside.sum()
        for b in range(ballot_start[row], ballot_start[row + 1]):
            hits = 0.0
            if tick_start is not None:
                for place in range(tick_start[b], tick_start[b + 1]):
                    hits += inside[tick_column[place]]
            if masks is not None:
                ticks = masks[b]
                while ticks:
                    hits += inside[bits((ticks & -ticks) - ONE)]
                    ticks &= ticks - ONE
            voters[ballot_voter[b], 0] += hits
            voters[ballot_voter[b], 1] += size
    return total


@compiled
def weigh_margins(margins, lower, upper, inclusion):
    """Probability of every cell to be right from margins of any size; gives the logarithm of the sum."""
    width = len(margins)
    absorbing = upper >= width
    top = lower if absorbing else upper
    later, counter = np.empty((width + 1, top + 1)), np.empty(top + 1)
    for s in range(top + 1):
        later[width, s] = 0.0 if s >= lower else -np.inf
        counter[s] = -np.inf if s else 0.0
    for c in range(width - 1, -1, -1):
        for s in range(top):
            later[c, s] = log_sum(later[c + 1, s], margins[c] + later[c + 1, s + 1])
        later[c, top] = later[c + 1, top]
        if absorbing:
            later[c, top] = log_sum(later[c + 1, top], margins[c] + later[c + 1, top])
    log_partition = later[0, 0]
    for c in range(width):
        inside = counter[top] + later[c + 1, top] if absorbing else -np.inf
        for s in range(top):
            inside = log_sum(inside, counter[s] + later[c + 1, s + 1])
        inclusion[c] = math.exp(min(inside + margins[c] - log_partition, 0.0))
        if absorbing:
            counter[top] = log_sum(counter[top], counter[top] + margins[c])
        for s in range(top, 0, -1):
            counter[s] = log_sum(counter[s], counter[s - 1] + margins[c])
    return log_partition


@compiled
def log_sum(a, b):
    """The logarithm of e^a + e^b."""
    high, low = max(a, b), min(a, b)
    return high if low == -np.inf else high + math.log1p(math.exp(low - high))


@compiled
def share_out(logs):
    """Turn logarithms of weights into shares of 1; gives the logarithm of their sum."""
    largest, weight = logs[0], 0.0
    for value in logs:
        largest = max(largest, value)
    for k in range(len(logs)):
        logs[k] = math.exp(logs[k] - largest)
        weight += logs[k]
    for k in range(len(logs)):
        logs[k] /= weight
    return largest + math.log(weight)
