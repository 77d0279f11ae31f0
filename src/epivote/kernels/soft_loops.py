"""The soft pass over a shard as compiled loops: odds, probabilities, counts.

It does what `ArrayPass` does with arrays, up to rounding. Rows are worked through in blocks, in lockstep: the inner
loops run over the rows of a block, each in a lane of its own, which the compiler turns into vector instructions.
"""

import math

import numpy as np

from epivote.kernels.decorators import compiled, inlined, reordering
from epivote.kernels.hard_loops import margins_of
from epivote.kernels.masks import LAST_PLACE, ONE

PLAIN_RANGE = 300.0  # log-odds whose products stay far from the limits of floats (e^709)
LARGEST = 1e130  # odds; the product of two stays below the largest float (1e308)
MOST_LANES = 160  # rows weighed in lockstep; found by trying with `make bench`
NUMBERS_PER_BLOCK = 1 << 16  # 512 kB of floats, within the second cache
FEWEST_LANES = 8  # rows from which lockstep pays: one vector of 8 floats


@reordering
def soft_pass(
    ballot_start, ballot_voter, masks, tick_start, tick_column, offered,  # BallotColumns
    prior_log_odds, pushes, largest_push,  # Evidence
    lower, upper, fixed, given,  # Allowed
    voters, occurrences,  # PassCounts
    factors, order,
):  # fmt: skip
    """Weigh every row's cells, those of `fixed` rows by their sets, count, and add up all log-partitions.

    `factors` are what a ballot of each voter multiplies the odds of a cell by that it ticks, and of one that it leaves.
    Rows are taken in `order`, those with most ballots first, so that those side by side have about equally many.
    """
    rows = len(order)
    width = offered.shape[1] if len(offered) else len(prior_log_odds)
    top = lower if upper >= width else upper
    lanes = max(1, min(MOST_LANES, NUMBERS_PER_BLOCK // ((width + 1) * (top + 1))))
    odds, inclusion, later = np.ones((width, lanes)), np.empty((width, lanes)), np.empty((width + 1, top + 1, lanes))
    counter, everything = np.empty((top + 1, lanes)), np.empty(lanes)
    prior, one = prior_log_odds[:width].copy(), np.empty(width)
    prior_odds, plain = np.exp(prior_log_odds), np.empty(lanes, np.bool_)
    mask, found = np.empty(lanes, np.uint64), np.empty(lanes)
    total, product = 0.0, 1.0
    for first in range(0, rows, lanes):
        block = order[first : first + lanes]
        count = len(block)
        for lane in range(count):
            row = block[lane]
            for c in range(width):
                one[c] = prior_odds[offered[row, c] if len(offered) else c]
            plain[lane] = not (len(fixed) and fixed[row]) and in_range(
                row, ballot_start, ballot_voter, pushes, largest_push
            )
            if plain[lane]:
                odds_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, factors, one)
                for c in range(width):
                    odds[c, lane] = one[c]
        weigh_odds(odds, lower, upper, later, counter, everything, inclusion)
        for lane in range(count):
            row = block[lane]
            partition = later[0, 0, lane]
            if plain[lane] and everything[lane] < LARGEST and partition > 1.0 / LARGEST:
                product *= partition
                if not 1.0 / LARGEST < product < LARGEST:
                    total += math.log(product)
                    product = 1.0
                continue
            if len(offered):
                for c in range(width):
                    prior[c] = prior_log_odds[offered[row, c]]
            margins_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, pushes, one)
            if len(fixed) and fixed[row]:
                for c in range(width):
                    inclusion[c, lane] = given[row, c]
                    total += one[c] * given[row, c]
            else:
                total += weigh_margins(one, lower, upper, later[:, :, lane], counter[:, lane], inclusion[:, lane])
        sizes = everything  # not needed any more
        sizes[:] = 0.0
        for c in range(width):
            sizes += inclusion[c]
        rounds = add_up(block, ballot_start, ballot_voter, masks, inclusion, sizes, voters, mask, found)
        for lane in range(count):
            begin, end = ballot_start[block[lane]] + rounds, ballot_start[block[lane] + 1]
            if begin < end:
                for c in range(width):
                    one[c] = inclusion[c, lane]
                hits_of(begin, end, ballot_voter, masks, tick_start, tick_column, one, sizes[lane], voters)
            if len(offered):
                for c in range(width):
                    occurrences[offered[block[lane], c]] += inclusion[c, lane]
        if not len(offered):
            for c in range(width):
                inside = 0.0
                for lane in range(count):
                    inside += inclusion[c, lane]
                occurrences[c] += inside
    return total + math.log(product)


@compiled
def active_in(block, ballot_start, number, active):
    """How many rows of a block, which has those with most ballots first, have a ballot of this number."""
    while active and ballot_start[block[active - 1] + 1] - ballot_start[block[active - 1]] <= number:
        active -= 1
    return active


