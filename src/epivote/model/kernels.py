"""The two passes over a shard as compiled loops: score, choose or weigh, count.

They do what `passes.py` does with arrays. Hard scores are added up in the same order, so that hard results agree to
the last bit. The soft pass weighs a block of rows in lockstep: its inner loops run over the rows of the block, which
the compiler turns into vector instructions. Importing this module loads numba, which only large inputs should pay for.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

TIE_SCALE = 1e9
PLAIN_RANGE = 300.0
LARGEST = 1e130
MOST_LANES = 160
NUMBERS_PER_BLOCK = 1 << 16
ONE = np.uint64(1)
PLACE_BITS = 6
LAST_PLACE = 63
SMALLEST = np.iinfo(np.int64).min

compiled: Any = njit(cache=True, nogil=True)
inlined: Any = njit(cache=True, nogil=True, inline="always")
"""For what is called once a row with so many arrays that the call itself would show."""
reordering: Any = njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
"""For soft sums, which need not agree to the last bit."""


@compiled
def hard_pass(
    ballot_start, ballot_voter, masks, tick_start, tick_column, offered, log_priors, rates, lower, upper, fixed, given,
    sets, voters, occurrences,
):  # fmt: skip
    """Choose the set of every row that is not `fixed`, count hits, right ones seen, and occurrences.

    `rates` holds weight and threshold of every voter, `voters` collects hits and right ones seen. The sets are kept
    only if `sets` has room for them.
    """
    width = offered.shape[1] if len(offered) else len(log_priors)
    margins, prior, chosen = np.empty(width), log_priors[:width].copy(), np.zeros(width, np.bool_)
    keys = np.empty(width, np.int64)
    for row in range(len(ballot_start) - 1):
        if len(offered):
            for c in range(width):
                prior[c] = log_priors[offered[row, c]]
        known = len(fixed) and fixed[row]
        if not known:
            margins_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, rates, margins)
        if len(masks):
            inside = mask_of(given[row]) if known else choose_mask(margins, lower, upper, keys)
            size = bits(inside)
            for b in range(ballot_start[row], ballot_start[row + 1]):
                voters[ballot_voter[b], 0] += bits(masks[b] & inside)
                voters[ballot_voter[b], 1] += size
            if len(offered):
                for c in range(width):
                    occurrences[offered[row, c]] += (inside >> np.uint64(c)) & ONE
            else:
                for c in range(width):
                    occurrences[c] += 1.0 if (inside >> np.uint64(c)) & ONE else 0.0
            if len(sets):
                for c in range(width):
                    sets[row, c] = (inside >> np.uint64(c)) & ONE
        else:
            if known:
                chosen[:] = given[row]
            else:
                choose_row(margins, lower, upper, chosen)
            size = chosen.sum()
            for b in range(ballot_start[row], ballot_start[row + 1]):
                for k in range(tick_start[b], tick_start[b + 1]):
                    voters[ballot_voter[b], 0] += chosen[tick_column[k]]
                voters[ballot_voter[b], 1] += size
            for c in range(width):
                occurrences[offered[row, c] if len(offered) else c] += chosen[c]
            if len(sets):
                sets[row] = chosen


@inlined
def margins_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, rates, margins):
    """Log-odds of one row's cells: ticks in the order of the ballots, then the prior, then the threshold."""
    margins[:] = 0.0
    threshold = 0.0
    for b in range(ballot_start[row], ballot_start[row + 1]):
        voter = ballot_voter[b]
        weight = rates[voter, 0]
        threshold += rates[voter, 1]
        if len(masks):
            mask = masks[b]
            for c in range(len(margins)):
                margins[c] += weight if (mask >> np.uint64(c)) & ONE else 0.0
        else:
            for k in range(tick_start[b], tick_start[b + 1]):
                margins[tick_column[k]] += weight
    for c in range(len(margins)):
        margins[c] = (margins[c] + prior[c]) - threshold


@compiled
def choose_mask(margins, lower, upper, keys):
    """Theorem 1 for one row of at most 64 cells, as bits: all margins from 0 on, or the largest within the bounds."""
    inside = np.uint64(0)
    for c in range(len(margins)):
        inside |= np.uint64(margins[c] * TIE_SCALE >= -0.5) << np.uint64(c)
    size = bits(inside)
    if lower <= size <= upper:
        return inside
    inside = np.uint64(0)
    for c in range(len(margins)):  # the rounded margin first, then the place: the largest key is the one to take
        keys[c] = (np.int64(np.rint(margins[c] * TIE_SCALE)) << PLACE_BITS) | (LAST_PLACE - c)
    for _ in range(lower if size < lower else upper):
        best = keys[0]
        for c in range(1, len(margins)):
            best = max(best, keys[c])
        place = LAST_PLACE - (best & LAST_PLACE)
        inside |= ONE << np.uint64(place)
        keys[place] = SMALLEST
    return inside


@compiled
def choose_row(margins, lower, upper, chosen):
    """The same for a row of any length."""
    size = 0
    for c in range(len(margins)):
        chosen[c] = margins[c] * TIE_SCALE >= -0.5
        size += chosen[c]
    if not lower <= size <= upper:
        size = lower if size < lower else upper
        order = np.argsort(-np.rint(margins * TIE_SCALE), kind="mergesort")
        chosen[:] = False
        for k in range(size):
            chosen[order[k]] = True


