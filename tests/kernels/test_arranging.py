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
    order, has_repeats = way.order(*rows_of(pairs), 7)
    assert order.tolist() == sorted(range(len(pairs)), key=lambda row: (*pairs[row], row))
    assert has_repeats == (len(set(pairs)) < len(pairs))


@pytest.mark.parametrize("count", [31, 32, 33, 64, 65, 1000])
@pytest.mark.parametrize("voters", [3, 10_000])
def test_instances_with_many_ballots_are_ordered(count, voters):
    rng = np.random.default_rng(count)
    instance, voter = rng.integers(0, 2, count), rng.integers(0, voters, count)
    order, has_repeats = CompiledArranging(1).order(instance, voter, 5)
    assert order.tolist() == np.lexsort((voter, instance)).tolist()
    assert has_repeats == (len(np.unique(instance * voters + voter)) < count)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int64])
@pytest.mark.parametrize("count", [0, 1, 2, 255, 256, 257, 3000])
def test_lists_are_collected_as_arrays_collect_them(dtype, count):
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 13, 40)
    lists = Lists.of_lengths(lengths, rng.integers(0, 200, lengths.sum()).astype(dtype))
    list_of_row, rows = rng.integers(0, 40, 2 * count + 1).astype(np.uint32), rng.permutation(2 * count + 1)[:count]
    expected, *others = (way.gather(lists, list_of_row, rows) for way in WAYS)
    assert expected.lists().values.tolist() == [
        value
        for row in rows
        for value in lists.values[lists.start[list_of_row[row]] : lists.start[list_of_row[row] + 1]]
    ]
    for found in others:
        assert found.start.tolist() == expected.start.tolist()
        assert found.values.tolist() == expected.values.tolist()
        assert found.values.dtype == dtype


def test_too_little_memory_is_told(monkeypatch):
    class NoMemory:
        @staticmethod
        def order_ballots(*_):
            return -1

    monkeypatch.setattr(arranging, "loops", NoMemory)
    with pytest.raises(MemoryError, match="could not get the memory"):
        CompiledArranging(1).order(*rows_of([(0, 0)]), 1)
