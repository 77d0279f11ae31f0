"""The lists of many rows collected in a compiled loop: what `Lists.rows` does in several sweeps."""

import numpy as np

from epivote.data.lists import Lists
from epivote.data.names import IntArray, starts_of
from epivote.kernels.decorators import compiled
from epivote.kernels.words import WORD, load_word, store_word

AT_ONCE = 256  # lists; a round number: what is looked up of them stays in the first cache


def gathered(lists: Lists, numbers: IntArray) -> Lists:
    """The lists with these numbers, in that order."""
    start, size = starts_of(lists.lengths()[numbers]), lists.values.itemsize
    room = np.zeros(WORD, np.uint8)  # words may reach beyond the last list
    values = np.concatenate([np.ascontiguousarray(lists.values).view(np.uint8), room])
    found = np.empty(start[-1] * size + WORD, np.uint8)
    copy_lists(lists.start, values, size, numbers.astype(np.int32, copy=False), np.empty(AT_ONCE, np.int64), found)
    return Lists(start, found[: start[-1] * size].view(lists.values.dtype))


@compiled
def copy_lists(start, values, size, numbers, ends, found):
    """Write the bytes of the lists with these numbers one after the other; a value has `size` of them.

    Where the next lists end is looked up first, so that several wait for memory at the same time.
    """
    to = 0
    for row in range(0, len(numbers), len(ends)):
        count = len(numbers) - row if len(numbers) - row < len(ends) else len(ends)
        for k in range(count):
            ends[k] = start[numbers[row + k] + 1]
        for k in range(count):
            first = start[numbers[row + k]] * size
            length = ends[k] * size - first
            for place in range(0, length, WORD):
                store_word(found, to + place, load_word(values, first + place))
            to += length
