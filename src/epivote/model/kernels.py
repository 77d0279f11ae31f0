"""The two passes over a shard as compiled loops: score, choose or weigh, count, row after row.

They do what `passes.py` does with arrays, in the same order of additions, so that hard results agree to the last bit.
Importing this module loads numba, which only large inputs should pay for.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

TIE_SCALE = 1e9
PLAIN_RANGE = 300.0
LARGEST = 1e130
ONE = np.uint64(1)
SHIFT = np.uint64(58)
SEQUENCE = 0x03F79D71B4CB0A89
DE_BRUIJN = np.uint64(SEQUENCE)
POSITION = np.zeros(64, np.int64)
for _bit in range(64):
    POSITION[((SEQUENCE << _bit) & (2**64 - 1)) >> 58] = _bit

compiled: Any = njit(cache=True, nogil=True)


@compiled
def margins_of(row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, weights, thresholds, margins):
    """Log-odds of one row's cells: ticks in the order of the ballots, then the prior, then the threshold."""
    margins[:] = 0.0
    threshold = 0.0
    for b in range(ballot_start[row], ballot_start[row + 1]):
        voter = ballot_voter[b]
        weight = weights[voter]
        threshold += thresholds[voter]
        if len(masks):
            mask = masks[b]
            while mask:
                margins[POSITION[((mask & (~mask + ONE)) * DE_BRUIJN) >> SHIFT]] += weight
                mask &= mask - ONE
        else:
            for k in range(tick_start[b], tick_start[b + 1]):
                margins[tick_column[k]] += weight
    for c in range(len(margins)):
        margins[c] = (margins[c] + prior[c]) - threshold


@compiled
def choose_row(margins, lower, upper, chosen):
    """Theorem 1 for one row: all margins from 0 on, or the largest ones where that breaks a bound; its size."""
    width = len(margins)
    size = 0
    for c in range(width):
        margins[c] = np.rint(margins[c] * TIE_SCALE) / TIE_SCALE
        chosen[c] = margins[c] >= 0
        size += chosen[c]
    if lower <= size <= upper:
        return size
    size = lower if size < lower else upper
    chosen[:] = False
    if size > 8:
        order = np.argsort(-margins, kind="mergesort")
        for k in range(size):
            chosen[order[k]] = True
        return size
    for _ in range(size):
        best = -1
        for c in range(width):
            if not chosen[c] and (best < 0 or margins[c] > margins[best]):
                best = c
        chosen[best] = True
    return size


@compiled
def hard_pass(
    ballot_start, ballot_voter, masks, tick_start, tick_column, offered, log_priors, weights, thresholds,
    lower, upper, fixed, chosen, hits, winners, occurrences,
):  # fmt: skip
    """Choose the set of every row that is not `fixed`, and count hits, right ones seen, and occurrences."""
    rows, width = chosen.shape
    margins = np.empty(width)
    prior = log_priors.copy() if not len(offered) else np.empty(width)
    for row in range(rows):
        if len(offered):
            for c in range(width):
                prior[c] = log_priors[offered[row, c]]
        if fixed[row]:
            size = chosen[row].sum()
        else:
            margins_of(
                row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, weights, thresholds, margins
            )
            size = choose_row(margins, lower, upper, chosen[row])
        inside = np.uint64(0)
        for c in range(width):
            if chosen[row, c]:
                occurrences[offered[row, c] if len(offered) else c] += 1
                inside |= ONE << np.uint64(c & 63)
        for b in range(ballot_start[row], ballot_start[row + 1]):
            voter = ballot_voter[b]
            found = 0
            if len(masks):
                mask = masks[b] & inside
                while mask:
                    found += 1
                    mask &= mask - ONE
            else:
                for k in range(tick_start[b], tick_start[b + 1]):
                    found += chosen[row, tick_column[k]]
            hits[voter] += found
            winners[voter] += size


