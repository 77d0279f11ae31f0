"""A visitor of a served quiz who may do anything: keep to the forms, or send whatever bytes come to mind."""

import http.client
import itertools
import os
import re
from contextlib import suppress
from typing import ClassVar

import httpx

from epivote.web.security.signing import Signer
from examples.crowd.pages import Page, parse

DEVICES = itertools.count(1)
HTML = "text/html; charset=utf-8"


def address_of_a_device() -> str:
    """Another address of this machine for each visitor and process of tests, so that no rate limit is shared."""
    number = next(DEVICES)
    return f"127.{1 + os.getpid() % 250}.{1 + number // 250}.{1 + number % 250}"


class Visitor:
    """One device: its cookies, and an address of its own; the fixture `visits_end` closes what a test leaves open."""

    everybody: ClassVar[list["Visitor"]] = []

    def __init__(self, served, **options):
        self.address = address_of_a_device()
        transport = httpx.HTTPTransport(local_address=self.address, verify=False)  # loading certificates takes long
        self.client = httpx.Client(base_url=served.address, transport=transport, trust_env=False, timeout=30, **options)
        self.everybody.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()

    @property
    def own_cookies(self):
        """Its cookies by their kind; in the browser their names end in a mark of the task."""
        return {name.rpartition("_")[0]: value for name, value in self.client.cookies.items()}

    def get(self, path, **options):
        return self.client.get(path, **options)

    def post(self, path, data=None, **options):
        return self.client.post(path, data=data, **options)

    def page(self, path) -> Page:
        """The page at a path, redirects followed."""
        answered = self.client.get(path, follow_redirects=True)
        assert answered.status_code == 200, answered.text
        return parse(answered.url.path, answered.text)

    def csrf(self, path="/") -> str:
        """The token that the forms of a page carry."""
        return self.page(path).forms[0].fields["csrf"]

    def join(self, nickname="ann", **fields) -> httpx.Response:
        form = self.page("/").form("/join")
        return self.post("/join", {**form.fields, "nickname": nickname, **fields})

    def joined(self, nickname="ann"):
        """The same visitor, once joined."""
        answered = self.join(nickname)
        assert answered.status_code == 303, answered.text
        return self

    def answer(self, position, ticks=(), action="answer", **fields) -> httpx.Response:
        return self.post(f"/question/{position}", self.filled_in(position, ticks, action) | fields)

    def filled_in(self, position, ticks=(), action="answer") -> dict:
        """What a browser sends for a question: ticks are places of boxes, or whatever else somebody sends."""
        path = f"/question/{position}"
        form = self.page(path).form(path)
        told = [form.values([tick])[0] if isinstance(tick, int) else tick for tick in ticks]
        return {**form.fields, "tick": told, "action": action}

    def ballots(self) -> list[tuple[int, ...]]:
        """What the own pages show as ticked, question by question."""
        return [tuple(sorted(self.page(f"/question/{n}").form(f"/question/{n}").ticked)) for n in range(1, 5)]


def raw(served, method, path, headers=(), sent=None):
    """Status, headers and body of a request that is sent as it is written."""
    connection = http.client.HTTPConnection(
        "127.0.0.1", served.port, timeout=30, source_address=(address_of_a_device(), 0)
    )
    try:
        connection.putrequest(method, path, skip_host="Host" in dict(headers), skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        if sent is not None:
            connection.send(sent)
        answered = connection.getresponse()
        body = b""
        with suppress(ConnectionResetError):  # who sends too much is cut off
            body = answered.read()
        return answered.status, {name.lower(): value for name, value in answered.getheaders()}, body
    finally:
        connection.close()


def own_name(served, kind) -> str:
    """The name of a cookie of a served task."""
    return Signer(served.store.secrets().cookies).cookie_name(kind)


def picture(served, path="dot.svg") -> str:
    """Where a served task shows a file of its folder."""
    return f"/picture/{Signer(served.store.secrets().cookies).file_key(path)}"


def organiser(served, **options) -> Visitor:
    """A visitor who came by the organiser's link."""
    visitor = Visitor(served, **options)
    visitor.client.get(served.organiser, follow_redirects=True).raise_for_status()
    return visitor


def sentence(answered) -> str:
    """The text of a page, without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", answered.text)).strip()
