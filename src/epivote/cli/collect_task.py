"""The task that a command of `epivote collect` is about: its file, its database, its address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from epivote.errors import InputError

if TYPE_CHECKING:
    from epivote.web.store import Store
    from epivote.web.task import Task

OWN_PATHS = ("api", "organiser", "picture", "question", "resume", "static")
"""First parts of the site's addresses: before them, a proxy's prefix could not be told apart."""

TaskFile = Annotated[Path, typer.Argument(help="The task, a .toml file such as `epivote collect new` writes.")]
DatabaseAddress = Annotated[
    str | None,
    typer.Option(
        "--database",
        help="Where ballots are kept, such as postgresql://user@host/name; if not given, the one that the task names, "
        "else the one it was last served with, else a .db file beside the task.",
    ),
]


@contextmanager
def opened(path: Path, database: str | None, *, serve: bool = False) -> Iterator[tuple[Task, Store]]:
    """The task and its store, which is closed in the end; only serving makes a database that is not there."""
    from epivote.web.task import read_task

    task = read_task(path)
    try:
        from epivote.web.store import Store, open_database
        from epivote.web.store.belonging import database_of, remember
    except ImportError as error:
        raise InputError(
            f"collecting needs {error.name}, which is not installed; get all of it with: pip install 'epivote[collect]'"
        ) from None
    address = database_of(path, task, database)
    with closing(open_database(address, create=serve)) as opened:
        if serve and database is not None and not task.database and not remember(path, address):
            folder = path.absolute().parent
            print(f"{folder} is not writable: give --database to close, export and the other commands too.")
        yield task, Store(opened)


def public_address(address: str | None) -> str | None:
    """The address people use, with a slash at its end; it may have a path, as in https://example.org/quiz1/."""
    if address is None:
        return None
    if not re.fullmatch(r"https?://[^/?#\s]+(/[A-Za-z0-9._~-]+)*/?", address):
        raise InputError(f"--address {address!r} is not a web address; write one such as https://quiz.example.org/")
    first = path_of(address).partition("/")[2].partition("/")[0]
    if first in OWN_PATHS:
        raise InputError(
            f"--address {address!r} has a path that begins with one of the site's own; choose another path"
        )
    return f"{address.rstrip('/')}/"


def path_of(address: str) -> str:
    """`/quiz1` of `https://example.org/quiz1/`; nothing where it has no path."""
    return urlsplit(address).path.rstrip("/")
