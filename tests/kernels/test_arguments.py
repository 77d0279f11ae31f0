"""Loops take their arguments one by one; each group of them has the fields, in the order, that the loops expect."""

import inspect

import numpy as np
import pytest
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

from epivote import Ballots, SizeBounds
from epivote.estimate.workload import InMemoryWorkload
from epivote.kernels import hard_loops, log_loops, masks, pairs, soft_loops, table_loops
from epivote.kernels.arguments import Allowed, BallotColumns, Blocks, Evidence, KeptSets, Moves, Room
from epivote.kernels.hard_loops import hard_change, hard_pass
from epivote.kernels.log_loops import log_pass
from epivote.kernels.soft_loops import soft_pass
from epivote.model.statistics import PassCounts

SHARD = (*BallotColumns._fields, *Evidence._fields, *Allowed._fields)

SIZES = ("lower", "upper", "width")


@pytest.mark.parametrize(
    ("loop", "fields"),
    [
        (hard_pass, (*SHARD, *PassCounts._fields, "sets")),
        (hard_change, (*SHARD, *Moves._fields, *KeptSets._fields, *PassCounts._fields, *("margins", "prior", "keys"))),
        (
            soft_pass,
            (
                *Blocks._fields,
                *BallotColumns._fields[1:],
                *SIZES,
                *("factors", "weights"),
                *Room._fields,
                *("voters", "prior_odds", "occurrences"),
            ),
        ),
        (
            log_pass,
            (
                "rows",
                *BallotColumns._fields,
                *Evidence._fields[:2],
                *Allowed._fields,
                *("log_weights", "sizes", "seen", "voters"),
            ),
        ),
    ],
)
def test_arguments_are_the_fields_of_the_groups(loop, fields):
    assert tuple(inspect.signature(loop.py_func).parameters) == fields


@pytest.mark.parametrize("width", [3, 64, 65])
def test_columns_are_read_only_whatever_they_were_before(width):
    ballots = Ballots.from_array(np.arange(4 * 5 * width).reshape(4, 5, width) % 3 == 0)
    (shard,) = InMemoryWorkload(ballots, SizeBounds(1, 2)).shards
    columns = BallotColumns.of(shard)
    assert not any(column.flags.writeable for column in columns if column is not None)
    lengths = [None if column is None else len(column) for column in (columns.masks, columns.tick_column)]
    assert lengths == ([20, None] if width <= 64 else [None, ballots.n_approvals])
    assert columns.offered is None


def test_loops_are_kept_on_disk_and_leave_other_threads_alone():
    modules = (hard_loops, log_loops, masks, pairs, soft_loops, table_loops)
    loops = [each for module in modules for each in vars(module).values() if isinstance(each, Dispatcher)]
    assert len(loops) > 10
    for loop in loops:
        assert loop.targetoptions["nogil"] is True, loop
        assert not isinstance(loop._cache, NullCache), loop
