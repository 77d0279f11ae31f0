"""Many short lists against lists of Python, with few rows at a time and at the widths where masks end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epivote.data import lists as lists_module
from epivote.data.lists import Lists, Masks
from epivote.data.names import frozen, row_ranges, sums


def made(rows, kind=np.int64):
    return Lists.of_lengths(
        np.array([len(row) for row in rows], np.int64), np.array([value for row in rows for value in row], kind)
    )


def spelt(lists):
    return [lists.values[a:b].tolist() for a, b in zip(lists.start[:-1], lists.start[1:], strict=True)]


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.integers(0, 5), max_size=4), min_size=1, max_size=7),
    st.sampled_from([1, 2, 3, 1 << 15]),
    st.data(),
)
def test_lists_do_what_lists_of_python_do(rows, chunk, data):
    lists = made(rows)
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8))
    begin = data.draw(st.integers(0, len(rows)))
    end = data.draw(st.integers(begin, len(rows)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lists_module, "ROWS_PER_CHUNK", chunk)
        assert spelt(lists) == rows
        assert lists.lengths().tolist() == [len(row) for row in rows]
        assert spelt(lists.rows(np.array(chosen, int))) == [rows[number] for number in chosen]
        assert lists.rows(np.arange(len(rows))) is lists, "nothing is copied where all stay"
        assert spelt(lists.part(begin, end)) == rows[begin:end]
        assert lists.lists() is lists
        ascending = lists.sorted_sets(6)
        assert spelt(ascending) == [sorted(set(row)) for row in rows]
        assert ascending.masks().tolist() == [sum(1 << value for value in set(row)) for row in rows]
        for limit in (6, 63, 64, 65):
            different, number = ascending.unique(limit)
            assert [spelt(different)[kind] for kind in number] == [sorted(set(row)) for row in rows]
            assert len(different.start) - 1 == len({tuple(sorted(set(row))) for row in rows})
    masks = Masks(ascending.masks())
    assert masks.masks().tolist() == ascending.masks().tolist()
    assert masks.lengths().tolist() == ascending.lengths().tolist()
    assert spelt(masks.lists()) == spelt(ascending)
    assert spelt(masks.part(begin, end).lists()) == spelt(ascending)[begin:end]
    assert spelt(masks.rows(np.array(chosen, int)).lists()) == [spelt(ascending)[number] for number in chosen]


@pytest.mark.parametrize("top", [31, 32, 62, 63])
def test_masks_have_64_places(top):
    rows = [[top], [], [0, top], [0, 1, top - 1, top], [0]]
    for kind in (np.uint8, np.int64):
        masks = made(rows, kind).masks()
        assert [int(mask) for mask in masks] == [sum(1 << value for value in row) for row in rows]
        assert spelt(Masks(masks).lists()) == rows
        assert Masks(masks).lengths().tolist() == [len(row) for row in rows]


@pytest.mark.parametrize("limit", [63, 64, 65, 300])
def test_lists_that_differ_only_in_the_last_value_are_different(limit):
    top = limit - 1
    rows = [[top], [], [0, top], [top], [0], [], [top - 1], [0, top]]
    different, number = made(rows, np.int32).unique(limit)
    assert [spelt(different)[kind] for kind in number] == rows
    assert len(different.start) - 1 == 5


def test_the_order_of_lists_with_wide_values_is_that_of_their_first_appearance():
    different, number = made([[9], [100], [9], [], [100]]).unique(200)
    assert (spelt(different), number.tolist()) == ([[9], [100], []], [0, 1, 0, 2, 1])


def test_sorted_sets_of_one_row_do_not_reach_into_the_next():
    assert spelt(made([[3, 5], [1], [], [1, 0], [5, 5]]).sorted_sets(6)) == [[3, 5], [1], [], [0, 1], [5]]
    ascending = made([[3, 5], [1], []])
    assert ascending.sorted_sets(6) is ascending
    wide = made([[299, 1], [0, 299]]).sorted_sets(300)
    assert (spelt(wide), wide.values.dtype) == ([[1, 299], [0, 299]], np.uint16)


def test_lists_of_pairs_know_rows_without_any():
    lists = Lists.of_pairs(np.array([1, 1, 3]), np.array([7, 8, 9]), 5)
    assert spelt(lists) == [[], [7, 8], [], [9], []]


# Helpers of columns


def test_ranges_of_rows_follow_each_other():
    start = np.array([0, 2, 2, 5, 6])
    assert row_ranges(start, np.array([2, 0, 1, 3, 2])).tolist() == [2, 3, 4, 0, 1, 5, 2, 3, 4]
    assert row_ranges(start, np.zeros(0, int)).tolist() == []


def test_sums_by_group_have_a_place_for_every_group():
    found = sums(np.array([2, 0, 2]), np.array([0.5, 1.0, 0.25]), 4)
    assert found.tolist() == [1.0, 0.0, 0.75, 0.0]
    assert found.dtype == float


def test_a_frozen_array_is_a_copy_unless_nobody_could_change_it():
    mine = np.arange(3)
    kept = frozen(mine)
    mine[0] = 9
    assert kept.tolist() == [0, 1, 2]
    assert not kept.flags.writeable
    assert mine.flags.writeable
    assert frozen(kept) is kept


@pytest.mark.parametrize("limit", [1, 4, 10, 11])
def test_a_table_of_all_sets_finds_what_sorting_does(monkeypatch, limit):
    rng = np.random.default_rng(limit)
    lists = Masks(rng.integers(0, 1 << min(limit, 10), 1023).astype(np.uint64)).lists()  # so that 11 has no table
    (by_table, number), looked_up = lists.unique(limit), []
    monkeypatch.setattr(lists_module, "MOST_IN_TABLE", 0)
    monkeypatch.setattr(
        np, "unique", lambda *args, _sort=np.unique, **words: looked_up.append(1) or _sort(*args, **words)
    )
    by_sorting, same_number = lists.unique(limit)
    assert looked_up == [1]
    assert spelt(by_table) == spelt(by_sorting)
    assert np.array_equal(number, same_number)
