"""The terminal: one sentence per error, progress only where somebody watches."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from epivote.errors import EpivoteError, InputError, reason

WRONG_USAGE = 2  # exit code that shells and typer have for it
LONGEST_ERROR = 1_000  # letters; a round number, about a dozen lines of a terminal
INTERRUPTED = 130  # exit code after Ctrl-C: 128 plus the number of SIGINT, as shells have it


class UsageError(InputError):
    """An option is missing that only a look at the ballots can suggest."""


class StatusLine(Protocol):
    """A line that tells what is going on."""

    def say(self, what: str) -> None:
        """Show it in place of what was shown before."""


class _Silent:
    def say(self, what: str) -> None:
        """Nobody watches."""


@contextmanager
def working(what: str) -> Iterator[StatusLine]:
    """Show what is being done on a terminal; nothing where output or errors go to a file or a pipe."""
    console = Console(stderr=True)
    if not (console.is_terminal and sys.stdout.isatty()):
        yield _Silent()
        return
    with console.status(_line(what), spinner_style="default") as line:

        class Spinning:
            def say(self, what: str) -> None:
                line.update(_line(what))

        yield Spinning()


def _line(what: str) -> Text:
    return Text(what, no_wrap=True, overflow="ellipsis")


@contextmanager
def one_sentence_per_error() -> Iterator[None]:
    """Errors of ours as one sentence and exit code 1, or 2 for wrong usage; an interrupt as 130.

    A reader of the output that goes away ends the command in silence, with exit code 0.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        yield
        sys.stdout.flush()
    except EpivoteError as error:
        print(f"epivote: {_shortened(str(error))}", file=sys.stderr)
        raise typer.Exit(WRONG_USAGE if isinstance(error, UsageError) else 1) from None
    except KeyboardInterrupt:
        print("epivote: interrupted", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:  # whoever reads, such as head, has seen enough
        _let_go_of_output()
        raise typer.Exit(0) from None
    except OSError as error:
        print(f"epivote: cannot write the output: {reason(error)}", file=sys.stderr)
        _let_go_of_output()
        raise typer.Exit(1) from None


def _shortened(sentence: str) -> str:
    """A sentence that quotes too much of a file, without its middle."""
    half = LONGEST_ERROR // 2
    return sentence if len(sentence) <= LONGEST_ERROR else f"{sentence[:half]} [...] {sentence[-half:]}"


def _let_go_of_output() -> None:
    """Lead standard output to nowhere, so that nothing more is tried with what it still holds when Python ends."""
    with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


class _Output(Console):
    """A console that leaves it to `one_sentence_per_error` what happens when nobody reads on."""

    def on_broken_pipe(self) -> None:
        """Raise, where Rich would exit with code 1."""
        raise BrokenPipeError


def terminal() -> Console:
    """Standard output; tables fit the terminal, sentences are not cut."""
    return _Output(highlight=False, soft_wrap=True)


def table(title: str | None = None, caption: str | None = None) -> Table:
    """An empty table in the one style."""
    return Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", caption=caption)


def left_out(count: int, most: int, where: str = "--json") -> str | None:
    """What a cut table says below."""
    return None if count <= most else f"and {count - most:,} more; {where} gives all"


def print_json(members: Mapping[str, object]) -> None:
    """One JSON object; members that are iterators are printed item by item as lists, so that they take no memory."""
    write = sys.stdout.write
    write("{")
    for number, (name, value) in enumerate(members.items()):
        write(f"{',' if number else ''}\n {json.dumps(name)}: ")
        if isinstance(value, Iterator):
            _write_list(value)
        else:
            write(_indented(value, 1))
    write("\n}\n" if members else "}\n")


def _write_list(items: Iterator[object]) -> None:
    begins = "["
    for item in items:
        sys.stdout.write(f"{begins}\n  {_indented(item, 2)}")
        begins = ","
    sys.stdout.write("[]" if begins == "[" else "\n ]")


def _indented(value: object, level: int) -> str:
    return json.dumps(value, indent=1).replace("\n", "\n" + " " * level)
