"""Names of voters, instances and alternatives: checked once, suggested when misspelt; and what all columns share."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from epivote.errors import InputError

T = TypeVar("T", bound=np.generic)
IntArray = NDArray[np.integer]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
LONGEST = 60  # letters of a name in a list of names; a round number that fits a line
COUNTED_AT_ONCE = 1 << 20  # 8 MB of numbers; a round number
Place = Callable[[int], str]
"""Turns the number of an input row into words such as `quiz.csv, line 7`."""


def as_names(values: Iterable[object], kind: str) -> tuple[str, ...]:
    """Names as a tuple of strings; refuses empty and repeated ones."""
    names = tuple(value if type(value) is str else str(value) for value in values)
    if len(set(names)) == len(names) and "" not in names:
        return names
    if "" in names:
        raise InputError(f"{kind} number {names.index('') + 1} has an empty name; give every {kind} a name")
    twice = next(name for position, name in enumerate(names) if name in names[:position])
    raise InputError(f"{kind} {twice!r} is listed twice; list every {kind} once")


def suggestion(value: object, known: Iterable[object]) -> str:
    """` (did you mean 'x'?)` when a known name is close, else an empty string."""
    from difflib import get_close_matches

    close = get_close_matches(str(value), [str(name) for name in known], n=1, cutoff=0.7)
    return f" (did you mean {close[0]!r}?)" if close else ""


def listing(names: Sequence[str], most: int = 8) -> str:
    """`'a', 'b' and 3 more`: a list of names short enough for a sentence."""
    shown = ", ".join(repr(name if len(name) <= LONGEST else f"{name[:LONGEST]}...") for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def counted(count: int, noun: str) -> str:
    """`1 voter`, `2 voters`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def smallest_integers(values: NDArray[np.integer], limit: int) -> IntArray:
    """`values` in the smallest type that holds 0..limit; 32 bits unless fewer do."""
    for kind in (np.uint8, np.uint16):
        if limit <= np.iinfo(kind).max:
            return values.astype(kind, copy=False)
    return values.astype(np.int32, copy=False)


def frozen(array: NDArray[T]) -> NDArray[T]:
    """The same values, read-only; a copy if anybody could still change them."""
    return array if not array.flags.writeable else sealed(array.copy())


def sealed(array: NDArray[T]) -> NDArray[T]:
    """The array itself, from now on read-only; for one that nobody else holds."""
    array.flags.writeable = False
    return array


def starts_of(lengths: IntArray) -> IntArray:
    """Where each of many lists begins when they follow one another, and where the last one ends."""
    start: IntArray = np.zeros(len(lengths) + 1, np.int64)
    for begin in range(0, len(lengths), COUNTED_AT_ONCE):  # smaller numbers are copied as ones of 64 bits
        end = min(begin + COUNTED_AT_ONCE, len(lengths))
        np.cumsum(lengths[begin:end], out=start[begin + 1 : end + 1])
        if begin:
            start[begin + 1 : end + 1] += start[begin]
    return start


def row_ranges(start: IntArray, rows: IntArray) -> IntArray:
    """Positions `start[r] : start[r + 1]` of all `rows`, one after the other."""
    lengths = start[rows + 1] - start[rows]
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    positions: IntArray = np.arange(total) + np.repeat(start[rows] - (ends - lengths), lengths)
    return positions


def counts_of(groups: IntArray, times: IntArray | None, count: int = 0) -> IntArray:
    """How many there are of each group 0..count-1, each entry counted so many times, or once if that is None."""
    counts: IntArray = np.zeros(max(count, int(groups.max()) + 1 if len(groups) else 0), np.int64)
    for begin in range(0, len(groups), COUNTED_AT_ONCE):  # which are spelt out as numbers of 64 bits
        some = slice(begin, begin + COUNTED_AT_ONCE)
        found = np.bincount(groups[some], None if times is None else times[some], len(counts))
        counts += found.astype(np.int64, copy=False)
    return counts


def sums(groups: IntArray, values: FloatArray, count: int) -> FloatArray:
    """Sum of `values` by group 0..count-1, added in the order given."""
    return np.asarray(np.bincount(groups, weights=values, minlength=count), float)
