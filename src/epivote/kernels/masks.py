"""Sets and ballots as the bits of 64-bit numbers: column c is bit c."""

import numpy as np

from epivote.data.names import IntArray
from epivote.kernels.arguments import read_only
from epivote.kernels.decorators import compiled

NONE, ONE = np.uint64(0), np.uint64(1)
LAST_PLACE = 63  # of a mask of 64 bits
LISTS_PER_CHUNK = 256  # lists summed up at a time: 128 kB, within the second cache


@compiled
def bits(mask):
    """How many bits are set."""
    found = 0
    while mask:
        found += 1
        mask &= mask - ONE
    return found


@compiled
def mask_of(chosen):
    """One row of a set as bits."""
    inside = np.uint64(0)
    for c in range(len(chosen)):
        inside |= np.uint64(chosen[c]) << np.uint64(c)
    return inside


@compiled
def sets_of(masks, sets):
    """Write rows of bits into the rows of a table."""
    for row in range(len(sets)):
        for c in range(sets.shape[1]):
            sets[row, c] = (masks[row] >> np.uint64(c)) & ONE


def masks_of(start: IntArray, values: IntArray) -> IntArray:
    """Every list of different numbers below 64 as bits."""
    masks = np.empty(len(start) - 1, np.uint64)
    sums = np.zeros(LISTS_PER_CHUNK * 64 + 1, np.uint64)
    fill_masks(read_only(start), read_only(values), sums, masks)
    return masks


@compiled
def fill_masks(start, values, sums, masks):
    """Write them.

    Different bits may as well be added, so one running sum over all lists gives each of them as a difference. That
    avoids one inner loop per list, whose end a processor cannot predict.
    """
    for first in range(0, len(masks), LISTS_PER_CHUNK):
        end = first + LISTS_PER_CHUNK
        if end > len(masks):
            end = len(masks)
        begin, total = start[first], NONE
        for k in range(begin, start[end]):
            total += ONE << np.uint64(values[k])
            sums[k - begin + 1] = total
        for r in range(first, end):
            masks[r] = sums[start[r + 1] - begin] - sums[start[r] - begin]
