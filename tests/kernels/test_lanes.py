"""Vectors of eight numbers against numpy, lane by lane."""

import numpy as np
import pytest
from numba import njit

from epivote.kernels.arguments import LANES, tables
from epivote.kernels.lanes import (
    add_pairs,
    any_at_least,
    gather,
    gather_pairs,
    load,
    opposite,
    plus,
    store,
    times,
    where_apart,
)

RNG = np.random.default_rng(1)
PLACES = RNG.integers(0, 40, (3, LANES))


@njit
def gathered(numbers, table, places, found, integers):
    for row in range(len(places)):
        first, second = gather_pairs(table, numbers, places, row)
        store(found, 2 * row, first)
        store(found, 2 * row + 1, second)
        store(integers, row, gather(numbers, places, row))


@njit
def added(numbers, table, places, first, second):
    for row in range(len(places)):
        add_pairs(table, numbers, places, row, load(first, row), load(second, row))


@njit
def under_masks(masks, bits, numbers, neutral, sums, products):
    for row in range(len(masks)):
        apart = where_apart(opposite(load(masks, row)), load(bits, row), load(numbers, row), load(neutral, 0))
        store(sums, row, plus(load(sums, row), apart))
        again = where_apart(opposite(load(masks, row)), load(bits, row), load(numbers, row), load(neutral, 1))
        store(products, row, times(load(products, row), again))


@njit
def some_at_least(table):
    return any_at_least(load(table, 0), load(table, 1))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint64])
def test_numbers_of_any_size_and_their_pairs_are_gathered(kind):
    """Numbers above half of what a kind can hold are not taken for negative ones."""
    largest = min(np.iinfo(kind).max, 60_000)
    numbers, table = RNG.integers(0, largest, 40, endpoint=True).astype(kind), RNG.random((largest + 1, 2))
    numbers[PLACES[0, 0]] = largest
    found, integers = np.empty((6, LANES)), np.empty((3, LANES), np.int64)
    gathered(numbers, table, PLACES, found, integers)
    np.testing.assert_array_equal(integers, numbers[PLACES])
    np.testing.assert_array_equal(found[0::2], table[numbers[PLACES], 0])
    np.testing.assert_array_equal(found[1::2], table[numbers[PLACES], 1])


def test_pairs_are_added_where_numbers_repeat():
    numbers, table = RNG.integers(0, 5, 40), np.zeros((5, 2))
    first, second = RNG.integers(0, 9, (2, 3, LANES)).astype(float)
    added(numbers, table, PLACES, first, second)
    expected = np.zeros((5, 2))
    np.add.at(expected, numbers[PLACES.ravel()], np.stack([first.ravel(), second.ravel()], axis=1))
    np.testing.assert_array_equal(table, expected)


def test_sums_and_products_under_masks_change_only_lanes_with_the_bit():
    places = np.array([0, 1, 62, 63])
    masks = RNG.integers(-(1 << 63), 1 << 63, (4, LANES), dtype=np.int64)
    bits = np.repeat((np.uint64(1) << places.astype(np.uint64)).view(np.int64)[:, None], LANES, axis=1)
    numbers, sums, products = RNG.random((3, 4, LANES))
    is_set = (masks & bits) != 0
    expected = np.where(is_set, sums + numbers, sums), np.where(is_set, products * numbers, products)
    neutral = np.repeat([[0.0], [1.0]], LANES, axis=1)
    under_masks(masks, bits, numbers, neutral, sums, products)
    np.testing.assert_array_equal(sums, expected[0])
    np.testing.assert_array_equal(products, expected[1])


@pytest.mark.parametrize("lane", range(LANES))
def test_one_lane_is_enough_and_what_is_not_a_number_is_not(lane):
    table = np.stack([np.zeros(LANES), np.ones(LANES)])
    assert not some_at_least(table)
    table[0, lane] = np.nan
    assert not some_at_least(table)
    table[0, lane] = 1.0
    assert some_at_least(table)


def test_tables_have_their_heights_and_begin_with_lines_of_the_cache():
    found = tables(3, 0, 5)
    assert [table.shape for table in found] == [(3, LANES), (0, LANES), (5, LANES)]
    assert all(table.ctypes.data % 64 == 0 for table in found if len(table))
    found[0][:] = 1.0
    assert not found[2].any()
