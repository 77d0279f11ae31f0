"""Counts that go with the ballots, in the same transaction, so that no page has to count all of them.

Rows are locked in one order, the voter's before those of instances and these by name, so that no two transactions wait
for each other. Changes of an instance only ever grow: they tell what is new without a clock.
"""

from __future__ import annotations

from sqlalchemy import Connection, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from epivote.web.store.tables import BALLOTS, COUNTS, VOTERS

Stamp = tuple[int, int]


def stamp_of(connection: Connection) -> Stamp:
    """How many ballots there are, and how often one came, changed or went: it differs whenever they do."""
    sums = select(func.coalesce(func.sum(COUNTS.c.ballots), 0), func.coalesce(func.sum(COUNTS.c.changes), 0))
    ballots, changes = connection.execute(sums).one()
    return int(ballots), int(changes)


def count_change(connection: Connection, voter: int, instance: str, *, more: int) -> None:
    """Note that a ballot of a locked voter came (1), changed (0) or went (-1)."""
    if more:
        connection.execute(update(VOTERS).where(VOTERS.c.id == voter).values(ballots=VOTERS.c.ballots + more))
    add = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    row = add(COUNTS).values(instance=instance, ballots=more, changes=1)
    after = {"ballots": COUNTS.c.ballots + more, "changes": COUNTS.c.changes + 1}
    connection.execute(row.on_conflict_do_update(index_elements=[COUNTS.c.instance], set_=after))


def count_departure(connection: Connection, voter: int) -> None:
    """Note that all ballots of a locked voter are about to go."""
    own = select(BALLOTS.c.instance).where(BALLOTS.c.voter_id == voter)
    touched = COUNTS.c.instance.in_(own)
    connection.execute(select(COUNTS.c.instance).where(touched).order_by(COUNTS.c.instance).with_for_update()).all()
    after = {"ballots": COUNTS.c.ballots - 1, "changes": COUNTS.c.changes + 1}
    connection.execute(update(COUNTS).where(touched).values(after))
