"""Which database belongs to a task: the one it names, else the one it was last served with, else one beside it."""

from __future__ import annotations

import os
from pathlib import Path

from epivote import InputError
from epivote.web.store.database import render
from epivote.web.task import Task

SQLITE = "sqlite:///"


def database_of(path: Path, task: Task, given: str | None) -> str:
    """The address of the database of a task in a file; `given` is what the command line says."""
    named = _absolute(task.database, task.folder) if task.database else None
    if given is None:
        return named or _remembered(path) or f"{SQLITE}{path.absolute().with_suffix('.db')}"
    wished = _absolute(given, Path.cwd())
    if named is not None and wished != named:
        raise InputError(
            f"{path} keeps its ballots in {render(named)}, so --database cannot name another one; leave it out, "
            "or change `database` in the file"
        )
    return wished


def remember(path: Path, address: str) -> bool:
    """Keep beside a task which database it is served with, for its owner only; whether that was possible."""
    file = _memory(path)
    try:
        partial = file.with_name(f".{file.name}.{os.getpid()}.part")
        partial.unlink(missing_ok=True)
        partial.touch(mode=0o600, exist_ok=False)
        partial.write_text(f"{address}\n", encoding="utf-8")
        partial.replace(file)
    except OSError:
        return False
    return True


def _memory(path: Path) -> Path:
    return path.absolute().with_suffix(".database")


def _remembered(path: Path) -> str | None:
    try:
        return _memory(path).read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot read {_memory(path)}, which says where the ballots of {path} are: {error}; name the database "
            "with --database"
        ) from None


def _absolute(address: str, folder: Path) -> str:
    """An SQLite file is meant relative to a folder."""
    if not address.startswith(SQLITE) or not address.removeprefix(SQLITE):
        return address
    return f"{SQLITE}{folder / address.removeprefix(SQLITE)}"
