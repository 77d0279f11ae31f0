"""Between sets by name and tables of cells; a cell is one alternative offered on one instance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.names import BoolArray, FloatArray, IntArray, listing, starts_of
from epivote.data.shards import Shard
from epivote.data.truths import Truths
from epivote.errors import InputError


def cell_starts(ballots: Ballots) -> IntArray:
    """Where the cells of every instance begin when all are laid out one after the other."""
    return starts_of(ballots.menu_sizes)


def cells_of(shard: Shard, starts: IntArray) -> IntArray:
    """The cells of a shard in that layout, as a table."""
    cells: IntArray = starts[shard.instances][:, None] + np.arange(shard.width)
    return cells


def put_cells(flat: FloatArray, shard: Shard, starts: IntArray, table: FloatArray) -> None:
    """Put what a shard's cells hold in their places in that layout."""
    first, last = int(shard.instances[0]), int(shard.instances[-1])
    if last - first + 1 == len(shard.instances):
        flat[starts[first] : starts[last + 1]] = table.ravel()
    else:
        flat[cells_of(shard, starts)] = table


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


def truths_of(tables: Sequence[BoolArray], ballots: Ballots, shards: Sequence[Shard]) -> Truths:
    """Tables of cells as sets by instance."""
    rows, members = [], []
    for shard, sets in zip(shards, tables, strict=True):
        row, column = np.nonzero(sets)
        rows.append(shard.instances[row])
        members.append(column if shard.offered is None else shard.offered[row, column])
    instance, member = np.concatenate(rows), np.concatenate(members)
    if np.any(instance[1:] < instance[:-1]):
        member = member[np.argsort(instance, kind="stable")]
    sizes = np.bincount(instance, minlength=ballots.n_instances)
    return Truths(ballots.instances, ballots.alternatives, starts_of(sizes), member)
