"""Rows of delimited text cut into cells, and different texts numbered, as compiled loops over bytes.

Texts are looked up by a hash of 64 bits, and compared whole where half of it agrees. Words of eight bytes may reach
beyond the end of a text, so arrays of bytes need seven more than they use.
"""

import numpy as np

from epivote.kernels.decorators import compiled, inlined
from epivote.kernels.words import WORD, load_word, store_word

INSIDE, SEPARATOR, LINE_FEED, CARRIAGE_RETURN, OTHER = 0, 1, 2, 3, 4
"""Kinds of bytes: part of a cell, the end of a cell, the end of a row, which may take two, and what is not plain."""
NOT_PLAIN = -1  # given back where text has to be read with more care
FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio, odd: its multiples spread over all numbers
HALF = np.uint64(32)  # bits of a word
ALL, LAST_HALF = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0xFFFFFFFF)
LINE_END = 10  # as a byte


@compiled
def split_rows(text, length, kinds, column_of, begins, ends):
    """Where the cells of every complete row in `text[:length]` begin and end.

    `kinds` has the kind of every byte, and `column_of` the column of the results that every cell of a row goes to, or
    -1. Gives the number of rows and where the last one ends; no number of rows but NOT_PLAIN if one has more or fewer
    cells than that, has only blank ones, or has a byte of another kind.
    """
    row, place, done, cell, begin, filled = 0, 0, 0, 0, 0, False
    while place < length:
        kind = kinds[text[place]]
        place += 1
        if kind == INSIDE:
            continue
        if kind == OTHER or cell == len(column_of):
            return NOT_PLAIN, done
        column = column_of[cell]
        if column >= 0:
            begins[column, row] = begin
            ends[column, row] = place - 1
        filled |= place - 1 > begin
        cell += 1
        if kind == CARRIAGE_RETURN:
            if place == length:
                break
            kind = kinds[text[place]]
            place += 1
            if kind != LINE_FEED:
                return NOT_PLAIN, done
        begin = place
        if kind == LINE_FEED:
            if cell < len(column_of) or not filled:
                return NOT_PLAIN, done
            row += 1
            cell, filled, done = 0, False, place
    return row, done


@compiled
def number_texts(text, begins, ends, slots, shift, known, names, name_start, name_hashes, hashes, firsts, numbers):
    """The number of every text `text[begin:end]`; those that are new are written behind the `known` names.

    `names[name_start[k] : name_start[k + 1]]` is name k and a line feed behind it. Slot `hash >> shift`, or the first
    free one after it, has the number of a name plus 1 and the other half of its hash; 0 if it is free. There must be
    room for all that could be new, and for twice as many slots. Gives how many names are known then.
    """
    # In the first loops no row has to wait for the one before it, so that several wait for memory at the same time.
    for row in range(len(begins)):
        hashes[row] = hash_of(text, begins[row], ends[row])
    for row in range(len(begins)):
        numbers[row] = number_in(slots[np.int64(hashes[row] >> shift)], hashes[row])
    for row in range(len(begins)):
        firsts[row] = name_start[max(numbers[row], 0)]
    last_slot = len(slots) - 1
    for row in range(len(begins)):
        number, begin, size = numbers[row], begins[row], ends[row] - begins[row]
        if number >= 0 and is_text(text, begin, size, names, firsts[row]):
            continue
        slot = np.int64(hashes[row] >> shift)
        while slots[slot]:
            number = number_in(slots[slot], hashes[row])
            if number >= 0 and is_text(text, begin, size, names, name_start[number]):
                break
            slot = (slot + 1) & last_slot
        if not slots[slot]:
            number, first = known, name_start[known]
            known += 1
            slots[slot] = slot_of(number, hashes[row])
            name_hashes[number] = hashes[row]
            for place in range(0, size, WORD):
                store_word(names, first + place, load_word(text, begin + place))
            names[first + size] = LINE_END
            name_start[known] = first + size + 1
        numbers[row] = number
    return known


@compiled
def fill_slots(hashes, slots, shift):
    """Write the numbers of names with these hashes into free slots."""
    last_slot = len(slots) - 1
    for number in range(len(hashes)):
        slot = np.int64(hashes[number] >> shift)
        while slots[slot]:
            slot = (slot + 1) & last_slot
        slots[slot] = slot_of(number, hashes[number])


@inlined
def slot_of(number, code):
    """What a slot holds: the last half of a hash, and the number plus 1."""
    return (code << HALF) | np.uint64(number + 1)


@inlined
def number_in(slot, code):
    """The number in a slot if its name may have this hash, else -1, also if the slot is free."""
    return np.int64(slot & LAST_HALF) - 1 if slot >> HALF == code & LAST_HALF else -1


@inlined
def is_text(text, begin, size, names, first):
    """Whether `text[begin : begin + size]` is the name that begins at `first`: no name has a line feed inside."""
    differ = np.uint64(names[first + size] != LINE_END)
    for place in range(0, size, WORD):
        word = load_word(text, begin + place) ^ load_word(names, first + place)
        differ |= word & word_mask(size - place)
    return differ == 0


@compiled
def hash_of(text, begin, end):
    """A number of 64 bits that is seldom the same for two texts; its first bits and its last ones are equally good."""
    code = np.uint64(end - begin)
    for place in range(begin, end, WORD):
        code = (code ^ (load_word(text, place) & word_mask(end - place))) * FACTOR
        code ^= code >> HALF
    return code * FACTOR


@compiled
def word_mask(count):
    """The first `count` bytes of a word, all eight if there are more."""
    return ALL if count >= WORD else (np.uint64(1) << np.uint64(WORD * count)) - np.uint64(1)
