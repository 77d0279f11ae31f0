"""The soft pass over a shard as compiled loops: odds, probabilities, counts.

It does what `ArrayPass` does with arrays, up to rounding. Eight rows are worked on in lockstep, each in a lane of its
own (`lanes.py`). Evidence is multiplied as odds: a voter's two factors are worked out once an iteration, so that no
cell needs a logarithm or an exponential. Each product and each sum of positive numbers is off by at most one rounding,
so all results are off by about as many roundings as there are ballots on an instance and alternatives, relative to
themselves. Rows whose odds could leave the range of floats are weighed one by one in logarithms.
"""

import math

import numpy as np

from epivote.kernels.decorators import compiled, merged
from epivote.kernels.hard_loops import margins_of
from epivote.kernels.lanes import (
    LANES,
    add_pairs,
    every,
    gather,
    load,
    over,
    plus,
    plus_product,
    shifted,
    smaller,
    store,
    times,
    where_negative,
)

PLAIN_RANGE = 300.0  # log-odds whose products stay far from the limits of floats (e^709)
LARGEST = 1e130  # odds; the product of two stays below the largest float (1e308)
MOST_STATES = 1 << 21  # of a size counter over all cells: 128 MB; rows with more are weighed one by one
KEPT_BALLOTS = 32  # of every row that are read once and counted from a table in the first cache; a round number
BITS = 64  # of a mask


@compiled
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
    width = offered.shape[1] if len(offered) else len(prior_log_odds)
    odds, inclusion, seen = np.empty((width, LANES)), np.empty((width, LANES)), np.empty((width, LANES))
    later, counter, everything = room_for(width=width, lower=lower, upper=upper)
    span, waiting, plain = np.empty((3, LANES), np.int64), np.empty((1, LANES), np.int64), np.empty(LANES, np.bool_)
    voter, mask = np.empty((KEPT_BALLOTS + 1, LANES), np.int64), np.empty((KEPT_BALLOTS + 1, LANES), np.int64)
    prior, one, prior_odds = prior_log_odds[:width].copy(), np.empty(width), np.exp(prior_log_odds)
    total, product = 0.0, 1.0
    for c in range(width):
        store(odds, c, every(1.0))
        store(inclusion, c, every(0.0))
        store(seen, c, every(0.0))
    for begin in range(0, len(order), LANES):
        block = order[begin : begin + LANES]
        rounds = line_up(block, ballot_start, ballot_voter, pushes, largest_push, fixed, span, waiting, plain)
        for c in range(width):
            if len(offered):
                for lane in range(len(block)):
                    odds[c, lane] = prior_odds[offered[block[lane], c]]
            else:
                store(odds, c, every(prior_odds[c]))
        multiply(
            block,
            rounds,
            ballot_start,
            ballot_voter,
            masks,
            tick_start,
            tick_column,
            factors,
            span,
            waiting,
            voter,
            mask,
            odds,
        )
        weigh_odds(odds, lower, upper, later, counter, everything, inclusion)
        for lane in range(len(block)):
            row, partition = block[lane], later[0, lane]
            if plain[lane] and everything[0, lane] < LARGEST and partition > 1.0 / LARGEST:
                product *= partition
                if not 1.0 / LARGEST < product < LARGEST:
                    total += math.log(product)
                    product = 1.0
                continue
            if len(offered):
                for c in range(width):
                    prior[c] = prior_log_odds[offered[row, c]]
            total += weigh_row(
                row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, pushes,
                lower, upper, fixed, given, one,
            )  # fmt: skip
            for c in range(width):
                inclusion[c, lane] = one[c]
        for lane in range(len(block), LANES):
            for c in range(width):
                inclusion[c, lane] = 0.0
        count(
            block,
            rounds,
            ballot_start,
            ballot_voter,
            masks,
            tick_start,
            tick_column,
            span,
            waiting,
            voter,
            mask,
            inclusion,
            voters,
        )
        for c in range(width):
            if len(offered):
                for lane in range(len(block)):
                    occurrences[offered[block[lane], c]] += inclusion[c, lane]
            else:
                store(seen, c, plus(load(seen, c), load(inclusion, c)))
    for c in range(width):
        if not len(offered):
            for lane in range(LANES):
                occurrences[c] += seen[c, lane]
    return total + math.log(product)


