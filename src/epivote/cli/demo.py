"""`epivote demo`: the main job on a small quiz that is installed with the command."""

from __future__ import annotations

import shlex
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from epivote.atomic import write_files
from epivote.cli.console import one_sentence_per_error
from epivote.errors import InputError

QUIZ = ("birds.csv", "birds-gold.csv")  # written by examples/make_birds.py
WRITTEN = (*QUIZ, "report.html", "result")


def demo(
    folder: Annotated[Path, typer.Argument(help="Folder to write to; it is created.")] = Path("epivote-demo"),
) -> None:
    """Try everything on a small quiz: write it to a folder, find its sets and make a report.

    Example: epivote demo

    Example: epivote demo quiz-demo
    """
    with one_sentence_per_error():
        _write_quiz(folder)
    ballots, gold = folder / QUIZ[0], folder / QUIZ[1]
    print(f"Wrote a simulated quiz to {ballots}, and its true sets to {gold}.")
    report = folder / "report.html"
    options = ["--size", "1..2", "--gold", str(gold), "--out", str(folder / "result"), "--report", str(report)]
    words = ["aggregate", str(ballots), *options]
    print(f"\n$ epivote {shlex.join(words)}", flush=True)
    from epivote.cli.main import app

    app(words, standalone_mode=False)
    print(f"\nOpen {report.absolute()} in a browser to see the report.")
    print("The quiz is easy; on real ballots fewer sets are right. Try your own file, with the columns")
    print("voter,instance,alternatives (1..2 says that one or two alternatives are right):")
    print("  epivote aggregate YOUR.csv --size 1..2 --out result")


def _write_quiz(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is not a directory; name another one")
    others = sorted(file.name for file in folder.iterdir() if file.name not in WRITTEN) if folder.exists() else []
    if others:
        raise InputError(f"{folder} already exists and holds other files ({others[0]}); name another folder")
    quiz = files("epivote.cli") / "demo_quiz"
    write_files({folder / name: partial(_write, (quiz / name).read_bytes()) for name in QUIZ})


def _write(content: bytes, target: Path) -> None:
    target.write_bytes(content)
