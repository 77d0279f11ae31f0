"""What the process that estimates does: it reads the store by itself, so that requests are never kept waiting."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from epivote import EpivoteError, InputError, write_report
from epivote.web.estimation.collected import usable
from epivote.web.estimation.estimate import KnownRates, fit, live
from epivote.web.estimation.gathered import Reader
from epivote.web.estimation.live import Live
from epivote.web.store import Store, open_database
from epivote.web.store.counters import Stamp
from epivote.web.task import Task

BEHIND = 10  # of 19 steps by which the system puts this process behind the server; a round number


@dataclass
class Memory:
    """What one estimation leaves to the next: ballots that were read, rates that were found, and for which stamp."""

    reader: Reader = field(default_factory=Reader)
    rates: KnownRates = field(default_factory=KnownRates)
    stamp: Stamp | None = None


MEMORIES: WeakKeyDictionary[Store, Memory] = WeakKeyDictionary()


class Failure(NamedTuple):
    """Why something could not be done: a sentence, and where it happened unless it was refused on purpose."""

    sentence: str
    trace: str


def work(line: Connection, address: str, task: Task) -> None:
    """Do what is asked for until the server hangs up, be it on purpose or by a power cut."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the server
    if hasattr(os, "nice"):  # not on Windows
        os.nice(BEHIND)  # whoever waits for a page comes first
    store = Store(open_database(address, connections=1, create=False))
    while True:
        try:
            wanted: Callable[[Store, Task], Any] = line.recv()
            line.send(_done(wanted, store, task))
        except (EOFError, OSError):
            return


def _done(wanted: Callable[[Store, Task], Any], store: Store, task: Task) -> Any:
    try:
        return wanted(store, task)
    except EpivoteError as error:
        return Failure(str(error), "")
    except Exception as error:
        return Failure(f"{type(error).__name__}; see the server's log", traceback.format_exc())


def estimate(store: Store, task: Task) -> Live:
    """What the ballots of this moment say."""
    is_over = store.is_closed() or task.is_over(datetime.now(UTC))
    memory = _memory(store)
    stamp, gathered = memory.reader.read(store)
    if stamp == memory.stamp:
        memory.rates = KnownRates()  # nothing is new: time for a fit anew
    memory.stamp = stamp
    return live(stamp, gathered, task, is_over=is_over, before=memory.rates)


def _memory(store: Store) -> Memory:
    """What is remembered of this store."""
    return MEMORIES.setdefault(store, Memory())


def report(store: Store, task: Task) -> bytes:
    """The full report on the ballots of this moment."""
    fitted = fit(usable(_memory(store).reader.read(store)[1], task), task)
    if fitted is None:
        raise InputError("there are no ballots to report on yet; come back when somebody has answered")
    with TemporaryDirectory(prefix="epivote-") as folder:
        page = write_report(
            fitted.estimator,
            Path(folder) / "report.html",
            title=task.title,
            notes=fitted.warnings,
            settings={"Method": fitted.method, "Collected by": "epivote collect"},
        )
        return page.read_bytes()
