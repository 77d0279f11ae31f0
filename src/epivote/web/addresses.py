"""Addresses that other machines can open, and QR codes of them."""

from __future__ import annotations

import io
import ipaddress
import re
import socket
from contextlib import suppress

import segno

ANYWHERE = {"0.0.0.0": socket.AF_INET, "::": socket.AF_INET6}
ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
"""Reserved for documentation: asking for the way there sends nothing, and tells which address of ours is used."""
ANY_PORT = 9  # of a connection that is never made


def addresses_of(listening: socket.socket) -> list[str]:
    """Where a socket can be reached, such as `http://192.168.1.7:8000/`, the likeliest first.

    A socket that listens everywhere is reached at every address of this machine; at its own one if it has no other.
    """
    host, port = listening.getsockname()[:2]
    if host not in ANYWHERE:
        return [web_address(host, port)]
    families = [ANYWHERE[host]]
    if host == "::" and not listening.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY):
        families.insert(0, socket.AF_INET)
    hosts = [each for family in families for each in _hosts(family)]
    return [web_address(each, port) for each in dict.fromkeys(hosts)] or [web_address(_own(families[0]), port)]


def web_address(host: str, port: int) -> str:
    """`http://127.0.0.1:8000/`, with brackets around IPv6."""
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def is_local(address: str) -> bool:
    """Whether only this machine can open an address."""
    host = re.sub(r":\d*$", "", address.partition("//")[2].partition("/")[0]).strip("[]")
    return host in ("localhost", "::1") or host.startswith("127.")


def qr_svg(address: str) -> bytes:
    """A QR code as a picture: dark on white in every colour scheme, or phones would not read it."""
    picture = io.BytesIO()
    segno.make(address, error="m").save(
        picture, kind="svg", scale=4, border=4, dark="#000", light="#fff", svgclass=None, lineclass=None
    )
    return picture.getvalue()


def qr_inline(address: str) -> str:
    """The same to stand in a page, for addresses that are too secret to ask for a picture of them."""
    code = segno.make(address, error="m")
    return code.svg_inline(scale=4, border=4, dark="#000", light="#fff", svgclass="qr", lineclass=None, omitsize=True)


def qr_text(address: str) -> str:
    """A QR code for a terminal, two rows of dots in each line."""
    text = io.StringIO()
    segno.make(address, error="l").terminal(text, border=2, compact=True)
    return text.getvalue()


def _hosts(family: socket.AddressFamily) -> list[str]:
    """Addresses of this machine that others may know: the one it goes out by, then those its name stands for."""
    found = [_way_out(family)]
    with suppress(OSError):  # a machine that does not know its own name
        found += [str(each[4][0]) for each in socket.getaddrinfo(socket.gethostname(), None, family)]
    return [host for host in found if host is not None and _can_be_reached(host)]


def _way_out(family: socket.AddressFamily) -> str | None:
    with socket.socket(family, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect((ELSEWHERE[family], ANY_PORT))
        except OSError:  # no network
            return None
        return str(asking.getsockname()[0])


def _can_be_reached(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:  # with a zone, as link-local addresses have
        return False
    return not (address.is_loopback or address.is_link_local or address.is_unspecified)


def _own(family: socket.AddressFamily) -> str:
    return "::1" if family == socket.AF_INET6 else "127.0.0.1"
