"""The lists of many rows collected in a compiled loop: what `Lists.rows` does in several sweeps."""

import numpy as np

from epivote.data.lists import Lists
from epivote.data.names import IntArray, starts_of
from epivote.kernels.arguments import read_only
from epivote.kernels.decorators import compiled


def gathered(lists: Lists, numbers: IntArray) -> Lists:
    """The lists with these numbers, in that order."""
    start = starts_of(lists.lengths()[numbers])
    values = np.empty(start[-1], lists.values.dtype)
    copy_lists(read_only(lists.start), read_only(lists.values), read_only(numbers), values)
    return Lists(start, values)


@compiled
def copy_lists(start, values, numbers, found):
    """Write one list after the other."""
    to = 0
    for number in numbers:
        for place in range(start[number], start[number + 1]):
            found[to] = values[place]
            to += 1
