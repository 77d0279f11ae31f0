"""The hard pass over a shard as compiled loops: score, choose, count.

They do what `ArrayPass` does with arrays. Scores are added up in the same order, so that results agree to the last bit.
Arguments come one by one, in the groups of `arguments.py`: handed over as named tuples, a hard pass took 5 % longer.
"""

import numpy as np

from epivote.kernels.decorators import compiled, inlined, unordered
from epivote.kernels.masks import LAST_PLACE, NONE, ONE, bits, mask_of

TIE_SCALE = 1e9  # margins are compared as whole numbers of 1e-9, like `choose.TIE_DECIMALS`
SLACK_SAFETY = 1e-8  # relative; ten times the width of a tie, so that a kept set is never one short of a tie
PLACE_BITS = 6  # enough for 64 places
MAX_SELECTION_SORT = 20  # winners found one by one; with more, sorting is quicker; found by trying
SMALLEST = np.iinfo(np.int64).min


@compiled
def hard_pass(
    ballot_start, ballot_voter, masks, tick_start, tick_column, offered,  # BallotColumns
    prior_log_odds, pushes, largest_push,  # Evidence  # noqa: ARG001
    lower, upper, fixed, given,  # Allowed
    voters, occurrences,  # PassCounts
    sets,
):  # fmt: skip
    """Choose the set of every row, of any width; count hits, true alternatives seen, and occurrences.

    The sets are kept only if `sets` has room for them.
    """
    width = len(prior_log_odds) if offered is None else offered.shape[1]
    margins, prior, chosen = np.empty(width), prior_log_odds[:width].copy(), np.zeros(width, np.bool_)
    for row in range(len(ballot_start) - 1):
        if fixed is not None and fixed[row]:
            for c in range(width):
                chosen[c] = given[row, c]
        else:
            if offered is not None:
                for c in range(width):
                    prior[c] = prior_log_odds[offered[row, c]]
            margins_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, pushes, margins)
            choose_row(margins, lower, upper, chosen)
        size = chosen.sum()
        for b in range(ballot_start[row], ballot_start[row + 1]):
            for k in range(tick_start[b], tick_start[b + 1]):
                voters[ballot_voter[b], 0] += chosen[tick_column[k]]
            voters[ballot_voter[b], 1] += size
        for c in range(width):
            occurrences[c if offered is None else offered[row, c]] += chosen[c]
            if len(sets):
                sets[row, c] = chosen[c]


@compiled
def hard_change(
    ballot_start, ballot_voter, masks, tick_start, tick_column, offered,  # BallotColumns
    prior_log_odds, pushes, largest_push,  # Evidence
    lower, upper, fixed, given,  # Allowed
    moves, prior_moves,  # Moves
    slack, insides,  # KeptSets
    voters, occurrences,  # PassCounts
    margins, prior, keys,  # room for a row
):  # fmt: skip
    """The same for rows of up to 64 cells, as a change of what was kept and counted before.

    A row is not chosen anew while it has slack left. Start with empty sets, zero slack and no moves.
    """
    width = len(prior_log_odds) if offered is None else offered.shape[1]
    for c in range(width):
        prior[c] = prior_log_odds[c]
    for row in range(len(ballot_start) - 1):
        first, end = ballot_start[row], ballot_start[row + 1]
        if len(moves):
            up, down = prior_moves, prior_moves
            for b in range(first, end):
                up += moves[ballot_voter[b], 0]
                down += moves[ballot_voter[b], 1]
            slack[row] -= up if up > down else down
            if slack[row] > 0.0:
                continue
        if fixed is not None and fixed[row]:
            inside, free = mask_of(given[row]), np.inf
        else:
            if offered is not None:
                for c in range(width):
                    prior[c] = prior_log_odds[offered[row, c]]
            margins_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, pushes, margins)
            inside, free = choose_mask(margins, lower, upper, keys)
        slack[row] = free - SLACK_SAFETY * (1.0 + largest_push * (end - first))
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
                alternative = c if offered is None else offered[row, c]
                occurrences[alternative] += 1.0 if (inside >> np.uint64(c)) & ONE else -1.0
                flips &= flips - ONE


@inlined
def margins_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, pushes, margins):
    """Log-odds of one row's cells: ticks in the order of the ballots, then the prior, then the threshold."""
    for c in range(len(margins)):  # `margins[:] = 0.0` would be compiled as an assignment between arrays of any shape
        margins[c] = 0.0
    threshold = 0.0
    for b in range(ballot_start[row], ballot_start[row + 1]):
        voter = ballot_voter[b]
        weight = pushes[voter, 0]
        threshold += pushes[voter, 1]
        if masks is not None:
            mask = masks[b]
            for c in range(len(margins)):
                margins[c] += weight if (mask >> np.uint64(c)) & ONE else 0.0
        if tick_start is not None:
            for k in range(tick_start[b], tick_start[b + 1]):
                margins[tick_column[k]] += weight
    for c in range(len(margins)):
        margins[c] = (margins[c] + prior[c]) - threshold


@inlined
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
            best = keys[c] if keys[c] > best else best
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
        found = abs(margins[c]) if abs(margins[c]) < found else found
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
    if size > MAX_SELECTION_SORT:
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
