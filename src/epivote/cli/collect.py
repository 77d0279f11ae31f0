"""Collecting ballots: `epivote collect ...`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epivote.atomic import write_files
from epivote.cli.collect_access import key, organiser
from epivote.cli.collect_preview import preview
from epivote.cli.collect_task import DatabaseAddress, TaskFile, opened, path_of, public_address
from epivote.cli.console import one_sentence_per_error
from epivote.data.names import counted
from epivote.errors import InputError

if TYPE_CHECKING:
    from epivote.web.store import Store
    from epivote.web.task import Task

app = typer.Typer(
    help="Collect ballots from people: serve a task as web pages, then export the ballots.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

OWN_FILES = ("menu.csv", "sizes.csv", "gold.csv", "times.csv", "participants.csv")
"""Files of an export beside that of the ballots."""


@app.command()
def new(
    path: Annotated[Path, typer.Argument(help="The file to write.")],
    source: Annotated[
        Path | None,
        typer.Option("--from", help="A folder of pictures, sounds or videos, or a CSV file with an instance per row."),
    ] = None,
    alternatives: Annotated[
        str, typer.Option(help='With --from: what can be ticked, joined by |, such as "cat|dog".')
    ] = "",
    size: Annotated[str, typer.Option(help="With --from: how many alternatives are right, such as 1..2.")] = "1..",
) -> None:
    """Write a task: a commented example ready to be changed, or instances from a folder or a table.

    Example: epivote collect new quiz.toml

    Example: epivote collect new quiz.toml --from pictures --alternatives "a|b"
    """
    from epivote.web.task import EXAMPLE

    with one_sentence_per_error():
        if path.suffix != ".toml":
            raise InputError(f"{path} is not a name for a task; use one that ends in .toml")
        if path.exists():
            raise InputError(f"{path} already exists; choose another name or remove it")
        text = EXAMPLE if source is None else _imported(source, path, alternatives, size)
        write_files({path: partial(_write, [text])})
        print(f"Wrote {path}. Change it, then: epivote collect check {path}, epivote collect serve {path}")


def _imported(source: Path, path: Path, alternatives: str, size: str) -> str:
    """A task with the instances of a folder or a table; says what was found in it."""
    from epivote.web.task.importing import task_from

    named = [name.strip() for name in alternatives.split("|") if name.strip()]
    made = task_from(source, path, named, size)
    print(f"Found {counted(made.instances, 'instance')} in {source}.")
    if made.ignored:
        print(f"{counted(made.ignored, 'file')} ignored: neither pictures, sounds nor videos.")
    if made.needs_alternatives:
        print("No alternatives were named: replace the two in the file, or name them with --alternatives.")
    return made.text


@app.command()
def check(task: TaskFile) -> None:
    """Say everything that is wrong with a task, with line and remedy.

    Example: epivote collect check quiz.toml

    Example: epivote collect check folder/quiz.toml
    """
    from epivote.web.task import check_task
    from epivote.web.views.theme import remarks

    with one_sentence_per_error():
        found, mistakes = check_task(task)
        for mistake in mistakes:
            print(f"{task}, line {mistake.line}: {mistake.sentence}", file=sys.stderr)
        if found is None:
            raise typer.Exit(1)
        bounds = found.size
        sizes = f"{bounds}" if bounds.upper is not None else f"{bounds.lower} or more"
        print(
            f"{task} is fine: {counted(len(found.instances), 'instance')} ({len(found.gold)} gold), "
            f"{counted(len(found.alternatives), 'alternative')}, sets of size {sizes}."
        )
        for remark in remarks(found):
            print(remark)


@app.command()
def serve(
    task: TaskFile,
    database: DatabaseAddress = None,
    host: Annotated[
        str, typer.Option(help="Network address to listen on; 0.0.0.0 lets other machines connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 chooses a free one.")] = 8000,
    address: Annotated[
        str | None,
        typer.Option(
            help="Public address, if it differs, such as https://quiz.example.org/ or https://example.org/quiz1/."
        ),
    ] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="Trust X-Forwarded-* headers from a proxy on the same machine.")
    ] = False,
    webhook: Annotated[
        str | None, typer.Option(help="URL that receives JSON by POST whenever a participant hands in.")
    ] = None,
    on_completion: Annotated[
        str | None,
        typer.Option(help="Command to run whenever a participant hands in, with the same JSON on standard input."),
    ] = None,
) -> None:
    """Serve a task until stopped with Ctrl-C.

    Example: epivote collect serve quiz.toml

    Example: epivote collect serve quiz.toml --host 0.0.0.0 --port 9000
    """
    with one_sentence_per_error():
        wished = public_address(address)
        with opened(task, database, serve=True) as (found, store):
            from epivote.web.addresses import addresses_of
            from epivote.web.app import collect_app
            from epivote.web.notifying import notifier_of
            from epivote.web.serving import listen
            from epivote.web.serving import serve as run
            from epivote.web.site import Settings

            notifier = notifier_of(webhook, on_completion)
            listening = listen(host, port)
            addresses = [wished] if wished else addresses_of(listening)
            public = addresses[0]
            secrets = store.secrets()

            def announce() -> None:
                store.remember_address(public)
                print(f"Participants: {public}")
                for other in addresses[1:]:
                    print(f"or:           {other}")
                print(f"Organiser:    {public}organiser?secret={secrets.organiser}")
                print(f"JSON key:     {secrets.interface}")
                print(f"Ballots:      {store.database}")
                _print_qr(public)
                print("Stop with Ctrl-C; ballots are kept, and the addresses stay the same.", flush=True)

            settings = Settings(root=path_of(public), notifier=notifier)
            run(collect_app(found, store, settings), listening, announce, behind_proxy=behind_proxy)


app.command()(preview)


@app.command()
def export(
    task: TaskFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file of ballots to write; others go beside it.")],
    times: Annotated[bool, typer.Option("--times", help="Also write when each ballot was cast: times.csv.")] = False,
    participants: Annotated[
        bool, typer.Option("--participants", help="Also write who took part, with codes and consent: participants.csv.")
    ] = False,
    database: DatabaseAddress = None,
) -> None:
    """Write the ballots as an ordinary file, and say how to aggregate them; also while the server runs.

    Example: epivote collect export quiz.toml -o ballots.csv

    Example: epivote collect export quiz.toml -o ballots.csv --times
    """
    with one_sentence_per_error():
        if output.suffix != ".csv" or output.name in OWN_FILES:
            raise InputError(f"{output.name!r} is not a name for the ballots; use one such as ballots.csv")
        with opened(task, database) as (found, store):
            from epivote.web.exporting import export as export_of
            from epivote.web.store.columns import reading

            with reading(store) as source:
                made = export_of(source, found, output.name)
                files = made.files | _further_files(found, store, times=times, participants=participants)
                write_files({output.parent / name: partial(_write, pieces) for name, pieces in files.items()})
        print(f"Wrote {', '.join(files)} in the folder {output.parent.absolute()}")
        if made.left_out:
            does = "does" if made.left_out == 1 else "do"
            print(f"Left out: {counted(made.left_out, 'ballot')} that {does} not fit the task as it is now.")
        print(f"To find the same sets as the live page, run this in that folder:\n  {made.command}")


def _further_files(task: Task, store: Store, *, times: bool, participants: bool) -> dict[str, Iterable[str]]:
    """Tables about ballots and participants that estimation does not need."""
    from epivote.web.exporting import participants_table
    from epivote.web.site import signer_of
    from epivote.web.timing import TIMES, times_table
    from epivote.web.views.completion import further_columns

    files: dict[str, Iterable[str]] = {TIMES: times_table(store.database)} if times else {}
    if participants:
        columns = further_columns(task, store.database, signer_of(store.secrets()))
        files["participants.csv"] = [participants_table(store.participants(), columns)]
    return files


@app.command()
def close(task: TaskFile, database: DatabaseAddress = None) -> None:
    """Accept no more ballots; also while the server runs.

    Example: epivote collect close quiz.toml

    Example: epivote collect close quiz.toml --database sqlite:///other.db
    """
    with one_sentence_per_error():
        with opened(task, database) as (_, store):
            store.close_task()
        print(f"{task} is closed: no ballots are accepted until `epivote collect open {task}`.")
        print(f"Ballots: {store.database}")


@app.command("open")
def reopen(task: TaskFile, database: DatabaseAddress = None) -> None:
    """Accept ballots again, within the opening times of the task; also while the server runs.

    Example: epivote collect open quiz.toml

    Example: epivote collect open quiz.toml --database sqlite:///other.db
    """
    from datetime import UTC, datetime

    with one_sentence_per_error():
        with opened(task, database) as (found, store):
            store.open_task()
        moment = datetime.now(UTC)
        if found.is_over(moment):
            print(f"{task} is no longer closed by you, but its closing time has passed; change `closes`, serve again.")
        elif found.is_early(moment):
            print(f"{task} is no longer closed by you; it opens at the time it says.")
        else:
            print(f"{task} is open: ballots are accepted.")
        print(f"Ballots: {store.database}")


@app.command()
def invite(
    task: TaskFile,
    count: Annotated[int, typer.Option(min=1, max=10_000, help="Number of links, each for one participant.")] = 1,
    days: Annotated[float, typer.Option(min=0.0, max=3650.0, help="Number of days for which they are valid.")] = 30.0,
    address: Annotated[str | None, typer.Option(help="Public address; that of the last `serve` if not given.")] = None,
    database: DatabaseAddress = None,
) -> None:
    """Print invitation links, each good for one person, once.

    Example: epivote collect invite quiz.toml

    Example: epivote collect invite quiz.toml --count 20 --days 7
    """
    with one_sentence_per_error(), opened(task, database) as (found, store):
        if found.join != "invitation":
            raise InputError(
                f'anybody can take part in {task}, so links are not needed; set join = "invitation" to require them'
            )
        from epivote.web.store.invitations import invite as make

        public = public_address(address) or store.address() or "http://127.0.0.1:8000/"
        for token in make(store, count, days):
            print(f"{public}?invitation={token}")


@app.command()
def renew(
    task: TaskFile,
    key: Annotated[bool, typer.Option("--key", help="Replace the key of the JSON interface instead.")] = False,
    database: DatabaseAddress = None,
) -> None:
    """Replace the organiser's secret, also while the server runs; whoever signed in with the old one is signed out.

    Example: epivote collect renew quiz.toml

    Example: epivote collect renew quiz.toml --key
    """
    with one_sentence_per_error(), opened(task, database) as (_, store):
        if key:
            print(f"JSON key:     {store.renew_secret('interface')}")
        else:
            public = store.address() or "http://127.0.0.1:8000/"
            print(f"Organiser:    {public}organiser?secret={store.renew_secret('organiser')}")


app.command()(organiser)
app.command()(key)


@app.command()
def backup(
    task: TaskFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    database: DatabaseAddress = None,
) -> None:
    """Copy an SQLite database at one moment, also while the server runs; for PostgreSQL use pg_dump.

    Example: epivote collect backup quiz.toml -o monday.db

    Example: epivote collect backup quiz.toml -o /backups/quiz.db
    """
    with one_sentence_per_error():
        with opened(task, database) as (_, store):
            from epivote.web.store.backup import copy_database

            copy_database(store.database, output)
        print(f"Wrote {output}; serve from it with --database sqlite:///{output}")


def _print_qr(address: str) -> None:
    """A QR code of an address that phones can open, on a terminal that can show it."""
    from epivote.web.addresses import is_local, qr_text

    encoding = sys.stdout.encoding or "ascii"
    code = "" if is_local(address) or not sys.stdout.isatty() else qr_text(address)
    if code and code.encode(encoding, "replace").decode(encoding) == code:
        print(f"\n{code}", end="")


def _write(pieces: Iterable[str], target: Path) -> None:
    with target.open("w", encoding="utf-8", newline="") as file:
        file.writelines(pieces)
