"""QR codes drawn to the last dot, and which addresses of a machine are told."""

import re
import socket

import pytest
import segno

from epivote.web import addresses
from epivote.web.addresses import addresses_of, is_local, qr_inline, qr_svg, qr_text, web_address

ADDRESS = "http://192.168.1.7:8000/"
MADE = []  # sockets that were asked


def dots(error):
    """Rows of dots, as the library tells them."""
    return [[bool(dot) for dot in row] for row in segno.make(ADDRESS, error=error).matrix]


def drawn(path):
    """Where a path draws dots, as SVG says: `m` moves, `h` draws to the right."""
    x = y = 0.0
    found = set()
    for step, numbers in re.findall("([Mmh])([^Mmh]+)", path):
        first, *rest = map(float, numbers.split())
        if step == "h":
            found |= {(x + place, y - 0.5) for place in range(int(first))}
            x += first
        else:
            x, y = (first, rest[0]) if step == "M" else (x + first, y + rest[0])
    return found


@pytest.mark.parametrize("draw", [lambda: qr_svg(ADDRESS).decode(), lambda: qr_inline(ADDRESS)])
def test_a_drawn_code_has_a_margin_of_four_dots(draw):
    text = draw()
    (path,) = re.findall('<path stroke="#000" d="([^"]+)"/>', text)
    wanted = dots("m")
    assert drawn(path) == {(4 + j, 4 + i) for i, row in enumerate(wanted) for j, is_dark in enumerate(row) if is_dark}
    side = len(wanted) + 8
    assert f'<g transform="scale(4)"><path fill="#fff" d="M0 0h{side}v{side}h-{side}z"/><path stroke' in text


def test_what_stands_around_a_drawn_code():
    side = 4 * (len(dots("m")) + 8)
    assert qr_svg(ADDRESS).decode().partition("<g ")[0] == (
        f'<?xml version="1.0" encoding="utf-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{side}" height="{side}">'
    )
    assert qr_inline(ADDRESS).partition("<g ")[0] == f'<svg viewBox="0 0 {side} {side}" class="qr">'


def test_a_code_for_a_terminal_has_a_margin_of_two_dots():
    wanted = dots("l")
    side = len(wanted) + 4
    is_dark = [[False] * side, [False] * side, *([False, False, *row, False, False] for row in wanted)]
    is_dark += [[False] * side, [False] * side, [True] * side]
    signs = {(False, False): "█", (False, True): "▀", (True, False): "▄", (True, True): " "}
    lines = [
        "".join(signs[upper, lower] for upper, lower in zip(*is_dark[place : place + 2], strict=True))
        for place in range(0, side, 2)
    ]
    assert qr_text(ADDRESS) == "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://127.9.9.9:80/", True),
        ("http://localhost:8000/quiz/", True),
        ("http://localhost/quiz/", True),
        ("http://localhost:8000/", True),
        ("https://[::1]/", True),
        ("http://[::11]:8000/", False),
        ("http://[fd00::127]:8000/", False),
        ("http://10.127.0.1:8000/", False),
        ("http://localhost.example.org/", False),
        ("http://12.7.0.1/", False),
        ("http://[2001:db8::7]/", False),
        ("http://example.org/127.0.0.1", False),
        ("http://example.org/localhost", False),
    ],
)
def test_what_only_this_machine_can_open(address, told):
    assert is_local(address) == told


def test_addresses_are_written_as_browsers_read_them():
    assert web_address("127.0.0.1", 80) == "http://127.0.0.1:80/"
    assert web_address("::1", 8000) == "http://[::1]:8000/"


class Asking:
    """A socket that is asked for its way out, and remembers how."""

    def __init__(self, family, kind):
        self.family, self.kind, self.closed = family, kind, False
        MADE.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.closed = True

    def connect(self, where):
        self.where = where
        if self.family == socket.AF_INET6:
            raise OSError("no network")

    def getsockname(self):
        return ("192.168.1.7", 5)


def test_the_way_out_is_asked_for_without_sending_anything(monkeypatch):
    MADE.clear()
    monkeypatch.setattr(addresses.socket, "socket", Asking)
    assert addresses._way_out(socket.AF_INET) == "192.168.1.7"
    assert addresses._way_out(socket.AF_INET6) is None
    first, second = MADE
    assert (first.kind, first.where, first.closed) == (socket.SOCK_DGRAM, ("192.0.2.1", 9), True)
    assert (second.kind, second.where, second.closed) == (socket.SOCK_DGRAM, ("2001:db8::1", 9), True)


class Listening:
    """A socket that listens everywhere, and says whether to IPv6 only."""

    def __init__(self, only_ipv6):
        self.only_ipv6 = only_ipv6

    def getsockname(self):
        return "::", 8000, 0, 0

    def getsockopt(self, level, option):
        assert (level, option) == (socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)
        return self.only_ipv6


@pytest.mark.parametrize(
    ("only_ipv6", "told"),
    [(0, ["http://10.0.0.3:8000/", "http://[2001:db8::7]:8000/"]), (1, ["http://[2001:db8::7]:8000/"])],
)
def test_addresses_of_the_name_of_the_machine_are_told_once(monkeypatch, only_ipv6, told):
    named = {
        socket.AF_INET: ["0.0.0.0", "127.0.1.1", "10.0.0.3", "10.0.0.3", "169.254.1.1"],
        socket.AF_INET6: ["::", "::1", "fe80::1", "2001:db8::7", "fe80::2%lo"],
    }
    monkeypatch.setattr(addresses, "_way_out", lambda family: None)
    monkeypatch.setattr(addresses.socket, "gethostname", lambda: "this machine")

    def getaddrinfo(name, port, family):
        assert (name, port) == ("this machine", None)
        return [(family, 1, 6, "", (host, 0)) for host in named[family]]

    monkeypatch.setattr(addresses.socket, "getaddrinfo", getaddrinfo)
    assert addresses_of(Listening(only_ipv6)) == told


def test_a_machine_with_loopback_addresses_only(monkeypatch):
    monkeypatch.setattr(addresses, "_way_out", lambda family: "127.0.0.1" if family == socket.AF_INET else "::1")
    monkeypatch.setattr(addresses.socket, "getaddrinfo", lambda *_: [])
    assert addresses_of(Listening(0)) == ["http://127.0.0.1:8000/"]
    assert addresses_of(Listening(1)) == ["http://[::1]:8000/"]
