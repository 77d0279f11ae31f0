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
    for size, broken in ((lower, sizes < lower), (upper, sizes > upper)):
        (rows,) = broken.nonzero()
        if len(rows):
            order = np.argsort(-rounded[rows], axis=1, kind="stable")  # of equals, those listed first
            chosen[rows] = False
            chosen[rows[:, None], order[:, :size]] = True
    return chosen


def tied(margins: FloatArray, chosen: BoolArray, lower: int) -> BoolArray:
    """Rows whose chosen set has equally likely rivals, so that the tie rule decided.

    Either a member and an outsider have the same margin, or a member at margin 0 could be left out.
    """
    # rounded afterwards, which gives the same: of two numbers the larger is never rounded to the smaller
    weakest_member, strongest_outsider = (edge.round(TIE_DECIMALS) for edge in _on_the_edge(margins, chosen))
    rivals: BoolArray = (weakest_member == strongest_outsider) | ((weakest_member == 0) & (chosen.sum(axis=1) > lower))
    return rivals


def room(margins: FloatArray, chosen: BoolArray) -> float:
    """How far margins may move, each up or down by less than this, before any other set could be chosen.

    Until then no margin changes its sign, and no outsider comes level with a member. Where sets were given rather than
    chosen there may be no room at all: below 0.
    """
    weakest_member, strongest_outsider = _on_the_edge(margins, chosen)
    apart = (weakest_member - strongest_outsider).min(initial=np.inf)
    return min(float(apart) / 2, float(np.abs(margins).min(initial=np.inf))) - 10.0**-TIE_DECIMALS


def _on_the_edge(margins: FloatArray, chosen: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The smallest margin in every set, and the largest outside it."""
    weakest_member = np.where(chosen, margins, np.inf).min(axis=1, initial=np.inf)
    return weakest_member, np.where(chosen, -np.inf, margins).max(axis=1, initial=-np.inf)


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
