"""Pairs of voters counted for the first guess: what `estimate.starts` does by sorting, for crowds of moderate size."""

import numpy as np

from epivote.kernels.decorators import compiled
from epivote.kernels.masks import ONE, bits


@compiled
def distances_met(ballot_start, ballot_voter, masks, pairs, total, met):
    """Add every voter's Jaccard distances to those she met to `total`, and how many she met to `met`: as the first and
    as the second of two, over all pairs of ballots on the same row.

    For every two voters `pairs` keeps one number, 0 at first: whether they met, the ticks that both made, and in its
    lower half those of either.
    """
    n_voters, half = len(pairs), np.uint64(4 * pairs.itemsize)
    low, met_before = (ONE << half) - ONE, ONE << (half + half - ONE)
    for row in range(len(ballot_start) - 1):
        for b in range(ballot_start[row], ballot_start[row + 1]):
            mask, others = masks[b], pairs[ballot_voter[b]]
            for other in range(b + 1, ballot_start[row + 1]):
                ticks = (np.uint64(bits(mask & masks[other])) << half) | np.uint64(bits(mask | masks[other]))
                others[ballot_voter[other]] = (others[ballot_voter[other]] | met_before) + ticks
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
