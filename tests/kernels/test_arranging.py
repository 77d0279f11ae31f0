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
    order, voter, start, has_repeats = way.order(*rows_of(pairs), 7)
    assert voter.tolist() == [voter for _, voter in sorted(pairs)]
    assert start.tolist() == [sum(instance < z for instance, _ in pairs) for z in range(8)]
    assert order.tolist() == sorted(range(len(pairs)), key=lambda row: (*pairs[row], row))
    assert has_repeats == (len(set(pairs)) < len(pairs))


@pytest.mark.parametrize("count", [31, 32, 33, 64, 65, 1000])
@pytest.mark.parametrize("voters", [3, 10_000])
def test_instances_with_many_ballots_are_ordered(count, voters):
    rng = np.random.default_rng(count)
    instance, voter = rng.integers(0, 2, count), rng.integers(0, voters, count)
    order, _, _, has_repeats = CompiledArranging(1).order(instance, voter, 5)
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


def columns_of(ballots):
    """Rows with an instance, a voter and a list of values each, as columns of their own."""
    instance, voter = rows_of([ballot[:2] for ballot in ballots])
    values = np.array([value for *_, ticks in ballots for value in ticks], np.uint8)
    return instance, voter, Lists.of_lengths(np.array([len(ticks) for *_, ticks in ballots], np.int64), values)


BALLOTS = st.tuples(st.integers(0, 50), st.lists(st.integers(0, 4), max_size=6))


@pytest.mark.parametrize("threads", [1, 3])
@given(groups=st.lists(st.lists(BALLOTS, min_size=1, max_size=5, unique_by=lambda ballot: ballot[0]), min_size=1))
def test_rows_that_come_by_instance_are_ordered_in_place(threads, groups):
    ballots = [(z, voter, ticks) for z, group in enumerate(groups) for voter, ticks in group]
    instance, voter, lists = columns_of(ballots)
    numbers = np.array([3, 0, 4, 2, 1])
    start, voters, sets = CompiledArranging(threads).in_place(instance, voter, lists, numbers, 5)
    assert start.tolist() == [sum(z < end for z, *_ in ballots) for end in range(len(groups) + 1)]
    assert voters is voter
    assert voters.tolist() == [voter for _, voter, _ in sorted(ballots)]
    expected = [sorted({int(numbers[value]) for value in ticks}) for *_, ticks in sorted(ballots)]
    assert sets.start.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
    assert sets.values.tolist() == [value for values in expected for value in values]


@pytest.mark.parametrize("limit", [64, 65, 256, 70_000])
@pytest.mark.parametrize("count", [1, 31, 33, 300])
def test_long_lists_and_many_ballots_of_an_instance_are_ordered_in_place(limit, count):
    rng = np.random.default_rng(limit + count)
    instance = np.repeat(np.arange(4, dtype=np.int32), count)
    voter = np.concatenate([rng.permutation(400)[:count] for _ in range(4)]).astype(np.int32)
    lengths, numbers = rng.integers(0, 90, 4 * count), rng.permutation(limit)
    values = rng.integers(0, limit, lengths.sum())
    kind = np.uint8 if limit < 256 else np.uint16 if limit < 65_536 else np.int32
    lists = Lists.of_lengths(lengths, values.astype(kind))
    order = np.lexsort((voter, instance))
    expected = Arranging().collect(Lists.of_lengths(lengths, values), None, order, numbers, limit)
    in_order = voter[order]
    start, voters, sets = CompiledArranging(2).in_place(instance, voter, lists, numbers, limit)
    assert start.tolist() == [count * z for z in range(5)]
    assert voters.tolist() == in_order.tolist()
    assert sets.start.tolist() == expected.start.tolist()
    assert sets.values.tolist() == expected.values.tolist()


@pytest.mark.parametrize(
    ("ballots", "limit"),
    [
        ([], 5),
        ([(0, 1, [2]), (1, 1, [2]), (0, 2, [2])], 5),  # not by instance
        ([(0, 2, [2]), (0, 1, [3, 1]), (0, 2, [2])], 5),  # a voter twice
        ([(0, 2, [2]), (1, 1, [3, 1]), (1, 1, [])], 5),
        ([(0, 2, [2])], 256),  # numbers of other bytes
    ],
)
@pytest.mark.parametrize("way", WAYS)
def test_other_rows_are_left_as_they_are(way, ballots, limit):
    instance, voter, lists = columns_of(ballots)
    assert way.in_place(instance, voter, lists, np.arange(5), limit) is None
    assert voter.tolist() == [voter for _, voter, _ in ballots]
    assert lists.values.tolist() == [value for *_, ticks in ballots for value in ticks]


def test_more_rows_than_loops_can_number_are_left_to_arrays(monkeypatch):
    monkeypatch.setattr(arranging, "MOST_ROWS", 2)
    ballots = [(0, 2, [2]), (0, 1, [3, 1]), (1, 1, [])]
    instance, voter, lists = columns_of(ballots)
    way = CompiledArranging(1)
    assert way.in_place(instance, voter, lists, np.arange(5), 5) is None
    assert way.order(instance, voter, 2).rows.dtype == np.int64
    assert way.collect(lists, None, np.array([1, 0, 2]), np.arange(5), 5).values.tolist() == [1, 3, 2]


def test_too_little_memory_is_told(monkeypatch):
    class NoMemory:
        @staticmethod
        def order_ballots(*_):
            return -1

        @staticmethod
        def count_repeats(*_):
            return repeats

        @staticmethod
        def order_in_place(*_):
            return -1

    monkeypatch.setattr(arranging, "loops", NoMemory)
    with pytest.raises(MemoryError, match="could not get the memory"):
        CompiledArranging(1).order(*rows_of([(0, 0)]), 1)
    for repeats in (-1, 0):
        with pytest.raises(MemoryError, match="could not get the memory"):
            CompiledArranging(1).in_place(*columns_of([(0, 0, [1])]), np.arange(5), 5)
