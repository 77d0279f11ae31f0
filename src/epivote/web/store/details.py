"""What is known of a participant besides their ballots: consent, who they are elsewhere, and a personal link."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from epivote import EpivoteError
from epivote.web.store.database import Database
from epivote.web.store.tables import DETAILS, VOTERS


class AlreadyHereError(EpivoteError):
    """Somebody takes part under this identity of another site."""


@dataclass(frozen=True)
class Details:
    """When a participant consented (microseconds since 1970), and by which name another site knows them."""

    consented_at: int | None = None
    outside_id: str | None = None


NO_DETAILS = Details()


def add_details(connection: Connection, voter: int, details: Details) -> None:
    """Keep them with a participant who is just joining; the first ones stay."""
    if details == NO_DETAILS:
        return
    row = {"voter_id": voter, "consented_at": details.consented_at, "outside_id": details.outside_id}
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    connection.execute(insert(DETAILS).values(row).on_conflict_do_nothing())
    known = select(DETAILS.c.voter_id).where(DETAILS.c.outside_id == details.outside_id)
    if details.outside_id is not None and connection.scalar(known) != voter:
        raise AlreadyHereError(details.outside_id)


class Person(NamedTuple):
    """What is known of a participant besides: the token of their cookie, and the details."""

    token: str
    details: Details


def people_of(database: Database) -> dict[str, Person]:
    """All participants by their names."""
    wanted = (
        select(VOTERS.c.name, VOTERS.c.token, DETAILS.c.consented_at, DETAILS.c.outside_id)
        .outerjoin(DETAILS)
        .where(VOTERS.c.is_person)
    )
    with database.reading() as connection:
        return {name: Person(token, Details(*known)) for name, token, *known in connection.execute(wanted)}


def outside_id_of(database: Database, voter: int) -> str:
    """By which name another site knows a participant; nothing if none does."""
    with database.reading() as connection:
        return connection.scalar(select(DETAILS.c.outside_id).where(DETAILS.c.voter_id == voter)) or ""


def new_link(database: Database, voter: int) -> str:
    """The secret of a new personal link; the one before no longer works. Only its hash is kept."""
    token = secrets.token_urlsafe(24)
    insert = sqlite.insert if database.is_sqlite else postgresql.insert
    with database.writing() as connection:
        row = insert(DETAILS).values(voter_id=voter, link_hash=_hash(token))
        changed = {"link_hash": row.excluded.link_hash}
        connection.execute(row.on_conflict_do_update(index_elements=[DETAILS.c.voter_id], set_=changed))
    return token


def whose_link(database: Database, token: str) -> tuple[str, str] | None:
    """Nickname and token of the participant whose personal link it is."""
    wanted = select(VOTERS.c.name, VOTERS.c.token).join(DETAILS).where(DETAILS.c.link_hash == _hash(token))
    with database.reading() as connection:
        row = connection.execute(wanted).first()
    return None if row is None else (row.name, row.token)


def _hash(token: str) -> str:
    return sha256(token.encode("utf-8", "replace")).hexdigest()