@compiled
def mask_of(chosen):
    """One row of a set as bits."""
    inside = np.uint64(0)
    for c in range(len(chosen)):
        inside |= np.uint64(chosen[c]) << np.uint64(c)
    return inside


@compiled
def masks_of(start, values):
    """Every list of numbers below 64 as bits."""
    masks = np.zeros(len(start) - 1, np.uint64)
    for r in range(len(masks)):
        for k in range(start[r], start[r + 1]):
            masks[r] |= ONE << np.uint64(values[k])
    return masks


@compiled
def pairs_met(ballot_start, ballot_voter, masks, met, both, either):
    """For every two voters: instances that both answered, ticks that both made there, and ticks of either."""
    for row in range(len(ballot_start) - 1):
        for b in range(ballot_start[row], ballot_start[row + 1]):
            for other in range(b + 1, ballot_start[row + 1]):
                one, two = ballot_voter[b], ballot_voter[other]
                met[one, two] += 1
                both[one, two] += bits(masks[b] & masks[other])
                either[one, two] += bits(masks[b] | masks[other])


@compiled
def bits(mask):
    """How many bits are set."""
    found = 0
    while mask:
        found += 1
        mask &= mask - ONE
    return found


@reordering
def soft_pass(
    ballot_start, ballot_voter, masks, tick_start, tick_column, offered, log_priors, rates, lower, upper, fixed, given,
    voters, occurrences,
):  # fmt: skip
    """Weigh every row's cells, those of `fixed` rows by their sets, count, and add up all log-partitions."""
    rows = len(ballot_start) - 1
    width = offered.shape[1] if len(offered) else len(log_priors)
    top = lower if upper >= width else upper
    lanes = max(1, min(MOST_LANES, NUMBERS_PER_BLOCK // ((width + 1) * (top + 1))))
    odds, inclusion, later = np.ones((width, lanes)), np.empty((width, lanes)), np.empty((width + 1, top + 1, lanes))
    counter, everything = np.empty((top + 1, lanes)), np.empty(lanes)
    prior, one = log_priors[:width].copy(), np.empty(width)
    odds_of_voter, prior_odds = np.exp(rates * np.array([1.0, -1.0])), np.exp(log_priors)
    plain = np.empty(lanes, np.bool_)
    total, product = 0.0, 1.0
    for first in range(0, rows, lanes):
        count = min(lanes, rows - first)
        for lane in range(count):
            row = first + lane
            if len(offered):
                for c in range(width):
                    one[c] = prior_odds[offered[row, c]]
            else:
                one[:] = prior_odds
            plain[lane] = not (len(fixed) and fixed[row]) and odds_of(
                row, ballot_start, ballot_voter, masks, tick_start, tick_column, odds_of_voter, rates, one
            )
            if plain[lane]:
                for c in range(width):
                    odds[c, lane] = one[c]
        weigh_odds(odds, lower, upper, later, counter, everything, inclusion)
        for lane in range(count):
            row = first + lane
            partition = later[0, 0, lane]
            if plain[lane] and everything[lane] < LARGEST and partition > 1.0 / LARGEST:
                product *= partition
                if not 1.0 / LARGEST < product < LARGEST:
                    total += math.log(product)
                    product = 1.0
                continue
            if len(offered):
                for c in range(width):
                    prior[c] = log_priors[offered[row, c]]
            margins_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, rates, one)
            if len(fixed) and fixed[row]:
                for c in range(width):
                    inclusion[c, lane] = given[row, c]
                    total += one[c] * given[row, c]
            else:
                total += weigh_margins(one, lower, upper, later[:, :, lane], counter[:, lane], inclusion[:, lane])
        for lane in range(count):
            row = first + lane
            for c in range(width):
                one[c] = inclusion[c, lane]
            size = one.sum()
            for b in range(ballot_start[row], ballot_start[row + 1]):
                found = 0.0
                if len(masks):
                    mask = masks[b]
                    for c in range(width):
                        found += one[c] if (mask >> np.uint64(c)) & ONE else 0.0
                else:
                    for k in range(tick_start[b], tick_start[b + 1]):
                        found += one[tick_column[k]]
                voters[ballot_voter[b], 0] += found
                voters[ballot_voter[b], 1] += size
            if len(offered):
                for c in range(width):
                    occurrences[offered[row, c]] += one[c]
        if not len(offered):
            for c in range(width):
                occurrences[c] += inclusion[c, :count].sum()
    return total + math.log(product)


@inlined
def odds_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, odds_of_voter, rates, odds):
    """Prior odds times those of all ballots of a row; false where a product might leave the range of numbers.

    `odds_of_voter` holds what a tick multiplies the odds of its cell by, and what the ballot multiplies those of all.
    """
    factor, spread = 1.0, 0.0
    for b in range(ballot_start[row], ballot_start[row + 1]):
        voter = ballot_voter[b]
        spread += abs(rates[voter, 0]) + abs(rates[voter, 1])
        factor *= odds_of_voter[voter, 1]
    plain = spread <= PLAIN_RANGE
    if plain:
        for c in range(len(odds)):
            odds[c] *= factor
        for b in range(ballot_start[row], ballot_start[row + 1]):
            times = odds_of_voter[ballot_voter[b], 0]
            if len(masks):
                mask = masks[b]
                for c in range(len(odds)):
                    odds[c] *= times if (mask >> np.uint64(c)) & ONE else 1.0
            else:
                for k in range(tick_start[b], tick_start[b + 1]):
                    odds[tick_column[k]] *= times
    return plain


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
