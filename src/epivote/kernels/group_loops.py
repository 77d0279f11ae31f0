"""The pass over a shard of instances in groups as compiled loops: `group_pass`, up to rounding.

As in `soft_loops`, eight rows are worked on in lockstep, once for every group; what the ballots say is worked out once
for all groups.
"""

import math

import numpy as np

from epivote.kernels.decorators import compiled
from epivote.kernels.lanes import LANES, every, load, plus, store, times
from epivote.kernels.soft_loops import KEPT_BALLOTS, LARGEST, count, line_up, multiply, room_for, weigh_odds, weigh_row


@compiled
def group_soft_pass(
    ballot_start, ballot_voter, masks, tick_start, tick_column, offered,  # BallotColumns  # noqa: ARG001
    group_log_odds, pushes, largest_push,  # Evidence, with a row of priors per group
    lower, upper, fixed, given,  # Allowed
    voters, occurrences, sizes, log_weights,  # PassCounts, occurrences and instances per group, ln(share / Z)
    factors, order,
):  # fmt: skip
    """Weigh every row's groups and cells, count, and add up the logarithms of what all groups make of a row."""
    groups, width = group_log_odds.shape
    evidence, odds, inclusion = np.empty((width, LANES)), np.empty((width, LANES)), np.empty((width, LANES))
    within, chances, one = np.zeros((groups, width, LANES)), np.zeros((groups, LANES)), np.empty(width)
    later, counter, everything = room_for(width=width, lower=lower, upper=upper)
    span, waiting, plain = np.empty((3, LANES), np.int64), np.empty((1, LANES), np.int64), np.empty(LANES, np.bool_)
    voter, mask = np.empty((KEPT_BALLOTS + 1, LANES), np.int64), np.empty((KEPT_BALLOTS + 1, LANES), np.int64)
    seen, prior_odds, total = np.zeros((groups * width, LANES)), np.exp(group_log_odds), 0.0
    for begin in range(0, len(order), LANES):
        block = order[begin : begin + LANES]
        rounds = line_up(block, ballot_start, ballot_voter, pushes, largest_push, fixed, span, waiting, plain)
        evidence[:] = 1.0
        multiply(
            block, rounds, ballot_start, ballot_voter, masks, tick_start, tick_column, factors,
            span, waiting, voter, mask, evidence,
        )  # fmt: skip
        for k in range(groups):
            for c in range(width):
                store(odds, c, times(load(evidence, c), every(prior_odds[k, c])))
            weigh_odds(odds, lower, upper, later, counter, everything, within[k])
            for lane in range(len(block)):
                partition = later[0, lane]
                chances[k, lane] = log_weights[k]
                if plain[lane] and everything[0, lane] < LARGEST and partition > 1.0 / LARGEST:
                    chances[k, lane] += math.log(partition)
                    continue
                chances[k, lane] += weigh_row(
                    block[lane], ballot_start, ballot_voter, masks, tick_start, tick_column, group_log_odds[k], pushes,
                    lower, upper, fixed, given, one,
                )  # fmt: skip
                for c in range(width):
                    within[k, c, lane] = one[c]
        for lane in range(len(block)):
            total += share_out(chances[:, lane])
        chances[:, len(block) :] = 0.0
        inclusion[:] = 0.0
        for k in range(groups):
            chance = load(chances, k)
            sizes[k] += chances[k].sum()
            for c in range(width):
                part = times(chance, load(within[k], c))
                store(inclusion, c, plus(load(inclusion, c), part))
                store(seen, k * width + c, plus(load(seen, k * width + c), part))
        count(
            block, rounds, ballot_start, ballot_voter, masks, tick_start, tick_column,
            span, waiting, voter, mask, inclusion, voters,
        )  # fmt: skip
    for k in range(groups):
        for c in range(width):
            occurrences[k, c] += seen[k * width + c].sum()
    return total


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
