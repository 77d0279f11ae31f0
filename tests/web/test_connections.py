"""Half-sent requests shut nobody out: connections are bounded, and those that wait longest make room."""

import asyncio
import resource
import socket
import subprocess
import sys
import time
from contextlib import ExitStack

import httpx
import pytest
import uvicorn
from uvicorn.server import ServerState

from epivote.web.security import connections
from epivote.web.security.connections import Connections, GuardedConnection, connections_for
from patience import apart, in_time, read_until
from small_quiz import write_quiz

HALF = b"GET / HTTP/1.1\r\nHost: x\r\n"
SOON = 60


class Line:
    """A connection that knows whether it was closed."""

    def __init__(self, address):
        self.address, self.is_closed = address, False

    def hang_up(self):
        self.is_closed = True


def opened(room, *addresses):
    lines = [Line(address) for address in addresses]
    for line in lines:
        room.add(line)
    return lines


def test_who_waits_longest_makes_room_for_others_of_the_same_address(caplog):
    room = Connections(100, 3)
    first, second, third, other = opened(room, "a", "a", "a", "b")
    room.works(first)
    (fourth,) = opened(room, "a")
    assert [line.is_closed for line in (first, second, third, fourth, other)] == [False, True, False, False, False]
    room.waits(first)
    opened(room, "a")
    assert (third.is_closed, first.is_closed) == (True, False), "it has waited for less long"
    assert [each.getMessage() for each in caplog.records] == [
        "there are 3 connections from a; those idle for longest are closed"
    ]


def test_where_nobody_waits_the_newest_goes():
    room = Connections(100, 2)
    busy = opened(room, "a", "a")
    for line in busy:
        room.works(line)
    (new,) = opened(room, "a")
    assert new.is_closed
    assert not any(line.is_closed for line in busy)
    room.remove(busy[0])
    (new,) = opened(room, "a")
    assert not new.is_closed


def test_all_together_are_bounded_as_well_and_it_is_said_once_a_minute(caplog):
    clock = [0.0]
    room = Connections(3, None, lambda: clock[0])
    lines = opened(room, *"abcdef")
    assert [line.is_closed for line in lines] == [True, True, True, False, False, False]
    clock[0] = 59.0
    opened(room, "g")
    assert len(caplog.records) == 1
    clock[0] = 60.0
    opened(room, "h")
    assert len(caplog.records) == 2
    for line in lines:
        room.remove(line)
        room.remove(line)
        room.waits(line)


class Wire(asyncio.Transport):
    """A connection of a server without a network."""

    def __init__(self):
        super().__init__({"peername": ("10.0.0.7", 5000), "sockname": ("10.0.0.1", 80)})
        self.written, self.is_over = b"", False

    def write(self, data):
        self.written += data

    def close(self):
        self.is_over = True

    abort = close

    def is_closing(self):
        return self.is_over

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


async def late_answer(_scope, _receive, send):
    await asyncio.sleep(0.1)
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


def test_a_connection_is_counted_works_while_it_is_answered_and_then_waits_again(monkeypatch):
    """Only the time until a request is whole is bounded, not that of the answer."""
    monkeypatch.setattr(connections, "SECONDS_FOR_A_HEAD", 0.05)
    config = uvicorn.Config(late_answer, lifespan="off", log_config=None)
    config.load()
    room = Connections(1, None)

    async def go():
        line, wire = GuardedConnection(config, ServerState(), {}, connections=room), Wire()
        line.connection_made(wire)
        (other,) = opened(room, "b")
        assert wire.is_over, "it was counted, has waited longest and makes room"
        line.connection_lost(None)
        room.remove(other)
        line, wire = GuardedConnection(config, ServerState(), {}, connections=room), Wire()
        line.connection_made(wire)
        line.data_received(HALF)
        line.data_received(b"\r\n")
        (other,) = opened(room, "b")
        assert (other.is_closed, wire.is_over) == (True, False), "who works stays"
        await asyncio.sleep(0.15)
        assert wire.written.startswith(b"HTTP/1.1 204")
        assert (b"408" in wire.written, wire.is_over) == (False, False)
        (other,) = opened(room, "b")
        assert (other.is_closed, wire.is_over) == (False, True), "who waits again makes room again"
        line.connection_lost(None)
        room.remove(other)
        line, wire = GuardedConnection(config, ServerState(), {}, connections=room), Wire()
        line.connection_made(wire)
        line.data_received(HALF)
        await asyncio.sleep(0.1)
        assert (b"408" in wire.written, wire.is_over) == (True, True)
        line.connection_lost(None)
        assert not opened(room, "b")[0].is_closed

    apart(asyncio.run, go())


def test_as_many_as_the_system_allows_for(monkeypatch):
    asked = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits))
    for limits, most in (((1024, 1024), 512), ((1024, 4096), 2048), ((1024, 10**6), 10_000), ((-1, -1), 10_000)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, told=limits: told)
        room = connections_for(behind_proxy=False)
        assert (room.most, room.per_address) == (most, most // 4)
    assert asked == [(4096, 4096), (65_536, 10**6)]
    assert connections_for(behind_proxy=True).per_address is None


def connect(served, address="127.0.0.1", sent=b""):
    made = socket.create_connection(("127.0.0.1", served.port), timeout=SOON, source_address=(address, 0))
    made.sendall(sent)
    return made


def test_a_request_must_be_whole_soon(served_on_sqlite, monkeypatch):
    monkeypatch.setattr(connections, "SECONDS_FOR_A_HEAD", 0.2)
    for sent in (b"", HALF, b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" + HALF):
        with connect(served_on_sqlite, sent=sent) as half:
            told = b""
            while piece := half.recv(65_536):
                told += piece
        assert told.endswith(connections.LATE)
        assert told.count(b"HTTP/1.1 200 OK") == sent.count(b"health")


def test_a_connection_that_works_or_rests_is_left_alone(served_on_sqlite, monkeypatch):
    monkeypatch.setattr(connections, "SECONDS_FOR_A_HEAD", 0.2)
    with connect(served_on_sqlite) as kept:
        for _ in range(2):
            kept.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            told = b""
            while b"ok" not in told:
                told += kept.recv(65_536)
            time.sleep(0.3)


@pytest.mark.slow
def test_1100_half_sent_requests_shut_nobody_out(tmp_path):
    """With 1,024 descriptors, as many systems allow."""
    quiz = write_quiz(tmp_path)
    command = [sys.executable, "-m", "epivote", "collect", "serve", str(quiz), "--port", "0"]
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))  # noqa: E731
    with (tmp_path / "log").open("w") as log, ExitStack() as stack:
        process = stack.enter_context(
            in_time(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, preexec_fn=few))
        )
        stack.callback(process.terminate)
        line = read_until(process.stdout, "Participants:")
        port = int(line.strip().rstrip("/").rsplit(":", 1)[1])

        def one(number):
            made = stack.enter_context(socket.socket())
            made.bind((f"127.0.3.{1 + number % 7}", 0))
            made.settimeout(SOON)
            made.connect(("127.0.0.1", port))
            made.sendall(HALF)

        for number in range(1_100):
            one(number)
        for address in ("127.0.0.1", "127.0.3.1"):
            transport = httpx.HTTPTransport(local_address=address)
            with httpx.Client(transport=transport, timeout=SOON, trust_env=False) as client:
                assert client.get(f"http://127.0.0.1:{port}/health").text == "ok"
    assert "those idle for longest are closed" in (tmp_path / "log").read_text()
