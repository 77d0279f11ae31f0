"""Arrays are handed over as the loops expect them, whatever they were before."""

import re
from dataclasses import replace

import numpy as np
import pytest

from epivote import Ballots, SizeBounds
from epivote.estimate.workload import InMemoryWorkload
from epivote.kernels import library
from epivote.kernels.arguments import Arrays, voter_numbers


def shard_of(width):
    ballots = Ballots.from_array(np.arange(4 * 5 * width).reshape(4, 5, width) % 3 == 0)
    (shard,) = InMemoryWorkload(ballots, SizeBounds(1, 2)).shards
    return shard


def test_fields_are_those_of_the_loops_in_the_same_order():
    """Nothing but their order says which is which."""
    header = (library.FOLDER / "shard.hpp").read_text(encoding="utf-8")
    inside = re.search(r"struct Shard \{(.*?)\n\n", header, re.DOTALL).group(1)
    declared = [name for line in re.findall(r"(?:int64_t|\*)([^;]*);", inside) for name in re.findall(r"\w+", line)]
    assert declared == [name for name, _ in library.LoopShard._fields_]
    assert [name for name, _ in library.LoopShard._fields_][6:] == list(Arrays._fields)


@pytest.mark.parametrize("width", [3, 64, 65])
def test_ticks_are_masks_or_lists(width):
    shard = shard_of(width)
    arrays = Arrays.of(shard, None)
    lengths = [None if column is None else len(column) for column in (arrays.masks, arrays.tick_column)]
    assert lengths == ([20, None] if width <= 64 else [None, int(shard.ticks.lengths().sum())])
    assert arrays.offered is arrays.fixed is arrays.given is arrays.order is None


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64])
def test_numbers_of_voters_lose_their_sign_and_nothing_else(kind):
    found = voter_numbers(np.array([3, 0, 100], kind))
    assert found.tolist() == [3, 0, 100]
    assert found.dtype == np.dtype(f"u{min(4, np.dtype(kind).itemsize)}")


def test_columns_with_gaps_are_copied():
    shard = shard_of(5)
    gappy = replace(shard, ballot_voter=np.repeat(shard.ballot_voter, 2)[::2])
    assert Arrays.of(gappy, None).ballot_voter.tolist() == shard.ballot_voter.tolist()


def test_rows_are_ordered_where_they_have_different_numbers_of_ballots():
    missing = np.zeros((4, 5), bool)
    missing[1, :3] = missing[2, 0] = True
    ballots = Ballots.from_array(np.ones((4, 5, 3)), missing=missing)
    (shard,) = InMemoryWorkload(ballots, SizeBounds(1, 2)).shards
    assert Arrays.of(shard, None).order.tolist() == [0, 3, 2, 1]
