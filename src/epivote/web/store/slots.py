"""Slots: a question that is shown counts like a ballot for some time, so that `most_ballots` is never exceeded.

A slot is given back when the question is answered or skipped, when its participant hands in or leaves, and when its
time has passed. A clock that was set back cannot keep one forever: no slot lasts longer than twice `HELD` from now.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Select, and_, delete, func, not_, select
from sqlalchemy.dialects import postgresql, sqlite

from epivote.web.store.tables import COUNTS, SLOTS

HELD = 600_000_000  # microseconds, ten minutes: far longer than anybody looks at a question; a round number


def taken(most: int, voter: int, moment: int) -> Select[tuple[str, int]]:
    """Instances with at least `most` ballots and slots of others, and how many these are."""
    held = select(SLOTS.c.instance, func.count().label("held")).where(is_held(moment), SLOTS.c.voter_id != voter)
    others = held.group_by(SLOTS.c.instance).subquery()
    count = COUNTS.c.ballots + func.coalesce(others.c.held, 0)
    joined = COUNTS.outerjoin(others, others.c.instance == COUNTS.c.instance)
    return select(COUNTS.c.instance, count).select_from(joined).where(count >= most)


def is_free(connection: Connection, voter: int, instance: str, most: int, moment: int) -> bool:
    """Whether an instance can take one more ballot, this voter's; nobody else takes a slot there until the end of the
    transaction. Slots whose time has passed are removed.
    """
    add = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    connection.execute(add(COUNTS).values(instance=instance, ballots=0, changes=0).on_conflict_do_nothing())
    ballots = connection.scalar(select(COUNTS.c.ballots).where(COUNTS.c.instance == instance).with_for_update())
    here = SLOTS.c.instance == instance
    connection.execute(delete(SLOTS).where(here, not_(is_held(moment))))
    others = connection.scalar(select(func.count()).select_from(SLOTS).where(here, SLOTS.c.voter_id != voter))
    return int(ballots or 0) + int(others or 0) < most


def hold(connection: Connection, voter: int, instance: str, moment: int) -> None:
    """Keep a free slot for a voter from now on."""
    add = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    row = add(SLOTS).values(voter_id=voter, instance=instance, until=moment + HELD)
    keys = [SLOTS.c.voter_id, SLOTS.c.instance]
    connection.execute(row.on_conflict_do_update(index_elements=keys, set_={"until": moment + HELD}))


def give_back(connection: Connection, voter: int, instance: str | None = None) -> None:
    """Let go of a voter's slot on an instance, or of all."""
    own = SLOTS.c.voter_id == voter
    connection.execute(delete(SLOTS).where(own if instance is None else and_(own, SLOTS.c.instance == instance)))


def is_held(moment: int, share: float = 0.0) -> ColumnElement[bool]:
    """Whether a slot is held at a moment, for at least a share of the whole time; clocks may differ a little."""
    return SLOTS.c.until.between(moment + int(share * HELD) + 1, moment + 2 * HELD)
