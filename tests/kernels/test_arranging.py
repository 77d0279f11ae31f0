"""Ballots put in order and lists collected by compiled loops, against arrays and against sorting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epivote.data.arranging import Arranging
from epivote.data.lists import Lists
from epivote.kernels import arranging
from epivote.kernels.arranging import CompiledArranging

WAYS = [Arranging(), CompiledArranging(1), CompiledArranging(3)]


def rows_of(pairs):
    return (
        tuple(np.array(column, np.int32) for column in zip(*pairs, strict=True))
        if pairs
        else (np.zeros(0, np.int32),) * 2
    )


@pytest.mark.parametrize("way", WAYS[:2], ids=["arrays", "loops"])
@given(pairs=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 90)), max_size=200))
def test_rows_are_ordered_by_instance_and_voter_and_keep_their_order_where_both_are_the_same(way, pairs):
    order, start, has_repeats = way.order(*rows_of(pairs), 7)
    assert start.tolist() == [sum(instance < z for instance, _ in pairs) for z in range(8)]
    assert order.tolist() == sorted(range(len(pairs)), key=lambda row: (*pairs[row], row))
    assert has_repeats == (len(set(pairs)) < len(pairs))


@pytest.mark.parametrize("count", [31, 32, 33, 64, 65, 1000])
@pytest.mark.parametrize("voters", [3, 10_000])
def test_instances_with_many_ballots_are_ordered(count, voters):
    rng = np.random.default_rng(count)
    instance, voter = rng.integers(0, 2, count), rng.integers(0, voters, count)
    order, _, has_repeats = CompiledArranging(1).order(instance, voter, 5)
    assert order.tolist() == np.lexsort((voter, instance)).tolist()
    assert has_repeats == (len(np.unique(instance * voters + voter)) < count)


@pytest.mark.parametrize("limit", [1, 63, 64, 65, 255, 256, 70_000])
@pytest.mark.parametrize("count", [0, 1, 2, 255, 256, 257, 3000])
@pytest.mark.parametrize("longest", [13, 90])
@pytest.mark.parametrize("is_shared", [True, False])
def test_sets_are_collected_as_by_hand(limit, count, longest, is_shared):
    rng = np.random.default_rng(3)
    n_lists = 40 if is_shared else 2 * count + 1
    lengths, n_values = rng.integers(0, longest, n_lists), max(1, limit // 2)
    lists = Lists.of_lengths(lengths, rng.integers(0, n_values, lengths.sum()).astype(np.uint16))
    numbers = rng.permutation(limit)[:n_values]
    list_of_row = rng.integers(0, n_lists, 2 * count + 1).astype(np.uint32) if is_shared else None
    rows = rng.permutation(2 * count + 1)[:count]
    number = rows if list_of_row is None else list_of_row[rows]
    expected = [
        sorted({int(numbers[value]) for value in lists.values[lists.start[k] : lists.start[k + 1]]}) for k in number
    ]
    for way in WAYS:
        found = way.collect(lists, list_of_row, rows, numbers, limit)
        assert found.start.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
        assert found.values.tolist() == [value for values in expected for value in values]


def test_too_little_memory_is_told(monkeypatch):
    class NoMemory:
        @staticmethod
        def order_ballots(*_):
            return -1

    monkeypatch.setattr(arranging, "loops", NoMemory)
    with pytest.raises(MemoryError, match="could not get the memory"):
        CompiledArranging(1).order(*rows_of([(0, 0)]), 1)
