"""The few most probable sets of many instances at once."""

from math import comb

import numpy as np

from epivote.data.names import BoolArray, FloatArray
from epivote.model.choose import TIE_DECIMALS, choose
from epivote.model.posterior import log_partition_and_inclusion

MAX_SETS = 4  # sets: 2^6 patterns of the window around the best set are tried, four times as many for each set more
NUMBERS_PER_BLOCK = 1 << 20  # 8 MB of floats at a time


def top_sets(margins: FloatArray, lower: int, upper: int, count: int) -> tuple[BoolArray, FloatArray]:
    """Membership (rows, count, m) and probabilities (rows, count) of every row's most probable sets, best first.

    In order of the margins the best set is a beginning. Leave out one of its members: for every weaker member behind it
    there is a better set (swap the two, or put one more back), and the best set itself is another; likewise for an
    outsider taken in. So only the count - 1 weakest members and count - 1 strongest outsiders are varied, in all
    patterns. Equally probable sets come in the order of `choose`: larger first, then those with earlier listed members;
    the first set is the chosen one. Fewer than `count` sets are returned where fewer are allowed.
    """
    rows, width = margins.shape
    assert 1 <= count <= MAX_SETS, f"all patterns of a window are tried, so count={count} must be 1..{MAX_SETS}"
    count = _as_many_as_there_are(count, width, lower, upper)
    log_partition, _ = log_partition_and_inclusion(margins, lower, upper)
    members = np.zeros((rows, count, width), bool)
    patterns = _patterns(min(2 * (count - 1), width))
    step = max(1, NUMBERS_PER_BLOCK // len(patterns))
    for begin in range(0, rows, step):
        block = slice(begin, begin + step)
        members[block] = _best_patterns(margins[block], lower, upper, patterns, count)
    log_weight = np.where(members, margins[:, None, :], 0.0).sum(axis=2)
    return members, np.exp(np.minimum(log_weight - log_partition[:, None], 0.0))


def _as_many_as_there_are(count: int, width: int, lower: int, upper: int) -> int:
    found = 0
    for size in range(lower, upper + 1):
        found += comb(width, size)
        if found >= count:
            return count
    return found


def _patterns(width: int) -> BoolArray:
    """All 0/1 rows of this width, those that win ties first: larger ones, then those with earlier members."""
    numbers = np.arange(2**width)[::-1]
    patterns = (numbers[:, None] >> np.arange(width)[::-1]) & 1
    return patterns[np.argsort(-patterns.sum(axis=1), kind="stable")].astype(bool)


def _best_patterns(margins: FloatArray, lower: int, upper: int, patterns: BoolArray, count: int) -> BoolArray:
    rounded = np.round(margins, TIE_DECIMALS)
    width, window = margins.shape[1], patterns.shape[1]
    order = np.argsort(-rounded, axis=1, kind="stable")
    size = choose(margins, lower, upper).sum(axis=1)
    start = np.clip(size - (count - 1), 0, width - window)
    places = np.take_along_axis(order, start[:, None] + np.arange(window), axis=1)
    worth = np.round(np.take_along_axis(rounded, places, axis=1) @ patterns.T.astype(float), TIE_DECIMALS)
    sizes = start[:, None] + patterns.sum(axis=1)
    worth[(sizes < lower) | (sizes > upper)] = -np.inf
    sure = np.zeros(margins.shape, bool)
    np.put_along_axis(sure, order, np.arange(width) < start[:, None], axis=1)
    members = np.repeat(sure[:, None, :], count, axis=1)
    row = np.arange(len(margins))
    for place in range(count):
        best = np.argmax(worth, axis=1)
        members[row[:, None], place, places] = patterns[best]
        worth[row, best] = -np.inf
    return members