@compiled
def room_for(width, lower, upper):
    """Tables for `weigh_odds`: what states are worth, the states themselves, and the sums over all sets."""
    states = (lower if upper >= width else upper) + 1
    cells = width if (width + 1) * states <= MOST_STATES else 0
    later, counter, everything = (
        np.empty(((cells + 1) * states, LANES)),
        np.empty((states, LANES)),
        np.empty((1, LANES)),
    )
    store(everything, 0, every(np.inf))
    return later, counter, everything


@merged
def line_up(block, ballot_start, ballot_voter, pushes, largest_push, fixed, span, waiting, plain):
    """Where the ballots of every lane begin and which is the last, how many are waiting (as a negative number), and
    whether its odds surely stay within the range of numbers; gives the largest number of ballots.

    Lanes without a row have no ballots; lanes without ballots have those of the first row to look at.
    """
    rounds = 0
    for lane in range(LANES):
        row = block[lane] if lane < len(block) else block[0]
        cast = ballot_start[row + 1] - ballot_start[row] if lane < len(block) else 0
        span[0, lane] = ballot_start[row if cast else block[0]]
        span[1, lane] = span[0, lane] + max(cast - 1, 0)
        waiting[0, lane] = -cast
        rounds = max(rounds, cast)
    safe = largest_push * rounds <= PLAIN_RANGE
    for lane in range(len(block)):
        row = block[lane]
        plain[lane] = not (len(fixed) and fixed[row]) and (safe or in_range(row, ballot_start, ballot_voter, pushes))
    return rounds


@compiled
def in_range(row, ballot_start, ballot_voter, pushes):
    """Whether no product of the odds of a row's ballots can leave the range of numbers."""
    spread = 0.0
    for b in range(ballot_start[row], ballot_start[row + 1]):
        spread += abs(pushes[ballot_voter[b], 0]) + abs(pushes[ballot_voter[b], 1])
    return spread <= PLAIN_RANGE


@merged
def next_ballots(number, span, ballot_voter, masks, width, voter, mask):
    """Who cast the ballot of this number in every lane, or its last one, and its ticks as the highest bits.

    Those of the first ballots are kept, each in a row of `voter` and `mask`; all others share the row after them, which
    is given back.
    """
    at = min(number, KEPT_BALLOTS)
    for lane in range(LANES):
        b = min(span[0, lane] + number, span[1, lane])
        voter[at, lane] = ballot_voter[b]
        span[2, lane] = b
    store(mask, at, shifted(gather(masks, None, span, 2), every(np.uint64(BITS - width))))
    return at


@merged
def multiply(
    block, rounds, ballot_start, ballot_voter, masks, tick_start, tick_column, factors, span, waiting, voter, mask, odds
):  # fmt: skip
    """Multiply the odds of a block's cells by what its ballots say, one ballot of every row at a time."""
    width, one = len(odds), every(1.0)
    if not len(masks):
        for lane in range(len(block)):
            all_left = 1.0
            for b in range(ballot_start[block[lane]], ballot_start[block[lane] + 1]):
                ticked, left = factors[ballot_voter[b], 0], factors[ballot_voter[b], 1]
                all_left *= left
                for k in range(tick_start[b], tick_start[b + 1]):
                    odds[tick_column[k], lane] *= ticked / left
            for c in range(width):
                odds[c, lane] *= all_left
        return
    still = load(waiting, 0)
    for number in range(rounds):
        at = next_ballots(number, span, ballot_voter, masks, width, voter, mask)
        ticked = where_negative(still, gather(factors, 0, voter, at), one)
        left = where_negative(still, gather(factors, 1, voter, at), one)
        bits = load(mask, at)
        for c in range(width - 1, -1, -1):
            store(odds, c, times(load(odds, c), where_negative(bits, ticked, left)))
            bits = plus(bits, bits)
        still = plus(still, every(1))


