"""Pairs of voters counted for the first guess: what `estimate.starts` does by sorting, for crowds of moderate size."""

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.names import FloatArray
from epivote.kernels.library import loops, place
from epivote.kernels.masks import masks_of

FEW_TICKS = 1 << 15  # that two voters can both have made, from which on a pair needs a number of 64 bits


def distances_met(ballots: Ballots) -> tuple[FloatArray, FloatArray]:
    """Every voter's Jaccard distances to those she met added up, and how many she met, over all pairs of ballots.

    Each has two rows: as the first and as the second of two.
    """
    n = ballots.n_voters
    masks, voters = masks_of(ballots.approval_start, ballots.approved), ballots.ballot_voter.astype(np.uint32)
    most_ticks = int(np.bincount(voters).max()) * ballots.n_alternatives
    pairs = np.zeros((n, n), np.uint32 if most_ticks < FEW_TICKS else np.uint64)
    total, met = np.zeros((2, n)), np.zeros((2, n))
    loops().distances_met(
        *(place(ballots.ballot_start), ballots.n_instances, place(voters, 4), place(masks)),
        *(n, place(pairs, pairs.itemsize), pairs.itemsize, place(total), place(met)),
    )
    return total, met
