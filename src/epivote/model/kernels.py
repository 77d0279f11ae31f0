"""The hard pass over a shard as compiled loops: score, choose, count; and pairs of voters counted for the first guess.

They do what `passes.py` and `starts.py` do with arrays. Scores are added up in the same order, so that results agree
to the last bit. Importing this module loads numba, which only large inputs should pay for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

TIE_SCALE = 1e9  # margins are compared as whole numbers of 1e-9, like `choose.TIE_DECIMALS`
CAUTION = 1e-8  # relative; ten times the width of a tie, so that a kept set is never one short of a tie
NONE, ONE = np.uint64(0), np.uint64(1)
PLACE_BITS = 6  # enough for 64 places
LISTS_PER_CHUNK = 256  # lists summed up at a time: 128 kB, within the second cache
FEW = 20  # winners found by looking for the largest one by one; with more, sorting is quicker; found by trying
LAST_PLACE = 63  # of a mask of 64 bits
SMALLEST = np.iinfo(np.int64).min

compiled: Any = njit(cache=True, nogil=True)
inlined: Any = njit(cache=True, nogil=True, inline="always")
"""For what is called once a row with so many arrays that the call itself would show."""
unordered: Any = njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
"""For comparisons of numbers that are all defined, in any order."""


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
    for row in range(len(ballot_start) - 1):
        if len(fixed) and fixed[row]:
            for c in range(width):
                chosen[c] = given[row, c]
        else:
            if len(offered):
                for c in range(width):
                    prior[c] = log_priors[offered[row, c]]
            margins_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, rates, margins)
            choose_row(margins, lower, upper, chosen)
        size = chosen.sum()
        for b in range(ballot_start[row], ballot_start[row + 1]):
            for k in range(tick_start[b], tick_start[b + 1]):
                voters[ballot_voter[b], 0] += chosen[tick_column[k]]
            voters[ballot_voter[b], 1] += size
        for c in range(width):
            occurrences[offered[row, c] if len(offered) else c] += chosen[c]
            if len(sets):
                sets[row, c] = chosen[c]


@compiled
def hard_change(
    ballot_start, ballot_voter, masks, tick_start, tick_column, offered, log_priors, rates, lower, upper, fixed, given,
    largest, moves, prior_moved, room, insides, voters, occurrences,
):  # fmt: skip
    """The same for rows of up to 64 cells, as a change of what was chosen and counted before.

    `insides` holds the sets as bits, and `room` how far the margins of a row may still move before its set could be
    another; while there is some left, it is not chosen anew. `moves` says how far up and down every voter can have
    moved a margin since. Empty sets, no room and no moves are where to begin.
    """
    width = offered.shape[1] if len(offered) else len(log_priors)
    margins, prior, keys = np.empty(width), log_priors[:width].copy(), np.empty(width, np.int64)
    for row in range(len(ballot_start) - 1):
        first, end = ballot_start[row], ballot_start[row + 1]
        if len(moves):
            up, down = prior_moved, prior_moved
            for b in range(first, end):
                up += moves[ballot_voter[b], 0]
                down += moves[ballot_voter[b], 1]
            room[row] -= max(up, down)
            if room[row] > 0.0:
                continue
        if len(fixed) and fixed[row]:
            inside, free = mask_of(given[row]), np.inf
        else:
            if len(offered):
                for c in range(width):
                    prior[c] = log_priors[offered[row, c]]
            margins_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, rates, margins)
            inside, free = choose_mask(margins, lower, upper, keys)
        room[row] = free - CAUTION * (1.0 + largest * (end - first))
        before = insides[row]
        if inside != before:
            insides[row] = inside
            more = bits(inside) - bits(before)
            for b in range(first, end):
                voters[ballot_voter[b], 0] += bits(masks[b] & inside) - bits(masks[b] & before)
                voters[ballot_voter[b], 1] += more
            flips = inside ^ before
            while flips:
                c = bits((flips & -flips) - ONE)
                occurrences[offered[row, c] if len(offered) else c] += 1.0 if (inside >> np.uint64(c)) & ONE else -1.0
                flips &= flips - ONE


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
    """Theorem 1 for one row of at most 64 cells, as bits: all margins from 0 on, or the largest within the bounds.

    Also how far all margins may move, each on its own, with the set surely staying the same.
    """
    inside = np.uint64(0)
    for c in range(len(margins)):
        inside |= ONE << np.uint64(c) if margins[c] * TIE_SCALE >= -0.5 else NONE
    size = bits(inside)
    if lower <= size <= upper:
        return inside, nearest(margins)
    inside, last, place = NONE, np.inf, 0
    for c in range(len(margins)):  # the rounded margin first, then the place: the largest key is the one to take
        keys[c] = (np.int64(np.rint(margins[c] * TIE_SCALE)) << PLACE_BITS) | (LAST_PLACE - c)
    taken = lower if size < lower else upper
    for number in range(taken + 1):  # the last is the first that is left out
        if number == len(margins):
            return inside, np.inf
        best = keys[0]
        for c in range(1, len(margins)):
            best = max(best, keys[c])
        place = LAST_PLACE - (best & LAST_PLACE)
        if number < taken:
            inside |= ONE << np.uint64(place)
            keys[place] = SMALLEST
            last = margins[place]
    return inside, (last - margins[place]) / 2  # both are on the same side of 0, and not nearer to it


@unordered
def nearest(margins):
    """The distance to 0 of the margin closest to it."""
    found = np.inf
    for c in range(len(margins)):
        found = min(found, abs(margins[c]))
    return found


@compiled
def choose_row(margins, lower, upper, chosen):
    """The same for a row of any length."""
    size = 0
    for c in range(len(margins)):
        chosen[c] = margins[c] * TIE_SCALE >= -0.5
        size += chosen[c]
    if lower <= size <= upper:
        return
    chosen[:] = False
    rounded = np.rint(margins * TIE_SCALE)
    size = lower if size < lower else upper
    if size > FEW:
        last = np.sort(rounded)[len(rounded) - size]
        above = 0
        for c in range(len(rounded)):
            above += rounded[c] > last
        for c in range(len(rounded)):
            equal = rounded[c] == last and above < size  # the first of equals
            chosen[c] = rounded[c] > last or equal
            above += equal
        return
    for _ in range(size):
        best = np.argmax(rounded)  # the first of equals
        chosen[best] = True
        rounded[best] = -np.inf


@compiled
def mask_of(chosen):
    """One row of a set as bits."""
    inside = np.uint64(0)
    for c in range(len(chosen)):
        inside |= np.uint64(chosen[c]) << np.uint64(c)
    return inside


@compiled
def sets_of(insides, sets):
    """Rows of bits as rows of a table."""
    for row in range(len(sets)):
        for c in range(sets.shape[1]):
            sets[row, c] = (insides[row] >> np.uint64(c)) & ONE


@compiled
def masks_of(start, values):
    """Every list of different numbers below 64 as bits.

    Bits that are all different may as well be added: from one running sum over all lists, no loop of its own, whose
    end a processor could not foresee, is needed for each.
    """
    masks = np.empty(len(start) - 1, np.uint64)
    sums = np.zeros(LISTS_PER_CHUNK * 64 + 1, np.uint64)
    for first in range(0, len(masks), LISTS_PER_CHUNK):
        end = min(first + LISTS_PER_CHUNK, len(masks))
        begin, total = start[first], NONE
        for k in range(begin, start[end]):
            total += ONE << np.uint64(values[k])
            sums[k - begin + 1] = total
        for r in range(first, end):
            masks[r] = sums[start[r + 1] - begin] - sums[start[r] - begin]
    return masks


@compiled
def distances_met(ballot_start, ballot_voter, masks, pairs):
    """Every voter's Jaccard distances to those she met, added up, and how many she met: as the first and as the second
    of two, over all pairs of ballots on the same row.

    Of every two voters one number is kept in `pairs`, which is empty at first: whether they met, the ticks that both
    made, and in its lower half those of either.
    """
    n_voters, half = len(pairs), np.uint64(4 * pairs.itemsize)
    low, met_before = (ONE << half) - ONE, ONE << (half + half - ONE)
    for row in range(len(ballot_start) - 1):
        for b in range(ballot_start[row], ballot_start[row + 1]):
            mask, others = masks[b], pairs[ballot_voter[b]]
            for other in range(b + 1, ballot_start[row + 1]):
                ticks = (np.uint64(bits(mask & masks[other])) << half) | np.uint64(bits(mask | masks[other]))
                others[ballot_voter[other]] = (others[ballot_voter[other]] | met_before) + ticks
    total, met = np.zeros((2, n_voters)), np.zeros((2, n_voters))
    for one in range(n_voters):
        for two in range(one + 1, n_voters):
            ticks = np.uint64(pairs[one, two])
            if ticks:
                either = ticks & low
                both = (ticks & ~met_before) >> half
                distance = 1.0 - np.float64(both) / np.float64(either) if either else 0.0
                total[0, one] += distance
                total[1, two] += distance
                met[0, one] += 1.0
                met[1, two] += 1.0
    return total, met


@compiled
def bits(mask):
    """How many bits are set."""
    found = 0
    while mask:
        found += 1
        mask &= mask - ONE
    return found
