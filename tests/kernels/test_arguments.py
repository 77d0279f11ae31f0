"""Loops take their arguments one by one; each group of them has the fields, in the order, that the loops expect."""

import inspect

import numpy as np
import pytest
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

from epivote import Ballots, SizeBounds
from epivote.estimate.workload import InMemoryWorkload
from epivote.kernels import group_loops, hard_loops, masks, pairs, soft_loops, table_loops
from epivote.kernels.arguments import Allowed, BallotColumns, Evidence, KeptSets, Moves
from epivote.kernels.group_loops import group_soft_pass
from epivote.kernels.hard_loops import hard_change, hard_pass
from epivote.kernels.soft_loops import soft_pass
from epivote.model.statistics import PassCounts

SHARD = (*BallotColumns._fields, *Evidence._fields, *Allowed._fields)

IN_GROUPS = (*BallotColumns._fields, "group_log_odds", *Evidence._fields[1:], *Allowed._fields)


@pytest.mark.parametrize(
    ("loop", "fields"),
    [
        (hard_pass, (*SHARD, *PassCounts._fields, "sets")),
        (hard_change, (*SHARD, *Moves._fields, *KeptSets._fields, *PassCounts._fields)),
        (soft_pass, (*SHARD, *PassCounts._fields, "factors", "order")),
        (group_soft_pass, (*IN_GROUPS, *PassCounts._fields, "sizes", "log_weights", "factors", "order")),
    ],
)
def test_arguments_are_the_fields_of_the_groups(loop, fields):
    assert tuple(inspect.signature(loop.py_func).parameters) == fields


@pytest.mark.parametrize("width", [3, 64, 65])
def test_columns_are_read_only_whatever_they_were_before(width):
    ballots = Ballots.from_array(np.arange(4 * 5 * width).reshape(4, 5, width) % 3 == 0)
    (shard,) = InMemoryWorkload(ballots, SizeBounds(1, 2)).shards
    columns = BallotColumns.of(shard)
    assert not any(column.flags.writeable for column in columns)
    assert (len(columns.masks), len(columns.tick_column)) == ((20, 0) if width <= 64 else (0, ballots.n_approvals))


def test_loops_are_kept_on_disk_and_leave_other_threads_alone():
    modules = (group_loops, hard_loops, masks, pairs, soft_loops, table_loops)
    loops = [each for module in modules for each in vars(module).values() if isinstance(each, Dispatcher)]
    assert len(loops) > 10
    for loop in loops:
        assert loop.targetoptions["nogil"] is True, loop
        assert not isinstance(loop._cache, NullCache), loop
