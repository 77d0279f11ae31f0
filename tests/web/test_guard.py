"""What stands around every request: sizes just below, at and above their bounds, headers on every answer, limits."""

import asyncio
import itertools
import logging

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response

from epivote.web.security import headers, limits
from epivote.web.security.headers import Guard
from epivote.web.security.limits import Limiter, Limits, Rate
from one_moment import NO_LIMITS, still_app
from patience import PATIENCE, apart

LARGEST_BODY, LARGEST_HEAD = 65_536, 32_768


def refuse(_request, status, wait):
    return PlainTextResponse(f"refused, wait {wait}", status)


async def echo(scope, receive, send):
    """Answers with the size of the body, or with the status that reading it raised."""
    size = 0
    try:
        while True:
            message = await receive()
            size += len(message.get("body", b""))
            if not message.get("more_body"):
                break
    except HTTPException as error:
        await Response(status_code=error.status_code)(scope, receive, send)
        return
    await PlainTextResponse(str(size), headers={"Cache-Control": "mine"})(scope, receive, send)


def ask(app=echo, *, chunks=(b"",), fields=(), path="/", query=b"", guard=None, limits=NO_LIMITS.limits, method="POST"):
    """One request through the guard: status, headers, body and how many pieces of the body were read."""
    guarded = guard or Guard(app, Limiter(), limits, refuse)
    left, read, sent, after_the_end = list(chunks), [], [], []

    async def receive():
        if not left:
            after_the_end.append("again")
            assert len(after_the_end) < 20, "it asks without end"
            return {"type": "http.disconnect"}
        read.append(left.pop(0))
        if callable(read[-1]):
            return await read[-1]()
        return {"type": "http.request", "body": read[-1], "more_body": bool(left)}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": query,
        "headers": [(name.encode(), value) for name, value in fields],
        "client": ("10.0.0.1", 5),
        "server": ("testserver", 80),
    }
    apart(asyncio.run, guarded(scope, receive, send))
    if not sent:
        return None, {}, b"", len(read)
    starts = [message for message in sent if message["type"] == "http.response.start"]
    assert len(starts) == 1
    told = {name.decode(): value.decode() for name, value in starts[0]["headers"]}
    return starts[0]["status"], told, b"".join(each.get("body", b"") for each in sent), len(read)


def test_a_body_may_be_as_large_as_the_bound_but_no_larger():
    for size in (0, LARGEST_BODY - 1, LARGEST_BODY):
        assert ask(chunks=[b"x" * size])[::2] == (200, str(size).encode())
    assert ask(chunks=[b"x" * (LARGEST_BODY + 1)])[0] == 413


def test_pieces_of_a_body_are_counted_together():
    assert ask(chunks=[b"x" * 1000] * 65 + [b"x" * 536])[0] == 200
    assert ask(chunks=[b"x" * 1000] * 65 + [b"x" * 537])[0] == 413


@pytest.mark.parametrize(
    ("length", "status"),
    [
        (b"0", 200),
        (b"65535", 200),
        (b"65536", 200),
        (b"65537", 413),
        (b"99999999", 413),
        (b"9" * 6000, 413),
        (b"x", 200),
        (b"-70000", 200),
        (b"", 200),
        ("²".encode("latin-1") * 9, 200),
    ],
)
def test_a_length_that_is_announced_is_believed_when_it_is_too_large(length, status):
    assert ask(fields=[("content-length", length)])[0] == status


def test_path_query_and_headers_are_bounded_together():
    known = [("a-name", b"value")]
    room = LARGEST_HEAD - len("/path") - len("a=b") - len("a-name") - len("value") - len("more")
    for length, status in ((room - 1, 200), (room, 200), (room + 1, 400)):
        assert ask(path="/path", query=b"a=b", fields=[*known, ("more", b"x" * length)])[0] == status
    for parts in ({"path": "/" + "x" * LARGEST_HEAD}, {"query": b"x" * LARGEST_HEAD}):
        assert ask(**parts)[0] == 400


def test_what_is_refused_is_read_to_its_end_first_and_the_connection_closed():
    pieces = [b"x" * 100] * 7
    status, told, _, read = ask(chunks=pieces, fields=[("content-length", b"70000")])
    assert (status, told["connection"], read) == (413, "close", 7)
    assert "connection" not in ask(chunks=pieces)[1]


def test_of_an_endless_body_eight_megabytes_are_thrown_away():
    assert headers.LARGEST_TO_THROW_AWAY == 8 * 1024 * 1024
    piece = b"x" * (1 << 20)
    status, _, _, read = ask(chunks=itertools.repeat(piece, 12), fields=[("content-length", b"70000")])
    assert (status, read) == (413, 8)


async def never():
    await asyncio.sleep(PATIENCE)


def test_nobody_waits_for_a_body_that_does_not_come(monkeypatch):
    monkeypatch.setattr(headers, "SECONDS_TO_THROW_AWAY", 0.0)
    assert ask(chunks=[never], fields=[("content-length", b"70000")])[0] == 413
    monkeypatch.setattr(headers, "SECONDS_FOR_A_BODY", 0.0)
    assert ask(chunks=[never])[0] == 408
    assert ask(chunks=[b"x", never])[0] == 408


def test_there_is_half_a_minute_for_a_body_and_five_seconds_for_one_that_is_refused(monkeypatch):
    granted = []
    at, during = asyncio.timeout_at, asyncio.timeout

    def timeout_at(when):
        granted.append(when and round(when - asyncio.get_running_loop().time()))
        return at(when)

    def timeout(delay):
        granted.append(delay)
        return during(delay)

    monkeypatch.setattr(asyncio, "timeout_at", timeout_at)
    monkeypatch.setattr(asyncio, "timeout", timeout)
    ask(chunks=[b"x", b"y"])
    assert granted == [30, 30]
    granted.clear()
    ask(fields=[("content-length", b"70000")])
    assert granted == [5.0]


