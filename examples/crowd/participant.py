"""One simulated participant of a quiz: joins, answers, goes back and finishes through the pages a person uses.

Everything a person's browser would do without JavaScript is done here and nothing else: pages are fetched, forms are
sent with what they hold, redirects are followed one by one, cookies are kept.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import TracebackType
from urllib.parse import urlsplit

import httpx

from .pages import Page, fingerprint, parse

Watch = Callable[[str, float, int], None]  # kind of request, seconds, status (0: the server did not answer)
Fields = Mapping[str, str | list[str]]


class RefusedError(RuntimeError):
    """The server answered with a page nobody should get who keeps to the forms."""


def unwatched(kind: str, seconds: float, status: int) -> None:
    """Measure nothing."""


class Participant:
    """A person at a device. `acknowledged` holds what the server confirmed: indices ticked, by what the picture shows.

    With `patience` a request without an answer (the server is restarting) is repeated for that many seconds.
    """

    def __init__(
        self, server: str, nickname: str, *, address: str | None = None, patience: float = 0, watch: Watch = unwatched
    ) -> None:
        self.nickname = nickname
        self.patience = patience
        self.watch = watch
        self.acknowledged: dict[str, frozenset[int]] = {}
        self.seen: dict[str, str] = {}  # what each picture shows, by its address
        transport = httpx.AsyncHTTPTransport(local_address=address, verify=False)  # loading certificates takes long
        self.client = httpx.AsyncClient(base_url=server, transport=transport, timeout=30, trust_env=False)

    async def __aenter__(self) -> Participant:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.client.aclose()

    async def join(self, invitation: str | None = None) -> Page:
        """Join with the nickname; the first question."""
        start = await self.see("start", "/" if invitation is None else f"/?invitation={invitation}")
        form = start.form("/join")
        told = await self.submit("join", "/join", {**form.fields, "nickname": self.nickname})
        return await self.follow("question", told)

    async def question(self, position: int | None = None) -> Page:
        """The next open question, or the one at a position; the end page when none is open."""
        return await self.see("question", "/question" if position is None else f"/question/{position}")

    async def answer(self, page: Page, ticks: Iterable[int] | None) -> Page:
        """Send a ballot for the question of a page; no ticks are "none of these", None skips it. The page after it."""
        form, instance = page.form(page.address), await self.instance(page)
        if ticks is None:
            told = await self.submit("answer", page.address, {**form.fields, "action": "skip"})
            self.acknowledged.pop(instance, None)
        else:
            ballot = frozenset(ticks)
            action = {"tick": form.values(ballot), "action": "answer" if ballot else "none"}
            told = await self.submit("answer", page.address, {**form.fields, **action})
            self.acknowledged[instance] = ballot
        return await self.follow("question", told)

    async def look(self, page: Page) -> None:
        """Load the pictures of a page that this device has not loaded before."""
        for picture in page.pictures:
            if picture not in self.seen:
                shown = await self.request("picture", "GET", picture)
                self.seen[picture] = fingerprint(shown.content)

    async def instance(self, page: Page) -> str:
        """Which question a page asks: what its picture shows, for its address tells nothing."""
        await self.look(page)
        return self.seen[page.pictures[0]]

    async def finish(self) -> Page:
        """Say that these answers are final."""
        end = await self.see("end", "/end")
        return await self.follow("end", await self.submit("finish", "/finish", end.form("/finish").fields))

    async def see(self, kind: str, path: str) -> Page:
        """A page, redirects followed."""
        return await self.follow(kind, await self.request(kind, "GET", path))

    async def submit(self, kind: str, path: str, fields: Fields) -> httpx.Response:
        """Send a form; where one is sent afterwards, which says that it was taken."""
        answered = await self.request(kind, "POST", path, data=fields)
        if answered.status_code != httpx.codes.SEE_OTHER:
            raise RefusedError(f"{self.nickname}: POST {path} {fields}: {answered.status_code} {answered.text[:2000]}")
        return answered

    async def follow(self, kind: str, answered: httpx.Response) -> Page:
        """The page at the end of redirects."""
        while answered.is_redirect:
            answered = await self.request(kind, "GET", answered.headers["location"])
        path = urlsplit(str(answered.url)).path
        return parse(path, answered.text)

    async def request(self, kind: str, method: str, path: str, data: Fields | None = None) -> httpx.Response:
        """One request, measured; repeated while the server is away and patience lasts."""
        until = time.monotonic() + self.patience
        while True:
            began = time.perf_counter()
            try:
                answered = await self.client.request(method, path, data=data)
            except httpx.TransportError:
                self.watch(kind, time.perf_counter() - began, 0)
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(0.1)
                continue
            self.watch(kind, time.perf_counter() - began, answered.status_code)
            if answered.status_code >= httpx.codes.BAD_REQUEST:
                raise RefusedError(f"{self.nickname}: {method} {path}: {answered.status_code} {answered.text[:2000]}")
            return answered


Decide = Callable[[Page], Awaitable[Iterable[int] | None]]


async def take_part(participant: Participant, decide: Decide) -> None:
    """Join, decide on one question after the other, and finish."""
    page = await participant.join()
    while page.address.startswith("/question"):
        await participant.look(page)
        page = await participant.answer(page, await decide(page))
    await participant.finish()