@reordering
def add_up(block, ballot_start, ballot_voter, masks, inclusion, sizes, voters, mask, found):
    """Count hits and right ones seen of the first ballots of a block's rows: one ballot of every row at a time, as
    long as enough rows have one; gives how many that were.
    """
    number, active = 0, len(block) if len(masks) else 0
    while True:
        active = active_in(block, ballot_start, number, active)
        if active < FEWEST_LANES:
            return number
        for lane in range(active):
            mask[lane] = masks[ballot_start[block[lane]] + number]
        found[:] = 0.0
        for c in range(len(inclusion)):
            inside, place = inclusion[c], np.uint64(LAST_PLACE - c)
            for lane in range(active):
                found[lane] += inside[lane] if np.int64(mask[lane] << place) < 0 else 0.0
        for lane in range(active):
            voter = ballot_voter[ballot_start[block[lane]] + number]
            voters[voter, 0] += found[lane]
            voters[voter, 1] += sizes[lane]
        number += 1


@inlined
def odds_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, factors, odds):
    """Multiply the prior odds of a row's cells by what its ballots say."""
    all_left = 1.0
    for b in range(ballot_start[row], ballot_start[row + 1]):
        ticked, left = factors[ballot_voter[b], 0], factors[ballot_voter[b], 1]
        if len(masks):
            mask = masks[b]
            for c in range(len(odds)):
                odds[c] *= ticked if (mask >> np.uint64(c)) & ONE else left
        else:
            all_left *= left
            for k in range(tick_start[b], tick_start[b + 1]):
                odds[tick_column[k]] *= ticked / left
    if not len(masks):
        for c in range(len(odds)):
            odds[c] *= all_left


@inlined
def hits_of(begin, end, ballot_voter, masks, tick_start, tick_column, inside, size, voters):
    """Count the hits and right ones seen of these ballots of one row."""
    for b in range(begin, end):
        found = 0.0
        if len(masks):
            mask = masks[b]
            for c in range(len(inside)):
                found += inside[c] if (mask >> np.uint64(c)) & ONE else 0.0
        else:
            for k in range(tick_start[b], tick_start[b + 1]):
                found += inside[tick_column[k]]
        voters[ballot_voter[b], 0] += found
        voters[ballot_voter[b], 1] += size


@compiled
def in_range(row, ballot_start, ballot_voter, pushes, largest_push):
    """Whether no product of the odds of a row's ballots can leave the range of numbers."""
    first, end = ballot_start[row], ballot_start[row + 1]
    if largest_push * (end - first) <= PLAIN_RANGE:
        return True
    spread = 0.0
    for b in range(first, end):
        spread += abs(pushes[ballot_voter[b], 0]) + abs(pushes[ballot_voter[b], 1])
    return spread <= PLAIN_RANGE


@reordering
def weigh_odds(odds, lower, upper, later, counter, everything, inclusion):
    """Probability of every cell to be right, for a block of rows, each in a lane of its own.

    A size counter runs over the cells; it stops counting at `lower` where no upper bound binds. `later[0, 0]` is then
    the sum over all allowed sets, and `everything` that over all sets; both must have stayed in a safe range.
    """
    width, lanes = odds.shape
    absorbing = upper >= width
    top = lower if absorbing else upper
    everything[:] = 1.0
    for s in range(top + 1):
        later[width, s] = 1.0 if s >= lower else 0.0
        counter[s] = 0.0 if s else 1.0
    for c in range(width - 1, -1, -1):
        odd = odds[c]
        for s in range(top):
            here, without, with_it = later[c, s], later[c + 1, s], later[c + 1, s + 1]
            for lane in range(lanes):
                here[lane] = without[lane] + odd[lane] * with_it[lane]
        here, without = later[c, top], later[c + 1, top]
        for lane in range(lanes):
            everything[lane] *= 1.0 + odd[lane]
            here[lane] = without[lane] * (1.0 + odd[lane]) if absorbing else without[lane]
    share = 1.0 / later[0, 0]
    for c in range(width):
        odd, inside, full, with_it = odds[c], inclusion[c], counter[top], later[c + 1, top]
        for lane in range(lanes):
            inside[lane] = full[lane] * odd[lane] * with_it[lane] if absorbing else 0.0
            full[lane] *= 1.0 + odd[lane] if absorbing else 1.0
        for s in range(top - 1, -1, -1):
            here, above, with_it = counter[s], counter[s + 1], later[c + 1, s + 1]
            for lane in range(lanes):
                part = here[lane] * odd[lane]
                above[lane] += part
                inside[lane] += part * with_it[lane]
        for lane in range(lanes):
            inside[lane] = min(inside[lane] * share[lane], 1.0)


@compiled
def weigh_margins(margins, lower, upper, later, counter, inclusion):
    """The same in logarithms, for margins of hundreds; gives the logarithm of the sum."""
    width = len(margins)
    absorbing = upper >= width
    top = lower if absorbing else upper
    for s in range(top + 1):
        later[width, s] = 0.0 if s >= lower else -np.inf
    for c in range(width - 1, -1, -1):
        for s in range(top):
            later[c, s] = log_sum(later[c + 1, s], margins[c] + later[c + 1, s + 1])
        later[c, top] = later[c + 1, top]
        if absorbing:
            later[c, top] = log_sum(later[c + 1, top], margins[c] + later[c + 1, top])
    log_partition = later[0, 0]
    counter[:] = -np.inf
    counter[0] = 0.0
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
