"""Sets and ballots as the bits of 64-bit numbers: column c is bit c % 64 of number c // 64."""

import numpy as np

from epivote.data.names import BoolArray, IntArray
from epivote.kernels.library import loops, place


def masks_of(start: IntArray, values: IntArray) -> IntArray:
    """Every list of different numbers below 64 as bits."""
    masks = np.empty(len(start) - 1, np.uint64)
    start, values = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(values)
    loops().fill_masks(place(start), place(values, values.itemsize), values.itemsize, len(masks), place(masks))
    return masks


def sets_of(masks: IntArray, width: int) -> BoolArray:
    """Rows of bits, of as many numbers as each needs, as the rows of a table."""
    sets = np.empty((len(masks), width), bool)
    loops().fill_sets(place(masks), len(masks), width, place(sets, 1))
    return sets
