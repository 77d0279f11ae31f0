"""What is asked once a fit has ended, as compiled loops: log-odds of all cells, and probabilities from log-odds.

`margin_table` does what `margins` does, to the last bit; `weigh_table` what `log_partition_and_inclusion` does, up to
rounding, for eight rows in lockstep.
"""

import math

from epivote.kernels.arguments import LANES
from epivote.kernels.decorators import compiled
from epivote.kernels.hard_loops import margins_of
from epivote.kernels.lanes import store
from epivote.kernels.soft_loops import LARGEST, SMALLEST, weigh


@compiled
def margin_table(
    ballot_start, ballot_voter, masks, tick_start, tick_column, offered,  # BallotColumns
    prior_log_odds, pushes,  # Evidence
    prior, margins,
):  # fmt: skip
    """Fill in the log-odds of every cell; `prior` is room for those of a row."""
    for row in range(len(margins)):
        for c in range(len(prior)):
            prior[c] = prior_log_odds[c if offered is None else offered[row, c]]
        margins_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, pushes, margins[row])


@compiled
def weigh_table(log_odds, lower, upper, odds, later, fewer, within, log_partition, inclusion, left):
    """Fill in the logarithm of the sum over all allowed sets of every row, and the probability of every cell.

    What could leave the range of floats is noted in `left`.
    """
    rows, width = log_odds.shape
    for begin in range(0, rows, LANES):
        for lane in range(LANES):
            row = begin + lane if begin + lane < rows else rows - 1
            for c in range(width):
                odds[c, lane] = math.exp(log_odds[row, c])
        everything, allowed = weigh(odds, lower, upper, width, later, fewer, within, 0)
        store(odds, 0, everything)
        store(fewer, 0, allowed)
        for row in range(begin, begin + LANES if begin + LANES < rows else rows):
            lane = row - begin
            partition = fewer[0, lane]
            if odds[0, lane] < LARGEST and partition > SMALLEST:
                log_partition[row] = math.log(partition)
                for c in range(width):
                    share = within[c, lane] / partition
                    inclusion[row, c] = share if share < 1.0 else 1.0
            else:
                left[row] = True
