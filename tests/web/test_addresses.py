"""Addresses that phones can open, and QR codes of them."""

import socket
import sys

import pytest
import segno

from epivote.cli import collect
from epivote.web import addresses
from epivote.web.addresses import addresses_of, is_local, qr_svg, qr_text, web_address
from in_process import organiser, visitor
from one_moment import still_app


class Listening:
    """A socket that says where it listens."""

    def __init__(self, host, only_ipv6=1):
        self.host, self.only_ipv6 = host, only_ipv6

    def getsockname(self):
        return self.host, 8000

    def getsockopt(self, *_):
        return self.only_ipv6


@pytest.fixture
def machine(monkeypatch):
    """A machine in two networks, which calls itself by addresses that are of no use to others as well."""
    out = {socket.AF_INET: "192.168.1.7", socket.AF_INET6: "2001:db8::7"}
    named = {
        socket.AF_INET: ["127.0.1.1", "192.168.1.7", "10.0.0.3", "169.254.3.3"],
        socket.AF_INET6: ["::1", "fe80::1%eth0", "fe80::2", "2001:db8::7"],
    }
    monkeypatch.setattr(addresses, "_way_out", out.get)
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda _name, _port, family: [(0, 0, 0, "", (host, 0)) for host in named[family]]
    )


@pytest.mark.parametrize(
    ("host", "only_ipv6", "told"),
    [
        ("0.0.0.0", 1, ["http://192.168.1.7:8000/", "http://10.0.0.3:8000/"]),
        ("::", 1, ["http://[2001:db8::7]:8000/"]),
        ("::", 0, ["http://192.168.1.7:8000/", "http://10.0.0.3:8000/", "http://[2001:db8::7]:8000/"]),
        ("::1", 1, ["http://[::1]:8000/"]),
        ("127.0.0.1", 1, ["http://127.0.0.1:8000/"]),
    ],
)
def test_the_addresses_that_others_can_open(machine, host, only_ipv6, told):
    assert addresses_of(Listening(host, only_ipv6)) == told


def test_a_machine_without_a_network(monkeypatch):
    monkeypatch.setattr(addresses, "_way_out", lambda family: None)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: (_ for _ in ()).throw(socket.gaierror("no name")))
    assert addresses_of(Listening("0.0.0.0")) == ["http://127.0.0.1:8000/"]
    assert addresses_of(Listening("::")) == ["http://[::1]:8000/"]


def test_this_machine_tells_nothing_that_nobody_can_open():
    with socket.create_server(("0.0.0.0", 0)) as listening:
        assert all("0.0.0.0" not in address for address in addresses_of(listening))


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://127.0.0.1:8000/", True),
        ("http://[::1]:8000/", True),
        ("http://localhost/", True),
        ("http://192.168.1.7:8000/", False),
        ("https://quiz.example.org/", False),
        (web_address("2001:db8::7", 80), False),
    ],
)
def test_what_only_this_machine_can_open(address, told):
    assert is_local(address) == told


def test_qr_codes_are_those_of_the_address():
    code = segno.make("http://192.168.1.7:8000/", error="m")
    assert f'width="{4 * code.symbol_size()[0]}"'.encode() in qr_svg("http://192.168.1.7:8000/")
    assert qr_svg("http://192.168.1.7:8000/") != qr_svg("http://192.168.1.8:8000/")
    assert len(qr_text("http://192.168.1.7:8000/").splitlines()) >= 14


def test_the_organisers_page_shows_the_address_and_its_code(tmp_path):
    with still_app(tmp_path) as app:
        app.state.site.store.remember_address("http://192.168.1.7:8000/")
        boss = organiser(app)
        page = boss.get("/organiser").text
        assert '<a href="/">http://192.168.1.7:8000/</a>' in page
        assert 'src="/organiser/qr.svg"' in page
        assert "--host 0.0.0.0" not in page
        code = boss.get("/organiser/qr.svg")
        assert (code.headers["content-type"], code.content) == ("image/svg+xml", qr_svg("http://192.168.1.7:8000/"))
        assert visitor(app).get("/organiser/qr.svg").status_code == 403
        app.state.site.store.remember_address("http://127.0.0.1:8000/")
        assert "--host 0.0.0.0" in boss.get("/organiser").text


@pytest.mark.parametrize(
    ("address", "is_terminal", "encoding", "told"),
    [
        ("http://192.168.1.7:8000/", True, "utf-8", True),
        ("http://192.168.1.7:8000/", True, "ascii", False),
        ("http://192.168.1.7:8000/", False, "utf-8", False),
        ("http://127.0.0.1:8000/", True, "utf-8", False),
    ],
)
def test_the_terminal_shows_a_code_that_phones_can_use(monkeypatch, capsys, address, is_terminal, encoding, told):
    class Terminal:
        def __init__(self, real):
            self.write, self.flush = real.write, real.flush
            self.encoding, self.isatty = encoding, lambda: is_terminal

    monkeypatch.setattr(sys, "stdout", Terminal(sys.stdout))
    collect._print_qr(address)
    assert ("█" in capsys.readouterr().out) == told


def test_pictures_of_addresses_stand_some_damage(monkeypatch):
    """On paper or a beamer 15 percent may be unreadable; at a terminal it has to be small."""
    asked, make = [], segno.make
    monkeypatch.setattr(segno, "make", lambda address, *, error="l": asked.append(error) or make(address, error=error))
    for write in (addresses.qr_svg, addresses.qr_inline, addresses.qr_text):
        assert write("https://quiz.example.org/join")
    assert asked == ["m", "m", "l"]
