"""Connections that are open: bounded in all and per address, so that half-sent requests shut nobody out.

A connection waits while its client has to send something: a request, or the rest of one. Where there are too many,
those that have waited longest are closed; who sends whole requests hardly notices, because browsers connect again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from uvicorn.protocols.http.h11_impl import H11Protocol

from epivote.web.security.headers import address_of

LOG = logging.getLogger("epivote.collect")
SECONDS_FOR_A_HEAD = 10.0  # from connecting, or from the first byte of a further request; a round number
MOST = 10_000  # connections in all; each takes some 20 KB
FILES_WANTED = 65_536  # open files and connections that are asked of the system; a round number
SHARE_OF_FILES = 2  # every second one may be a connection; the others are for the database and for accepting
SHARE_OF_ADDRESS = 4  # a quarter of all connections may come from one address; a class behind one router needs hundreds
LOGGED_EVERY = 60.0  # seconds; a round number
LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Closable(Protocol):
    """A connection, as far as it is counted."""

    address: str

    def hang_up(self) -> None:
        """Close it."""


class Connections:
    """Those that are open, and who waits since when."""

    def __init__(self, most: int, per_address: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self.per_address = per_address
        self._clock = clock
        self._open: dict[Closable, None] = {}
        self._counts: Counter[str] = Counter()
        self._waiting: dict[Closable, None] = {}
        self._logged = -LOGGED_EVERY

    def add(self, connection: Closable) -> None:
        """Take one more, which waits; where that is too many, another one or it itself is closed."""
        self._open[connection] = None
        self._counts[connection.address] += 1
        self.waits(connection)
        address = connection.address
        if self.per_address is not None and self._counts[address] > self.per_address:
            self._say(f"{self.per_address:,} connections from {address}")
            self._close(next((each for each in self._waiting if each.address == address), connection))
        elif len(self._open) > self.most:
            self._say(f"{self.most:,} connections")
            self._close(next(iter(self._waiting), connection))

    def waits(self, connection: Closable) -> None:
        """From now on its client has to send something."""
        self._waiting.pop(connection, None)
        if connection in self._open:
            self._waiting[connection] = None

    def works(self, connection: Closable) -> None:
        """A whole request is being answered."""
        self._waiting.pop(connection, None)

    def remove(self, connection: Closable) -> None:
        """It is closed."""
        self._waiting.pop(connection, None)
        if connection in self._open:
            del self._open[connection]
            self._counts[connection.address] -= 1
            if not self._counts[connection.address]:
                del self._counts[connection.address]

    def _close(self, connection: Closable) -> None:
        self.remove(connection)
        connection.hang_up()

    def _say(self, what: str) -> None:
        if self._clock() - self._logged >= LOGGED_EVERY:
            self._logged = self._clock()
            LOG.warning("there are %s; those idle for longest are closed", what)


class GuardedConnection(H11Protocol):
    """One connection of the server, which is counted and does not wait for a request for ever."""

    def __init__(self, *given: Any, connections: Connections, **named: Any) -> None:
        super().__init__(*given, **named)
        self.address = ""
        self._connections = connections
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count it, and wait for its first request."""
        super().connection_made(transport)
        self.address = address_of({"client": self.client})
        self._wait_for_a_head()
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it no longer."""
        self._connections.remove(self)
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what was sent; a request that has only begun must be whole soon."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._wait_for_a_head()
            return
        self._stop_waiting()
        if not self.cycle.more_body:
            self._connections.works(self)

    def on_response_complete(self) -> None:
        """Wait for a further request."""
        self._connections.waits(self)
        super().on_response_complete()
        is_idle = self.cycle is None or self.cycle.response_complete
        if is_idle and self.conn.trailing_data[0]:  # the next request has begun already
            self._wait_for_a_head()

    def hang_up(self) -> None:
        """Close it at once."""
        self.transport.abort()

    def _wait_for_a_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(SECONDS_FOR_A_HEAD, self._give_up)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(LATE)
            self.transport.close()


def connections_for(*, behind_proxy: bool) -> Connections:
    """As many as the system allows for; behind a proxy, from which all come, only those in all are bounded."""
    most = min(MOST, _open_files() // SHARE_OF_FILES)
    return Connections(most, None if behind_proxy else most // SHARE_OF_ADDRESS)


def _open_files() -> int:
    """How many files and connections may be open, after asking for more."""
    try:
        import resource
    except ImportError:  # Windows, where connections are not counted with files
        return FILES_WANTED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(FILES_WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return FILES_WANTED if soft == resource.RLIM_INFINITY else soft
