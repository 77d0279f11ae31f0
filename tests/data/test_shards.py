"""Shards hold every ballot once, however they are cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epivote import Ballots
from epivote.data.ballots import Menu
from epivote.data.blocks import Columns
from epivote.data.lists import Lists, Masks
from epivote.data.shards import make_shards
from strategies import elections


@settings(max_examples=30)
@given(elections(max_voters=4, max_instances=6), st.sampled_from([1, 2, 3, 7, None]), st.booleans())
def test_shards_hold_every_ballot_once_under_its_own_bounds(election, cells, as_masks):
    ballots = election.as_ballots()
    lower, upper = election.size_bounds.resolve(ballots)
    columns = ballots.columns()
    if as_masks:
        columns = columns._replace(ticks=Masks(columns.ticks.masks()))
    cast, bounds, seen = {}, {}, []
    shards = make_shards(columns, lower, upper, cells)
    for shard in shards:
        rows, width = shard.shape
        assert rows == len(shard.instances)
        assert width == shard.width
        assert cells is None or rows == 1 or rows * width <= cells
        assert shard.ballot_start[0] == 0
        lists = shard.ticks.lists()
        cell = 0
        for r, z in enumerate(shard.instances):
            name = ballots.instances[z]
            seen.append(name)
            bounds[name] = (shard.lower, shard.upper)
            menu = range(width) if shard.offered is None else shard.offered[r]
            names = [ballots.alternatives[j] for j in menu]
            assert names == list(election.menus[name])
            for b in range(shard.ballot_start[r], shard.ballot_start[r + 1]):
                positions = lists.values[lists.start[b] : lists.start[b + 1]]
                voter = ballots.voters[shard.ballot_voter[b]]
                cast[voter, name] = {names[position] for position in positions}
                assert shard.ballot_row[b] == r
                for position in positions:
                    assert shard.approval_cell[cell] == r * width + position
                    assert shard.approval_voter[cell] == shard.ballot_voter[b]
                    cell += 1
        assert len(shard.approval_cell) == len(shard.approval_voter) == cell
        assert len(shard.ballot_row) == len(shard.ballot_voter)
    assert cast == election.ballots
    assert sorted(seen) == sorted(election.instances)
    assert bounds == election.bounds
    kinds = [(shard.lower, shard.upper, shard.width) for shard in shards]
    assert cells is not None or len(kinds) == len(set(kinds)), "small ballots need one shard of a kind"


def empty_columns(instances, alternatives, menu=None):
    none = np.zeros(0, np.int32)
    return Columns(1, alternatives, np.zeros(instances + 1, int), none, Lists(np.zeros(1, int), none), menu)


def columns_with_ballots(instances, alternatives, voters):
    """Two empty ballots on every instance."""
    start = np.arange(0, 2 * instances + 1, 2)
    ticks = Lists(np.zeros(2 * instances + 1, int), np.zeros(0, np.int32))
    return Columns(voters, alternatives, start, np.zeros(2 * instances, np.int32), ticks, None)


@pytest.mark.parametrize(("voters", "shards"), [(1, 8), (8_000, 8), (2**14, 8), (30_000, 4), (2**17, 2), (10**6, 2)])
def test_shards_have_as_many_ballots_as_there_are_voters_unless_that_makes_them_huge(voters, shards):
    """2^20 cells: at most eight shards of the usual size, and at least two of the largest."""
    instances = 1 << 16
    bounds = np.zeros(instances, int)
    cut = make_shards(columns_with_ballots(instances, 16, voters), bounds, bounds + 1)
    assert [len(shard.instances) for shard in cut] == [instances // shards] * shards


@pytest.mark.parametrize(
    ("instances", "alternatives", "cells"),
    [
        (100, 1000, 1 << 17),
        (1 << 12, 1 << 10, 1 << 17),
        (10_000, 1000, 312_500),
        (1 << 14, 1 << 10, 1 << 19),
        (40_000, 1000, 1 << 19),
    ],
)
def test_there_are_enough_shards_for_many_threads_but_no_tiny_or_huge_ones(instances, alternatives, cells):
    bounds = np.zeros(instances, int)
    shards = make_shards(columns_with_ballots(instances, alternatives, 1), bounds, bounds + 1)
    rows = cells // alternatives
    assert [len(shard.instances) for shard in shards[:-1]] == [rows] * (len(shards) - 1)
    assert len(shards) == -(-instances // rows)


def test_neighbours_are_not_copied():
    ballots = Ballots.from_mapping({(v, z): {"a"} for v in "uvw" for z in "pqrs"}, alternatives=["a", "b"])
    columns, bounds = ballots.columns(), np.zeros(4, int)
    for shard in make_shards(columns, bounds, bounds + 1, 4):
        assert len(shard.instances) == 2
        assert np.shares_memory(shard.ballot_voter, columns.ballot_voter)
        assert np.shares_memory(shard.ticks.values, columns.ticks.values)
    lower = np.array([0, 1, 0, 1])
    assert [len(shard.ballot_voter) for shard in make_shards(columns, lower, bounds + 1)] == [6, 6]


@pytest.mark.parametrize(("cells", "counts"), [(9, [3, 1]), (8, [2, 2]), (6, [2, 2]), (3, [1] * 4), (1, [1] * 4)])
def test_a_shard_has_as_many_rows_as_its_cells_allow(cells, counts):
    bounds = np.zeros(4, int)
    shards = make_shards(empty_columns(4, 3), bounds, bounds, cells)
    assert [len(shard.instances) for shard in shards] == counts
    assert np.concatenate([shard.instances for shard in shards]).tolist() == [0, 1, 2, 3]


def test_single_alternatives_fill_a_shard():
    bounds = np.zeros(5, int)
    assert [len(shard.instances) for shard in make_shards(empty_columns(5, 1), bounds, bounds, 4)] == [4, 1]


def test_instances_that_offer_nothing_have_a_shard_too():
    menu = Menu(np.array([0, 0, 2, 2]), np.array([0, 1]))
    columns = empty_columns(3, 2, menu)
    assert columns.menu_sizes.tolist() == [0, 2, 0]
    assert empty_columns(3, 2).menu_sizes.tolist() == [2, 2, 2]
    shards = make_shards(columns, np.zeros(3, int), np.array([0, 2, 0]))
    assert sorted((shard.width, shard.instances.tolist()) for shard in shards) == [(0, [0, 2]), (2, [1])]


def test_bounds_that_differ_divide_instances_of_one_width():
    lower, upper = np.array([0, 1, 0, 0]), np.array([2, 2, 1, 2])
    shards = make_shards(empty_columns(4, 2), lower, upper)
    found = {(shard.lower, shard.upper): shard.instances.tolist() for shard in shards}
    assert found == {(0, 2): [0, 3], (1, 2): [1], (0, 1): [2]}
