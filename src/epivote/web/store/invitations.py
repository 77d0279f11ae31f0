"""Links that let one person in, once and for some time."""

from __future__ import annotations

import secrets
from hashlib import sha256

from sqlalchemy import insert, select, update

from epivote.web.store.details import NO_DETAILS, Details
from epivote.web.store.rows import InvitationError, Voter
from epivote.web.store.store import Store, now
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
        used = connection.execute(update(INVITATIONS).where(fresh).values(used_at=moment, used_by=visit))
        if used.rowcount == 1:
            return store.add_person(connection, name, visit, details)
        row = connection.execute(select(INVITATIONS).where(INVITATIONS.c.token_hash == _hash(token))).first()
        if row is None:
            raise InvitationError("unknown")
        if row.used_at is None:
            raise InvitationError("expired")
        known = connection.execute(select(VOTERS.c.name).where(VOTERS.c.visit == row.used_by)).first()
        if row.used_by != visit or known is None:
            raise InvitationError("used")
        return store.add_person(connection, known.name, visit)


def _hash(token: str) -> str:
    return sha256(token.encode("utf-8", "replace")).hexdigest()
