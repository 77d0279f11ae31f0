"""Bodies, numbers and names that no form would send: refused with a page, and the server goes on."""

import json
import select
import socket

import pytest

from asking import Visitor, address_of_a_device, organiser, raw, sentence
from epivote.web.security import headers

REFUSED = {400, 403, 404, 405, 409, 411, 413, 414, 415, 422, 431}
POSTS = [
    "/join",
    "/question/1",
    "/finish",
    "/forget",
    "/leave",
    "/organiser/close",
    "/organiser/open",
    "/organiser/leave",
]
BOUNDARY = "multipart/form-data; boundary=x"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(autouse=True)
def still_there(request):
    """Whatever was sent, the next visitor is served."""
    (running,) = [
        request.getfixturevalue(name) for name in ("served", "served_on_both") if name in request.fixturenames
    ]
    yield
    with Visitor(running) as visitor:
        assert visitor.get("/health").text.strip() == "ok"


def part(name: str, value: str) -> str:
    return f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'


BODIES = {
    "ten megabytes in one field": (FORM, "nickname=" + "a" * 10_000_000),
    "ten megabytes in one name": (FORM, "a" * 10_000_000 + "=1"),
    "a hundred thousand ticks": (FORM, "tick=1&" * 100_000),
    "a hundred thousand parts": (BOUNDARY, part("tick", "1") * 100_000 + "--x--\r\n"),
    "a large file": (BOUNDARY, part('f"; filename="a.png', "b" * 10_000_000) + "--x--\r\n"),
    "a thousand small files": (BOUNDARY, part('f"; filename="a.png', "b") * 1_000 + "--x--\r\n"),
    "parts without an end": (BOUNDARY, part("tick", "1")),
    "no boundary": ("multipart/form-data", part("tick", "1") + "--x--\r\n"),
    "another boundary": ("multipart/form-data; boundary=y", part("tick", "1") + "--x--\r\n"),
    "an endless boundary": ("multipart/form-data; boundary=" + "y" * 5_000, part("tick", "1")),
    "a part without a name": (BOUNDARY, "--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--\r\n"),
    "a long header in a part": (BOUNDARY, f"--x\r\nX: {'y' * 100_000}\r\n\r\n1\r\n--x--\r\n"),
    "an unknown character set": ("multipart/form-data; boundary=x; charset=klingon", part("tick", "1") + "--x--\r\n"),
    "bytes that are no text": (FORM, b"nickname=\xff\xfe\xfd&csrf=\xff"),
    "JSON": ("application/json", '{"nickname": "ann"}'),
    "nothing": (FORM, ""),
    "no type": ("", "nickname=ann"),
    "a broken type": (";;;=", "nickname=ann"),
    "percent signs": (FORM, "%%%=%zz&%u0041=%"),
    "ampersands": (FORM, "&" * 50_000),
}


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("name", BODIES)
def test_a_strange_body_is_refused(served, path, name):
    kind, body = BODIES[name]
    with Visitor(served) as visitor:
        answered = visitor.post(path, content=body, headers={"content-type": kind})
        assert answered.status_code in REFUSED, answered.text[:300]
        assert answered.headers["content-type"].startswith("text/html")
        assert sentence(answered)


@pytest.mark.parametrize("name", ["ten megabytes in one field", "a large file"])
def test_what_is_too_large_is_called_too_large(served, name):
    kind, body = BODIES[name]
    with Visitor(served).joined(name) as visitor:
        answered = visitor.post("/question/1", content=body, headers={"content-type": kind})
        assert answered.status_code == 413


def test_a_body_without_a_length_is_bounded_as_well(served):
    def pieces():
        yield b"tick="
        for _ in range(200):  # one long field: very many short ones are refused as such, if the first come alone
            yield b"1" * 70_000

    with Visitor(served).joined("chunks") as visitor:
        assert visitor.post("/question/1", content=pieces(), headers={"content-type": FORM}).status_code == 413


