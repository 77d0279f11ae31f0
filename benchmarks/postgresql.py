"""A PostgreSQL server of one's own: Debian's programs, a temporary folder, a free port of this machine.

PostgreSQL refuses to run as root, so root starts it as the user `postgres` that Debian's package makes.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "EPIVOTE_POSTGRESQL"
PATIENCE = 120  # seconds a program may take to start or stop the server
MISSING = f"no PostgreSQL here: apt-get install postgresql, or set {VARIABLE} to the address of a server"


class NoPostgreSQLError(RuntimeError):
    """Neither an address was given nor are the programs installed."""


@contextmanager
def postgresql() -> Iterator[str]:
    """The address `postgresql://user@host:port` of a server: the one the environment names, or one started here."""
    given = os.environ.get(VARIABLE)
    if given:
        yield given.rstrip("/")
    else:
        with started(programs()) as address:
            yield address


def programs() -> Path:
    """The folder of the newest installed server's programs."""
    beside = shutil.which("initdb")
    folders = [Path(beside).parent] if beside else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: -float(folder.parent.name))
    found = next((folder for folder in folders if (folder / "postgres").exists()), None)
    if found is None or (os.getuid() == 0 and "postgres" not in {user.pw_name for user in pwd.getpwall()}):
        raise NoPostgreSQLError(MISSING)
    return found


@contextmanager
def started(programs: Path) -> Iterator[str]:
    """Make a cluster, serve it with PostgreSQL's own settings, stop it and delete it."""
    with tempfile.TemporaryDirectory(prefix="epivote-postgresql-") as name:
        folder, port = Path(name), free_port()
        as_user = [] if os.getuid() else ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        if as_user:
            shutil.chown(folder, "postgres", "postgres")
        data = folder / "data"
        control = [*as_user, str(programs / "pg_ctl"), "--pgdata", str(data), "--silent", "--wait"]
        settings = f"-h 127.0.0.1 -p {port} -k {folder} -c max_connections=200"
        make = ["--username", "epivote", "--auth", "trust", "--encoding", "UTF8", "--no-sync", "--locale", "C.UTF-8"]
        run([*as_user, str(programs / "initdb"), "--pgdata", str(data), *make], folder)
        run([*control, "--log", str(folder / "log"), "--options", settings, "start"], folder)
        try:
            yield f"postgresql://epivote@127.0.0.1:{port}"
        finally:
            run([*control, "--mode", "immediate", "stop"], folder)


def run(command: list[str], folder: Path) -> None:
    """Run a program in a folder its user may enter; what it says is shown only when it fails."""
    nothing, pipe = subprocess.DEVNULL, subprocess.PIPE
    done = subprocess.run(command, cwd=folder, stdin=nothing, stdout=nothing, stderr=pipe, text=True, timeout=PATIENCE)
    if done.returncode:
        raise RuntimeError(f"{Path(command[-1]).name}: {done.stderr.strip()}")


def free_port() -> int:
    """A port of this machine that nobody listens on just now."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def fresh_database(server: str, name: str) -> Iterator[str]:
    """The address of a new, empty database, dropped afterwards."""
    import psycopg
    from psycopg.sql import SQL, Identifier

    def tell(statement: str) -> None:
        with psycopg.connect(f"{server}/postgres", autocommit=True, connect_timeout=PATIENCE) as connection:
            connection.execute(SQL(statement).format(Identifier(name)))

    tell("CREATE DATABASE {}")
    try:
        yield f"{server}/{name}"
    finally:
        tell("DROP DATABASE {} WITH (FORCE)")