@compiled
def odds_of(
    row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior_odds, tick_odds, weights, thresholds, odds
):
    """Odds of one row's cells, by multiplication; false where a product might leave the range of numbers."""
    threshold, spread = 0.0, 0.0
    for b in range(ballot_start[row], ballot_start[row + 1]):
        threshold += thresholds[ballot_voter[b]]
        spread += abs(weights[ballot_voter[b]])
    if spread + abs(threshold) > PLAIN_RANGE:
        return False
    factor = math.exp(-threshold)
    for c in range(len(odds)):
        odds[c] = prior_odds[c] * factor
    for b in range(ballot_start[row], ballot_start[row + 1]):
        times = tick_odds[ballot_voter[b]]
        if len(masks):
            mask = masks[b]
            while mask:
                odds[POSITION[((mask & (~mask + ONE)) * DE_BRUIJN) >> SHIFT]] *= times
                mask &= mask - ONE
        else:
            for k in range(tick_start[b], tick_start[b + 1]):
                odds[tick_column[k]] *= times
    return True


@compiled
def weigh_odds(odds, lower, upper, later, counter, inclusion):
    """Probability of every cell to be right, and the sum over all allowed sets; 0 where that leaves the safe range.

    A size counter runs over the cells; it stops counting at `lower` where no upper bound binds.
    """
    width = len(odds)
    absorbing = upper >= width
    top = lower if absorbing else upper
    everything = 1.0
    for s in range(top + 1):
        later[width, s] = 1.0 if s >= lower else 0.0
    for c in range(width - 1, -1, -1):
        everything *= 1.0 + odds[c]
        for s in range(top):
            later[c, s] = later[c + 1, s] + odds[c] * later[c + 1, s + 1]
        later[c, top] = later[c + 1, top] * (1.0 + odds[c]) if absorbing else later[c + 1, top]
    partition = later[0, 0]
    if not (everything < LARGEST and partition > 1.0 / LARGEST):
        return 0.0
    counter[:] = 0.0
    counter[0] = 1.0
    for c in range(width):
        inside = counter[top] * later[c + 1, top] if absorbing else 0.0
        for s in range(top):
            inside += counter[s] * later[c + 1, s + 1]
        inclusion[c] = min(inside * odds[c] / partition, 1.0)
        if absorbing:
            counter[top] *= 1.0 + odds[c]
        for s in range(top, 0, -1):
            counter[s] += counter[s - 1] * odds[c]
    return partition


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


@compiled
def soft_pass(
    ballot_start, ballot_voter, masks, tick_start, tick_column, offered, log_priors, weights, thresholds,
    lower, upper, fixed, sets, hits, winners, occurrences,
):  # fmt: skip
    """Weigh every row's cells, those of `fixed` rows by their sets, count, and add up all log-partitions."""
    rows, width = sets.shape
    margins, odds, inclusion = np.empty(width), np.empty(width), np.empty(width)
    tick_odds, all_prior_odds = np.exp(weights), np.exp(log_priors)
    prior_odds = all_prior_odds.copy() if not len(offered) else np.empty(width)
    top = lower if upper >= width else upper
    later, counter = np.empty((width + 1, top + 1)), np.empty(top + 1)
    prior = log_priors.copy() if not len(offered) else np.empty(width)
    total = 0.0
    for row in range(rows):
        if len(offered):
            for c in range(width):
                prior[c] = log_priors[offered[row, c]]
                prior_odds[c] = all_prior_odds[offered[row, c]]
        partition = 0.0
        if not fixed[row] and odds_of(
            row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior_odds, tick_odds, weights, thresholds,
            odds,
        ):  # fmt: skip
            partition = weigh_odds(odds, lower, upper, later, counter, inclusion)
        if partition > 0.0:
            total += math.log(partition)
        else:
            margins_of(
                row, ballot_start, ballot_voter, masks, tick_start, tick_column, prior, weights, thresholds, margins
            )
            if fixed[row]:
                for c in range(width):
                    inclusion[c] = sets[row, c]
                    total += margins[c] * sets[row, c]
            else:
                total += weigh_margins(margins, lower, upper, later, counter, inclusion)
        size = 0.0
        for c in range(width):
            size += inclusion[c]
            occurrences[offered[row, c] if len(offered) else c] += inclusion[c]
        for b in range(ballot_start[row], ballot_start[row + 1]):
            voter = ballot_voter[b]
            found = 0.0
            if len(masks):
                mask = masks[b]
                while mask:
                    found += inclusion[POSITION[((mask & (~mask + ONE)) * DE_BRUIJN) >> SHIFT]]
                    mask &= mask - ONE
            else:
                for k in range(tick_start[b], tick_start[b + 1]):
                    found += inclusion[tick_column[k]]
            hits[voter] += found
            winners[voter] += size
    return total
