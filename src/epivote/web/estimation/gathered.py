"""Ballots as columns of numbers, a few bytes each, and how they are read: only what changed is read again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from epivote.web.store import BallotRow, Store
from epivote.web.store.columns import BallotSource, Known, StoredColumns
from epivote.web.store.counters import Stamp

Moments = NDArray[np.int64]
MANY_CHANGED = 0.3  # share of the ballots from which reading all of them is quicker; a round number


@dataclass(frozen=True)
class Gathered:
    """One entry per ballot: the number of its voter, of its instance, of what was ticked, and when it was cast."""

    voter: NDArray[np.int32]
    instance: NDArray[np.int32]
    cell: NDArray[np.int32]
    cast_at: Moments
    voters: tuple[str, ...]
    are_people: NDArray[np.bool_]
    instances: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        """How many ballots there are."""
        return len(self.voter)

    def where(self, kept: NDArray[np.bool_]) -> Gathered:
        """Some of the ballots."""
        columns = (self.voter[kept], self.instance[kept], self.cell[kept], self.cast_at[kept])
        return Gathered(*columns, self.voters, self.are_people, self.instances, self.cells)


def gather(rows: Iterable[BallotRow]) -> Gathered:
    """Rows as columns; voters are numbered as they come."""
    voters: dict[str, int] = {}
    people: list[bool] = []
    instances: dict[str, int] = {}
    cells: dict[tuple[str, ...], int] = {}
    told = []
    for row in rows:
        if row.voter not in voters:
            people.append(row.is_person)
        told.append(
            (
                voters.setdefault(row.voter, len(voters)),
                instances.setdefault(row.instance, len(instances)),
                cells.setdefault(row.ticks, len(cells)),
                row.cast_at,
            )
        )
    voter, instance, cell, cast_at = np.array(told, np.int64).reshape(-1, 4).T
    numbers = (voter.astype(np.int32), instance.astype(np.int32), cell.astype(np.int32), cast_at)
    return Gathered(*numbers, tuple(voters), np.array(people, bool), tuple(instances), tuple(cells))


@dataclass
class Reader:
    """Reads a store, and remembers what it has read."""

    _known: Known = field(default_factory=Known)
    _changes: dict[str, int] = field(default_factory=dict)
    _columns: StoredColumns = field(default_factory=StoredColumns)

    def read(self, store: Store) -> tuple[Stamp, Gathered]:
        """All ballots of one moment, and its stamp."""
        with store.database.reading() as connection:
            source = BallotSource(connection, self._known)
            changes = source.changes()
            changed = [name for name, number in changes.items() if self._changes.get(name) != number]
            if changed:
                self._columns = self._brought_up(source, changed)
            self._changes = changes
            return source.stamp(), self._gathered(source.voters())

    def _brought_up(self, source: BallotSource, changed: Sequence[str]) -> StoredColumns:
        numbers = np.array([self._known.instances.get(name, -1) for name in changed])
        stale = np.isin(self._columns.instance, numbers)
        if len(self._columns) == 0 or len(changed) > MANY_CHANGED * max(1, len(self._changes)):
            return source.ballots(None)
        return self._columns.where(~stale).and_then(source.ballots(changed))

    def _gathered(self, voters: Sequence[tuple[int, str, bool]]) -> Gathered:
        numbers = np.array([number for number, _, _ in voters], np.int64)
        columns = self._columns
        return Gathered(
            np.searchsorted(numbers, columns.voter).astype(np.int32),
            columns.instance,
            columns.cell,
            columns.cast_at,
            tuple(name for _, name, _ in voters),
            np.array([is_person for _, _, is_person in voters], bool),
            tuple(self._known.instances),
            tuple(map(self._known.ticks, self._known.numbers)),
        )
