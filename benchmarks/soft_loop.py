"""The first parts of the soft pass over a shard, to be timed one after the other; importing this loads numba."""

import numpy as np

from epivote.kernels.decorators import compiled
from epivote.kernels.lanes import LANES
from epivote.kernels.soft_loops import KEPT_BALLOTS, count, line_up, multiply, room_for, weigh_odds


@compiled
def first_parts(
    parts,
    ballot_start, ballot_voter, masks, tick_start, tick_column, offered,  # BallotColumns  # noqa: ARG001
    prior_log_odds, pushes, largest_push,  # Evidence
    lower, upper, fixed, given,  # Allowed  # noqa: ARG001
    voters, factors, order,
):  # fmt: skip
    """Line up the rows of every block; with more parts multiply odds, then weigh sets, then count hits."""
    width = len(prior_log_odds)
    odds, inclusion = np.ones((width, LANES)), np.ones((width, LANES))
    later, counter, everything = room_for(width, lower, upper)
    span, waiting, plain = np.empty((3, LANES), np.int64), np.empty((1, LANES), np.int64), np.empty(LANES, np.bool_)
    voter, mask = np.zeros((KEPT_BALLOTS + 1, LANES), np.int64), np.zeros((KEPT_BALLOTS + 1, LANES), np.int64)
    for begin in range(0, len(order), LANES):
        block = order[begin : begin + LANES]
        rounds = line_up(block, ballot_start, ballot_voter, pushes, largest_push, fixed, span, waiting, plain)
        if parts > 1:
            odds[:] = 1.0
            multiply(
                block, rounds, ballot_start, ballot_voter, masks, tick_start, tick_column, factors,
                span, waiting, voter, mask, odds,
            )  # fmt: skip
        if parts > 2:
            weigh_odds(odds, lower, upper, later, counter, everything, inclusion)
        if parts > 3:
            count(
                block, rounds, ballot_start, ballot_voter, masks, tick_start, tick_column,
                span, waiting, voter, mask, inclusion, voters,
            )  # fmt: skip
