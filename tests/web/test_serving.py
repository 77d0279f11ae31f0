"""Serving: the socket, how requests are taken, and how it ends; nothing is really served here."""

import asyncio
import logging
import signal
import socket

import pytest
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from epivote import InputError
from epivote.web.addresses import addresses_of
from epivote.web.security.connections import GuardedConnection
from epivote.web.serving import Server, listen, serve
from patience import apart


def test_a_socket_is_plain_tcp_that_can_be_taken_over():
    with listen("127.0.0.1", 0) as listening:
        assert (listening.family, listening.type, listening.proto) == (
            socket.AF_INET,
            socket.SOCK_STREAM,
            socket.IPPROTO_TCP,
        )
        assert listening.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR) == 1
        port = listening.getsockname()[1]
        assert addresses_of(listening) == [f"http://127.0.0.1:{port}/"]
    with pytest.raises(InputError, match=r"^cannot listen on 203\.0\.113\.1, port 7: .*; choose another with --host"):
        listen("203.0.113.1", 7)
    with pytest.raises(InputError, match="cannot listen on 127.0.0.1, port 70000"):
        listen("127.0.0.1", 70_000)


def test_addresses_of_both_kinds_are_written_as_browsers_want_them():
    class Bound:
        def __init__(self, *name):
            self.getsockname = lambda: name

    assert addresses_of(Bound("10.0.0.1", 80)) == ["http://10.0.0.1:80/"]
    assert addresses_of(Bound("::1", 80, 0, 0)) == ["http://[::1]:80/"]


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_an_address_with_colons_is_ipv6(monkeypatch):
    families = []

    class Socket(socket.socket):
        def __init__(self, family, *rest):
            families.append(family)
            super().__init__(socket.AF_INET, *rest)

        def bind(self, _address):
            raise OSError("not here")

    monkeypatch.setattr(socket, "socket", Socket)
    for host in ("::1", "127.0.0.1"):
        with pytest.raises(InputError, match="not here"):
            listen(host, 0)
    assert families == [socket.AF_INET6, socket.AF_INET]


@pytest.mark.parametrize("behind_proxy", [False, True])
def test_how_it_is_served(monkeypatch, behind_proxy):
    ran = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: ran.append((self, sockets)))
    monkeypatch.setattr(logging, "basicConfig", lambda **options: ran.append(options["level"]))

    async def app(scope, receive, send):
        """Nothing is asked of it."""

    serve(app, "socket", lambda: None, behind_proxy=behind_proxy)
    level, (server, sockets) = ran
    assert level == logging.WARNING
    assert sockets == ["socket"]
    told = server.config
    assert (told.app, told.proxy_headers, told.lifespan, told.backlog) == (app, behind_proxy, "on", 256)
    assert told.http.func is GuardedConnection
    assert issubclass(GuardedConnection, H11Protocol), "slower than the other one, but strict: it bounds headers"
    assert (told.http.keywords["connections"].per_address is None) == behind_proxy
    assert (told.log_config, told.access_log, told.server_header) == (None, False, False)
    assert (told.timeout_graceful_shutdown, told.timeout_keep_alive) == (10, 75)


@pytest.mark.parametrize("listens", [True, False])
def test_it_says_that_it_listens_only_when_it_does(monkeypatch, listens):
    said = []

    async def startup(self, sockets):
        said.append(sockets)
        self.started = listens

    monkeypatch.setattr(uvicorn.Server, "startup", startup)
    server = Server(uvicorn.Config(None), lambda: said.append("ready"))
    apart(asyncio.run, server.startup(["socket"]))
    assert said == [["socket"], *(["ready"] if listens else [])]


def test_stopping_twice_is_stopping_once(monkeypatch):
    handlers = {}
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)
    server = Server(uvicorn.Config(None), lambda: None)
    with server.capture_signals():
        assert handlers == {signal.SIGINT: server.handle_exit, signal.SIGTERM: server.handle_exit}
    assert handlers == {signal.SIGINT: signal.SIG_IGN, signal.SIGTERM: signal.SIG_IGN}
