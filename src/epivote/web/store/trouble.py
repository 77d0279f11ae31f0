"""What can happen to a database while it is used, each in one sentence with its remedy."""

from __future__ import annotations

import sqlite3
from typing import Literal

from sqlalchemy.exc import DBAPIError

from epivote import EpivoteError

TroubleKind = Literal["full", "locked", "lost", "damaged", "failing", "read-only", "unreachable", "refusing"]
WORDS: dict[TroubleKind, str] = {
    "full": "its disk is full; free some space",
    "locked": "another program keeps it locked; let that program finish, or end it",
    "lost": "its file was removed or replaced while it was in use; put it back, or start the server again",
    "damaged": "its file is damaged; stop the server, and go on from a copy that `epivote collect backup` made",
    "failing": "its disk reports read or write errors; check the disk",
    "read-only": "it can only be read; check the owner and the permissions of its file and folder",
    "unreachable": "it does not answer; check that its server runs",
    "refusing": "it refuses to store anything; start the server again, or go on from a copy",
}
SQLITE: dict[int, TroubleKind] = {
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_CANTOPEN: "lost",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
    sqlite3.SQLITE_IOERR: "failing",
    sqlite3.SQLITE_READONLY: "read-only",
}
POSTGRESQL: dict[str, TroubleKind] = {
    "53100": "full",
    "55P03": "locked",
    "40P01": "locked",
    "XX001": "damaged",
    "XX002": "damaged",
    "58030": "failing",
    "25006": "read-only",
}
"""By SQLSTATE, as PostgreSQL's appendix of error codes lists them."""
CONNECTION_STATES = ("08", "53", "57P")
"""Beginnings of those that say that there is no connection, or none to be had."""


class TroubleError(EpivoteError):
    """A database that cannot be used as it is, for a known reason."""

    def __init__(self, kind: TroubleKind, where: str) -> None:
        super().__init__(f"the database {where} cannot be used: {WORDS[kind]}")
        self.kind = kind

    @property
    def reason(self) -> str:
        """What is wrong, and what to do, without saying where the database is."""
        return f"the database cannot be used: {WORDS[self.kind]}"


def kind_of(error: DBAPIError | sqlite3.Error) -> TroubleKind | None:
    """What an error of a driver, itself or as SQLAlchemy hands it on, means; nothing where it may be our mistake."""
    told = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(told, "sqlite_errorcode", None)
    if code is not None:
        return SQLITE.get(code & 0xFF)  # the lowest byte is the kind, the others are details
    if isinstance(told, sqlite3.OperationalError) and "decode" in str(told):
        return "damaged"  # a text that is not UTF-8; the driver gives it no number
    state = getattr(told, "sqlstate", None)
    if state is None:
        return "unreachable" if isinstance(error, DBAPIError) and error.connection_invalidated else None
    return POSTGRESQL.get(state) or ("unreachable" if state.startswith(CONNECTION_STATES) else None)
