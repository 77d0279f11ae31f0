"""Secrets of further organisers and of single programs: named, and taken back one by one. Only hashes are kept."""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import Literal

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from epivote.web.store.database import Database
from epivote.web.store.store import now
from epivote.web.store.tables import CREDENTIALS

CredentialKind = Literal["organiser", "program"]


def add_credential(database: Database, kind: CredentialKind, name: str) -> str | None:
    """A new secret; nothing if the name has one."""
    secret = secrets.token_urlsafe(32)
    row = {"kind": kind, "name": name, "secret_hash": _hash(secret), "made_at": now()}
    insert = sqlite.insert if database.is_sqlite else postgresql.insert
    with database.writing() as connection:
        added = insert(CREDENTIALS).values(row).on_conflict_do_nothing().returning(CREDENTIALS.c.name)
        is_new = connection.execute(added).first() is not None
    return secret if is_new else None


def revoke_credential(database: Database, kind: CredentialKind, name: str) -> bool:
    """Take a secret back; whether there was one."""
    with database.writing() as connection:
        gone = connection.execute(delete(CREDENTIALS).where(CREDENTIALS.c.kind == kind, CREDENTIALS.c.name == name))
    return bool(gone.rowcount)


def credentials(database: Database, kind: CredentialKind) -> list[tuple[str, int]]:
    """Names and when each was made (microseconds since 1970), in the order of their names."""
    wanted = select(CREDENTIALS.c.name, CREDENTIALS.c.made_at).where(CREDENTIALS.c.kind == kind)
    with database.reading() as connection:
        return [(name, made_at) for name, made_at in connection.execute(wanted.order_by(CREDENTIALS.c.name))]


def whose_secret(database: Database, kind: CredentialKind, secret: str) -> tuple[str, str] | None:
    """Name and hash of the secret that was given, if it is one; looked for by its hash, so no timing tells."""
    return _find(database, kind, CREDENTIALS.c.secret_hash == _hash(secret))


def credential_of(database: Database, kind: CredentialKind, name: str) -> tuple[str, str] | None:
    """Name and hash of the secret that somebody has now."""
    return _find(database, kind, CREDENTIALS.c.name == name)


def _find(database: Database, kind: CredentialKind, condition: ColumnElement[bool]) -> tuple[str, str] | None:
    wanted = select(CREDENTIALS.c.name, CREDENTIALS.c.secret_hash).where(CREDENTIALS.c.kind == kind, condition)
    with database.reading() as connection:
        row = connection.execute(wanted).first()
    return None if row is None else (row.name, row.secret_hash)


def _hash(secret: str) -> str:
    return sha256(secret.encode("utf-8", "replace")).hexdigest()