@merged
def count(
    block, rounds, ballot_start, ballot_voter, masks, tick_start, tick_column,
    span, waiting, voter, mask, inclusion, voters,
):  # fmt: skip
    """Count the hits and right ones seen of a block's ballots, one ballot of every row at a time."""
    width, none = len(inclusion), every(0.0)
    size = none
    for c in range(width):
        size = plus(size, load(inclusion, c))
    if not len(masks):
        sizes = np.empty((1, LANES))
        store(sizes, 0, size)
        for lane in range(len(block)):
            for b in range(ballot_start[block[lane]], ballot_start[block[lane] + 1]):
                hits = 0.0
                for k in range(tick_start[b], tick_start[b + 1]):
                    hits += inclusion[tick_column[k], lane]
                voters[ballot_voter[b], 0] += hits
                voters[ballot_voter[b], 1] += sizes[0, lane]
        return
    still = load(waiting, 0)
    for number in range(rounds):
        at = number
        if number >= KEPT_BALLOTS:
            at = next_ballots(number, span, ballot_voter, masks, width, voter, mask)
        bits, found = load(mask, at), none
        for c in range(width - 1, -1, -1):
            found = plus(found, where_negative(bits, load(inclusion, c), none))
            bits = plus(bits, bits)
        add_pairs(voters, voter, at, where_negative(still, found, none), where_negative(still, size, none))
        still = plus(still, every(1))


@merged
def weigh_odds(odds, lower, upper, later, counter, everything, inclusion):
    """Probability of every cell to be right, for a block of rows, each in a lane of its own.

    A size counter runs over the cells; it stops counting at `lower` where no upper bound binds. The first row of
    `later` is then the sum over all allowed sets, and `everything` that over all sets; both must have stayed in a safe
    range. Nothing is done if there is no room for the states.
    """
    width = len(odds)
    absorbing = upper >= width
    top = lower if absorbing else upper
    states = top + 1
    if len(later) < (width + 1) * states:
        return
    for s in range(states):
        store(later, width * states + s, every(1.0 if s >= lower else 0.0))
        store(counter, s, every(0.0 if s else 1.0))
    product = every(1.0)
    for c in range(width - 1, -1, -1):
        odd = load(odds, c)
        product = plus_product(product, product, odd)
        here, after = c * states, (c + 1) * states
        without = load(later, after)
        for s in range(top):
            with_it = load(later, after + s + 1)
            store(later, here + s, plus_product(without, odd, with_it))
            without = with_it
        if absorbing:
            without = plus_product(without, odd, without)
        store(later, here + top, without)
    store(everything, 0, product)
    one = every(1.0)
    share = over(one, load(later, 0))
    for c in range(width):
        odd, after = load(odds, c), (c + 1) * states
        below, inside = load(counter, 0), every(0.0)
        for s in range(1, states):
            here = load(counter, s)
            inside = plus_product(inside, below, load(later, after + s))
            store(counter, s, plus_product(here, odd, below))
            below = here
        if absorbing:
            inside = plus_product(inside, below, load(later, after + top))
            store(counter, top, plus_product(load(counter, top), odd, below))
        store(inclusion, c, smaller(times(inside, times(odd, share)), one))


@compiled
def weigh_row(
    row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, pushes,
    lower, upper, fixed, given, inclusion,
):  # fmt: skip
    """The same for one row, in logarithms, or as given; returns the logarithm of its sum over all allowed sets."""
    width = len(prior)
    margins = np.empty(width)
    margins_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, pushes, margins)
    if not (len(fixed) and fixed[row]):
        return weigh_margins(margins, lower, upper, inclusion)
    weight = 0.0
    for c in range(width):
        inclusion[c] = given[row, c]
        weight += margins[c] * given[row, c]
    return weight


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
