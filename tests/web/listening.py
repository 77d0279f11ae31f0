"""A quiz served by a thread of the process of tests: the same app behind the same server, without another process to start."""

import asyncio
import logging
import threading
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from unittest.mock import patch
from urllib.parse import urlsplit

from epivote.web import serving
from epivote.web.addresses import addresses_of
from epivote.web.app import collect_app
from epivote.web.store import Store, open_database
from epivote.web.task import read_task

PATIENCE = 60


@dataclass(frozen=True)
class Here:
    """A quiz that listens: what `epivote collect serve` prints of it, its store, and what went wrong in it."""

    participants: str
    organiser: str
    key: str
    store: Store
    failures: list[str]
    loop: asyncio.AbstractEventLoop

    @property
    def address(self) -> str:
        """Of the server, without a slash at the end."""
        return self.participants.rstrip("/")

    @property
    def port(self) -> int:
        return urlsplit(self.address).port

    @contextmanager
    def held_up(self):
        """Answers nothing for a while, like a process that is stopped."""
        go_on = threading.Event()
        self.loop.call_soon_threadsafe(go_on.wait, PATIENCE)
        try:
            yield
        finally:
            go_on.set()


class Stoppable(serving.Server):
    """A server in a thread, which no signal reaches."""

    running = None

    def __init__(self, *given):
        super().__init__(*given)
        Stoppable.running = self

    async def startup(self, sockets=None):
        self.loop = asyncio.get_running_loop()
        await super().startup(sockets)

    def capture_signals(self):
        return nullcontext()


class Failures(logging.Handler):
    """Keeps what goes wrong in the thread of a server, whatever it answers."""

    def __init__(self, thread):
        super().__init__(logging.ERROR)
        self.thread, self.told = thread, []

    def emit(self, record):
        if record.thread == self.thread.ident:
            self.told.append(self.format(record))


@contextmanager
def serving_here(quiz, database, settings=None):
    """Serve a quiz as long as it is needed."""
    store = Store(open_database(database))
    app = collect_app(read_task(quiz), store, settings)
    listening, ready = serving.listen("127.0.0.1", 0), threading.Event()
    thread = threading.Thread(
        target=serving.serve, args=(app, listening, ready.set), kwargs={"behind_proxy": False}, daemon=True
    )
    failures = Failures(thread)
    logging.getLogger().addHandler(failures)
    try:
        with patch.object(serving, "Server", Stoppable):
            thread.start()
            assert ready.wait(PATIENCE), f"the server does not listen after {PATIENCE} seconds: {failures.told}"
        server, secrets = Stoppable.running, store.secrets()
        address = f"{addresses_of(listening)[0].rstrip('/')}{settings.root if settings else ''}/"
        store.remember_address(address)
        try:
            boss = f"{address}organiser?secret={secrets.organiser}"
            yield Here(address, boss, secrets.interface, store, failures.told, server.loop)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
        assert not thread.is_alive(), f"the server has not stopped after {PATIENCE} seconds"
    finally:
        logging.getLogger().removeHandler(failures)
        store.database.close()
