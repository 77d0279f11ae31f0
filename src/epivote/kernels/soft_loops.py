"""The soft pass over a shard as compiled loops: odds, probabilities, counts; with or without groups of instances.

It does what `ArrayPass` does with arrays, up to rounding. Eight rows are worked on in lockstep, each in a lane of its
own (`lanes.py`). Evidence is multiplied as odds: a voter's two factors are worked out once an iteration, so that no
cell needs a logarithm or an exponential. Each product and each sum of positive numbers is off by at most one rounding,
so all results are off by about as many roundings as there are ballots on an instance and alternatives, relative to
themselves. Rows whose odds could leave the range of floats are left to `log_loops.py`.

Arguments that do not apply are None, and the compiler drops what is done only if they are not.
"""

import math

from epivote.kernels.arguments import FOUR, LANES
from epivote.kernels.decorators import compiled, inlined
from epivote.kernels.lanes import (
    add_pairs,
    any_at_least,
    every,
    gather,
    gather_pairs,
    load,
    opposite,
    over,
    plus,
    plus_product,
    smaller,
    store,
    times,
    where_apart,
    where_larger,
    where_negative,
)

LARGEST = 1e130  # odds; the product of two stays below the largest float (1e308)
SMALLEST = 1 / LARGEST  # sums below it are left to logarithms as well


@compiled
def soft_pass(
    first, waiting, rows,  # Blocks
    ballot_voter, masks, tick_start, tick_column, offered,  # BallotColumns
    lower, upper, width, factors, weights,
    left, ballot, unticked, said, priors, odds, later, fewer, within, seen, shares,  # Room
    voters, prior_odds, occurrences,
):  # fmt: skip
    """Weigh the cells of all rows, count, and add up the logarithms of their sums over all sets and groups.

    `factors` are what a ballot of each voter multiplies the odds of a cell by: if it ticks it, on top of what it does
    to all cells, ticked or not. `weights` are what the sum over the sets of every group is multiplied by. What could
    leave the range of floats is noted in `left`.
    """
    groups, padded, one, none = len(weights), len(odds), every(1.0), every(0.0)
    total, product = 0.0, one
    for block in range(len(first)):
        if offered is not None:
            for c in range(width):
                for lane in range(LANES):
                    priors[c, lane] = prior_odds[offered[rows[block, lane], c]]
        usable = mass = none
        if masks is not None:
            usable = multiply(block, first, waiting, ballot_voter, masks, factors, priors, odds, ballot, unticked, said)
        if tick_start is not None:
            usable = multiply_lists(
                block, first, waiting, ballot_voter, tick_start, tick_column, factors, priors, odds, said
            )
        for k in range(groups):
            if k:
                for c in range(width):
                    store(odds, c, times(load(odds, c), load(priors, k * padded + c)))
            everything, allowed = weigh(odds, lower, upper, width, later, fewer, within, k * padded)
            partition = times(allowed, every(weights[k]))
            store(shares, k, partition)
            mass = plus(mass, partition)
            usable = where_larger(every(LARGEST), everything, smaller(partition, usable), none)
        share = over(one, mass)
        usable = smaller(smaller(mass, share), usable)
        if any_at_least(every(SMALLEST), usable):
            store(shares, groups, usable)
            for lane in range(LANES):
                left[block, lane] = shares[groups, lane] <= SMALLEST and waiting[block, lane] <= 0
        product = times(product, where_larger(usable, every(SMALLEST), mass, one))
        if any_at_least(product, every(LARGEST)) or any_at_least(every(SMALLEST), product):
            total += logarithm(product, shares, groups)
            product = one
        # From here on the first rows of `within` turn into the probabilities of the cells.
        limit, size = where_larger(usable, every(SMALLEST), one, none), none
        for k in range(groups):
            chance = smaller(times(load(shares, k), share), limit)
            store(shares, groups + 1 + k, plus(load(shares, groups + 1 + k), chance))
            part = times(every(weights[k]), share)
            for c in range(width):
                inside = smaller(times(load(within, k * padded + c), part), limit)
                store(seen, k * padded + c, plus(load(seen, k * padded + c), inside))
                size = plus(size, inside)
                if k:
                    inside = plus(inside, load(within, c))
                store(within, c, inside)
        if masks is not None:
            count(block, waiting, width, within, ballot_voter, ballot, unticked, said, size, voters)
        if tick_start is not None:
            count_lists(block, first, waiting, ballot_voter, tick_start, tick_column, within, said, size, voters)
        if offered is not None:
            for c in range(width):
                for lane in range(LANES):
                    occurrences[offered[rows[block, lane], c]] += within[c, lane]
    return total + logarithm(product, shares, groups)


@inlined
def logarithm(product, table, row):
    """The sum of the logarithms in all lanes; writes to a row of the table."""
    store(table, row, product)
    total = 0.0
    for lane in range(LANES):
        total += math.log(table[row, lane])
    return total


