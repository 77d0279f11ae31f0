"""The soft pass over a shard as compiled loops: odds, probabilities, counts; with or without groups of instances.

It does what `ArrayPass` does with arrays, up to rounding. Eight rows are worked on in lockstep, each in a lane of its
own (`lanes.py`). Evidence is multiplied as odds: a voter's two factors are worked out once an iteration, so that no
cell needs a logarithm or an exponential. Each product and each sum of positive numbers is off by at most one rounding,
so all results are off by about as many roundings as there are ballots on an instance and alternatives, relative to
themselves. Rows whose odds could leave the range of floats are left to `log_loops.py`.

Arguments that do not apply are None, and the compiler drops what is done only if they are not.
"""

import math

from epivote.kernels.arguments import LANES, TWO
from epivote.kernels.decorators import compiled, inlined
from epivote.kernels.lanes import (
    add_pairs,
    bits_of,
    every,
    gather,
    load,
    load_two,
    over,
    plus,
    plus_product,
    plus_two,
    smaller,
    store,
    times,
    twofold,
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
    left, voter, mask, said, priors, odds, later, counter, within, inclusion, seen, shares,  # Room
    voters, prior_odds, occurrences,
):  # fmt: skip
    """Weigh the cells of all rows, count, and add up the logarithms of their sums over all sets and groups.

    `factors` are what a ballot of each voter multiplies the odds of a cell by that it ticks, and of one that it leaves;
    `weights` are what the sum over the sets of every group is multiplied by. What could leave the range of floats is
    noted in `left`.
    """
    groups, padded, one, none = len(weights), len(odds), every(1.0), every(0.0)
    total, product = 0.0, 1.0
    for block in range(len(first)):
        if offered is not None:
            for c in range(width):
                for lane in range(LANES):
                    priors[c, lane] = prior_odds[offered[rows[block, lane], c]]
        usable = mass = none
        if masks is not None:
            usable = multiply(block, first, waiting, ballot_voter, masks, factors, priors, odds, voter, mask, said)
        if tick_start is not None:
            usable = multiply_lists(
                block, first, waiting, ballot_voter, tick_start, tick_column, factors, priors, odds, said
            )
        for k in range(groups):
            if k:
                for c in range(width):
                    store(odds, c, times(load(odds, c), load(priors, k * padded + c)))
            everything = weigh(odds, lower, upper, width, later, counter, within, k * padded)
            partition = times(load(later, 0), every(weights[k]))
            store(shares, k, partition)
            mass = plus(mass, partition)
            usable = where_larger(every(LARGEST), everything, smaller(partition, usable), none)
        usable = smaller(smaller(mass, over(one, mass)), usable)
        store(shares, groups, mass)
        store(shares, groups + 1, usable)
        for lane in range(LANES):
            if shares[groups + 1, lane] > SMALLEST:
                product *= shares[groups, lane]
                if product > LARGEST or product < SMALLEST:
                    total += math.log(product)
                    product = 1.0
            else:
                left[block, lane] = True
        limit, share, size = where_larger(usable, every(SMALLEST), one, none), over(one, mass), none
        for k in range(groups):
            chance = smaller(times(load(shares, k), share), limit)
            store(shares, groups + 2 + k, plus(load(shares, groups + 2 + k), chance))
            part = times(every(weights[k]), share)
            for c in range(width):
                inside = smaller(times(load(within, k * padded + c), part), limit)
                store(seen, k * padded + c, plus(load(seen, k * padded + c), inside))
                size = plus(size, inside)
                if k:
                    inside = plus(inside, load(inclusion, c))
                store(inclusion, c, inside)
        if masks is not None:
            count(block, waiting, width, inclusion, voter, mask, said, size, voters)
        if tick_start is not None:
            count_lists(block, first, waiting, ballot_voter, tick_start, tick_column, inclusion, said, size, voters)
        if offered is not None:
            for c in range(width):
                for lane in range(LANES):
                    occurrences[offered[rows[block, lane], c]] += inclusion[c, lane]
    return total + math.log(product)


