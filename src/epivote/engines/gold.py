"""Sets given by name as tables of cells, and as rows of shards that keep their sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.names import BoolArray, IntArray, listing
from epivote.data.shards import Shard
from epivote.errors import BoundsError, InputError
from epivote.model.passes import GoldRows


def cell_starts(ballots: Ballots) -> IntArray:
    """Where the cells of every instance begin when all are laid out one after the other."""
    return np.concatenate([[0], np.cumsum(ballots.menu_sizes, dtype=np.int64)])


def cells_of(shard: Shard, starts: IntArray) -> IntArray:
    """The cells of a shard in that layout, as a table."""
    cells: IntArray = starts[shard.instances][:, None] + np.arange(shard.width)
    return cells


def tables_of(sets: Mapping[str, Iterable[str]], ballots: Ballots, shards: Sequence[Shard]) -> list[BoolArray]:
    """Sets by instance as tables of cells; instances without one are left empty."""
    starts = cell_starts(ballots)
    flat = np.zeros(int(starts[-1]), bool)
    column = {name: c for c, name in enumerate(ballots.alternatives)}
    for z, instance in enumerate(ballots.instances):
        if instance in sets:
            if ballots.menu is not None:
                column = {name: c for c, name in enumerate(ballots.offered(instance))}
            for name in sets[instance]:
                if name not in column:
                    raise InputError(
                        f"the set of instance {instance!r} has {name!r}, which is not offered there "
                        f"({listing(list(column))})"
                    )
                flat[starts[z] + column[name]] = True
    return [flat[cells_of(shard, starts)] for shard in shards]


def gold_rows(gold: Mapping[str, frozenset[str]], ballots: Ballots, shards: Sequence[Shard]) -> list[GoldRows | None]:
    """For every shard the rows whose sets are given; refuses a set outside the size bounds."""
    if not gold:
        return [None] * len(shards)
    is_gold = np.array([name in gold for name in ballots.instances])
    known: list[GoldRows | None] = []
    for shard, sets in zip(shards, tables_of(gold, ballots, shards), strict=True):
        rows = np.flatnonzero(is_gold[shard.instances])
        sizes = sets[rows].sum(axis=1)
        outside = rows[(sizes < shard.lower) | (sizes > shard.upper)]
        if len(outside):
            name = ballots.instances[shard.instances[outside[0]]]
            raise BoundsError(
                f"the gold set of instance {name!r} has {len(gold[name])} alternatives, outside the size "
                f"bounds {shard.lower}..{shard.upper}; correct it or widen the bounds"
            )
        known.append(GoldRows(rows, sets[rows]) if len(rows) else None)
    return known


def nothing_known(gold: Mapping[str, object], instances: Sequence[str]) -> InputError:
    """What to say when none of the gold instances has a ballot."""
    return InputError(
        f"none of the {len(gold):,} gold instances has a ballot; the gold ones are {listing(list(gold), 3)}, "
        f"the ballots' {listing(instances, 3)}"
    )