def test_a_length_that_lies_gets_no_further(served, monkeypatch):
    monkeypatch.setattr(headers, "SECONDS_TO_THROW_AWAY", 0.1)
    for length in ("-1", "abc", "99999999999999999999", "1e3"):
        status, _, _ = raw(served, "POST", "/join", [("Content-Length", length), ("Content-Type", FORM)], b"nickname=a")
        assert status in REFUSED


def test_someone_who_sends_half_a_request_keeps_nobody_waiting(served):
    slow, half = [], f"POST /join HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\nContent-Length: 1000\r\n\r\nnick"
    for _ in range(50):
        connection = socket.create_connection(
            ("127.0.0.1", served.port), timeout=30, source_address=(address_of_a_device(), 0)
        )
        connection.sendall(half.encode())
        slow.append(connection)
    with Visitor(served) as visitor:
        assert visitor.get("/").status_code == 200
    still_waited_for = slow if not select.select(slow, [], [], 0)[0] else []
    for connection in slow:
        connection.close()
    assert still_waited_for, "the visitor had to wait until the slow ones were given up"


def test_headers_without_end_are_refused(served):
    many = [(f"X-{number}", "y" * 100) for number in range(3_000)]
    assert raw(served, "GET", "/", many)[0] in REFUSED
    assert raw(served, "GET", "/", [("Cookie", "epivote=" + "y" * 100_000)])[0] in REFUSED
    assert raw(served, "GET", "/" + "y" * 100_000)[0] in REFUSED


def test_a_cookie_of_many_cookies_is_no_trouble(served):
    assert raw(served, "GET", "/question", [("Cookie", "; ".join(f"a{n}=1" for n in range(2_000)))])[0] in {
        303,
        *REFUSED,
    }


TICKS = [
    "3",
    "99",
    "-1",
    "abc",
    "",
    "1.0",
    "1e0",
    "0x1",
    "１",
    "1_0",
    " 1",
    "+1",
    "1 ",
    str(10**30),
    "true",
    "cat",
    "\x00",
    "1;2",
]


@pytest.mark.parametrize("tick", TICKS)
def test_ticks_that_are_not_on_the_menu_are_refused(served_on_both, tick):
    with Visitor(served_on_both).joined(f"ticks {tick!r}") as visitor:
        visitor.answer(1, [0])
        assert visitor.answer(1, [1, tick]).status_code in (400, 422)
        assert visitor.ballots()[0] == (0,), "the ballot from before stays"


def test_a_tick_sent_twice_is_one_tick(served_on_both):
    with Visitor(served_on_both).joined("twice") as visitor:
        assert visitor.answer(1, [1, 1, 1]).status_code == 303
        assert visitor.ballots()[0] == (1,)


def test_more_ticks_than_alternatives_are_refused_or_bounded(served):
    with Visitor(served).joined("many ticks") as visitor:
        assert visitor.answer(1, [1] * 900).status_code in (303, 400, 413, 422)
        assert visitor.ballots()[0] in ((), (1,))


@pytest.mark.parametrize("action", ["", "delete", "answer ", "ANSWER", "\x00", "a" * 2_000])
def test_an_action_that_is_no_button_is_refused(served, action):
    with Visitor(served).joined(f"action {action[:10]!r}") as visitor:
        assert visitor.answer(1, [1], action=action).status_code in (400, 422)
        assert visitor.ballots()[0] == ()


POSITIONS = [
    "0",
    "-1",
    "5",
    "99999999999999999999999",
    "abc",
    "1.0",
    "%00",
    "1%00",
    "１",
    "1_0",
    "%20",
    "1/2",
    "%2e%2e",
]


@pytest.mark.parametrize("position", POSITIONS)
def test_questions_that_do_not_exist_are_not_found(served_on_both, position):
    with Visitor(served_on_both).joined(f"position {position}") as visitor:
        assert visitor.get(f"/question/{position}").status_code in (400, 404)
        sent = visitor.post(f"/question/{position}", visitor.filled_in(1, [1]))
        assert sent.status_code in (303, 400, 404)
        assert visitor.ballots()[1:] == [(), (), ()], "what is answered is what was shown, whatever the address says"


