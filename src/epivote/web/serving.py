"""Serving an app until it is told to stop."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from epivote import InputError
from epivote.web.security.connections import GuardedConnection, connections_for

SECONDS_TO_FINISH = 10  # for requests under way when the server is asked to stop; a round number
SECONDS_TO_STAY_CONNECTED = 75  # longer than the usual 60 of proxies, so that they close first
BACKLOG = 256  # connections accepted before the first of them is looked at; a class that opens a page at once
STOPS = (signal.SIGINT, signal.SIGTERM)


class Server(uvicorn.Server):
    """A server that says when it listens, and for which being stopped is the usual end."""

    def __init__(self, config: uvicorn.Config, when_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._when_ready = when_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        if self.started:
            self._when_ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Finish running requests on an interrupt and end as usual, however often it is asked for."""
        for each in STOPS:
            signal.signal(each, self.handle_exit)
        yield
        for each in STOPS:
            signal.signal(each, signal.SIG_IGN)


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address; port 0 takes a free one. Named as TCP, for only then do answers go out undelayed."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise InputError(
            f"cannot listen on {host}, port {port}: {error}; choose another with --host and --port"
        ) from None
    return listening


def serve(app: ASGIApp, listening: socket.socket, when_ready: Callable[[], None], *, behind_proxy: bool) -> None:
    """Answer requests until told to stop; then finish those that run. Addresses, which hold secrets, are not logged."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    config = uvicorn.Config(
        app,
        http=cast(Any, partial(GuardedConnection, connections=connections_for(behind_proxy=behind_proxy))),
        backlog=BACKLOG,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=behind_proxy,
        lifespan="on",
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
        timeout_keep_alive=SECONDS_TO_STAY_CONNECTED,
    )
    Server(config, when_ready).run([listening])
