"""Places of a stable sort that is not carried out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epivote.data.ordering import at_ranks, smallest

# few different values, so that most are equal to others
numbers = st.lists(st.sampled_from([-1.0, -0.0, 0.0, 0.25, 1e-300, 1.0, float("inf")]), max_size=30).map(np.array)


@given(numbers, st.integers(0, 35))
def test_the_smallest_come_in_the_order_of_a_stable_sort(values, count):
    expected = sorted(range(len(values)), key=lambda place: values[place])
    assert smallest(values, count).tolist() == expected[:count]
    assert smallest(values, None).tolist() == expected


@given(numbers.filter(len), st.data())
def test_ranks_are_those_of_a_stable_sort(values, data):
    ranks = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=8))
    expected = sorted(range(len(values)), key=lambda place: values[place])
    assert at_ranks(values, np.array(ranks, int)).tolist() == [expected[rank] for rank in ranks]


@pytest.mark.parametrize("count", [1, 2, 7, 200])
def test_values_without_equals(count):
    values = np.random.default_rng(count).random(200)
    assert np.array_equal(smallest(values, count), np.argsort(values)[:count])
    assert np.array_equal(at_ranks(values, np.arange(count)), np.argsort(values)[:count])


def test_values_stay_where_they_are():
    values = np.array([3.0, 1.0, 2.0])
    values.flags.writeable = False
    assert smallest(values, 2).tolist() == at_ranks(values, np.array([0, 1])).tolist() == [1, 2]
