"""The most likely set under size bounds (Theorem 1).

The tie rule: margins that agree to nine decimals are equal. Among equally likely sets the largest is taken (an
alternative exactly at the threshold is in, as long as the upper bound allows), and where equal alternatives compete for
the last places, those listed first win.
"""

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np

from epivote.data.names import BoolArray, FloatArray

TIE_DECIMALS = 9  # margins that agree so far count as equal: above the error of adding up thousands of weights


def choose(margins: FloatArray, lower: int, upper: int) -> BoolArray:
    """Membership in the most likely set of `lower..upper` alternatives, for every row of margins.

    Take all margins of at least 0; only where their number breaks a bound take the largest ones instead.
    """
    rounded = margins.round(TIE_DECIMALS)
    chosen = rounded >= 0
    sizes = chosen.sum(axis=1)
    for size, rows in ((lower, sizes < lower), (upper, sizes > upper)):
        if rows.any():
            chosen[rows] = _largest(rounded[rows], size)
    return chosen


def _largest(rounded: FloatArray, size: int) -> BoolArray:
    """So many of the largest in every row, of equals those listed first."""
    if size == 0:
        return np.zeros(rounded.shape, bool)
    place = rounded.shape[1] - size
    weakest = np.partition(rounded, place, axis=1)[:, place : place + 1]
    above, equal = rounded > weakest, rounded == weakest
    room = size - above.sum(axis=1, keepdims=True)
    within: BoolArray = above | (equal & (equal.cumsum(axis=1) <= room))
    return within


def tied(margins: FloatArray, chosen: BoolArray, lower: int) -> BoolArray:
    """Rows whose chosen set has equally likely rivals, so that the tie rule decided.

    Either a member and an outsider have the same margin, or a member at margin 0 could be left out.
    """
    rounded = np.round(margins, TIE_DECIMALS)
    weakest_member = np.where(chosen, rounded, np.inf).min(axis=1, initial=np.inf)
    strongest_outsider = np.where(chosen, -np.inf, rounded).max(axis=1, initial=-np.inf)
    rivals: BoolArray = (weakest_member == strongest_outsider) | ((weakest_member == 0) & (chosen.sum(axis=1) > lower))
    return rivals


def count_optimal(margins: FloatArray, lower: int, upper: int) -> int:
    """How many sets are exactly as likely as the chosen one, itself included, for one row of margins."""
    fixed, open_, sizes = _optimal_shape(margins, lower, upper)
    return sum(comb(len(open_), size - len(fixed)) for size in sizes)


def optimal_sets(margins: FloatArray, lower: int, upper: int) -> Iterator[tuple[int, ...]]:
    """All most likely sets of one row, the chosen one first, each in ascending order."""
    fixed, open_, sizes = _optimal_shape(margins, lower, upper)
    for size in reversed(sizes):
        for extra in combinations(open_, size - len(fixed)):
            yield tuple(sorted((*fixed, *extra)))


def _optimal_shape(margins: FloatArray, lower: int, upper: int) -> tuple[list[int], list[int], range]:
    """What all optimal sets contain, the equal alternatives they choose among, and the sizes they may have."""
    rounded = np.round(margins, TIE_DECIMALS)
    positive, tied = int(np.sum(rounded > 0)), int(np.sum(rounded == 0))
    if positive <= upper and positive + tied >= lower:
        value, sizes = 0.0, range(max(lower, positive), min(upper, positive + tied) + 1)
    else:
        size = upper if positive > upper else lower
        if size == 0:
            return [], [], range(1)
        value, sizes = float(np.sort(rounded)[::-1][size - 1]), range(size, size + 1)
    return np.flatnonzero(rounded > value).tolist(), np.flatnonzero(rounded == value).tolist(), sizes
