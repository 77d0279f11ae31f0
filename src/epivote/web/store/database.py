"""Opening a database, and bringing it up to date."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from epivote import FileError, InputError

BUSY_SECONDS = 30  # that a ballot waits for another writer of SQLite; a round number
CONNECTIONS = 40  # as many as there are threads for requests (anyio's default)
SPARE_CONNECTIONS = 10  # for the organiser's pages and exports; a round number
UPGRADE_LOCK = 7_140_265  # any number that other programs on the same PostgreSQL are unlikely to use
WRITING = "epivote_writing"
SERVE_FIRST = "only `epivote collect serve` makes one: serve the task first, or name its database with --database"


class Database:
    """Transactions on SQLite or PostgreSQL; on SQLite those that write wait for each other in this process."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        self._turn: AbstractContextManager[Any] = threading.Lock() if self.is_sqlite else nullcontext()
        self._writer = engine.execution_options(**{WRITING: True})
        self._reader = engine if self.is_sqlite else engine.execution_options(isolation_level="REPEATABLE READ")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database throughout."""
        with self._reader.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that may change it: kept for good when the block ends, undone when it fails."""
        with self._turn, self._writer.begin() as connection:
            yield connection

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database."""
        return Path(str(self.engine.url.database)) if self.is_sqlite else None

    def __str__(self) -> str:
        """Where it is, without a password."""
        return str(self.file or self.engine.url.render_as_string())


def open_database(address: str, *, connections: int = CONNECTIONS, create: bool = True) -> Database:
    """The database at an address such as `sqlite:///quiz.db` or `postgresql://user@host/name`, up to date.

    One that is not there is made, unless `create` is false: then it is an error.
    """
    url = _url(address)
    is_file = url.get_backend_name() == "sqlite"
    if is_file and create:
        Path(str(url.database)).touch(mode=0o600)
    elif is_file and not Path(str(url.database)).is_file():
        raise FileError(f"there is no database {url.database}; {SERVE_FIRST}")
    pool = {"pool_size": connections, "max_overflow": SPARE_CONNECTIONS, "pool_pre_ping": not is_file}
    engine = create_engine(url, hide_parameters=True, **pool)
    if is_file:
        _prepare_sqlite(engine)
    database = Database(engine)
    try:
        if not create:
            _check_made(database)
        _upgrade(database)
    except CommandError:
        database.close()
        raise FileError(f"the database {url.render_as_string()} is of a newer epivote; install that one") from None
    except DBAPIError as error:
        database.close()
        reason = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else "it does not answer"
        raise FileError(f"cannot use the database {url.render_as_string()}: {reason}; check --database") from None
    except FileError:
        database.close()
        raise
    return database


def render(address: str) -> str:
    """An address without its password."""
    return _url(address).render_as_string()


def _check_made(database: Database) -> None:
    with database.reading() as connection:
        if not inspect(connection).has_table("alembic_version"):
            raise FileError(f"the database {database} holds nothing of epivote; {SERVE_FIRST}")


def _url(address: str) -> URL:
    wanted = "write sqlite:///quiz.db or postgresql://user@host/name"
    try:
        url = make_url(address)
        backend = url.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise InputError(f"--database, or `database` in the task, is no address of a database; {wanted}") from None
    if backend == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite" or not url.database or url.database == ":memory:":
        raise InputError(f"the database {url.render_as_string()} is of no known kind; {wanted}")
    if not Path(url.database).absolute().parent.is_dir():
        raise FileError(f"cannot use the database {url.database}: its folder is not there; make it first")
    return url


def _prepare_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def on_connect(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions begin where `on_begin` says so, not where the driver guesses
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {1000 * BUSY_SECONDS}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITING, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _upgrade(database: Database) -> None:
    """Bring the tables up to date; of several servers that start at once one does it and the others wait."""
    with as_file(files("epivote.web") / "migrations") as folder, database.writing() as connection:
        if not database.is_sqlite:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({UPGRADE_LOCK})"))
        config = Config()
        config.set_main_option("script_location", str(folder).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
