"""Reading very many ballots: as columns of numbers, or row by row, without ever holding all of them as rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, Select, select

from epivote.web.store.counters import Stamp, stamp_of
from epivote.web.store.rows import BallotRow
from epivote.web.store.store import Store
from epivote.web.store.tables import BALLOTS, COUNTS, VOTERS

AT_ONCE = 20_000  # rows fetched at once, about 10 MB; a round number
Ballot = tuple[int, str, str, int]
WANTED = select(BALLOTS.c.voter_id, BALLOTS.c.instance, BALLOTS.c.ticks, BALLOTS.c.cast_at)
NAMES_AT_ONCE = 500  # instances in one question; both databases take thousands


class Numbers(dict[str, int]):
    """Numbers of texts, in the order in which they were first asked for."""

    def __missing__(self, text: str) -> int:
        """The next number."""
        number = self[text] = len(self)
        return number


@dataclass
class Known:
    """Numbers of instances and of what was ticked (as the database tells it), and what that means."""

    instances: Numbers = field(default_factory=Numbers)
    numbers: Numbers = field(default_factory=Numbers)
    cells: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def ticks(self, text: str) -> tuple[str, ...]:
        """What was ticked, as the database tells it; a tuple for each different one."""
        found = self.cells.get(text)
        if found is None:
            found = self.cells[text] = tuple(json.loads(text))
        return found


@dataclass(frozen=True)
class StoredColumns:
    """One entry per ballot."""

    voter: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    instance: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    cell: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    cast_at: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def __len__(self) -> int:
        """How many ballots there are."""
        return len(self.voter)

    def where(self, kept: NDArray[np.bool_]) -> StoredColumns:
        """Some of the ballots."""
        return StoredColumns(self.voter[kept], self.instance[kept], self.cell[kept], self.cast_at[kept])

    def and_then(self, *others: StoredColumns) -> StoredColumns:
        """These ballots, then those of others."""
        parts = (self, *others)
        return StoredColumns(
            np.concatenate([part.voter for part in parts]),
            np.concatenate([part.instance for part in parts]),
            np.concatenate([part.cell for part in parts]),
            np.concatenate([part.cast_at for part in parts]),
        )


@dataclass(frozen=True)
class BallotSource:
    """What can be read of one moment of a database."""

    connection: Connection
    known: Known

    def stamp(self) -> Stamp:
        """The stamp of this moment."""
        return stamp_of(self.connection)

    def changes(self) -> dict[str, int]:
        """How often the ballots of every instance have changed."""
        counted = self.connection.execute(select(COUNTS.c.instance, COUNTS.c.changes))
        return {row.instance: row.changes for row in counted}

    def voters(self) -> list[tuple[int, str, bool]]:
        """Number, name and kind of every voter, first come first."""
        wanted = select(VOTERS.c.id, VOTERS.c.name, VOTERS.c.is_person).order_by(VOTERS.c.id)
        return [(row.id, row.name, bool(row.is_person)) for row in self.connection.execute(wanted)]

    def ballots(self, instances: Sequence[str] | None) -> StoredColumns:
        """The ballots of some instances, or all."""
        parts = [self._columns(rows) for query in queries(instances) for rows in fetched(self.connection, query)]
        return StoredColumns().and_then(*parts)

    def rows(self, order: Iterable[str]) -> Iterator[BallotRow]:
        """Ballots instance after instance in an order, those of the first voter first; few are in memory at once."""
        voters = {number: (name, is_person) for number, name, is_person in self.voters()}
        counted = self.connection.execute(select(COUNTS.c.instance, COUNTS.c.ballots))
        counts = {row.instance: row.ballots for row in counted}
        for batch in in_batches(order, counts):
            found: dict[str, list[BallotRow]] = {name: [] for name in batch}
            query = WANTED.where(BALLOTS.c.instance.in_(batch)).order_by(BALLOTS.c.voter_id)
            for voter, instance, ticks, cast_at in self.connection.execute(query).fetchall():
                name, is_person = voters[voter]
                found[instance].append(BallotRow(name, is_person, instance, self.known.ticks(ticks), cast_at))
            for rows in found.values():
                yield from rows

    def _columns(self, rows: Sequence[Ballot | Row[Ballot]]) -> StoredColumns:
        voters, instances, ticks, moments = zip(*rows, strict=True)
        return StoredColumns(
            np.array(voters, np.int64),
            np.fromiter(map(self.known.instances.__getitem__, instances), np.int32, len(rows)),
            np.fromiter(map(self.known.numbers.__getitem__, ticks), np.int32, len(rows)),
            np.array(moments, np.int64),
        )


@contextmanager
def reading(store: Store) -> Iterator[BallotSource]:
    """One moment of a store."""
    with store.database.reading() as connection:
        yield BallotSource(connection, Known())


def queries(instances: Sequence[str] | None) -> Iterator[Select[Ballot]]:
    """One question for all instances, or one for every few."""
    if instances is None:
        yield WANTED
        return
    for first in range(0, len(instances), NAMES_AT_ONCE):
        yield WANTED.where(BALLOTS.c.instance.in_(instances[first : first + NAMES_AT_ONCE]))


def fetched(connection: Connection, query: Select[Ballot]) -> Iterator[Sequence[Ballot | Row[Ballot]]]:
    """Rows, some at a time; all ballots of SQLite come straight from the driver, in half the time."""
    if query is WANTED and connection.dialect.name == "sqlite":
        with closing(connection.connection.cursor()) as cursor:
            cursor.execute(str(query))
            while rows := cursor.fetchmany(AT_ONCE):
                yield rows
        return
    with connection.execution_options(stream_results=True).execute(query) as found:
        yield from found.partitions(AT_ONCE)


def in_batches(instances: Iterable[str], counts: Mapping[str, int]) -> Iterator[list[str]]:
    """Instances in their order, as many at once as have not too many ballots together."""
    batch: list[str] = []
    size = 0
    for name in instances:
        if batch and size + counts.get(name, 0) > AT_ONCE:
            yield batch
            batch, size = [], 0
        if counts.get(name, 0):
            batch.append(name)
            size += counts[name]
    if batch:
        yield batch