@inlined
def multiply(block, first, waiting, ballot_voter, masks, factors, priors, odds, ballot, unticked, said):
    """The odds of a block's cells: the priors times what its ballots say, one ballot of every row at a time.

    What they say of cells that nobody ticks is multiplied once for all cells; a tick makes up for the difference. Gives
    the least that a product on the way could be, where it is below 1, and 0 in lanes without a row.
    """
    least, nobody = read_ballots(block, first, waiting, ballot_voter, masks, factors, ballot, unticked, said)
    one, bit = every(1.0), every(1)
    for c in range(0, len(odds), FOUR):
        second_bit = plus(bit, bit)
        third_bit = plus(second_bit, second_bit)
        fourth_bit = plus(third_bit, third_bit)
        odd, second = times(load(priors, c), nobody), times(load(priors, c + 1), nobody)
        third, fourth = times(load(priors, c + 2), nobody), times(load(priors, c + 3), nobody)
        for b in range(-waiting[block, 0]):
            others, tick = load(unticked, b), load(said, b)
            odd = times(odd, where_apart(others, bit, tick, one))
            second = times(second, where_apart(others, second_bit, tick, one))
            third = times(third, where_apart(others, third_bit, tick, one))
            fourth = times(fourth, where_apart(others, fourth_bit, tick, one))
        store(odds, c, odd)
        store(odds, c + 1, second)
        store(odds, c + 2, third)
        store(odds, c + 3, fourth)
        bit = plus(fourth_bit, fourth_bit)
    return least


@inlined
def read_ballots(block, first, waiting, ballot_voter, masks, factors, ballot, unticked, said):
    """Fill in where a block's ballots are, which cells they do not tick and what a tick says; 1 where there is none.

    Gives what `multiply` gives, and what the ballots of each row say of a cell that nobody ticks.
    """
    one, rounds = every(1.0), -waiting[block, 0]
    place, still = load(first, block), load(waiting, block)
    least, nobody = where_negative(plus(still, every(-1)), one, every(0.0)), one
    for b in range(rounds):
        store(ballot, b, place)
        still = plus(still, every(1))
        place = where_negative(still, plus(place, every(1)), every(0))
    still = load(waiting, block)
    for b in range(rounds):
        tick, no_tick = gather_pairs(factors, ballot_voter, ballot, b)
        tick, no_tick = where_negative(still, tick, one), where_negative(still, no_tick, one)
        store(unticked, b, opposite(gather(masks, ballot, b)))
        store(said, b, tick)
        nobody = times(nobody, no_tick)
        least = times(least, smaller(smaller(tick, times(tick, no_tick)), smaller(no_tick, one)))
        still = plus(still, every(1))
    return least, nobody


@inlined
def count(block, waiting, width, inclusion, ballot_voter, ballot, unticked, said, size, voters):
    """Count the hits and right ones seen of a block's ballots, one ballot of every row at a time.

    `ballot` and `unticked` are as `multiply` left them.
    """
    none, rounds, still, bit = every(0.0), -waiting[block, 0], load(waiting, block), every(1)
    for b in range(rounds):
        store(said, b, none)
    for c in range(0, width, FOUR):
        second_bit = plus(bit, bit)
        third_bit = plus(second_bit, second_bit)
        fourth_bit = plus(third_bit, third_bit)
        one, second = load(inclusion, c), load(inclusion, c + 1)
        third, fourth = load(inclusion, c + 2), load(inclusion, c + 3)
        for b in range(rounds):
            others, hits = load(unticked, b), load(said, b)
            hits = plus(hits, where_apart(others, bit, one, none))
            hits = plus(hits, where_apart(others, second_bit, second, none))
            hits = plus(hits, where_apart(others, third_bit, third, none))
            store(said, b, plus(hits, where_apart(others, fourth_bit, fourth, none)))
        bit = plus(fourth_bit, fourth_bit)
    for b in range(rounds):
        hits, seen = where_negative(still, load(said, b), none), where_negative(still, size, none)
        add_pairs(voters, ballot_voter, ballot, b, hits, seen)
        still = plus(still, every(1))


@inlined
def multiply_lists(block, first, waiting, ballot_voter, tick_start, tick_column, factors, priors, odds, said):
    """`multiply` from lists of ticks."""
    for c in range(len(odds)):
        store(odds, c, load(priors, c))
    for lane in range(LANES):
        least, all_left = 0.0 if waiting[block, lane] > 0 else 1.0, 1.0
        for b in range(first[block, lane], first[block, lane] - waiting[block, lane]):
            tick, no_tick = factors[ballot_voter[b], 0], factors[ballot_voter[b], 1]
            all_left *= no_tick
            least *= min(min(tick, tick * no_tick), min(no_tick, 1.0))
            for k in range(tick_start[b], tick_start[b + 1]):
                odds[tick_column[k], lane] *= tick
        for c in range(len(odds)):
            odds[c, lane] *= all_left
        said[0, lane] = least
    return load(said, 0)


