"""The lists of many rows collected in a compiled loop: what `Lists.rows` does in several sweeps."""

import numpy as np

from epivote.data.lists import Lists
from epivote.data.names import IntArray, starts_of
from epivote.kernels.library import WORD, loops, place


def gathered(lists: Lists, numbers: IntArray) -> Lists:
    """The lists with these numbers, in that order."""
    start, size = starts_of(lists.lengths()[numbers]), lists.values.itemsize
    room = np.zeros(WORD, np.uint8)  # words may reach beyond the last list
    values = np.concatenate([np.ascontiguousarray(lists.values).view(np.uint8), room])
    found = np.empty(start[-1] * size + WORD, np.uint8)
    begins, rows = np.ascontiguousarray(lists.start, np.int64), np.ascontiguousarray(numbers, np.int32)
    loops().copy_lists(place(begins), place(values, 1), size, place(rows, 4), len(rows), place(found, 1))
    return Lists(start, found[: start[-1] * size].view(lists.values.dtype))
