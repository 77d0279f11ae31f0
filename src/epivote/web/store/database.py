"""Opening a database, and bringing it up to date."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from epivote import FileError, InputError
from epivote.web.store.trouble import TroubleError, kind_of

PATIENCE = 10.0  # seconds that a ballot waits for other writers before its sender is told; a round number
SOON = 0.5  # seconds likewise while somebody else keeps the database locked anyway; a round number
CONNECT_SECONDS = 5  # to a PostgreSQL that may be away; a round number
CONNECTIONS = 40  # as many as there are threads for requests (anyio's default)
SPARE_CONNECTIONS = 10  # for the organiser's pages and exports; a round number
UPGRADE_LOCK = 7_140_265  # any number that other programs on the same PostgreSQL are unlikely to use
WRITING = "epivote_writing"
SERVE_FIRST = "only `epivote collect serve` makes one: serve the task first, or name its database with --database"


class Database:
    """Transactions on SQLite or PostgreSQL; on SQLite those that write wait for each other in this process.

    What can happen to a database raises TroubleError, within a bounded time.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        self.patience = PATIENCE
        self._turn = threading.Lock()
        self._is_stuck = False
        self._files: list[tuple[Path, tuple[int, int] | None]] = []
        self._reader = engine if self.is_sqlite else engine.execution_options(isolation_level="REPEATABLE READ")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database throughout."""
        with self._in_words(), self._reader.begin() as connection:
            yield connection

    @contextmanager
    def writing(self, patience: float | None = None) -> Iterator[Connection]:
        """A transaction that may change it: kept for good when the block ends, undone when it fails.

        What is kept is in the file that others find at its path: one that was removed or replaced is not written to.
        """
        with self._in_words(), self._own_turn(self.patience if patience is None else patience) as left:
            self._check_files()
            with self.engine.execution_options(**{WRITING: left}).begin() as connection:
                self._is_stuck = False
                yield connection
            self._check_files()

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    def remember_files(self) -> None:
        """From now on the file of SQLite, and the one beside it that holds the newest pages, must stay these."""
        if self.file is not None:
            own = self.file.absolute()
            self._files = [(path, _identity(path)) for path in (own, own.with_name(f"{own.name}-wal"))]

    @contextmanager
    def _own_turn(self, patience: float) -> Iterator[float]:
        """On SQLite, the only writer of this process; the seconds that are left to wait for writers of others."""
        if not self.is_sqlite:
            yield patience
            return
        until = time.monotonic() + patience
        if not self._turn.acquire(timeout=min(SOON, patience) if self._is_stuck else patience):
            raise TroubleError("locked", str(self))
        try:
            yield max(0.0, until - time.monotonic())
        finally:
            self._turn.release()

    def _check_files(self) -> None:
        if any(_identity(path) != known for path, known in self._files):
            raise TroubleError("lost", str(self))

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except PoolTimeout:
            raise TroubleError("unreachable", str(self)) from None
        except JSONDecodeError:  # what was ticked cannot be read any more
            raise TroubleError("damaged", str(self)) from None
        except (DBAPIError, sqlite3.Error) as error:
            kind = kind_of(error)
            if kind is None:
                raise
            self._is_stuck = self._is_stuck or kind == "locked"
            raise TroubleError(kind, str(self)) from error

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
    given = {} if is_file else {"connect_args": _bounded(url)}
    engine = create_engine(url, hide_parameters=True, pool_timeout=PATIENCE, **pool, **given)
    if is_file:
        _prepare_sqlite(engine)
    database = Database(engine)
    try:
        if not create:
            _check_made(database)
        _upgrade(database)
        database.remember_files()
    except TroubleError as trouble:
        database.close()
        if isinstance(trouble.__cause__, DBAPIError) and trouble.kind in ("damaged", "unreachable"):
            raise _not_usable(url, trouble.__cause__) from None
        raise FileError(str(trouble)) from None
    except CommandError:
        database.close()
        raise FileError(
            f"the database {url.render_as_string()} was written by a newer epivote; update epivote"
        ) from None
    except DBAPIError as error:
        database.close()
        raise _not_usable(url, error) from None
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
            raise FileError(f"the database {database} has no epivote tables; {SERVE_FIRST}")


def _not_usable(url: URL, error: DBAPIError) -> FileError:
    reason = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else "it does not answer"
    return FileError(f"cannot use the database {url.render_as_string()}: {reason}; check --database")


def _url(address: str) -> URL:
    wanted = "write sqlite:///quiz.db or postgresql://user@host/name"
    try:
        url = make_url(address)
        backend = url.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise InputError(f"--database, or `database` in the task, is not a database address; {wanted}") from None
    if backend == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite" or not url.database or url.database == ":memory:":
        raise InputError(f"the database {url.render_as_string()} is not supported; {wanted}")
    if not Path(url.database).absolute().parent.is_dir():
        raise FileError(f"cannot use the database {url.database}: its folder does not exist; create it first")
    return url


def _bounded(url: URL) -> dict[str, Any]:
    """Settings of connections to PostgreSQL, so that nobody waits for long for one that is away or for its locks."""
    bounds: dict[str, Any] = {"connect_timeout": CONNECT_SECONDS, "tcp_user_timeout": int(1000 * PATIENCE)}
    bounds["options"] = f"-c lock_timeout={int(1000 * PATIENCE)}"
    return {name: value for name, value in bounds.items() if name not in url.query}


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from another one at the same path; nothing if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _prepare_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def on_connect(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions begin where `on_begin` says so, not where the driver guesses
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {int(1000 * PATIENCE)}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        patience = connection.get_execution_options().get(WRITING)
        if patience is not None:
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {int(1000 * patience)}")
        connection.exec_driver_sql("BEGIN" if patience is None else "BEGIN IMMEDIATE")


def _upgrade(database: Database) -> None:
    """Bring the tables up to date; of several servers that start at once one does it and the others wait."""
    with as_file(files("epivote.web") / "migrations") as folder, database.writing() as connection:
        if not database.is_sqlite:
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({UPGRADE_LOCK})"))
        config = Config()
        config.set_main_option("script_location", str(folder).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
