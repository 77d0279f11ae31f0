"""Keeps the live value up to date while the app runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TypeVar, cast

from epivote import EpivoteError
from epivote.web.estimation import worker
from epivote.web.estimation.live import Live
from epivote.web.estimation.worker import Failure
from epivote.web.store import Store
from epivote.web.task import Task

LOG = logging.getLogger("epivote.collect")
T = TypeVar("T")


class EstimationError(EpivoteError):
    """Something that the other process could not do."""


class OtherProcess:
    """A process of its own that does one thing at a time; it is started when needed, and again if it died."""

    def __init__(self, address: str, task: Task) -> None:
        self._given = address, task
        self._running: tuple[BaseProcess, Connection] | None = None
        self._turn = asyncio.Lock()

    async def do(self, wanted: Callable[[Store, Task], T]) -> T:
        """Let it do something, and wait for the result."""
        async with self._turn:
            found = await asyncio.to_thread(self._ask, wanted)
        if isinstance(found, Failure):
            if found.trace:
                LOG.error("the estimation failed:\n%s", found.trace)
            raise EstimationError(found.sentence)
        return cast(T, found)

    def stop(self) -> None:
        """End it at once: it only reads, so nothing is lost."""
        if self._running is not None:
            process, line = self._running
            process.kill()
            process.join()
            line.close()

    def _ask(self, wanted: Callable[[Store, Task], object]) -> object:
        process, line = self._running = self._running or self._start()
        try:
            line.send(wanted)
            return line.recv()
        except (EOFError, OSError):
            self._running = None
            process.join()
            return Failure("the estimation process ended unexpectedly; it is being restarted", "")

    def _start(self) -> tuple[BaseProcess, Connection]:
        spawning = get_context("spawn")
        here, there = spawning.Pipe()
        process = spawning.Process(target=worker.work, args=(there, *self._given), daemon=True)
        process.start()
        there.close()
        return process, here


class Estimation:
    """The last value that was found; what fails is told, and fails no request."""

    def __init__(self, store: Store, task: Task, *, every: float = 1.0) -> None:
        self.live = Live()
        self._store = store
        self._task = task
        self._every = every
        address = store.database.engine.url.render_as_string(hide_password=False)
        self.process = OtherProcess(address, task)

    async def run(self) -> None:
        """Estimate whenever ballots have changed, until cancelled."""
        try:
            while True:
                seconds = await self._update()
                await asyncio.sleep(max(self._every, 2 * seconds))
        finally:
            self.process.stop()

    async def report(self) -> bytes:
        """The full report."""
        return await self.process.do(worker.report)

    async def _update(self) -> float:
        """Bring the value up to date if something changed; the seconds it took."""
        try:
            if not await asyncio.to_thread(self._has_changed):
                return 0.0
            self.live = await self.process.do(worker.estimate)
        except EpivoteError as error:
            self.live = replace(self.live, problem=str(error))
        except Exception as error:
            LOG.exception("the estimation failed")
            self.live = replace(self.live, problem=f"{type(error).__name__}; see the server's log")
        return self.live.seconds if not self.live.problem else 5 * self._every

    def _has_changed(self) -> bool:
        is_over = self._store.is_closed() or self._task.is_over(datetime.now(UTC))
        is_new = self._store.stamp() != self.live.stamp or is_over != self.live.counts_gold
        return is_new or self.live.is_warm or bool(self.live.problem)
