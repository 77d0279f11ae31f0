"""The pass over a shard of instances in groups as compiled loops: `group_pass`, up to rounding.

As in `soft_loops`, rows are worked through in blocks, each in a lane of its own, once for every group; what the ballots
say is worked out once for all groups.
"""

import math

import numpy as np

from epivote.kernels.decorators import reordering
from epivote.kernels.hard_loops import margins_of
from epivote.kernels.soft_loops import (
    LARGEST,
    MOST_LANES,
    NUMBERS_PER_BLOCK,
    add_up,
    hits_of,
    in_range,
    odds_of,
    weigh_margins,
    weigh_odds,
)


@reordering
def group_soft_pass(
    ballot_start, ballot_voter, masks, tick_start, tick_column, offered,  # BallotColumns  # noqa: ARG001
    group_log_odds, pushes, largest_push,  # Evidence, with a row of priors per group
    lower, upper, fixed, given,  # Allowed
    voters, occurrences, sizes, log_weights,  # PassCounts, occurrences and instances per group, ln(share / Z)
    factors, order,
):  # fmt: skip
    """Weigh every row's groups and cells, count, and add up the logarithms of what all groups make of a row."""
    rows = len(order)
    groups, width = group_log_odds.shape
    top = lower if upper >= width else upper
    lanes = max(1, min(MOST_LANES, NUMBERS_PER_BLOCK // ((width + 1) * (top + 1 + groups))))
    evidence, odds, later = np.ones((width, lanes)), np.ones((width, lanes)), np.empty((width + 1, top + 1, lanes))
    counter, everything, one = np.empty((top + 1, lanes)), np.empty(lanes), np.empty(width)
    within, chances, inclusion = np.empty((groups, width, lanes)), np.zeros((groups, lanes)), np.empty((width, lanes))
    prior_odds, plain = np.exp(group_log_odds), np.empty(lanes, np.bool_)
    mask, found = np.empty(lanes, np.uint64), np.empty(lanes)
    total = 0.0
    for first in range(0, rows, lanes):
        block = order[first : first + lanes]
        count = len(block)
        for lane in range(count):
            row = block[lane]
            plain[lane] = not (len(fixed) and fixed[row]) and in_range(
                row, ballot_start, ballot_voter, pushes, largest_push
            )
            if plain[lane]:
                one[:] = 1.0
                odds_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, factors, one)
                for c in range(width):
                    evidence[c, lane] = one[c]
        for k in range(groups):
            for c in range(width):
                odds[c] = evidence[c] * prior_odds[k, c]
            weigh_odds(odds, lower, upper, later, counter, everything, within[k])
            for lane in range(count):
                row = block[lane]
                partition = later[0, 0, lane]
                if plain[lane] and everything[lane] < LARGEST and partition > 1.0 / LARGEST:
                    chances[k, lane] = log_weights[k] + math.log(partition)
                    continue
                prior = group_log_odds[k]
                margins_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, pushes, one)
                if len(fixed) and fixed[row]:
                    chances[k, lane] = log_weights[k]
                    for c in range(width):
                        within[k, c, lane] = given[row, c]
                        chances[k, lane] += one[c] * given[row, c]
                else:
                    value = weigh_margins(one, lower, upper, later[:, :, lane], counter[:, lane], within[k, :, lane])
                    chances[k, lane] = log_weights[k] + value
        inclusion[:] = 0.0
        for lane in range(count):
            total += share_out(chances[:, lane])
        for k in range(groups):
            chance = chances[k]
            for lane in range(count):
                sizes[k] += chance[lane]
            for c in range(width):
                inside, expected, mixed = within[k, c], 0.0, inclusion[c]
                for lane in range(count):
                    part = chance[lane] * inside[lane]
                    mixed[lane] += part
                    expected += part
                occurrences[k, c] += expected
        members = everything  # not needed any more
        members[:] = 0.0
        for c in range(width):
            members += inclusion[c]
        rounds = add_up(block, ballot_start, ballot_voter, masks, inclusion, members, voters, mask, found)
        for lane in range(count):
            begin, end = ballot_start[block[lane]] + rounds, ballot_start[block[lane] + 1]
            if begin < end:
                for c in range(width):
                    one[c] = inclusion[c, lane]
                hits_of(begin, end, ballot_voter, masks, tick_start, tick_column, one, members[lane], voters)
    return total


@reordering
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
