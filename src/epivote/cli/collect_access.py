"""Who else may organise a task, and which programs may vote: `epivote collect organiser` and `key`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from epivote.cli.collect_task import DatabaseAddress, TaskFile, opened
from epivote.cli.console import one_sentence_per_error
from epivote.errors import InputError

if TYPE_CHECKING:
    from epivote.web.store import Store
    from epivote.web.store.credentials import CredentialKind

Add = Annotated[str | None, typer.Option("--add", help="Create one with this name; it is shown only once.")]
Revoke = Annotated[str | None, typer.Option("--revoke", help="Revoke the one with this name immediately.")]


def organiser(task: TaskFile, add: Add = None, revoke: Revoke = None, database: DatabaseAddress = None) -> None:
    """List further organisers, or add and revoke one; each has a link of their own.

    Example: epivote collect organiser quiz.toml --add Maria

    Example: epivote collect organiser quiz.toml --revoke Maria
    """
    with one_sentence_per_error(), opened(task, database) as (_, store):
        public = store.address() or "http://127.0.0.1:8000/"
        secret = _changed(store, "organiser", add, revoke)
        if secret is not None:
            print(f"{add}: {public}organiser?secret={secret}")
        elif revoke is None:
            print("Besides whoever has the link that `serve` prints (replace it with `epivote collect renew`):")
            _list(store, "organiser")


def key(task: TaskFile, add: Add = None, revoke: Revoke = None, database: DatabaseAddress = None) -> None:
    """List keys of single programs, or add and revoke one; such a key votes only under its own name.

    Example: epivote collect key quiz.toml --add classifier-1

    Example: epivote collect key quiz.toml --revoke classifier-1
    """
    with one_sentence_per_error(), opened(task, database) as (_, store):
        secret = _changed(store, "program", add, revoke)
        if secret is not None:
            print(f"{add}: {secret}")
        elif revoke is None:
            print("Besides the key that `serve` prints, which votes under any name (`epivote collect renew --key`):")
            _list(store, "program")


def _changed(store: Store, kind: CredentialKind, add: str | None, revoke: str | None) -> str | None:
    """The secret that was made, if one was."""
    from epivote.web.store.credentials import add_credential, revoke_credential
    from epivote.web.store.names import clean_name

    if add is not None and revoke is not None:
        raise InputError("--add and --revoke cannot be used together; choose one")
    if add is not None:
        if clean_name(add) != add:
            raise InputError(
                f"--add {add!r} cannot be a name; use 1 to 40 letters, digits or signs, the first not = + - or @"
            )
        secret = add_credential(store.database, kind, add)
        if secret is None:
            raise InputError(f"{add!r} already exists; revoke it first, or choose another name")
        return secret
    if revoke is not None:
        if not revoke_credential(store.database, kind, revoke):
            raise InputError(f"there is no {revoke!r} to revoke; without options, the command lists all")
        print(f"{revoke!r} is revoked.")
    return None


def _list(store: Store, kind: CredentialKind) -> None:
    from epivote.web.store.credentials import credentials

    known = credentials(store.database, kind)
    for name, made_at in known:
        print(f"  {name}, since {datetime.fromtimestamp(made_at / 1e6, UTC):%Y-%m-%d %H:%M} UTC")
    if not known:
        print("  none")
