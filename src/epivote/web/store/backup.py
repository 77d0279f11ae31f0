"""A copy of the database at one moment, while others write to it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from epivote import FileError, InputError
from epivote.web.store.database import Database


def copy_database(database: Database, target: Path) -> None:
    """Write a copy of an SQLite database, whole or not at all."""
    if database.file is None:
        raise InputError("this database is PostgreSQL; back it up with pg_dump, which also works while it is used")
    if target.exists():
        raise FileError(f"{target} already exists; choose another name or remove it")
    partial = target.with_name(f".{target.name}.part")
    try:
        partial.touch(mode=0o600)
        with closing(sqlite3.connect(database.file)) as source, closing(sqlite3.connect(partial)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        partial.replace(target)
    except (OSError, sqlite3.Error) as error:
        raise FileError(f"cannot write {target}: {error}; choose another place") from None
    finally:
        partial.unlink(missing_ok=True)
