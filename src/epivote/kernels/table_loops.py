"""What is asked once a fit has ended, as compiled loops: log-odds of all cells, and probabilities from log-odds.

`margin_table` does what `margins` does, to the last bit; `weigh_table` what `log_partition_and_inclusion` does, up to
rounding, for eight rows in lockstep.
"""

import math

import numpy as np

from epivote.kernels.decorators import compiled
from epivote.kernels.hard_loops import margins_of
from epivote.kernels.lanes import LANES
from epivote.kernels.soft_loops import LARGEST, room_for, weigh_margins, weigh_odds


@compiled
def margin_table(
    ballot_start, ballot_voter, masks, tick_start, tick_column, offered,  # BallotColumns
    prior_log_odds, pushes,  # Evidence
    margins,
):  # fmt: skip
    """Fill in the log-odds of every cell."""
    width = margins.shape[1]
    prior = prior_log_odds[:width].copy()
    for row in range(len(margins)):
        if len(offered):
            for c in range(width):
                prior[c] = prior_log_odds[offered[row, c]]
        margins_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, pushes, margins[row])


@compiled
def weigh_table(log_odds, lower, upper, log_partition, inclusion):
    """Fill in the logarithm of the sum over all allowed sets of every row, and the probability of every cell."""
    rows, width = log_odds.shape
    odds, inside = np.empty((width, LANES)), np.empty((width, LANES))
    later, counter, everything = room_for(width=width, lower=lower, upper=upper)
    for begin in range(0, rows, LANES):
        for lane in range(LANES):
            row = min(begin + lane, rows - 1)
            for c in range(width):
                odds[c, lane] = math.exp(log_odds[row, c])
        weigh_odds(odds, lower, upper, later, counter, everything, inside)
        for lane in range(min(LANES, rows - begin)):
            row, partition = begin + lane, later[0, lane]
            if everything[0, lane] < LARGEST and partition > 1.0 / LARGEST:
                log_partition[row] = math.log(partition)
                for c in range(width):
                    inclusion[row, c] = inside[c, lane]
            else:
                log_partition[row] = weigh_margins(log_odds[row], lower, upper, inclusion[row])