@inlined
def multiply(block, first, waiting, ballot_voter, masks, factors, priors, odds, voter, mask, said):
    """The odds of a block's cells: the priors times what its ballots say, one ballot of every row at a time.

    Gives the least that a product on the way could be, where it is below 1, and 0 in lanes without a row.
    """
    one, half, rounds = every(1.0), len(mask), -waiting[block, 0]
    ballot, still = load(first, block), load(waiting, block)
    least = where_negative(plus(still, every(-1)), one, every(0.0))
    for b in range(rounds):
        numbers = gather(ballot_voter, None, ballot)
        ticked = where_negative(still, gather(factors, 0, numbers), one)
        not_ticked = where_negative(still, gather(factors, 1, numbers), one)
        store(voter, b, numbers)
        store(mask, b, gather(masks, None, ballot))
        store(said, b, ticked)
        store(said, half + b, not_ticked)
        least = times(least, smaller(smaller(ticked, not_ticked), one))
        still = plus(still, every(1))
        ballot = where_negative(still, plus(ballot, every(1)), every(0))
    for c in range(0, len(odds), TWO):
        two = load_two(priors, c)
        for b in range(rounds):
            ticks = bits_of(load(mask, b), c)
            two = times(two, where_negative(ticks, twofold(load(said, b)), twofold(load(said, half + b))))
        store(odds, c, two)
    return least


@inlined
def count(block, waiting, width, inclusion, voter, mask, said, size, voters):
    """Count the hits and right ones seen of a block's ballots, one ballot of every row at a time."""
    none, rounds, still = every(0.0), -waiting[block, 0], load(waiting, block)
    for b in range(rounds):
        store(said, b, none)
    for c in range(0, width, TWO):
        two = load_two(inclusion, c)
        for b in range(rounds):
            ticks = bits_of(load(mask, b), c)
            store(said, b, plus_two(load(said, b), where_negative(ticks, two, twofold(none))))
    for b in range(rounds):
        hits, seen = where_negative(still, load(said, b), none), where_negative(still, size, none)
        add_pairs(voters, load(voter, b), hits, seen)
        still = plus(still, every(1))


@inlined
def multiply_lists(block, first, waiting, ballot_voter, tick_start, tick_column, factors, priors, odds, said):
    """`multiply` from lists of ticks."""
    for c in range(len(odds)):
        store(odds, c, load(priors, c))
    for lane in range(LANES):
        least, all_left = 0.0 if waiting[block, lane] > 0 else 1.0, 1.0
        for b in range(first[block, lane], first[block, lane] - waiting[block, lane]):
            ticked, not_ticked = factors[ballot_voter[b], 0], factors[ballot_voter[b], 1]
            ratio = ticked / not_ticked
            all_left *= not_ticked
            least *= min(min(ratio, ticked), min(not_ticked, 1.0))
            for k in range(tick_start[b], tick_start[b + 1]):
                odds[tick_column[k], lane] *= ratio
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
def weigh(odds, lower, upper, width, later, counter, within, at):
    """What the allowed sets with each cell are worth, for a block of rows, each in a lane of its own.

    A size counter runs over the cells, back and forth; it stops counting at `lower` where no upper bound binds. The
    first row of `later` is then the sum over all allowed sets. The results are in `within` from row `at` on; gives the
    sum over all sets, allowed or not.
    """
    absorbing = upper >= width
    top = lower if absorbing else upper
    states, product = top + 1, every(1.0)
    for s in range(states):
        store(later, width * states + s, every(1.0 if s >= lower else 0.0))
        store(counter, s, every(0.0 if s else 1.0))
    for c in range(width - 1, -1, -1):
        odd, after = load(odds, c), (c + 1) * states
        product = plus_product(product, product, odd)
        without = load(later, after)
        for s in range(after, after + top):
            with_it = load(later, s + 1)
            store(later, s - states, plus_product(without, odd, with_it))
            without = with_it
        if absorbing:
            without = plus_product(without, odd, without)
        store(later, after - 1, without)
    for c in range(width):
        odd, after = load(odds, c), (c + 1) * states
        fewer, inside = load(counter, 0), every(0.0)
        for s in range(1, states):
            here = load(counter, s)
            inside = plus_product(inside, fewer, load(later, after + s))
            store(counter, s, plus_product(here, odd, fewer))
            fewer = here
        if absorbing:
            inside = plus_product(inside, fewer, load(later, after + top))
            store(counter, top, plus_product(load(counter, top), odd, fewer))
        store(within, at + c, times(inside, odd))
    return product