NICKNAMES = {
    "empty": "",
    "white space": " \t ",
    "no-break space": "\u00a0\u2003",
    "a NUL": "a\x00b",
    "control": "a\x1b[31mb",
    "turned around": "a\u202eb",
    "invisible": "\u200b\u200b",
    "long": "n" * 500,
}


@pytest.mark.parametrize("name", NICKNAMES)
def test_nicknames_nobody_can_read_are_refused(served_on_both, name):
    with Visitor(served_on_both) as visitor:
        answered = visitor.join(NICKNAMES[name])
        assert answered.status_code in (400, 413, 422)
        assert "nickname" in sentence(answered).lower()


@pytest.mark.parametrize("body", [b"nickname=%ff%fe", b"nickname=%ED%A0%80", b"nickname=\xff"])
def test_nicknames_that_are_no_text_do_no_harm(served_on_both, body):
    with Visitor(served_on_both) as visitor:
        token = visitor.csrf("/").encode()
        sent = visitor.post("/join", content=body + b"&csrf=" + token, headers={"content-type": FORM})
        assert sent.status_code in (303, 400, 422)


NAMES = [
    "'; DROP TABLE ballots; --",
    '" OR ""="',
    "Robert'); DELETE FROM voters --",
    "%' UNION SELECT secret FROM quiz --",
    "\\'; SELECT pg_sleep(10); --",
    "{{7*7}}${7*7}",
    "%s %(a)s {0} :name ?",
    'a,b"c|d',
]


@pytest.mark.parametrize("name", NAMES)
def test_sql_in_a_nickname_is_a_name(served_on_both, name):
    with Visitor(served_on_both).joined(name) as visitor, organiser(served_on_both) as boss:
        assert visitor.answer(2, [1]).status_code == 303
        told = boss.get("/organiser/export/ballots.csv").text
        quoted = f'"{name.replace(chr(34), chr(34) * 2)}"'
        assert sum(row.startswith((f"{name},", f"{quoted},")) for row in told.splitlines()) == 1
        assert Visitor(served_on_both).join(name).status_code == 409


JSON = {
    "not JSON": b"{",
    "deep": b"[" * 100_000,
    "deep object": b'{"ticks":' * 50_000,
    "not a number": b'{"ticks": NaN}',
    "a number": b'{"ticks": 1}',
    "null": b'{"ticks": null}',
    "a text": b'{"ticks": "cat"}',
    "an unknown name": b'{"ticks": ["cow"]}',
    "numbers": b'{"ticks": [0]}',
    "nested": b'{"ticks": [["cat"]]}',
    "a NUL": b'{"ticks": ["cat\\u0000"]}',
    "half a character": b'{"ticks": ["\\ud800"]}',
    "no text": b'{"ticks": ["\xff"]}',
    "a list": b'["cat"]',
    "nothing": b"",
    "too much": json.dumps({"ticks": ["cat"] * 1_000_000}).encode(),
    "a further key": b'{"ticks": ["cat"], "voter": "ann"}',
}


@pytest.mark.parametrize("name", JSON)
def test_strange_json_is_refused_in_json(served_on_both, name):
    headers = {"authorization": f"Bearer {served_on_both.key}", "content-type": "application/json"}
    with Visitor(served_on_both) as visitor:
        address = "/api/v1/voters/classifier/ballots/yard"
        answered = visitor.client.put(address, content=JSON[name], headers=headers)
        assert answered.status_code in REFUSED
        assert answered.json()["error"]
        assert visitor.get(address, headers=headers).status_code == 404


@pytest.mark.parametrize("voter", ["%00", "%ED%A0%80", "%ff", "a%0Ab", "%20", "n" * 5_000, "%E2%80%AE"])
def test_voters_nobody_can_read_are_refused(served_on_both, voter):
    headers = {"authorization": f"Bearer {served_on_both.key}"}
    with Visitor(served_on_both) as visitor:
        address = f"/api/v1/voters/{voter}/ballots/yard"
        assert visitor.client.put(address, json={"ticks": ["cat"]}, headers=headers).status_code in REFUSED