@inlined
def count_lists(block, first, waiting, ballot_voter, tick_start, tick_column, inclusion, said, size, voters):
    """`count` from lists of ticks."""
    store(said, 0, size)
    for lane in range(LANES):
        for b in range(first[block, lane], first[block, lane] - waiting[block, lane]):
            hits = 0.0
            for k in range(tick_start[b], tick_start[b + 1]):
                hits += inclusion[tick_column[k], lane]
            voters[ballot_voter[b], 0] += hits
            voters[ballot_voter[b], 1] += said[0, lane]


@inlined
def weigh(odds, lower, upper, width, later, fewer, within, at):
    """What the allowed sets with each cell are worth, for a block of rows, each in a lane of its own.

    A size counter runs over the cells, back and forth; it stops counting at `lower` where no upper bound binds. Four of
    its states at a time run in registers. `later` has a table of `states_per_cell` rows per cell, which must be 1
    before the first call: the last row is written to only where no upper bound binds. The results are in `within` from
    row `at` on; gives the sum over all sets, and over those that are allowed.
    """
    absorbing = upper >= width
    last, height = lower if absorbing else upper, later.shape[1]
    lowest = last - height + 1
    if absorbing:
        every_set = every(1.0)
        for c in range(width - 1, -1, -1):
            store(later, (c + 1) * height - 1, every_set)
            every_set = plus_product(every_set, every_set, load(odds, c))
    for s in range(height - 1 - FOUR, -1, -FOUR):
        count_back(odds, width, later, height, s, lower - lowest)
    everything, allowed, first = every(1.0), every(0.0 if lower else 1.0), min(last, 1) - lowest
    for s in range(0, height - 1, FOUR):
        kept = absorbing or s + FOUR < height - 1
        everything, allowed = count_forth(
            odds, width, later, height, s, lowest, fewer, kept, within, at, everything, allowed, first
        )
    if absorbing:
        enough = every(0.0 if last else 1.0)
        for c in range(width):
            odd, inside = load(odds, c), times(enough, load(later, (c + 1) * height - 1))
            store(within, at + c, plus_product(load(within, at + c), odd, inside))
            enough = plus_product(enough, odd, plus(enough, load(fewer, c)))
    return everything, allowed if upper else every(1.0)


@inlined
def count_back(odds, width, later, height, s, enough):
    """Fill in four states of all cells, from row `s` of a cell on: the sum over all ways to go on after it.

    Those from row `enough` on are allowed to end; the state above the four was filled in before.
    """
    none, one = every(0.0), every(1.0)
    first, second = one if s >= enough else none, one if s + 1 >= enough else none
    third, fourth = one if s + 2 >= enough else none, one if s + 3 >= enough else none
    for c in range(width - 1, -1, -1):
        odd, place = load(odds, c), c * height + s
        store(later, place, first)
        store(later, place + 1, second)
        store(later, place + 2, third)
        store(later, place + 3, fourth)
        first = plus_product(first, odd, second)
        second = plus_product(second, odd, third)
        third = plus_product(third, odd, fourth)
        fourth = plus_product(fourth, odd, load(later, place + FOUR))


@inlined
def count_forth(odds, width, later, height, s, lowest, fewer, kept, within, at, everything, allowed, one_more):
    """Count how often four states are reached before each cell, and add what they are worth with it to `within`.

    The fourth is kept in `fewer` if the state above it is counted, too; otherwise the table would only crowd the first
    cache. With the first four states two sums are worked out as well: `everything`, and `allowed` by the first cell of
    a set, after which the counter goes on from state 1, row `one_more` of a cell. State 0, below the four or one of
    them, stays at 1; states below it stay at 0.
    """
    none, one, state = every(0.0), every(1.0), lowest + s
    first, second = one if state == 0 else none, one if state == -1 else none
    third, fourth = one if state == -2 else none, one if state == -3 else none
    below = one if state == 1 else none
    for c in range(width):
        odd, place, so_far = load(odds, c), c * height + s, none
        if s:
            below, so_far, inside = load(fewer, c), load(within, at + c), none
        else:
            everything = plus_product(everything, everything, odd)
            allowed = plus_product(allowed, odd, load(later, place + one_more))
            inside = times(below, load(later, place))
        inside = plus_product(inside, first, load(later, place + 1))
        inside = plus_product(inside, second, load(later, place + 2))
        inside = plus_product(inside, third, load(later, place + 3))
        inside = plus_product(inside, fourth, load(later, place + FOUR))
        store(within, at + c, plus_product(so_far, odd, inside))
        if kept:
            store(fewer, c, fourth)
        fourth = plus_product(fourth, odd, third)
        third = plus_product(third, odd, second)
        second = plus_product(second, odd, first)
        first = plus_product(first, odd, below)
    return everything, allowed
