"""Pieces of work: computed by several processes, kept on disk with the settings that made them, never computed twice.

A piece is a function of `experiments.measure` and its settings; it yields columns of numbers. What it draws at random
comes from its settings alone, so the numbers are the same in any order and on any number of cores.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy
import scipy
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import epivote
from experiments.store import Store, commit, digest_of

Setting = str | int | float
Columns = dict[str, list[float]]
Measure = Callable[..., Columns]
HERE = Path(__file__).parent
PACKAGE = Path(epivote.__file__).parent
SHARED = [HERE / name for name in ("quiz.py", "crowds.py", "rules.py", "real_sets.py", "measure/ballots.py")]
ONE_THREAD_EACH = {"EPIVOTE_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Piece:
    """A measuring function and its settings."""

    measure: Measure
    settings: tuple[tuple[str, Setting], ...]

    @property
    def name(self) -> str:
        """What the file of this piece is called: readable, and different for different settings."""
        words = "-".join(str(value) for _, value in self.settings)
        readable = "".join(letter if letter.isalnum() or letter in "-._" else "_" for letter in words)
        digest = hashlib.sha256(repr(self.settings).encode()).hexdigest()[:8]
        return f"{self.measure.__name__}-{readable}-{digest}"

    def compute(self) -> tuple[Columns, float]:
        """The numbers, and how many seconds of a core they took, whatever else the machine did."""
        begun = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", epivote.CrowdWarning)
            columns = self.measure(**dict(self.settings))
        return columns, time.process_time() - begun


Results = Mapping[Piece, Columns]


def piece(measure: Measure, **settings: Setting) -> Piece:
    """`piece(fit_batches, rule="EM", size=10)`."""
    return Piece(measure, tuple(settings.items()))


def joined(results: Results, pieces: Iterable[Piece]) -> Columns:
    """The columns of several pieces, one after the other."""
    whole: Columns = {}
    for each in pieces:
        for name, values in results[each].items():
            whole.setdefault(name, []).extend(values)
    return whole


def work_through(pieces: Iterable[Piece], folder: Path, workers: int, what: str) -> dict[Piece, Columns]:
    """All pieces, from disk where they are, computed where they are not; each is kept as soon as it is there."""
    wanted = list(dict.fromkeys(pieces))
    results: dict[Piece, Columns] = {
        each: kept["columns"] for each in wanted if (kept := _kept(each, folder)) is not None
    }
    missing = [each for each in wanted if each not in results]
    if not wanted:
        return results
    with _progress() as progress:
        bar = progress.add_task(what, total=len(wanted), completed=len(results))
        for each, (columns, seconds) in _computed(missing, workers):
            _store(each, folder).keep(each.name, dict(each.settings), {"seconds": seconds, "columns": columns})
            results[each] = columns
            progress.advance(bar)
    return results


def seconds_spent(pieces: Iterable[Piece], folder: Path) -> float:
    """What these pieces took when they were computed, added up: the time of one core."""
    return math.fsum(_kept(each, folder)["seconds"] for each in dict.fromkeys(pieces))


def _computed(pieces: list[Piece], workers: int) -> Iterator[tuple[Piece, tuple[Columns, float]]]:
    """Every piece as it gets ready; the longest lists are shared among fresh processes of one thread each."""
    os.environ.update(ONE_THREAD_EACH)
    if workers == 1 or len(pieces) < 2:
        yield from ((each, each.compute()) for each in pieces)
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), _leave_interrupts_to_the_parent) as pool:
        futures = {pool.submit(each.compute): each for each in pieces}
        try:
            yield from ((futures[future], future.result()) for future in as_completed(futures))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _kept(each: Piece, folder: Path) -> Any:
    """Seconds and columns of a piece, or None if they have to be computed."""
    kept = _store(each, folder).read(each.name, dict(each.settings))
    return kept.result if kept is not None and kept.current else None


def _store(each: Piece, folder: Path) -> Store:
    """Where a piece is kept; every measuring function has a source of its own."""
    return Store(folder, code_fingerprint(each.measure), commit())


@cache
def code_fingerprint(measure: Measure) -> str:
    """Changes with the package, with how this is measured, and with numpy and scipy; older pieces then do not count."""
    files = [*sorted(PACKAGE.rglob("*.py")), *SHARED, Path(inspect.getfile(measure))]
    return f"{digest_of(files)}, numpy {numpy.__version__}, scipy {scipy.__version__}"


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description:<24}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
