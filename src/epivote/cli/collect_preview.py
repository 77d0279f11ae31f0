"""Trying a task out: `epivote collect preview`."""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from epivote.cli.console import one_sentence_per_error


def preview(
    task: Annotated[Path, typer.Argument(help="The task, a .toml file.")],
    host: Annotated[
        str, typer.Option(help="Network address to listen on; 0.0.0.0 lets other machines connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 chooses a free one.")] = 8000,
) -> None:
    """Serve a task to try it out: open to everybody at once, marked on every page, and nothing is kept.

    Example: epivote collect preview quiz.toml

    Example: epivote collect preview quiz.toml --port 9000
    """
    with one_sentence_per_error():
        from epivote.web.addresses import addresses_of
        from epivote.web.app import collect_app
        from epivote.web.serving import listen, serve
        from epivote.web.site import Settings
        from epivote.web.store import Store, open_database
        from epivote.web.task import read_task

        tried = replace(read_task(task), opens=None, closes=None, join="nickname")
        with tempfile.TemporaryDirectory(prefix="epivote-preview-") as folder:
            database = open_database(f"sqlite:///{Path(folder) / 'preview.db'}")
            with closing(database):
                store, listening = Store(database), listen(host, port)
                public = addresses_of(listening)[0]

                def announce() -> None:
                    print(f"Preview:      {public}")
                    print(f"Organiser:    {public}organiser?secret={store.secrets().organiser}")
                    print("Nothing is kept: all ballots are deleted when you stop this with Ctrl-C.", flush=True)

                app = collect_app(tried, store, Settings(is_preview=True))
                serve(app, listening, announce, behind_proxy=False)