def test_once_the_body_is_there_nothing_times_out(monkeypatch):
    """Pages that take long still want to know whether anybody waits for them."""
    monkeypatch.setattr(headers, "SECONDS_FOR_A_BODY", 0.0)
    waited = []

    async def slow():
        for _ in range(20):
            await asyncio.sleep(0)
        return {"type": "http.disconnect"}

    async def whole():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def page(scope, receive, send):
        await receive()
        waited.append((await receive())["type"])
        waited.append((await receive())["type"])
        await PlainTextResponse("fine")(scope, receive, send)

    assert ask(page, chunks=[whole, slow, slow])[0] == 200
    assert waited == ["http.disconnect", "http.disconnect"]


def test_every_answer_is_protected_and_keeps_its_own_headers():
    told = ask()[1]
    assert told == {
        "cache-control": "mine",
        "content-length": "1",
        "content-type": "text/plain; charset=utf-8",
        "content-security-policy": (
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; media-src 'self'; "
            "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
    }
    _, refused, _, _ = ask(fields=[("content-length", b"70000")])
    assert refused["cache-control"] == "no-store"
    assert set(told) < set(refused)


def test_a_request_that_fails_is_told_and_logged_once(caplog):
    async def breaks(scope, receive, send):
        raise ZeroDivisionError

    status, told, body, _ = ask(breaks, path="/a b", method="PUT")
    assert (status, body) == (500, b"refused, wait 0.0")
    assert "content-security-policy" in told
    assert [(each.levelno, each.getMessage()) for each in caplog.records] == [
        (logging.ERROR, "a request failed: PUT '/a b'")
    ]
    caplog.clear()

    async def breaks_late(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError

    assert ask(breaks_late)[0] == 200, "an answer that has begun cannot be taken back"
    assert len(caplog.records) == 1


def test_somebody_who_hangs_up_is_no_failure(caplog):
    async def left(scope, receive, send):
        raise ClientDisconnect

    assert ask(left)[0] is None
    assert caplog.records == []


def test_too_many_requests_wait_for_their_turn():
    now = [0.0]
    guard = Guard(echo, Limiter(lambda: now[0]), Limits(requests=Rate(2, 0.5)), refuse)
    assert [ask(guard=guard)[0] for _ in range(3)] == [200, 200, 429]
    assert ask(guard=guard, chunks=[b"x", b"y"])[1:4:2] == (ask(guard=guard)[1], 2)
    assert ask(guard=guard)[2] == b"refused, wait 2.0"
    now[0] = 1.9
    assert ask(guard=guard)[0] == 429
    now[0] = 2.0
    assert [ask(guard=guard)[0] for _ in range(2)] == [200, 429]


def test_what_is_no_request_goes_through():
    seen = []

    async def inner(*given):
        seen.append(given)

    given = ({"type": "lifespan"}, "receive", "send")
    apart(asyncio.run, Guard(inner, Limiter(), Limits(), refuse)(*given))
    assert seen == [given]


def test_the_app_stands_behind_the_guard(tmp_path):
    with still_app(tmp_path) as app:
        status, told, body, _ = ask(guard=app, fields=[("content-length", b"70000"), ("host", b"testserver")])
        assert (status, told["connection"], b"What was sent is too large." in body) == (413, "close", True)
        status, told, body, _ = ask(guard=app, path="/api/v1/task", fields=[("content-length", b"70000")])
        assert (status, body) == (413, b'{"error":"What was sent is too large."}')
        assert ask(guard=app, path="/end/", method="GET")[0] == 404, "a slash too many is another address"


def test_what_one_address_and_one_person_may_do():
    usual = Limits()
    assert usual.requests == Rate(3_000, 600)
    assert usual.joining == Rate(400, 2), "a class behind one address joins within seconds"
    assert usual.answering == Rate(120, 10), "a person never answers ten questions a second for long"
    assert usual.interface == Rate(2_000, 400)
    assert usual.wrong_secrets == Rate(20, 0.2), "twenty wrong ones and an address has to wait"


def test_a_bucket_fills_with_time_and_a_refused_act_takes_nothing():
    now = [100.0]
    limiter, rate = Limiter(lambda: now[0]), Rate(3, 4)

    def take():
        return limiter.take("x", "ann", rate)

    assert [take() for _ in range(4)] == [0.0, 0.0, 0.0, 0.25]
    now[0] += 0.125
    assert take() == 0.125, "half a token is none, and a refused act takes nothing"
    now[0] += 0.125
    assert [take(), take()] == [0.0, 0.25]
    now[0] += 0.5
    assert [take(), take(), take()] == [0.0, 0.0, 0.25]
    now[0] += 0.625
    assert [take(), take()] == [0.0, 0.0]
    assert take() == 0.125, "what is left over from filling counts"
    now[0] += 1e6
    assert [take() for _ in range(4)] == [0.0, 0.0, 0.0, 0.25]


def test_those_who_were_quiet_for_longest_are_forgotten_first(monkeypatch):
    monkeypatch.setattr(limits, "MOST_REMEMBERED", 4)
    now = [0.0]
    limiter, rate = Limiter(lambda: now[0]), Rate(1, 0.001)
    for name in "cabd":
        now[0] += 1
        limiter.take("x", name, rate)
    assert all(limiter.take("x", name, rate) > 0 for name in "abcd")
    now[0] += 1
    limiter.take("x", "e", rate)
    assert [limiter.take("x", name, rate) > 0 for name in "bdeac"] == [True, True, True, False, False]


def test_twenty_thousand_are_remembered():
    assert limits.MOST_REMEMBERED == 20_000
