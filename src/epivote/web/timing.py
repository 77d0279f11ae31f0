"""When every ballot was cast and how long it took, as a table that is written row by row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from sqlalchemy import select

from epivote.web.store.database import Database
from epivote.web.store.tables import BALLOTS, VOTERS

TIMES = "times.csv"
COLUMNS = ("voter", "instance", "cast", "changed", "seconds")
AT_ONCE = 2_000  # rows fetched and written together; a round number


def times_table(database: Database) -> Iterator[str]:
    """Pieces of a CSV file: first and last time of every ballot, in the order in which voters cast them.

    `seconds` is the time since the voter's ballot before, or since joining; pauses are part of it.
    """
    wanted = (
        select(
            VOTERS.c.id, VOTERS.c.name, VOTERS.c.joined_at, BALLOTS.c.instance, BALLOTS.c.cast_at, BALLOTS.c.changed_at
        )
        .join(BALLOTS, BALLOTS.c.voter_id == VOTERS.c.id)
        .order_by(VOTERS.c.id, BALLOTS.c.cast_at, BALLOTS.c.instance)
        .execution_options(yield_per=AT_ONCE)
    )
    yield _lines([COLUMNS])
    voter, before = None, 0
    with database.reading() as connection:
        for part in connection.execute(wanted).partitions():
            rows = []
            for number, name, joined_at, instance, cast_at, changed_at in part:
                seconds = (cast_at - (before if number == voter else joined_at)) / 1e6
                rows.append((name, instance, _moment(cast_at), _moment(changed_at), f"{max(seconds, 0):.1f}"))
                voter, before = number, cast_at
            yield _lines(rows)


def _lines(rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _moment(microseconds: int) -> str:
    return datetime.fromtimestamp(microseconds / 1e6, UTC).isoformat(timespec="milliseconds")
