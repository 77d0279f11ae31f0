"""Links that let one person in, once and for some time."""

from __future__ import annotations

import secrets
from hashlib import sha256

from sqlalchemy import Connection, insert, select, update

from epivote.web.store.details import NO_DETAILS, Details
from epivote.web.store.rows import InvitationError, Voter
from epivote.web.store.store import Store, now, voter_of
from epivote.web.store.tables import INVITATIONS, VOTERS

DAY = 86_400_000_000  # in microseconds, the store's unit of time


def invite(store: Store, count: int, days: float) -> list[str]:
    """New invitations; the database keeps only what is needed to recognise them."""
    tokens = [secrets.token_urlsafe(18) for _ in range(count)]
    expires = now() + int(days * DAY)
    with store.database.writing() as connection:
        rows = [{"token_hash": _hash(token), "expires_at": expires} for token in tokens]
        connection.execute(insert(INVITATIONS), rows)
    return tokens


def join_invited(store: Store, name: str, visit: str, token: str, details: Details = NO_DETAILS) -> Voter:
    """A new participant with an unused invitation, which is then used; both or neither."""
    moment = now()
    with store.database.writing() as connection:
        unused = (INVITATIONS.c.token_hash == _hash(token)) & INVITATIONS.c.used_at.is_(None)
        fresh = unused & (INVITATIONS.c.expires_at > moment)
        used = connection.execute(update(INVITATIONS).where(fresh).values(used_at=moment))
        if used.rowcount == 1:
            voter = store.add_person(connection, name, visit, details, is_new=True)
            owned = update(INVITATIONS).where(INVITATIONS.c.token_hash == _hash(token))
            connection.execute(owned.values(used_by=voter.token))
            return voter
        row = connection.execute(select(INVITATIONS).where(INVITATIONS.c.token_hash == _hash(token))).first()
        if row is None:
            raise InvitationError("unknown")
        if row.used_at is None:
            raise InvitationError("expired")
        owner = _owner(connection, token)
        if owner is None or owner.visit != visit:
            raise InvitationError("used")
        return owner


def invited(store: Store, token: str) -> Voter | None:
    """The participant who has used an invitation; nothing if nobody has, or who has is gone."""
    with store.database.reading() as connection:
        return _owner(connection, token)


def _owner(connection: Connection, token: str) -> Voter | None:
    is_owner = (INVITATIONS.c.token_hash == _hash(token)) & (INVITATIONS.c.used_by == VOTERS.c.token)
    row = connection.execute(select(VOTERS).where(is_owner)).first()
    return None if row is None else voter_of(row)


def _hash(token: str) -> str:
    return sha256(token.encode("utf-8", "replace")).hexdigest()
